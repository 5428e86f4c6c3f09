//! A generated palace with many drawers.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use palazzo_core::format;
use palazzo_core::model::{Drawer, FrontMatterWingRoom};
use serde_json::{Value, json};
use ulid::Ulid;

use crate::common::BenchDir;
use crate::corpus::{Corpus, Question};
use crate::measured_server::CallCost;

const WINGS: usize = 10;
const ROOMS: usize = 10;
/// The number of drawers for each fact.
const DRAWERS_PER_FACT: usize = 10;
/// The maximum number of entity files in a folder.
const ENTITIES_PER_FOLDER: usize = 1_000;
/// The number of sentences in a text, which has about six hundred characters.
const SENTENCES_PER_TEXT: usize = 6;

/// A home with one palace, in a git repository.
pub(crate) struct DrawerFixture {
    size: usize,
    sentences: Vec<String>,
    questions: Vec<Question>,
    dir: BenchDir,
}

impl DrawerFixture {
    /// Creates a palace with `size` drawers, in one commit.
    pub(crate) fn new(size: usize) -> Self {
        let dir = BenchDir::new();
        fs::create_dir(dir.path().join("home")).expect("the folder is new");
        let Corpus { notes, questions } = Corpus::load("tuning");
        let sentences = notes.iter().flat_map(|it| it.text.split_inclusive(". "));
        let sentences = sentences.map(|it| it.trim_end().to_owned()).collect();
        let fixture = Self { size, sentences, questions, dir };
        fixture.run_git(&["init", "-q", "-b", "main"]);
        fixture.fast_import();
        fixture.run_git(&["reset", "-q", "--hard"]);
        fixture
    }

    /// Returns the folder of the benchmark.
    pub(crate) fn bench_dir(&self) -> &BenchDir {
        &self.dir
    }

    /// Returns the number of facts.
    pub(crate) fn fact_count(&self) -> usize {
        self.size / DRAWERS_PER_FACT
    }

    /// Returns the sizes of the palace and of its git repository, as a text.
    pub(crate) fn disk_usage(&self) -> String {
        let home = self.dir.path().join("home");
        let [files, git] = [home.join("palace"), home.join(".git")]
            .map(|it| folder_bytes(&it).expect("the folder exists"));
        format!("on disk: files {} kB, .git {} kB", files / 1024, git / 1024)
    }

    /// Searches from the command line, as a new process; returns the time from its start to its end.
    pub(crate) fn search_from_command_line(&self, round: usize) -> Duration {
        let question = &self.questions[round % self.questions.len()].text;
        let mut command = self.dir.isolated_command(env!("CARGO_BIN_EXE_palazzo"));
        command.args(["search", question, "--home"]).arg(self.dir.path().join("home"));
        let start = Instant::now();
        let output = command.output().expect("the program starts");
        let wall = start.elapsed();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        wall
    }

    /// Returns the arguments of a tool call. Every written text is new.
    pub(crate) fn tool_arguments(&self, tool: &str, round: usize) -> Value {
        let person = person_name(hash_number(round) % self.fact_count());
        match tool {
            "search" => json!({ "query": self.questions[round % self.questions.len()].text }),
            "check_duplicate" => {
                json!({ "content": self.drawer_text(hash_number(round) % self.size) })
            }
            "add_drawer" => json!({
                "wing": wing_name(round), "room": room_name(round),
                "content": self.drawer_text(self.size + round),
            }),
            "kg_query" => json!({ "entity": person }),
            "kg_add" => json!({
                "subject": person, "predicate": "has_read",
                "object": format!("Volume {round}"), "valid_from": "2026-03-01",
            }),
            _ => json!({}),
        }
    }

    /// Writes and syncs one small file, to measure the cost of the disk.
    pub(crate) fn sync_one_file(&self, round: usize) -> CallCost {
        let start = Instant::now();
        let file = fs::File::create(self.dir.path().join("file"));
        let mut file = file.expect("the file is writable");
        file.write_all(self.drawer_text(round).as_bytes()).expect("the file is writable");
        file.sync_all().expect("the disk works");
        CallCost { wall: start.elapsed(), cpu: Duration::ZERO }
    }

