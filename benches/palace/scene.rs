//! A generated palace of any size, and its copy for git.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::ground::BenchDir;

/// Maximum number of files per folder.
const ROOMS_PER_WING: usize = 100;
const GENERA: usize = 20;
/// How many commits each palace has.
const COMMIT_COUNT: usize = 1_000;

/// The size of a palace.
#[derive(Clone, Copy)]
pub(crate) struct PalaceSize {
    pub(crate) rooms: usize,
    pub(crate) entities: usize,
}

/// The same palace twice: one for Palazzo, one for git.
pub(crate) struct TwinPalaces {
    size: PalaceSize,
    dir: BenchDir,
}

/// An edit: its name, the tool, its arguments, and the file it writes.
pub(crate) type BenchEdit = (&'static str, &'static str, Value, String);

impl fmt::Display for PalaceSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.rooms, self.entities)
    }
}

impl TwinPalaces {
    /// The action of the entry that leads to a room.
    pub(crate) const TO_NEXT: usize = 1;
    /// The action of the entry that leads to a room that does not exist; one entity in
    /// ten mentions its subject.
    pub(crate) const TO_UNFINISHED: usize = 2;
    /// A word that every entity contains.
    pub(crate) const IN_EVERY_ENTITY: &str = "catalogue";

    /// Builds both palaces.
    pub(crate) fn new(size: PalaceSize) -> Self {
        let scene = Self { size, dir: BenchDir::new() };
        let past = scene.fast_import_stream();
        for home in [scene.home(), scene.twin_home()] {
            fs::create_dir(&home).expect("it is new");
            scene.run_git(&home, &["init", "-q", "-b", "main"]);
            scene.fast_import(&home, &past);
            scene.run_git(&home, &["reset", "-q", "--hard"]);
        }
        scene
    }

    /// Describes the size of the palace.
    pub(crate) fn describe_size(&self) -> String {
        let PalaceSize { rooms, entities } = self.size;
        format!("{rooms} rooms, {entities} entities, {} commits", COMMIT_COUNT + 1)
    }

    /// Returns the command of a server that uses only this home.
    pub(crate) fn serve_command(&self) -> Command {
        let mut command = self.dir.isolated_command(env!("CARGO_BIN_EXE_palazzo"));
        command.arg("serve").arg(self.home());
        command
    }

    /// Returns the edits of a round.
    pub(crate) fn edits_for_round(&self, round: usize) -> [BenchEdit; 4] {
        let words = self.search_words(round + 1);
        let entry = room_slug(0);
        let (new, old) = (format!("new/room-{round}"), room_slug(round % self.size.rooms));
        let entity = round % self.size.entities;
        let scroll = json!({ "title": format!("On {words}"), "body": generate_sentence(round), "room": entry });
        let build = json!({
            "slug": new, "name": format!("Room of {words}"), "description": generate_sentence(round),
            "actions": [{ "label": "Go in", "type": "navigate", "room": entry }], "quiet": true,
        });
        let merge = json!({ "slug": old, "description": generate_sentence(round + 7), "merge": true, "quiet": true });
        let update = json!({ "name": self.entity_name(entity), "add_observations": [format!("Seen {round}.")] });
        [
            ("write_scroll", "write_scroll", scroll, format!("scrolls/{entry}/")),
            ("build_room, new", "build_room", build, format!("rooms/{new}.yaml")),
            ("build_room, merge", "build_room", merge, format!("rooms/{old}.yaml")),
            ("update_entity", "update_entity", update, entity_path(entity)),
        ]
    }

    /// Repeats Palazzo's edit of `file`, or of the newest file in a folder, in git's
    /// copy, as a person would.
    pub(crate) fn repeat_edit_with_git(&self, file: &str) -> Duration {
        let path = format!("museum/{}", self.newest_file(file));
        let text = fs::read(self.home().join(&path)).expect("Palazzo wrote it");
        let (twin, place) = (self.twin_home(), self.twin_home().join(&path));
        let begun = Instant::now();
        fs::create_dir_all(place.parent().expect("it lies in a folder")).expect("there is room");
        fs::write(&place, text).expect("it can be written");
        self.run_git(&twin, &["add", &path]);
        self.run_git(&twin, &["commit", "-q", "-m", "the same"]);
        begun.elapsed()
    }

