//! Shows one item of a palace without a visit: for the command line.

use crate::graph::describe::{describe_genus, get_entity};
use crate::history::item_diffs::content_of_file;
use crate::palace::OpenPalace;
use crate::palace::resolve::{self, ResolvedItem};
use crate::walk::drawers::render_drawer;
use crate::walk::note_links::note_links_text;
use crate::walk::scrolls::stale_file_notes;
use crate::walk::show::show_room;
use crate::work::render_work_item;
use crate::workspaces::open_as_of;
use crate::{Caller, Keeper, Refusal, Session};
use palazzo_core::diff::diff_with_replaced_scroll;
use palazzo_core::format::room_path;
use palazzo_core::model::{
    ActionKind, ChangeDetail, ChangeKind, CommitSummary, FileHistory, ItemDiff, ItemId, ItemOrFile,
    Palace, Provenance, Room, RoomId, RoomRef, ScrollId,
};
use palazzo_core::render;

/// An item with its content.
#[derive(Clone, Debug)]
pub struct ItemDescription {
    /// The item.
    pub item: ItemOrFile,
    /// Its file.
    pub file: String,
    /// Its content, as that of an item that was added.
    pub content: Vec<ChangeDetail>,
    /// The versions of its file.
    pub versions: Option<FileHistory>,
    /// Its author and its origin.
    pub provenance: Provenance,
    /// The past commit from which it was read.
    pub as_of: Option<CommitSummary>,
}

/// Returns the item with this name as [`show_item`] finds it, and its content.
pub fn describe_item(
    keeper: &mut Keeper,
    caller: &Caller,
    name: Option<&str>,
    as_of: Option<&str>,
) -> Result<ItemDescription, Refusal> {
    let mut key = keeper.current_workspace(caller)?;
    if let Some(revision) = as_of {
        key = open_as_of(keeper, caller, &key, revision)?;
    }
    let open = keeper.session_in(&key, caller)?.palace;
    open.update_file_history_cache()?;
    open.find_renamed_rooms()?;
    let name = match name {
        Some(name) => name.to_owned(),
        None => open.palace.entry_room().map(ToString::to_string).ok_or(Refusal::NoRooms)?,
    };
    let ResolvedItem { item, file } = resolve_shown_item(open, &name)?;
    let content =
        content_of_file(&file, &read_file_text(open, &item, &file)?, &open.palace.settings);
    let versions = open.file_histories().get(&file).copied();
    let as_of = open.store().as_of_commit().cloned();
    let provenance = open.provenance(&file);
    Ok(ItemDescription { item, file, content, versions, provenance, as_of })
}

/// Renders the item with this name, now or as of a past revision: a room, a scroll, an entity, a
/// task, a process, a drawer, a diary entry, a genus, or the text of another file; without a name,
/// the entry room.
pub fn show_item(
    keeper: &mut Keeper,
    caller: &Caller,
    name: Option<&str>,
    as_of: Option<&str>,
) -> Result<String, Refusal> {
    let Some(name) = name else { return show_room(keeper, caller, None, as_of) };
    let mut key = keeper.current_workspace(caller)?;
    if let Some(revision) = as_of {
        key = open_as_of(keeper, caller, &key, revision)?;
    }
    let mut session = keeper.session_in(&key, caller)?;
    session.palace.find_renamed_rooms()?;
    let resolved = resolve_shown_item(session.palace, name)?;
    match resolved.item.id() {
        Some(ItemId::Room(id)) => {
            show_room(keeper, caller, Some(&RoomRef::from(id.clone())), as_of)
        }
        _ => show_item_in_session(&mut session, &resolved.item, &resolved.file),
    }
}

/// Finds an item by name; a room takes precedence.
fn resolve_shown_item(open: &mut OpenPalace, name: &str) -> Result<ResolvedItem, Refusal> {
    match find_room(open, name) {
        Some(id) => Ok(ResolvedItem {
            file: room_path(&id),
            item: ItemOrFile::Item { id: ItemId::Room(id), title: None },
        }),
        None => resolve::resolve_item(open, name),
    }
}

/// Finds a room by slug, also one that has only drawers, or whose file is broken.
fn find_room(open: &OpenPalace, name: &str) -> Option<RoomId> {
    let id = open.palace.resolve_present_room(&name.trim().parse().ok()?, None).ok()?;
    let is_room = open.palace.is_enterable_room(&id) || open.file_error(&room_path(&id)).is_some();
    is_room.then_some(id)
}

