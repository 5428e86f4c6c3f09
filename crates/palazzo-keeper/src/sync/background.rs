//! Synchronizes the repositories of open palaces in a thread, where the user has set that up.
//!
//! The thread uses stores of its own and git: it never waits for the keeper, and no call waits for
//! it. An open palace sees a new commit as it sees every commit of another program.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};

use crate::error::Refusal;
use crate::sync::repositories::{RepositoryWithPalaces, find_synced_repository};
use crate::sync::round::{SyncOptions, SyncReport, sync_repository};
use crate::sync::schedule::{SyncOutcome, SyncSchedule, SyncTiming};
use palazzo_store::watch::WakeCallback;
use palazzo_store::{self as store, ConsentStore, SyncError, SyncFailureKind};

/// The time limit of each fetch and each push.
const TIME_LIMIT: Duration = Duration::from_secs(20);
/// How long the process waits for the last synchronization.
const LAST_SYNC_LIMIT: Duration = Duration::from_secs(5);
/// How long a killed git process may take to end.
const KILL_TIME: Duration = Duration::from_secs(1);

/// What the background synchronization of a server needs of it.
#[derive(Clone, Debug)]
pub struct BackgroundSyncSettings {
    /// The intervals.
    pub timing: SyncTiming,
    /// Returns the current time on a clock that never goes back.
    pub monotonic_clock: fn() -> Instant,
    /// Returns the current time.
    pub clock: fn() -> DateTime<Utc>,
    /// Stops every run of git when it is set.
    pub cancelled: Arc<AtomicBool>,
}

/// The thread that synchronizes.
pub(crate) struct BackgroundSync {
    events: Sender<SyncEvent>,
    /// Closed when the thread has ended.
    ended: Receiver<()>,
    cancelled: Arc<AtomicBool>,
    state: Arc<SharedState>,
}

/// What both threads know.
#[derive(Default)]
struct SharedState {
    /// Whether the last synchronization could not reach the remote.
    is_offline: AtomicBool,
    /// Whether calls have made commits that may not be pushed yet.
    has_unpushed: AtomicBool,
}

/// The answer to a request to synchronize.
pub type SyncAnswer = Result<SyncReport, Refusal>;

enum SyncEvent {
    /// A palace was opened.
    Opened(PathBuf),
    /// A call has made commits.
    Committed,
    /// Somebody asks to synchronize the repository of this palace now.
    Requested(PathBuf, Sender<SyncAnswer>),
    /// The server ends.
    Finish,
}

/// The state of the thread.
struct SyncThread {
    settings: BackgroundSyncSettings,
    home: PathBuf,
    consents: ConsentStore,
    wake: WakeCallback,
    /// The schedules by palace; of palaces in one repository, only the first.
    schedules: BTreeMap<PathBuf, SyncSchedule>,
    state: Arc<SharedState>,
}

impl BackgroundSync {
    /// Starts the thread.
    pub(crate) fn start(
        settings: BackgroundSyncSettings,
        home: PathBuf,
        consents: ConsentStore,
        wake: WakeCallback,
    ) -> Self {
        let (events, received) = mpsc::channel();
        let (end, ended) = mpsc::channel();
        let (cancelled, state) = (settings.cancelled.clone(), Arc::<SharedState>::default());
        let (schedules, shared) = (BTreeMap::new(), state.clone());
        let mut thread = SyncThread { settings, home, consents, wake, schedules, state: shared };
        thread::spawn(move || {
            thread.run(&received);
            drop(end);
        });
        Self { events, ended, cancelled, state }
    }

    /// Synchronizes the repository of the palace at `folder` from now on.
    pub(crate) fn add_palace(&self, folder: &Path) {
        self.send(SyncEvent::Opened(folder.to_owned()));
    }

    /// Tells the thread that a call has made commits.
    pub(crate) fn note_commits(&self) {
        self.state.has_unpushed.store(true, Ordering::Relaxed);
        self.send(SyncEvent::Committed);
    }

    /// Asks to synchronize the repository of a palace now. The sender of the answer is dropped if
    /// the server ends before.
    pub(crate) fn request(&self, folder: &Path) -> Receiver<SyncAnswer> {
        let (sender, receiver) = mpsc::channel();
        self.send(SyncEvent::Requested(folder.to_owned(), sender));
        receiver
    }

