//! Deletes items: `palazzo rm`.

use std::collections::BTreeSet;

use crate::graph::delete::plan_deletion;
use crate::graph::references::describe_references;
use crate::items::{
    ItemChangeReport, ItemChangeVerb, WingOrItem, find_wing_or_item, rooms_of_wing,
};
use crate::palace::OpenPalace;
use crate::palace::change_plan::{ChangeMode, ChangeOptions, ChangePlan};
use crate::palace::resolve::{RoomsMeant, resolve_room};
use crate::rooms::room_plans::plan_room_deletions;
use crate::{Refusal, Session};
use palazzo_core::model::{FileEdit, ItemId, RoomId, quoted};
use palazzo_core::render;

/// Maximum number of items that a description names.
const MAX_NAMED_ITEMS: usize = 3;

/// The items to delete.
#[derive(Default)]
struct Selection {
    /// The label of each named item.
    labels: Vec<String>,
    rooms: BTreeSet<RoomId>,
    entities: Vec<String>,
    /// The files of scrolls, drawers, tasks and other items.
    files: BTreeSet<String>,
}

/// Deletes items in one commit: rooms with the doors to them, entities with the relations to them.
/// The scrolls of a room move to `scrolls_to`, or are deleted with it.
pub fn delete_items(
    session: &mut Session<'_>,
    names: &[String],
    scrolls_to: Option<&str>,
    mode: ChangeMode,
) -> Result<ItemChangeReport, Refusal> {
    let mut description = String::new();
    let edits = session.palace.change_files(
        session.caller,
        &ChangeOptions::exclusive_in_mode(mode),
        |open| {
            let (plan, text) = plan_item_deletions(open, names, scrolls_to)?;
            description = text;
            Ok(plan)
        },
    )?;
    Ok(ItemChangeReport { verb: ItemChangeVerb::Delete, description, mode, edits })
}

fn plan_item_deletions(
    open: &mut OpenPalace,
    names: &[String],
    scrolls_to: Option<&str>,
) -> Result<(ChangePlan, String), Refusal> {
    let selection = select_items(open, names)?;
    let scrolls_to = scrolls_to.map(|it| resolve_room(open, it, RoomsMeant::Built)).transpose()?;
    if scrolls_to.is_some() && selection.rooms.is_empty() {
        let why = "--scrolls-to names the room for the scrolls of a deleted room: name a room to \
                   delete";
        return Err(Refusal::Invalid(why.to_owned()));
    }
    let (mut edits, counts) = plan_room_deletions(open, &selection.rooms, scrolls_to.as_ref())?;
    for file in &selection.files {
        let name = file.rsplit('/').next().unwrap_or(file);
        let is_moved = |it: &FileEdit| it.was.is_none() && it.path.ends_with(name);
        edits.retain(|it| it.path != *file && !is_moved(it));
        let was = open.read_file_for_change(file)?;
        edits.push(FileEdit { path: file.clone(), was, now: None });
    }
    let mut followed = counts.describe_deletion(scrolls_to.as_ref());
    if !selection.entities.is_empty() {
        let (plan, deleted) = plan_deletion(open, &selection.entities)?;
        edits.extend(plan.edits);
        if deleted.relations > 0 {
            let relations = render::count_with_noun(deleted.relations, "relation");
            followed.push_str(&format!("; {relations} deleted too"));
        }
        let references = describe_references(open, &selection.entities);
        if !references.is_empty() {
            followed.push_str(&format!("; still named in {}", references.join(", ")));
        }
    }
    let named = selection.name_items();
    let subject = match selection.labels.as_slice() {
        [only] => format!("{}: delete", render::truncate(only, 60)),
        several => format!("delete {} items", several.len()),
    };
    let body = render::truncate(&format!("Deleted {named}{followed}"), 300);
    Ok((ChangePlan { edits, subject, body }, format!("{named}{followed}")))
}

fn select_items(open: &OpenPalace, names: &[String]) -> Result<Selection, Refusal> {
    let mut selection = Selection::default();
    for name in names {
        let item = match find_wing_or_item(open, name)? {
            WingOrItem::Wing(wing) => {
                let rooms = rooms_of_wing(&open.palace, &wing);
                let built: Vec<_> =
                    rooms.into_iter().filter(|it| open.palace.room(it).is_some()).collect();
                if built.is_empty() {
                    return Err(Refusal::Invalid(format!(
                        "wing `{wing}` has no rooms to delete; its drawers stay until you delete \
                         them one by one"
                    )));
                }
                selection.rooms.extend(built);
                selection.labels.push(format!("wing {wing}"));
                continue;
            }
            WingOrItem::Item(item) => item,
        };
        selection.labels.push(render::one_line(&render::item_label(&item.item)));
        match item.item.id() {
            Some(ItemId::Room(id)) => drop(selection.rooms.insert(id.clone())),
            Some(ItemId::Entity(name)) => selection.entities.push(name.clone()),
            Some(_) => {
                selection.files.insert(item.file);
            }
            None => {
                return Err(Refusal::Invalid(format!(
                    "{} is no room, scroll, entity, drawer or task: delete the file yourself",
                    quoted(&item.file)
                )));
            }
        }
    }
    Ok(selection)
}

