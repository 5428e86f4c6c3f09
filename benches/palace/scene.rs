//! A palace of any size, made in a second, and its twin for git.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::ground::Ground;

/// No folder holds more files than this.
const WING: usize = 100;
const GENERA: usize = 20;
/// How many commits lie behind each palace.
const PAST: usize = 1_000;

/// How much a palace holds.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) rooms: usize,
    pub(crate) entities: usize,
}

/// The same palace twice: one for Palazzo, one for git.
pub(crate) struct Scene {
    size: Size,
    ground: Ground,
}

/// What is done: its name, the tool, what the tool is told, the file it writes.
pub(crate) type Doing = (&'static str, &'static str, Value, String);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.rooms, self.entities)
    }
}

impl Scene {
    /// The action of the entry that leads to a room.
    pub(crate) const TO_NEXT: usize = 1;
    /// The action of the entry that leads to a room nobody has built, of whose
    /// subject one entity in ten knows something.
    pub(crate) const TO_UNFINISHED: usize = 2;
    /// A word that every entity holds.
    pub(crate) const IN_EVERY_ENTITY: &str = "catalogue";

    /// Builds both palaces.
    pub(crate) fn new(size: Size) -> Self {
        let scene = Self { size, ground: Ground::new() };
        let past = scene.past();
        for home in [scene.home(), scene.twin()] {
            fs::create_dir(&home).expect("it is new");
            scene.git(&home, &["init", "-q", "-b", "main"]);
            scene.import(&home, &past);
            scene.git(&home, &["reset", "-q", "--hard"]);
        }
        scene
    }

    /// Says how large it is.
    pub(crate) fn about(&self) -> String {
        let Size { rooms, entities } = self.size;
        format!("{rooms} rooms, {entities} entities, {} commits", PAST + 1)
    }

    /// Returns the command of a server that knows nothing but this home.
    pub(crate) fn palazzo(&self) -> Command {
        let mut command = self.ground.command(env!("CARGO_BIN_EXE_palazzo"));
        command.arg("serve").arg(self.home());
        command
    }

    /// Returns the edits of a round.
    pub(crate) fn edits(&self, round: usize) -> [Doing; 4] {
        let words = self.words(round + 1);
        let entry = room(0);
        let (new, old) = (format!("new/room-{round}"), room(round % self.size.rooms));
        let entity = round % self.size.entities;
        let scroll = json!({ "title": format!("On {words}"), "body": text(round), "room": entry });
        let build = json!({
            "slug": new, "name": format!("Room of {words}"), "description": text(round),
            "actions": [{ "label": "Go in", "type": "navigate", "room": entry }], "quiet": true,
        });
        let merge =
            json!({ "slug": old, "description": text(round + 7), "merge": true, "quiet": true });
        let update =
            json!({ "name": self.entity(entity), "add_observations": [format!("Seen {round}.")] });
        [
            ("write_scroll", "write_scroll", scroll, format!("scrolls/{entry}/")),
            ("build_room, new", "build_room", build, format!("rooms/{new}.yaml")),
            ("build_room, merge", "build_room", merge, format!("rooms/{old}.yaml")),
            ("update_entity", "update_entity", update, entity_file(entity)),
        ]
    }

    /// Makes the edit that Palazzo made in `file`, or in the newest file of a
    /// folder, in the twin as a person would.
    pub(crate) fn same_with_git(&self, file: &str) -> Duration {
        let path = format!("museum/{}", self.newest(file));
        let text = fs::read(self.home().join(&path)).expect("Palazzo wrote it");
        let (twin, place) = (self.twin(), self.twin().join(&path));
        let begun = Instant::now();
        fs::create_dir_all(place.parent().expect("it lies in a folder")).expect("there is room");
        fs::write(&place, text).expect("it can be written");
        self.git(&twin, &["add", &path]);
        self.git(&twin, &["commit", "-q", "-m", "the same"]);
        begun.elapsed()
    }

