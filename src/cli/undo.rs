//! `palazzo undo`.

use std::process::ExitCode;

use crate::cli::home::HomeArgs;
use crate::cli::outcome::{Outcome, terminal_user};
use crate::cli::terminal;
use crate::keeper::{self, UndoSelection};
use crate::render;

/// Revert the last change that a tool made, in a new commit; again for the one before
///
/// With `--visit`, or with `--client` and `--since`, reverts all changes of a visit
/// or of a client in one commit. Fails if one of the files has changed since, and
/// names who changed it.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Only report what would be done
    #[arg(long)]
    dry_run: bool,

    /// Revert all changes of the visit with this id, the trailer `Palazzo-Visit` of its commits
    #[arg(long, value_name = "ID", conflicts_with = "client")]
    visit: Option<String>,

    /// Revert all changes of this client since the moment `--since`
    #[arg(long, value_name = "NAME", requires = "since")]
    client: Option<String>,

    /// A day (2026-03-01), a time (2026-03-01T12:00:00Z) or an age (3 hours)
    #[arg(long, value_name = "MOMENT", requires = "client")]
    since: Option<String>,

    #[command(flatten)]
    home: HomeArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let (mut keeper, user) = (args.home.keeper(), terminal_user("undo"));
    let mut session = keeper.session(&user)?;
    let undone = match args.selection() {
        Some(selection) => keeper::undo_visit(&mut session, &selection, args.dry_run)?,
        None => keeper::undo_last_call(&mut session, args.dry_run)?,
    };
    let verb = if args.dry_run { "Would undo" } else { "Undid" };
    let changes = render::palace_diff(&undone.changes);
    terminal::print_page(&format!("{verb} {}:\n{changes}", undone.description))?;
    Ok(ExitCode::SUCCESS)
}

impl Args {
    /// Returns the visit or client to undo; `None` for the last change.
    fn selection(&self) -> Option<UndoSelection> {
        if let Some(id) = self.visit.clone() {
            return Some(UndoSelection::Visit(id));
        }
        let (name, since) = self.client.clone().zip(self.since.clone())?;
        Some(UndoSelection::Client { name, since })
    }
}
