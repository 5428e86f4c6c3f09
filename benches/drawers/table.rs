//! A table of measured costs.

use std::fmt::Write as _;
use std::time::Duration;

use crate::peer::CallCost;

/// Rows of costs, in the order of their first measurement.
#[derive(Default)]
pub(crate) struct CostTable {
    rows: Vec<(&'static str, Vec<CallCost>)>,
}

impl CostTable {
    /// Adds a measured cost.
    pub(crate) fn add_cost(&mut self, what: &'static str, cost: CallCost) {
        match self.rows.iter_mut().find(|(it, _)| *it == what) {
            Some((_, costs)) => costs.push(cost),
            None => self.rows.push((what, vec![cost])),
        }
    }

    /// Renders median and 99th percentile, without the warm-up rounds, and whether the
    /// claims hold.
    pub(crate) fn render(&self, uncounted: usize, makes_claims: bool) -> String {
        let heads = ["wall p50", "p99", "CPU p50", "p99"].map(|it| format!("{it:>12}")).concat();
        let mut table = format!("{:<22}{heads}\n", "");
        for (what, costs) in &self.rows {
            let costs = &costs[uncounted..];
            let wall = sorted_times(costs, |it| it.wall);
            let cpu = sorted_times(costs, |it| it.cpu);
            let shown = [&wall, &cpu]
                .map(|it| [percentile(it, 50), percentile(it, 99)].map(format_time).concat());
            let claim = claimed_limit(what).filter(|_| makes_claims).map(|most| {
                let holds = if percentile(&wall, 50) < most { "yes" } else { "no" };
                format!("  < {most:?}: {holds}")
            });
            writeln!(table, "{what:<22}{}{}", shown.concat(), claim.unwrap_or_default())
                .expect("a string accepts all");
        }
        table
    }
}

/// Returns the claimed maximum for a row, as a median of wall time.
fn claimed_limit(what: &str) -> Option<Duration> {
    match what {
        "search" => Some(Duration::from_millis(2)),
        "add_drawer" => Some(Duration::from_millis(15)),
        _ => None,
    }
}

fn sorted_times(costs: &[CallCost], of: impl Fn(&CallCost) -> Duration) -> Vec<Duration> {
    let mut times: Vec<_> = costs.iter().map(of).collect();
    times.sort();
    times
}

/// Returns the time that `percent` of all do not exceed.
fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    sorted[(sorted.len() * percent / 100).min(sorted.len() - 1)]
}

fn format_time(time: Duration) -> String {
    format!("{:>9.3} ms", time.as_secs_f64() * 1e3)
}
