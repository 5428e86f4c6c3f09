//! `palazzo lsp`.

use std::io::{self, BufReader};
use std::process::ExitCode;

use crate::cli::outcome::{Failure, Outcome, current_time};
use crate::cli::user_folders::state_dir;
use crate::lsp::{self, LspSettings};
use crate::mcp::{ToolSet, Toolbox};

/// Serve editors over the Language Server Protocol on standard input and output
///
/// Editors start this command themselves. It offers findings, completion, definitions, references,
/// renames, and descriptions for the files of palaces. It never writes a file.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Accepted, because some editors pass it
    #[arg(long, hide = true)]
    stdio: bool,
}

pub(super) fn run(_: &Args) -> Outcome {
    let tools = Toolbox::new(ToolSet::ALL.to_vec()).action_tools();
    let (connection, writer) = lsp::connect(BufReader::new(io::stdin()), io::stdout());
    let settings = LspSettings { tools, consent_folder: state_dir(), clock: current_time };
    let is_shut_down =
        lsp::serve(&connection, settings).map_err(|err| Failure::Connection(err.into()))?;
    drop(connection);
    // A client that is gone reads nothing any more.
    drop(writer.join());
    Ok(if is_shut_down { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
