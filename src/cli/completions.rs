//! `palazzo completions`.

use std::process::ExitCode;

use clap_complete::Shell;

use crate::cli::outcome::Outcome;
use crate::cli::terminal;

/// Print the completion script for a shell
#[derive(clap::Args)]
pub(super) struct Args {
    /// The shell
    shell: Shell,
}

pub(super) fn run(args: &Args, mut program: clap::Command) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, "palazzo", &mut script);
    terminal::print_page(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
