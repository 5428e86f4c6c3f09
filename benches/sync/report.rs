//! The table of the results.

use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use crate::Period;
use crate::timeline::Timeline;

/// The claimed maximum time until a commit is visible on another machine.
const MAX_VISIBLE: Duration = Duration::from_secs(60);
/// The claimed maximum number of rejected pushes for each accepted one.
const MAX_RETRIES: f64 = 1.0;
/// The claimed minimum number of pushes of a machine, as a part of the mean.
const MIN_SHARE: f64 = 1.0 / 3.0;

/// The pushes of one machine.
#[derive(Clone, Copy)]
pub(crate) struct Pushes {
    pub(crate) accepted: usize,
    pub(crate) rejected: usize,
}

/// The result for some machines.
pub(crate) struct Row {
    machines: usize,
    method: &'static str,
    commits_per_second: f64,
    pushes_per_minute: f64,
    retries: f64,
    visible: [Duration; 2],
    fewest_pushes: f64,
    settled: Option<Duration>,
}

/// Returns the header of the table.
pub(crate) fn header() -> String {
    format!(
        "{:<9}{:<19}{:>10}{:>12}{:>9}{:>9}{:>9}{:>8}{:>13}{:>8}",
        "machines",
        "method",
        "commits/s",
        "pushes/min",
        "retries",
        "p50",
        "p95",
        "fewest",
        "equal after",
        "claim"
    )
}

impl Row {
    #[expect(clippy::cast_precision_loss, reason = "the counts are small")]
    /// Evaluates a run. `settled` is the time until all machines were equal, if that was measured.
    pub(crate) fn new(
        method: &'static str,
        timeline: &Timeline,
        pushes: &[Pushes],
        period: Period,
        settled: Option<Duration>,
    ) -> Self {
        let running = period.writing + settled.unwrap_or_default();
        let accepted: usize = pushes.iter().map(|it| it.accepted).sum();
        let rejected: usize = pushes.iter().map(|it| it.rejected).sum();
        let mean = accepted as f64 / pushes.len() as f64;
        let fewest = pushes.iter().map(|it| it.accepted).min().unwrap_or_default();
        let visible = visible_times(timeline, period.writing.saturating_sub(period.tail));
        Self {
            machines: pushes.len(),
            method,
            commits_per_second: shared_commits(timeline) as f64 / running.as_secs_f64(),
            pushes_per_minute: accepted as f64 * 60.0 / running.as_secs_f64(),
            retries: rejected as f64 / accepted.max(1) as f64,
            visible: [50, 95].map(|it| percentile(&visible, it)),
            fewest_pushes: fewest as f64 / mean.max(1e-9),
            settled,
        }
    }

    fn confirms_claim(&self) -> bool {
        self.retries <= MAX_RETRIES
            && self.visible[1] <= MAX_VISIBLE
            && self.fewest_pushes >= MIN_SHARE
    }
}

/// Counts the commits that every machine has.
fn shared_commits(timeline: &Timeline) -> usize {
    timeline.commits.values().filter(|seen| seen.iter().all(Option::is_some)).count()
}

/// Returns the times from "seen on the first machine" to "seen on another one", sorted. A commit
/// that never reached a machine counts as seen there after an hour.
fn visible_times(timeline: &Timeline, counted: Duration) -> Vec<Duration> {
    let mut times = Vec::new();
    for seen in timeline.commits.values() {
        let Some(written) = seen.iter().flatten().min() else { continue };
        if written.duration_since(timeline.begin) > counted {
            continue;
        }
        let others = seen.iter().filter(|it| it.as_ref() != Some(written));
        times.extend(
            others
                .map(|it| it.map_or(Duration::from_secs(3_600), |it| it.duration_since(*written))),
        );
    }
    times.sort();
    times
}

fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    sorted.get((sorted.len().max(1) - 1) * percent / 100).copied().unwrap_or_default()
}

impl Display for Row {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [p50, p95] = self.visible.map(|it| format!("{:.1} s", it.as_secs_f64()));
        let settled = self.settled.map(|it| format!("{:.1} s", it.as_secs_f64()));
        write!(
            f,
            "{:<9}{:<19}{:>10.1}{:>12.1}{:>9.2}{p50:>9}{p95:>9}{:>8.2}{:>13}{:>8}",
            self.machines,
            self.method,
            self.commits_per_second,
            self.pushes_per_minute,
            self.retries,
            self.fewest_pushes,
            settled.unwrap_or_default(),
            if self.confirms_claim() { "yes" } else { "no" }
        )
    }
}
