//! Parses and writes the files of a palace; the only module that knows their formats.
//!
//! Parsing never fails. It returns everything that could be parsed, and a [`Diagnostic`] for each
//! problem. Nothing here accesses the disk.

mod conflict;
mod cursor_context;
mod diary;
mod drawer;
mod entity;
mod fields_and_body;
mod file_edits;
mod file_parser;
mod fix;
mod fmt;
mod front_matter;
mod genus;
mod host_memory;
mod items;
mod merge_conflict;
mod missing_comments;
mod name_edits;
mod note_folders;
mod note_links;
mod parsed_file;
mod paths;
mod positions;
mod references;
mod repeated_content;
mod room;
mod schema;
mod scroll;
mod settings;
mod settings_parser;
mod template;
mod text_warnings;
mod work;
mod yaml;

use rayon::prelude::*;

pub use cursor_context::{CursorContext, CursorPlace, cursor_context, toml_cursor_context};
pub use fields_and_body::{
    FieldsAndBody, edit_fields_and_body, parse_fields_and_body, serialize_tree,
};
pub use file_edits::{
    edit_drawer_text, edit_entity_text, edit_process_text, edit_room_text,
    edit_settings_name_and_entry, edit_task_text,
};
pub use fix::{FixedFile, RoomNameIndex, corrected_path, fix_file};
pub use fmt::{FmtOutcome, fmt_file};
pub use genus::linked_genus;
pub use host_memory::{may_have_trigger, parse_host_memory, position_of_first_trigger};
pub use items::{file_of_item, item_in_file, item_or_settings_in_file};
pub use merge_conflict::{MarkedSides, has_merge_conflict, split_marked_sides};
pub use missing_comments::add_missing_comments;
pub use name_edits::{rename_relation_targets, replace_names};
pub use note_links::{NoteLink, NoteLinkTarget, NoteLinks};
pub use parsed_file::{ParsedFile, remove_item_of_file};
pub use paths::{
    PalacePath, choose_drawer_room, drawer_path_in_room, drawer_wing_folder, file_kind,
    is_item_path, is_standard_entity_path, new_diary_entry_path, new_drawer_path, new_entity_path,
    new_scroll_path, room_path,
};
pub use positions::{PlacedValue, ValuePositions, placed_values, positions_of_bytes};
pub use references::{
    ReferenceKind, ReferenceTest, change_query_references, change_references, reference_kind,
    room_has_reference, work_has_reference,
};
pub use repeated_content::remove_repeated_content;
pub use schema::{
    README, README_PATH, ensure_modeline, has_right_modeline, is_reported_by_schema,
    is_schema_or_readme_path, json_schema_of_file_kind, kind_of_file_with_modeline,
};
pub use settings::FORMAT_VERSION;
pub use template::{fill_template, renew_ids, renew_times};
pub use text_warnings::text_warnings;

use crate::format::file_parser::FileParser;
use crate::format::parsed_file::{ParsedItem, insert_item, with_conflict_position};
use crate::model::{
    Code, Conflict, Diagnostic, DiaryEntry, Drawer, Entity, FileKind, Files, Genus, Palace,
    Process, Room, RoomId, Scroll, Settings, Task, TimeZone, side_file,
};

/// Parses a palace from its files; `name` is its name if `palace.toml` gives none.
pub fn parse_palace(name: &str, files: &Files) -> (Palace, Vec<Diagnostic>) {
    let settings = Settings::with_name(name);
    parse_files(Palace::new(settings.clone()), &settings, files)
}

/// Parses some files of a palace with these settings. Those of the result are from `palace.toml`, if it is
/// among the files.
pub fn parse_files_of_palace(settings: &Settings, files: &Files) -> (Palace, Vec<Diagnostic>) {
    parse_files(Palace::new(Settings::with_name("palace")), settings, files)
}

