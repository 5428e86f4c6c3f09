//! Palaces as they were at a past commit.

use chrono::{DateTime, Utc};

use crate::keeper::palace::OpenPalace;
use crate::keeper::workspaces::as_of_key::{as_of_key, present_key};
use crate::keeper::{Caller, Keeper, Refusal};
use crate::render;

/// Opens the palace with the key `key` as of `revision`, and returns the key of that.
pub(crate) fn open_as_of(
    keeper: &mut Keeper,
    caller: &Caller,
    key: &str,
    revision: &str,
) -> Result<String, Refusal> {
    let directory = present_key(key);
    let store = keeper.open_palace(directory)?.store();
    let key = as_of_key(directory, &store.resolve_revision(revision, caller.now)?);
    keeper.open_palace(&key)?;
    Ok(key)
}

/// Names the revision that a palace is shown at, and how to return to the present; empty for a
/// palace as it is.
pub(crate) fn as_of_notice(palace: &OpenPalace, now: DateTime<Utc>) -> String {
    let Some(commit) = palace.store().as_of_commit() else { return String::new() };
    let name = render::one_line(&palace.palace.settings.name);
    let commit = render::commit_description(commit, now);
    format!(
        "This is {name} as it was {commit}: look around, but nothing can be changed. \
         set_workspace without `as_of` returns to the present.\n\n"
    )
}
