//! Makes the links between the pages of a palace: paths on the server, places in one file, or URIs
//! of resources.

use std::collections::{BTreeMap, BTreeSet};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::model::{ItemId, ResourceUri, RoomId, ScrollId, UriTarget};

/// Makes the links of a page. A page that does not exist has no link.
#[derive(Clone, Debug)]
pub enum Links {
    /// Paths on the server.
    Server {
        /// The name of the palace's directory.
        workspace: String,
        /// The commit as of which the palace is shown; `None`: the present.
        at: Option<String>,
    },
    /// Places in one file that has all pages.
    File {
        /// The rooms in the file.
        rooms: BTreeSet<RoomId>,
        /// The entities in the file, each with a number.
        entities: BTreeMap<String, usize>,
    },
    /// The URIs of resources of MCP: only rooms have one.
    Resources {
        /// The name of the palace's directory.
        workspace: String,
    },
}

/// A page of a palace that is not about one item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageKind {
    /// The entry room.
    Entry,
    /// The whole map.
    Map,
    /// All rooms and entities.
    Index,
    /// The commits.
    Log,
    /// The findings and the conflicts.
    Findings,
    /// The tasks and processes.
    Tasks,
    /// The proposals.
    Proposals,
    /// The search.
    Search,
}

impl PageKind {
    /// Returns its name in paths; empty for the entry room.
    pub fn path(self) -> &'static str {
        match self {
            Self::Entry => "",
            Self::Map => "map",
            Self::Index => "index",
            Self::Log => "log",
            Self::Findings => "findings",
            Self::Tasks => "tasks",
            Self::Proposals => "proposals",
            Self::Search => "search",
        }
    }
}

impl Links {
    /// Returns the link to a page.
    pub fn page(&self, kind: PageKind) -> Option<String> {
        match (self, kind) {
            (Self::Server { .. }, _) => self.server_path(kind.path(), &[]),
            (Self::File { .. }, PageKind::Map | PageKind::Index) => {
                Some(format!("#{}", kind.path()))
            }
            (Self::File { .. } | Self::Resources { .. }, _) => None,
        }
    }

    /// Returns the link to a part of a page with more than one: `genus` and `page`, for example.
    pub fn page_with(&self, kind: PageKind, query: &[(&str, &str)]) -> Option<String> {
        match self {
            Self::Server { .. } => self.server_path(kind.path(), query),
            Self::File { .. } | Self::Resources { .. } => self.page(kind),
        }
    }

    /// Returns the link to a room.
    pub fn room(&self, room: &RoomId) -> Option<String> {
        match self {
            Self::Server { .. } => self.server_path(&format!("rooms/{room}"), &[]),
            Self::File { rooms, .. } => rooms.contains(room).then(|| format!("#room/{room}")),
            Self::Resources { workspace } => {
                let (workspace, target) = (workspace.clone(), UriTarget::Room(room.clone()));
                Some(ResourceUri { workspace, target }.to_string())
            }
        }
    }

    /// Returns the link to a room of another palace.
    pub fn room_elsewhere(&self, workspace: &str, room: &str) -> Option<String> {
        match self {
            Self::Server { .. } => Some(format!("/{}/rooms/{room}", encode(workspace))),
            Self::File { .. } | Self::Resources { .. } => None,
        }
    }

    /// Returns the link to a scroll.
    pub fn scroll(&self, scroll: &ScrollId) -> Option<String> {
        match self {
            Self::Server { .. } => {
                self.server_path(&format!("scrolls/{}/{}", scroll.room, scroll.id), &[])
            }
            Self::File { .. } | Self::Resources { .. } => self.room(&scroll.room),
        }
    }

    /// Returns the link to an entity.
    pub fn entity(&self, name: &str) -> Option<String> {
        match self {
            Self::Server { .. } => self.server_path(&format!("entities/{}", encode(name)), &[]),
            Self::File { entities, .. } => {
                entities.get(name).map(|number| format!("#entity/{number}"))
            }
            Self::Resources { .. } => None,
        }
    }

