//! Which files have changed: told at once by the system, or found out by
//! looking every two seconds where the system says nothing.
//!
//! This is the only module that hears of events. It collects paths and never
//! asks what a file holds; whoever takes the paths reads the files, and may
//! come back with a doubt: a file that was perhaps only half written is handed
//! out once more when it has been left alone for a moment.

mod cookie;
mod poller;
pub use poller::Poller;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode, EventKind, ModifyKind};
use notify::{Config, ErrorKind, Event, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::model::WatchMode;
use crate::watch::cookie::Cookie;

/// How long a doubtful file must be left alone before it counts.
const QUIET_PERIOD: Duration = Duration::from_millis(100);
/// With more paths than these, looking at everything is as good.
const MAX_PATHS: usize = 10_000;
/// An echo that takes so long will not come: nobody listens any more.
const COOKIE_TIMEOUT: Duration = Duration::from_secs(5);
/// What every path is below.
const WHOLE_PALACE: &str = "";

/// Watches one palace: its own folder, and all that lies in those it names.
///
/// Of the palace's neighbours nothing is watched, nor of `.git`, however much
/// lies there: a palace may be the root of a large repository.
pub struct Watch {
    root: PathBuf,
    root_inode: Option<u64>,
    watched_folders: Vec<&'static str>,
    queue: Arc<EventQueue>,
    watcher: Option<RecommendedWatcher>,
    cookie: Option<Cookie>,
    poll: Option<PollCallback>,
    warn: fn(&str),
    poller: Option<Poller>,
    polling_reason: Option<String>,
}

/// What a watch needs of the world.
pub struct Callbacks {
    /// Asked every two seconds where the system does not tell of changes.
    pub poll: PollCallback,
    /// Called whenever there is something to take.
    pub wake: WakeCallback,
    /// Told once, if it should come to that, that changes are seen late and why.
    pub warn: fn(&str),
    /// The file system, if it is known not to tell of every change.
    pub network_file_system: Option<&'static str>,
}

/// Something that may have changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedPath {
    /// A file or folder inside the palace; empty: everything.
    pub path: String,
    /// Whether nobody is in the middle of writing it.
    pub is_quiet: bool,
}

/// Tells which paths have changed since it was last asked, by looking at all.
pub type PollCallback = Box<dyn FnMut() -> Vec<String> + Send>;

/// Tells whoever waits that there is something to take; called from any thread.
pub type WakeCallback = Arc<dyn Fn() + Send + Sync>;

/// Where paths lie until they are taken.
struct EventQueue {
    pending: Mutex<PendingPaths>,
    cookie_seen: Condvar,
    wake: WakeCallback,
}

#[derive(Default)]
struct PendingPaths {
    changed: BTreeSet<String>,
    deferred: BTreeMap<String, Instant>,
    is_limit_reached: bool,
    cookie_path: Option<PathBuf>,
    cookie_events: u64,
}

impl Watch {
    /// Begins to watch the palace at `root`; everything counts as touched at
    /// first. `None`: that is not wanted.
    pub fn start(root: &Path, manner: WatchMode, eyes: Callbacks) -> Option<Self> {
        let root = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
        let Callbacks { poll: look, wake, warn: say, network_file_system: silent } = eyes;
        let letters = Mutex::new(PendingPaths::default());
        let post = Arc::new(EventQueue { pending: letters, cookie_seen: Condvar::new(), wake });
        let mut watch = Self {
            root,
            root_inode: None,
            watched_folders: Vec::new(),
            queue: post,
            watcher: None,
            cookie: None,
            poll: Some(look),
            warn: say,
            poller: None,
            polling_reason: None,
        };
        match manner {
            WatchMode::Off => return None,
            WatchMode::Poll => watch.start_polling(None),
            WatchMode::Auto => match create_watcher(&watch.root, &watch.queue) {
                Ok(watcher) => watch.use_watcher(watcher),
                Err(err) => {
                    watch.start_polling(Some(format!("the system tells of no changes: {err}")))
                }
            },
        }
        if let Some(name) = silent {
            watch.start_polling(Some(format!("it lies on {name}, where not every change is told")));
        }
        // Its folders are watched from when this is taken.
        watch.mark_all_changed();
        Some(watch)
    }

