//! When a server synchronizes a repository.
//!
//! A pure value: the time is a parameter, and the random part of each wait too. It fetches at once
//! and then at intervals, pushes soon after the last write, and pauses after failures.

use std::time::{Duration, Instant};

/// The random part of a wait, at most: a fifth of it.
const JITTER_SHARE: f64 = 0.2;
/// Under constant writing, a machine pushes after a random part of the longest wait, at least half of
/// it: machines that begin to write together must not push together.
const LEAST_WAIT_SHARE: f64 = 0.5;
/// A push that others prevented makes the interval between pushes a quarter longer, and one that
/// succeeds a tenth shorter: the intervals settle where every second push is rejected once.
const GROWTH_FACTOR: f64 = 1.25;
const SHRINK_FACTOR: f64 = 0.9;

/// The intervals of background synchronization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyncTiming {
    /// The time between two fetches.
    pub fetch: Duration,
    /// The time without a write before a push, and between two pushes.
    pub idle: Duration,
    /// The longest time from the first write to its push.
    pub longest_wait: Duration,
    /// The longest interval between pushes while others push too, and the longest pause after
    /// failures.
    pub longest_pause: Duration,
}

/// When a repository is synchronized next.
#[derive(Clone, Debug)]
pub(super) struct SyncSchedule {
    timing: SyncTiming,
    /// Whether a synchronization was attempted.
    has_attempted_sync: bool,
    next_fetch: Instant,
    /// The times of the first and the last write that are not pushed.
    unpushed: Option<[Instant; 2]>,
    /// The shortest interval between pushes.
    shortest_push_interval: Duration,
    /// The present interval between pushes.
    push_interval: Duration,
    next_push: Instant,
    /// The pause after the last failure; zero: there was none.
    pause: Duration,
    paused_until: Instant,
    /// A number from 0 to 1 for the next waits.
    jitter: f64,
}

/// The result of a synchronization, for the schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SyncOutcome {
    /// Whether commits were pushed.
    pub(super) has_pushed: bool,
    /// The number of commits that wait here.
    pub(super) waiting: usize,
    /// How often others pushed first.
    pub(super) rejected: usize,
    /// Whether it failed for another reason.
    pub(super) has_failed: bool,
}

impl Default for SyncTiming {
    fn default() -> Self {
        Self::with_idle(Duration::from_secs(5))
    }
}

impl SyncTiming {
    /// Returns the intervals that belong to a time without a write before a push; 5 seconds is the
    /// default.
    pub fn with_idle(idle: Duration) -> Self {
        Self { fetch: idle * 12, idle, longest_wait: idle * 6, longest_pause: idle * 60 }
    }
}

impl SyncSchedule {
    /// Creates the schedule of a palace that was just opened: it fetches at once.
    pub(super) fn new(timing: SyncTiming, now: Instant, jitter: f64) -> Self {
        Self {
            timing,
            has_attempted_sync: false,
            next_fetch: now,
            unpushed: None,
            shortest_push_interval: timing.idle,
            push_interval: timing.idle,
            next_push: now,
            pause: Duration::ZERO,
            paused_until: now,
            jitter,
        }
    }

    /// Returns when the next step is due.
    pub(super) fn next_time(&self) -> Instant {
        let push = self.push_time().unwrap_or(self.next_fetch);
        self.next_fetch.min(push).max(self.paused_until)
    }

    /// Returns whether a fetch is due.
    pub(super) fn is_fetch_due(&self, now: Instant) -> bool {
        now >= self.next_fetch.max(self.paused_until)
    }

    /// Returns whether a synchronization was attempted since the palace was opened.
    pub(super) fn has_attempted_sync(&self) -> bool {
        self.has_attempted_sync
    }

    /// Returns whether a push is due.
    pub(super) fn is_push_due(&self, now: Instant) -> bool {
        self.push_time().is_some_and(|it| now >= it.max(self.paused_until))
    }

    /// Returns whether commits may be pushed now.
    pub(super) fn may_push(&self, now: Instant) -> bool {
        now >= self.next_push
    }

    /// Returns the shortest interval between pushes.
    pub(super) fn shortest_push_interval(&self) -> Duration {
        self.shortest_push_interval
    }

    /// Sets the shortest interval between pushes that the palace asks for.
    pub(super) fn set_shortest_push_interval(&mut self, asked: Option<Duration>) {
        self.shortest_push_interval = asked.unwrap_or_default().max(self.timing.idle);
        self.push_interval = self.push_interval.max(self.shortest_push_interval);
    }

