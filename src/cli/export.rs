//! `palazzo export`.

use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Subcommand;

use crate::cli::home::HomeArgs;
use crate::cli::outcome::{Failure, Outcome, terminal_user};
use palazzo_core::model::{escape_unprintable_json, path_text};
use palazzo_keeper as keeper;

/// Export a palace for another program
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: ExportTarget,
}

#[derive(Subcommand)]
enum ExportTarget {
    Memory(ExportMemoryArgs),
}

/// Write the knowledge graph in the file format of the reference memory server
///
/// Writes names, types, observations and relations. The format has no statuses,
/// attributes or dates, so these are left out.
#[derive(clap::Args)]
struct ExportMemoryArgs {
    /// The file, which must not exist yet; `-` for standard output
    #[arg(default_value = "-")]
    file: PathBuf,

    #[command(flatten)]
    home: HomeArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    match &args.what {
        ExportTarget::Memory(args) => export_memory(args),
    }
}

fn export_memory(args: &ExportMemoryArgs) -> Outcome {
    let mut keeper = args.home.keeper();
    let caller = terminal_user("export");
    let text = keeper.session(&caller).and_then(|session| keeper::export_memory(&session))?;
    if args.file == Path::new("-") {
        let mut out = std::io::stdout();
        let text = if out.is_terminal() { escape_unprintable_json(&text) + "\n" } else { text };
        out.write_all(text.as_bytes())?;
        out.flush()?;
    } else {
        let written = std::fs::File::create_new(&args.file)
            .and_then(|mut file| file.write_all(text.as_bytes()));
        let file = path_text(&args.file);
        written.map_err(|err| match err.kind() {
            ErrorKind::AlreadyExists => Failure::Message(format!(
                "{file} exists already and is not overwritten: name another file, or move that \
                 one away first"
            )),
            _ => Failure::Message(format!("cannot write {file}: {err}")),
        })?;
    }
    Ok(ExitCode::SUCCESS)
}
