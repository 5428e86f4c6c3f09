//! `palazzo import mempalace`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use chrono::{Local, TimeZone as _};
use serde_json::{Map, Value};

use crate::cli::home::{self, Workspace, of_user, set};
use crate::cli::import::{mempalace_sqlite, place};
use crate::cli::progress_bar::Bar;
use crate::cli::signal;
use crate::cli::{Failure, Outcome, person, terminal};
use crate::keeper::{ImportSummary, Tables};
use crate::model::printable;

/// Texts, as Chroma holds them.
const CHROMA: &str = "chroma.sqlite3";

/// Texts, as MemPalace holds them without Chroma.
const EXACT: &str = "sqlite_exact.sqlite3";

/// Facts.
const FACTS: &str = "knowledge_graph.sqlite3";

/// What says that texts are held by a server: no file could be read.
const ELSEWHERE: [(&str, &str); 3] = [
    ("milvus_backend.json", "Milvus"),
    ("qdrant_backend.json", "Qdrant"),
    ("pgvector_backend.json", "PostgreSQL"),
];

/// Move in from MemPalace with drawers, diaries and facts, in one commit
///
/// Reads its store as it lies there, without MemPalace, and writes nothing to it.
/// What is here already stays as it is, so a second import changes nothing. Exits
/// with 1 if some rows could not be understood; they are named by table and id,
/// and the others are taken in.
///
/// The pieces of a long text become one drawer: those that say so, and those of a
/// mined document if they fit in one way only. An entry of a diary becomes one in
/// the diary of its agent, whatever its wing. What has no wing or room is filed in
/// `unknown`, and told. A date that is none stays as it stands, and is named.
///
/// Not taken:
///
/// - embeddings and closets: searching here needs neither
/// - halls: they are found out anew
/// - hallways and tunnels, and how sure a fact was
/// - events, tasks and artifacts
/// - texts that Milvus, Qdrant or PostgreSQL hold
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// The palace, the folder with `chroma.sqlite3`; else the one that MemPalace
    /// itself would open: ~/.mempalace/palace, or what its config.json says
    dir: Option<PathBuf>,

    /// Only say what would be added
    #[arg(long)]
    dry_run: bool,

    /// The home, or one palace
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,

    #[command(flatten)]
    workspace: Workspace,
}

/// Where a store lies.
struct Place {
    palace: PathBuf,
    collection: String,
    facts: Vec<PathBuf>,
}

pub(super) fn run(args: &Args) -> Outcome {
    let place = Place::find(args.dir.as_deref());
    let tables = place.read()?;
    let mut keeper = home::keeper(args.home.as_deref(), &args.workspace);
    signal::finish_writes(&mut keeper);
    let bar = Bar::default();
    let tell = move |done, all| bar.show(done, all);
    let local = |it| Local.from_local_datetime(&it).earliest().map(|it| it.to_utc());
    let by = person("import");
    let moved = keeper.import_mempalace(&by, tables, local, args.dry_run, tell)?;
    for told in moved.notes.iter().chain(&moved.errors) {
        anstream::eprintln!("{}", printable(told));
    }
    let root = keeper.palace_root(&by)?;
    terminal::print(&summary(&moved, root.as_deref(), args.dry_run))?;
    Ok(ExitCode::from(u8::from(!moved.errors.is_empty())))
}

fn summary(moved: &ImportSummary, root: Option<&Path>, dry: bool) -> String {
    let ImportSummary {
        workspace,
        drawers,
        entries,
        facts,
        already_present: known,
        errors: faults,
        ..
    } = moved;
    let place = place(workspace.as_deref(), root);
    let place = match dry {
        false => format!("Added to {place}"),
        true => format!("Would add to {place}"),
    };
    let left = match faults.len() {
        0 => String::new(),
        rows => format!("; not understood: {rows}"),
    };
    format!(
        "{place}: drawers {drawers}, diary entries {entries}, facts {facts}; {known} \
         were there already{left}."
    )
}

impl Place {
    /// Finds the store in a folder, or the one that MemPalace 3.11 would open.
    fn find(dir: Option<&Path>) -> Self {
        let (palace, settings) = match dir {
            Some(dir) => {
                let has_texts = [CHROMA, EXACT].iter().any(|it| dir.join(it).is_file());
                let inner = dir.join("palace");
                let palace = if !has_texts && inner.is_dir() { inner } else { dir.to_owned() };
                let palace = std::path::absolute(&palace).unwrap_or(palace);
                let settings = palace.parent().map(settings).unwrap_or_default();
                (palace, settings)
            }
            None => {
                let config = config();
                let settings = settings(&config);
                let said = ["MEMPALACE_PALACE_PATH", "MEMPALACE_PALACE", "MEMPAL_PALACE_PATH"];
                let said = said.iter().find_map(|it| set(it)).or_else(|| {
                    settings.get("palace_path").and_then(Value::as_str).map(PathBuf::from)
                });
                (said.map_or_else(|| config.join("palace"), |it| of_user(&it)), settings)
            }
        };
        let collection = settings.get("collection_name").and_then(Value::as_str);
        let collection = collection.unwrap_or("mempalace_drawers").to_owned();
        let mut facts = vec![palace.join(FACTS)];
        // The usual palace has its facts beside it, and not always where it is itself.
        facts.extend(palace.ends_with("palace").then(|| palace.with_file_name(FACTS)));
        facts.extend(dir.is_none().then(|| of_user(Path::new("~/.mempalace")).join(FACTS)));
        facts.dedup();
        facts.retain(|it| it.is_file());
        Self { palace, collection, facts }
    }

    fn read(&self) -> Result<Tables, Failure> {
        let mut tables = Tables::default();
        let [chroma, exact] = [CHROMA, EXACT].map(|it| self.palace.join(it));
        if chroma.is_file() {
            mempalace_sqlite::chroma(&chroma, &self.collection, &mut tables)?;
        }
        if exact.is_file() {
            mempalace_sqlite::exact(&exact, &self.collection, &mut tables)?;
        }
        for facts in &self.facts {
            mempalace_sqlite::facts(facts, &mut tables)?;
        }
        let elsewhere = ELSEWHERE.iter().filter(|(mark, _)| self.palace.join(mark).is_file());
        tables.faults.extend(elsewhere.map(|(mark, whose)| {
            format!("{mark}: the texts that {whose} holds cannot be read from here")
        }));
        if !chroma.is_file() && !exact.is_file() && self.facts.is_empty() {
            let palace = self.palace.display();
            return Err(Failure::Said(format!(
                "{palace} is no palace of MemPalace: there is no {CHROMA}, {EXACT} or {FACTS}"
            )));
        }
        Ok(tables)
    }
}

/// Returns where MemPalace has its configuration: in `~/.mempalace` if it was there
/// first, else where the system has such things.
fn config() -> PathBuf {
    if let Some(config) = set("MEMPALACE_CONFIG_DIR") {
        return of_user(&config);
    }
    let old = of_user(Path::new("~/.mempalace"));
    let marks = ["config.json", "people_map.json", "palace/chroma.sqlite3"];
    if marks.iter().any(|it| old.join(it).is_file()) {
        return old;
    }
    let config = set("XDG_CONFIG_HOME").filter(|it| it.is_absolute());
    config.unwrap_or_else(|| of_user(Path::new("~/.config"))).join("mempalace")
}

fn settings(config: &Path) -> Map<String, Value> {
    let text = std::fs::read_to_string(config.join("config.json"));
    text.ok().and_then(|it| serde_json::from_str(&it).ok()).unwrap_or_default()
}
