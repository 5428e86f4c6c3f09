//! The settings from `palace.toml`.

pub(crate) mod consent;
pub(crate) mod note_folder;

use std::collections::BTreeSet;

use crate::model::{Code, Layout, NoteFolders, RoomRef, TimeZone};

/// The settings of one palace.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The name shown to visitors.
    pub name: String,
    /// The room in which every visit starts.
    pub entry: Option<RoomRef>,
    /// The numbering of menus.
    pub layout: Layout,
    /// How many characters of contents an answer has.
    pub contents: Option<u32>,
    /// Whether tools commit their changes.
    pub commit: CommitMode,
    /// The handling of edits by hand.
    pub hand_edits: HandEditMode,
    /// What happens when a commit cannot be signed.
    pub sign: SigningMode,
    /// The shortest time in seconds between two pushes of a machine by a server.
    pub push_interval: Option<u32>,
    /// Tools that change something and that query actions may call nevertheless.
    pub allowed_tools: Vec<String>,
    /// The zone of times and days in files that name none.
    pub time_zone: TimeZone,
    /// The codes of warnings and notes that are not reported.
    pub silenced_codes: BTreeSet<Code>,
    /// The days for which a fact of a single-valued relation may stay untouched while others of its
    /// entity change, before it is reported. `None`: such facts are not reported.
    pub stale_fact_days: Option<u32>,
    /// The folder of the model for semantic search; a relative path starts at the palace.
    pub model: Option<String>,
    /// The folders whose Markdown files are drawers.
    pub note_folders: NoteFolders,
    /// The description and the variables of the palace as a template.
    pub template: TemplateSettings,
}

/// Whether tools commit their changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CommitMode {
    /// One commit for each change.
    #[default]
    Auto,
    /// Files are written; the user commits.
    Manual,
}

/// The handling of edits by hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HandEditMode {
    /// They stay uncommitted until the user commits them, or a tool is about to write the same
    /// file.
    #[default]
    Leave,
    /// Settled edits are committed in the user's name.
    Commit,
}

/// What happens when git's configuration asks for signed commits, and one cannot be signed. The
/// later modes of the list prevail where several palaces share a repository.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum SigningMode {
    /// The commit is made without a signature.
    #[default]
    Auto,
    /// Commits are never signed.
    Never,
    /// Nothing is written.
    Required,
}

impl Settings {
    /// Returns the default settings, with a name.
    pub fn with_name(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            entry: None,
            layout: Layout::default(),
            contents: None,
            commit: CommitMode::default(),
            hand_edits: HandEditMode::default(),
            sign: SigningMode::default(),
            push_interval: None,
            allowed_tools: Vec::new(),
            time_zone: TimeZone::UTC,
            silenced_codes: BTreeSet::new(),
            stale_fact_days: None,
            model: None,
            note_folders: NoteFolders::default(),
            template: TemplateSettings::default(),
        }
    }
}

/// How a server notices changes that other programs make to the files of a palace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchMode {
    /// With notifications of the operating system; where there are none, by polling every two
    /// seconds.
    Auto,
    /// By polling every two seconds.
    Poll,
    /// Not at all, except commits and the files that a call uses.
    Off,
}

/// The section `[template]` of a `palace.toml`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TemplateSettings {
    /// The purpose of the template, in one line; may be empty.
    pub description: String,
    /// The variables, in the order of the file.
    pub variables: Vec<TemplateVariable>,
}

/// A variable of a template: `{{project}}` in its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateVariable {
    /// The name: `project`.
    pub name: String,
    /// The meaning of its value, for the person who is asked for it.
    pub description: String,
    /// The value if none is given; `None`: one must be given.
    pub default: Option<String>,
}
