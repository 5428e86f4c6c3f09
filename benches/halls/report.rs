//! The tables of the measured costs.

use crate::walker::PageCost;

/// The claimed maximum tokens and time of a generated page.
const MAX_PAGE_TOKENS: usize = 500;
const MAX_PAGE_MS: f64 = 2.0;
/// The claimed maximum number of actions to an entity.
const MAX_ACTIONS: usize = 5;

/// The number of entities in a palace, the maximum number of actions to an entity, and the costs
/// of all steps.
pub(crate) type GrowthRow = (usize, usize, Vec<PageCost>);

/// The claimed maximum ratio of the time of a step in a larger palace to the time in the smallest
/// palace.
const MAX_TIME_RATIO: f64 = 2.0;

/// Renders the cost of a step in palaces of several sizes. The smallest palace is the first row.
pub(crate) fn growth_table(rows: &[GrowthRow]) -> String {
    let mut table = format!(
        "{:<18}{:>8}{:>8}{:>16}{:>20}{:>10}{:>8}\n",
        "a step of a walk", "actions", "steps", "cl100k med/max", "time med/p99", "ratio", "claim"
    );
    let mut smallest_time = None;
    for (entities, actions, costs) in rows {
        let tokens = sorted(costs.iter().map(|it| it.tokens[0]));
        let times = sorted(costs.iter().map(|it| it.time));
        let times = [50, 99].map(|it| percentile(&times, it).as_secs_f64() * 1e3);
        let ratio = times[0] / *smallest_time.get_or_insert(times[0]);
        table.push_str(&format!(
            "{entities:<18}{actions:>8}{:>8}{:>11}/{:>4}{:>10.2}/{:>6.2} ms{ratio:>10.2}{:>8}\n",
            costs.len(),
            percentile(&tokens, 50),
            percentile(&tokens, 100),
            times[0],
            times[1],
            yes_or_no(ratio < MAX_TIME_RATIO && *actions <= MAX_ACTIONS)
        ));
    }
    table
}

/// Renders the cost of single pages. Each row is one kind of page.
pub(crate) fn pages_table(title: &str, rows: &[(String, Vec<PageCost>)]) -> String {
    let mut table = format!(
        "{title:<34}{:>7}{:>16}{:>16}{:>20}{:>12}\n{:<34}{:>7}{:>16}{:>16}{:>20}{:>12}\n",
        "pages",
        "cl100k",
        "o200k",
        "time",
        "claim",
        "",
        "",
        "median/max",
        "median/max",
        "median/p99",
        "< 500, 2 ms"
    );
    for (name, costs) in rows {
        let tokens = |encoding: usize| {
            let tokens = sorted(costs.iter().map(|it| it.tokens[encoding]));
            (percentile(&tokens, 50), percentile(&tokens, 100))
        };
        let times = sorted(costs.iter().map(|it| it.time));
        let times = [50, 99].map(|it| percentile(&times, it).as_secs_f64() * 1e3);
        let (cl100k, o200k) = (tokens(0), tokens(1));
        let is_confirmed = cl100k.1.max(o200k.1) < MAX_PAGE_TOKENS && times[0] < MAX_PAGE_MS;
        table.push_str(&format!(
            "{name:<34}{:>7}{:>10}/{:>5}{:>10}/{:>5}{:>11.2}/{:>5.2} ms{:>9}\n",
            costs.len(),
            cl100k.0,
            cl100k.1,
            o200k.0,
            o200k.1,
            times[0],
            times[1],
            yes_or_no(is_confirmed)
        ));
    }
    table
}

/// Renders the total cost to find an entity: actions and tokens. Each row is one method.
pub(crate) fn lookup_table(lookups: usize, rows: &[(&str, Vec<(usize, PageCost)>)]) -> String {
    let mut table = format!(
        "{:<44}{:>7}{:>18}{:>24}{:>24}{:>10}\n{:<44}{:>7}{:>18}{:>24}{:>24}{:>10}\n",
        "to one entity",
        "found",
        "actions",
        "cl100k",
        "o200k",
        "claim",
        "",
        "",
        "median/p90/max",
        "median/p90/max",
        "median/p90/max",
        "≤ 5"
    );
    for (index, (method, found)) in rows.iter().enumerate() {
        let actions = summarize_counts(found.iter().map(|it| it.0));
        let tokens =
            |encoding: usize| summarize_counts(found.iter().map(|it| it.1.tokens[encoding])).1;
        let claim = if index == 0 { yes_or_no(actions.0 <= MAX_ACTIONS) } else { "" };
        table.push_str(&format!(
            "{method:<44}{:>4}/{lookups}{:>18}{:>24}{:>24}{claim:>8}\n",
            found.len(),
            actions.1,
            tokens(0),
            tokens(1)
        ));
    }
    table
}

fn yes_or_no(is_confirmed: bool) -> &'static str {
    if is_confirmed { "yes" } else { "NO" }
}

/// Returns the maximum, and the median, 90th percentile and maximum as a text.
fn summarize_counts(numbers: impl Iterator<Item = usize>) -> (usize, String) {
    let numbers = sorted(numbers);
    let percentiles = [50, 90, 100].map(|it| percentile(&numbers, it).to_string());
    (percentile(&numbers, 100), percentiles.join("/"))
}

fn sorted<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut items: Vec<_> = items.collect();
    items.sort();
    items
}

/// Returns the value that `percent` of all values do not exceed.
fn percentile<T: Copy + Default>(sorted: &[T], percent: usize) -> T {
    let index = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
    sorted.get(index).copied().unwrap_or_default()
}
