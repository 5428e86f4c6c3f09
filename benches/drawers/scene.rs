//! A palace of many drawers, made in seconds.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use palazzo::format;
use palazzo::model::{Drawer, Said};
use serde_json::{Value, json};
use ulid::Ulid;

use crate::corpus::{Corpus, Question};
use crate::ground::Ground;
use crate::peer::Cost;

const WINGS: usize = 10;
const ROOMS: usize = 10;
/// One fact for so many drawers, and no folder holds more of them.
const DRAWERS_A_FACT: usize = 10;
const FOLDER: usize = 1_000;
/// How many sentences a text has: some six hundred characters.
const SENTENCES: usize = 6;

/// A home of one palace, in git.
pub(crate) struct Scene {
    size: usize,
    sentences: Vec<String>,
    questions: Vec<Question>,
    ground: Ground,
}

impl Scene {
    /// Builds the palace, with so many drawers, in one commit.
    pub(crate) fn new(size: usize) -> Self {
        let ground = Ground::new();
        fs::create_dir(ground.path().join("home")).expect("it is new");
        let Corpus { notes, questions } = Corpus::of_set("choosing");
        let sentences = notes.iter().flat_map(|it| it.text.split_inclusive(". "));
        let sentences = sentences.map(|it| it.trim_end().to_owned()).collect();
        let scene = Self { size, sentences, questions, ground };
        scene.git(&["init", "-q", "-b", "main"]);
        scene.import();
        scene.git(&["reset", "-q", "--hard"]);
        scene
    }

    /// Returns where everything lies.
    pub(crate) fn ground(&self) -> &Ground {
        &self.ground
    }

    /// Returns how many facts there are.
    pub(crate) fn facts(&self) -> usize {
        self.size / DRAWERS_A_FACT
    }

    /// Says how much lies on the disk: texts, and what git has beside them.
    pub(crate) fn weight(&self) -> String {
        let home = self.ground.path().join("home");
        let [files, git] =
            [home.join("palace"), home.join(".git")].map(|it| bytes(&it).expect("it is there"));
        format!("on disk: files {} kB, .git {} kB", files / 1024, git / 1024)
    }

    /// Returns what a tool is told in a round; what is filed is always new.
    pub(crate) fn arguments(&self, tool: &str, round: usize) -> Value {
        let some = mixed(round) % self.facts();
        match tool {
            "search" => json!({ "query": self.questions[round % self.questions.len()].ask }),
            "check_duplicate" => json!({ "content": self.text(mixed(round) % self.size) }),
            "add_drawer" => json!({
                "wing": wing(round), "room": room(round), "content": self.text(self.size + round),
            }),
            "kg_query" => json!({ "entity": person(some) }),
            "kg_add" => json!({
                "subject": person(some), "predicate": "has_read", "object": format!("Volume {round}"),
                "valid_from": "2026-03-01",
            }),
            _ => json!({}),
        }
    }

    /// Writes one small file durably, and nothing else: what the disk itself asks
    /// for.
    pub(crate) fn sync_one_file(&self, round: usize) -> Cost {
        let begun = Instant::now();
        let mut file =
            fs::File::create(self.ground.path().join("file")).expect("it can be written");
        file.write_all(self.text(round).as_bytes()).expect("it can be written");
        file.sync_all().expect("it can be synced");
        Cost { wall: begun.elapsed(), cpu: Duration::ZERO }
    }

    /// Holds that each change became a commit, and that nothing lies about.
    pub(crate) fn assert_kept(&self, changes: usize) {
        let commits = self.git(&["rev-list", "--count", "HEAD"]);
        assert_eq!(commits.trim(), (1 + changes).to_string());
        assert_eq!(self.git(&["status", "--porcelain"]), "");
    }

    /// Tells git the whole palace as one commit.
    fn import(&self) {
        let mut command = self.ground.command("git");
        command.arg("-C").arg(self.ground.path().join("home")).args(["fast-import", "--quiet"]);
        let mut child = command.stdin(Stdio::piped()).spawn().expect("git is there");
        let mut input = io::BufWriter::new(child.stdin.take().expect("it listens"));
        let head =
            "commit refs/heads/main\ncommitter Ada <ada@x> 1760000000 +0000\ndata 5\nBegin\n";
        input.write_all(head.as_bytes()).expect("it listens");
        let settings = ("palace.toml".to_owned(), "name = \"Palace\"\n".to_owned());
        let drawers = (0..self.size).map(|it| self.drawer(it));
        for (path, text) in drawers.chain((0..self.facts()).map(fact)).chain([settings]) {
            let file = format!("M 100644 inline palace/{path}\ndata {}\n{text}\n", text.len());
            input.write_all(file.as_bytes()).expect("it listens");
        }
        drop(input);
        assert!(child.wait().expect("it ends").success());
    }

    fn drawer(&self, number: usize) -> (String, String) {
        let minutes = i64::try_from(number).expect("there are not so many");
        let filed = DateTime::<Utc>::UNIX_EPOCH + TimeDelta::minutes(29_000_000 + minutes);
        let [wing, room] = [wing(number), room(number)];
        let id = Ulid::from_parts(u64::try_from(filed.timestamp_millis()).expect("it is late"), 1);
        let path = format!("drawers/{wing}/{room}/{id}.md");
        let drawer = Drawer {
            id,
            said: Said { wing: Some(wing), room: Some(room) },
            source: Some(format!("meeting-{number}.md")),
            by: Some("mcp".to_owned()),
            filed: Some(filed),
            text: self.text(number),
        };
        (path, format::write_drawer(&drawer))
    }

    /// Returns some sentences, and a word of its own.
    fn text(&self, number: usize) -> String {
        let said = (0..SENTENCES).map(|it| mixed(SENTENCES * number + it) % self.sentences.len());
        let said: Vec<&str> = said.map(|it| self.sentences[it].as_str()).collect();
        format!("{} word{number}.", said.join(" "))
    }

    fn git(&self, arguments: &[&str]) -> String {
        let mut command = self.ground.command("git");
        command.arg("-C").arg(self.ground.path().join("home")).args(arguments);
        let output = command.output().expect("git is there");
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        String::from_utf8(output.stdout).expect("git says text")
    }
}

fn wing(number: usize) -> String {
    format!("wing-{}", number % WINGS)
}

fn room(number: usize) -> String {
    format!("room-{}", number / WINGS % ROOMS)
}

fn person(number: usize) -> String {
    format!("Ada {number}")
}

fn fact(number: usize) -> (String, String) {
    let path = format!("entities/people-{}/ada-{number}.yaml", number / FOLDER);
    let text = format!(
        "name: {}\ngenus: People {}\nrelations:\n\
         - {{ type: works_on, to: Project {}, since: 2026-01-01 }}\n",
        person(number),
        number / FOLDER,
        number % 100,
    );
    (path, text)
}

/// Returns how many bytes the files below a folder have.
fn bytes(folder: &Path) -> io::Result<u64> {
    let mut all = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        all += match entry.file_type()?.is_dir() {
            true => bytes(&entry.path())?,
            false => entry.metadata()?.len(),
        };
    }
    Ok(all)
}

/// Returns a number that has nothing to do with `number`, always the same.
fn mixed(number: usize) -> usize {
    let number = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}