/// Renders an item that is not a room, and its version and age.
fn show_item_in_session(
    session: &mut Session<'_>,
    item: &ItemOrFile,
    file: &str,
) -> Result<String, Refusal> {
    session.palace.update_file_history_cache()?;
    let now = session.caller.now;
    let page = match item.id() {
        Some(ItemId::Scroll(which)) => {
            let comparison = compare_with_replaced_scroll(&session.palace.palace, item, which);
            render_scroll(session, which).map(|it| format!("{}\n{comparison}", it.trim_end()))
        }
        Some(ItemId::Entity(name)) => Some(render::whole_entity(&get_entity(session, name)?, now)),
        Some(id @ (ItemId::Task(_) | ItemId::Process(_))) => {
            Some(render_work_item(session.palace, id, now)?)
        }
        Some(ItemId::Drawer(file)) => render_drawer(session.palace, file, now),
        Some(ItemId::Diary(file)) => Some(read_diary_entry(session, file)?),
        Some(ItemId::Genus(name)) => {
            let genus = describe_genus(session, name)?;
            Some(render::genus(genus.definition, &genus.count))
        }
        Some(ItemId::Room(_)) | None => None,
    };
    let page = match page {
        Some(page) => {
            let links = item.id().map(|it| note_links_text(session.palace, it));
            page.trim_end().to_owned() + "\n" + &links.unwrap_or_default()
        }
        None => read_file_text(session.palace, item, file)?,
    };
    let open = &*session.palace;
    let versions = open.file_histories().get(file).copied();
    // The page of an entity has its age in the first line.
    let versions = versions.filter(|_| !matches!(item.id(), Some(ItemId::Entity(_))));
    let versions = render::version_summary(versions, open.store().as_of_commit(), now);
    Ok(format!("{}\n{versions}", page.trim_end()))
}

/// Renders what a scroll says other than the one that it replaces.
fn compare_with_replaced_scroll(palace: &Palace, item: &ItemOrFile, which: &ScrollId) -> String {
    let scroll = palace.scroll(which);
    let Some(details) = scroll.and_then(|it| diff_with_replaced_scroll(palace, &which.room, it))
    else {
        return String::new();
    };
    let change = ChangeKind::Added(details);
    let diff = ItemDiff { item: item.clone(), files: Vec::new(), change };
    format!("\n{}\n", render::palace_diff_with_content(&[diff]))
}

/// Renders a scroll without the numbers of its links; `None` if it does not exist.
pub(crate) fn render_scroll(session: &Session<'_>, which: &ScrollId) -> Option<String> {
    let palace = &session.palace.palace;
    let scroll = palace.scroll(which)?;
    let text = render::resolve_entity_links(&scroll.body, &palace.graph);
    let view = session.palace.scroll_view(&which.room, scroll);
    let page = render::scroll(&view, &text, &palace.room_name(&which.room), session.caller.now);
    Some(page + &stale_file_notes(session.palace, which))
}

/// Renders a room without its menu: its description and its texts.
pub(crate) fn render_room_text(palace: &Palace, id: &RoomId) -> String {
    let Some(room) = palace.room(id) else { return String::new() };
    let printable =
        |it: &str| render::text_in_page(&render::resolve_entity_links(it, &palace.graph));
    let mut text = format!(
        "── {} ──\nThe room `{id}`.\n{}\n",
        render::title_in_heading(&room.name),
        printable(&room.description)
    );
    for (label, content) in text_actions(room) {
        text.push_str(&format!("\n{}\n{}\n", render::action_heading(label), printable(content)));
    }
    text
}

/// Returns the labels and the contents of the actions that show a text.
pub(crate) fn text_actions(room: &Room) -> impl Iterator<Item = (&str, &str)> {
    room.actions.iter().filter_map(|it| match &it.kind {
        ActionKind::Text { content } => Some((it.label.as_str(), content.as_str())),
        _ => None,
    })
}

