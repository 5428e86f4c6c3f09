//! `palazzo import`.

mod mempalace;
pub(crate) mod mempalace_sqlite;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Subcommand;

use crate::cli::home::Home;
use crate::cli::progress_bar::Bar;
use crate::cli::signal;
use crate::cli::{Failure, Outcome, person, terminal};
use crate::keeper::MemoryImportSummary;
use crate::model::printable;

/// How much is said of what could not be understood.
const TOLD: usize = 100;

/// Take in what another program remembers
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    Memory(Memory),
    Mempalace(mempalace::Args),
}

/// Add what a file of the reference memory server holds, in one commit
///
/// Reads `memory.jsonl`, the older `memory.json`, and a list of what stands in
/// lines. Give `--home` the directory that `palazzo serve` is given. What is there
/// already stays as it is, so a second import changes nothing. Exits with 1 if
/// something could not be understood; it is named, and the rest is taken in.
#[derive(clap::Args)]
struct Memory {
    /// The file; `-` for standard input
    file: PathBuf,

    /// Only say what would be added
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    home: Home,
}

pub(super) fn run(args: &Args) -> Outcome {
    match &args.what {
        What::Memory(args) => memory(args),
        What::Mempalace(args) => mempalace::run(args),
    }
}

fn memory(args: &Memory) -> Outcome {
    let file = read(&args.file)?;
    let mut keeper = args.home.keeper();
    signal::finish_writes(&mut keeper);
    let bar = Bar::default();
    let tell = move |done, all| bar.show(done, all);
    let by = person("import");
    let imported = keeper.import_memory(&by, &file, args.dry_run, tell)?;
    let name = args.file.display();
    for told in imported.notes.iter().take(TOLD) {
        anstream::eprintln!("{}", printable(&format!("{name}: {told}")));
    }
    if imported.notes.len() > TOLD {
        anstream::eprintln!("{name}: and {} more like these", imported.notes.len() - TOLD);
    }
    let root = keeper.palace_root(&by)?;
    terminal::print(&summary(&imported, root.as_deref(), args.dry_run))?;
    Ok(ExitCode::from(u8::from(imported.faults > 0)))
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    let read = match file == Path::new("-") {
        true => {
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut std::io::stdin(), &mut bytes).map(|_| bytes)
        }
        false => std::fs::read(file),
    };
    read.map_err(|err| Failure::Said(format!("cannot read {}: {err}", file.display())))
}

/// Names the palace that was added to, and where it lies.
fn place(workspace: Option<&str>, root: Option<&Path>) -> String {
    match (workspace, root) {
        (Some(name), Some(root)) => format!("`{name}` in {}", root.display()),
        _ => "a new workspace".to_owned(),
    }
}

fn summary(imported: &MemoryImportSummary, root: Option<&Path>, dry: bool) -> String {
    let MemoryImportSummary { workspace, entities, observations, relations, faults, .. } = imported;
    let place = place(workspace.as_deref(), root);
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
