//! A whole palace as one file, to send and to attach to a pull request.

use std::collections::{BTreeMap, BTreeSet};

use crate::graph::describe::entity_view;
use crate::history::diff::diff_palace;
use crate::history::revisions::RevisionQuery;
use crate::pages::map::{map_view, planned_map};
use crate::pages::room::collect_room;
use crate::palace::OpenPalace;
use crate::workspaces::open_as_of;
use crate::{Caller, Keeper, Refusal};
use palazzo_core::model::{Action, CommitDetails, Graph, Palace, Room, RoomId};
use palazzo_core::view::{self, EntityPage, Links, PalaceHtml, PalaceHtmlChanges};

/// Limits for what the file has.
const MAX_ROOMS: usize = 2_000;
const MAX_ENTITIES: usize = 2_000;

/// Which state of a palace a file shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WholePalaceRequest {
    /// The revision or the moment; `None`: the present.
    pub at: Option<String>,
    /// The earlier revision; the file begins with the changes since then.
    pub against: Option<String>,
}

/// Renders the palace of the caller as one HTML file without script.
pub fn render_whole_palace(
    keeper: &mut Keeper,
    by: &Caller,
    request: &WholePalaceRequest,
) -> Result<String, Refusal> {
    let mut session = keeper.session(by)?;
    let key = session.key.clone();
    let changes = match &request.against {
        None => None,
        Some(against) => {
            let words = [Some(against.clone()), request.at.clone()];
            let words = words.into_iter().flatten().collect();
            let diff = diff_palace(&mut session, &RevisionQuery { words, items: Vec::new() })?;
            Some(PalaceHtmlChanges { from: diff.from, to: diff.to, items: diff.items })
        }
    };
    let shown_key = match &request.at {
        Some(at) => open_as_of(keeper, by, &key, at)?,
        None => key,
    };
    let open = keeper.session_without_refresh(&shown_key, by)?.palace;
    open.update_file_history_cache()?;
    open.find_renamed_rooms()?;
    render_file(open, &shown_key, by, changes)
}

fn render_file(
    open: &OpenPalace,
    key: &str,
    by: &Caller,
    changes: Option<PalaceHtmlChanges>,
) -> Result<String, Refusal> {
    let palace = &open.palace;
    let all = rooms_with_doors(palace);
    let rooms: Vec<_> = all.iter().take(MAX_ROOMS).cloned().collect();
    let (entities, entity_count) = entities_of_rooms(palace);
    let numbers = entities.iter().enumerate().map(|(number, it)| ((*it).to_owned(), number));
    let links = Links::File {
        rooms: rooms.iter().cloned().collect(),
        entities: numbers.collect::<BTreeMap<_, _>>(),
    };
    let commits = open.newest_commits()?;
    let entry = palace.entry_room();
    let plan = planned_map(open, entry, by)?;
    let map = view::draw_planned_map(&plan, &map_view(open, None, by), &links, true);
    let collect = |id| collect_room(open, key, id, (by, &links, &commits));
    let pages: Vec<_> = rooms.iter().map(collect).collect();
    let entity = |it: &&str| entity_page(open, it, by, &links, &commits);
    Ok(view::palace_html(&PalaceHtml {
        name: palace.settings.name.clone(),
        at: open.store().as_of_commit().cloned(),
        links: &links,
        entry,
        map,
        rooms: pages,
        entities: entities.iter().filter_map(entity).collect(),
        left_out: (all.len() - rooms.len(), entity_count.saturating_sub(entities.len())),
        changes,
        now: by.now,
    }))
}

fn entity_page<'a>(
    open: &'a OpenPalace,
    name: &str,
    by: &Caller,
    links: &'a Links,
    commits: &[CommitDetails],
) -> Option<EntityPage<'a>> {
    let graph: &Graph = &open.palace.graph;
    let view = entity_view(open, name, by.reader())?;
    let file = graph.file_of_entity(name).unwrap_or_default();
    let changes = commits.iter().filter(|it| it.changed_files.iter().any(|it| it == file));
    let changes = changes.take(3).map(|it| it.summary.clone()).collect();
    Some(EntityPage { graph, links, view, mentions: Vec::new(), changes, now: by.now })
}

/// Lists the rooms that can be entered, then those that doors lead to and that are not built.
fn rooms_with_doors(palace: &Palace) -> Vec<RoomId> {
    let rooms = palace.enterable_rooms().into_iter().cloned();
    rooms.chain(palace.unfinished_rooms()).collect()
}

/// Lists as many entities as a file has: those that rooms name or link to, then the others by
/// name. Counts all entities.
fn entities_of_rooms(palace: &Palace) -> (Vec<&str>, usize) {
    let graph = &palace.graph;
    if graph.len() <= MAX_ENTITIES {
        return (graph.iter().map(|it| it.name.as_str()).collect(), graph.len());
    }
    let names = |room: &Room| -> Vec<&str> {
        let named = room.actions.iter().flat_map(Action::named_entities);
        let named = named.filter_map(|it| Some(graph.find_entity(it)?.name.as_str()));
        let linked = room.texts_with_links().flat_map(|it| graph.linked_entities(it));
        named.chain(linked).collect()
    };
    let shown: BTreeSet<_> = palace.rooms().flat_map(|(_, it)| names(it)).collect();
    let others = graph.iter().map(|it| it.name.as_str()).filter(|it| !shown.contains(it));
    let shown = shown.iter().copied().chain(others);
    (shown.take(MAX_ENTITIES).collect(), graph.len())
}
