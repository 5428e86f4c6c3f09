//! `palazzo completions`.

use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Cli;

/// Print completions for a shell
#[derive(clap::Args)]
pub(super) struct Args {
    /// The shell
    shell: Shell,
}

pub(super) fn run(args: &Args) -> ExitCode {
    clap_complete::generate(args.shell, &mut Cli::command(), "palazzo", &mut std::io::stdout());
    ExitCode::SUCCESS
}
