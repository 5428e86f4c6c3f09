//! `palazzo aaak`.

use std::process::ExitCode;

use crate::cli::outcome::Outcome;
use crate::cli::terminal;
use palazzo_core::aaak;

/// Show the shorthand AAAK and its grammar
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Show the guide that models get, and the grammar
    Spec,
}

pub(super) fn run(args: &Args) -> Outcome {
    let Command::Spec = args.command;
    terminal::print_page(&format!("{}\n\n{}", aaak::GUIDE, aaak::GRAMMAR))?;
    Ok(ExitCode::SUCCESS)
}
