//! `palazzo undo`.

use std::process::ExitCode;

use serde_json::json;

use crate::cli::home::HomeArgs;
use crate::cli::outcome::{Outcome, terminal_user};
use crate::cli::output_format::FormatArgs;
use crate::cli::terminal;
use crate::keeper::{self, UndoSelection, UndoneCommit};
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
    format: FormatArgs,

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
    terminal::print_page(&match args.format.is_json() {
        true => undone_to_json(&undone, args.dry_run),
        false => undone_to_text(&undone, args.dry_run),
    })?;
    Ok(ExitCode::SUCCESS)
}

fn undone_to_text(undone: &UndoneCommit, is_dry_run: bool) -> String {
    let verb = if is_dry_run { "Would undo" } else { "Undid" };
    format!("{verb} {}:\n{}", undone.description, render::palace_diff(&undone.changes))
}

fn undone_to_json(undone: &UndoneCommit, is_dry_run: bool) -> String {
    let items: Vec<_> = undone.changes.iter().map(render::item_diff_json).collect();
    let value = json!({ "dry_run": is_dry_run, "undone": undone.description, "items": items });
    format!("{value:#}\n")
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ChangeKind, ItemDiff, PalaceItem};

    #[test]
    fn a_script_reads_what_would_be_undone() {
        let change = ItemDiff {
            item: PalaceItem::Entity("Stasis".to_owned()),
            files: vec!["entities/claim/stasis.yaml".to_owned()],
            change: ChangeKind::Removed(Vec::new()),
        };
        let undone = UndoneCommit { description: "1a2b3c4 x".to_owned(), changes: vec![change] };
        let value: serde_json::Value =
            serde_json::from_str(&undone_to_json(&undone, true)).unwrap();
        assert_eq!((&value["dry_run"], &value["undone"]), (&json!(true), &json!("1a2b3c4 x")));
        assert_eq!(value["items"][0]["name"], "Stasis");
        assert_eq!(
            undone_to_text(&undone, true),
            "Would undo 1a2b3c4 x:\nentity Stasis: removed\n"
        );
    }
}
