//! A generated palace of any size, and a copy of it for git.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use palazzo_core::format::{README, README_PATH};
use serde_json::{Value, json};

use crate::common::BenchDir;

/// The maximum number of files in a folder.
const ROOMS_PER_WING: usize = 100;
const GENERA: usize = 20;
/// The number of commits that change a room.
const COMMIT_COUNT: usize = 1_000;

/// The size of a palace.
#[derive(Clone, Copy)]
pub(crate) struct PalaceSize {
    pub(crate) rooms: usize,
    pub(crate) entities: usize,
}

/// Two equal palaces: Palazzo edits one of them, and git edits the other.
pub(crate) struct PalaceFixture {
    size: PalaceSize,
    dir: BenchDir,
}

/// An edit: its name, the tool, the arguments, and the file or folder that the tool writes.
pub(crate) type BenchEdit = (&'static str, &'static str, Value, String);

impl fmt::Display for PalaceSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.rooms, self.entities)
    }
}

impl PalaceFixture {
    /// The number of the action that leads from the entry to another room.
    pub(crate) const ACTION_TO_NEXT_ROOM: usize = 1;
    /// The number of the action that leads from the entry to a room that does not exist. Every
    /// tenth entity mentions the subject of that room.
    pub(crate) const ACTION_TO_UNFINISHED_ROOM: usize = 2;
    /// A word that every entity contains.
    pub(crate) const COMMON_WORD: &str = "catalogue";

    /// Creates both palaces.
    pub(crate) fn new(size: PalaceSize) -> Self {
        let fixture = Self { size, dir: BenchDir::new() };
        let stream = fixture.fast_import_stream();
        for home in [fixture.palazzo_home(), fixture.git_home()] {
            fs::create_dir(&home).expect("the folder is new");
            fixture.run_git(&home, &["init", "-q", "-b", "main"]);
            fixture.fast_import(&home, &stream);
            fixture.run_git(&home, &["reset", "-q", "--hard"]);
        }
        fixture
    }

    /// Returns the size of the palace, as a text.
    pub(crate) fn describe_size(&self) -> String {
        let PalaceSize { rooms, entities } = self.size;
        format!("{rooms} rooms, {entities} entities, {} commits", COMMIT_COUNT + 1)
    }

    /// Returns the command that starts a server with the home of Palazzo.
    pub(crate) fn serve_command(&self) -> Command {
        let mut command = self.dir.isolated_command(env!("CARGO_BIN_EXE_palazzo"));
        command.arg("serve").arg(self.palazzo_home());
        command
    }

    /// Returns the edits of a round.
    pub(crate) fn edits_for_round(&self, round: usize) -> [BenchEdit; 4] {
        let words = self.search_words(round + 1);
        let entry = room_slug(0);
        let (new, old) = (format!("new/room-{round}"), room_slug(round % self.size.rooms));
        let entity = round % self.size.entities;
        let scroll = json!({
            "title": format!("On {words}"), "body": generate_sentence(round), "room": entry,
        });
        let build = json!({
            "slug": new, "name": format!("Room of {words}"),
            "description": generate_sentence(round),
            "actions": [{ "label": "Go in", "type": "navigate", "room": entry }], "quiet": true,
        });
        let merge = json!({
            "slug": old, "description": generate_sentence(round + 7), "merge": true, "quiet": true,
        });
        let update = json!({
            "name": self.entity_name(entity), "add_observations": [format!("Seen {round}.")],
        });
        [
            ("write_scroll", "write_scroll", scroll, format!("scrolls/{entry}/")),
            ("build_room, new", "build_room", build, format!("rooms/{new}.yaml")),
            ("build_room, merge", "build_room", merge, format!("rooms/{old}.yaml")),
            ("update_entity", "update_entity", update, entity_path(entity)),
        ]
    }

    /// Copies `file`, or the newest file of a folder, from Palazzo's palace to git's palace, and
    /// commits it with git. Returns the time of the write and the commit.
    pub(crate) fn repeat_edit_with_git(&self, file: &str) -> Duration {
        let path = format!("museum/{}", self.newest_file(file));
        let text = fs::read(self.palazzo_home().join(&path)).expect("Palazzo wrote the file");
        let (home, target) = (self.git_home(), self.git_home().join(&path));
        let start = Instant::now();
        let folder = target.parent().expect("the file is in a folder");
        fs::create_dir_all(folder).expect("the home is writable");
        fs::write(&target, text).expect("the file is writable");
        self.run_git(&home, &["add", &path]);
        self.run_git(&home, &["commit", "-q", "-m", "the same"]);
        start.elapsed()
    }

    /// Writes and syncs one small file, to measure the cost of the disk.
    pub(crate) fn sync_one_file(&self, round: usize) -> Duration {
        let start = Instant::now();
        let file = fs::File::create(self.dir.path().join("file"));
        let mut file = file.expect("the file is writable");
        file.write_all(generate_sentence(round).as_bytes()).expect("the file is writable");
        file.sync_all().expect("the disk works");
        start.elapsed()
    }

    /// Waits until the disk has written git's data. Otherwise Palazzo's next sync would write that
    /// data too.
    #[cfg(target_os = "linux")]
    pub(crate) fn flush_disk(&self) {
        let folder = fs::File::open(self.dir.path()).expect("the folder exists");
        rustix::fs::syncfs(folder).expect("the disk works");
    }

