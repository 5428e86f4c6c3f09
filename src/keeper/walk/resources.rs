//! What can be read from outside, by address, and how to know when it changes.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::keeper::palace::Held;
use crate::keeper::walk::show::no_such_room;
use crate::keeper::workspaces::as_of::{is_past, present};
use crate::keeper::{Caller, Edition, Keeper, Refusal};
use crate::model::{Leaf, RoomRef, ScrollId, Uri};
use crate::render;

/// How many scrolls are named when none of them was meant.
const NEWEST: usize = 3;

/// A room or scroll that can be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// Where.
    pub address: Uri,
    /// What it is called.
    pub title: String,
    /// What it is, in a line.
    pub about: String,
    /// When it was written; of rooms only history knows.
    pub written: Option<DateTime<Utc>>,
}

impl Keeper {
    /// Lists rooms and scrolls: of the palaces that are open, or, while none
    /// is, of the one that tools act on; at most `most`, by address, those that
    /// come after `after`.
    pub fn catalogue(
        &mut self,
        by: &Caller,
        after: Option<&Uri>,
        most: usize,
    ) -> Result<Vec<Listed>, Refusal> {
        if self.held.is_empty() {
            match self.current(by) {
                Ok(key) => drop(self.at(present(&key))?),
                Err(Refusal::NoWorkspaceSet { .. }) => {}
                Err(refusal) => return Err(refusal),
            }
        }
        let mut listed = Vec::new();
        for (key, held) in self.held.iter_mut().filter(|(key, _)| !is_past(key)) {
            // One that cannot be reached now has nothing to read.
            if held.catch_up().is_ok() {
                let leaves = leaves(key, held).filter(|it| after.is_none_or(|after| it > after));
                let missing = most - listed.len();
                listed.extend(leaves.take(missing).filter_map(|it| entry(held, it)));
            }
        }
        Ok(listed)
    }

    /// Renders a room or scroll to be read by itself, as it is now.
    pub fn read_leaf(&mut self, address: &Uri) -> Result<String, Refusal> {
        let address = self.locate(address)?;
        self.at(&address.workspace)?.catch_up()?;
        self.leaf(&address)
    }

    /// Finds the palace of an address, and names it as lists do.
    pub fn locate(&mut self, address: &Uri) -> Result<Uri, Refusal> {
        let workspace = self.find(&address.workspace)?;
        self.open(&workspace)?;
        Ok(Uri { workspace: workspace.key, place: address.place.clone() })
    }

    /// Renders a room or scroll as it was when its palace was last looked at.
    pub fn leaf(&mut self, Uri { workspace, place }: &Uri) -> Result<String, Refusal> {
        let held = self.at(workspace)?;
        let palace = &held.palace;
        match place {
            Leaf::Room(id) => match palace.room(id) {
                Some(room) => Ok(render::room_leaf(palace, workspace, id, room)),
                None => Err(no_such_room(held, id)),
            },
            Leaf::Scroll(which) => match palace.scroll(which) {
                Some(scroll) => Ok(render::scroll_leaf(palace, workspace, &which.room, scroll)),
                None => Err(no_such_scroll(held, which)),
            },
        }
    }

    /// Lists the workspaces, as addresses name them.
    pub fn workspace_names(&self) -> Result<Vec<String>, Refusal> {
        Ok(self.workspaces()?.into_iter().map(|it| it.key).collect())
    }

    /// Lists the rooms of a workspace, as addresses name them.
    pub fn room_names(&mut self, workspace: &str) -> Result<Vec<String>, Refusal> {
        let workspace = self.find(workspace)?;
        let held = self.open(&workspace)?;
        held.catch_up()?;
        Ok(held.palace.rooms().map(|(id, _)| id.to_string()).collect())
    }

    /// Lists the scrolls of a room by id, newest first.
    pub fn scroll_names(
        &mut self,
        workspace: &str,
        room: &RoomRef,
    ) -> Result<Vec<String>, Refusal> {
        let workspace = self.find(workspace)?;
        let held = self.open(&workspace)?;
        held.catch_up()?;
        let room = held.palace.resolve(room, None)?;
        Ok(held.palace.scrolls_in(&room).map(|it| it.id.to_string()).collect())
    }

    /// Takes in what others have changed in the palaces that are open. Returns
    /// after how long to do so again, if there is something that may have been
    /// half written.
    pub fn catch_up(&mut self) -> Option<Duration> {
        let palaces = self.held.iter_mut().filter(|(key, _)| !is_past(key)).map(|(_, held)| held);
        // What cannot be taken in now is refused to whoever asks for it.
        palaces.filter_map(|held| held.catch_up().ok().and_then(|()| held.next_doubt())).min()
    }

    /// Returns which edition of each open palace is in memory, by workspace.
    pub fn editions(&self) -> BTreeMap<String, Edition> {
        let palaces = self.held.iter().filter(|(key, _)| !is_past(key));
        palaces.map(|(key, held)| (key.clone(), held.ledger.edition())).collect()
    }
}

/// Yields the addresses of everything that can be read in a palace, in order.
fn leaves<'a>(key: &'a str, held: &'a Held) -> impl Iterator<Item = Uri> + 'a {
    let rooms = held.palace.rooms().map(|(id, _)| Leaf::Room(id.clone()));
    let scrolls = held.palace.scrolls();
    let scrolls =
        scrolls.map(|(room, it)| Leaf::Scroll(ScrollId { room: room.clone(), id: it.id }));
    rooms.chain(scrolls).map(|place| Uri { workspace: key.to_owned(), place })
}

fn entry(held: &Held, address: Uri) -> Option<Listed> {
    let palace = &held.palace;
    let (title, about, written) = match &address.place {
        Leaf::Room(id) => {
            let room = palace.room(id)?;
            (&room.name, first_words(&room.description), None)
        }
        Leaf::Scroll(which) => {
            let scroll = palace.scroll(which)?;
            let place = palace.name_of(&which.room);
            let about = format!("A scroll by {} in {place}", scroll.by);
            (&scroll.title, about, Some(scroll.written))
        }
    };
    let (title, about) = (render::line(title), render::line(&about));
    Some(Listed { address, title, about, written })
}

fn first_words(description: &str) -> String {
    render::cut(description.lines().next().unwrap_or_default(), 120)
}

fn no_such_scroll(held: &Held, which: &ScrollId) -> Refusal {
    let scrolls = held.palace.scrolls_in(&which.room).take(NEWEST).map(|it| it.id).collect();
    Refusal::NoSuchScroll { asked: which.id, room: which.room.clone(), scrolls }
}
