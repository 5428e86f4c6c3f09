//! Where an item comes from: its author, and how it came into the palace.

/// How an item came into the palace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A tool or a command wrote it.
    Tool,
    /// A person wrote it: in an editor, or in a walk at the terminal.
    Hand,
    /// It was mined from a document or a conversation.
    Mined,
    /// It was imported from another program.
    Imported,
    /// A merge made its file, of a version that somebody wrote at the same time.
    Merged,
}

/// The author and the origin of an item, as far as they are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// The author.
    pub by: Option<String>,
    /// How it came into the palace where it was written.
    pub origin: Option<Origin>,
    /// The file that the text comes from.
    pub source: Option<String>,
    /// The author of its last change, if it is another one.
    pub changed_by: Option<String>,
    /// Whether it, or one of its last changes, came from another machine.
    pub is_synced: bool,
    /// Whether the newest commits have not been read yet, so that changes by others may be missing.
    pub has_unread_history: bool,
}

impl Origin {
    /// Returns the origin of what the tool or command with this name creates.
    pub fn of_tool(tool: &str) -> Self {
        match tool {
            "mine" => Self::Mined,
            "import" => Self::Imported,
            "walk" => Self::Hand,
            _ => Self::Tool,
        }
    }

    /// Returns the name of the origin.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Hand => "hand",
            Self::Mined => "mined",
            Self::Imported => "imported",
            Self::Merged => "merged",
        }
    }
}
