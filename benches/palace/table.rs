//! Tables of the measured times.

use std::fmt::Write as _;
use std::time::Duration;

/// The claimed maximum time of an answer.
const MAX_READ_TIME: Duration = Duration::from_millis(1);
/// The claimed minimum ratio between git's time and Palazzo's for a write.
const MIN_SPEEDUP: f64 = 3.0;

/// Times of several actions, in the order of their first measurement.
#[derive(Default)]
pub(crate) struct Timings {
    rows: Vec<(&'static str, Vec<Duration>)>,
}

/// Times of Palazzo next to those of git.
#[derive(Default)]
pub(crate) struct GitComparison {
    ours: Timings,
    theirs: Timings,
}

impl Timings {
    /// Adds a measured time.
    pub(crate) fn add_time(&mut self, what: &'static str, time: Duration) {
        match self.rows.iter_mut().find(|(it, _)| *it == what) {
            Some((_, times)) => times.push(time),
            None => self.rows.push((what, vec![time])),
        }
    }

    /// Renders median and 90th percentile, and for reading calls whether the claim
    /// holds.
    pub(crate) fn render(&self, title: &str, makes_claim: bool) -> String {
        let claim = if makes_claim { "claim" } else { "" };
        let mut table = format!("{title:<28}{:>12}{:>12}{claim:>12}\n", "median", "p90");
        for (what, times) in &self.rows {
            let claim = match makes_claim {
                true => {
                    format!("{:>16}", format_claim("< 1 ms", percentile(times, 50) < MAX_READ_TIME))
                }
                false => String::new(),
            };
            writeln!(table, "{what:<28}{}{claim}", format_median_and_p90(times))
                .expect("a string accepts all");
        }
        table
    }
}

impl GitComparison {
    /// Adds the times of a write by Palazzo and by git.
    pub(crate) fn add_times(
        &mut self,
        what: &'static str,
        ours: Duration,
        theirs: Option<Duration>,
    ) {
        self.ours.add_time(what, ours);
        if let Some(theirs) = theirs {
            self.theirs.add_time(what, theirs);
        }
    }

    /// Renders both times side by side.
    pub(crate) fn render(&self) -> String {
        let heads = ["median", "p90", "git median", "p90", "faster"];
        let mut table = format!("{:<28}", "writing, durable");
        for head in heads {
            write!(table, "{head:>12}").expect("a string accepts all");
        }
        table.push_str("       claim\n");
        for (what, ours) in &self.ours.rows {
            let theirs = self.theirs.rows.iter().find(|(it, _)| it == what);
            let against = theirs.map_or(String::new(), |(_, theirs)| {
                let ratio =
                    percentile(theirs, 50).as_secs_f64() / percentile(ours, 50).as_secs_f64();
                let claim = format_claim("3 times", ratio >= MIN_SPEEDUP);
                format!("{}{ratio:>9.1} ×{claim:>16}", format_median_and_p90(theirs))
            });
            writeln!(table, "{what:<28}{}{against}", format_median_and_p90(ours))
                .expect("a string accepts all");
        }
        table
    }
}

fn format_claim(claim: &str, holds: bool) -> String {
    format!("{claim} {}", if holds { "yes" } else { " no" })
}

fn format_median_and_p90(times: &[Duration]) -> String {
    let shown = |it: Duration| format!("{:>9.3} ms", it.as_secs_f64() * 1e3);
    shown(percentile(times, 50)) + &shown(percentile(times, 90))
}

/// Returns the time that `percent` of all do not exceed.
fn percentile(times: &[Duration], percent: usize) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort();
    sorted[(sorted.len() * percent / 100).min(sorted.len() - 1)]
}