    /// Takes what has been touched since the last time, and what was doubted
    /// and has been left alone since. Every save that was over before this call
    /// is among it, where the system tells of saves at all.
    ///
    /// `ground` tells the palace's own folder apart from another in its place;
    /// `folders` names those of its folders that are there.
    pub fn take_changes(
        &mut self,
        ground: Option<u64>,
        folders: impl FnOnce() -> Vec<&'static str>,
    ) -> Vec<ChangedPath> {
        self.wait_for_events();
        let (mut fresh, settled) = self.queue.lock_pending().take_ready();
        if ground != self.root_inode {
            fresh = BTreeSet::from([WHOLE_PALACE.to_owned()]);
        }
        // New folders below those of the palace are watched by themselves, but not these.
        let top: Vec<_> = fresh.iter().filter(|path| !path.contains('/')).collect();
        if !top.is_empty() {
            let folders = folders();
            let is_one = |it: &str| folders.contains(&it) || self.watched_folders.contains(&it);
            if top.iter().any(|it| *it == WHOLE_PALACE || is_one(it)) {
                self.root_inode = ground;
                self.watch_folders(folders);
                // Nobody has watched for a moment.
                fresh = BTreeSet::from([WHOLE_PALACE.to_owned()]);
            }
        }
        if let (false, Some(watcher)) = (fresh.is_empty(), &mut self.watcher) {
            // The listener answers when it is done with what it heard. A folder that was just
            // made is watched by then: what was put there before is found by whoever takes the
            // path, what is put there later is told.
            drop(watcher.unwatch(&self.root.join("\0")));
        }
        self.check_limit();
        let touched = |settled| move |path| ChangedPath { path, is_quiet: settled };
        fresh
            .into_iter()
            .map(touched(false))
            .chain(settled.into_iter().map(touched(true)))
            .collect()
    }

    /// Hands a path back: the file may be half written, and is to be taken
    /// again when it has been left alone.
    pub fn defer(&self, path: &str) {
        self.queue.lock_pending().deferred.entry(path.to_owned()).or_insert_with(Instant::now);
    }

    /// Touches everything: something kept what was taken from being read.
    pub fn mark_all_changed(&self) {
        self.queue.push([WHOLE_PALACE.to_owned()]);
    }

    /// Returns how long it is until something that was doubted can be taken.
    pub fn time_until_deferred(&self) -> Option<Duration> {
        let letters = self.queue.lock_pending();
        let oldest = letters.deferred.values().min()?;
        Some(QUIET_PERIOD.saturating_sub(oldest.elapsed()))
    }

    /// Says why changes may be seen only after some seconds; `None`: they are
    /// seen at once, or it was asked for.
    pub fn polling_reason(&self) -> Option<&str> {
        self.polling_reason.as_deref()
    }

    /// Watches the palace's folders as they are now.
    fn watch_folders(&mut self, folders: Vec<&'static str>) {
        let Some(watcher) = &mut self.watcher else { return };
        // The folder above tells when the palace itself goes or comes back.
        let here = self.root.parent().into_iter().chain([self.root.as_path()]);
        let here = here.map(|it| (it.to_owned(), RecursiveMode::NonRecursive));
        let below = folders.iter().map(|it| (self.root.join(it), RecursiveMode::Recursive));
        for (place, mode) in here.chain(below) {
            // Another folder may have taken the place of the one that was watched.
            drop(watcher.unwatch(&place));
            match watcher.watch(&place, mode) {
                Err(err) if is_limit_error(&err) => {
                    self.queue.lock_pending().is_limit_reached = true
                }
                // What is gone by now is told by the folder above it.
                _ => {}
            }
        }
        self.watched_folders = folders;
    }

    /// Hears what the system tells from now on.
    fn use_watcher(&mut self, mut watcher: RecommendedWatcher) {
        if cfg!(target_os = "linux") {
            self.cookie = Cookie::new(|place| {
                self.queue.lock_pending().cookie_path = Some(place.to_owned());
                watcher.watch(place, RecursiveMode::NonRecursive)
            });
        }
        self.watcher = Some(watcher);
    }

    /// Waits until everything is heard that the system has told before.
    fn wait_for_events(&mut self) {
        let Some(echo) = &mut self.cookie else { return };
        if !self.queue.wait_for(echo) {
            self.cookie = None;
            self.start_polling(Some("the system has stopped to tell of changes".to_owned()));
        }
    }

    fn check_limit(&mut self) {
        if std::mem::take(&mut self.queue.lock_pending().is_limit_reached) {
            let why = "the limit of watched folders is reached (fs.inotify.max_user_watches)";
            self.start_polling(Some(why.to_owned()));
        }
    }

    /// Looks at everything every two seconds from now on; `why` says what keeps
    /// changes from being told.
    fn start_polling(&mut self, why: Option<String>) {
        let Some(look) = self.poll.take() else { return };
        let post = self.queue.clone();
        self.poller = Some(Poller::start(look, move |paths| post.push(paths)));
        self.polling_reason =
            why.map(|why| format!("what others change is seen within seconds: {why}"));
        if let Some(why) = &self.polling_reason {
            (self.warn)(&format!("{}: {why}", self.root.display()));
        }
    }
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").field("root", &self.root).finish_non_exhaustive()
    }
}

