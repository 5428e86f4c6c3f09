//! The table of the measured costs.

use std::fmt::Write as _;
use std::time::Duration;

use crate::measured_server::CallCost;

/// Rows of costs, in the order of their first measurement.
#[derive(Default)]
pub(crate) struct CostTable {
    rows: Vec<(&'static str, Vec<CallCost>)>,
}

impl CostTable {
    /// Adds a cost to the row `name`.
    pub(crate) fn add_cost(&mut self, name: &'static str, cost: CallCost) {
        match self.rows.iter_mut().find(|(it, _)| *it == name) {
            Some((_, costs)) => costs.push(cost),
            None => self.rows.push((name, vec![cost])),
        }
    }

    /// Renders the median and the 99th percentile without the warm-up rounds, and whether the
    /// claims are confirmed.
    pub(crate) fn render(&self, warm_up_rounds: usize, checks_claims: bool) -> String {
        let headings = ["wall p50", "p99", "CPU p50", "p99"].map(|it| format!("{it:>12}"));
        let mut table = format!("{:<22}{}\n", "", headings.concat());
        for (name, costs) in &self.rows {
            let costs = &costs[warm_up_rounds..];
            let wall = sorted_times(costs, |it| it.wall);
            let cpu = sorted_times(costs, |it| it.cpu);
            let times = [&wall, &cpu]
                .map(|it| [percentile(it, 50), percentile(it, 99)].map(format_time).concat());
            let claim = claimed_maximum(name).filter(|_| checks_claims).map(|maximum| {
                let answer = if percentile(&wall, 50) < maximum { "yes" } else { "no" };
                format!("  < {maximum:?}: {answer}")
            });
            writeln!(table, "{name:<22}{}{}", times.concat(), claim.unwrap_or_default())
                .expect("writing to a string cannot fail");
        }
        table
    }
}

/// Returns the claimed maximum of the median wall time of a row.
fn claimed_maximum(name: &str) -> Option<Duration> {
    match name {
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

/// Returns the time that `percent` of all times do not exceed.
fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    sorted[(sorted.len() * percent / 100).min(sorted.len() - 1)]
}

fn format_time(time: Duration) -> String {
    format!("{:>9.3} ms", time.as_secs_f64() * 1e3)
}
