//! Two values for one field, from a merge of two versions of a palace.

use chrono::{DateTime, Utc};
use serde_json::Value;
use ulid::Ulid;

/// Two values for one field. One stands in the file of the item; the other is kept until somebody
/// settles the conflict.
#[derive(Clone, Debug, PartialEq)]
pub struct Conflict {
    /// The id of the item, if it has one.
    pub id: Option<Ulid>,
    /// The file of the item at the time of the merge.
    pub file: String,
    /// The field: `status`, `actions["Listen to the clock"].content`, `path`, `body`; empty for the
    /// whole file.
    pub field: String,
    /// The value that stands; `None` if it is deleted.
    pub stands: Option<Value>,
    /// The author of the value that stands, if known.
    pub stands_by: Option<ConflictAuthor>,
    /// The other value; `None` if its author deleted the field.
    pub other: Option<Value>,
    /// The author of the other value, if known.
    pub other_by: Option<ConflictAuthor>,
}

/// A conflict that is not settled.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenConflict {
    /// The path of its own file.
    pub path: String,
    /// The two values.
    pub conflict: Conflict,
    /// The first digits of its name that no other conflict has.
    pub short_id: String,
    /// The file of its item, as it is called now.
    pub item_file: String,
}

/// The author of a value of a conflict, and the time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictAuthor {
    /// The name of the author.
    pub author: String,
    /// The time of the commit.
    pub at: Option<DateTime<Utc>>,
    /// The id of the commit.
    pub commit: Option<String>,
}

/// Which value of a conflict is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConflictChoice {
    /// The value that stands.
    Stands,
    /// The other value.
    Other,
}

impl Conflict {
    /// The field of a conflict about the place of a file.
    pub const PATH_FIELD: &'static str = "path";

    /// The field of a conflict about the text after the front matter.
    pub const BODY_FIELD: &'static str = "body";

    /// Returns the field for display: `status`; `the file` for the whole file.
    pub fn field_label(&self) -> &str {
        if self.field.is_empty() { "the file" } else { &self.field }
    }

    /// Returns whether the conflict is about the whole file, its place or its text, and not about a
    /// value in it.
    pub fn is_about_whole_file(&self) -> bool {
        matches!(self.field.as_str(), "" | Self::PATH_FIELD | Self::BODY_FIELD)
    }

    /// Returns the path of the file of a conflict with this name.
    pub fn path_of_name(name: &str) -> String {
        format!("conflicts/{name}.yaml")
    }

    /// Returns the name of a conflict from the path of its file: `0123456789abcdef`.
    pub fn name_from_path(path: &str) -> &str {
        let name = path.rsplit('/').next().unwrap_or(path);
        name.strip_suffix(".yaml").unwrap_or(name)
    }
}

/// The last change of one side of a merge to a file or a field. It decides which side stands in a
/// conflict, and is kept with the value that does not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LastChange {
    /// The name of the author.
    pub author: String,
    /// The author time of the commit.
    pub at: DateTime<Utc>,
    /// Whether a person made the change by hand: the commit has no `Palazzo-Tool` trailer.
    pub is_by_hand: bool,
    /// The id of the commit.
    pub commit: String,
}
