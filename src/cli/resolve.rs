//! `palazzo resolve`.

use std::process::ExitCode;

use crate::cli::home::HomeArgs;
use crate::cli::outcome::{Outcome, terminal_user};
use crate::cli::terminal;
use crate::keeper::{self, ChangeMode};
use crate::model::ConflictChoice;
use crate::render;

/// Settle a conflict: keep the value that stands, or write the other one
///
/// Writes the field and deletes the file of the conflict, in one commit. `palazzo conflicts` lists
/// the conflicts. In the middle of a merge by git, `stands` prints the command that finishes the
/// merge; `other` is refused: write that value into the file yourself and `git add` the file.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The conflict, by the first digits of its name
    #[arg(value_name = "ID")]
    id: String,

    /// The value to keep: the one that stands, or the other
    #[arg(value_name = "VALUE")]
    take: Take,

    /// Only report what would be done
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    home: HomeArgs,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Take {
    Stands,
    Other,
}

pub(super) fn run(args: &Args) -> Outcome {
    let (mut keeper, user) = (args.home.keeper(), terminal_user("resolve"));
    let mut session = keeper.session(&user)?;
    let choice = match args.take {
        Take::Stands => ConflictChoice::Stands,
        Take::Other => ConflictChoice::Other,
    };
    let mode = if args.dry_run { ChangeMode::DryRun } else { ChangeMode::Commit };
    let resolved = keeper::resolve_conflict(&mut session, &args.id, choice, mode)?;
    let page = render::resolved_conflict(&resolved.conflict, resolved.choice, args.dry_run);
    let merge = keeper::command_to_finish_merge(&session).filter(|_| !args.dry_run);
    let rest = merge.map(|it| format!("The merge is not finished yet: {it}\n")).unwrap_or_default();
    terminal::print_page(&(page + &rest))?;
    Ok(ExitCode::SUCCESS)
}
