//! `palazzo embed`.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::cli::home::{self, Workspace};
use crate::cli::progress_bar::Bar;
use crate::cli::{Failure, Outcome, person, terminal};
use crate::keeper::EmbedOutcome;

/// Have a palace's model read all that it has not read yet, so that search finds it
/// by meaning
///
/// `palazzo serve` does so by itself while it serves, a passage at a time; this does
/// not wait. The model is the one that `[search] model` in palace.toml names.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The home, or one palace
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,

    #[command(flatten)]
    workspace: Workspace,
}

pub(super) fn run(args: &Args) -> Outcome {
    let mut keeper = home::keeper(args.home.as_deref(), &args.workspace);
    let bar = Bar::default();
    match keeper.embed_passages(&person("embed"), |done, all| bar.show(done, all))? {
        EmbedOutcome::Embedded(new, all) => {
            terminal::print(&format!("Passages read: {new}; known: {all}."))?;
            Ok(ExitCode::SUCCESS)
        }
        EmbedOutcome::NoModel => {
            let how = "write `[search]` and below it `model = \"…\"`, the path of its folder";
            Err(Failure::Said(format!("palace.toml names no model: {how}")))
        }
    }
}
