//! Renders values as text. Pure functions.
//!
//! Nothing here reads a file, asks for the time or keeps state: `now` is a parameter, so
//! yesterday can be tested today.

mod age;
mod conflict;
mod diary;
mod diff_markdown;
mod drawer;
mod entity;
mod entity_links;
mod entity_listing;
mod findings;
mod genus;
mod history;
mod imitations;
mod item_json;
mod map;
mod markdown;
mod memory_note;
mod narration;
mod palace_diff;
mod proposal;
mod provenance;
mod room;
mod scroll;
mod search_results;
mod shortened_names;
mod text;
mod text_locations;
mod timeline;
mod visit;
mod wake_up;
mod work;
mod workspace_summary;

pub use age::{age_or_day, ago, date_with_age, time_of_day};
pub use conflict::{
    conflict_count_line, conflict_json, conflict_list, conflict_notice, conflict_sentence,
    resolved_conflict,
};
pub use diary::diary_entry;
pub use diff_markdown::palace_diff_markdown;
pub use drawer::{
    DrawerView, drawer, drawer_list, drawer_row, drawer_subtitle, drawer_title, label_with_place,
    later_texts, note_label, note_links, text_title, unbuilt_drawer_room,
    unbuilt_drawer_room_description,
};
pub use entity::{
    EntityView, ListedContent, attribute_and_relation_lines, entity, entity_facts, entity_list,
    entity_subtitle, entity_without_headings, relations, unreadable_dates_note, validity_note,
    whole_entity,
};
pub use entity_links::{number_entity_links, resolve_entity_links};
pub use entity_listing::{EntityListing, room_listing, sub_hall_label};
pub use findings::{
    PalaceFindings, ReportedFinding, findings_json, github_annotations, palace_findings,
    sarif_report, source_excerpt,
};
pub use genus::{GenusCount, entity_in_sentence, genus, genus_list};
pub use history::{as_of_notice, blame, commit_age_and_id, log, version_summary};
pub use imitations::{IMITATION_MARK, is_title_of_server, mark_imitations, unmark_imitations};
pub use item_json::{
    action_json, file_history_json, item_content_json, item_diff_json, item_kind_and_name,
    relation_json,
};
pub use map::{MapView, map, map_json};
pub use markdown::{room_markdown, scroll_markdown};
pub use memory_note::{MAX_NOTE_CHARS, memory_note};
pub use narration::narrate_action;
pub(crate) use palace_diff::{ContentLine, content_lines};
pub use palace_diff::{
    change_summary, cleared_status, counted_change_summary, item_content, item_label, palace_diff,
    palace_diff_with_content, relation_label, relation_validity,
};
pub use proposal::{END_SERVERS_FIRST, chain_commands, proposal_notice, proposal_summary};
pub use provenance::{origin_suffix, provenance, provenance_json, short_provenance};
pub use room::{
    Notice, RoomView, hall, menu, room, short_menu, unbuilt_room_context, unfinished_room,
};
pub use scroll::{ScrollView, inventory, older_scrolls, scroll, scroll_note, scroll_subtitle};
pub use search_results::{
    HitView, WordHits, cli_search_results, no_exact_result, no_result, search_results,
    weaker_results,
};
pub use text::{
    action_heading, count_with_noun, cut_text, display_path, group_thousands, has_open_backtick,
    in_quotes, join_items, join_names, json_value_text, name_in_list, name_in_sentence, one_line,
    printable_text_for_html, storable_line, subject_before_note, text_in_page, title_after_label,
    title_in_heading, truncate, truncate_closing_backtick, whole_line, word_or_quoted,
};
pub use text_locations::{text_locations, text_locations_json};
pub use timeline::timeline;
pub use visit::{
    changes_in_words, changes_title, client_name, hand_over_line, repeated_changes, visit_json,
    visit_log, visit_page, visit_page_json, visit_times,
};
pub use wake_up::{WakeUpPage, WakeUpSection, wake_up};
pub use work::{
    ProcessView, TaskView, WorkView, process, process_status, task, work_details, work_list,
    work_notice,
};
pub use workspace_summary::{
    ItemCounts, WorkspaceSummary, tutorial, workspace_line, workspace_summary,
};

use crate::model::escape_unprintable_in_lines;