fn parse_files(
    mut palace: Palace,
    settings: &Settings,
    files: &Files,
) -> (Palace, Vec<Diagnostic>) {
    let own = files.get(PalacePath::SETTINGS_FILE).and_then(|it| parse_settings(it));
    let mut own = own.unwrap_or_else(|| settings.clone());
    // The notes of a part of the files are those of the whole palace.
    if !settings.note_folders.is_empty() {
        own.note_folders = settings.note_folders.clone();
    }
    let settings = own;
    let parse = |path: &str, text: &str| parse_file_with_settings(path, text, &settings);
    let parsed: Vec<_> =
        files.par_iter().map(|(path, text)| (path, text, parse(path, text))).collect();
    let (mut findings, mut outranked) = (Vec::new(), Vec::new());
    // A copy is recognized when its original is there.
    let (copies, originals): (Vec<_>, Vec<_>) =
        parsed.into_iter().partition(|(path, ..)| side_file(path).is_some());
    for (path, text, parsed_file) in originals.into_iter().chain(copies) {
        let outranked_file = parsed_file.outranked_file(&palace, path, |_| true);
        if let Some(file) = outranked_file.map(str::to_owned) {
            remove_item_of_file(&mut palace, &file);
            findings.retain(|it: &Diagnostic| it.file != file);
            outranked.push(file);
        }
        findings.append(&mut insert_parsed_file(&mut palace, path, parsed_file, || text.clone()));
    }
    for (path, text) in outranked.iter().filter_map(|it| files.get_key_value(it)) {
        findings
            .append(&mut insert_parsed_file(&mut palace, path, parse(path, text), || text.clone()));
    }
    (palace, findings)
}

/// Parses the text of one file on its own. Times that name no zone are read in UTC.
pub fn parse_file(path: &str, text: &str) -> ParsedFile {
    parse_file_with_parser(FileParser::new(path), text)
}

/// Parses the text of one file of a palace with these settings.
pub fn parse_file_with_settings(path: &str, text: &str, settings: &Settings) -> ParsedFile {
    parse_file_with_parser(FileParser::new(path).with_settings(settings), text)
}

fn parse_file_with_parser(mut reader: FileParser<'_>, text: &str) -> ParsedFile {
    let path = reader.path();
    let palace_path = PalacePath::parse(path);
    if let Ok(palace_path) = &palace_path
        && *palace_path != PalacePath::Other
        && !merge_conflict::is_readable_despite_conflict(&mut reader, palace_path, text)
    {
        if *palace_path == PalacePath::Settings {
            settings::report_other_format_in_lines(&mut reader, text);
        }
        return ParsedFile { item: None, findings: reader.into_findings() };
    }
    let item = match palace_path {
        Ok(PalacePath::Settings) => {
            settings::parse_settings(&mut reader, text).map(ParsedItem::Settings)
        }
        Ok(PalacePath::Room(id)) => {
            room::parse_room(&mut reader, text).map(|it| ParsedItem::Room(id, it))
        }
        Ok(PalacePath::Scroll(room)) => {
            scroll::parse_scroll(&mut reader, path, text).map(|it| ParsedItem::Scroll(room, it))
        }
        Ok(PalacePath::Drawer(room)) => {
            Some(ParsedItem::Drawer(room, drawer::parse_drawer(&mut reader, path, text)))
        }
        Ok(PalacePath::Diary(folder)) => diary::parse_diary_entry(&mut reader, path, text)
            .map(|it| ParsedItem::DiaryEntry(folder, it)),
        Ok(PalacePath::Entity) => entity::parse_entity(&mut reader, text).map(ParsedItem::Entity),
        Ok(PalacePath::Genus) => genus::parse_genus(&mut reader, text).map(ParsedItem::Genus),
        Ok(PalacePath::Task) => work::parse_task(&mut reader, path, text).map(ParsedItem::Task),
        Ok(PalacePath::Process) => {
            work::parse_process(&mut reader, path, text).map(ParsedItem::Process)
        }
        Ok(PalacePath::Conflict) => {
            conflict::parse_conflict(&mut reader, text).map(|it| ParsedItem::Conflict(Box::new(it)))
        }
        Ok(PalacePath::Other) => parse_note(&reader, text),
        Err(finding) => return ParsedFile { item: None, findings: vec![finding] },
    };
    ParsedFile { item, findings: reader.into_findings() }
}

