//! A palace with a long past, and the ways in which git can keep it.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use palazzo::store::Store;

use crate::ground::Ground;

/// How often each room is changed.
const CHANGES: usize = 10;
/// No folder holds more files than this.
const WING: usize = 100;

/// How git keeps the objects.
#[derive(Clone, Copy, Debug)]
pub(crate) enum State {
    /// Each in a file of its own.
    Loose,
    /// All in one.
    Packed,
    /// All in one, and the commits in a table too.
    Graphed,
}

/// The palace.
pub(crate) struct Scene {
    rooms: usize,
    ground: Ground,
}

impl Scene {
    /// Builds it, with so many rooms and ten times as many commits.
    pub(crate) fn new(rooms: usize) -> Self {
        let scene = Self { rooms, ground: Ground::new() };
        fs::create_dir(scene.home()).expect("it is new");
        scene.git(&["init", "-q", "-b", "main"]);
        scene.git_with(&["fast-import", "--quiet"], past(rooms).as_bytes());
        scene.git(&["reset", "-q", "--hard"]);
        scene
    }

    /// Says how large it is.
    pub(crate) fn about(&self) -> String {
        let files = self.git(&["ls-files"]).lines().count();
        let commits = self.git(&["rev-list", "--count", "HEAD"]);
        format!("{files} files, {} commits", commits.trim())
    }

    /// Lets git keep it so.
    pub(crate) fn put_in(&self, state: State) {
        let objects = self.home().join(".git/objects");
        match state {
            State::Loose => {
                let packs = fs::read_dir(objects.join("pack")).expect("it is there");
                let packs: Vec<_> = packs.map(|it| it.expect("it has a name").path()).collect();
                let pack = packs.iter().find(|it| it.extension().is_some_and(|it| it == "pack"));
                let pack = fs::read(pack.expect("it was imported")).expect("it can be read");
                for file in packs {
                    fs::remove_file(file).expect("it can go");
                }
                self.git_with(&["unpack-objects", "-q"], &pack);
            }
            State::Packed => {
                self.git(&["-c", "gc.writeCommitGraph=false", "gc", "-q"]);
            }
            State::Graphed => {
                self.git(&["commit-graph", "write", "--reachable"]);
            }
        }
    }

    /// Names a room that ten commits have changed.
    pub(crate) fn room(&self) -> String {
        name(self.rooms / 2)
    }

    /// Returns how many rooms there are.
    pub(crate) fn rooms(&self) -> usize {
        self.rooms
    }

    /// Returns how many commits there are.
    pub(crate) fn commits(&self) -> usize {
        CHANGES * self.rooms
    }

    /// Reads a file of the palace.
    pub(crate) fn text(&self, path: &str) -> String {
        fs::read_to_string(self.home().join("museum").join(path)).expect("it is there")
    }

    /// Opens the palace anew, as a process does that begins.
    pub(crate) fn store(&self) -> Store {
        Store::new(self.home().join("museum"), self.home())
    }

    /// Throws away what was kept aside.
    pub(crate) fn forget(&self) {
        drop(fs::remove_dir_all(self.home().join(".git/palazzo/aside")));
    }

    /// Returns the command of a server.
    pub(crate) fn serve(&self) -> Command {
        let mut command = self.ground.command(env!("CARGO_BIN_EXE_palazzo"));
        command.arg("serve").arg(self.home());
        command
    }

    /// Runs the program.
    pub(crate) fn palazzo(&self, arguments: &[&str]) -> String {
        let mut command = self.ground.command(env!("CARGO_BIN_EXE_palazzo"));
        said(command.args(arguments).env("PALAZZO_HOME", self.home()))
    }

    /// Runs git.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        self.git_with(arguments, b"")
    }

    fn git_with(&self, arguments: &[&str], input: &[u8]) -> String {
        let mut command = self.ground.command("git");
        command.arg("-C").arg(self.home()).args(arguments);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("git is there");
        child.stdin.take().expect("it listens").write_all(input).expect("it listens");
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "git {arguments:?}");
        String::from_utf8(output.stdout).expect("git says text")
    }

    fn home(&self) -> PathBuf {
        self.ground.path().join("home")
    }
}

fn said(command: &mut Command) -> String {
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("it says text")
}

fn name(number: usize) -> String {
    format!("wing-{:02}/room-{number}", number / WING)
}

/// Tells the whole past as `git fast-import` reads it: all rooms at once, then a change of one room
/// for each commit.
fn past(all: usize) -> String {
    let mut past = String::new();
    for number in 0..CHANGES * all {
        let at = 1_700_000_000 + number * 600;
        past += &format!("commit refs/heads/main\ncommitter Ada <ada@example.org> {at} +0000\n");
        past += "data 6\nchange\n";
        let rooms = if number == 0 { 0..all } else { number % all..number % all + 1 };
        for room in rooms {
            let text = text(room, number, &name((room + 1) % all));
            past += &format!(
                "M 100644 inline museum/rooms/{}.yaml\ndata {}\n{text}\n",
                name(room),
                text.len()
            );
        }
        if number == 0 {
            past += "M 100644 inline museum/palace.toml\ndata 16\nname = \"Museum\"\n\n";
        }
    }
    past
}

/// A room of about two thousand bytes, of which a commit changes some lines.
fn text(room: usize, commit: usize, door: &str) -> String {
    let line = |it: usize| {
        let changed = if it % 10 == commit % 10 { commit } else { room };
        format!("  Line {it} of room {room}, which was last seen to by commit {changed}.\n")
    };
    let lines: Vec<_> = (0..24).map(line).collect();
    format!("name: Room {room}\ndescription: |\n{}portals: [{door}]\n", lines.concat())
}
