//! Between text and palace: the only module that knows how things are spelled.
//!
//! Reading never fails. It yields as much of a palace as could be understood,
//! and a [`Diagnostic`] for each thing that could not. Nothing here meets a disk.

mod diary;
mod drawer;
mod entity;
mod file_parser;
mod fix;
mod fmt;
mod front_matter;
mod genus;
mod merge_conflict;
mod parsed_file;
mod paths;
mod positions;
mod room;
mod schema;
mod scroll;
mod settings;
mod work;
mod yaml;

use rayon::prelude::*;

pub use fix::{Mended, Rooms, mend, right_path};
pub use fmt::{Tidied, tidy};
pub use merge_conflict::is_conflicted;
pub use parsed_file::Understood;
pub use paths::{
    Place, diary_file, drawer_file, drawer_room, entity_file, is_entity_file, room_file,
    scroll_file,
};
pub use positions::Spots;
pub use schema::{announced, introduced};

use crate::format::file_parser::Reader;
use crate::format::parsed_file::{Holding, at_its_place, hold};
use crate::model::{
    Diagnostic, Drawer, Entity, Entry, FileKind, Files, Genus, Palace, Process, Room, Scroll,
    Settings, Task,
};

/// Reads a palace from its files; `name` is what it is called if it does not say.
pub fn read(name: &str, files: &Files) -> (Palace, Vec<Diagnostic>) {
    let mut palace = Palace::new(Settings::named(name));
    let read: Vec<_> =
        files.par_iter().map(|(path, text)| (path, text, understand(path, text))).collect();
    let (mut findings, mut outranked) = (Vec::new(), Vec::new());
    for (path, text, understood) in read {
        if let Some(file) = understood.outranks(&palace, path).map(str::to_owned) {
            take(&mut palace, &file);
            findings.retain(|it: &Diagnostic| it.file != file);
            outranked.push(file);
        }
        findings.append(&mut put(&mut palace, path, understood, || text.clone()));
    }
    for (path, text) in outranked.iter().filter_map(|it| files.get_key_value(it)) {
        findings.append(&mut put(&mut palace, path, understand(path, text), || text.clone()));
    }
    (palace, findings)
}

/// Reads the text of one file, by itself.
pub fn understand(path: &str, text: &str) -> Understood {
    understood(Reader::new(path), text)
}

fn understood(mut reader: Reader<'_>, text: &str) -> Understood {
    let path = reader.path();
    let place = Place::of(path);
    if let Ok(place) = &place
        && *place != Place::Other
        && !merge_conflict::is_readable(&mut reader, place, text)
    {
        return Understood { holding: None, findings: reader.into_findings() };
    }
    let holding = match place {
        Ok(Place::Settings) => settings::read(&mut reader, text).map(Holding::Settings),
        Ok(Place::Room(id)) => room::read(&mut reader, text).map(|it| Holding::Room(id, it)),
        Ok(Place::Scroll(room)) => {
            scroll::read(&mut reader, path, text).map(|it| Holding::Scroll(room, it))
        }
        Ok(Place::Drawer(room)) => {
            drawer::read(&mut reader, path, text).map(|it| Holding::Drawer(room, it))
        }
        Ok(Place::Diary(folder)) => {
            diary::read(&mut reader, path, text).map(|it| Holding::Entry(folder, it))
        }
        Ok(Place::Entity) => entity::read(&mut reader, text).map(Holding::Entity),
        Ok(Place::Genus) => genus::read(&mut reader, text).map(Holding::Genus),
        Ok(Place::Task) => work::read_task(&mut reader, path, text).map(Holding::Task),
        Ok(Place::Process) => work::read_process(&mut reader, path, text).map(Holding::Process),
        Ok(Place::Other) => None,
        Err(finding) => return Understood { holding: None, findings: vec![finding] },
    };
    Understood { holding, findings: reader.into_findings() }
}

/// Puts what a file holds in place of what it held, and returns what is wrong
/// with it. A file of which nothing could be understood leaves what it held
/// standing. `text` is asked for if a place in it must be found.
pub fn put(
    palace: &mut Palace,
    path: &str,
    understood: Understood,
    text: impl FnOnce() -> String,
) -> Vec<Diagnostic> {
    let Understood { holding, mut findings } = understood;
    let rival = holding.and_then(|it| hold(palace, path, it));
    findings.extend(rival.map(|it| at_its_place(it, &text())));
    findings
}

/// Takes away what a file held that is gone.
pub fn take(palace: &mut Palace, path: &str) {
    match Place::of(path) {
        Ok(Place::Settings) => {
            let name = palace.settings.name.clone();
            palace.settings = Settings::named(&name);
        }
        Ok(Place::Room(id)) => palace.put_room(&id, None),
        Ok(Place::Scroll(_)) => palace.take_scroll(path),
        Ok(Place::Drawer(_)) => palace.drawers.take(path),
        Ok(Place::Diary(_)) => palace.diaries.take(path),
        Ok(Place::Entity) => drop(palace.graph.put(path, None)),
        Ok(Place::Genus) => drop(palace.graph.put_genus(path, None)),
        Ok(Place::Task) => drop(palace.tasks.remove(path)),
        Ok(Place::Process) => drop(palace.processes.remove(path)),
        Ok(Place::Other) | Err(_) => {}
    }
}

/// Writes the JSON Schema of a kind of file.
pub fn schema(kind: FileKind) -> String {
    schema::of(kind)
}

/// Returns where a palace keeps the schema of a kind of file for editors.
pub fn schema_file(kind: FileKind) -> String {
    schema::file(kind)
}

/// Tells whether a file is there for editors only: a schema of ours.
pub fn is_schema(path: &str) -> bool {
    schema_at(path).is_some()
}

