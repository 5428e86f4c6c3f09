//! The changes of single values.

use crate::model::ChangeDetail;

/// Returns the change of a name; an empty name means that the item does not exist.
pub(super) fn name_change(from: &str, to: &str) -> Option<ChangeDetail> {
    if from.is_empty() || to.is_empty() {
        return value_change("name", optional_text(from), optional_text(to));
    }
    let renamed = || ChangeDetail::Renamed { from: from.to_owned(), to: to.to_owned() };
    (from != to).then(renamed)
}

pub(super) fn value_change(of: &str, was: Option<&str>, now: Option<&str>) -> Option<ChangeDetail> {
    let owned = |it: Option<&str>| it.map(str::to_owned);
    let value =
        || ChangeDetail::ValueChanged { of: of.to_owned(), was: owned(was), now: owned(now) };
    (was != now).then(value)
}

/// Returns `None` for an empty text.
pub(super) fn optional_text(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

/// Moves names, values and texts before the parts of a new or removed item.
pub(super) fn sort_content(mut details: Vec<ChangeDetail>) -> Vec<ChangeDetail> {
    details
        .sort_by_key(|it| matches!(it, ChangeDetail::PartAdded(_) | ChangeDetail::PartRemoved(_)));
    details
}
