//! `palazzo import mempalace`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use chrono::{Local, TimeZone as _};
use serde_json::{Map, Value};

use crate::cli::home::HomeArgs;
use crate::cli::home::palace_label;
use crate::cli::import::mempalace_sqlite;
use crate::cli::import_args::ImportArgs;
use crate::cli::outcome::{Failure, Outcome, terminal_user};
use crate::cli::redacted_secrets::{print_redacted_secrets, redacted_secrets_suffix};
use crate::cli::signal;
use crate::cli::terminal::{self, ProgressBar};
use crate::cli::user_folders::{env_path, expand_tilde};
use palazzo_core::model::{escape_unprintable_in_lines, path_text};
use palazzo_keeper::{self as keeper, MempalaceImportSummary, MempalaceTables};

/// The database of texts with Chroma.
const CHROMA_FILE: &str = "chroma.sqlite3";

/// The database of texts without Chroma.
const EXACT_FILE: &str = "sqlite_exact.sqlite3";

/// The database of facts.
const FACTS_FILE: &str = "knowledge_graph.sqlite3";

/// The marker files of backends that store texts on a server, so that no file can be read.
const REMOTE_BACKENDS: [(&str, &str); 3] = [
    ("milvus_backend.json", "Milvus"),
    ("qdrant_backend.json", "Qdrant"),
    ("pgvector_backend.json", "PostgreSQL"),
];

/// Import drawers, diaries and facts from MemPalace, in one commit
///
/// Reads the files of its store directly, without MemPalace, and writes nothing to
/// them. Existing drawers, entries and facts are not changed, so a second import
/// changes nothing. Exits with 1 if some rows could not be parsed; they are listed by
/// table and id, and the others are imported.
///
/// Secrets are redacted, as in `palazzo import PATH`.
///
/// The pieces of a long text become one drawer: those that are marked as pieces, and
/// those of a mined document if they fit together in one way only. A diary entry goes
/// to the diary of its agent, whatever its wing. A text without a wing or room is filed
/// in `unknown` and reported. An invalid date is kept as text and reported.
///
/// Not imported:
///
/// - embeddings and closets: search here needs neither
/// - halls: Palazzo computes them from the graph
/// - hallways and tunnels, and the confidence of facts
/// - events, tasks and artifacts
/// - texts stored in Milvus, Qdrant or PostgreSQL
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// The MemPalace folder with `chroma.sqlite3`; else the one that MemPalace itself
    /// would open: ~/.mempalace/palace, or the path in its config.json
    dir: Option<PathBuf>,

    #[command(flatten)]
    import: ImportArgs,

    #[command(flatten)]
    home: HomeArgs,
}

/// The location of a MemPalace store: its folder, its Chroma collection, its fact databases.
struct MempalaceStore {
    palace: PathBuf,
    collection: String,
    facts: Vec<PathBuf>,
}

pub(super) fn run(args: &Args) -> Outcome {
    let store = MempalaceStore::locate(args.dir.as_deref());
    let tables = store.read_tables()?;
    let mut keeper = args.home.keeper();
    signal::finish_writes_on_signal(&mut keeper);
    let bar = ProgressBar::default();
    let on_progress = move |done, all| bar.show(done, all);
    let to_utc = |it| Local.from_local_datetime(&it).earliest().map(|it| it.to_utc());
    let (caller, options) = (terminal_user("import"), args.import.options());
    let imported =
        keeper::import_mempalace(&mut keeper, &caller, tables, to_utc, options, on_progress)?;
    for note in imported.notes.iter().chain(&imported.errors) {
        anstream::eprintln!("{}", escape_unprintable_in_lines(note));
    }
    print_redacted_secrets(&imported.redacted, options.mode.is_dry_run());
    let root = keeper.palace_root(&caller)?;
    let summary = mempalace_import_summary(&imported, root.as_deref(), options.mode.is_dry_run());
    terminal::print_page(&summary)?;
    Ok(ExitCode::from(u8::from(!imported.errors.is_empty())))
}

