//! `palazzo import`.

mod mempalace;
pub(crate) mod mempalace_sqlite;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Subcommand;

use crate::cli::home::HomeArgs;
use crate::cli::progress_bar::ProgressBar;
use crate::cli::signal;
use crate::cli::{Failure, Outcome, terminal, terminal_user};
use crate::keeper::{self, MemoryImportSummary};
use crate::model::strip_unprintable;

/// The most notes about a file that are printed.
const MAX_PRINTED_MESSAGES: usize = 100;

/// Take in what another program remembers
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: ImportSource,
}

#[derive(Subcommand)]
enum ImportSource {
    Memory(ImportMemoryArgs),
    Mempalace(mempalace::Args),
}

/// Add what a file of the reference memory server holds, in one commit
///
/// Reads `memory.jsonl`, the older `memory.json`, and a list of what stands in
/// lines. Give `--home` the directory that `palazzo serve` is given. What is there
/// already stays as it is, so a second import changes nothing. Exits with 1 if
/// something could not be understood; it is named, and the rest is taken in.
#[derive(clap::Args)]
struct ImportMemoryArgs {
    /// The file; `-` for standard input
    file: PathBuf,

    /// Only say what would be added
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    home: HomeArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    match &args.what {
        ImportSource::Memory(args) => import_memory(args),
        ImportSource::Mempalace(args) => mempalace::run(args),
    }
}

fn import_memory(args: &ImportMemoryArgs) -> Outcome {
    let file = read_input(&args.file)?;
    let mut keeper = args.home.keeper();
    signal::finish_writes_on_signal(&mut keeper);
    let bar = ProgressBar::default();
    let progress = move |done, all| bar.show(done, all);
    let caller = terminal_user("import");
    let summary = keeper::import_memory(&mut keeper, &caller, &file, args.dry_run, progress)?;
    let name = args.file.display();
    for note in summary.notes.iter().take(MAX_PRINTED_MESSAGES) {
        anstream::eprintln!("{}", strip_unprintable(&format!("{name}: {note}")));
    }
    if summary.notes.len() > MAX_PRINTED_MESSAGES {
        anstream::eprintln!(
            "{name}: and {} more like these",
            summary.notes.len() - MAX_PRINTED_MESSAGES
        );
    }
    let root = keeper.palace_root(&caller)?;
    terminal::print_page(&memory_summary(&summary, root.as_deref(), args.dry_run))?;
    Ok(ExitCode::from(u8::from(summary.faults > 0)))
}

fn read_input(file: &Path) -> Result<Vec<u8>, Failure> {
    let read = match file == Path::new("-") {
        true => {
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut std::io::stdin(), &mut bytes).map(|_| bytes)
        }
        false => std::fs::read(file),
    };
    read.map_err(|err| Failure::Message(format!("cannot read {}: {err}", file.display())))
}

/// Returns the name and directory of the palace that the import went to.
fn palace_label(workspace: Option<&str>, root: Option<&Path>) -> String {
    match (workspace, root) {
        (Some(name), Some(root)) => format!("`{name}` in {}", root.display()),
        _ => "a new workspace".to_owned(),
    }
}

fn memory_summary(summary: &MemoryImportSummary, root: Option<&Path>, dry: bool) -> String {
    let MemoryImportSummary { workspace, entities, observations, relations, faults, .. } = summary;
    let place = palace_label(workspace.as_deref(), root);
    let verb = if dry { "Would add" } else { "Added" };
    let left = match faults {
        0 => String::new(),
        number => format!("; not understood and left out: {number}"),
    };
    format!(
        "{verb} to {place}: entities {entities}, observations of others {observations}, relations \
         {relations}{left}."
    )
}
