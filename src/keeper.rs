//! The keeper of a home: everything one can ask of its palaces, in one place.
//!
//! MCP and the command line both speak to the keeper and to nobody else, so a
//! rule that holds here holds everywhere. The keeper owns the palaces it has
//! opened and the visits of its callers; workrooms get borrowed parts.

mod error;
mod graph;
mod history;
mod import;
mod maintain;
mod memory_server;
mod mempalace;
mod palace;
mod rooms;
mod search;
mod semantic;
mod snapshot;
mod walk;
mod work;
mod workspaces;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};

use chrono::{DateTime, Utc};
use ulid::{Generator, Ulid};

pub use crate::exchange::{Extracted, ExtractedText, MempalaceTables, Row, SourceKind};
pub use crate::keeper::graph::ask::{Direction, EntityQuery, RelationQuery};
pub use crate::keeper::graph::delete::DeletedEntities;
pub use crate::keeper::graph::relations::RelationRemoval;
pub use crate::keeper::graph::timeline::TimelineQuery;
pub use crate::keeper::graph::update::EntityChange;
pub use crate::keeper::history::committed::CallCommits;
pub use crate::keeper::import::memory::MemoryImportSummary;
pub use crate::keeper::import::mempalace::ImportSummary;
pub use crate::keeper::import::mine::{MineSummary, SourceFile, is_palace_file};
pub use crate::keeper::maintain::check::{CheckReport, Finding, PalaceReport};
pub use crate::keeper::maintain::doctor::{DoctorReport, git_version};
pub use crate::keeper::maintain::fix::FixReport;
pub use crate::keeper::maintain::fmt::FmtReport;
pub use crate::keeper::memory_server::graph_page::GraphPage;
pub use crate::keeper::memory_server::operations::{DeletionSummary, EntityObservations};
pub use crate::keeper::mempalace::add_fact::{AddedFact, NewFact};
pub use crate::keeper::mempalace::diaries::DiaryPage;
pub use crate::keeper::mempalace::drawers::{
    DrawerLocation, DrawerStats, FilingOutcome, NewDrawer, SimilarDrawer,
};
pub use crate::keeper::mempalace::facts::{FactCounts, FactRecord, FactsAbout};
pub use crate::keeper::mempalace::tunnels::{ReachedRoom, RoomAcrossWings, TunnelStats};
pub use crate::keeper::palace::file_states::Generation;
pub use crate::keeper::rooms::build::Blueprint;
pub use crate::keeper::rooms::scrolls::NewScroll;
pub use crate::keeper::search::drawer_search::{DrawerHit, DrawerHits, DrawerQuery};
pub use crate::keeper::search::palace_search::{SearchHit, SearchResults};
pub use crate::keeper::search::search_query::SearchQuery;
pub use crate::keeper::semantic::indexer::{EmbedOutcome, Ranker};
pub use crate::keeper::walk::resources::ResourceSummary;
pub use crate::keeper::walk::step::{ActOutcome, ToolRequest};
pub use crate::keeper::walk::wake_up::{DEFAULT_TOKENS, MIN_TOKENS};
pub use crate::keeper::work::list::WorkQuery;
pub use crate::keeper::work::processes::NewProcess;
pub use crate::keeper::work::tasks::NewTask;
pub use crate::store::GitLock;
pub use error::{EntityViolations, Refusal};
pub use snapshot::{SnapshotReader, WaitCallback};

use crate::format;
use crate::keeper::palace::OpenPalace;
use crate::keeper::palace::reload::WatchConfig;
use crate::keeper::semantic::models::ModelCache;
use crate::keeper::snapshot::{PublishedSnapshots, SharedVisits, SnapshotLimits};
use crate::keeper::workspaces::BackgroundOpen;
use crate::model::{Author, FileKind, WatchMode};
use crate::render;
use crate::session::Visit;
use crate::store::{self, Consents};
use crate::watch::{Poller, WakeCallback};

/// How many names an answer lists.
const MAX_LISTED_NAMES: usize = 10;

/// Keeps the palaces of one home.
pub struct Keeper {
    home: PathBuf,
    preferred_workspace: Option<String>,
    /// Whether callers can choose a palace.
    can_choose_workspace: bool,
    open_palaces: BTreeMap<String, OpenPalace>,
    background_open: Option<BackgroundOpen>,
    /// What past palaces go by, those opened last at the end.
    as_of_keys: Vec<String>,
    visits: BTreeMap<String, Visit>,
    /// The visits of callers that nobody acts for at the moment.
    shared_visits: SharedVisits,
    published: PublishedSnapshots,
    /// What only another keeper can do; `None`: this one does everything.
    snapshot_limits: Option<SnapshotLimits>,
    id_generator: Generator,
    watch_config: WatchConfig,
    models: ModelCache,
    /// What the user has allowed.
    consents: Consents,
    /// Looks for new palaces, if somebody waits for them.
    home_poller: Option<Poller>,
}

