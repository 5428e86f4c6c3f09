//! `palazzo search --index`, and its older name `palazzo embed`.

use std::process::ExitCode;

use crate::cli::home::PalaceArgs;
use crate::cli::outcome::{Failure, Outcome, terminal_user};
use crate::cli::terminal::{self, ProgressBar};
use palazzo_keeper::{self as keeper, EmbedOutcome, Keeper};

/// Compute all missing embeddings of a palace, for semantic search: `palazzo search --index`
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    palace: PalaceArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    embed_passages(&mut args.palace.keeper())
}

/// Computes the missing embeddings of a palace, and reports how many there were.
pub(super) fn embed_passages(keeper: &mut Keeper) -> Outcome {
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