impl EventQueue {
    fn lock_pending(&self) -> MutexGuard<'_, PendingPaths> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, paths: impl IntoIterator<Item = String>) {
        let mut letters = self.lock_pending();
        let before = letters.changed.len();
        letters.changed.extend(paths);
        if letters.changed.len() > MAX_PATHS {
            letters.changed = BTreeSet::from([WHOLE_PALACE.to_owned()]);
        }
        let is_more = letters.changed.len() != before;
        drop(letters);
        if is_more {
            (self.wake)();
        }
    }

    fn is_cookie_event(&self, event: &Event) -> bool {
        let is_written = matches!(event.kind, EventKind::Modify(ModifyKind::Data(_)));
        is_written && self.lock_pending().cookie_path.as_ref() == event.paths.first()
    }

    /// Calls, and waits for the echo; tells whether it came.
    fn wait_for(&self, echo: &mut Cookie) -> bool {
        let letters = self.lock_pending();
        let before = letters.cookie_events;
        let is_awaited = |it: &mut PendingPaths| it.cookie_events == before;
        echo.touch().is_ok()
            && match self.cookie_seen.wait_timeout_while(letters, COOKIE_TIMEOUT, is_awaited) {
                Ok((_, waited)) => !waited.timed_out(),
                Err(_) => true,
            }
    }

    fn mark_cookie_seen(&self) {
        self.lock_pending().cookie_events += 1;
        self.cookie_seen.notify_all();
    }

    /// Collects what an event is about. This must be quick: the system waits
    /// for nobody, and forgets what is not fetched in time.
    fn handle_event(&self, root: &Path, event: notify::Result<Event>) {
        match event {
            Ok(event) if event.need_rescan() => {
                self.push([WHOLE_PALACE.to_owned()]);
                // The echo may be among what was forgotten.
                self.mark_cookie_seen();
            }
            Ok(event) if self.is_cookie_event(&event) => self.mark_cookie_seen(),
            Ok(event) if is_content_change(event.kind) => {
                self.push(event.paths.iter().filter_map(|it| palace_path(root, it)));
            }
            Ok(_) => {}
            Err(err) => {
                self.lock_pending().is_limit_reached |= is_limit_error(&err);
                self.push([WHOLE_PALACE.to_owned()]);
            }
        }
    }
}

impl PendingPaths {
    /// Takes what is fresh, and what was doubted and has been left alone since.
    fn take_ready(&mut self) -> (BTreeSet<String>, Vec<String>) {
        let fresh = std::mem::take(&mut self.changed);
        self.deferred.retain(|path, _| !fresh.contains(path));
        let doubtful = std::mem::take(&mut self.deferred).into_iter();
        let (quiet, waiting) = doubtful.partition(|(_, at)| at.elapsed() >= QUIET_PERIOD);
        self.deferred = waiting;
        let settled = BTreeMap::into_keys(quiet).collect();
        (fresh, settled)
    }
}

fn create_watcher(root: &Path, post: &Arc<EventQueue>) -> notify::Result<RecommendedWatcher> {
    let (root, post) = (root.to_owned(), post.clone());
    let hear = move |event| post.handle_event(&root, event);
    RecommendedWatcher::new(hear, Config::default().with_follow_symlinks(false))
}

fn is_limit_error(err: &notify::Error) -> bool {
    matches!(err.kind, ErrorKind::MaxFilesWatch)
}

/// Tells whether an event can mean that a file holds something else now.
fn is_content_change(kind: EventKind) -> bool {
    !matches!(kind, EventKind::Access(it) if it != AccessKind::Close(AccessMode::Write))
}

