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

pub use crate::exchange::{Haul, Lode, Mined, Row, Tables};
pub use crate::keeper::graph::ask::{Direction, Related, Wanted};
pub use crate::keeper::graph::delete::Removed;
pub use crate::keeper::graph::relations::Parting;
pub use crate::keeper::graph::timeline::Era;
pub use crate::keeper::graph::update::EntityChange;
pub use crate::keeper::history::committed::Committed;
pub use crate::keeper::import::memory::Imported;
pub use crate::keeper::import::mempalace::Moved;
pub use crate::keeper::import::mine::{Mining, Pit, is_own};
pub use crate::keeper::maintain::check::{Checked, Finding, Inspection};
pub use crate::keeper::maintain::doctor::{Examination, git_version};
pub use crate::keeper::maintain::fix::Mending;
pub use crate::keeper::maintain::fmt::Tidying;
pub use crate::keeper::memory_server::graph_page::Excerpt;
pub use crate::keeper::memory_server::operations::{Erased, Observed};
pub use crate::keeper::mempalace::add_fact::{NewFact, Stated};
pub use crate::keeper::mempalace::diaries::Pages;
pub use crate::keeper::mempalace::drawers::{Address, Alike, Filing, NewDrawer, Stock};
pub use crate::keeper::mempalace::facts::{Dossier, FactCounts, Statement};
pub use crate::keeper::mempalace::tunnels::{Crossing, Network, Reached};
pub use crate::keeper::palace::file_states::Edition;
pub use crate::keeper::rooms::build::Blueprint;
pub use crate::keeper::rooms::scrolls::NewScroll;
pub use crate::keeper::search::drawer_search::{Finds, Found, SearchedFor};
pub use crate::keeper::search::palace_search::{Search, Sighting};
pub use crate::keeper::search::search_query::Sought;
pub use crate::keeper::semantic::indexer::{Ranker, Understanding};
pub use crate::keeper::walk::resources::Listed;
pub use crate::keeper::walk::step::{Question, Step};
pub use crate::keeper::walk::wake_up::{LEAST_TOKENS, USUAL_TOKENS};
pub use crate::keeper::work::list::Pending;
pub use crate::keeper::work::processes::NewProcess;
pub use crate::keeper::work::tasks::NewTask;
pub use crate::store::GitLock;
pub use error::{Forbidden, Refusal};
pub use snapshot::{OnWait, Readers};

use crate::format;
use crate::keeper::palace::Held;
use crate::keeper::palace::reload::Vigil;
use crate::keeper::semantic::models::Models;
use crate::keeper::snapshot::{Limits, Published, Visits};
use crate::keeper::workspaces::Opening;
use crate::model::{Author, FileKind, Watching};
use crate::render;
use crate::session::Visit;
use crate::store::{self, Consents};
use crate::watch::{Rounds, Wake};

/// How many names an answer lists.
const NAMED: usize = 10;

/// Keeps the palaces of one home.
pub struct Keeper {
    home: PathBuf,
    preferred: Option<String>,
    /// Whether callers can choose a palace.
    choose: bool,
    held: BTreeMap<String, Held>,
    opening: Option<Opening>,
    /// What past palaces go by, those opened last at the end.
    past: Vec<String>,
    visits: BTreeMap<String, Visit>,
    /// The visits of callers that nobody acts for at the moment.
    shared_visits: Visits,
    published: Published,
    /// What only another keeper can do; `None`: this one does everything.
    limits: Option<Limits>,
    ids: Generator,
    vigil: Vigil,
    models: Models,
    /// What the user has allowed.
    consents: Consents,
    /// Looks for new palaces, if somebody waits for them.
    rounds: Option<Rounds>,
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
    pub fn client(name: &str, now: DateTime<Utc>) -> Self {
        let name = render::cut(&render::line(name), 60);
        let name = if name.is_empty() { "agent".to_owned() } else { name };
        let cancelled = Arc::default();
        Self { author: Author::Client(name.clone()), name, tool: "", now, cancelled }
    }

    /// Names the person at the terminal, who gave a command.
    pub fn person(name: &str, command: &'static str, now: DateTime<Utc>) -> Self {
        let client = Self::client(name, now);
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
            preferred,
            choose: true,
            held: BTreeMap::new(),
            opening: None,
            past: Vec::new(),
            visits: BTreeMap::new(),
            shared_visits: Visits::default(),
            published: Published::default(),
            limits: None,
            ids: Generator::new(),
            vigil: Vigil::default(),
            models: Models::default(),
            consents: Consents::default(),
            rounds: None,
        }
    }

    /// Notices in that manner what others do to a palace, from when it is
    /// opened; `say` is told, once for each, where that can only be late.
    #[must_use]
    pub fn watching(mut self, manner: Watching, say: fn(&str)) -> Self {
        (self.vigil.manner, self.vigil.say) = (manner, say);
        self
    }

    /// Tells callers that have no tool to choose a palace with nothing of one.
    #[must_use]
    pub fn without_choice(mut self) -> Self {
        self.choose = false;
        self
    }

    /// Finds out what passages mean in the background, from when a palace is opened
    /// that names a model.
    #[must_use]
    pub fn reading_ahead(mut self) -> Self {
        self.models.ahead = true;
        self
    }

    /// Has `wake` called, from any thread, whenever others may have changed
    /// something in a palace that is opened from now on.
    pub fn wake_with(&mut self, wake: Wake) {
        self.vigil.wake = wake;
    }

    /// Has the one who is woken told from now on, within seconds, of palaces that
    /// come into the home or go.
    pub fn await_palaces(&mut self) {
        if self.rounds.is_some() || self.vigil.manner == Watching::Off {
            return;
        }
        let (home, wake) = (self.home.clone(), self.vigil.wake.clone());
        let mut before = store::palaces(&home).ok();
        let look = Box::new(move || {
            let now = store::palaces(&home).ok();
            let differs = now != before;
            before = now;
            differs.then(String::new).into_iter().collect()
        });
        self.rounds = Some(Rounds::begin(look, move |_| wake()));
    }

    /// Forgets everything in memory that can be read again: after a fault
    /// nothing half done is to be believed. Visits stay.
    pub fn forget(&mut self) {
        for key in self.held.keys() {
            self.publication(key).withdraw();
        }
        self.held.clear();
        self.opening = None;
        self.past.clear();
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
pub fn text_of(place: &Path) -> Result<String, Refusal> {
    store::text_of(place).map_err(|it| Refusal::Unreadable(it.into()))
}

/// Returns the JSON Schema of a kind of file.
pub fn schema(kind: FileKind) -> String {
    format::schema(kind)
}

/// Makes a new id; ids made one after the other sort in that order.
fn fresh_id(ids: &mut Generator, now: DateTime<Utc>) -> Ulid {
    ids.generate_from_datetime(now.into()).unwrap_or_else(|_| Ulid::from_datetime(now.into()))
}

/// Lists names in one line, the first few of many.
fn listed(names: &[String]) -> String {
    let shown: Vec<_> =
        names.iter().take(NAMED).map(|it| render::cut(&render::line(it), 60)).collect();
    match names.len() - shown.len() {
        0 => shown.join(", "),
        left => format!("{} and {left} more", shown.join(", ")),
    }
}