fn mempalace_import_summary(
    imported: &MempalaceImportSummary,
    root: Option<&Path>,
    dry: bool,
) -> String {
    let MempalaceImportSummary {
        workspace,
        drawers,
        entries,
        facts,
        already_present: existing,
        errors: faults,
        redacted,
        ..
    } = imported;
    let palace = palace_label(workspace.as_deref(), root);
    let heading = match dry {
        false => format!("Added to {palace}"),
        true => format!("Would add to {palace}"),
    };
    let left = match faults.len() {
        0 => String::new(),
        rows => format!("; not understood: {rows}"),
    };
    format!(
        "{heading}: drawers {drawers}, diary entries {entries}, facts {facts}; {existing} \
         existed already{left}{}.",
        redacted_secrets_suffix(redacted)
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
                let settings = palace.parent().map(read_mempalace_settings).unwrap_or_default();
                (palace, settings)
            }
            None => {
                let config = mempalace_config_dir();
                let settings = read_mempalace_settings(&config);
                let keys = ["MEMPALACE_PALACE_PATH", "MEMPALACE_PALACE", "MEMPAL_PALACE_PATH"];
                let given = keys.iter().find_map(|it| env_path(it)).or_else(|| {
                    settings.get("palace_path").and_then(Value::as_str).map(PathBuf::from)
                });
                (given.map_or_else(|| config.join("palace"), |it| expand_tilde(&it)), settings)
            }
        };
        let collection = settings.get("collection_name").and_then(Value::as_str);
        let collection = collection.unwrap_or("mempalace_drawers").to_owned();
        let mut facts = vec![palace.join(FACTS_FILE)];
        // The default palace has its facts beside its folder, which may not be where its texts are.
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
        let remote = REMOTE_BACKENDS.iter().filter(|(mark, _)| self.palace.join(mark).is_file());
        tables.faults.extend(remote.map(|(mark, backend)| {
            format!("{mark}: the texts stored in {backend} cannot be read from here")
        }));
        if !chroma.is_file() && !exact.is_file() && self.facts.is_empty() {
            let palace = path_text(&self.palace);
            return Err(Failure::Message(format!(
                "{palace} is not a MemPalace palace: it has no {CHROMA_FILE}, {EXACT_FILE} or \
                 {FACTS_FILE}; name its folder"
            )));
        }
        Ok(tables)
    }
}

/// Returns the configuration folder of MemPalace: `~/.mempalace` if it is in use, else the
/// one below the system's configuration folder.
fn mempalace_config_dir() -> PathBuf {
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

fn read_mempalace_settings(config: &Path) -> Map<String, Value> {
    let text = std::fs::read_to_string(config.join("config.json"));
    text.ok().and_then(|it| serde_json::from_str(&it).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_counts_rows_that_were_not_understood() {
        let mut imported = MempalaceImportSummary {
            drawers: 2,
            facts: 1,
            already_present: 4,
            ..MempalaceImportSummary::default()
        };
        insta::assert_snapshot!(
            mempalace_import_summary(&imported, None, true),
            @"Would add to a new workspace: drawers 2, diary entries 0, facts 1; 4 existed already."
        );
        imported.errors = vec!["triples 1: no subject".to_owned()];
        imported.workspace = Some("Keep".to_owned());
        insta::assert_snapshot!(
            mempalace_import_summary(&imported, Some(Path::new("/a/keep")), false),
            @"Added to `Keep` in /a/keep: drawers 2, diary entries 0, facts 1; 4 existed already; not understood: 1."
        );
    }

    #[test]
    fn a_store_is_found_in_its_own_folder_or_in_the_one_above() {
        let folder = tempfile::tempdir().unwrap();
        let palace = folder.path().join("palace");
        std::fs::create_dir(&palace).unwrap();
        std::fs::write(folder.path().join("config.json"), "{\"collection_name\": \"mine\"}")
            .unwrap();
        std::fs::write(folder.path().join(FACTS_FILE), "").unwrap();
        for given in [folder.path(), palace.as_path()] {
            let store = MempalaceStore::locate(Some(given));
            assert_eq!((store.palace, store.collection.as_str()), (palace.clone(), "mine"));
            assert_eq!(store.facts, [folder.path().join(FACTS_FILE)]);
        }
    }

    #[test]
    fn a_folder_without_a_database_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let store = MempalaceStore::locate(Some(folder.path()));
        assert_eq!(store.collection, "mempalace_drawers");
        let refused = store.read_tables().unwrap_err().to_string();
        let expected = "is not a MemPalace palace: it has no chroma.sqlite3, sqlite_exact.sqlite3 or knowledge_graph.sqlite3; name its folder";
        assert_eq!(refused, format!("{} {expected}", folder.path().display()));
    }
}