    /// Pushes what waits, and ends the thread. Takes at most a few seconds; no time if nothing waits
    /// or the remote could not be reached.
    pub(crate) fn finish(self) {
        self.send(SyncEvent::Finish);
        let SharedState { is_offline, has_unpushed } = &*self.state;
        let is_worth_waiting =
            has_unpushed.load(Ordering::Relaxed) && !is_offline.load(Ordering::Relaxed);
        let limit = if is_worth_waiting { LAST_SYNC_LIMIT } else { Duration::ZERO };
        if self.ended.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            self.cancelled.store(true, Ordering::Relaxed);
            self.ended.recv_timeout(KILL_TIME).unwrap_or_default();
        }
    }

    fn send(&self, event: SyncEvent) {
        // A thread that has ended synchronizes nothing.
        drop(self.events.send(event));
    }
}

impl SyncThread {
    fn run(&mut self, events: &Receiver<SyncEvent>) {
        loop {
            let now = self.now();
            let next = self.schedules.values().map(SyncSchedule::next_time).min();
            let event = match next {
                Some(next) => events.recv_timeout(next.saturating_duration_since(now)),
                None => events.recv().map_err(Into::into),
            };
            match event {
                Ok(SyncEvent::Opened(folder)) => self.add_palace(folder),
                Ok(SyncEvent::Committed) => {
                    let now = self.now();
                    self.schedules.values_mut().for_each(|it| it.record_write(now));
                }
                Ok(SyncEvent::Requested(folder, sender)) => {
                    // Nobody may wait for the answer any more.
                    drop(sender.send(self.sync_on_request(&folder)));
                }
                Ok(SyncEvent::Finish) => return self.push_last_commits(),
                Err(RecvTimeoutError::Timeout) => self.run_due_steps(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn add_palace(&mut self, folder: PathBuf) {
        let Some(folder) = self.first_palace_in_repository(folder) else { return };
        let (timing, now) = (self.settings.timing, self.now());
        self.schedules.entry(folder).or_insert_with(|| SyncSchedule::new(timing, now, random()));
    }

    /// Returns a palace whose repository has no schedule yet.
    fn first_palace_in_repository(&self, folder: PathBuf) -> Option<PathBuf> {
        let work = |folder: &Path| {
            let palace = store::Store::new(folder.to_owned(), self.home.clone());
            let whole = palace.with_consents(self.consents.clone()).for_whole_repository();
            Some(whole.ok()??.palace_folder().to_owned())
        };
        let found = work(&folder);
        let is_known = self.schedules.keys().any(|it| found.is_some() && work(it) == found);
        (!is_known).then_some(folder)
    }

    fn run_due_steps(&mut self) {
        let now = self.now();
        let due = self.schedules.iter().filter(|(_, it)| it.next_time() <= now);
        for folder in due.map(|(folder, _)| folder.clone()).collect::<Vec<_>>() {
            if let Some(schedule) = self.schedules.remove(&folder) {
                let schedule = self.run_due_step(&folder, schedule);
                self.schedules.insert(folder, schedule);
            }
        }
    }

    fn run_due_step(&self, folder: &Path, mut schedule: SyncSchedule) -> SyncSchedule {
        let now = self.now();
        let Some(repository) = self.find_repository(folder) else {
            // The user may set it up later.
            schedule.record_nothing_to_push();
            schedule.put_off_fetch(now + self.settings.timing.fetch);
            return schedule;
        };
        schedule.set_shortest_push_interval(repository.push_interval());
        self.consider_other_processes(&repository, &mut schedule);
        let is_fetch_due = schedule.is_fetch_due(now);
        if !is_fetch_due && schedule.is_push_due(now) && repository.has_nothing_to_push() {
            schedule.record_nothing_to_push();
        }
        if is_fetch_due || schedule.is_push_due(now) {
            let pushes = schedule.may_push(now);
            drop(self.sync(&repository, &mut schedule, TIME_LIMIT, pushes));
        }
        schedule
    }

    /// Puts off what another process of this machine has just done.
    fn consider_other_processes(
        &self,
        repository: &RepositoryWithPalaces,
        schedule: &mut SyncSchedule,
    ) {
        let (record, now) = (repository.sync_record(), self.now());
        // A time in the future says nothing: the clock was wrong.
        let age = |at: DateTime<Utc>| ((self.settings.clock)() - at).to_std();
        let rest = |at: Option<DateTime<Utc>>, interval: Duration| {
            at.and_then(|it| interval.checked_sub(age(it).ok()?)).filter(|it| !it.is_zero())
        };
        if let Some(rest) = rest(record.last_push, schedule.shortest_push_interval()) {
            schedule.put_off_push(now + rest);
        }
        // The first fetch after a palace was opened is not put off.
        if schedule.has_attempted_sync()
            && schedule.is_fetch_due(now)
            && let Some(rest) = rest(record.last_reached, self.settings.timing.fetch)
        {
            schedule.put_off_fetch(now + rest);
        }
    }

    fn sync_on_request(&mut self, folder: &Path) -> SyncAnswer {
        let repository = RepositoryWithPalaces::around(&self.home, &self.consents, folder)?;
        let (timing, now) = (self.settings.timing, self.now());
        let known = self.schedules.keys().find(|it| repository.has_palace(it)).cloned();
        let key = known.unwrap_or_else(|| folder.to_owned());
        let mut schedule =
            self.schedules.remove(&key).unwrap_or_else(|| SyncSchedule::new(timing, now, random()));
        let answer = self.sync(&repository, &mut schedule, TIME_LIMIT, true);
        self.schedules.insert(key, schedule);
        answer
    }

    /// Pushes the commits that wait, unless the remote could not be reached.
    fn push_last_commits(&mut self) {
        if self.state.is_offline.load(Ordering::Relaxed) {
            return;
        }
        for (folder, mut schedule) in std::mem::take(&mut self.schedules) {
            let repository = self.find_repository(&folder);
            let Some(repository) = repository.filter(|it| !it.has_nothing_to_push()) else {
                continue;
            };
            schedule.set_shortest_push_interval(repository.push_interval());
            self.consider_other_processes(&repository, &mut schedule);
            let asked = repository.push_interval().is_some();
            if !asked || schedule.may_push(self.now()) {
                drop(self.sync(&repository, &mut schedule, LAST_SYNC_LIMIT, true));
            }
        }
    }

    /// Synchronizes, and plans the next steps.
    fn sync(
        &self,
        repository: &RepositoryWithPalaces,
        schedule: &mut SyncSchedule,
        time_limit: Duration,
        pushes: bool,
    ) -> SyncAnswer {
        let options = SyncOptions {
            pushes,
            time_limit,
            now: (self.settings.clock)(),
            cancelled: self.settings.cancelled.clone(),
            ..SyncOptions::default()
        };
        let before = repository.newest_commit();
        let answer = sync_repository(repository, &options);
        if repository.newest_commit() != before {
            (self.wake)();
        }
        let now = self.now();
        if answer.as_ref().is_err_and(Refusal::is_busy_with_sync) {
            schedule.record_busy(now);
            return answer;
        }
        let kind = answer.as_ref().err().and_then(Refusal::sync_failure_kind);
        let is_offline = kind == Some(SyncFailureKind::Unreachable);
        self.state.is_offline.store(is_offline, Ordering::Relaxed);
        if answer.as_ref().is_ok_and(|it| it.waiting == 0) {
            self.state.has_unpushed.store(false, Ordering::Relaxed);
        }
        schedule.record_outcome(outcome_of(&answer), now, random());
        answer
    }

    fn find_repository(&self, folder: &Path) -> Option<RepositoryWithPalaces> {
        // An unreadable repository is reported by the calls.
        find_synced_repository(&self.home, &self.consents, folder).ok().flatten()
    }

    fn now(&self) -> Instant {
        (self.settings.monotonic_clock)()
    }
}

fn outcome_of(answer: &SyncAnswer) -> SyncOutcome {
    match answer {
        Ok(report) => SyncOutcome {
            has_pushed: report.sent > 0,
            waiting: report.waiting,
            rejected: report.rejected,
            has_failed: false,
        },
        Err(Refusal::Store(store::Error::Sync(SyncError::RemoteKeepsMoving {
            attempts, ..
        }))) => SyncOutcome { rejected: *attempts, waiting: 1, ..SyncOutcome::default() },
        Err(_) => SyncOutcome { has_failed: true, ..SyncOutcome::default() },
    }
}

/// Returns a random number from 0 to 1.
fn random() -> f64 {
    let bits = RandomState::new().build_hasher().finish();
    f64::from(u32::try_from(bits >> 32).unwrap_or_default()) / f64::from(u32::MAX)
}
