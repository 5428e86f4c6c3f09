//! Rooms, scrolls and findings as resources: listed, read and completed by URI.

use chrono::{DateTime, Utc};

use crate::maintain::check::list_findings_of_palace;
use crate::palace::OpenPalace;
use crate::palace::resolve::no_such_room_refusal;
use crate::workspaces::as_of_key::{is_as_of_key, present_key};
use crate::{Caller, Keeper, Refusal};
use palazzo_core::model::{ResourceUri, RoomId, RoomRef, Scroll, ScrollId, Tool, UriTarget};
use palazzo_core::render;

/// Maximum number of scrolls that a refusal lists.
const MAX_SUGGESTED_SCROLLS: usize = 3;

/// A room, a scroll or the findings of a palace as a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceSummary {
    /// Its URI.
    pub uri: ResourceUri,
    /// Its name or title.
    pub title: String,
    /// A description in one line.
    pub description: String,
    /// When a scroll was written; `None` for anything else.
    pub written: Option<DateTime<Utc>>,
}

/// Lists rooms, scrolls and findings of the open palaces, or, if none is open, of the one that the
/// caller acts on: by URI, after `after`, at most `limit`.
pub fn list_resources(
    keeper: &mut Keeper,
    caller: &Caller,
    after: Option<&ResourceUri>,
    limit: usize,
) -> Result<Vec<ResourceSummary>, Refusal> {
    if keeper.open_palaces.is_empty() {
        match keeper.current_workspace(caller) {
            Ok(key) => drop(keeper.open_palace(present_key(&key))?),
            Err(Refusal::NoWorkspaceSet { .. }) => {}
            Err(refusal) => return Err(refusal),
        }
    }
    let mut listed = Vec::new();
    for (key, palace) in keeper.open_palaces.iter_mut().filter(|(key, _)| !is_as_of_key(key)) {
        // Leave out a palace that cannot be read now.
        if palace.begin_session().and_then(|()| palace.load_provenance()).is_ok() {
            let uris = resource_uris(key, palace).filter(|it| after.is_none_or(|after| it > after));
            let remaining = limit - listed.len();
            listed.extend(uris.take(remaining).filter_map(|it| resource_summary(palace, it)));
        }
    }
    Ok(listed)
}

/// Renders a resource as Markdown, as it is now. `tools` are those that actions can call; only
/// findings need them.
pub fn read_resource(
    keeper: &mut Keeper,
    uri: &ResourceUri,
    tools: &[Tool],
) -> Result<String, Refusal> {
    let uri = resolve_uri(keeper, uri)?;
    keeper.open_palace(&uri.workspace)?.catch_up()?;
    render_resource(keeper, &uri, tools)
}

/// Resolves the workspace of a URI to its key, and opens it.
pub fn resolve_uri(keeper: &mut Keeper, uri: &ResourceUri) -> Result<ResourceUri, Refusal> {
    let workspace = keeper.find_workspace(&uri.workspace)?;
    keeper.open_workspace(&workspace)?;
    Ok(ResourceUri { workspace: workspace.key, target: uri.target.clone() })
}

/// Renders a resource as Markdown, as it is in memory.
pub fn render_resource(
    keeper: &mut Keeper,
    ResourceUri { workspace, target }: &ResourceUri,
    tools: &[Tool],
) -> Result<String, Refusal> {
    if *target == UriTarget::Findings {
        let findings = list_findings_of_palace(keeper, workspace, tools)?;
        return Ok(render::palace_findings(&findings));
    }
    let open = keeper.open_palace(workspace)?;
    open.check_format_version()?;
    open.load_provenance()?;
    let palace = &open.palace;
    let origin_of =
        |room: &RoomId, it: &Scroll| render::origin_suffix(&open.scroll_view(room, it).provenance);
    match target {
        UriTarget::Findings => Ok(String::new()),
        UriTarget::Room(id) => match palace.room(id) {
            Some(room) => {
                let origin_of = |it: &Scroll| origin_of(id, it);
                Ok(render::room_markdown(palace, workspace, (id, room), origin_of))
            }
            None => Err(no_such_room_refusal(open, id)),
        },
        UriTarget::Scroll(id) => match palace.scroll(id) {
            Some(scroll) => {
                let origin = origin_of(&id.room, scroll);
                Ok(render::scroll_markdown(palace, workspace, (&id.room, scroll), &origin))
            }
            None => Err(no_such_scroll_refusal(open, id)),
        },
    }
}

