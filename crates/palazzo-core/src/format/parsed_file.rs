//! The item of one file, and conflicts between files that define the same item.

use crate::format::{PalacePath, ValuePositions, is_standard_entity_path};
use crate::model::{
    Code, Conflict, Diagnostic, DiaryEntry, Drawer, Entity, Genus, Palace, Process, Room, RoomId,
    Scroll, ScrollId, Settings, Severity, SideFile, Slug, Task, ValuePath, quoted,
    quoted_unless_plain, side_file,
};

/// The result of parsing one file, before it is inserted into a palace.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedFile {
    pub(crate) item: Option<ParsedItem>,
    /// The faults of the file.
    pub findings: Vec<Diagnostic>,
}

/// The item of one file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ParsedItem {
    Settings(Settings),
    Room(RoomId, Room),
    Scroll(RoomId, Scroll),
    Drawer(RoomId, Drawer),
    DiaryEntry(Slug, DiaryEntry),
    Entity(Entity),
    Genus(Genus),
    Task(Task),
    Process(Process),
    Conflict(Box<Conflict>),
}

/// Makes a parsed file without findings.
impl From<Entity> for ParsedFile {
    fn from(entity: Entity) -> Self {
        Self { item: Some(ParsedItem::Entity(entity)), findings: Vec::new() }
    }
}

impl ParsedFile {
    /// Returns whether the file can be accepted: it has no error, and no other file of `palace`
    /// defines the same item.
    pub fn is_valid_and_unique_in(&self, palace: &Palace, path: &str) -> bool {
        let is_free = self.conflicting_file(palace, path).is_none();
        is_free && !self.has_errors()
    }

    /// Returns whether these are the settings of a palace of another format than this program reads.
    pub fn has_other_format(&self) -> bool {
        self.findings.iter().any(|it| it.code == Code::FormatVersion)
    }

    /// Returns the other file that defines the same item, if this one takes precedence. The result
    /// does not depend on the order in which files are read: a committed file wins, then one whose
    /// name is not that of a copy, then the one that is named after its entity, else the first by
    /// name.
    pub fn outranked_file<'p>(
        &self,
        palace: &'p Palace,
        path: &str,
        is_committed: impl Fn(&str) -> bool,
    ) -> Option<&'p str> {
        let entity = match &self.item {
            Some(ParsedItem::Entity(it)) => Some(it),
            _ => None,
        };
        // Each file is ranked by its own entity, because the two may disagree about the genus.
        let rank = |file, says: Option<&Entity>| {
            let is_standard = says.is_some_and(|it| is_standard_entity_path(file, it));
            (!is_committed(file), side_file(file).is_some(), !is_standard, file)
        };
        let holder = self.conflicting_file(palace, path)?;
        // A file without a name or an id of its own is that of its path.
        if original_in_palace(palace, path).is_some() {
            return None;
        }
        let is_first = rank(path, entity) < rank(holder, palace.graph.entity_in_file(holder));
        is_first.then_some(holder)
    }

    /// Returns the other file that defines the same item.
    pub(crate) fn conflicting_file<'p>(&self, palace: &'p Palace, path: &str) -> Option<&'p str> {
        let holder = match self.item.as_ref()? {
            ParsedItem::Entity(it) if it.is_defined => palace.graph.file_of_entity(&it.name),
            ParsedItem::Entity(it) => palace.graph.file_of_loose_end(&it.name),
            ParsedItem::Genus(it) => palace.graph.file_of_genus_definition(&it.name),
            ParsedItem::Scroll(room, it) => {
                let which = ScrollId { room: room.clone(), id: it.id };
                // The lookup of the other file is slow, so check first that there is one.
                let is_taken = palace.scroll_in_file(path) != Some(&which);
                (is_taken && palace.scroll(&which).is_some())
                    .then(|| palace.file_of_scroll(&which))
                    .flatten()
            }
            _ => None,
        };
        holder.filter(|it| *it != path).or_else(|| original_in_palace(palace, path))
    }

    /// Returns the first finding with a code.
    pub fn first_finding(&self, code: Code) -> Option<Diagnostic> {
        self.findings.iter().find(|it| it.code == code).cloned()
    }

    /// Returns the first error.
    pub fn first_error(&self) -> Option<Diagnostic> {
        self.findings.iter().find(|it| it.severity() == Severity::Error).cloned()
    }

    /// Returns whether the file has an error.
    pub fn has_errors(&self) -> bool {
        self.findings.iter().any(|it| it.severity() == Severity::Error)
    }

    /// Returns whether nothing could be parsed, so that the previous item stays.
    pub fn has_no_item(&self) -> bool {
        self.item.is_none()
    }
}

