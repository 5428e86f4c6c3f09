//! The keeper of a home: its open palaces, those that are opened in the background, and the visits
//! of its callers.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use ulid::Generator;

use crate::Refusal;
use crate::caller::Caller;
use crate::palace::OpenPalace;
use crate::palace::open_palace::{PublishedSnapshots, SnapshotMissFlag, WatchConfig};
use crate::semantic::ModelCache;
use crate::sync::BackgroundSyncSettings;
use crate::sync::background::BackgroundSync;
use crate::visit_store::VisitStore;
use palazzo_core::model::{Files, WatchMode};
use palazzo_core::visit::{Visit, VisitKey};
use palazzo_store::watch::{Poller, WakeCallback};
use palazzo_store::{self as store, ConsentStore, ProgressListener, ServedProposal, Store};

/// Keeps the palaces of one home.
pub struct Keeper {
    pub(super) home: PathBuf,
    pub(super) preferred_workspace: Option<String>,
    /// Whether nothing may be changed.
    pub(super) read_only: bool,
    /// Whether callers can choose a palace.
    pub(super) can_choose_workspace: bool,
    pub(super) open_palaces: BTreeMap<String, OpenPalace>,
    pub(super) background_open: Option<BackgroundOpen>,
    /// The keys of the open palaces as of a past commit, in the order they were opened.
    pub(super) as_of_keys: Vec<String>,
    pub(super) visits: BTreeMap<VisitKey, Visit>,
    /// The visits of callers without a call under way.
    pub(super) shared_visits: VisitStore,
    pub(super) published: PublishedSnapshots,
    /// The limits of a keeper that reads snapshots; `None` for the keeper of the palaces.
    pub(super) snapshot_miss_flag: Option<SnapshotMissFlag>,
    /// Receives the progress of the current call.
    pub(super) progress: Option<ProgressListener>,
    pub(super) id_generator: Generator,
    pub(super) watch_config: WatchConfig,
    pub(super) models: ModelCache,
    /// The consents of the user.
    pub(super) consents: ConsentStore,
    /// Returns the templates in the program by their names.
    pub(super) built_in_templates: fn() -> BTreeMap<String, Files>,
    /// The folder with the templates of the user.
    pub(super) template_folder: Option<PathBuf>,
    /// The proposal that the palaces are read from and written to, instead of the disk.
    pub(super) proposal: Option<Arc<ServedProposal>>,
    /// Synchronizes the repositories of open palaces, if that was started.
    pub(super) background_sync: Option<BackgroundSync>,
    /// Polls the home for new palaces, if it is watched.
    home_poller: Option<Poller>,
}

impl Keeper {
    /// Creates the keeper of the home at `home`, which need not exist yet. Callers who entered no
    /// palace act on `preferred`, if given. Reads and writes nothing.
    pub fn new(home: PathBuf, preferred: Option<String>) -> Self {
        Self {
            home,
            preferred_workspace: preferred,
            read_only: false,
            can_choose_workspace: true,
            open_palaces: BTreeMap::new(),
            background_open: None,
            as_of_keys: Vec::new(),
            visits: BTreeMap::new(),
            shared_visits: VisitStore::default(),
            published: PublishedSnapshots::default(),
            snapshot_miss_flag: None,
            progress: None,
            id_generator: Generator::new(),
            watch_config: WatchConfig::default(),
            models: ModelCache::default(),
            consents: ConsentStore::default(),
            built_in_templates: BTreeMap::new,
            template_folder: None,
            proposal: None,
            background_sync: None,
            home_poller: None,
        }
    }

    /// Sets how palaces that are opened from now on are watched for changes by others; `warn` is
    /// called once for each palace that cannot be watched in time.
    #[must_use]
    pub fn with_watch_mode(mut self, mode: WatchMode, warn: fn(&str)) -> Self {
        (self.watch_config.mode, self.watch_config.warn) = (mode, warn);
        self
    }

    /// Refuses every change, if `read_only` is true.
    #[must_use]
    pub fn with_read_only(mut self, read_only: bool) -> Self {
        self.read_only = read_only;
        self
    }

    /// Leaves the hint to choose a workspace out of refusals: for callers without a tool for it.
    #[must_use]
    pub fn without_workspace_choice(mut self) -> Self {
        self.can_choose_workspace = false;
        self
    }

    /// Embeds passages in the background in palaces that name a model.
    #[must_use]
    pub fn with_background_embedding(mut self) -> Self {
        self.models.in_background = true;
        self
    }

    /// Reads the consents of the user in `folder`, the folder for the state of this program;
    /// without one, nothing is allowed.
    #[must_use]
    pub fn with_consent_folder(mut self, folder: Option<PathBuf>) -> Self {
        self.consents = ConsentStore::new(folder);
        self
    }