/// Lists the keys of the workspaces, for the completion of URIs.
pub fn list_workspace_keys(keeper: &Keeper) -> Result<Vec<String>, Refusal> {
    Ok(keeper.workspaces()?.into_iter().map(|it| it.key).collect())
}

/// Returns the key of the workspace that the caller acts on, without a revision, for the completion
/// of URIs.
pub fn present_workspace_key(keeper: &mut Keeper, caller: &Caller) -> Option<String> {
    keeper.current_workspace(caller).ok().map(|key| present_key(&key).to_owned())
}

/// Lists the rooms of a workspace, for the completion of URIs.
pub fn list_room_ids(keeper: &mut Keeper, workspace: &str) -> Result<Vec<String>, Refusal> {
    let workspace = keeper.find_workspace(workspace)?;
    let open = keeper.open_workspace(&workspace)?;
    open.begin_session()?;
    Ok(open.palace.rooms().map(|(id, _)| id.to_string()).collect())
}

/// Lists the scrolls of a room, newest first, for the completion of URIs.
pub fn list_scroll_ids(
    keeper: &mut Keeper,
    workspace: &str,
    room: &RoomRef,
) -> Result<Vec<String>, Refusal> {
    let workspace = keeper.find_workspace(workspace)?;
    let open = keeper.open_workspace(&workspace)?;
    open.begin_session()?;
    let room = open.palace.resolve_room(room, None)?;
    Ok(open.palace.scrolls_in_room(&room).map(|it| it.id.to_string()).collect())
}

/// Yields the URIs of the rooms, scrolls and findings of a palace, in order; that of the findings
/// only if there are rooms.
fn resource_uris<'a>(key: &'a str, open: &'a OpenPalace) -> impl Iterator<Item = ResourceUri> + 'a {
    let rooms = open.palace.rooms().map(|(id, _)| UriTarget::Room(id.clone()));
    let scrolls = open.palace.scrolls();
    let scrolls =
        scrolls.map(|(room, it)| UriTarget::Scroll(ScrollId { room: room.clone(), id: it.id }));
    let findings = (rooms.len() > 0).then_some(UriTarget::Findings);
    let targets = rooms.chain(scrolls).chain(findings);
    targets.map(|target| ResourceUri { workspace: key.to_owned(), target })
}

fn resource_summary(open: &OpenPalace, uri: ResourceUri) -> Option<ResourceSummary> {
    let palace = &open.palace;
    let (title, description, written) = match &uri.target {
        UriTarget::Findings => {
            let about = "What is wrong or missing in the palace";
            let name = render::name_in_sentence(&palace.settings.name);
            (&format!("Findings in {name}"), about.to_owned(), None)
        }
        UriTarget::Room(id) => {
            let room = palace.room(id)?;
            let description = render::resolve_entity_links(&room.description, &palace.graph);
            (&room.name, render::mark_imitations(&first_line(&description)), None)
        }
        UriTarget::Scroll(which) => {
            let scroll = palace.scroll(which)?;
            let place = palace.room_name(&which.room);
            let [by, place] = [&scroll.by, &place].map(|it| render::name_in_sentence(it));
            let origin = render::origin_suffix(&open.scroll_view(&which.room, scroll).provenance);
            let description = format!("A scroll by {by} in {place}{origin}");
            (&scroll.title, description, Some(scroll.written))
        }
    };
    let (title, description) = (render::one_line(title), render::whole_line(&description));
    Some(ResourceSummary { uri, title, description, written })
}

fn first_line(description: &str) -> String {
    render::truncate(description.lines().next().unwrap_or_default(), 120)
}

fn no_such_scroll_refusal(open: &OpenPalace, scroll: &ScrollId) -> Refusal {
    let scrolls = open
        .palace
        .scrolls_in_room(&scroll.room)
        .take(MAX_SUGGESTED_SCROLLS)
        .map(|it| it.id)
        .collect();
    Refusal::NoSuchScroll { asked: scroll.id, room: scroll.room.clone(), scrolls }
}
