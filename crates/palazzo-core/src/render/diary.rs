//! Renders diary entries.

use chrono::{DateTime, Utc};

use crate::model::DiaryEntry;
use crate::render::ago;
use crate::render::text::{name_in_sentence, text_in_page, title_in_heading};

/// Renders an entry in the diary of `agent`; `origin` is where it comes from.
pub fn diary_entry(entry: &DiaryEntry, agent: &str, origin: &str, now: DateTime<Utc>) -> String {
    let written = entry.written.map(|it| format!(", written {}", ago(it, now)));
    format!(
        "── {} ──\nA page of the diary of {}{}{origin}.\n\n{}\n",
        title_in_heading(&entry.topic),
        name_in_sentence(agent),
        written.unwrap_or_default(),
        text_in_page(&entry.text)
    )
}
