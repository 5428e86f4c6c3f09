//! `palazzo restore`.

use std::process::ExitCode;

use crate::cli::home::HomeArgs;
use crate::cli::outcome::{Outcome, terminal_user};
use crate::cli::terminal;
use palazzo_core::model::quoted_unless_plain;
use palazzo_core::render::{self, count_with_noun};
use palazzo_keeper::{self as keeper, ChangeMode, RestoredItem, RestoredRelationCounts};

/// Restore an earlier version of a room, a scroll, an entity or a file, in a new commit
///
/// It may have been deleted since. Your uncommitted edits are committed first, in your
/// name, so nothing is lost.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A room by slug or name, a scroll by id or title, an entity by name, or a file; by its
    /// name at that moment
    #[arg(value_name = "THING")]
    thing: String,

    /// The moment: a day, a time, an age like `3.weeks`, or a git revision
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    to: String,

    /// Only report what would be restored
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    home: HomeArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let (mut keeper, user) = (args.home.keeper(), terminal_user("restore"));
    let mode = ChangeMode::commit_unless_dry_run(args.dry_run);
    let restored = keeper::restore_item(&mut keeper, &user, &args.thing, &args.to, mode)?;
    terminal::print_page(&match args.dry_run {
        true => render_planned_restore(&restored),
        false => render_restored_item(&restored),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Renders what a restore would change.
fn render_planned_restore(restored: &RestoredItem) -> String {
    if restored.changes.is_empty() {
        return render_restored_item(restored);
    }
    let RestoredItem { item, file, revision, changes, .. } = restored;
    let changes = render::palace_diff_with_content(changes);
    let item = render::item_label(item);
    format!("Would restore {item} as it was {revision}: {file}\n{changes}")
}

fn render_restored_item(restored: &RestoredItem) -> String {
    let RestoredItem { item, file, revision, changes, relations } = restored;
    let item = render::item_label(item);
    if changes.is_empty() {
        let file = quoted_unless_plain(file);
        return format!("{item} is already as it was {revision}: nothing changed in {file}.\n");
    }
    let mut page = format!("Restored {item} as it was {revision}: {file}");
    let RestoredRelationCounts { restored, skipped } = *relations;
    if restored > 0 {
        page += &format!(", with {} from other entities", count_with_noun(restored, "relation"));
    }
    if skipped > 0 {
        page += &format!(
            "; left out {} from entities that do not exist",
            count_with_noun(skipped, "relation")
        );
    }
    page + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use palazzo_core::model::{ChangeKind, ItemDiff, ItemId, ItemOrFile};

    fn page(is_changed: bool, restored: usize, skipped: usize) -> String {
        let change = ItemDiff {
            item: ItemOrFile::Item { id: ItemId::Entity("Stasis".to_owned()), title: None },
            files: Vec::new(),
            change: ChangeKind::Changed(Vec::new()),
        };
        render_restored_item(&RestoredItem {
            item: ItemOrFile::Item { id: ItemId::Entity("Stasis".to_owned()), title: None },
            file: "entities/claim/stasis.yaml".to_owned(),
            revision: "3 days ago (1a2b3c4)".to_owned(),
            changes: if is_changed { vec![change] } else { Vec::new() },
            relations: RestoredRelationCounts { restored, skipped },
        })
    }

    #[test]
    fn the_relations_that_were_restored_or_skipped_are_counted() {
        insta::assert_snapshot!(page(true, 0, 0), @"Restored entity Stasis as it was 3 days ago (1a2b3c4): entities/claim/stasis.yaml");
        insta::assert_snapshot!(page(true, 1, 2), @"Restored entity Stasis as it was 3 days ago (1a2b3c4): entities/claim/stasis.yaml, with 1 relation from other entities; left out 2 relations from entities that do not exist");
    }

    #[test]
    fn an_item_that_had_this_content_already_is_not_changed() {
        insta::assert_snapshot!(page(false, 0, 0), @"entity Stasis is already as it was 3 days ago (1a2b3c4): nothing changed in entities/claim/stasis.yaml.");
    }
}