    /// Records a write.
    pub(super) fn record_write(&mut self, now: Instant) {
        let first = self.unpushed.map_or(now, |[first, _]| first);
        self.unpushed = Some([first, now]);
    }

    /// Records that nothing waits to be pushed.
    pub(super) fn record_nothing_to_push(&mut self) {
        self.unpushed = None;
    }

    /// Puts off the fetch, because another process has just fetched, or there is nothing to fetch.
    pub(super) fn put_off_fetch(&mut self, until: Instant) {
        self.next_fetch = until;
    }

    /// Puts off the push, because this machine has just pushed.
    pub(super) fn put_off_push(&mut self, until: Instant) {
        self.next_push = self.next_push.max(until);
    }

    /// Looks again soon, because another process synchronizes now.
    pub(super) fn record_busy(&mut self, now: Instant) {
        self.next_fetch = now + self.timing.idle;
        self.next_push = self.next_push.max(self.next_fetch);
    }

    /// Plans the next steps after a synchronization; `jitter` is a random number from 0 to 1.
    pub(super) fn record_outcome(&mut self, outcome: SyncOutcome, now: Instant, jitter: f64) {
        (self.jitter, self.has_attempted_sync) = (jitter, true);
        self.next_fetch = now + self.with_jitter(self.timing.fetch);
        self.adapt_push_interval(outcome);
        if outcome.has_pushed || outcome.rejected > 0 {
            self.next_push = now + self.with_jitter(self.push_interval);
        }
        match (outcome.waiting, self.unpushed) {
            (0, _) if !outcome.has_failed => self.unpushed = None,
            (_, None) if outcome.waiting > 0 => self.unpushed = Some([now; 2]),
            _ => {}
        }
        self.pause = match outcome.has_failed {
            true => (self.pause * 2).max(self.timing.idle * 3).min(self.timing.longest_pause),
            false => Duration::ZERO,
        };
        self.paused_until = now + self.with_jitter(self.pause);
        if outcome.has_failed {
            self.next_fetch = self.paused_until;
        }
    }

    fn adapt_push_interval(&mut self, outcome: SyncOutcome) {
        for _ in 0..outcome.rejected {
            let longer = self.push_interval.mul_f64(GROWTH_FACTOR);
            self.push_interval = longer.min(self.timing.longest_pause);
        }
        if outcome.has_pushed {
            self.push_interval = self.push_interval.mul_f64(SHRINK_FACTOR);
        }
        self.push_interval = self.push_interval.max(self.shortest_push_interval);
    }

    /// Returns when the writes are to be pushed.
    fn push_time(&self) -> Option<Instant> {
        let [first, last] = self.unpushed?;
        let quiet = last + self.timing.idle;
        let share = 1.0 - (1.0 - LEAST_WAIT_SHARE) * self.jitter.clamp(0.0, 1.0);
        let latest = first + self.timing.longest_wait.mul_f64(share);
        let jitter = self.with_jitter(self.timing.idle).saturating_sub(self.timing.idle);
        Some((quiet + jitter).min(latest).max(self.next_push))
    }