/// Parses a note; `None`: the file is none.
fn parse_note(reader: &FileParser<'_>, text: &str) -> Option<ParsedItem> {
    let (path, zone) = (reader.path(), reader.zone());
    let room = reader.note_folders().room_of_note(path)?;
    Some(ParsedItem::Drawer(room, drawer::parse_note(path, text, zone)))
}

/// Returns the other file that has the id or the name of the item in a text at `path`, in any room.
pub fn file_with_same_item(palace: &Palace, path: &str, text: &str) -> Option<String> {
    let parsed = parse_file(path, text);
    match &parsed.item {
        Some(ParsedItem::Room(id, room)) => {
            let is_same = |other: &RoomId, it: &Room| {
                other == id
                    || it.id.is_some() && it.id == room.id
                    || other.wing == id.wing && it.name == room.name
            };
            palace.rooms().find(|(other, it)| is_same(other, it)).map(|(other, _)| room_path(other))
        }
        Some(ParsedItem::Scroll(_, scroll)) => {
            let mut files = palace.scroll_files();
            files.find(|(_, it)| it.id == scroll.id).map(|(file, _)| file.to_owned())
        }
        Some(ParsedItem::Drawer(_, drawer)) => {
            let mut files =
                palace.drawers.rooms().flat_map(|it| palace.drawers.drawers_in_room(it));
            files.find(|(_, it)| it.id == drawer.id).map(|(file, _)| file.to_owned())
        }
        _ => parsed.conflicting_file(palace, path).map(str::to_owned),
    }
}

/// Replaces the item of a file by the newly parsed one, and returns the findings. If nothing could
/// be parsed, the previous item stays. `text` is called only if a position in it is needed.
pub fn insert_parsed_file(
    palace: &mut Palace,
    path: &str,
    parsed_file: ParsedFile,
    text: impl FnOnce() -> String,
) -> Vec<Diagnostic> {
    let ParsedFile { item, mut findings } = parsed_file;
    let conflict = item.and_then(|it| insert_item(palace, path, it));
    findings.extend(conflict.map(|it| with_conflict_position(it, &text())));
    findings
}

/// Returns the path at which a palace keeps the schema of a kind of file for editors.
pub fn schema_path(kind: FileKind) -> String {
    schema::schema_path(kind)
}

/// Updates the modeline of a file that is moved to `path`, so that it still points to the schema.
pub fn retarget_modeline(path: &str, text: &str) -> String {
    schema::retarget_modeline(path, text)
}

/// Writes a room in canonical form.
pub fn serialize_room(room: &Room) -> String {
    yaml::serialize_yaml(&room::room_to_yaml(room))
}

/// Parses the file of an entity on its own.
pub fn parse_entity_file(path: &str, text: &str) -> Option<Entity> {
    parse_discarding_findings(path, text, entity::parse_entity)
}

/// Writes a text on one line as a YAML scalar, in quotes if needed.
pub fn yaml_scalar(text: &str) -> String {
    yaml::one_line_scalar(text)
}

/// Writes a text as a TOML string.
pub fn toml_string(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}

/// Writes an entity in canonical form.
pub fn serialize_entity(entity: &Entity) -> String {
    yaml::serialize_yaml(&entity::entity_to_yaml(entity))
}

/// Writes a genus definition in canonical form.
pub fn serialize_genus(genus: &Genus) -> String {
    yaml::serialize_yaml(&genus::genus_to_yaml(genus))
}

/// Writes the file of a new room. Returns `None` if the text would not parse to the same room (a
/// key of 1,000 characters, a value nested too deeply).
pub fn new_room_text(path: &str, it: &Room) -> Option<String> {
    let text = schema::prepend_modeline(path, &serialize_room(it));
    (parse_discarding_findings(path, &text, room::parse_room).as_ref() == Some(it)).then_some(text)
}

