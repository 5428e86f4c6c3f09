//! What can be read from outside, by address, and how to know when it changes.

use chrono::{DateTime, Utc};

use crate::keeper::palace::OpenPalace;
use crate::keeper::walk::show::no_such_room;
use crate::keeper::workspaces::as_of_key::{is_as_of_key, present_key};
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{RoomRef, ScrollId, Uri, UriTarget};
use crate::render;

/// How many scrolls are named when none of them was meant.
const MAX_SUGGESTED_SCROLLS: usize = 3;

/// A room or scroll that can be read.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceSummary {
    /// Where.
    pub uri: Uri,
    /// What it is called.
    pub title: String,
    /// What it is, in a line.
    pub description: String,
    /// When it was written; of rooms only history knows.
    pub written: Option<DateTime<Utc>>,
}

impl Keeper {
    /// Lists rooms and scrolls: of the palaces that are open, or, while none
    /// is, of the one that tools act on; at most `most`, by address, those that
    /// come after `after`.
    pub fn list_resources(
        &mut self,
        by: &Caller,
        after: Option<&Uri>,
        most: usize,
    ) -> Result<Vec<ResourceSummary>, Refusal> {
        if self.open_palaces.is_empty() {
            match self.current_workspace(by) {
                Ok(key) => drop(self.open_palace(present_key(&key))?),
                Err(Refusal::NoWorkspaceSet { .. }) => {}
                Err(refusal) => return Err(refusal),
            }
        }
        let mut listed = Vec::new();
        for (key, held) in self.open_palaces.iter_mut().filter(|(key, _)| !is_as_of_key(key)) {
            // One that cannot be reached now has nothing to read.
            if held.catch_up().is_ok() {
                let leaves =
                    resource_uris(key, held).filter(|it| after.is_none_or(|after| it > after));
                let missing = most - listed.len();
                listed.extend(leaves.take(missing).filter_map(|it| resource_summary(held, it)));
            }
        }
        Ok(listed)
    }

    /// Renders a room or scroll to be read by itself, as it is now.
    pub fn read_resource(&mut self, address: &Uri) -> Result<String, Refusal> {
        let address = self.resolve_uri(address)?;
        self.open_palace(&address.workspace)?.catch_up()?;
        self.render_resource(&address)
    }

    /// Finds the palace of an address, and names it as lists do.
    pub fn resolve_uri(&mut self, address: &Uri) -> Result<Uri, Refusal> {
        let workspace = self.find_workspace(&address.workspace)?;
        self.open_workspace(&workspace)?;
        Ok(Uri { workspace: workspace.key, target: address.target.clone() })
    }

    /// Renders a room or scroll as it was when its palace was last looked at.
    pub fn render_resource(
        &mut self,
        Uri { workspace, target: place }: &Uri,
    ) -> Result<String, Refusal> {
        let held = self.open_palace(workspace)?;
        let palace = &held.palace;
        match place {
            UriTarget::Room(id) => match palace.room(id) {
                Some(room) => Ok(render::room_markdown(palace, workspace, id, room)),
                None => Err(no_such_room(held, id)),
            },
            UriTarget::Scroll(which) => match palace.scroll(which) {
                Some(scroll) => Ok(render::scroll_markdown(palace, workspace, &which.room, scroll)),
                None => Err(no_such_scroll(held, which)),
            },
        }
    }

    /// Lists the workspaces, as addresses name them.
    pub fn workspace_names(&self) -> Result<Vec<String>, Refusal> {
        Ok(self.workspaces()?.into_iter().map(|it| it.key).collect())
    }

    /// Lists the rooms of a workspace, as addresses name them.
    pub fn room_ids(&mut self, workspace: &str) -> Result<Vec<String>, Refusal> {
        let workspace = self.find_workspace(workspace)?;
        let held = self.open_workspace(&workspace)?;
        held.catch_up()?;
        Ok(held.palace.rooms().map(|(id, _)| id.to_string()).collect())
    }

    /// Lists the scrolls of a room by id, newest first.
    pub fn scroll_ids(&mut self, workspace: &str, room: &RoomRef) -> Result<Vec<String>, Refusal> {
        let workspace = self.find_workspace(workspace)?;
        let held = self.open_workspace(&workspace)?;
        held.catch_up()?;
        let room = held.palace.resolve_room(room, None)?;
        Ok(held.palace.scrolls_in_room(&room).map(|it| it.id.to_string()).collect())
    }
}

/// Yields the addresses of everything that can be read in a palace, in order.
fn resource_uris<'a>(key: &'a str, held: &'a OpenPalace) -> impl Iterator<Item = Uri> + 'a {
    let rooms = held.palace.rooms().map(|(id, _)| UriTarget::Room(id.clone()));
    let scrolls = held.palace.scrolls();
    let scrolls =
        scrolls.map(|(room, it)| UriTarget::Scroll(ScrollId { room: room.clone(), id: it.id }));
    rooms.chain(scrolls).map(|place| Uri { workspace: key.to_owned(), target: place })
}

fn resource_summary(held: &OpenPalace, address: Uri) -> Option<ResourceSummary> {
    let palace = &held.palace;
    let (title, about, written) = match &address.target {
        UriTarget::Room(id) => {
            let room = palace.room(id)?;
            (&room.name, first_line(&room.description), None)
        }
        UriTarget::Scroll(which) => {
            let scroll = palace.scroll(which)?;
            let place = palace.room_name(&which.room);
            let about = format!("A scroll by {} in {place}", scroll.by);
            (&scroll.title, about, Some(scroll.written))
        }
    };
    let (title, about) = (render::one_line(title), render::one_line(&about));
    Some(ResourceSummary { uri: address, title, description: about, written })
}

fn first_line(description: &str) -> String {
    render::truncate(description.lines().next().unwrap_or_default(), 120)
}

fn no_such_scroll(held: &OpenPalace, which: &ScrollId) -> Refusal {
    let scrolls = held
        .palace
        .scrolls_in_room(&which.room)
        .take(MAX_SUGGESTED_SCROLLS)
        .map(|it| it.id)
        .collect();
    Refusal::NoSuchScroll { asked: which.id, room: which.room.clone(), scrolls }
}
