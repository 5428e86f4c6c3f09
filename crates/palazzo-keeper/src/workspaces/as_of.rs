//! Palaces as they were at a past commit.

use crate::workspaces::as_of_key::{as_of_key, present_key};
use crate::{Caller, Keeper, Refusal};

/// Opens the palace with the key `key` as of `revision`, and returns the key of the opened one.
pub(crate) fn open_as_of(
    keeper: &mut Keeper,
    caller: &Caller,
    key: &str,
    revision: &str,
) -> Result<String, Refusal> {
    let directory = present_key(key);
    let store = keeper.open_palace(directory)?.store();
    let key = as_of_key(directory, &store.resolve_moment(revision, caller.now, &caller.zone)?);
    keeper.open_palace(&key)?;
    Ok(key)
}