    /// Writes one small file durably, and nothing else.
    pub(crate) fn sync_one_file(&self, round: usize) -> Duration {
        let begun = Instant::now();
        let mut file =
            fs::File::create(self.ground.path().join("file")).expect("it can be written");
        file.write_all(text(round).as_bytes()).expect("it can be written");
        file.sync_all().expect("it can be synced");
        begun.elapsed()
    }

    /// Lets the disk finish what git left to it. Palazzo makes everything
    /// durable that waits, and would pay for git.
    #[cfg(target_os = "linux")]
    pub(crate) fn settle(&self) {
        let place = fs::File::open(self.ground.path()).expect("it is there");
        rustix::fs::syncfs(place).expect("it can be synced");
    }

    /// Elsewhere Palazzo makes durable what it wrote and nothing else.
    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unused_self, reason = "on Linux it says which file system")]
    pub(crate) fn settle(&self) {}

    /// Asserts that both palaces got the same edits, and that git has nothing to report.
    pub(crate) fn assert_twins(&self) {
        let [ours, theirs] = [self.home(), self.twin()].map(|it| self.files(&it));
        let differing: Vec<_> = ours.symmetric_difference(&theirs).collect();
        assert!(differing.is_empty(), "the twins differ: {differing:#?}");
        assert_eq!(self.git(&self.home(), &["status", "--porcelain"]), "");
    }

    /// Returns the name of an entity.
    pub(crate) fn entity(&self, number: usize) -> String {
        let number = number % self.size.entities;
        format!("{} {number}", title(&phrase(number, 2)))
    }

    /// Returns the name of a genus that has entities.
    pub(crate) fn genus(&self, number: usize) -> String {
        genus(number % self.size.entities)
    }

    /// Returns two words of which some entity holds both.
    pub(crate) fn words(&self, number: usize) -> String {
        phrase(number % self.size.entities, 2)
    }

    fn home(&self) -> PathBuf {
        self.ground.path().join("palazzo")
    }

    fn twin(&self) -> PathBuf {
        self.ground.path().join("git")
    }

    /// Lists the committed files of a palace with their ids. Palazzo adds schemas for editors with
    /// its first room, which git's own palace does not get.
    fn files(&self, home: &Path) -> BTreeSet<String> {
        let all = self.git(home, &["ls-tree", "-r", "HEAD"]);
        let is_edited = |it: &&str| !it.contains("\tmuseum/.palazzo/schema/");
        all.lines().filter(is_edited).map(str::to_owned).collect()
    }

    fn newest(&self, file: &str) -> String {
        if !file.ends_with('/') {
            return file.to_owned();
        }
        let names = fs::read_dir(self.home().join("museum").join(file)).expect("it is a folder");
        let names = names.map(|it| it.expect("it has a name").file_name());
        // Names of scrolls begin with the moment.
        format!("{file}{}", names.max().expect("it holds one").to_string_lossy())
    }

    /// Tells the whole past as `git fast-import` reads it: all files at once,
    /// then a thousand changes to rooms.
    fn past(&self) -> String {
        let Size { rooms, entities } = self.size;
        let mut past = commit(0);
        let settings = format!("name = \"Museum\"\nentry = \"{}\"\n", room(0));
        past += &file("palace.toml", &settings);
        for number in 0..rooms {
            past += &file(&format!("rooms/{}.yaml", room(number)), &self.room_text(number, 0));
        }
        for number in 0..entities {
            past += &file(&entity_file(number), &self.entity_text(number));
        }
        for change in 1..=PAST {
            let number = change % rooms;
            let text = self.room_text(number, change);
            past += &commit(change);
            past += &file(&format!("rooms/{}.yaml", room(number)), &text);
        }
        past
    }

    fn room_text(&self, number: usize, change: usize) -> String {
        let name = title(&phrase(number, 2));
        let (next, door) = (room((number + 1) % self.size.rooms), room(number / WING * WING));
        let unfinished = if number == 0 { "survey-hall".to_owned() } else { next.clone() };
        format!(
            "name: {name}\ndescription: |\n  The clock shows {change}.\n  {}\nactions:\n\
             - label: Go on\n  type: navigate\n  room: {next}\n\
             - label: Open the other door\n  type: navigate\n  room: {unfinished}\n\
             - label: Look at the cabinet\n  type: query\n  tool: list_entities\n  \
             tool_params: {{ genus: {} }}\n\
             - label: Read the card\n  type: text\n  content: |\n    {}\n\
             portals: [{door}]\n",
            text(number),
            self.genus(number),
            text(number + 1)
        )
    }

    fn entity_text(&self, number: usize) -> String {
        let survey = if number.is_multiple_of(10) { "survey" } else { "visit" };
        let first = self.entity(number % GENERA);
        format!(
            "name: {}\ngenus: {}\nstatus: {}\nobservations:\n\
             - Number {number} of the catalogue, from a {survey}.\n- {}\n- {}\n\
             relations:\n- {{ type: follows, to: {} }}\n- {{ type: part_of, to: {first} }}\n",
            self.entity(number),
            genus(number),
            ["open", "contested", "settled"][number % 3],
            text(number),
            text(number + 1),
            self.entity(number + 1),
        )
    }

    fn import(&self, home: &Path, past: &str) {
        let mut command = self.ground.command("git");
        let command = command.arg("-C").arg(home).args(["fast-import", "--quiet"]);
        let mut child = command.stdin(Stdio::piped()).spawn().expect("git is there");
        let mut input = child.stdin.take().expect("it listens");
        input.write_all(past.as_bytes()).expect("it listens");
        drop(input);
        assert!(child.wait().expect("it ends").success());
    }

    fn git(&self, home: &Path, arguments: &[&str]) -> String {
        let mut command = self.ground.command("git");
        let output = command.arg("-C").arg(home).args(arguments).output().expect("git is there");
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        String::from_utf8(output.stdout).expect("git says text")
    }
}

