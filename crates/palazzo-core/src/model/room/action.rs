//! The numbered choices of a room.

use serde_json::{Map, Value};

use crate::model::{Hall, RoomRef};

/// One numbered choice (v1 section 4.1).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Action {
    /// The text in the menu; a merge of two rooms matches actions by it.
    pub label: String,
    /// The effect.
    pub kind: ActionKind,
}

/// The effect of an action.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ActionKind {
    /// Goes to another room.
    Navigate(NavigationTarget),
    /// Calls a tool and shows its result; the visitor stays.
    Query {
        /// The tool's name, as written: `list_entities`, `palazzo:list_entities`.
        tool: String,
        /// Its arguments; `{params}` in a text is replaced by what the visitor passes.
        params: Map<String, Value>,
    },
    /// Shows an entity; the visitor stays. In a file, a query with `entity` instead of `tool`.
    ShowEntity {
        /// The name of the entity, as written.
        entity: String,
    },
    /// Shows a text; the visitor stays.
    Text {
        /// The text, without a final line break.
        content: String,
    },
    /// Enters a hall made from the graph. Only generated actions do this, none from a file.
    EnterHall(Hall),
}

/// The target of a navigate action.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NavigationTarget {
    /// The target room, built or not.
    pub room: RoomRef,
    /// The workspace of the target room, if it is in another palace (v2 section 3.6).
    pub workspace: Option<String>,
}

impl Action {
    /// The parameters of queries that name entities.
    pub const ENTITY_PARAMS: [&str; 2] = ["name", "entity"];
    /// The parameter of queries that lists entities.
    pub const ENTITY_LIST_PARAM: &str = "names";
    /// Stands for the visitor's words in the parameters of a query.
    pub const PLACEHOLDER: &str = "{params}";
    /// Maximum number of placeholders in one action that `check` accepts: words of 1 KiB then stay
    /// within [`Action::MAX_FILLED_BYTES`].
    pub const MAX_PLACEHOLDERS: usize = 64;
    /// Maximum size in bytes of the parameters of a query after its placeholders were replaced.
    pub const MAX_FILLED_BYTES: usize = 64 * 1024;
    /// The parameter of queries that names a room.
    pub const ROOM_PARAM: &str = "room";

    /// Yields the entities that the action names: the one it shows, or those in its parameters.
    pub fn named_entities(&self) -> impl Iterator<Item = &str> {
        let (shown, params) = match &self.kind {
            ActionKind::ShowEntity { entity } => (Some(entity.as_str()), None),
            ActionKind::Query { params, .. } => (None, Some(params)),
            _ => (None, None),
        };
        let param = move |key: &str| params.and_then(|it| it.get(key));
        let one = Self::ENTITY_PARAMS.into_iter().filter_map(param);
        let listed = param(Self::ENTITY_LIST_PARAM).and_then(Value::as_array).into_iter().flatten();
        shown.into_iter().chain(one.chain(listed).filter_map(Value::as_str))
    }

    /// Returns the room of this palace to which the action leads, if any.
    pub fn target_room(&self) -> Option<&RoomRef> {
        match &self.kind {
            ActionKind::Navigate(NavigationTarget { room, workspace: None }) => Some(room),
            _ => None,
        }
    }

    /// Returns the workspace to which the action leads, if it names one.
    pub fn target_workspace(&self) -> Option<&str> {
        match &self.kind {
            ActionKind::Navigate(NavigationTarget { workspace, .. }) => workspace.as_deref(),
            _ => None,
        }
    }
}