    /// Writes and syncs one small file: the cost of the disk itself.
    pub(crate) fn sync_one_file(&self, round: usize) -> Duration {
        let begun = Instant::now();
        let mut file = fs::File::create(self.dir.path().join("file")).expect("it can be written");
        file.write_all(generate_sentence(round).as_bytes()).expect("it can be written");
        file.sync_all().expect("it can be synced");
        begun.elapsed()
    }

    /// Waits until the disk has written git's data. Palazzo's syncs would otherwise
    /// include it.
    #[cfg(target_os = "linux")]
    pub(crate) fn flush_disk(&self) {
        let place = fs::File::open(self.dir.path()).expect("it exists");
        rustix::fs::syncfs(place).expect("it can be synced");
    }

    /// On other systems a sync of Palazzo covers only its own data.
    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unused_self, reason = "on Linux it selects the file system")]
    pub(crate) fn flush_disk(&self) {}

    /// Asserts that both palaces got the same edits, and that git has nothing to report.
    pub(crate) fn assert_same_files(&self) {
        let [ours, theirs] = [self.home(), self.twin_home()].map(|it| self.committed_files(&it));
        let differing: Vec<_> = ours.symmetric_difference(&theirs).collect();
        assert!(differing.is_empty(), "the twins differ: {differing:#?}");
        assert_eq!(self.run_git(&self.home(), &["status", "--porcelain"]), "");
    }

    /// Returns the name of an entity.
    pub(crate) fn entity_name(&self, number: usize) -> String {
        let number = number % self.size.entities;
        format!("{} {number}", capitalize(&generate_phrase(number, 2)))
    }

    /// Returns the name of a genus that has entities.
    pub(crate) fn genus_with_entities(&self, number: usize) -> String {
        genus_name(number % self.size.entities)
    }

    /// Returns two words that occur together in some entity.
    pub(crate) fn search_words(&self, number: usize) -> String {
        generate_phrase(number % self.size.entities, 2)
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join("palazzo")
    }

    fn twin_home(&self) -> PathBuf {
        self.dir.path().join("git")
    }

    /// Lists the committed files of a palace with their ids. Palazzo adds schemas for
    /// editors with its first room, which git's copy does not get.
    fn committed_files(&self, home: &Path) -> BTreeSet<String> {
        let all = self.run_git(home, &["ls-tree", "-r", "HEAD"]);
        let is_edited = |it: &&str| !it.contains("\tmuseum/.palazzo/schema/");
        all.lines().filter(is_edited).map(str::to_owned).collect()
    }

    fn newest_file(&self, file: &str) -> String {
        if !file.ends_with('/') {
            return file.to_owned();
        }
        let names = fs::read_dir(self.home().join("museum").join(file)).expect("it is a folder");
        let names = names.map(|it| it.expect("it has a name").file_name());
        // Names of scrolls begin with the time.
        format!("{file}{}", names.max().expect("it holds one").to_string_lossy())
    }

    /// Renders the whole history as input for `git fast-import`: all files at once,
    /// then a thousand changes to rooms.
    fn fast_import_stream(&self) -> String {
        let PalaceSize { rooms, entities } = self.size;
        let mut past = commit_header(0);
        let settings = format!("name = \"Museum\"\nentry = \"{}\"\n", room_slug(0));
        past += &file_entry("palace.toml", &settings);
        for number in 0..rooms {
            past += &file_entry(
                &format!("rooms/{}.yaml", room_slug(number)),
                &self.room_yaml(number, 0),
            );
        }
        for number in 0..entities {
            past += &file_entry(&entity_path(number), &self.entity_yaml(number));
        }
        for change in 1..=COMMIT_COUNT {
            let number = change % rooms;
            let text = self.room_yaml(number, change);
            past += &commit_header(change);
            past += &file_entry(&format!("rooms/{}.yaml", room_slug(number)), &text);
        }
        past
    }

    fn room_yaml(&self, number: usize, change: usize) -> String {
        let name = capitalize(&generate_phrase(number, 2));
        let (next, door) = (
            room_slug((number + 1) % self.size.rooms),
            room_slug(number / ROOMS_PER_WING * ROOMS_PER_WING),
        );
        let unfinished = if number == 0 { "survey-hall".to_owned() } else { next.clone() };
        format!(
            "name: {name}\ndescription: |\n  The clock shows {change}.\n  {}\nactions:\n\
             - label: Go on\n  type: navigate\n  room: {next}\n\
             - label: Open the other door\n  type: navigate\n  room: {unfinished}\n\
             - label: Look at the cabinet\n  type: query\n  tool: list_entities\n  \
             tool_params: {{ genus: {} }}\n\
             - label: Read the card\n  type: text\n  content: |\n    {}\n\
             portals: [{door}]\n",
            generate_sentence(number),
            self.genus_with_entities(number),
            generate_sentence(number + 1)
        )
    }

    fn entity_yaml(&self, number: usize) -> String {
        let survey = if number.is_multiple_of(10) { "survey" } else { "visit" };
        let first = self.entity_name(number % GENERA);
        format!(
            "name: {}\ngenus: {}\nstatus: {}\nobservations:\n\
             - Number {number} of the catalogue, from a {survey}.\n- {}\n- {}\n\
             relations:\n- {{ type: follows, to: {} }}\n- {{ type: part_of, to: {first} }}\n",
            self.entity_name(number),
            genus_name(number),
            ["open", "contested", "settled"][number % 3],
            generate_sentence(number),
            generate_sentence(number + 1),
            self.entity_name(number + 1),
        )
    }

    fn fast_import(&self, home: &Path, past: &str) {
        let mut command = self.dir.isolated_command("git");
        let command = command.arg("-C").arg(home).args(["fast-import", "--quiet"]);
        let mut child = command.stdin(Stdio::piped()).spawn().expect("git is installed");
        let mut input = child.stdin.take().expect("the pipe is open");
        input.write_all(past.as_bytes()).expect("the pipe is open");
        drop(input);
        assert!(child.wait().expect("it ends").success());
    }

    fn run_git(&self, home: &Path, arguments: &[&str]) -> String {
        let mut command = self.dir.isolated_command("git");
        let output =
            command.arg("-C").arg(home).args(arguments).output().expect("git is installed");
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        String::from_utf8(output.stdout).expect("git says text")
    }
}

fn room_slug(number: usize) -> String {
    format!("wing-{:02}/room-{number}", number / ROOMS_PER_WING)
}

fn genus_name(number: usize) -> String {
    format!("Genus{:02}", number % GENERA)
}

fn entity_path(number: usize) -> String {
    format!("entities/genus{:02}/entity-{number}.yaml", number % GENERA)
}

fn commit_header(number: usize) -> String {
    let message = format!("change {number}");
    let at = 1_760_000_000 + number * 3_600;
    format!(
        "commit refs/heads/main\ncommitter Ada <ada@example.org> {at} +0000\ndata {}\n{message}\n",
        message.len()
    )
}

fn file_entry(path: &str, text: &str) -> String {
    format!("M 100644 inline museum/{path}\ndata {}\n{text}\n", text.len())
}

/// Returns a sentence of sixteen words, always the same for the same number.
fn generate_sentence(number: usize) -> String {
    capitalize(&generate_phrase(number, 16)) + "."
}

/// Returns pseudo-random words out of five hundred, some frequent and some rare.
fn generate_phrase(number: usize, words: usize) -> String {
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

fn capitalize(phrase: &str) -> String {
    phrase[..1].to_uppercase() + &phrase[1..]
}
