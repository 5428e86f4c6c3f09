//! `palazzo import`.

#[cfg(feature = "import-mempalace")]
mod mempalace;
#[cfg(feature = "import-mempalace")]
mod mempalace_sqlite;

use crate::cli::home::palace_label;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Subcommand;

use crate::cli::home::HomeArgs;
use crate::cli::import_args::ImportArgs;
use crate::cli::mine;
use crate::cli::outcome::{Failure, Outcome, terminal_user};
use crate::cli::redacted_secrets::{print_redacted_secrets, redacted_secrets_suffix};
use crate::cli::signal;
use crate::cli::terminal::{self, ProgressBar};
use palazzo_core::model::{escape_unprintable_in_lines, path_text};
use palazzo_keeper::{self as keeper, MemoryImportSummary};

/// Limit for printed messages about lines that could not be parsed.
const MAX_PRINTED_MESSAGES: usize = 100;

/// Import documents, conversations, or the memory of another program
///
/// With paths, files documents and conversations in drawers, word for word. A path that is called
/// like one of the commands is written `./memory`.
///
/// Reads Markdown and text (the room is the folder, `notes` at the top; long documents
/// are split at their headings), transcripts of Claude Code and Codex (`.jsonl`), and
/// exports of Claude.ai and ChatGPT (`conversations.json`). Each exchange becomes one
/// drawer. One run is one commit, which `palazzo undo` takes back. From a conversation,
/// messages and the text of attachments in Claude.ai are filed; thinking, tool calls, tool
/// results and pictures are not. A document has the `date` or `created` of its front
/// matter, else the day in its name (`2026-03-01`), else the time of its last change.
///
/// From a folder, it leaves out what `.gitignore` excludes, dependencies and builds
/// (`node_modules`, `venv`, `target`), links, and hidden files except the memories of
/// coding agents (`.serena/memories`, `.kiro/steering`, `.amazonq/rules`, `.specstory`,
/// `.aider*`, Markdown in `.claude`). Beside transcripts of Claude Code, it leaves out what
/// the client keeps for itself (`memory`, `tool-results`). It reports how many; a path that you give is always
/// taken.
///
/// Secrets are redacted before anything is written: `[redacted: KIND]` replaces private keys,
/// tokens of services, and the values of variables named like `API_KEY` or `DB_PASSWORD`.
/// They are counted, and listed with their places. `--keep-secrets` files them as they are.
///
/// Texts that are filed already are skipped, so it is safe to mine again. New text at
/// the end of a conversation or document is added to its drawer. A document that
/// changed in another place is filed again; its older text is kept and listed.
///
/// Exits with 1 if a folder could not be read, or a file, a line of a transcript or a
/// conversation of an export could not be parsed, or there is nothing to mine. It is listed,
/// and the rest is filed.
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    arg_required_else_help = true
)]
// The flattened arguments have a group of this name.
#[group(skip)]
pub(super) struct Args {
    #[command(subcommand)]
    memory: Option<OtherMemory>,

    #[command(flatten)]
    files: mine::Args,
}

#[derive(Subcommand)]
enum OtherMemory {
    Memory(ImportMemoryArgs),
    #[cfg(feature = "import-mempalace")]
    Mempalace(mempalace::Args),
}

/// Import a file of the reference memory server, in one commit
///
/// Reads `memory.jsonl`, the older `memory.json`, a JSON list of the same records, and files
/// of servers that lay them out differently or name their keys in another way. Give
/// `--home` the directory that `palazzo serve` is given. Existing entities, observations
/// and relations are not changed, so a second import changes nothing. Secrets are redacted, as
/// in `palazzo import PATH`. Exits with 1 if some lines could not be parsed; they are listed, and
/// the rest is imported.
#[derive(clap::Args)]
struct ImportMemoryArgs {
    /// The file; `-` for standard input
    file: PathBuf,

    #[command(flatten)]
    import: ImportArgs,

    #[command(flatten)]
    home: HomeArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    match &args.memory {
        None => mine::run(&args.files),
        Some(OtherMemory::Memory(args)) => import_memory(args),
        #[cfg(feature = "import-mempalace")]
        Some(OtherMemory::Mempalace(args)) => mempalace::run(args),
    }
}

fn import_memory(args: &ImportMemoryArgs) -> Outcome {
    let file = read_input(&args.file)?;
    let mut keeper = args.home.keeper();
    signal::finish_writes_on_signal(&mut keeper);
    let bar = ProgressBar::default();
    let on_progress = move |done, all| bar.show(done, all);
    let caller = terminal_user("import");
    let name = args.file.display().to_string();
    let (source, options) = ((name.as_str(), file.as_slice()), args.import.options());
    let imported = keeper::import_memory(&mut keeper, &caller, source, options, on_progress)?;
    for note in imported.notes.iter().take(MAX_PRINTED_MESSAGES) {
        anstream::eprintln!("{}", escape_unprintable_in_lines(&format!("{name}: {note}")));
    }
    if imported.notes.len() > MAX_PRINTED_MESSAGES {
        anstream::eprintln!(
            "{name}: and {} more like these",
            imported.notes.len() - MAX_PRINTED_MESSAGES
        );
    }
    print_redacted_secrets(&imported.redacted, options.mode.is_dry_run());
    let root = keeper.palace_root(&caller)?;
    terminal::print_page(&memory_import_summary(
        &imported,
        root.as_deref(),
        options.mode.is_dry_run(),
    ))?;
    Ok(ExitCode::from(u8::from(imported.faults > 0)))
}

fn read_input(file: &Path) -> Result<Vec<u8>, Failure> {
    let read = match file == Path::new("-") {
        true => {
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut std::io::stdin(), &mut bytes).map(|_| bytes)
        }
        false => std::fs::read(file),
    };
    read.map_err(|err| Failure::Message(format!("cannot read {}: {err}", path_text(file))))
}

fn memory_import_summary(imported: &MemoryImportSummary, root: Option<&Path>, dry: bool) -> String {
    let MemoryImportSummary {
        workspace, entities, observations, relations, faults, redacted, ..
    } = imported;
    let palace = palace_label(workspace.as_deref(), root);
    let verb = if dry { "Would add" } else { "Added" };
    let left = match faults {
        0 => String::new(),
        number => format!("; not understood and left out: {number}"),
    };
    format!(
        "{verb} to {palace}: entities {entities}, observations of others {observations}, \
         relations {relations}{left}{}.",
        redacted_secrets_suffix(redacted)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_counts_what_was_added_and_left_out() {
        let mut imported =
            MemoryImportSummary { entities: 2, observations: 1, ..MemoryImportSummary::default() };
        insta::assert_snapshot!(
            memory_import_summary(&imported, None, true),
            @"Would add to a new workspace: entities 2, observations of others 1, relations 0."
        );
        imported.workspace = Some("Keep".to_owned());
        imported.faults = 3;
        insta::assert_snapshot!(
            memory_import_summary(&imported, Some(Path::new("/a/keep")), false),
            @"Added to `Keep` in /a/keep: entities 2, observations of others 1, relations 0; not understood and left out: 3."
        );
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("memory.jsonl");
        let refused = read_input(&missing).unwrap_err().to_string();
        assert!(refused.starts_with(&format!("cannot read {}: ", missing.display())), "{refused}");
        std::fs::write(&missing, [0xff, b'\n']).unwrap();
        assert_eq!(read_input(&missing).unwrap(), [0xff, b'\n']);
    }
}