fn room(number: usize) -> String {
    format!("wing-{:02}/room-{number}", number / WING)
}

fn genus(number: usize) -> String {
    format!("Genus{:02}", number % GENERA)
}

fn entity_file(number: usize) -> String {
    format!("entities/genus{:02}/entity-{number}.yaml", number % GENERA)
}

fn commit(number: usize) -> String {
    let message = format!("change {number}");
    let at = 1_760_000_000 + number * 3_600;
    format!(
        "commit refs/heads/main\ncommitter Ada <ada@example.org> {at} +0000\ndata {}\n{message}\n",
        message.len()
    )
}

fn file(path: &str, text: &str) -> String {
    format!("M 100644 inline museum/{path}\ndata {}\n{text}\n", text.len())
}

/// Returns a sentence of sixteen words, always the same for the same number.
fn text(number: usize) -> String {
    title(&phrase(number, 16)) + "."
}

/// Returns words that nobody chose: of five hundred, some often and some seldom.
fn phrase(number: usize, words: usize) -> String {
    const SYLLABLES: [&str; 8] = ["ba", "ke", "lo", "mi", "nu", "ra", "so", "ti"];
    let mut state = number as u64 + 1;
    let mut any = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % 512
    };
    let mut phrase = String::new();
    for _ in 0..words {
        let mut word = any().min(any());
        phrase.push_str(if phrase.is_empty() { "" } else { " " });
        for _ in 0..3 {
            let syllable = SYLLABLES.iter().zip(0..).find(|(_, it)| *it == word % 8);
            phrase.extend(syllable.map(|(it, _)| *it));
            word /= 8;
        }
    }
    phrase
}

fn title(phrase: &str) -> String {
    phrase[..1].to_uppercase() + &phrase[1..]
}
