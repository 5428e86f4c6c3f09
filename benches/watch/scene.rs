//! A palace of many stones, and the ways in which others save its files.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::ground::Ground;

/// The file that is saved over and over.
const STONE: &str = "museum/entities/stone/00/stone-0.yaml";
/// How many files lie in a folder.
const FOLDER: usize = 500;

/// The palace, in a repository that another was cloned from.
pub(crate) struct Scene {
    ground: Ground,
}

/// A way of saving: what prepares it, and the save itself, told the status that
/// the stone is to have.
pub(crate) struct Way {
    pub(crate) name: &'static str,
    pub(crate) prepare: fn(&Scene, &str),
    pub(crate) save: fn(&Scene, &str),
}

/// Every way that is measured.
pub(crate) const WAYS: [Way; 7] = [
    Way { name: "written in place", prepare: |_, _| (), save: |it, now| it.put(STONE, now) },
    Way {
        name: "renamed over",
        prepare: |_, _| (),
        save: |it, now| {
            it.put("museum/entities/stone/00/.stone-0.yaml.swp", now);
            it.rename(".stone-0.yaml.swp", "stone-0.yaml");
        },
    },
    Way {
        name: "deleted and created",
        prepare: |_, _| (),
        save: |it, now| {
            fs::remove_file(it.home().join(STONE)).expect("it was there");
            it.put(STONE, now);
        },
    },
    Way {
        name: "with a backup file",
        prepare: |_, _| (),
        save: |it, now| {
            it.rename("stone-0.yaml", "stone-0.yaml~");
            it.put(STONE, now);
        },
    },
    Way {
        name: "git checkout",
        prepare: |it, now| {
            it.commit(now);
            it.git(&["checkout", "-q", "HEAD~1"]);
        },
        save: |it, _| it.git(&["checkout", "-q", "main"]),
    },
    Way {
        name: "git pull",
        prepare: |it, now| {
            it.commit(now);
            it.git(&["push", "-qf", "../far", "HEAD:main"]);
            it.git(&["reset", "-q", "--hard", "HEAD~1"]);
        },
        save: |it, _| it.git(&["pull", "-q", "--ff-only", "../far", "main"]),
    },
    Way {
        name: "git stash pop",
        prepare: |it, now| {
            it.git(&["reset", "-q", "--hard"]);
            it.put(STONE, now);
            it.git(&["stash", "-q"]);
        },
        save: |it, _| it.git(&["stash", "pop", "-q"]),
    },
];

impl Scene {
    /// Builds a palace of so many stones.
    pub(crate) fn new(stones: usize) -> Self {
        let scene = Self { ground: Ground::new() };
        fs::create_dir_all(scene.home().join("museum/rooms")).expect("it is new");
        let hall = "name: Hall\ndescription: Stone.\n";
        for (file, text) in [("palace.toml", "name = \"museum\"\n"), ("rooms/hall.yaml", hall)] {
            fs::write(scene.home().join("museum").join(file), text).expect("it can be written");
        }
        scene.put_many(stones, "rough");
        scene.git(&["init", "-q", "-b", "main"]);
        scene.git(&["init", "-q", "--bare", "../far"]);
        scene.git(&["add", "."]);
        scene.git(&["commit", "-qm", "Begin"]);
        scene
    }

    /// Writes the first so many stones anew, in place.
    pub(crate) fn put_many(&self, stones: usize, status: &str) {
        for number in 0..stones {
            let folder = self.home().join(format!("museum/entities/stone/{:02}", number / FOLDER));
            fs::create_dir_all(&folder).expect("it can be made");
            let file = folder.join(format!("stone-{number}.yaml"));
            fs::write(file, stone(number, status)).expect("it can be written");
        }
    }

    /// Returns the command of a server.
    pub(crate) fn serve(&self) -> Command {
        let mut command = self.ground.command(env!("CARGO_BIN_EXE_palazzo"));
        command.arg("serve").arg(self.home());
        command
    }

    fn commit(&self, status: &str) {
        self.git(&["reset", "-q", "--hard"]);
        self.put(STONE, status);
        self.git(&["commit", "-qam", status]);
    }

    fn put(&self, path: &str, status: &str) {
        fs::write(self.home().join(path), stone(0, status)).expect("it can be written");
    }

    fn rename(&self, from: &str, to: &str) {
        let folder = self.home().join("museum/entities/stone/00");
        fs::rename(folder.join(from), folder.join(to)).expect("it can be renamed");
    }

    fn git(&self, arguments: &[&str]) {
        let mut command = self.ground.command("git");
        let output = command.current_dir(self.home()).args(arguments).output();
        let output = output.expect("git is there");
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
    }

    fn home(&self) -> PathBuf {
        self.ground.path().join("home")
    }
}

fn stone(number: usize, status: &str) -> String {
    format!("name: Stone {number}\ngenus: Stone\nstatus: {status}\n")
}
