//! Watches a palace for changed files: through the system's events, or by polling every two seconds
//! where the system reports none.
//!
//! This is the only module that receives file events. It collects paths and never reads the files.
//! The caller reads them, and can defer a path whose file may be half written; the path is returned
//! again when the file has not changed for a short time.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode, CreateKind, EventKind, ModifyKind};
use notify::{Config, ErrorKind, Event, RecommendedWatcher, RecursiveMode, Watcher as _};

use palazzo_core::model::{WatchMode, path_text};

/// How long a file must remain unchanged until no program is still writing it, so that a deferred
/// one is returned again.
pub const QUIET_PERIOD: Duration = Duration::from_millis(100);
/// The maximum number of pending paths; beyond it, everything counts as changed.
const MAX_PATHS: usize = 10_000;
/// How long to wait for the cookie's event; after that the watcher counts as dead.
const COOKIE_TIMEOUT: Duration = Duration::from_secs(5);
/// The path of the palace root, which stands for everything.
const WHOLE_PALACE: &str = "";

/// Watches one palace: its own folder, recursively the palace folders in it, and each folder with
/// notes.
///
/// Neither other folders beside them nor `.git` are watched, because a palace may be the root of a
/// large repository.
pub struct PalaceWatcher {
    root: PathBuf,
    root_inode: Option<u64>,
    watched_folders: WatchedFolders,
    queue: Arc<ChangeQueue>,
    watcher: Option<RecommendedWatcher>,
    cookie: Option<Cookie>,
    poll: Option<PollCallback>,
    warn: fn(&str),
    poller: Option<Poller>,
    polling_reason: Option<String>,
}

/// The folders that are watched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WatchedFolders {
    /// The palace folders that exist, with all that is in them.
    pub palace: Vec<&'static str>,
    /// The folders with notes that exist, by their paths from the palace, without what is in them.
    pub notes: Vec<String>,
}

/// The callbacks of a watch, and what is known of the file system.
pub struct Callbacks {
    /// Called every two seconds if the system does not report changes.
    pub poll: PollCallback,
    /// Called whenever there are changes to take.
    pub wake: WakeCallback,
    /// Called once if changes are detected late, with the reason.
    pub warn: fn(&str),
    /// The name of the file system, if it is known not to report every change.
    pub network_file_system: Option<&'static str>,
}

/// A path that may have changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedPath {
    /// A file or folder inside the palace; empty: everything.
    pub path: String,
    /// Whether the file has not changed since it was deferred, so that no program is still writing
    /// it.
    pub is_quiet: bool,
}

/// Notifies the receiver that there are changes to take; called from any thread.
pub type WakeCallback = Arc<dyn Fn() + Send + Sync>;

/// The paths that have changed and were not taken yet.
struct ChangeQueue {
    pending: Mutex<PendingPaths>,
    cookie_seen: Condvar,
    wake: WakeCallback,
    /// The watched folders with notes, by their paths from the palace.
    note_folders: Mutex<BTreeSet<String>>,
}

#[derive(Default)]
struct PendingPaths {
    changed: BTreeSet<String>,
    /// Paths that were reported gone, and may be there again.
    gone: BTreeSet<String>,
    /// Paths that got their names, by which something was moved there or a folder was created.
    new_names: BTreeSet<String>,
    deferred: BTreeMap<String, Instant>,
    is_limit_reached: bool,
    cookie_path: Option<PathBuf>,
    cookie_events: u64,
}

impl PalaceWatcher {
    /// Starts to watch the palace at `root`; at first everything counts as changed. `None`:
    /// watching is turned off.
    pub fn start(root: &Path, mode: WatchMode, callbacks: Callbacks) -> Option<Self> {
        let root = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
        let Callbacks { poll, wake, warn, network_file_system } = callbacks;
        let pending = Mutex::new(PendingPaths::default());
        let (cookie_seen, note_folders) = (Condvar::new(), Mutex::default());
        let queue = Arc::new(ChangeQueue { pending, cookie_seen, wake, note_folders });
        let mut watch = Self {
            root,
            root_inode: None,
            watched_folders: WatchedFolders::default(),
            queue,
            watcher: None,
            cookie: None,
            poll: Some(poll),
            warn,
            poller: None,
            polling_reason: None,
        };
        match mode {
            WatchMode::Off => return None,
            WatchMode::Poll => watch.start_polling(None),
            WatchMode::Auto => match create_watcher(&watch.root, &watch.queue) {
                Ok(watcher) => watch.set_watcher_and_cookie(watcher),
                Err(err) => {
                    watch.start_polling(Some(format!("the system reports no changes: {err}")));
                }
            },
        }
        if let Some(name) = network_file_system {
            watch.start_polling(Some(format!("{name} does not report every change")));
        }
        // The palace's folders are watched once this is taken.
        watch.mark_all_changed();
        Some(watch)
    }

