//! A palace with a long history, and the object storages of git.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use palazzo_store::Store;

use crate::common::BenchDir;

/// The number of commits that change a room.
const CHANGES_PER_ROOM: usize = 10;
/// The maximum number of files in a folder.
const ROOMS_PER_WING: usize = 100;

/// The way in which git stores its objects.
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
    /// Creates a palace with this many rooms and ten times as many commits.
    pub(crate) fn new(rooms: usize) -> Self {
        let fixture = Self { rooms, dir: BenchDir::new() };
        fs::create_dir(fixture.home()).expect("the folder is new");
        fixture.run_git(&["init", "-q", "-b", "main"]);
        fixture
            .run_git_with_input(&["fast-import", "--quiet"], fast_import_stream(rooms).as_bytes());
        fixture.run_git(&["reset", "-q", "--hard"]);
        fixture
    }

    /// Returns the size of the palace, as a text.
    pub(crate) fn describe_size(&self) -> String {
        let files = self.run_git(&["ls-files"]).lines().count();
        let commits = self.run_git(&["rev-list", "--count", "HEAD"]);
        format!("{files} files, {} commits", commits.trim())
    }

    /// Converts the repository to this object storage.
    pub(crate) fn set_storage(&self, storage: ObjectStorage) {
        let objects = self.home().join(".git/objects");
        match storage {
            ObjectStorage::Loose => {
                let files = fs::read_dir(objects.join("pack")).expect("the folder exists");
                let files = files.map(|it| it.expect("the folder is readable").path());
                let files: Vec<_> = files.collect();
                let pack = files.iter().find(|it| it.extension().is_some_and(|it| it == "pack"));
                let pack = pack.expect("git fast-import writes a pack");
                let pack = fs::read(pack).expect("the pack is readable");
                for file in files {
                    fs::remove_file(file).expect("the file is writable");
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
        fs::read_to_string(self.home().join("museum").join(path)).expect("the file exists")
    }

    /// Opens the store without cached state, like a new process.
    pub(crate) fn open_store(&self) -> Store {
        Store::new(self.home().join("museum"), self.home())
    }

    /// Removes the caches of Palazzo.
    pub(crate) fn clear_cache(&self) {
        drop(fs::remove_dir_all(self.home().join(".git/palazzo/cache")));
    }

    /// Returns the command that starts a server with this home.
    pub(crate) fn serve_command(&self) -> Command {
        let mut command = self.dir.isolated_command(env!("CARGO_BIN_EXE_palazzo"));
        command.arg("serve").arg(self.home());
        command
    }

    /// Runs Palazzo and returns its output.
    pub(crate) fn run_palazzo(&self, arguments: &[&str]) -> String {
        let mut command = self.dir.isolated_command(env!("CARGO_BIN_EXE_palazzo"));
        output_text(command.args(arguments).env("PALAZZO_HOME", self.home()))
    }

    /// Runs git and returns its output.
    pub(crate) fn run_git(&self, arguments: &[&str]) -> String {
        self.run_git_with_input(arguments, b"")
    }

    fn run_git_with_input(&self, arguments: &[&str], input: &[u8]) -> String {
        let mut command = self.dir.isolated_command("git");
        command.arg("-C").arg(self.home()).args(arguments);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("git is installed");
        child.stdin.take().expect("the pipe is open").write_all(input).expect("the pipe is open");
        let output = child.wait_with_output().expect("git runs");
        assert!(output.status.success(), "git {arguments:?}");
        String::from_utf8(output.stdout).expect("the output is UTF-8")
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }
}

fn output_text(command: &mut Command) -> String {
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("the output is UTF-8")
}

fn room_name(number: usize) -> String {
    format!("wing-{:02}/room-{number}", number / ROOMS_PER_WING)
}

/// Renders the whole history as input for `git fast-import`: one commit with all rooms, then one
/// commit for each change of a room.
fn fast_import_stream(room_count: usize) -> String {
    let mut stream = String::new();
    for number in 0..CHANGES_PER_ROOM * room_count {
        let time = 1_700_000_000 + number * 600;
        stream +=
            &format!("commit refs/heads/main\ncommitter Ada <ada@example.org> {time} +0000\n");
        stream += "data 6\nchange\n";
        let changed = number % room_count;
        let rooms = if number == 0 { 0..room_count } else { changed..changed + 1 };
        for room in rooms {
            let text = room_text(room, number, &room_name((room + 1) % room_count));
            stream += &format!(
                "M 100644 inline museum/rooms/{}.yaml\ndata {}\n{text}\n",
                room_name(room),
                text.len()
            );
        }
        if number == 0 {
            stream += "M 100644 inline museum/palace.toml\ndata 16\nname = \"Museum\"\n\n";
        }
    }
    stream
}

/// Renders a room file of about two thousand bytes. A commit changes some of its lines.
fn room_text(room: usize, commit: usize, portal: &str) -> String {
    let line = |it: usize| {
        let number = if it % 10 == commit % 10 { commit } else { room };
        format!("  Line {it} of room {room}, which was last seen to by commit {number}.\n")
    };
    let lines: Vec<_> = (0..24).map(line).collect();
    format!("name: Room {room}\ndescription: |\n{}portals:\n  - {portal}\n", lines.concat())
}