    /// Asserts that each change is one commit, and that there are no uncommitted files.
    pub(crate) fn assert_all_committed(&self, changes: usize) {
        let commits = self.run_git(&["rev-list", "--count", "HEAD"]);
        assert_eq!(commits.trim(), (1 + changes).to_string());
        assert_eq!(self.run_git(&["status", "--porcelain"]), "");
    }

    /// Imports the whole palace into git as one commit.
    fn fast_import(&self) {
        let mut command = self.dir.isolated_command("git");
        command.arg("-C").arg(self.dir.path().join("home")).args(["fast-import", "--quiet"]);
        let mut child = command.stdin(Stdio::piped()).spawn().expect("git is installed");
        let mut input = io::BufWriter::new(child.stdin.take().expect("the pipe is open"));
        let commit =
            "commit refs/heads/main\ncommitter Ada <ada@x> 1760000000 +0000\ndata 5\nBegin\n";
        input.write_all(commit.as_bytes()).expect("the pipe is open");
        let settings = ("palace.toml".to_owned(), "name = \"Palace\"\n".to_owned());
        let drawers = (0..self.size).map(|it| self.drawer_file(it));
        for (path, text) in drawers.chain((0..self.fact_count()).map(fact_file)).chain([settings]) {
            let file = format!("M 100644 inline palace/{path}\ndata {}\n{text}\n", text.len());
            input.write_all(file.as_bytes()).expect("the pipe is open");
        }
        drop(input);
        assert!(child.wait().expect("git runs").success());
    }

    fn drawer_file(&self, number: usize) -> (String, String) {
        let minutes = i64::try_from(number).expect("the number is small");
        let filed = DateTime::<Utc>::UNIX_EPOCH + TimeDelta::minutes(29_000_000 + minutes);
        let [wing, room] = [wing_name(number), room_name(number)];
        let millis = u64::try_from(filed.timestamp_millis()).expect("the time is after 1970");
        let id = Ulid::from_parts(millis, 1);
        let path = format!("drawers/{wing}/{room}/{id}.md");
        let drawer = Drawer {
            id,
            filed_under: FrontMatterWingRoom { wing: Some(wing), room: Some(room) },
            title: None,
            labels: Vec::new(),
            source: Some(format!("meeting-{number}.md")),
            by: Some("mcp".to_owned()),
            filed: Some(filed),
            text: self.drawer_text(number),
        };
        (path, format::serialize_drawer(&drawer))
    }

    /// Returns six sentences and a unique word.
    fn drawer_text(&self, number: usize) -> String {
        let indexes = (0..SENTENCES_PER_TEXT)
            .map(|it| hash_number(SENTENCES_PER_TEXT * number + it) % self.sentences.len());
        let sentences: Vec<&str> = indexes.map(|it| self.sentences[it].as_str()).collect();
        format!("{} word{number}.", sentences.join(" "))
    }

    fn run_git(&self, arguments: &[&str]) -> String {
        let mut command = self.dir.isolated_command("git");
        command.arg("-C").arg(self.dir.path().join("home")).args(arguments);
        let output = command.output().expect("git is installed");
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        String::from_utf8(output.stdout).expect("the output is UTF-8")
    }
}

fn wing_name(number: usize) -> String {
    format!("wing-{}", number % WINGS)
}

fn room_name(number: usize) -> String {
    format!("room-{}", number / WINGS % ROOMS)
}

fn person_name(number: usize) -> String {
    format!("Ada {number}")
}

fn fact_file(number: usize) -> (String, String) {
    let path = format!("entities/people-{}/ada-{number}.yaml", number / ENTITIES_PER_FOLDER);
    let text = format!(
        "name: {}\ngenus: People {}\nrelations:\n\
         - type: works_on\n  to: Project {}\n  since: 2026-01-01\n",
        person_name(number),
        number / ENTITIES_PER_FOLDER,
        number % 100,
    );
    (path, text)
}

/// Returns the total size of the files in a folder, in bytes.
fn folder_bytes(folder: &Path) -> io::Result<u64> {
    let mut total = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        total += match entry.file_type()?.is_dir() {
            true => folder_bytes(&entry.path())?,
            false => entry.metadata()?.len(),
        };
    }
    Ok(total)
}

/// Hashes a number. The result is the same in every run.
fn hash_number(number: usize) -> usize {
    let number = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}