    /// Takes the paths that changed since the last call, and the deferred ones that have not
    /// changed since. If the system reports changes, the result includes every save that was
    /// complete before this call.
    ///
    /// `root_inode` distinguishes the palace's folder from a later one at the same path; `folders`
    /// returns the folders that exist now.
    pub fn take_changes(
        &mut self,
        root_inode: Option<u64>,
        folders: impl FnOnce() -> WatchedFolders,
    ) -> Vec<ChangedPath> {
        self.wait_for_queued_events();
        let mut pending = self.queue.lock_pending();
        let (mut changed, settled) = pending.take_ready();
        let gone = std::mem::take(&mut pending.gone);
        let new_names = std::mem::take(&mut pending.new_names);
        drop(pending);
        if root_inode != self.root_inode {
            changed = BTreeSet::from([WHOLE_PALACE.to_owned()]);
        }
        // The watcher adds folders below the palace folders by itself, but not the palace folders.
        let top: Vec<_> = changed.iter().filter(|path| !path.contains('/')).collect();
        let has_new_note_folder = new_names.iter().any(|it| self.is_new_note_folder(it));
        if !top.is_empty() || has_new_note_folder {
            let folders = folders();
            let is_one = |it: &str| {
                folders.palace.contains(&it) || self.watched_folders.palace.contains(&it)
            };
            if has_new_note_folder || top.iter().any(|it| *it == WHOLE_PALACE || is_one(it)) {
                self.root_inode = root_inode;
                self.watch_folders(folders);
                // Changes between the removal and the new watch were missed.
                changed = BTreeSet::from([WHOLE_PALACE.to_owned()]);
            }
        }
        if cfg!(target_os = "linux") {
            for path in &gone {
                self.watch_replaced_folder(path);
            }
        }
        let has_new_folder = !cfg!(target_os = "linux")
            || changed.contains(WHOLE_PALACE)
            || new_names.iter().any(|path| self.is_folder(path));
        if let (true, Some(watcher)) = (has_new_folder, &mut self.watcher) {
            // The watcher replies after it has processed all events so far, so a folder that was
            // just created is watched by now: the caller finds the files that were put there
            // before, and later ones cause events.
            drop(watcher.unwatch(&self.root.join("\0")));
        }
        self.start_polling_if_limit_reached();
        let to_changed_path = |is_quiet| move |path| ChangedPath { path, is_quiet };
        changed
            .into_iter()
            .map(to_changed_path(false))
            .chain(settled.into_iter().map(to_changed_path(true)))
            .collect()
    }

    /// Defers a path whose file may be half written; it is returned again when the file has not
    /// changed for a short time.
    pub fn defer_path(&self, path: &str) {
        self.queue.lock_pending().deferred.entry(path.to_owned()).or_insert_with(Instant::now);
    }

    /// Marks everything as changed, because the caller could not read the paths it took.
    pub fn mark_all_changed(&self) {
        self.queue.push_changed_paths([WHOLE_PALACE.to_owned()]);
    }

    /// Returns the time until a deferred path can be taken.
    pub fn time_until_deferred_ready(&self) -> Option<Duration> {
        let pending = self.queue.lock_pending();
        let oldest = pending.deferred.values().min()?;
        Some(QUIET_PERIOD.saturating_sub(oldest.elapsed()))
    }

    /// Returns why changes are detected only within seconds; `None`: they are detected at once, or
    /// polling was requested.
    pub fn polling_reason(&self) -> Option<&str> {
        self.polling_reason.as_deref()
    }

