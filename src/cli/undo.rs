//! `palazzo undo`.

use std::process::ExitCode;

use serde_json::json;

use crate::cli::home::HomeArgs;
use crate::cli::outcome::{Outcome, terminal_user};
use crate::cli::output_format::FormatArgs;
use crate::cli::terminal;
use palazzo_core::model::{
    RecordedVisit, escape_unprintable, quote_for_shell, quoted_unless_plain,
};
use palazzo_core::render;
use palazzo_keeper::{
    self as keeper, ChangeMode, KeepReason, KeptFile, UndoOutcome, UndoSelection,
};

/// How many links that lead nowhere are listed.
const MAX_BROKEN_LINKS: usize = 5;

/// Revert the last change that a tool made, in a new commit; again for the one before
///
/// With `--visit`, or with `--client` and `--since`, reverts all changes of a visit
/// or of a client in one commit. What others have changed since stays. Where they changed
/// the same, the file stays as it is: it is listed with who changed it, and the command
/// exits with 1.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Only report what would be done
    #[arg(long)]
    dry_run: bool,

    /// Revert all changes of a visit, one conversation of an MCP client, by its id in
    /// `palazzo log --visits`; `last` is the newest that is not undone. Or an undo, by its
    /// id in `palazzo log`
    #[arg(long, value_name = "ID", conflicts_with = "client")]
    visit: Option<String>,

    /// Revert all changes of this client or author since the moment `--since`
    #[arg(long, value_name = "NAME", requires = "since")]
    client: Option<String>,

    /// A day (2026-03-01, today), a time (2026-03-01T12:00:00Z) or an age (3 hours)
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
    let mode = ChangeMode::commit_unless_dry_run(args.dry_run);
    let undone = match args.selection() {
        Some(selection) => keeper::undo_commits(&mut session, &selection, mode)?,
        None => keeper::undo_last_call(&mut session, mode)?,
    };
    terminal::print_page(&match args.format.is_json() {
        true => undone_to_json(&undone, args.dry_run),
        false => undone_to_text(&undone, args.dry_run),
    })?;
    Ok(ExitCode::from(u8::from(!undone.kept.is_empty())))
}

fn undone_to_text(undone: &UndoOutcome, is_dry_run: bool) -> String {
    let verb = if is_dry_run { "Would undo" } else { "Undid" };
    let changes = render::palace_diff(&undone.changes);
    let mut page = format!("{verb} {}:\n{changes}", undone.description);
    if !undone.kept.is_empty() {
        page.push_str("\nThese files stay as they are:\n");
        for file in &undone.kept {
            page.push_str(&format!("  {}\n", file.to_sentence()));
        }
        page.push_str(&advice_for_kept(&undone.kept));
    }
    if !undone.broken_links.is_empty() {
        let verb = if is_dry_run { "would lead nowhere" } else { "lead nowhere now" };
        page.push_str(&format!("\nThese links {verb}:\n"));
        for it in undone.broken_links.iter().take(MAX_BROKEN_LINKS) {
            let file = quoted_unless_plain(&it.file);
            page.push_str(&format!(
                "  {file}:{}: {}\n",
                it.at.line,
                escape_unprintable(&it.message)
            ));
        }
        if undone.broken_links.len() > MAX_BROKEN_LINKS {
            let more = undone.broken_links.len() - MAX_BROKEN_LINKS;
            page.push_str(&format!("  and {more} more, which palazzo check lists\n"));
        }
    }
    if let Some(id) = undone.undo_id {
        let id = RecordedVisit::shorten_id(id);
        page.push_str(&format!("\npalazzo undo --visit {id} takes this back.\n"));
    }
    page
}

/// Returns how to take back by hand what stays.
fn advice_for_kept(kept: &[KeptFile]) -> String {
    let moved = kept.iter().find(|it| it.reason == KeepReason::Moved);
    let mut advice = String::new();
    if kept.iter().any(|it| it.reason == KeepReason::SameChange) {
        advice.push_str(
            "To take back what was changed in the same place, edit the file, or bring back an earlier\n\
             version without what others did: palazzo restore FILE --to MOMENT\n",
        );
    }
    if kept.iter().any(|it| matches!(it.reason, KeepReason::Creation | KeepReason::Scrolls)) {
        advice.push_str(
            "What would be removed stays whole: edit it, or remove it together with what others did:\n\
             palazzo rm FILE\n",
        );
    }
    if let Some(KeptFile { path, .. }) = moved {
        advice.push_str(&format!(
            "What was renamed or moved is at its new path: edit or remove it there, or bring back \
             an earlier\nversion by its old path; it keeps the new one: palazzo restore {} --to \
             MOMENT\n",
            quote_for_shell(path)
        ));
    }
    advice
}

fn undone_to_json(undone: &UndoOutcome, is_dry_run: bool) -> String {
    let items: Vec<_> = undone.changes.iter().map(render::item_diff_json).collect();
    let kept = undone
        .kept
        .iter()
        .map(|it| json!({ "file": it.path, "moved_to": it.moved_to, "changed_by": it.changed_by }));
    let broken_links = undone
        .broken_links
        .iter()
        .map(|it| json!({ "file": it.file, "line": it.at.line, "message": it.message }));
    let value = json!({
        "dry_run": is_dry_run,
        "undone": undone.description,
        "visit": undone.undo_id.map(|it| it.to_string()),
        "short": undone.undo_id.map(RecordedVisit::shorten_id),
        "items": items,
        "kept": kept.collect::<Vec<_>>(),
        "broken_links": broken_links.collect::<Vec<_>>(),
    });
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
    use palazzo_core::model::{ChangeKind, ItemDiff, ItemId, ItemOrFile};

    #[test]
    fn a_script_reads_what_would_be_undone() {
        let change = ItemDiff {
            item: ItemOrFile::Item { id: ItemId::Entity("Stasis".to_owned()), title: None },
            files: vec!["entities/claim/stasis.yaml".to_owned()],
            change: ChangeKind::Removed(Vec::new()),
        };
        let undone = UndoOutcome {
            description: "1a2b3c4 x".to_owned(),
            changes: vec![change],
            kept: Vec::new(),
            broken_links: Vec::new(),
            undo_id: None,
        };
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
