//! What `palace.toml` says.

pub(crate) mod consent;
pub(crate) mod watch_mode;
use crate::model::{Layout, RoomRef};

/// The settings of one palace.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The name shown to visitors.
    pub name: String,
    /// The room every visit starts in.
    pub entry: Option<RoomRef>,
    /// How menus are numbered.
    pub layout: Layout,
    /// Whether tools commit what they write.
    pub commit: CommitMode,
    /// What becomes of edits by hand.
    pub hand_edits: HandEditMode,
    /// Tools that change things and may be called by query actions all the same.
    pub allow: Vec<String>,
    /// The folder of the model that search asks for meaning: from the palace's own
    /// folder, if it does not begin at the root.
    pub model: Option<String>,
}

/// Whether tools commit what they write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CommitMode {
    /// One commit for each change.
    #[default]
    Auto,
    /// Files are written; committing is left to the person.
    Manual,
}

/// What becomes of edits by hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HandEditMode {
    /// They stay uncommitted until their author commits them, or a tool is
    /// about to write the same file.
    #[default]
    Leave,
    /// Settled edits are committed in their author's name.
    Commit,
}

impl Settings {
    /// The settings of a palace whose `palace.toml` says nothing but its name.
    pub fn with_name(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            entry: None,
            layout: Layout::default(),
            commit: CommitMode::default(),
            hand_edits: HandEditMode::default(),
            allow: Vec::new(),
            model: None,
        }
    }
}