fn schema_at(path: &str) -> Option<FileKind> {
    FileKind::ALL.into_iter().find(|kind| schema::file(*kind) == path)
}

/// Lets a file that is moved to `path` lead to its schema from there.
pub fn moved(path: &str, text: &str) -> String {
    schema::aimed(path, text)
}

/// Writes a room in canonical form.
pub fn write_room(room: &Room) -> String {
    yaml::write(&room::out(room))
}

/// Writes an entity in canonical form.
pub fn write_entity(entity: &Entity) -> String {
    yaml::write(&entity::out(entity))
}

/// Writes what is laid down for a genus in canonical form.
pub fn write_genus(genus: &Genus) -> String {
    yaml::write(&genus::out(genus))
}

/// Writes the file of a new room; `None`: it holds something that would not be
/// read as it was meant (a key of a thousand characters, a value nested too deep).
pub fn new_room(path: &str, it: &Room) -> Option<String> {
    let text = schema::with_modeline(path, &write_room(it));
    (read_as(path, &text, room::read).as_ref() == Some(it)).then_some(text)
}

/// Writes the file of a new entity; `None`: as for a room.
pub fn new_entity(path: &str, it: &Entity) -> Option<String> {
    let text = schema::with_modeline(path, &write_entity(it));
    (read_as(path, &text, entity::read).as_ref() == Some(it)).then_some(text)
}

/// Writes a scroll.
pub fn write_scroll(scroll: &Scroll) -> String {
    scroll::write(scroll)
}

/// Writes a drawer.
pub fn write_drawer(drawer: &Drawer) -> String {
    drawer::write(drawer)
}

/// Writes an entry of a diary.
pub fn write_entry(entry: &Entry) -> String {
    diary::write(entry)
}

/// Reads a `palace.toml` alone.
pub fn read_settings(text: &str) -> Option<Settings> {
    read_as(Place::SETTINGS, text, settings::read)
}

/// Writes the `palace.toml` of a new palace.
pub fn write_settings(settings: &Settings) -> String {
    settings::write(settings)
}

/// Changes a room file from one room to another, and leaves what a person
/// wrote there as it is; `None`: it cannot be done without disturbing it.
pub fn edit_room(path: &str, text: &str, was: &Room, now: &Room) -> Option<String> {
    edit(text, &room::out(was), &room::out(now), |text| {
        read_as(path, text, room::read).as_ref() == Some(now)
    })
}

/// Changes an entity file from one entity to another, and leaves what a person
/// wrote there as it is; `None`: it cannot be done without disturbing it.
pub fn edit_entity(path: &str, text: &str, was: &Entity, now: &Entity) -> Option<String> {
    edit(text, &entity::out(was), &entity::out(now), |text| {
        read_as(path, text, entity::read).as_ref() == Some(now)
    })
}

/// Writes a task in canonical form.
pub fn write_task(task: &Task) -> String {
    yaml::write(&work::task_out(task))
}

/// Writes a process in canonical form.
pub fn write_process(process: &Process) -> String {
    yaml::write(&work::process_out(process))
}

/// Writes the file of a new task; `None`: as for a room.
pub fn new_task(path: &str, it: &Task) -> Option<String> {
    let text = schema::with_modeline(path, &write_task(it));
    (read_task(path, &text).as_ref() == Some(it)).then_some(text)
}

/// Writes the file of a new process; `None`: as for a room.
pub fn new_process(path: &str, it: &Process) -> Option<String> {
    let text = schema::with_modeline(path, &write_process(it));
    (read_process(path, &text).as_ref() == Some(it)).then_some(text)
}

/// Changes a task file from one task to another, and leaves what a person wrote
/// there as it is; `None`: it cannot be done without disturbing it.
pub fn edit_task(path: &str, text: &str, was: &Task, now: &Task) -> Option<String> {
    edit(text, &work::task_out(was), &work::task_out(now), |text| {
        read_task(path, text).as_ref() == Some(now)
    })
}

/// Changes a process file from one process to another, and leaves what a person
/// wrote there as it is; `None`: it cannot be done without disturbing it.
pub fn edit_process(path: &str, text: &str, was: &Process, now: &Process) -> Option<String> {
    edit(text, &work::process_out(was), &work::process_out(now), |text| {
        read_process(path, text).as_ref() == Some(now)
    })
}

fn read_task(path: &str, text: &str) -> Option<Task> {
    read_as(path, text, |reader, text| work::read_task(reader, path, text))
}

fn read_process(path: &str, text: &str) -> Option<Process> {
    read_as(path, text, |reader, text| work::read_process(reader, path, text))
}

/// Changes the name and entry room in a `palace.toml` and nothing else.
pub fn edit_settings(text: &str, settings: &Settings) -> Option<String> {
    let entry = settings.entry.as_ref().map(ToString::to_string);
    let edited = settings::edit(text, &settings.name, entry.as_deref())?;
    (read_as(Place::SETTINGS, &edited, settings::read).as_ref() == Some(settings)).then_some(edited)
}

/// A file that is canonical is written anew; any other is edited, and believed
/// only if it then reads as what was meant.
fn edit(
    text: &str,
    was: &yaml::Out,
    now: &yaml::Out,
    is_meant: impl Fn(&str) -> bool,
) -> Option<String> {
    let (line, rest) = schema::parted(text);
    let fresh = (yaml::write(was) == rest).then(|| format!("{line}{}", yaml::write(now)));
    fresh.or_else(|| yaml::edit(text, was, now)).filter(|it| is_meant(it))
}

fn read_as<T>(
    path: &str,
    text: &str,
    read: impl Fn(&mut Reader<'_>, &str) -> Option<T>,
) -> Option<T> {
    read(&mut Reader::new(path), text)
}
