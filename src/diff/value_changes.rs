//! The changes of single values.

use crate::diff::lines::count_changed_lines;
use crate::model::ChangeDetail;

pub(super) fn name_change(from: &str, to: &str) -> Option<ChangeDetail> {
    let renamed = || ChangeDetail::Renamed { from: from.to_owned(), to: to.to_owned() };
    (from != to).then(renamed)
}

pub(super) fn value_change(of: &str, was: Option<&str>, now: Option<&str>) -> Option<ChangeDetail> {
    let owned = |it: Option<&str>| it.map(str::to_owned);
    let value =
        || ChangeDetail::ValueChanged { of: of.to_owned(), was: owned(was), now: owned(now) };
    (was != now).then(value)
}

/// Returns a change with the number of lines of prose that differ; the final line break does not
/// count.
pub(super) fn text_change(text: &'static str, was: &str, now: &str) -> Option<ChangeDetail> {
    let count = || count_changed_lines(&format!("{was}\n"), &format!("{now}\n")).max(1);
    (was != now).then(|| ChangeDetail::TextChanged { text, count: count() })
}