/// Inserts the item of a file into the palace; returns a finding if another file already defines
/// it, or if it is a copy of one that is there.
pub(crate) fn insert_item(palace: &mut Palace, path: &str, item: ParsedItem) -> Option<Diagnostic> {
    if let Some(original) = original_in_palace(palace, path).map(str::to_owned) {
        remove_item_of_file(palace, path);
        return Some(copy_finding(Code::IdTaken, path, &original));
    }
    match item {
        ParsedItem::Settings(settings) => palace.set_settings(settings),
        ParsedItem::Room(id, room) => palace.set_room(&id, Some(room)),
        ParsedItem::Scroll(room, scroll) => {
            return palace
                .insert_scroll(path, &room, scroll)
                .err()
                .map(|it| scroll_id_taken_finding(path, &it));
        }
        ParsedItem::Drawer(room, drawer) => palace.drawers.insert(path, &room, drawer),
        ParsedItem::DiaryEntry(folder, entry) => palace.diaries.insert(path, &folder, entry),
        ParsedItem::Entity(entity) => {
            let name = entity.name.clone();
            return palace
                .graph
                .set_file_entity(path, Some(entity))
                .err()
                .map(|it| name_taken_finding(path, &name, &it));
        }
        ParsedItem::Genus(genus) => {
            let name = genus.name.clone();
            let put = palace.graph.set_genus_in_file(path, Some(genus));
            return put.err().map(|it| name_taken_finding(path, &name, &it));
        }
        ParsedItem::Task(task) => drop(palace.tasks.insert(path.to_owned(), task)),
        ParsedItem::Process(process) => drop(palace.processes.insert(path.to_owned(), process)),
        ParsedItem::Conflict(it) => drop(palace.conflicts.insert(path.to_owned(), *it)),
    }
    None
}

/// Removes the item of a deleted file.
pub fn remove_item_of_file(palace: &mut Palace, path: &str) {
    match PalacePath::parse(path) {
        Ok(PalacePath::Settings) => {
            let name = palace.settings.name.clone();
            palace.set_settings(Settings::with_name(&name));
        }
        Ok(PalacePath::Room(id)) => palace.set_room(&id, None),
        Ok(PalacePath::Scroll(_)) => palace.remove_scroll(path),
        // Other files may be notes.
        Ok(PalacePath::Drawer(_) | PalacePath::Other) => palace.drawers.remove(path),
        Ok(PalacePath::Diary(_)) => palace.diaries.remove(path),
        Ok(PalacePath::Entity) => drop(palace.graph.set_file_entity(path, None)),
        Ok(PalacePath::Genus) => drop(palace.graph.set_genus_in_file(path, None)),
        Ok(PalacePath::Task) => drop(palace.tasks.remove(path)),
        Ok(PalacePath::Process) => drop(palace.processes.remove(path)),
        Ok(PalacePath::Conflict) => drop(palace.conflicts.remove(path)),
        Err(_) => {}
    }
}

/// Sets the position of a conflict finding to the `id` or the `name` of the file.
pub(crate) fn with_conflict_position(mut finding: Diagnostic, text: &str) -> Diagnostic {
    let key = if finding.code == Code::IdTaken { "id" } else { "name" };
    finding.at =
        ValuePositions::parse(&finding.file, text).position_of(&ValuePath::ROOT.then_value(key));
    finding
}

/// Returns the file of which the one at `path` is a copy by its name, if the palace has its item:
/// of files whose item is known by its path. Others are compared by their names and ids.
fn original_in_palace<'p>(palace: &'p Palace, path: &str) -> Option<&'p str> {
    let Some(SideFile::CopyOf(original)) = side_file(path) else { return None };
    match PalacePath::parse(path).ok()? {
        PalacePath::Task => Some(palace.tasks.get_key_value(&original)?.0),
        PalacePath::Process => Some(palace.processes.get_key_value(&original)?.0),
        PalacePath::Drawer(_) => palace.drawers.known_file(&original),
        PalacePath::Diary(_) => palace.diaries.known_file(&original),
        _ => None,
    }
}

/// Reports a copy of a file that the palace has.
fn copy_finding(code: Code, path: &str, original: &str) -> Diagnostic {
    let original = quoted_unless_plain(original);
    let message = format!("this is a copy of {original} by its name, and is not read");
    let hint = format!("move what is missing into {original}, and delete this file");
    Diagnostic::for_file(code, path, message).with_hint(hint)
}

fn is_copy(path: &str) -> bool {
    matches!(side_file(path), Some(SideFile::CopyOf(_)))
}

fn scroll_id_taken_finding(path: &str, holder: &str) -> Diagnostic {
    if is_copy(path) {
        return copy_finding(Code::IdTaken, path, holder);
    }
    let message =
        format!("{} is a scroll of this room with the same id", quoted_unless_plain(holder));
    let finding = Diagnostic::for_file(Code::IdTaken, path, message);
    finding.with_hint("remove the id from the file name and front matter of the newer one")
}

fn name_taken_finding(path: &str, name: &str, holder: &str) -> Diagnostic {
    if is_copy(path) {
        return copy_finding(Code::NameTaken, path, holder);
    }
    let message =
        format!("the name {} is already used in {}", quoted(name), quoted_unless_plain(holder));
    let finding = Diagnostic::for_file(Code::NameTaken, path, message);
    finding.with_hint("give it another name, or merge the two files")
}
