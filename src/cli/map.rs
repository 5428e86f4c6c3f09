//! `palazzo map`.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::cli::home::{self, Workspace};
use crate::cli::{Outcome, person, terminal};

/// Show the map of a palace: rooms, doors, scrolls, versions and ages
#[derive(clap::Args)]
pub(super) struct Args {
    /// The home, or one palace
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,

    #[command(flatten)]
    workspace: Workspace,
}

pub(super) fn run(args: &Args) -> Outcome {
    let mut keeper = home::keeper(args.dir.as_deref(), &args.workspace);
    terminal::print(&keeper.show_map(&person("map"))?)?;
    Ok(ExitCode::SUCCESS)
}
