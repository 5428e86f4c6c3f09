//! Which files have changed: told at once by the system, or found out by
//! looking every two seconds where the system says nothing.
//!
//! This is the only module that hears of events. It collects paths and never
//! asks what a file holds; whoever takes the paths reads the files, and may
//! come back with a doubt: a file that was perhaps only half written is handed
//! out once more when it has been left alone for a moment.

mod cookie;
mod poller;
pub use poller::Rounds;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode, EventKind, ModifyKind};
use notify::{Config, ErrorKind, Event, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::model::Watching;
use crate::watch::cookie::Echo;

/// How long a doubtful file must be left alone before it counts.
const QUIET: Duration = Duration::from_millis(100);
/// With more paths than these, looking at everything is as good.
const MANY: usize = 10_000;
/// An echo that takes so long will not come: nobody listens any more.
const DEAF: Duration = Duration::from_secs(5);
/// What every path is below.
const EVERYTHING: &str = "";

/// Watches one palace: its own folder, and all that lies in those it names.
///
/// Of the palace's neighbours nothing is watched, nor of `.git`, however much
/// lies there: a palace may be the root of a large repository.
pub struct Watch {
    root: PathBuf,
    ground: Option<u64>,
    followed: Vec<&'static str>,
    post: Arc<Post>,
    watcher: Option<RecommendedWatcher>,
    echo: Option<Echo>,
    look: Option<Look>,
    say: fn(&str),
    rounds: Option<Rounds>,
    why_slow: Option<String>,
}

/// What a watch needs of the world.
pub struct Eyes {
    /// Asked every two seconds where the system does not tell of changes.
    pub look: Look,
    /// Called whenever there is something to take.
    pub wake: Wake,
    /// Told once, if it should come to that, that changes are seen late and why.
    pub say: fn(&str),
    /// The file system, if it is known not to tell of every change.
    pub silent: Option<&'static str>,
}

/// Something that may have changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    /// A file or folder inside the palace; empty: everything.
    pub path: String,
    /// Whether nobody is in the middle of writing it.
    pub settled: bool,
}

/// Tells which paths have changed since it was last asked, by looking at all.
pub type Look = Box<dyn FnMut() -> Vec<String> + Send>;

/// Tells whoever waits that there is something to take; called from any thread.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// Where paths lie until they are taken.
struct Post {
    letters: Mutex<Letters>,
    echoed: Condvar,
    wake: Wake,
}

#[derive(Default)]
struct Letters {
    fresh: BTreeSet<String>,
    doubtful: BTreeMap<String, Instant>,
    limit_reached: bool,
    echo: Option<PathBuf>,
    echoes: u64,
}

impl Watch {
    /// Begins to watch the palace at `root`; everything counts as touched at
    /// first. `None`: that is not wanted.
    pub fn begin(root: &Path, manner: Watching, eyes: Eyes) -> Option<Self> {
        let root = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
        let Eyes { look, wake, say, silent } = eyes;
        let letters = Mutex::new(Letters::default());
        let post = Arc::new(Post { letters, echoed: Condvar::new(), wake });
        let mut watch = Self {
            root,
            ground: None,
            followed: Vec::new(),
            post,
            watcher: None,
            echo: None,
            look: Some(look),
            say,
            rounds: None,
            why_slow: None,
        };
        match manner {
            Watching::Off => return None,
            Watching::Poll => watch.go_round(None),
            Watching::Auto => match watcher(&watch.root, &watch.post) {
                Ok(watcher) => watch.listen(watcher),
                Err(err) => watch.go_round(Some(format!("the system tells of no changes: {err}"))),
            },
        }
        if let Some(name) = silent {
            watch.go_round(Some(format!("it lies on {name}, where not every change is told")));
        }
        // Its folders are watched from when this is taken.
        watch.start_over();
        Some(watch)
    }

