//! `palazzo resolve`.

use std::process::ExitCode;

use serde_json::{Value, json};

use crate::cli::home::HomeArgs;
use crate::cli::outcome::{Outcome, terminal_user};
use crate::cli::output_format::FormatArgs;
use crate::cli::terminal;
use palazzo_core::model::ConflictChoice;
use palazzo_core::render;
use palazzo_keeper::{self as keeper, Caller, ChangeMode, Keeper};

/// List the fields for which a merge found two values, or settle one
///
/// Without ID, lists the conflicts. One value stands, the other is kept in `conflicts/` until
/// somebody settles the conflict: by writing the field, or with this command. With ID and VALUE,
/// writes the field and deletes the file of the conflict, in one commit. In the middle of a merge
/// by git, `stands` prints the command that finishes the merge; `other` is refused: write that
/// value into the file yourself and `git add` the file.
#[derive(clap::Args)]
#[command(mut_arg("format", |it| it.conflicts_with("id")))]
pub(super) struct Args {
    /// The conflict to settle, by the first digits of its name
    #[arg(value_name = "ID", requires = "take")]
    id: Option<String>,

    /// The value to keep: the one that stands, or the other
    #[arg(value_name = "VALUE")]
    take: Option<Take>,

    /// Only report what would be done
    #[arg(long, requires = "id")]
    dry_run: bool,

    #[command(flatten)]
    format: FormatArgs,

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
    let Some((id, take)) = args.id.as_ref().zip(args.take) else {
        return list_conflicts(&mut keeper, &user, &args.format);
    };
    let mut session = keeper.session(&user)?;
    let choice = match take {
        Take::Stands => ConflictChoice::Stands,
        Take::Other => ConflictChoice::Other,
    };
    let mode = ChangeMode::commit_unless_dry_run(args.dry_run);
    let resolved = keeper::resolve_conflict(&mut session, id, choice, mode)?;
    let page = render::resolved_conflict(&resolved.conflict, resolved.choice, args.dry_run);
    let merge = keeper::command_to_finish_merge(&session).filter(|_| !args.dry_run);
    let rest = merge.map(|it| format!("The merge is not finished yet: {it}\n")).unwrap_or_default();
    terminal::print_page(&(page + &rest))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the open conflicts of a palace.
pub(super) fn list_conflicts(keeper: &mut Keeper, user: &Caller, format: &FormatArgs) -> Outcome {
    let session = keeper.session(user)?;
    let conflicts = keeper::list_conflicts(&session);
    terminal::print_page(&match format.is_json() {
        true => {
            let conflicts: Vec<Value> = conflicts.iter().map(render::conflict_json).collect();
            format!("{:#}\n", json!({ "conflicts": conflicts }))
        }
        false => render::conflict_list(&conflicts, user.now),
    })?;
    Ok(ExitCode::SUCCESS)
}