    /// Watches the folders that exist now.
    fn watch_folders(&mut self, folders: WatchedFolders) {
        *self.queue.lock_note_folders() = folders.notes.iter().cloned().collect();
        let Some(watcher) = &mut self.watcher else { return };
        // The parent folder reports when the palace itself is removed or created again.
        let here = self.root.parent().into_iter().chain([self.root.as_path()]);
        let notes = folders.notes.iter().map(|it| normalize(&self.root.join(it)));
        // Of two watches of one folder, the system reports events to the later one only.
        let single: BTreeSet<_> = here.map(Path::to_owned).chain(notes).collect();
        let single = single.into_iter().map(|it| (it, RecursiveMode::NonRecursive));
        let below = folders.palace.iter().map(|it| (self.root.join(it), RecursiveMode::Recursive));
        for (place, mode) in single.chain(below) {
            // Another folder may have replaced the watched one.
            drop(watcher.unwatch(&place));
            self.queue.note_limit(watcher.watch(&place, mode));
        }
        self.watched_folders = folders;
    }

    /// Watches a folder again that was reported gone. If it was renamed over an empty one, the system
    /// may report late that the empty one is gone; the watcher then forgets the new one, which has the
    /// same path.
    fn watch_replaced_folder(&mut self, path: &str) {
        if !path.contains('/') || !self.is_folder(path) {
            return;
        }
        if let Some(watcher) = &mut self.watcher {
            let place = self.root.join(path);
            self.queue.note_limit(watcher.watch(&place, RecursiveMode::Recursive));
        }
    }

    /// Returns whether a path that has just got its name is a folder in one with notes.
    fn is_new_note_folder(&self, path: &str) -> bool {
        let parent = path.rsplit_once('/').map_or(WHOLE_PALACE, |(parent, _)| parent);
        let notes = &self.watched_folders.notes;
        notes.iter().any(|it| it == parent) && self.is_folder(path)
    }

    fn is_folder(&self, path: &str) -> bool {
        self.root.join(path).symlink_metadata().is_ok_and(|it| it.is_dir())
    }

    /// Uses the events of `watcher` from now on.
    fn set_watcher_and_cookie(&mut self, mut watcher: RecommendedWatcher) {
        if cfg!(target_os = "linux") {
            self.cookie = Cookie::create_and_watch(|place| {
                self.queue.lock_pending().cookie_path = Some(place.to_owned());
                watcher.watch(place, RecursiveMode::NonRecursive)
            });
        }
        self.watcher = Some(watcher);
    }

    /// Waits until all events that the system queued before this call were processed.
    fn wait_for_queued_events(&mut self) {
        let Some(cookie) = &mut self.cookie else { return };
        if !self.queue.wait_for_cookie_event(cookie) {
            self.cookie = None;
            self.start_polling(Some("the system has stopped reporting changes".to_owned()));
        }
    }

    fn start_polling_if_limit_reached(&mut self) {
        if std::mem::take(&mut self.queue.lock_pending().is_limit_reached) {
            let why = "the limit of watched folders is reached (fs.inotify.max_user_watches)";
            self.start_polling(Some(why.to_owned()));
        }
    }

    /// Polls every two seconds from now on; `why` is the reason why events are not sufficient.
    fn start_polling(&mut self, why: Option<String>) {
        let Some(poll) = self.poll.take() else { return };
        let queue = self.queue.clone();
        self.poller = Some(Poller::start(poll, move |paths| queue.push_changed_paths(paths)));
        self.polling_reason =
            why.map(|why| format!("changes by others are noticed only within seconds: {why}"));
        if let Some(why) = &self.polling_reason {
            (self.warn)(&format!("{}: {why}", path_text(&self.root)));
        }
    }
}

impl std::fmt::Debug for PalaceWatcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").field("root", &self.root).finish_non_exhaustive()
    }
}

impl ChangeQueue {
    fn lock_pending(&self) -> MutexGuard<'_, PendingPaths> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_note_folders(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.note_folders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Converts the place of an event to a path from the palace; `None`: it can be neither a palace file
    /// nor a note.
    fn path_of_event(&self, root: &Path, place: &Path) -> Option<String> {
        path_inside_palace(root, place)
            .or_else(|| path_of_note(root, place, &self.lock_note_folders()))
    }

    /// Notes if a folder could not be watched because there are too many. That it is gone by now, its
    /// parent folder reports.
    fn note_limit(&self, watched: notify::Result<()>) {
        if watched.is_err_and(|it| is_limit_error(&it)) {
            self.lock_pending().is_limit_reached = true;
        }
    }