    /// Sets the function that returns the templates in the program, each the files of a palace, by
    /// their names.
    #[must_use]
    pub fn with_built_in_templates(mut self, templates: fn() -> BTreeMap<String, Files>) -> Self {
        self.built_in_templates = templates;
        self
    }

    /// Sets the folder with the templates of the user.
    #[must_use]
    pub fn with_template_folder(mut self, folder: Option<PathBuf>) -> Self {
        self.template_folder = folder;
        self
    }

    /// Sets the callback that is called, from any thread, when others may have changed a palace
    /// that is opened from now on.
    pub fn set_wake_callback(&mut self, wake: WakeCallback) {
        self.watch_config.wake = wake;
    }

    /// Starts to synchronize the repositories of palaces that are opened from now on, where the user
    /// has set that up.
    pub fn start_background_sync(&mut self, settings: BackgroundSyncSettings) {
        let (home, consents) = (self.home.clone(), self.consents.clone());
        let wake = self.watch_config.wake.clone();
        self.background_sync = Some(BackgroundSync::start(settings, home, consents, wake));
    }

    /// Synchronizes the repository of a palace from now on, if that was started.
    pub(super) fn add_to_background_sync(&self, palace: &Store) {
        if let Some(sync) = &self.background_sync {
            sync.add_palace(palace.palace_folder());
        }
    }

    /// Ends the background synchronization, after the commits that wait were pushed. Takes at most
    /// a few seconds.
    pub fn finish_background_sync(&mut self) {
        if let Some(sync) = self.background_sync.take() {
            sync.finish();
        }
    }

    /// Calls the callback, within seconds, also when palaces are added to the home or removed.
    pub fn watch_home(&mut self) {
        if self.home_poller.is_some() || self.watch_config.mode == WatchMode::Off {
            return;
        }
        let (home, wake) = (self.home.clone(), self.watch_config.wake.clone());
        let mut before = store::list_palaces(&home).ok();
        let look = Box::new(move || {
            let now = store::list_palaces(&home).ok();
            let differs = now != before;
            before = now;
            differs.then(String::new).into_iter().collect()
        });
        self.home_poller = Some(Poller::start(look, move |_| wake()));
    }

    /// Closes all palaces, so that they are read again: after a panic their state in memory may be
    /// inconsistent. Visits stay.
    pub fn close_all_palaces(&mut self) {
        for key in self.open_palaces.keys() {
            self.published.withdraw(key);
        }
        self.open_palaces.clear();
        self.background_open = None;
        self.as_of_keys.clear();
    }

    /// Returns the visit of a caller; begins one if there is none.
    pub(super) fn visit_of_caller(&mut self, caller: &Caller) -> &mut Visit {
        let shared = &self.shared_visits;
        self.visits.entry(caller.visit.clone()).or_insert_with(|| shared.get(caller))
    }

    /// Returns the visits of all callers.
    pub fn visit_store(&self) -> VisitStore {
        self.shared_visits.clone()
    }
}

type SharedListener = Arc<Mutex<Option<ProgressListener>>>;

/// A palace that a thread opens. The thread writes nothing.
pub(crate) struct BackgroundOpen {
    /// The directory name of the palace.
    pub(crate) key: String,
    is_awaited: Arc<AtomicBool>,
    /// Receives the progress, once a call waits for the palace.
    progress: SharedListener,
    thread: JoinHandle<Result<OpenPalace, Refusal>>,
}

impl BackgroundOpen {
    /// Starts a thread that opens the palace with the directory name `key`.
    pub(crate) fn start(mut store: Store, key: String, name: String, config: &WatchConfig) -> Self {
        let (config, progress) = (config.clone(), SharedListener::default());
        let listener = progress.clone();
        store.set_progress_listener(Some(ProgressListener::new(move |done, total| {
            if let Some(it) = &*listener.lock().unwrap_or_else(PoisonError::into_inner) {
                it.report(done, total);
            }
        })));
        let is_awaited = Arc::new(AtomicBool::new(false));
        let is_palace_needed = is_awaited.clone();
        let open = move || {
            let palace = OpenPalace::open_without_writing(store, &name, &config)?;
            if !is_palace_needed.load(Ordering::Relaxed) {
                palace.warm_caches();
            }
            Ok(palace)
        };
        Self { key, is_awaited, progress, thread: thread::spawn(open) }
    }

    /// Waits for the palace, and reports the progress to `progress`; `None` if it could not be
    /// opened.
    pub(crate) fn wait(self, progress: Option<ProgressListener>) -> Option<OpenPalace> {
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = progress;
        self.is_awaited.store(true, Ordering::Relaxed);
        let mut palace = self.thread.join().ok()?.ok()?;
        palace.finish_open();
        Some(palace)
    }
}