/// Who asks, and when.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The name it goes by: whose visit it is, and who writes its scrolls.
    pub name: String,
    /// Who is the author of what it changes.
    pub author: Author,
    /// The tool or command it called, for the commit.
    pub tool: &'static str,
    /// The moment of asking.
    pub now: DateTime<Utc>,
    /// Whether nobody waits for the answer any more.
    pub cancelled: Arc<AtomicBool>,
}

impl Caller {
    /// Names a client by what it calls itself, made fit for one line; a
    /// nameless one is an `agent`.
    pub fn for_client(name: &str, now: DateTime<Utc>) -> Self {
        let name = render::truncate(&render::one_line(name), 60);
        let name = if name.is_empty() { "agent".to_owned() } else { name };
        let cancelled = Arc::default();
        Self { author: Author::Client(name.clone()), name, tool: "", now, cancelled }
    }

    /// Names the person at the terminal, who gave a command.
    pub fn for_person(name: &str, command: &'static str, now: DateTime<Utc>) -> Self {
        let client = Self::for_client(name, now);
        Self { author: Author::Person(client.name.clone()), tool: command, ..client }
    }

    /// Tells whether nobody waits for the answer any more.
    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

impl Keeper {
    /// Takes charge of the home at `home`, which need not exist yet. Tools that
    /// are called before a workspace was set act on `preferred`, if given.
    /// Nothing is read or written before the first question.
    pub fn new(home: PathBuf, preferred: Option<String>) -> Self {
        Self {
            home,
            preferred_workspace: preferred,
            can_choose_workspace: true,
            open_palaces: BTreeMap::new(),
            background_open: None,
            as_of_keys: Vec::new(),
            visits: BTreeMap::new(),
            shared_visits: SharedVisits::default(),
            published: PublishedSnapshots::default(),
            snapshot_limits: None,
            id_generator: Generator::new(),
            watch_config: WatchConfig::default(),
            models: ModelCache::default(),
            consents: Consents::default(),
            home_poller: None,
        }
    }

    /// Notices in that manner what others do to a palace, from when it is
    /// opened; `say` is told, once for each, where that can only be late.
    #[must_use]
    pub fn with_watching(mut self, manner: WatchMode, say: fn(&str)) -> Self {
        (self.watch_config.mode, self.watch_config.warn) = (manner, say);
        self
    }

    /// Tells callers that have no tool to choose a palace with nothing of one.
    #[must_use]
    pub fn without_workspace_choice(mut self) -> Self {
        self.can_choose_workspace = false;
        self
    }

    /// Finds out what passages mean in the background, from when a palace is opened
    /// that names a model.
    #[must_use]
    pub fn with_background_embedding(mut self) -> Self {
        self.models.in_background = true;
        self
    }

    /// Has `wake` called, from any thread, whenever others may have changed
    /// something in a palace that is opened from now on.
    pub fn set_wake_callback(&mut self, wake: WakeCallback) {
        self.watch_config.wake = wake;
    }

    /// Has the one who is woken told from now on, within seconds, of palaces that
    /// come into the home or go.
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

    /// Forgets everything in memory that can be read again: after a fault
    /// nothing half done is to be believed. Visits stay.
    pub fn close_all_palaces(&mut self) {
        for key in self.open_palaces.keys() {
            self.snapshot_slot(key).withdraw();
        }
        self.open_palaces.clear();
        self.background_open = None;
        self.as_of_keys.clear();
    }

    fn visit(&mut self, by: &Caller) -> &mut Visit {
        let shared = &self.shared_visits;
        self.visits.entry(by.name.clone()).or_insert_with(|| {
            let shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
            shared.get(&by.name).cloned().unwrap_or_default()
        })
    }
}

/// Reads a file that lies anywhere, for a person who has named it.
pub fn read_text_file(place: &Path) -> Result<String, Refusal> {
    store::read_text_file(place).map_err(|it| Refusal::UnreadableFile(it.into()))
}

/// Returns the JSON Schema of a kind of file.
pub fn json_schema(kind: FileKind) -> String {
    format::schema_for_kind(kind)
}

/// Makes a new id; ids made one after the other sort in that order.
fn new_id(ids: &mut Generator, now: DateTime<Utc>) -> Ulid {
    ids.generate_from_datetime(now.into()).unwrap_or_else(|_| Ulid::from_datetime(now.into()))
}

/// Lists names in one line, the first few of many.
fn join_names(names: &[String]) -> String {
    let shown: Vec<_> = names
        .iter()
        .take(MAX_LISTED_NAMES)
        .map(|it| render::truncate(&render::one_line(it), 60))
        .collect();
    match names.len() - shown.len() {
        0 => shown.join(", "),
        left => format!("{} and {left} more", shown.join(", ")),
    }
}