    /// Takes what has been touched since the last time, and what was doubted
    /// and has been left alone since. Every save that was over before this call
    /// is among it, where the system tells of saves at all.
    ///
    /// `ground` tells the palace's own folder apart from another in its place;
    /// `folders` names those of its folders that are there.
    pub fn take(
        &mut self,
        ground: Option<u64>,
        folders: impl FnOnce() -> Vec<&'static str>,
    ) -> Vec<Touched> {
        self.hear_all();
        let (mut fresh, settled) = self.post.letters().take();
        if ground != self.ground {
            fresh = BTreeSet::from([EVERYTHING.to_owned()]);
        }
        // New folders below those of the palace are watched by themselves, but not these.
        let top: Vec<_> = fresh.iter().filter(|path| !path.contains('/')).collect();
        if !top.is_empty() {
            let folders = folders();
            let is_one = |it: &str| folders.contains(&it) || self.followed.contains(&it);
            if top.iter().any(|it| *it == EVERYTHING || is_one(it)) {
                self.ground = ground;
                self.follow(folders);
                // Nobody has watched for a moment.
                fresh = BTreeSet::from([EVERYTHING.to_owned()]);
            }
        }
        if let (false, Some(watcher)) = (fresh.is_empty(), &mut self.watcher) {
            // The listener answers when it is done with what it heard. A folder that was just
            // made is watched by then: what was put there before is found by whoever takes the
            // path, what is put there later is told.
            drop(watcher.unwatch(&self.root.join("\0")));
        }
        self.mind_the_limit();
        let touched = |settled| move |path| Touched { path, settled };
        fresh
            .into_iter()
            .map(touched(false))
            .chain(settled.into_iter().map(touched(true)))
            .collect()
    }

    /// Hands a path back: the file may be half written, and is to be taken
    /// again when it has been left alone.
    pub fn doubt(&self, path: &str) {
        self.post.letters().doubtful.entry(path.to_owned()).or_insert_with(Instant::now);
    }

    /// Touches everything: something kept what was taken from being read.
    pub fn start_over(&self) {
        self.post.put([EVERYTHING.to_owned()]);
    }

    /// Returns how long it is until something that was doubted can be taken.
    pub fn next_doubt(&self) -> Option<Duration> {
        let letters = self.post.letters();
        let oldest = letters.doubtful.values().min()?;
        Some(QUIET.saturating_sub(oldest.elapsed()))
    }

    /// Says why changes may be seen only after some seconds; `None`: they are
    /// seen at once, or it was asked for.
    pub fn why_slow(&self) -> Option<&str> {
        self.why_slow.as_deref()
    }

    /// Watches the palace's folders as they are now.
    fn follow(&mut self, folders: Vec<&'static str>) {
        let Some(watcher) = &mut self.watcher else { return };
        // The folder above tells when the palace itself goes or comes back.
        let here = self.root.parent().into_iter().chain([self.root.as_path()]);
        let here = here.map(|it| (it.to_owned(), RecursiveMode::NonRecursive));
        let below = folders.iter().map(|it| (self.root.join(it), RecursiveMode::Recursive));
        for (place, mode) in here.chain(below) {
            // Another folder may have taken the place of the one that was watched.
            drop(watcher.unwatch(&place));
            match watcher.watch(&place, mode) {
                Err(err) if is_limit(&err) => self.post.letters().limit_reached = true,
                // What is gone by now is told by the folder above it.
                _ => {}
            }
        }
        self.followed = folders;
    }

    /// Hears what the system tells from now on.
    fn listen(&mut self, mut watcher: RecommendedWatcher) {
        if cfg!(target_os = "linux") {
            self.echo = Echo::new(|place| {
                self.post.letters().echo = Some(place.to_owned());
                watcher.watch(place, RecursiveMode::NonRecursive)
            });
        }
        self.watcher = Some(watcher);
    }

    /// Waits until everything is heard that the system has told before.
    fn hear_all(&mut self) {
        let Some(echo) = &mut self.echo else { return };
        if !self.post.hears(echo) {
            self.echo = None;
            self.go_round(Some("the system has stopped to tell of changes".to_owned()));
        }
    }

    fn mind_the_limit(&mut self) {
        if std::mem::take(&mut self.post.letters().limit_reached) {
            let why = "the limit of watched folders is reached (fs.inotify.max_user_watches)";
            self.go_round(Some(why.to_owned()));
        }
    }

