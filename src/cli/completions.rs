//! `palazzo completions`.

use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::{Cli, Outcome, terminal};

/// Print the completion script for a shell
#[derive(clap::Args)]
pub(super) struct Args {
    /// The shell
    shell: Shell,
}

pub(super) fn run(args: &Args) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "palazzo", &mut script);
    terminal::print_page(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