    fn push_changed_paths(&self, paths: impl IntoIterator<Item = String>) {
        let mut pending = self.lock_pending();
        let before = pending.changed.len();
        pending.changed.extend(paths);
        if pending.changed.len() > MAX_PATHS {
            pending.changed = BTreeSet::from([WHOLE_PALACE.to_owned()]);
            pending.gone.clear();
            pending.new_names.clear();
        }
        let is_more = pending.changed.len() != before;
        drop(pending);
        if is_more {
            (self.wake)();
        }
    }

    fn is_cookie_event(&self, event: &Event) -> bool {
        let is_written = matches!(event.kind, EventKind::Modify(ModifyKind::Data(_)));
        is_written && self.lock_pending().cookie_path.as_ref() == event.paths.first()
    }

    /// Writes to the cookie and waits for its event; returns whether the event arrived.
    fn wait_for_cookie_event(&self, cookie: &mut Cookie) -> bool {
        let pending = self.lock_pending();
        let before = pending.cookie_events;
        let is_awaited = |it: &mut PendingPaths| it.cookie_events == before;
        cookie.touch().is_ok()
            && match self.cookie_seen.wait_timeout_while(pending, COOKIE_TIMEOUT, is_awaited) {
                Ok((_, waited)) => !waited.timed_out(),
                Err(_) => true,
            }
    }

    fn mark_cookie_seen(&self) {
        self.lock_pending().cookie_events += 1;
        self.cookie_seen.notify_all();
    }

    /// Collects the paths of an event. This must be quick: the system drops events that are not
    /// fetched in time.
    fn handle_event(&self, root: &Path, event: notify::Result<Event>) {
        match event {
            Ok(event) if event.need_rescan() => {
                self.push_changed_paths([WHOLE_PALACE.to_owned()]);
                // The cookie's event may be among the dropped ones.
                self.mark_cookie_seen();
            }
            Ok(event) if self.is_cookie_event(&event) => self.mark_cookie_seen(),
            Ok(event) if is_content_change(event.kind) => {
                let paths = || event.paths.iter().filter_map(|it| self.path_of_event(root, it));
                match event.kind {
                    EventKind::Remove(_) => self.lock_pending().gone.extend(paths()),
                    EventKind::Create(kind) if kind != CreateKind::File => {
                        self.lock_pending().new_names.extend(paths());
                    }
                    EventKind::Modify(ModifyKind::Name(_)) => {
                        self.lock_pending().new_names.extend(paths());
                    }
                    _ => {}
                }
                self.push_changed_paths(paths());
            }
            Ok(_) => {}
            Err(err) => {
                self.lock_pending().is_limit_reached |= is_limit_error(&err);
                self.push_changed_paths([WHOLE_PALACE.to_owned()]);
            }
        }
    }
}

impl PendingPaths {
    /// Takes the changed paths, and the deferred ones that have not changed since.
    fn take_ready(&mut self) -> (BTreeSet<String>, Vec<String>) {
        let changed = std::mem::take(&mut self.changed);
        self.deferred.retain(|path, _| !changed.contains(path));
        let doubtful = std::mem::take(&mut self.deferred).into_iter();
        let (quiet, waiting) = doubtful.partition(|(_, at)| at.elapsed() >= QUIET_PERIOD);
        self.deferred = waiting;
        let settled = BTreeMap::into_keys(quiet).collect();
        (changed, settled)
    }
}

/// Folders for the cookie file, which is temporary.
const COOKIE_FOLDERS: [&str; 2] = ["/dev/shm", "/tmp"];

/// A file without a name, written only by this process.
///
/// Detects when all earlier file events have been processed.
///
/// The system queues the events of a save before the save is complete, but the reader of the queue
/// may be behind. So a file of our own is watched too: when a write to it has arrived as an event,
/// all earlier events have arrived.
struct Cookie(File);

impl Cookie {
    /// Creates the file and passes its temporary name to `watch`; `None`: no folder can hold it.
    fn create_and_watch(mut watch: impl FnMut(&Path) -> notify::Result<()>) -> Option<Self> {
        COOKIE_FOLDERS.iter().find_map(|place| {
            // Without a folder, a watch on the surrounding one, in which a palace may be, would
            // report every write twice.
            let folder = tempfile::Builder::new().prefix(".palazzo-").tempdir_in(place).ok()?;
            let place = folder.path().join("echo");
            let cookie = File::create_new(&place).ok().and_then(|file| {
                watch(&place).ok()?;
                fs::remove_file(&place).ok()?;
                Some(Self(file))
            });
            folder.close().ok()?;
            cookie
        })
    }