    /// Looks at everything every two seconds from now on; `why` says what keeps
    /// changes from being told.
    fn go_round(&mut self, why: Option<String>) {
        let Some(look) = self.look.take() else { return };
        let post = self.post.clone();
        self.rounds = Some(Rounds::begin(look, move |paths| post.put(paths)));
        self.why_slow = why.map(|why| format!("what others change is seen within seconds: {why}"));
        if let Some(why) = &self.why_slow {
            (self.say)(&format!("{}: {why}", self.root.display()));
        }
    }
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").field("root", &self.root).finish_non_exhaustive()
    }
}

impl Post {
    fn letters(&self) -> MutexGuard<'_, Letters> {
        self.letters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, paths: impl IntoIterator<Item = String>) {
        let mut letters = self.letters();
        let before = letters.fresh.len();
        letters.fresh.extend(paths);
        if letters.fresh.len() > MANY {
            letters.fresh = BTreeSet::from([EVERYTHING.to_owned()]);
        }
        let is_more = letters.fresh.len() != before;
        drop(letters);
        if is_more {
            (self.wake)();
        }
    }

    fn is_echo(&self, event: &Event) -> bool {
        let is_written = matches!(event.kind, EventKind::Modify(ModifyKind::Data(_)));
        is_written && self.letters().echo.as_ref() == event.paths.first()
    }

    /// Calls, and waits for the echo; tells whether it came.
    fn hears(&self, echo: &mut Echo) -> bool {
        let letters = self.letters();
        let before = letters.echoes;
        let is_awaited = |it: &mut Letters| it.echoes == before;
        echo.call().is_ok()
            && match self.echoed.wait_timeout_while(letters, DEAF, is_awaited) {
                Ok((_, waited)) => !waited.timed_out(),
                Err(_) => true,
            }
    }

    fn echo(&self) {
        self.letters().echoes += 1;
        self.echoed.notify_all();
    }

    /// Collects what an event is about. This must be quick: the system waits
    /// for nobody, and forgets what is not fetched in time.
    fn hear(&self, root: &Path, event: notify::Result<Event>) {
        match event {
            Ok(event) if event.need_rescan() => {
                self.put([EVERYTHING.to_owned()]);
                // The echo may be among what was forgotten.
                self.echo();
            }
            Ok(event) if self.is_echo(&event) => self.echo(),
            Ok(event) if is_change(event.kind) => {
                self.put(event.paths.iter().filter_map(|it| inside(root, it)));
            }
            Ok(_) => {}
            Err(err) => {
                self.letters().limit_reached |= is_limit(&err);
                self.put([EVERYTHING.to_owned()]);
            }
        }
    }
}

impl Letters {
    /// Takes what is fresh, and what was doubted and has been left alone since.
    fn take(&mut self) -> (BTreeSet<String>, Vec<String>) {
        let fresh = std::mem::take(&mut self.fresh);
        self.doubtful.retain(|path, _| !fresh.contains(path));
        let doubtful = std::mem::take(&mut self.doubtful).into_iter();
        let (quiet, waiting) = doubtful.partition(|(_, at)| at.elapsed() >= QUIET);
        self.doubtful = waiting;
        let settled = BTreeMap::into_keys(quiet).collect();
        (fresh, settled)
    }
}

fn watcher(root: &Path, post: &Arc<Post>) -> notify::Result<RecommendedWatcher> {
    let (root, post) = (root.to_owned(), post.clone());
    let hear = move |event| post.hear(&root, event);
    RecommendedWatcher::new(hear, Config::default().with_follow_symlinks(false))
}

fn is_limit(err: &notify::Error) -> bool {
    matches!(err.kind, ErrorKind::MaxFilesWatch)
}

/// Tells whether an event can mean that a file holds something else now.
fn is_change(kind: EventKind) -> bool {
    !matches!(kind, EventKind::Access(it) if it != AccessKind::Close(AccessMode::Write))
}

