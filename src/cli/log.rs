//! `palazzo log`.

use std::process::ExitCode;

use crate::cli::home::HomeArgs;
use crate::cli::outcome::{Outcome, terminal_user};
use crate::cli::terminal;
use crate::keeper;
use crate::render;

/// List changes with date and author, newest first
///
/// For one THING it also shows its changes in detail: a room by slug or name, a
/// scroll by id or title, an entity by name, anything by its file. THING may have
/// been deleted since.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A room, a scroll, an entity or a file; without it, the whole palace
    #[arg(value_name = "THING")]
    thing: Option<String>,

    /// The largest number of commits to list
    #[arg(short = 'n', value_name = "NUMBER", default_value_t = 20)]
    most: usize,

    #[command(flatten)]
    home: HomeArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let (mut keeper, user) = (args.home.keeper(), terminal_user("log"));
    let mut session = keeper.session(&user)?;
    let log = keeper::list_commits(&mut session, args.thing.as_deref(), args.most)?;
    let commits: Vec<_> = log.commits.iter().map(|it| (&it.summary, it.changes.clone())).collect();
    let mut page = render::log(&commits, user.now);
    if commits.is_empty() {
        page.push_str("Nothing is committed yet.\n");
    } else if log.is_truncated {
        page.push_str(&format!("(older ones: -n {})\n", args.most.saturating_mul(2)));
    }
    terminal::print_page(&page)?;
    Ok(ExitCode::SUCCESS)
}