    fn with_jitter(&self, wait: Duration) -> Duration {
        wait.mul_f64(1.0 + JITTER_SHARE * self.jitter.clamp(0.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: SyncOutcome =
        SyncOutcome { has_pushed: false, waiting: 0, rejected: 0, has_failed: false };
    const PUSHED: SyncOutcome = SyncOutcome { has_pushed: true, ..NONE };
    const FAILED: SyncOutcome = SyncOutcome { has_failed: true, ..NONE };

    fn seconds(count: u64) -> Duration {
        Duration::from_secs(count)
    }

    /// A schedule without jitter whose first fetch is done.
    fn schedule() -> (SyncSchedule, Instant) {
        let start = Instant::now();
        let mut schedule = SyncSchedule::new(SyncTiming::default(), start, 0.0);
        schedule.record_outcome(NONE, start, 0.0);
        (schedule, start)
    }

    /// Returns the seconds from `start` to the next step.
    fn next(schedule: &SyncSchedule, start: Instant) -> u64 {
        schedule.next_time().duration_since(start).as_secs()
    }

    #[test]
    fn it_fetches_at_once_and_then_every_minute() {
        let start = Instant::now();
        let mut schedule = SyncSchedule::new(SyncTiming::default(), start, 0.0);
        assert!(schedule.is_fetch_due(start) && !schedule.is_push_due(start));
        schedule.record_outcome(NONE, start, 0.0);
        assert!(!schedule.is_fetch_due(start + seconds(59)));
        assert!(schedule.is_fetch_due(start + seconds(60)));
        assert_eq!(next(&schedule, start), 60);
    }

    #[test]
    fn it_pushes_five_seconds_after_the_last_write() {
        let (mut schedule, start) = schedule();
        schedule.record_write(start + seconds(1));
        schedule.record_write(start + seconds(3));
        assert_eq!(next(&schedule, start), 8);
        assert!(!schedule.is_push_due(start + seconds(7)));
        assert!(schedule.is_push_due(start + seconds(8)));
        schedule.record_outcome(PUSHED, start + seconds(8), 0.0);
        assert!(!schedule.is_push_due(start + seconds(60)));
        assert_eq!(next(&schedule, start), 68);
    }

    #[test]
    fn it_pushes_fifteen_to_thirty_seconds_after_the_first_write_while_writes_go_on() {
        let (mut schedule, start) = schedule();
        for second in 0..60 {
            schedule.record_write(start + seconds(second));
        }
        assert_eq!(next(&schedule, start), 30);
        schedule.jitter = 1.0;
        assert_eq!(next(&schedule, start), 15);
    }

    #[test]
    fn each_rejected_push_adds_a_quarter_to_the_interval_and_each_success_takes_a_tenth() {
        let (mut schedule, start) = schedule();
        let rejected = SyncOutcome { rejected: 10, waiting: 3, ..NONE };
        schedule.record_outcome(rejected, start, 0.0);
        assert_eq!(schedule.push_interval.as_secs(), 46);
        assert_eq!(next(&schedule, start), 46);
        schedule.record_outcome(PUSHED, start, 0.0);
        assert_eq!(schedule.push_interval.as_secs(), 41);
        for _ in 0..50 {
            schedule.record_outcome(PUSHED, start, 0.0);
        }
        assert_eq!(schedule.push_interval, seconds(5));
        schedule.record_outcome(SyncOutcome { rejected: 50, ..NONE }, start, 0.0);
        assert_eq!(schedule.push_interval, seconds(300));
    }

    #[test]
    fn a_palace_can_ask_for_a_longer_interval_between_pushes() {
        let (mut schedule, start) = schedule();
        schedule.set_shortest_push_interval(Some(seconds(100)));
        schedule.record_outcome(PUSHED, start, 0.0);
        schedule.record_write(start + seconds(1));
        assert!(!schedule.may_push(start + seconds(99)));
        assert_eq!(schedule.push_time(), Some(start + seconds(100)));
        schedule.set_shortest_push_interval(Some(seconds(1)));
        assert_eq!(schedule.shortest_push_interval(), seconds(5));
    }

    #[test]
    fn failures_pause_it_longer_and_longer() {
        let (mut schedule, start) = schedule();
        schedule.record_write(start);
        let pauses: Vec<_> = (0..7)
            .map(|_| {
                schedule.record_outcome(FAILED, start, 0.0);
                next(&schedule, start)
            })
            .collect();
        assert_eq!(pauses, [15, 30, 60, 120, 240, 300, 300]);
        assert!(!schedule.is_push_due(start + seconds(299)));
        assert!(schedule.is_push_due(start + seconds(300)));
        schedule.record_outcome(PUSHED, start, 0.0);
        assert_eq!(next(&schedule, start), 60);
        schedule.record_outcome(FAILED, start, 0.0);
        assert_eq!(next(&schedule, start), 15);
    }

    #[test]
    fn it_looks_again_soon_while_another_process_synchronizes() {
        let (mut schedule, start) = schedule();
        schedule.record_write(start);
        schedule.record_busy(start + seconds(5));
        assert_eq!(next(&schedule, start), 10);
        schedule.record_nothing_to_push();
        schedule.put_off_fetch(start + seconds(40));
        assert_eq!(next(&schedule, start), 40);
    }

    #[test]
    fn commits_that_were_not_pushed_wait_for_the_interval() {
        let (mut schedule, start) = schedule();
        schedule.put_off_push(start + seconds(50));
        schedule.record_outcome(SyncOutcome { waiting: 2, ..NONE }, start, 0.0);
        assert_eq!(next(&schedule, start), 50);
    }

    #[test]
    fn the_random_part_is_at_most_a_fifth() {
        let start = Instant::now();
        let mut schedule = SyncSchedule::new(SyncTiming::default(), start, 1.0);
        schedule.record_outcome(NONE, start, 1.0);
        assert_eq!(next(&schedule, start), 72);
        schedule.record_write(start);
        assert_eq!(next(&schedule, start), 6);
    }
}
