//! The numbered choices of a room.

use serde_json::{Map, Value};

use crate::model::{Hall, RoomRef};

/// One numbered choice (v1 section 4.1).
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// What the menu says; merging a room finds its actions by it.
    pub label: String,
    /// What choosing it does.
    pub kind: ActionKind,
}

/// What choosing an action does.
#[derive(Clone, Debug, PartialEq)]
pub enum ActionKind {
    /// Goes to another room.
    Navigate(NavigationTarget),
    /// Runs a tool and shows what it found; the visitor stays.
    Query {
        /// The tool's name, as written: `list_entities`, `palazzo:list_entities`.
        tool: String,
        /// Its arguments; `{params}` in a text stands for what the visitor says.
        params: Map<String, Value>,
    },
    /// Shows a text; the visitor stays.
    Text {
        /// The text, without a final line break.
        content: String,
    },
    /// Goes into a hall made from the graph. No file has such an action.
    EnterHall(Hall),
}

/// Where a navigate action leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NavigationTarget {
    /// The room behind it, built or not.
    pub room: RoomRef,
    /// The palace it stands in, if it is another one (v2 section 3.6).
    pub workspace: Option<String>,
}

impl Action {
    /// The parameters by which questions name entities.
    pub const ENTITY_PARAMS: [&str; 2] = ["name", "entity"];

    /// Returns the room of this palace that the action leads to, if any.
    pub fn target_room(&self) -> Option<&RoomRef> {
        match &self.kind {
            ActionKind::Navigate(NavigationTarget { room, workspace: None }) => Some(room),
            _ => None,
        }
    }
}
