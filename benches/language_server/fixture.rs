//! A large palace.

use std::fmt::{self, Display, Formatter};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::BenchDir;

/// The number of doors of a room.
pub(crate) const DOORS: usize = 60;

/// The number of things in the palace.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    rooms: usize,
    scrolls: usize,
    entities: usize,
    /// The number of entities with a relation to the first one.
    mentions: usize,
}

/// A palace on the disk.
pub(crate) struct Fixture {
    dir: BenchDir,
    size: Size,
}

impl Size {
    /// The palace of reference.
    pub(crate) const REFERENCE: Self =
        Self { rooms: 1_000, scrolls: 10_000, entities: 100_000, mentions: 1_000 };
    /// A palace to see that everything works.
    pub(crate) const SMALL: Self = Self { rooms: 20, scrolls: 20, entities: 100, mentions: 10 };
}

impl Display for Size {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { rooms, scrolls, entities, .. } = self;
        write!(f, "{rooms} rooms, {scrolls} scrolls, {entities} entities")
    }
}

impl Fixture {
    pub(crate) fn create(size: Size) -> Self {
        let fixture = Self { dir: BenchDir::new(), size };
        fixture.write("palace.toml", "format = 1\nname = \"Museum\"\nentry = \"w0/r0\"\n");
        for number in 0..size.rooms {
            fixture.write(&room_path(number), &fixture.room_text(number));
        }
        for number in 0..size.scrolls {
            let room = number % size.rooms;
            let path = format!("scrolls/w{}/r{room}/{}-note.md", room / 100, ulid(2, number));
            fixture.write(&path, &format!("---\ntitle: Note {number}\n---\n\nRain again.\n"));
        }
        for number in 0..size.entities {
            fixture.write(&entity_path(number), &fixture.entity_text(number));
        }
        fixture
    }

    /// Returns the folder of the palace.
    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().join("museum")
    }

    /// Returns the command of the language server.
    pub(crate) fn palazzo(&self) -> Command {
        let mut command = self.dir.isolated_command(env!("CARGO_BIN_EXE_palazzo"));
        command.arg("lsp");
        command
    }

    /// Returns a command that ignores the settings of the machine.
    pub(crate) fn command(&self, program: &Path) -> Command {
        self.dir.isolated_command(&program.to_string_lossy())
    }

    /// Returns the number of entities that name the first one.
    pub(crate) fn mentions(&self) -> usize {
        self.size.mentions
    }

    pub(crate) fn room_file(&self, number: usize) -> PathBuf {
        self.root().join(room_path(number))
    }

    /// Returns the text of a room of about 200 lines.
    pub(crate) fn room_text(&self, number: usize) -> String {
        let mut text = format!(
            "id: {}\nname: Room {number}\ndescription: |\n  Shelves up to the ceiling.\nactions:\n",
            ulid(1, number)
        );
        for door in 1..=DOORS {
            let to = (number + door) % self.size.rooms;
            text.push_str(&format!(
                "  - label: Door {door}\n    type: navigate\n    room: w{}/r{to}\n",
                to / 100
            ));
        }
        text
    }

    pub(crate) fn entity_file(&self, number: usize) -> PathBuf {
        self.root().join(entity_path(number))
    }

    /// Returns the text of an entity.
    pub(crate) fn entity_text(&self, number: usize) -> String {
        let to = if number <= self.size.mentions { 0 } else { number / 2 };
        format!(
            "id: {}\nname: Finding {number}\ngenus: Kind {}\nobservations:\n  - Seen on day {number}.\n\
             relations:\n  - type: near\n    to: Finding {to}\n",
            ulid(3, number),
            number % 100
        )
    }

    /// Returns line and column of the room that a door, from 1 to [`DOORS`], of a room leads to.
    pub(crate) fn place_of_door(&self, number: usize, door: usize) -> (usize, usize) {
        let text = self.room_text(number);
        let label = format!("Door {door}\n");
        let start = text.find(&label).expect("the room has the door");
        let (line, column) = place_of(&text[start..], "room: w", 9);
        (text[..start].matches('\n').count() + line, column)
    }

    /// Returns line and column of the target in the relation of an entity.
    pub(crate) fn place_of_relation(&self, number: usize) -> (usize, usize) {
        place_of(&self.entity_text(number), "to: Finding", 9)
    }

    fn write(&self, path: &str, text: &str) {
        let file = self.root().join(path);
        fs::create_dir_all(file.parent().expect("every file is in a folder")).expect("writable");
        fs::write(file, text).expect("the folder is writable");
    }
}

fn room_path(number: usize) -> String {
    format!("rooms/w{}/r{number}.yaml", number / 100)
}

fn entity_path(number: usize) -> String {
    format!("entities/kind-{}/{}/finding-{number}.yaml", number % 100, number % 7)
}

/// Returns a different id for each kind and number.
fn ulid(kind: usize, number: usize) -> String {
    format!("01KR00{kind:04}{number:016}")
}

fn place_of(text: &str, wanted: &str, offset: usize) -> (usize, usize) {
    let at = text.find(wanted).expect("the text has it") + offset;
    let line = text[..at].matches('\n').count();
    (line, text[..at].rsplit('\n').next().map_or(0, str::len))
}