    /// Writes to the file.
    fn touch(&mut self) -> io::Result<()> {
        self.0.rewind()?;
        self.0.write_all(b".")
    }
}

/// Compares all files with the previous call, and returns the paths that changed.
pub type PollCallback = Box<dyn FnMut() -> Vec<String> + Send>;

/// The time between two polls.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// A background thread that polls; it stops when this is dropped.
pub struct Poller {
    _stop: Sender<()>,
}

impl Poller {
    /// Starts to poll; calls `report` with the paths that `poll` returns.
    pub fn start(mut poll: PollCallback, report: impl Fn(Vec<String>) + Send + 'static) -> Self {
        let (stop, stopped) = channel();
        thread::spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(POLL_INTERVAL) {
                let found = poll();
                if !found.is_empty() {
                    report(found);
                }
            }
        });
        Self { _stop: stop }
    }
}

/// Returns how many folders the system watches for each user at most; `None` if it has no such
/// limit, or none that is known.
pub fn max_watched_folders() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/sys/fs/inotify/max_user_watches").ok()?;
    text.trim().parse().ok()
}

fn create_watcher(root: &Path, queue: &Arc<ChangeQueue>) -> notify::Result<RecommendedWatcher> {
    let (root, queue) = (root.to_owned(), queue.clone());
    let handler = move |event| queue.handle_event(&root, event);
    RecommendedWatcher::new(handler, Config::default().with_follow_symlinks(false))
}

fn is_limit_error(err: &notify::Error) -> bool {
    matches!(err.kind, ErrorKind::MaxFilesWatch)
}

/// Returns true if an event can mean that a file's content changed.
fn is_content_change(kind: EventKind) -> bool {
    !matches!(kind, EventKind::Access(it) if it != AccessKind::Close(AccessMode::Write))
}

/// Converts an absolute path to a path inside the palace, always with `/`; `None`: the path cannot
/// be a palace file.
fn path_inside_palace(root: &Path, place: &Path) -> Option<String> {
    if root.starts_with(place) {
        return Some(WHOLE_PALACE.to_owned());
    }
    visible_path(place.strip_prefix(root).ok()?)
}

/// Converts an absolute path outside the palace to the path of a note, from the palace; `None`: the path
/// is not in one of `folders`.
fn path_of_note(root: &Path, place: &Path, folders: &BTreeSet<String>) -> Option<String> {
    for (above, folder) in root.ancestors().enumerate().skip(1) {
        let Ok(below) = place.strip_prefix(folder) else { continue };
        let up = vec![".."; above].join("/");
        let path = visible_path(below)?;
        let path = if path.is_empty() { up } else { format!("{up}/{path}") };
        let parent = path.rsplit_once('/').map_or(path.as_str(), |(parent, _)| parent);
        return folders.contains(parent).then_some(path);
    }
    None
}

/// Returns a path with `/` between the names; `None`: it is hidden, or that of a backup.
fn visible_path(path: &Path) -> Option<String> {
    let mut names = Vec::new();
    for name in path {
        // If a name is not Unicode, the event is attributed to its folder.
        let Some(name) = name.to_str() else { break };
        if name.starts_with('.') {
            return None;
        }
        names.push(name);
    }
    // Backup files that editors create.
    let is_backup = names.last().is_some_and(|it| it.ends_with('~'));
    (!is_backup).then(|| names.join("/"))
}

