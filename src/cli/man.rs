//! `palazzo man`.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::cli::outcome::Outcome;

/// Write the manual pages of all commands into a folder
///
/// Creates `palazzo.1` and one page for each command, for `man` to find.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The folder, which is created if it is missing
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub(super) fn run(args: &Args, program: clap::Command) -> Outcome {
    std::fs::create_dir_all(&args.folder)?;
    clap_mangen::generate_to(program, &args.folder)?;
    Ok(ExitCode::SUCCESS)
}