    /// Returns the link to any item.
    pub fn item(&self, item: &ItemId) -> Option<String> {
        match item {
            ItemId::Room(room) => self.room(room),
            ItemId::Scroll(scroll) => self.scroll(scroll),
            ItemId::Entity(name) => self.entity(name),
            ItemId::Genus(name) => self.page_with(PageKind::Index, &[("genus", name)]),
            ItemId::Drawer(file)
            | ItemId::Diary(file)
            | ItemId::Task(file)
            | ItemId::Process(file) => self.file(file),
        }
    }

    /// Returns the link to the item in a file.
    pub fn file(&self, file: &str) -> Option<String> {
        let parts: Vec<_> = file.split('/').map(encode).collect();
        match self {
            Self::Server { .. } => self.server_path(&format!("files/{}", parts.join("/")), &[]),
            Self::File { .. } | Self::Resources { .. } => None,
        }
    }

    /// Returns the link to a commit.
    pub fn commit(&self, id: &str) -> Option<String> {
        match self {
            Self::Server { .. } => self.server_path(&format!("commits/{id}"), &[]),
            Self::File { .. } | Self::Resources { .. } => None,
        }
    }

    /// Returns the link to a visit.
    pub fn visit(&self, id: &str) -> Option<String> {
        self.server_path(&format!("visits/{id}"), &[])
    }

    /// Returns the link to the proposal of a branch.
    pub fn proposal(&self, branch: &str) -> Option<String> {
        self.server_path(&format!("proposals/{}", encode(branch)), &[])
    }

    /// Returns the same links for the palace as of a commit, or for the present.
    #[must_use]
    pub fn at(&self, at: Option<&str>) -> Self {
        match self {
            Self::Server { workspace, .. } => {
                Self::Server { workspace: workspace.clone(), at: at.map(str::to_owned) }
            }
            Self::File { .. } | Self::Resources { .. } => self.clone(),
        }
    }

    /// Returns the id of a room's page in a file.
    pub(super) fn anchor_of_room(room: &RoomId) -> String {
        format!("room/{room}")
    }

    /// Returns the id of an entity's page in a file.
    pub(super) fn anchor_of_entity(number: usize) -> String {
        format!("entity/{number}")
    }

    fn server_path(&self, path: &str, query: &[(&str, &str)]) -> Option<String> {
        let Self::Server { workspace, at } = self else { return None };
        let mut link = format!("/{}", encode(workspace));
        if !path.is_empty() {
            link.push('/');
            link.push_str(path);
        }
        let at = at.iter().map(|it| ("at", it.as_str()));
        let query: Vec<_> = query
            .iter()
            .copied()
            .chain(at)
            .map(|(key, value)| format!("{key}={}", encode(value)))
            .collect();
        if !query.is_empty() {
            link.push('?');
            link.push_str(&query.join("&"));
        }
        Some(link)
    }
}

/// The characters that are encoded in links: all but those of slugs.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_');

/// Encodes a text as one part of a path or as a value of a query.
fn encode(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_the_past_keep_the_commit() {
        let links = Links::Server { workspace: "my keep".to_owned(), at: None };
        let room: RoomId = "east/hall".parse().unwrap();
        assert_eq!(links.room(&room).unwrap(), "/my%20keep/rooms/east/hall");
        assert_eq!(links.page(PageKind::Entry).unwrap(), "/my%20keep");
        let past = links.at(Some("1a2b3c4"));
        assert_eq!(past.room(&room).unwrap(), "/my%20keep/rooms/east/hall?at=1a2b3c4");
        assert_eq!(
            past.page_with(PageKind::Index, &[("genus", "A&B")]).unwrap(),
            "/my%20keep/index?genus=A%26B&at=1a2b3c4"
        );
        assert_eq!(past.at(None).entity("a/b \"<").unwrap(), "/my%20keep/entities/a%2Fb%20%22%3C");
    }

    #[test]
    fn a_file_links_only_to_what_it_has() {
        let room: RoomId = "hall".parse().unwrap();
        let links =
            Links::File { rooms: BTreeSet::from([room.clone()]), entities: BTreeMap::new() };
        assert_eq!(links.room(&room).unwrap(), "#room/hall");
        assert_eq!(links.room(&"attic".parse().unwrap()), None);
        assert_eq!((links.entity("Ada"), links.commit("1a2b3c4")), (None, None));
    }
}
