//! Renders diary entries.

use chrono::{DateTime, Utc};

use crate::model::{DiaryEntry, strip_unprintable};
use crate::render::ago;
use crate::render::text::one_line;

/// Renders an entry in the diary of `agent`.
pub fn diary_entry(entry: &DiaryEntry, agent: &str, now: DateTime<Utc>) -> String {
    let written = entry.written.map(|it| format!(", written {}", ago(it, now)));
    format!(
        "── {} ──\nA page of the diary of {}{}.\n\n{}\n",
        one_line(&entry.topic),
        one_line(agent),
        written.unwrap_or_default(),
        strip_unprintable(entry.text.trim_end())
    )
}
