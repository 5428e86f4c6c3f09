//! Values that do not stand after a merge.

use serde_json::{Value, json};
use sha1::{Digest, Sha1};

use palazzo_core::merge::Side;
use palazzo_core::model::Conflict;

/// The number of bytes of the hash that are in the name of a conflict.
const NAME_BYTES: usize = 8;

/// Two values for one field, of which one stands.
#[derive(Clone, Debug, PartialEq)]
pub struct MergeConflict {
    /// The id of the item, if it has one.
    pub id: Option<String>,
    /// The path of its file.
    pub path: String,
    /// The field: `status`, `actions["Listen to the clock"].content`, `path`, `body`; empty for the
    /// whole file.
    pub field: String,
    /// The value that stands; `None` if it is deleted.
    pub stands: Option<Value>,
    /// The other value; `None` if the other side has deleted it.
    pub other: Option<Value>,
    /// The author of the value that stands, and the time.
    pub stands_by: Side,
    /// The author of the other value, and the time.
    pub other_by: Side,
}

impl MergeConflict {
    /// Returns the name of the conflict: 16 digits that follow from the item, the field and both
    /// values, and so are the same on every machine.
    pub fn name(&self) -> String {
        let item = self.id.as_ref().unwrap_or(&self.path);
        conflict_name(item, &self.field, self.stands.as_ref(), self.other.as_ref())
    }
}

/// Returns the path that a merge gives a conflict.
pub(crate) fn path_of_conflict(conflict: &Conflict) -> String {
    let Conflict { id, file, field, stands, other, .. } = conflict;
    let item = id.map_or_else(|| file.clone(), |it| it.to_string());
    let name = conflict_name(&item, field, stands.as_ref(), other.as_ref());
    Conflict::path_of_name(&name)
}

/// Returns the name of the conflict between two values of a field; `item` is the id of the item, or
/// its path if it has none.
pub(crate) fn conflict_name(
    item: &str,
    field: &str,
    stands: Option<&Value>,
    other: Option<&Value>,
) -> String {
    let content = json!([item, field, stands, other]).to_string();
    let hash = Sha1::digest(content.as_bytes());
    let number = hash.iter().take(NAME_BYTES).fold(0_u64, |sum, it| sum << 8 | u64::from(*it));
    format!("{number:016x}")
}