/// Spells a place as a path inside the palace, always with `/`; `None`: nothing
/// that lies there is a file of the palace.
fn inside(root: &Path, place: &Path) -> Option<String> {
    if root.starts_with(place) {
        return Some(EVERYTHING.to_owned());
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
    const PATIENCE: Duration = Duration::from_secs(60);

    static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

    /// Watches a folder; the channel tells when somebody looks at everything.
    fn watch(root: &Path, manner: Watching) -> (Watch, Receiver<()>) {
        let (tell, looked) = channel();
        let look = Box::new(move || {
            tell.send(()).unwrap_or_default();
            Vec::new()
        });
        let say: fn(&str) = |it| SAID.lock().unwrap().push(it.to_owned());
        let eyes = Eyes { look, wake: Arc::new(|| {}), say, silent: None };
        (Watch::begin(root, manner, eyes).unwrap(), looked)
    }

    fn taken(watch: &mut Watch) -> Vec<String> {
        let shown = |it: Touched| it.path + if it.settled { " (settled)" } else { "" };
        watch.take(Some(1), || vec!["rooms"]).into_iter().map(shown).collect()
    }

    #[test]
    fn what_is_told_is_told_by_its_path_inside_the_palace() {
        let told = |path: &str| inside(Path::new("/home/keep"), Path::new(path));
        let below = |path: &str| told(path).unwrap_or_else(|| "nothing".to_owned());
        assert_eq!(below("/home/keep/rooms/hall.yaml"), "rooms/hall.yaml");
        assert_eq!(below("/home/keep/rooms"), "rooms");
        assert_eq!(below("/home/keep"), EVERYTHING);
        assert_eq!(below("/home"), EVERYTHING);
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
    fn what_the_system_has_forgotten_can_be_anything() {
        let dir = tempfile::tempdir().unwrap();
        let (mut watch, _) = watch(dir.path(), Watching::Auto);
        assert_eq!(taken(&mut watch), [EVERYTHING]);
        assert_eq!(taken(&mut watch), [""; 0]);
        let lost = Event::new(EventKind::Other).set_flag(Flag::Rescan);
        watch.post.hear(dir.path(), Ok(lost));
        assert_eq!(taken(&mut watch), [EVERYTHING]);
        watch.post.put((0..=MANY).map(|it| format!("rooms/{it}.yaml")));
        assert_eq!(taken(&mut watch), [EVERYTHING]);
    }

    #[test]
    fn a_doubt_waits_until_the_file_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("rooms")).unwrap();
        let (mut watch, _) = watch(dir.path(), Watching::Auto);
        taken(&mut watch);
        watch.doubt("rooms/hall.yaml");
        watch.doubt("rooms/crypt.yaml");
        assert_eq!(taken(&mut watch), [""; 0]);
        let rest = watch.next_doubt().unwrap();
        std::fs::write(dir.path().join("rooms/hall.yaml"), "name: Ha").unwrap();
        assert_eq!(taken(&mut watch), ["rooms/hall.yaml"]);
        watch.doubt("rooms/hall.yaml");
        // Nothing happens but that time passes.
        std::thread::park_timeout(rest);
        while watch.post.letters().doubtful["rooms/crypt.yaml"].elapsed() < QUIET {}
        assert!(taken(&mut watch).contains(&"rooms/crypt.yaml (settled)".to_owned()));
    }

    #[test]
    fn beyond_the_limit_of_watched_folders_everything_is_looked_at_and_somebody_told() {
        let dir = tempfile::tempdir().unwrap();
        let (mut watch, looked) = watch(dir.path(), Watching::Auto);
        taken(&mut watch);
        assert_eq!(watch.why_slow(), None);
        for _ in 0..2 {
            let limit = notify::Error::new(ErrorKind::MaxFilesWatch);
            watch.post.hear(dir.path(), Err(limit));
            assert_eq!(taken(&mut watch), [EVERYTHING]);
        }
        let why = "what others change is seen within seconds: the limit of watched folders is \
                   reached (fs.inotify.max_user_watches)";
        assert_eq!(watch.why_slow(), Some(why));
        looked.recv_timeout(PATIENCE).unwrap();
        let said = SAID.lock().unwrap().clone();
        assert_eq!(said, [format!("{}: {why}", dir.path().display())]);
    }

    #[test]
    fn where_it_is_not_wanted_nobody_watches() {
        let eyes = Eyes {
            look: Box::new(Vec::new),
            wake: Arc::new(|| {}),
            say: |_| {},
            silent: Some("NFS"),
        };
        assert!(Watch::begin(Path::new("."), Watching::Off, eyes).is_none());
    }
}
