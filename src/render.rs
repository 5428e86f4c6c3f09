//! From palace to page: pure functions that turn values into text.
//!
//! Nothing here reads a file, asks the time or keeps state: `now` is a
//! parameter, so yesterday can be tested today.

mod age;
mod date;
mod diary;
mod drawer;
mod entity;
mod entity_listing;
mod findings_report;
mod genus;
mod history;
mod map;
mod markdown;
mod narration;
mod palace_diff;
mod room;
mod scroll;
mod source_excerpt;
mod timeline;
mod wake_up;
mod work;
mod workspace_summary;

pub use age::ago;
pub use date::date_with_age;
pub use diary::diary_entry;
pub use drawer::{DrawerRange, DrawerView, drawer, drawer_list, drawer_title, unbuilt_drawer_room};
pub use entity::{EntityView, entity, entity_list, relations, skipped_relations};
pub use entity_listing::{EntityListing, sub_hall_label};
pub use findings_report::{ReportedFinding, findings_json, github_annotations, sarif_report};
pub use genus::{GenusCount, genus, genus_list};
pub use history::{as_of_notice, blame, commit_description, log, version_summary};
pub use map::{MapView, map};
pub use markdown::{room_markdown, scroll_markdown};
pub use narration::narrate_action;
pub use palace_diff::{change_summary, item_label, palace_diff, relation_label, relation_validity};
pub use room::{Notice, RoomView, hall, menu, room, room_built_elsewhere, unfinished_room};
pub use scroll::{HitView, cli_search_results, inventory, older_scrolls, scroll, search_results};
pub use source_excerpt::source_excerpt;
pub use timeline::timeline;
pub use wake_up::{WakeUpSection, wake_up};
pub use work::{
    ProcessView, TaskView, WorkView, process, process_status, task, work_list, work_notice,
};
pub use workspace_summary::{WorkspaceSummary, tutorial, unbuilt_room_context, workspace_summary};

use std::path::Path;

use serde_json::Value;

use crate::model::{is_printable, strip_unprintable};

/// Renders the path to a file of a palace: relative to `here` if that is above the palace.
pub fn display_path(here: &Path, root: &Path, file: &str) -> String {
    root.strip_prefix(here).unwrap_or(root).join(file).display().to_string()
}

/// Says how many there are of something: `1 scroll`, `3 scrolls`.
pub fn pluralize(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {}", plural_form(noun)),
    }
}

/// Says it as English does of most that are several: `Claims`, `Theories`, `Processes`.
fn plural_form(noun: &str) -> String {
    if let Some(stem) = noun.strip_suffix("sis") {
        return format!("{stem}ses");
    }
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ if ["s", "x", "ch", "sh"].iter().any(|it| noun.ends_with(it)) => format!("{noun}es"),
        _ => format!("{noun}s"),
    }
}

/// Writes a number as people read it: `4,210`.
pub fn group_thousands(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

/// Makes a text safe for one line of a page: no line breaks, which could pose
/// as a menu, and nothing that does more than be read.
pub fn one_line(text: &str) -> String {
    let clean = text.chars().map(|it| if is_printable(it) { it } else { ' ' });
    clean.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Makes a text safe for a page: its lines stay.
pub fn printable_text(text: &str) -> String {
    strip_unprintable(text.trim_end())
}

/// Writes a value as a person would: a text without quotes.
pub fn value_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Cuts a text to at most `most` characters, with `…` where something went.
pub fn truncate(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
    }
}

/// How many names a line lists.
const MAX_LISTED_NAMES: usize = 10;

/// Lists names in one line, the first few of many.
pub fn join_names(names: &[String]) -> String {
    let shown: Vec<_> =
        names.iter().take(MAX_LISTED_NAMES).map(|it| truncate(&one_line(it), 60)).collect();
    match names.len() - shown.len() {
        0 => shown.join(", "),
        left => format!("{} and {left} more", shown.join(", ")),
    }
}
