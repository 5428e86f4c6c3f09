//! `palazzo embed`.

use std::process::ExitCode;

use crate::cli::home::PalaceArgs;
use crate::cli::outcome::{Failure, Outcome, terminal_user};
use crate::cli::progress_bar::ProgressBar;
use crate::cli::terminal;
use crate::keeper::{self, EmbedOutcome};

/// Compute all missing embeddings of a palace, for semantic search
///
/// `palazzo serve` computes them in the background, one passage at a time; this command
/// computes them all at once. `[search] model` in palace.toml names the model.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    palace: PalaceArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let mut keeper = args.palace.keeper();
    let bar = ProgressBar::default();
    let caller = terminal_user("embed");
    let mut session = keeper.session(&caller)?;
    match keeper::embed_passages(&mut session, |done, all| bar.show(done, all))? {
        EmbedOutcome::Embedded(new, all) => {
            terminal::print_page(&format!("Passages embedded: {new}; in all: {all}."))?;
            Ok(ExitCode::SUCCESS)
        }
        EmbedOutcome::NoModel => {
            let hint = "write `[search]` and below it `model = \"…\"`, the path of its folder";
            Err(Failure::Message(format!("palace.toml names no model: {hint}")))
        }
    }
}