/// Removes `..` from an absolute path, without a look at the disk.
fn normalize(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => drop(normal.pop()),
            part => normal.push(part),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

    use notify::event::{Flag, RemoveKind};

    use super::*;

    /// A test that waits this long for an event has failed.
    const TEST_TIMEOUT: Duration = Duration::from_secs(60);

    static WARNINGS: Mutex<Vec<String>> = Mutex::new(Vec::new());

    /// Watches a folder; the channel receives a message for each poll.
    fn start_watch(root: &Path, mode: WatchMode) -> (PalaceWatcher, Receiver<()>) {
        let (tell, looked) = channel();
        let poll = Box::new(move || {
            tell.send(()).unwrap_or_default();
            Vec::new()
        });
        let warn: fn(&str) = |it| WARNINGS.lock().unwrap().push(it.to_owned());
        let callbacks = Callbacks { poll, wake: Arc::new(|| {}), warn, network_file_system: None };
        (PalaceWatcher::start(root, mode, callbacks).unwrap(), looked)
    }

    fn taken_paths(watch: &mut PalaceWatcher) -> Vec<String> {
        let shown = |it: ChangedPath| it.path + if it.is_quiet { " (settled)" } else { "" };
        let folders = || WatchedFolders { palace: vec!["rooms"], notes: Vec::new() };
        watch.take_changes(Some(1), folders).into_iter().map(shown).collect()
    }

    #[test]
    fn events_are_mapped_to_paths_inside_the_palace() {
        let mapped = |path: &str| path_inside_palace(Path::new("/home/keep"), Path::new(path));
        let below = |path: &str| mapped(path).unwrap_or_else(|| "nothing".to_owned());
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
            assert_eq!(mapped(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn events_in_folders_with_notes_are_mapped_to_paths_from_the_palace() {
        let folders = ["..", "../notes/log", "../../wiki"].map(str::to_owned).into_iter().collect();
        let mapped =
            |path: &str| path_of_note(Path::new("/home/in/keep"), Path::new(path), &folders);
        for (place, path) in [
            ("/home/in/a.md", Some("../a.md")),
            ("/home/in/notes/log/a.md", Some("../notes/log/a.md")),
            ("/home/wiki/a.md", Some("../../wiki/a.md")),
            ("/home/in/notes", Some("../notes")),
            ("/home/in/notes/a.md", None),
            ("/home/wiki/.obsidian", None),
            ("/home/a.md", None),
        ] {
            assert_eq!(mapped(place).as_deref(), path, "{place}");
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
        watch.queue.push_changed_paths((0..=MAX_PATHS).map(|it| format!("rooms/{it}.yaml")));
        assert_eq!(taken_paths(&mut watch), [WHOLE_PALACE]);
    }

    #[test]
    fn a_deferred_file_is_returned_when_it_has_settled() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("rooms")).unwrap();
        let (mut watch, _) = start_watch(dir.path(), WatchMode::Auto);
        taken_paths(&mut watch);
        watch.defer_path("rooms/hall.yaml");
        watch.defer_path("rooms/crypt.yaml");
        assert_eq!(taken_paths(&mut watch), [""; 0]);
        let rest = watch.time_until_deferred_ready().unwrap();
        std::fs::write(dir.path().join("rooms/hall.yaml"), "name: Ha").unwrap();
        assert_eq!(taken_paths(&mut watch), ["rooms/hall.yaml"]);
        watch.defer_path("rooms/hall.yaml");
        // Only time passes.
        std::thread::park_timeout(rest);
        while watch.queue.lock_pending().deferred["rooms/crypt.yaml"].elapsed() < QUIET_PERIOD {}
        assert!(taken_paths(&mut watch).contains(&"rooms/crypt.yaml (settled)".to_owned()));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_folder_is_watched_again_when_the_one_that_it_has_replaced_is_reported_gone() {
        let dir = tempfile::tempdir().unwrap();
        let code = dir.path().join("rooms/code");
        std::fs::create_dir_all(&code).unwrap();
        let (mut watch, _) = start_watch(dir.path(), WatchMode::Auto);
        taken_paths(&mut watch);
        // So does the library at such an event.
        watch.watcher.as_mut().unwrap().unwatch(&code).unwrap();
        let gone = Event::new(EventKind::Remove(RemoveKind::Folder)).add_path(code.clone());
        watch.queue.handle_event(dir.path(), Ok(gone));
        assert_eq!(taken_paths(&mut watch), ["rooms/code"]);
        std::fs::write(code.join("hall.yaml"), "").unwrap();
        assert_eq!(taken_paths(&mut watch), ["rooms/code/hall.yaml"]);
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
        let why = "changes by others are noticed only within seconds: the limit of \
                   watched folders is reached (fs.inotify.max_user_watches)";
        assert_eq!(watch.polling_reason(), Some(why));
        looked.recv_timeout(TEST_TIMEOUT).unwrap();
        let warnings = WARNINGS.lock().unwrap().clone();
        assert_eq!(warnings, [format!("{}: {why}", dir.path().display())]);
    }

    #[test]
    fn watching_can_be_turned_off() {
        let callbacks = Callbacks {
            poll: Box::new(Vec::new),
            wake: Arc::new(|| {}),
            warn: |_| {},
            network_file_system: Some("NFS"),
        };
        assert!(PalaceWatcher::start(Path::new("."), WatchMode::Off, callbacks).is_none());
    }
}
