//! Changes the text of a file from one content to another, and keeps what its author wrote besides:
//! comments, order and layout.

use crate::format::file_parser::FileParser;
use crate::format::paths::PalacePath;
use crate::format::{
    drawer, entity, parse_discarding_findings, parse_process, parse_task, room, schema, settings,
    work, yaml,
};
use crate::model::{Drawer, Entity, Process, Room, Settings, Task, TimeZone};

/// Changes a drawer in its file, and keeps everything else as written; `None` if
/// that is impossible.
pub fn edit_drawer_text(
    path: &str,
    text: &str,
    was: &Drawer,
    now: &Drawer,
    zone: &TimeZone,
) -> Option<String> {
    let edited = drawer::edit_drawer(path, text, was, now, |matter, was, now| {
        edit_yaml_text(matter, was, now, |_| true)
    });
    let parse =
        |text: &str| drawer::parse_drawer(&mut FileParser::new(path).in_zone(zone), path, text);
    edited.filter(|it| parse(it) == *now)
}

/// Changes a room file from `was` to `now` and keeps the author's formatting and comments; `None`
/// if that is impossible.
pub fn edit_room_text(path: &str, text: &str, was: &Room, now: &Room) -> Option<String> {
    edit_yaml_text(text, &room::room_to_yaml(was), &room::room_to_yaml(now), |text| {
        parse_discarding_findings(path, text, room::parse_room).as_ref() == Some(now)
    })
}

/// Changes an entity file from `was` to `now`, as [`edit_room_text`] does.
pub fn edit_entity_text(path: &str, text: &str, was: &Entity, now: &Entity) -> Option<String> {
    edit_yaml_text(text, &entity::entity_to_yaml(was), &entity::entity_to_yaml(now), |text| {
        parse_discarding_findings(path, text, entity::parse_entity).as_ref() == Some(now)
    })
}

/// Changes a task file from `was` to `now`, as [`edit_room_text`] does.
pub fn edit_task_text(
    path: &str,
    text: &str,
    was: &Task,
    now: &Task,
    zone: &TimeZone,
) -> Option<String> {
    edit_yaml_text(text, &work::task_to_yaml(was), &work::task_to_yaml(now), |text| {
        parse_task(path, text, zone).as_ref() == Some(now)
    })
}

/// Changes a process file from `was` to `now`, as [`edit_room_text`] does.
pub fn edit_process_text(
    path: &str,
    text: &str,
    was: &Process,
    now: &Process,
    zone: &TimeZone,
) -> Option<String> {
    edit_yaml_text(text, &work::process_to_yaml(was), &work::process_to_yaml(now), |text| {
        parse_process(path, text, zone).as_ref() == Some(now)
    })
}

/// Changes the name and the entry room in a `palace.toml` and nothing else.
pub fn edit_settings_name_and_entry(text: &str, settings: &Settings) -> Option<String> {
    let entry = settings.entry.as_ref().map(ToString::to_string);
    let edited = settings::edit_name_and_entry(text, &settings.name, entry.as_deref())?;
    (parse_discarding_findings(PalacePath::SETTINGS_FILE, &edited, settings::parse_settings)
        .as_ref()
        == Some(settings))
    .then_some(edited)
}

/// Rewrites a canonical file; edits any other file: first its lists and texts, then its keys. If
/// the edited text does not parse as intended, rewrites the whole file with its comments; `None` if
/// that does not parse as intended either.
pub(super) fn edit_yaml_text(
    text: &str,
    was: &yaml::OutputNode,
    now: &yaml::OutputNode,
    is_meant: impl Fn(&str) -> bool,
) -> Option<String> {
    let (line, rest) = schema::split_modeline(text);
    if yaml::serialize_yaml(was) == rest {
        let fresh = format!("{line}{}", yaml::serialize_yaml(now));
        if is_meant(&fresh) {
            return Some(fresh);
        }
    }
    let (spliced, content) = yaml::splice_lists_and_texts(text, was, now);
    let edit = |text: &str, was| yaml::edit_yaml(text, was, now).filter(|it| is_meant(it));
    let rewrite = |text: &str, was| {
        let (line, rest) = schema::split_modeline(text);
        let rewritten = yaml::rewrite_edited_yaml(rest, was, now)?;
        Some(format!("{line}{rewritten}")).filter(|it| is_meant(it))
    };
    edit(&spliced, &content).or_else(|| rewrite(&spliced, &content)).or_else(|| rewrite(text, was))
}