    /// Does nothing: on other systems a sync by Palazzo writes only its own data.
    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unused_self, reason = "on Linux it selects the file system")]
    pub(crate) fn flush_disk(&self) {}

    /// Asserts that both palaces have the same files, and that `git status` lists no changes.
    pub(crate) fn assert_same_files(&self) {
        let homes = [self.palazzo_home(), self.git_home()];
        let [palazzo, git] = homes.map(|it| self.committed_files(&it));
        let differing: Vec<_> = palazzo.symmetric_difference(&git).collect();
        assert!(differing.is_empty(), "the palaces differ: {differing:#?}");
        assert_eq!(self.run_git(&self.palazzo_home(), &["status", "--porcelain"]), "");
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

    /// Returns two words that occur together in an entity.
    pub(crate) fn search_words(&self, number: usize) -> String {
        generate_phrase(number % self.size.entities, 2)
    }

    fn palazzo_home(&self) -> PathBuf {
        self.dir.path().join("palazzo")
    }

    fn git_home(&self) -> PathBuf {
        self.dir.path().join("git")
    }

    /// Lists the committed files of a palace with their ids, without the schemas for editors:
    /// Palazzo commits them with its first room, and the copy for git has none.
    fn committed_files(&self, home: &Path) -> BTreeSet<String> {
        let files = self.run_git(home, &["ls-tree", "-r", "HEAD"]);
        let is_compared = |it: &&str| !it.contains("\tmuseum/.palazzo/schema/");
        files.lines().filter(is_compared).map(str::to_owned).collect()
    }

    fn newest_file(&self, file: &str) -> String {
        if !file.ends_with('/') {
            return file.to_owned();
        }
        let names = fs::read_dir(self.palazzo_home().join("museum").join(file));
        let names = names.expect("it is a folder");
        let names = names.map(|it| it.expect("the folder is readable").file_name());
        // The name of a scroll file begins with the time.
        format!("{file}{}", names.max().expect("the folder has a file").to_string_lossy())
    }

    /// Renders the whole history as input for `git fast-import`: one commit with all files, then
    /// 1,000 commits that each change a room.
    fn fast_import_stream(&self) -> String {
        let PalaceSize { rooms, entities } = self.size;
        let mut stream = commit_header(0);
        let settings = format!("name = \"Museum\"\nentry = \"{}\"\n", room_slug(0));
        stream += &file_entry("palace.toml", &settings);
        stream += &file_entry(README_PATH, README);
        for number in 0..rooms {
            stream += &file_entry(
                &format!("rooms/{}.yaml", room_slug(number)),
                &self.room_yaml(number, 0),
            );
        }
        for number in 0..entities {
            stream += &file_entry(&entity_path(number), &self.entity_yaml(number));
        }
        for change in 1..=COMMIT_COUNT {
            let number = change % rooms;
            let text = self.room_yaml(number, change);
            stream += &commit_header(change);
            stream += &file_entry(&format!("rooms/{}.yaml", room_slug(number)), &text);
        }
        stream
    }

    fn room_yaml(&self, number: usize, change: usize) -> String {
        let name = capitalize(&generate_phrase(number, 2));
        let (next, portal) = (
            room_slug((number + 1) % self.size.rooms),
            room_slug(number / ROOMS_PER_WING * ROOMS_PER_WING),
        );
        let unfinished = if number == 0 { "survey-hall".to_owned() } else { next.clone() };
        format!(
            "name: {name}\ndescription: |\n  The clock shows {change}.\n  {}\nactions:\n\
             - label: Go on\n  type: navigate\n  room: {next}\n\
             - label: Open the other door\n  type: navigate\n  room: {unfinished}\n\
             - label: Look at the cabinet\n  type: query\n  tool: list_entities\n  \
             tool_params:\n    genus: {}\n\
             - label: Read the card\n  type: text\n  content: |\n    {}\n\
             portals:\n- {portal}\n",
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
             relations:\n- type: follows\n  to: {}\n- type: part_of\n  to: {first}\n",
            self.entity_name(number),
            genus_name(number),
            ["open", "contested", "settled"][number % 3],
            generate_sentence(number),
            generate_sentence(number + 1),
            self.entity_name(number + 1),
        )
    }

    fn fast_import(&self, home: &Path, stream: &str) {
        let mut command = self.dir.isolated_command("git");
        let command = command.arg("-C").arg(home).args(["fast-import", "--quiet"]);
        let mut child = command.stdin(Stdio::piped()).spawn().expect("git is installed");
        let mut input = child.stdin.take().expect("the pipe is open");
        input.write_all(stream.as_bytes()).expect("the pipe is open");
        drop(input);
        assert!(child.wait().expect("git runs").success());
    }

    fn run_git(&self, home: &Path, arguments: &[&str]) -> String {
        let mut command = self.dir.isolated_command("git");
        let output =
            command.arg("-C").arg(home).args(arguments).output().expect("git is installed");
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        String::from_utf8(output.stdout).expect("the output is UTF-8")
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
    let time = 1_760_000_000 + number * 3_600;
    format!(
        "commit refs/heads/main\ncommitter Ada <ada@example.org> {time} +0000\n\
         data {}\n{message}\n",
        message.len()
    )
}

fn file_entry(path: &str, text: &str) -> String {
    format!("M 100644 inline museum/{path}\ndata {}\n{text}\n", text.len())
}

/// Returns a sentence of sixteen words. The same number always gives the same sentence.
fn generate_sentence(number: usize) -> String {
    capitalize(&generate_phrase(number, 16)) + "."
}

/// Returns pseudo-random words from a vocabulary of 512 words, some frequent and some rare.
fn generate_phrase(number: usize, words: usize) -> String {
    const SYLLABLES: [&str; 8] = ["ba", "ke", "lo", "mi", "nu", "ra", "so", "ti"];
    let mut state = number as u64 + 1;
    let mut next_number = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % 512
    };
    let mut phrase = String::new();
    for _ in 0..words {
        let mut word = next_number().min(next_number());
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