/// Renders a diary entry, by its file.
pub(crate) fn read_diary_entry(session: &mut Session<'_>, file: &str) -> Result<String, Refusal> {
    session.palace.load_provenance()?;
    let diaries = &session.palace.palace.diaries;
    Ok(match (diaries.entry_in_file(file), diaries.agent_of_file(file)) {
        (Some(entry), Some(agent)) => {
            let origin = render::origin_suffix(&session.palace.provenance(file));
            render::diary_entry(entry, agent, &origin, session.caller.now)
        }
        _ => "That diary entry has been deleted since.".to_owned(),
    })
}

/// Returns the text of a file; refuses one that is deleted.
fn read_file_text(open: &OpenPalace, item: &ItemOrFile, file: &str) -> Result<String, Refusal> {
    let text = open.store().read_file(file).map_err(|it| Refusal::UnreadableFile(it.into()))?;
    text.ok_or_else(|| {
        let (item, file) = (render::item_label(item), file.to_owned());
        Refusal::ItemDeleted { item, file, advice: ", and --at COMMIT shows it as it was" }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::{TestHome, ada};

    const SCROLL: (&str, &str) = (
        "scrolls/hall/01JQ8M0000000000000000000A-on-moss.md",
        "---\ntitle: On moss\nwritten: 2026-02-27T12:00:00Z\nby: ada\n---\nIt is green.\n",
    );

    fn home() -> TestHome {
        TestHome::new(&[
            ("rooms/hall.yaml", "name: The hall\ndescription: Stone.\n"),
            ("entities/rock/granite.yaml", "name: Granite\ngenus: Rock\nstatus: grey\n"),
            ("genera/rock.yaml", "name: Rock\n"),
            ("tasks/01JQ8M0000000000000000000B.yaml", "title: Sweep the hall\n"),
            (
                "processes/01JQ8M0000000000000000000C.yaml",
                "name: Repair\nsteps:\n- Scaffold\n- Mortar\n",
            ),
            SCROLL,
        ])
    }

    fn show(name: &str) -> Result<String, String> {
        show_item(&mut home().keeper, &ada(), Some(name), None).map_err(|it| it.to_string())
    }

    /// Returns the first two lines of what is shown.
    fn beginning(name: &str) -> String {
        let page = show(name).unwrap_or_else(|why| why);
        page.lines().take(2).collect::<Vec<_>>().join(" / ")
    }

    #[test]
    fn any_item_is_shown_by_its_name() {
        let names = ["hall", "On moss", "granite", "sweep the hall", "Repair", "Rock"];
        insta::assert_snapshot!(names.map(beginning).join("\n"), @"
        ── The hall ── / Stone.
        ── On moss ── / A scroll in The hall, written by ada 2 days ago.
        ── Granite ── / Rock · grey
        ── Sweep the hall ── / Task · open · created 11 months ago
        ── Repair ── / Process · running · step 1/2 · started 11 months ago
        ── Rock ── / Rock: 1 (1 grey)
        ");
    }

    #[test]
    fn an_item_is_shown_by_its_file() {
        let files = ["rooms/hall.yaml", "genera/rock.yaml", SCROLL.0, "palace.toml"];
        insta::assert_snapshot!(files.map(beginning).join("\n"), @r#"
        ── The hall ── / Stone.
        ── Rock ── / Rock: 1 (1 grey)
        ── On moss ── / A scroll in The hall, written by ada 2 days ago.
        format = 1 / name = "Keep"
        "#);
    }

    #[test]
    fn an_entity_is_shown_with_all_its_observations() {
        let facts = (1..=70).map(|it| format!("- Fact {it}.\n")).collect::<Vec<_>>().concat();
        let text = format!("name: Slate\ngenus: Rock\nobservations:\n{facts}");
        let mut home = TestHome::new(&[("entities/rock/slate.yaml", &text)]);
        let page = show_item(&mut home.keeper, &ada(), Some("Slate"), None).unwrap();
        assert!(page.contains("  - Fact 70.\n") && !page.contains("page"), "{page}");
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_most_similar_one() {
        insta::assert_snapshot!(
            show("granit").unwrap_err(),
            @"no room, scroll, entity, task or file is called `granit`; did you mean Granite?"
        );
    }

    #[test]
    fn a_room_takes_precedence_over_an_entity_of_the_same_name() {
        let mut home = home();
        home.write("entities/place/hall.yaml", "name: hall\ngenus: Place\n");
        let page = show_item(&mut home.keeper, &ada(), Some("hall"), None).unwrap();
        assert!(page.starts_with("── The hall ──\n"), "{page}");
    }
}
