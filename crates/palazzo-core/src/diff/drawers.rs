//! Differences between two states of a drawer or a diary entry.

use crate::diff::text::text_change;
use crate::diff::value_changes::value_change;
use crate::model::{ChangeDetail, DiaryEntry, Drawer, Palace};
use chrono::SecondsFormat;

/// Returns the text of one field.
type Field<T> = fn(&T) -> Option<String>;

/// Returns the differences of the drawer in a file.
pub(super) fn diff_drawers_in_file(was: &Palace, now: &Palace, file: &str) -> Vec<ChangeDetail> {
    let place = |palace: &Palace| palace.drawers.wing_room_of_file(file);
    let (before, after) = (place(was), place(now));
    let (was, now) = (was.drawers.drawer_in_file(file), now.drawers.drawer_in_file(file));
    let values: [(&str, Field<Drawer>); 4] = [
        ("title", |it| it.title.clone()),
        ("source", |it| it.source.clone()),
        ("by", |it| it.by.clone()),
        ("filed", |it| it.filed.map(|it| it.to_rfc3339_opts(SecondsFormat::Secs, true))),
    ];
    let text = |it: Option<&Drawer>| it.map(|it| it.text.clone()).unwrap_or_default();
    let mut details = Vec::new();
    let wing = [&before, &after].map(|it| it.as_ref().map(|it| it.wing.as_str()));
    let room = [&before, &after].map(|it| it.as_ref().map(|it| it.room.as_str()));
    details.extend(value_change("wing", wing[0], wing[1]));
    details.extend(value_change("room", room[0], room[1]));
    for (of, value) in values {
        let (was, now) = (was.and_then(value), now.and_then(value));
        details.extend(value_change(of, was.as_deref(), now.as_deref()));
    }
    details.extend(text_change("text", &text(was), &text(now)));
    details
}

/// Returns the differences of the diary entry in a file.
pub(super) fn diff_diary_entries_in_file(
    was: &Palace,
    now: &Palace,
    file: &str,
) -> Vec<ChangeDetail> {
    let (was, now) = (was.diaries.entry_in_file(file), now.diaries.entry_in_file(file));
    let values: [(&str, Field<DiaryEntry>); 3] = [
        ("agent", |it| it.agent.clone()),
        ("topic", |it| Some(it.topic.clone())),
        ("written", |it| it.written.map(|it| it.to_rfc3339_opts(SecondsFormat::Secs, true))),
    ];
    let text = |it: Option<&DiaryEntry>| it.map(|it| it.text.clone()).unwrap_or_default();
    let mut details = Vec::new();
    for (of, value) in values {
        let (was, now) = (was.and_then(value), now.and_then(value));
        details.extend(value_change(of, was.as_deref(), now.as_deref()));
    }
    details.extend(text_change("text", &text(was), &text(now)));
    details
}
