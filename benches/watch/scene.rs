//! A palace of many stones, and the ways in which other programs save its files.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::ground::BenchDir;

/// The file that is saved repeatedly.
const STONE_FILE: &str = "museum/entities/stone/00/stone-0.yaml";
/// How many files a folder contains.
const STONES_PER_FOLDER: usize = 500;

/// The palace, in a repository with a clone.
pub(crate) struct WatchFixture {
    dir: BenchDir,
}

/// A way of saving: its preparation, and the save itself, which gets the new status of
/// the stone.
pub(crate) struct SaveMethod {
    pub(crate) name: &'static str,
    pub(crate) prepare: fn(&WatchFixture, &str),
    pub(crate) save: fn(&WatchFixture, &str),
}

/// All measured ways of saving.
pub(crate) const SAVE_METHODS: [SaveMethod; 7] = [
    SaveMethod {
        name: "written in place",
        prepare: |_, _| (),
        save: |it, now| it.write_stone(STONE_FILE, now),
    },
    SaveMethod {
        name: "renamed over",
        prepare: |_, _| (),
        save: |it, now| {
            it.write_stone("museum/entities/stone/00/.stone-0.yaml.swp", now);
            it.rename_stone(".stone-0.yaml.swp", "stone-0.yaml");
        },
    },
    SaveMethod {
        name: "deleted and created",
        prepare: |_, _| (),
        save: |it, now| {
            fs::remove_file(it.home().join(STONE_FILE)).expect("it was there");
            it.write_stone(STONE_FILE, now);
        },
    },
    SaveMethod {
        name: "with a backup file",
        prepare: |_, _| (),
        save: |it, now| {
            it.rename_stone("stone-0.yaml", "stone-0.yaml~");
            it.write_stone(STONE_FILE, now);
        },
    },
    SaveMethod {
        name: "git checkout",
        prepare: |it, now| {
            it.commit_stone(now);
            it.run_git(&["checkout", "-q", "HEAD~1"]);
        },
        save: |it, _| it.run_git(&["checkout", "-q", "main"]),
    },
    SaveMethod {
        name: "git pull",
        prepare: |it, now| {
            it.commit_stone(now);
            it.run_git(&["push", "-qf", "../far", "HEAD:main"]);
            it.run_git(&["reset", "-q", "--hard", "HEAD~1"]);
        },
        save: |it, _| it.run_git(&["pull", "-q", "--ff-only", "../far", "main"]),
    },
    SaveMethod {
        name: "git stash pop",
        prepare: |it, now| {
            it.run_git(&["reset", "-q", "--hard"]);
            it.write_stone(STONE_FILE, now);
            it.run_git(&["stash", "-q"]);
        },
        save: |it, _| it.run_git(&["stash", "pop", "-q"]),
    },
];

impl WatchFixture {
    /// Builds a palace of this many stones.
    pub(crate) fn new(stones: usize) -> Self {
        let scene = Self { dir: BenchDir::new() };
        fs::create_dir_all(scene.home().join("museum/rooms")).expect("it is new");
        let hall = "name: Hall\ndescription: Stone.\n";
        for (file, text) in [("palace.toml", "name = \"museum\"\n"), ("rooms/hall.yaml", hall)] {
            fs::write(scene.home().join("museum").join(file), text).expect("it can be written");
        }
        scene.write_stones(stones, "rough");
        scene.run_git(&["init", "-q", "-b", "main"]);
        scene.run_git(&["init", "-q", "--bare", "../far"]);
        scene.run_git(&["add", "."]);
        scene.run_git(&["commit", "-qm", "Begin"]);
        scene
    }

    /// Rewrites the first `stones` stones in place.
    pub(crate) fn write_stones(&self, stones: usize, status: &str) {
        for number in 0..stones {
            let folder = self
                .home()
                .join(format!("museum/entities/stone/{:02}", number / STONES_PER_FOLDER));
            fs::create_dir_all(&folder).expect("it can be made");
            let file = folder.join(format!("stone-{number}.yaml"));
            fs::write(file, stone_yaml(number, status)).expect("it can be written");
        }
    }

    /// Returns the command of a server.
    pub(crate) fn serve_command(&self) -> Command {
        let mut command = self.dir.isolated_command(env!("CARGO_BIN_EXE_palazzo"));
        command.arg("serve").arg(self.home());
        command
    }

    fn commit_stone(&self, status: &str) {
        self.run_git(&["reset", "-q", "--hard"]);
        self.write_stone(STONE_FILE, status);
        self.run_git(&["commit", "-qam", status]);
    }

    fn write_stone(&self, path: &str, status: &str) {
        fs::write(self.home().join(path), stone_yaml(0, status)).expect("it can be written");
    }

    fn rename_stone(&self, from: &str, to: &str) {
        let folder = self.home().join("museum/entities/stone/00");
        fs::rename(folder.join(from), folder.join(to)).expect("it can be renamed");
    }

    fn run_git(&self, arguments: &[&str]) {
        let mut command = self.dir.isolated_command("git");
        let output = command.current_dir(self.home()).args(arguments).output();
        let output = output.expect("git is installed");
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }
}

fn stone_yaml(number: usize, status: &str) -> String {
    format!("name: Stone {number}\ngenus: Stone\nstatus: {status}\n")
}
