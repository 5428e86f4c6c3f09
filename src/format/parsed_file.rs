//! What one file holds, and who keeps it where two hold the same.

use crate::format::{Spots, is_entity_file};
use crate::model::{
    Code, Diagnostic, Drawer, Entity, Entry, Genus, Palace, Process, Room, RoomId, Scroll,
    ScrollId, Settings, Severity, Slug, Task, Trail,
};

/// What was understood of one file, before it is put into a palace.
#[derive(Clone, Debug, PartialEq)]
pub struct Understood {
    pub(crate) holding: Option<Holding>,
    pub(crate) findings: Vec<Diagnostic>,
}

/// What one file holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Holding {
    Settings(Settings),
    Room(RoomId, Room),
    Scroll(RoomId, Scroll),
    Drawer(RoomId, Drawer),
    Entry(Slug, Entry),
    Entity(Entity),
    Genus(Genus),
    Task(Task),
    Process(Process),
}

/// An entity whose file is faultless.
impl From<Entity> for Understood {
    fn from(entity: Entity) -> Self {
        Self { holding: Some(Holding::Entity(entity)), findings: Vec::new() }
    }
}

impl Understood {
    /// Tells whether the file can be taken as it is: without an error, and
    /// without claiming what another file of `palace` holds.
    pub fn fits(&self, palace: &Palace, path: &str) -> bool {
        let is_free = self.holder(palace, path).is_none();
        is_free && self.findings.iter().all(|it| it.severity() != Severity::Error)
    }

    /// Returns the file that must give up to this one what both claim: whoever reads
    /// them, and in whatever order, hears the same of the two. The one that is named
    /// for its entity goes before others, and of others the first by name.
    pub fn outranks<'p>(&self, palace: &'p Palace, path: &str) -> Option<&'p str> {
        let claimed = match &self.holding {
            Some(Holding::Entity(it)) => Some(it),
            _ => None,
        };
        // Each by what it says itself: the two may disagree about the genus.
        let rank =
            |file, says: Option<&Entity>| (!says.is_some_and(|it| is_entity_file(file, it)), file);
        let holder = self.holder(palace, path)?;
        let is_first = rank(path, claimed) < rank(holder, palace.graph.in_file(holder));
        is_first.then_some(holder)
    }

    /// Returns the other file that holds what this one claims.
    fn holder<'p>(&self, palace: &'p Palace, path: &str) -> Option<&'p str> {
        let holder = match self.holding.as_ref()? {
            Holding::Entity(it) if it.is_defined => palace.graph.file_of(&it.name),
            Holding::Entity(it) => palace.graph.file_of_loose_end(&it.name),
            Holding::Genus(it) => palace.graph.file_of_genus(&it.name),
            Holding::Scroll(room, it) => {
                let which = ScrollId { room: room.clone(), id: it.id };
                // Only where there are two it is worth to look who the other is.
                let is_taken = palace.scroll_in_file(path) != Some(&which);
                (is_taken && palace.scroll(&which).is_some())
                    .then(|| palace.file_of_scroll(&which))
                    .flatten()
            }
            _ => None,
        };
        holder.filter(|it| *it != path)
    }

    /// Tells whether nothing at all could be understood of the file, so that
    /// what it held before stands.
    pub fn is_nothing(&self) -> bool {
        self.holding.is_none()
    }
}

/// Puts what a file holds into the palace; a finding if another file holds the
/// same already.
pub(crate) fn hold(palace: &mut Palace, path: &str, holding: Holding) -> Option<Diagnostic> {
    match holding {
        Holding::Settings(settings) => palace.settings = settings,
        Holding::Room(id, room) => palace.put_room(&id, Some(room)),
        Holding::Scroll(room, scroll) => {
            return palace.put_scroll(path, &room, scroll).err().map(|it| copied(path, &it));
        }
        Holding::Drawer(room, drawer) => palace.drawers.put(path, &room, drawer),
        Holding::Entry(folder, entry) => palace.diaries.put(path, &folder, entry),
        Holding::Entity(entity) => {
            let name = entity.name.clone();
            return palace.graph.put(path, Some(entity)).err().map(|it| taken(path, &name, &it));
        }
        Holding::Genus(genus) => {
            let name = genus.name.clone();
            let put = palace.graph.put_genus(path, Some(genus));
            return put.err().map(|it| taken(path, &name, &it));
        }
        Holding::Task(task) => drop(palace.tasks.insert(path.to_owned(), task)),
        Holding::Process(process) => drop(palace.processes.insert(path.to_owned(), process)),
    }
    None
}

/// Finds the place of a finding about what a file says its thing is called.
pub(crate) fn at_its_place(mut finding: Diagnostic, text: &str) -> Diagnostic {
    let key = if finding.code == Code::IdTaken { "id" } else { "name" };
    finding.at = Spots::of(&finding.file, text).find(&Trail::TOP.value(key));
    finding
}

fn copied(path: &str, holder: &str) -> Diagnostic {
    let message = format!("{holder} is a scroll of this room with the same id");
    let finding = Diagnostic::of_file(Code::IdTaken, path, message);
    finding.with_hint("take the id out of the younger one's name and front matter")
}

fn taken(path: &str, name: &str, holder: &str) -> Diagnostic {
    let message = format!("`{}` is in {holder} already", name.escape_debug());
    let finding = Diagnostic::of_file(Code::NameTaken, path, message);
    finding.with_hint("give it another name, or join the two files")
}
