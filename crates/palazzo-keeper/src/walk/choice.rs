//! Choices from a menu: the meanings of its numbers, and the results.

use serde_json::{Map, Value};

use palazzo_core::model::{Action, ActionKind, ItemId, ScrollId, Slot};

/// The meaning of a number of the menu.
#[derive(Clone, Debug)]
pub enum Choice {
    /// Read on in the last answer, which was cut.
    ReadOn,
    /// Enter the palace that changed last, or the only one: no palace was entered yet.
    Enter,
    /// An action of the room.
    Action(Action),
    /// A scroll that was shown.
    Scroll(ScrollId),
    /// An item of the last list or search.
    Item(ItemId),
    /// An action that every room has.
    Global(Slot),
}

impl Choice {
    /// Returns whether it shows everything that is in front.
    pub fn is_everything(&self) -> bool {
        matches!(self, Self::Global(Slot::Everything))
    }

    /// Returns whether it leads to another room or shows another menu.
    pub fn is_move(&self) -> bool {
        match self {
            Self::Action(action) => {
                matches!(action.kind, ActionKind::Navigate(_) | ActionKind::EnterHall(_))
            }
            Self::Global(slot) => matches!(slot, Slot::More | Slot::Back | Slot::GoTo),
            Self::Item(item) => matches!(item, ItemId::Room(_)),
            Self::Enter => true,
            Self::ReadOn | Self::Scroll(_) => false,
        }
    }
}

/// The result of a choice.
#[derive(Debug)]
pub enum ChoiceOutcome {
    /// A text, below which the menu goes.
    Text(String),
    /// A page that ends with its menu.
    Page(String),
    /// The contents that number 20 shows.
    Everything(Everything),
    /// A tool to run; `narrate_tool_answer` makes a text of its answer.
    RunTool(ActionToolCall),
}

/// The contents that number 20 shows, in order. They may name an item several times.
#[derive(Clone, Debug)]
pub struct Everything {
    /// The key of the palace.
    pub workspace: String,
    /// Where the contents are: `in Great Hall`.
    pub title: String,
    /// The contents.
    pub parts: Vec<EverythingPart>,
}

/// A part of the contents that number 20 shows.
#[derive(Clone, Debug)]
pub enum EverythingPart {
    /// A text.
    Text(String),
    /// An item, to show whole.
    Item(ItemId),
    /// A tool to run.
    RunTool(ActionToolCall),
}

/// A call of a tool by an action.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionToolCall {
    /// The action's label.
    pub label: String,
    /// The name of the tool.
    pub tool: String,
    /// The arguments of the call.
    pub params: Map<String, Value>,
    /// The tools that change things and that actions of this palace may call.
    pub allowed_tools: Vec<String>,
    /// Why actions may not call those tools on this machine; `None` if they may.
    pub missing_consent: Option<String>,
}