impl Selection {
    /// Names the first items, and counts the others.
    fn name_items(&self) -> String {
        let named = self.labels.iter().take(MAX_NAMED_ITEMS).cloned().collect::<Vec<_>>();
        match self.labels.len().saturating_sub(MAX_NAMED_ITEMS) {
            0 => named.join(", "),
            more => format!("{} and {more} more", named.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::TestHome;

    const DRAWER_FILE: &str = "drawers/west/den/01KJMM4N00F2JXHH4DQ7YF03TZ-note.md";
    const SCROLLS: [&str; 2] =
        ["01KJMM4N00F2JXHH4DQ7YF03TN-moss.md", "01KJMM4N00F2JXHH4DQ7YF03TP-dust.md"];

    fn home() -> TestHome {
        let home = TestHome::new(&[
            ("palace.toml", "format = 1\nname = \"Keep\"\nentry = \"hall\"\n"),
            ("rooms/hall.yaml", "name: Hall\ndescription: x\nportals: [attic, east/den]\n"),
            ("rooms/attic.yaml", "name: Attic\ndescription: x\n"),
            ("rooms/east/den.yaml", "name: Den\ndescription: x\n"),
            (DRAWER_FILE, "---\nid: 01KJMM4N00F2JXHH4DQ7YF03TZ\n---\n\nA note.\n"),
            ("tasks/a.yaml", "title: Sweep\nroom: attic\nentity: Ada\n"),
            ("entities/person/ada.yaml", "name: Ada\ngenus: Person\n"),
            (
                "entities/person/eve.yaml",
                "name: Eve\ngenus: Person\nrelations:\n- { type: knows, to: Ada }\n",
            ),
        ]);
        for (name, title) in SCROLLS.iter().zip(["Moss", "Dust"]) {
            let text = format!("---\ntitle: {title}\n---\n\nText.\n");
            home.write(&format!("scrolls/attic/{name}"), &text);
        }
        home
    }

    fn delete(
        home: &mut TestHome,
        names: &[&str],
        scrolls_to: Option<&str>,
    ) -> Result<String, Refusal> {
        let names: Vec<_> = names.iter().map(|it| (*it).to_owned()).collect();
        let change = home.run(|it| delete_items(it, &names, scrolls_to, ChangeMode::Commit));
        change.map(|it| it.description)
    }

    #[test]
    fn several_items_are_deleted_in_one_change() {
        let mut home = home();
        let said = delete(&mut home, &["attic", "Ada", "east/"], None).unwrap();
        insta::assert_snapshot!(said, @"room attic, entity Ada, wing east; 2 scrolls deleted too; 1 other room without the doors to it; 1 task without a room now; 1 relation deleted too; still named in 1 task (Sweep)");
        assert_eq!(home.read("rooms/hall.yaml").unwrap(), "name: Hall\ndescription: x\n");
        assert_eq!(home.read("entities/person/ada.yaml"), None);
        assert_eq!(home.read("rooms/east/den.yaml"), None);
        assert_eq!(home.read("tasks/a.yaml").unwrap(), "title: Sweep\nentity: Ada\n");
    }

    #[test]
    fn a_scroll_of_a_deleted_room_can_be_deleted_while_the_others_move() {
        let mut home = home();
        delete(&mut home, &["attic", "Moss"], Some("hall")).unwrap();
        let [moss, dust] = SCROLLS.map(|it| home.read(&format!("scrolls/hall/{it}")).is_some());
        assert_eq!((moss, dust), (false, true));
    }

    #[test]
    fn an_impossible_deletion_is_refused() {
        let mut home = home();
        let mut refused =
            |names: &[&str], to| delete(&mut home, names, to).unwrap_err().to_string();
        let lines = [
            refused(&["hall"], None),
            refused(&["attic"], Some("attic")),
            refused(&["Sweep"], Some("hall")),
            refused(&["attic", "nope"], None),
            refused(&["palace.toml"], None),
            refused(&["west/"], None),
        ];
        insta::assert_snapshot!(lines.join("\n"), @"
        `hall` is the entry room: make another room the entry first, with `entry` in palace.toml or `entry: true` of build_room
        the room for the scrolls is itself to be deleted: name another room
        --scrolls-to names the room for the scrolls of a deleted room: name a room to delete
        no room, scroll, entity, task or file is called `nope`
        `palace.toml` is no room, scroll, entity, drawer or task: delete the file yourself
        wing `west` has no rooms to delete; its drawers stay until you delete them one by one
        ");
    }
}