/// Spells a place as a path inside the palace, always with `/`; `None`: nothing
/// that lies there is a file of the palace.
fn palace_path(root: &Path, place: &Path) -> Option<String> {
    if root.starts_with(place) {
        return Some(WHOLE_PALACE.to_owned());
    }
    let mut names = Vec::new();
    for name in place.strip_prefix(root).ok()? {
        // Of a name that is no Unicode the folder can tell.
        let Some(name) = name.to_str() else { break };
        if name.starts_with('.') {
            return None;
        }
        names.push(name);
    }
    // What editors leave beside a file.
    let is_backup = names.last().is_some_and(|it| it.ends_with('~'));
    (!is_backup).then(|| names.join("/"))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

    use notify::event::Flag;

    use super::*;

    /// Who waits so long for an event has found a fault.
    const TEST_TIMEOUT: Duration = Duration::from_secs(60);

    static WARNINGS: Mutex<Vec<String>> = Mutex::new(Vec::new());

    /// Watches a folder; the channel tells when somebody looks at everything.
    fn start_watch(root: &Path, manner: WatchMode) -> (Watch, Receiver<()>) {
        let (tell, looked) = channel();
        let look = Box::new(move || {
            tell.send(()).unwrap_or_default();
            Vec::new()
        });
        let say: fn(&str) = |it| WARNINGS.lock().unwrap().push(it.to_owned());
        let eyes =
            Callbacks { poll: look, wake: Arc::new(|| {}), warn: say, network_file_system: None };
        (Watch::start(root, manner, eyes).unwrap(), looked)
    }

    fn taken_paths(watch: &mut Watch) -> Vec<String> {
        let shown = |it: ChangedPath| it.path + if it.is_quiet { " (settled)" } else { "" };
        watch.take_changes(Some(1), || vec!["rooms"]).into_iter().map(shown).collect()
    }

    #[test]
    fn events_are_mapped_to_paths_inside_the_palace() {
        let told = |path: &str| palace_path(Path::new("/home/keep"), Path::new(path));
        let below = |path: &str| told(path).unwrap_or_else(|| "nothing".to_owned());
        assert_eq!(below("/home/keep/rooms/hall.yaml"), "rooms/hall.yaml");
        assert_eq!(below("/home/keep/rooms"), "rooms");
        assert_eq!(below("/home/keep"), WHOLE_PALACE);
        assert_eq!(below("/home"), WHOLE_PALACE);
        for nothing in [
            "/home/other/rooms/hall.yaml",
            "/home/keep/.git/index",
            "/home/keep/rooms/.hall.yaml.swp",
            "/home/keep/rooms/.hall.yaml.palazzo-1-0.tmp",
            "/home/keep/rooms/.obsidian/cache",
            "/home/keep/rooms/hall.yaml~",
        ] {
            assert_eq!(told(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn lost_or_too_many_events_mark_everything_as_changed() {
        let dir = tempfile::tempdir().unwrap();
        let (mut watch, _) = start_watch(dir.path(), WatchMode::Auto);
        assert_eq!(taken_paths(&mut watch), [WHOLE_PALACE]);
        assert_eq!(taken_paths(&mut watch), [""; 0]);
        let lost = Event::new(EventKind::Other).set_flag(Flag::Rescan);
        watch.queue.handle_event(dir.path(), Ok(lost));
        assert_eq!(taken_paths(&mut watch), [WHOLE_PALACE]);
        watch.queue.push((0..=MAX_PATHS).map(|it| format!("rooms/{it}.yaml")));
        assert_eq!(taken_paths(&mut watch), [WHOLE_PALACE]);
    }

    #[test]
    fn a_deferred_file_is_returned_when_it_has_settled() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("rooms")).unwrap();
        let (mut watch, _) = start_watch(dir.path(), WatchMode::Auto);
        taken_paths(&mut watch);
        watch.defer("rooms/hall.yaml");
        watch.defer("rooms/crypt.yaml");
        assert_eq!(taken_paths(&mut watch), [""; 0]);
        let rest = watch.time_until_deferred().unwrap();
        std::fs::write(dir.path().join("rooms/hall.yaml"), "name: Ha").unwrap();
        assert_eq!(taken_paths(&mut watch), ["rooms/hall.yaml"]);
        watch.defer("rooms/hall.yaml");
        // Nothing happens but that time passes.
        std::thread::park_timeout(rest);
        while watch.queue.lock_pending().deferred["rooms/crypt.yaml"].elapsed() < QUIET_PERIOD {}
        assert!(taken_paths(&mut watch).contains(&"rooms/crypt.yaml (settled)".to_owned()));
    }

    #[test]
    fn reaching_the_watch_limit_starts_polling_with_a_warning() {
        let dir = tempfile::tempdir().unwrap();
        let (mut watch, looked) = start_watch(dir.path(), WatchMode::Auto);
        taken_paths(&mut watch);
        assert_eq!(watch.polling_reason(), None);
        for _ in 0..2 {
            let limit = notify::Error::new(ErrorKind::MaxFilesWatch);
            watch.queue.handle_event(dir.path(), Err(limit));
            assert_eq!(taken_paths(&mut watch), [WHOLE_PALACE]);
        }
        let why = "what others change is seen within seconds: the limit of watched folders is \
                   reached (fs.inotify.max_user_watches)";
        assert_eq!(watch.polling_reason(), Some(why));
        looked.recv_timeout(TEST_TIMEOUT).unwrap();
        let said = WARNINGS.lock().unwrap().clone();
        assert_eq!(said, [format!("{}: {why}", dir.path().display())]);
    }

    #[test]
    fn watching_can_be_turned_off() {
        let eyes = Callbacks {
            poll: Box::new(Vec::new),
            wake: Arc::new(|| {}),
            warn: |_| {},
            network_file_system: Some("NFS"),
        };
        assert!(Watch::start(Path::new("."), WatchMode::Off, eyes).is_none());
    }
}