/// Writes the file of a new entity; `None` as for [`new_room_text`].
pub fn new_entity_text(path: &str, it: &Entity) -> Option<String> {
    let text = schema::prepend_modeline(path, &serialize_entity(it));
    (parse_discarding_findings(path, &text, entity::parse_entity).as_ref() == Some(it))
        .then_some(text)
}

/// Writes a scroll.
pub fn serialize_scroll(scroll: &Scroll) -> String {
    scroll::serialize_scroll(scroll)
}

/// Writes a drawer.
pub fn serialize_drawer(drawer: &Drawer) -> String {
    drawer::serialize_drawer(drawer)
}

/// Writes a diary entry.
pub fn serialize_diary_entry(entry: &DiaryEntry) -> String {
    diary::serialize_diary_entry(entry)
}

/// Parses a `palace.toml` on its own.
pub fn parse_settings(text: &str) -> Option<Settings> {
    parse_discarding_findings(PalacePath::SETTINGS_FILE, text, settings::parse_settings)
}

/// Returns the finding about a `palace.toml` of a palace that this program neither reads nor
/// changes, because its files have another format.
pub fn find_other_format(settings: &str) -> Option<Diagnostic> {
    parse_file(PalacePath::SETTINGS_FILE, settings).first_finding(Code::FormatVersion)
}

/// Returns the first error in the text of a `palace.toml`.
pub fn find_settings_error(settings: &str) -> Option<Diagnostic> {
    parse_file(PalacePath::SETTINGS_FILE, settings).first_error()
}

/// Writes the `palace.toml` of a new palace.
pub fn serialize_settings(settings: &Settings) -> String {
    settings::serialize_settings(settings)
}

/// Writes a task in canonical form.
pub fn serialize_task(task: &Task) -> String {
    yaml::serialize_yaml(&work::task_to_yaml(task))
}

/// Writes a process in canonical form.
pub fn serialize_process(process: &Process) -> String {
    yaml::serialize_yaml(&work::process_to_yaml(process))
}

/// Parses the file of a conflict; `None` if it has an error.
pub fn parse_conflict(path: &str, text: &str) -> Option<Conflict> {
    match parse_file(path, text) {
        ParsedFile { item: Some(ParsedItem::Conflict(conflict)), findings }
            if findings.is_empty() =>
        {
            Some(*conflict)
        }
        _ => None,
    }
}

/// Writes a conflict in canonical form: the same text on every machine.
pub fn serialize_conflict(conflict: &Conflict) -> String {
    yaml::serialize_yaml(&conflict::conflict_to_yaml(conflict))
}

/// Writes the file of a new task; `None` as for [`new_room_text`].
pub fn new_task_text(path: &str, it: &Task) -> Option<String> {
    let text = schema::prepend_modeline(path, &serialize_task(it));
    (parse_task(path, &text, &TimeZone::UTC).as_ref() == Some(it)).then_some(text)
}

/// Writes the file of a new process; `None` as for [`new_room_text`].
pub fn new_process_text(path: &str, it: &Process) -> Option<String> {
    let text = schema::prepend_modeline(path, &serialize_process(it));
    (parse_process(path, &text, &TimeZone::UTC).as_ref() == Some(it)).then_some(text)
}

fn parse_task(path: &str, text: &str, zone: &TimeZone) -> Option<Task> {
    work::parse_task(&mut FileParser::new(path).in_zone(zone), path, text)
}

fn parse_process(path: &str, text: &str, zone: &TimeZone) -> Option<Process> {
    work::parse_process(&mut FileParser::new(path).in_zone(zone), path, text)
}

fn parse_discarding_findings<T>(
    path: &str,
    text: &str,
    read: impl Fn(&mut FileParser<'_>, &str) -> Option<T>,
) -> Option<T> {
    read(&mut FileParser::new(path), text)
}
