//! `palazzo import mempalace`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use chrono::{Local, TimeZone as _};
use serde_json::{Map, Value};

use crate::cli::home::{self, WorkspaceArgs, env_path, expand_tilde};
use crate::cli::import::{mempalace_sqlite, palace_label};
use crate::cli::progress_bar::ProgressBar;
use crate::cli::signal;
use crate::cli::{Failure, Outcome, terminal, terminal_user};
use crate::keeper::{self, ImportSummary, MempalaceTables};
use crate::model::strip_unprintable;

/// The database of texts with Chroma.
const CHROMA_FILE: &str = "chroma.sqlite3";

/// The database of texts without Chroma.
const EXACT_FILE: &str = "sqlite_exact.sqlite3";

/// The database of facts.
const FACTS_FILE: &str = "knowledge_graph.sqlite3";

/// The files that show that a server holds the texts, which cannot be read from here.
const REMOTE_BACKENDS: [(&str, &str); 3] = [
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
    workspace: WorkspaceArgs,
}

/// The files of a store of MemPalace.
struct MempalaceStore {
    palace: PathBuf,
    collection: String,
    facts: Vec<PathBuf>,
}

pub(super) fn run(args: &Args) -> Outcome {
    let store = MempalaceStore::locate(args.dir.as_deref());
    let tables = store.read_tables()?;
    let mut keeper = home::keeper_for_home(args.home.as_deref(), &args.workspace);
    signal::finish_writes_on_signal(&mut keeper);
    let bar = ProgressBar::default();
    let progress = move |done, all| bar.show(done, all);
    let to_utc = |it| Local.from_local_datetime(&it).earliest().map(|it| it.to_utc());
    let caller = terminal_user("import");
    let summary =
        keeper::import_mempalace(&mut keeper, &caller, tables, to_utc, args.dry_run, progress)?;
    for note in summary.notes.iter().chain(&summary.errors) {
        anstream::eprintln!("{}", strip_unprintable(note));
    }
    let root = keeper.palace_root(&caller)?;
    terminal::print_page(&mempalace_summary(&summary, root.as_deref(), args.dry_run))?;
    Ok(ExitCode::from(u8::from(!summary.errors.is_empty())))
}

fn mempalace_summary(summary: &ImportSummary, root: Option<&Path>, dry: bool) -> String {
    let ImportSummary { workspace, drawers, entries, facts, already_present, errors, .. } = summary;
    let place = palace_label(workspace.as_deref(), root);
    let place = match dry {
        false => format!("Added to {place}"),
        true => format!("Would add to {place}"),
    };
    let left = match errors.len() {
        0 => String::new(),
        rows => format!("; not understood: {rows}"),
    };
    format!(
        "{place}: drawers {drawers}, diary entries {entries}, facts {facts}; {already_present} \
         were there already{left}."
    )
}

impl MempalaceStore {
    /// Finds the store in a folder, or the one that MemPalace 3.11 would open.
    fn locate(dir: Option<&Path>) -> Self {
        let (palace, settings) = match dir {
            Some(dir) => {
                let has_texts = [CHROMA_FILE, EXACT_FILE].iter().any(|it| dir.join(it).is_file());
                let inner = dir.join("palace");
                let palace = if !has_texts && inner.is_dir() { inner } else { dir.to_owned() };
                let palace = std::path::absolute(&palace).unwrap_or(palace);
                let settings = palace.parent().map(read_settings).unwrap_or_default();
                (palace, settings)
            }
            None => {
                let config = config_dir();
                let settings = read_settings(&config);
                let variables = ["MEMPALACE_PALACE_PATH", "MEMPALACE_PALACE", "MEMPAL_PALACE_PATH"];
                let palace = variables.iter().find_map(|it| env_path(it)).or_else(|| {
                    settings.get("palace_path").and_then(Value::as_str).map(PathBuf::from)
                });
                (palace.map_or_else(|| config.join("palace"), |it| expand_tilde(&it)), settings)
            }
        };
        let collection = settings.get("collection_name").and_then(Value::as_str);
        let collection = collection.unwrap_or("mempalace_drawers").to_owned();
        let mut facts = vec![palace.join(FACTS_FILE)];
        // The default palace has its facts beside it.
        facts.extend(palace.ends_with("palace").then(|| palace.with_file_name(FACTS_FILE)));
        facts.extend(
            dir.is_none().then(|| expand_tilde(Path::new("~/.mempalace")).join(FACTS_FILE)),
        );
        facts.dedup();
        facts.retain(|it| it.is_file());
        Self { palace, collection, facts }
    }

    fn read_tables(&self) -> Result<MempalaceTables, Failure> {
        let mut tables = MempalaceTables::default();
        let [chroma, exact] = [CHROMA_FILE, EXACT_FILE].map(|it| self.palace.join(it));
        if chroma.is_file() {
            mempalace_sqlite::read_chroma(&chroma, &self.collection, &mut tables)?;
        }
        if exact.is_file() {
            mempalace_sqlite::read_sqlite_exact(&exact, &self.collection, &mut tables)?;
        }
        for facts in &self.facts {
            mempalace_sqlite::read_facts(facts, &mut tables)?;
        }
        let elsewhere = REMOTE_BACKENDS.iter().filter(|(mark, _)| self.palace.join(mark).is_file());
        tables.faults.extend(elsewhere.map(|(mark, whose)| {
            format!("{mark}: the texts that {whose} holds cannot be read from here")
        }));
        if !chroma.is_file() && !exact.is_file() && self.facts.is_empty() {
            let palace = self.palace.display();
            return Err(Failure::Message(format!(
                "{palace} is no palace of MemPalace: there is no {CHROMA_FILE}, {EXACT_FILE} or {FACTS_FILE}"
            )));
        }
        Ok(tables)
    }
}

/// Returns the folder with the configuration of MemPalace: `~/.mempalace` if that exists, else
/// the folder that the system has for it.
fn config_dir() -> PathBuf {
    if let Some(config) = env_path("MEMPALACE_CONFIG_DIR") {
        return expand_tilde(&config);
    }
    let old = expand_tilde(Path::new("~/.mempalace"));
    let marks = ["config.json", "people_map.json", "palace/chroma.sqlite3"];
    if marks.iter().any(|it| old.join(it).is_file()) {
        return old;
    }
    let config = env_path("XDG_CONFIG_HOME").filter(|it| it.is_absolute());
    config.unwrap_or_else(|| expand_tilde(Path::new("~/.config"))).join("mempalace")
}

fn read_settings(config: &Path) -> Map<String, Value> {
    let text = std::fs::read_to_string(config.join("config.json"));
    text.ok().and_then(|it| serde_json::from_str(&it).ok()).unwrap_or_default()
}
