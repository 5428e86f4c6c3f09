//! A palace with a long history, and the ways in which git can store it.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use palazzo::store::Store;

use crate::ground::BenchDir;

/// How often each room is changed.
const CHANGES_PER_ROOM: usize = 10;
/// Maximum number of files per folder.
const ROOMS_PER_WING: usize = 100;

/// How git stores the objects.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ObjectStorage {
    /// Each object in its own file.
    Loose,
    /// All objects in one pack.
    Packed,
    /// All objects in one pack, with a commit graph.
    CommitGraph,
}

/// The palace and its repository.
pub(crate) struct HistoryFixture {
    rooms: usize,
    dir: BenchDir,
}

impl HistoryFixture {
    /// Builds the palace, with this many rooms and ten times as many commits.
    pub(crate) fn new(rooms: usize) -> Self {
        let scene = Self { rooms, dir: BenchDir::new() };
        fs::create_dir(scene.home()).expect("it is new");
        scene.run_git(&["init", "-q", "-b", "main"]);
        scene.run_git_with_input(&["fast-import", "--quiet"], fast_import_stream(rooms).as_bytes());
        scene.run_git(&["reset", "-q", "--hard"]);
        scene
    }

    /// Describes the size of the palace.
    pub(crate) fn describe_size(&self) -> String {
        let files = self.run_git(&["ls-files"]).lines().count();
        let commits = self.run_git(&["rev-list", "--count", "HEAD"]);
        format!("{files} files, {} commits", commits.trim())
    }

    /// Converts the repository to this storage.
    pub(crate) fn set_storage(&self, state: ObjectStorage) {
        let objects = self.home().join(".git/objects");
        match state {
            ObjectStorage::Loose => {
                let packs = fs::read_dir(objects.join("pack")).expect("it exists");
                let packs: Vec<_> = packs.map(|it| it.expect("it has a name").path()).collect();
                let pack = packs.iter().find(|it| it.extension().is_some_and(|it| it == "pack"));
                let pack = fs::read(pack.expect("it was imported")).expect("it can be read");
                for file in packs {
                    fs::remove_file(file).expect("it can go");
                }
                self.run_git_with_input(&["unpack-objects", "-q"], &pack);
            }
            ObjectStorage::Packed => {
                self.run_git(&["-c", "gc.writeCommitGraph=false", "gc", "-q"]);
            }
            ObjectStorage::CommitGraph => {
                self.run_git(&["commit-graph", "write", "--reachable"]);
            }
        }
    }

    /// Returns the name of a room that ten commits have changed.
    pub(crate) fn sample_room(&self) -> String {
        room_name(self.rooms / 2)
    }

    /// Returns the number of rooms.
    pub(crate) fn room_count(&self) -> usize {
        self.rooms
    }

    /// Returns the number of commits.
    pub(crate) fn commit_count(&self) -> usize {
        CHANGES_PER_ROOM * self.rooms
    }

    /// Reads a file of the palace.
    pub(crate) fn read_file(&self, path: &str) -> String {
        fs::read_to_string(self.home().join("museum").join(path)).expect("it exists")
    }

    /// Opens the palace without any state, like a new process.
    pub(crate) fn open_store(&self) -> Store {
        Store::new(self.home().join("museum"), self.home())
    }

    /// Deletes the caches.
    pub(crate) fn clear_cache(&self) {
        drop(fs::remove_dir_all(self.home().join(".git/palazzo/aside")));
    }

    /// Returns the command of a server.
    pub(crate) fn serve_command(&self) -> Command {
        let mut command = self.dir.isolated_command(env!("CARGO_BIN_EXE_palazzo"));
        command.arg("serve").arg(self.home());
        command
    }

    /// Runs Palazzo.
    pub(crate) fn run_palazzo(&self, arguments: &[&str]) -> String {
        let mut command = self.dir.isolated_command(env!("CARGO_BIN_EXE_palazzo"));
        output_text(command.args(arguments).env("PALAZZO_HOME", self.home()))
    }

    /// Runs git.
    pub(crate) fn run_git(&self, arguments: &[&str]) -> String {
        self.run_git_with_input(arguments, b"")
    }

    fn run_git_with_input(&self, arguments: &[&str], input: &[u8]) -> String {
        let mut command = self.dir.isolated_command("git");
        command.arg("-C").arg(self.home()).args(arguments);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("git is installed");
        child.stdin.take().expect("the pipe is open").write_all(input).expect("the pipe is open");
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "git {arguments:?}");
        String::from_utf8(output.stdout).expect("git says text")
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }
}

fn output_text(command: &mut Command) -> String {
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("it says text")
}

fn room_name(number: usize) -> String {
    format!("wing-{:02}/room-{number}", number / ROOMS_PER_WING)
}

/// Renders the whole history as input for `git fast-import`: all rooms at once, then
/// one commit per change of a room.
fn fast_import_stream(all: usize) -> String {
    let mut past = String::new();
    for number in 0..CHANGES_PER_ROOM * all {
        let at = 1_700_000_000 + number * 600;
        past += &format!("commit refs/heads/main\ncommitter Ada <ada@example.org> {at} +0000\n");
        past += "data 6\nchange\n";
        let rooms = if number == 0 { 0..all } else { number % all..number % all + 1 };
        for room in rooms {
            let text = room_text(room, number, &room_name((room + 1) % all));
            past += &format!(
                "M 100644 inline museum/rooms/{}.yaml\ndata {}\n{text}\n",
                room_name(room),
                text.len()
            );
        }
        if number == 0 {
            past += "M 100644 inline museum/palace.toml\ndata 16\nname = \"Museum\"\n\n";
        }
    }
    past
}

/// Renders a room of about two thousand bytes, of which a commit changes some lines.
fn room_text(room: usize, commit: usize, door: &str) -> String {
    let line = |it: usize| {
        let changed = if it % 10 == commit % 10 { commit } else { room };
        format!("  Line {it} of room {room}, which was last seen to by commit {changed}.\n")
    };
    let lines: Vec<_> = (0..24).map(line).collect();
    format!("name: Room {room}\ndescription: |\n{}portals: [{door}]\n", lines.concat())
}
