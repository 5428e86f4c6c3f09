//! The tables of the measured times.

use std::fmt::Write as _;
use std::time::Duration;

/// The claimed maximum time of a read.
const MAX_READ_TIME: Duration = Duration::from_millis(1);
/// The claimed minimum ratio of git's time to Palazzo's time for a write.
const MIN_SPEEDUP: f64 = 3.0;

/// The times of several actions, in the order of their first measurement.
#[derive(Default)]
pub(crate) struct Timings {
    rows: Vec<(&'static str, Vec<Duration>)>,
}

/// The times of Palazzo and of git for the same edits.
#[derive(Default)]
pub(crate) struct GitComparison {
    palazzo: Timings,
    git: Timings,
}

impl Timings {
    /// Adds a time to the row `name`.
    pub(crate) fn add_time(&mut self, name: &'static str, time: Duration) {
        match self.rows.iter_mut().find(|(it, _)| *it == name) {
            Some((_, times)) => times.push(time),
            None => self.rows.push((name, vec![time])),
        }
    }

    /// Renders the median and the 90th percentile, and on request whether the claim about reads is
    /// confirmed.
    pub(crate) fn render(&self, title: &str, checks_claim: bool) -> String {
        let claim = if checks_claim { "claim" } else { "" };
        let mut table = format!("{title:<28}{:>12}{:>12}{claim:>12}\n", "median", "p90");
        for (name, times) in &self.rows {
            let claim = match checks_claim {
                true => {
                    format!("{:>16}", format_claim("< 1 ms", percentile(times, 50) < MAX_READ_TIME))
                }
                false => String::new(),
            };
            writeln!(table, "{name:<28}{}{claim}", format_median_and_p90(times))
                .expect("writing to a string cannot fail");
        }
        table
    }
}

impl GitComparison {
    /// Adds the times of Palazzo and git to the row `name`.
    pub(crate) fn add_times(
        &mut self,
        name: &'static str,
        palazzo: Duration,
        git: Option<Duration>,
    ) {
        self.palazzo.add_time(name, palazzo);
        if let Some(git) = git {
            self.git.add_time(name, git);
        }
    }

    /// Renders both times side by side.
    pub(crate) fn render(&self) -> String {
        let headings = ["median", "p90", "git median", "p90", "faster"];
        let mut table = format!("{:<28}", "write, durable");
        for heading in headings {
            write!(table, "{heading:>12}").expect("writing to a string cannot fail");
        }
        table.push_str("       claim\n");
        for (name, palazzo) in &self.palazzo.rows {
            let git = self.git.rows.iter().find(|(it, _)| it == name);
            let comparison = git.map_or(String::new(), |(_, git)| {
                let ratio =
                    percentile(git, 50).as_secs_f64() / percentile(palazzo, 50).as_secs_f64();
                let claim = format_claim("3 times", ratio >= MIN_SPEEDUP);
                format!("{}{ratio:>9.1} ×{claim:>16}", format_median_and_p90(git))
            });
            writeln!(table, "{name:<28}{}{comparison}", format_median_and_p90(palazzo))
                .expect("writing to a string cannot fail");
        }
        table
    }
}

fn format_claim(claim: &str, is_confirmed: bool) -> String {
    format!("{claim} {}", if is_confirmed { "yes" } else { " no" })
}

fn format_median_and_p90(times: &[Duration]) -> String {
    let format_time = |it: Duration| format!("{:>9.3} ms", it.as_secs_f64() * 1e3);
    format_time(percentile(times, 50)) + &format_time(percentile(times, 90))
}

/// Returns the time that `percent` of all times do not exceed.
fn percentile(times: &[Duration], percent: usize) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort();
    sorted[(sorted.len() * percent / 100).min(sorted.len() - 1)]
}
