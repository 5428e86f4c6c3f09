//! A palace with many entities, and the methods by which other programs save its files.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::common::BenchDir;

/// The file that every save method writes.
const ENTITY_FILE: &str = "museum/entities/stone/00/stone-0.yaml";
/// The maximum number of files in a folder.
const ENTITIES_PER_FOLDER: usize = 500;

/// The palace, in a repository with a remote.
pub(crate) struct WatchFixture {
    dir: BenchDir,
}

/// A save method. Both functions get the new status of the entity.
pub(crate) struct SaveMethod {
    pub(crate) name: &'static str,
    /// Runs before the save and is not measured.
    pub(crate) prepare: fn(&WatchFixture, &str),
    /// Saves the file.
    pub(crate) save: fn(&WatchFixture, &str),
}

/// All measured save methods.
pub(crate) const SAVE_METHODS: [SaveMethod; 7] = [
    SaveMethod {
        name: "written in place",
        prepare: |_, _| (),
        save: |it, now| it.write_entity(ENTITY_FILE, now),
    },
    SaveMethod {
        name: "renamed over",
        prepare: |_, _| (),
        save: |it, now| {
            it.write_entity("museum/entities/stone/00/.stone-0.yaml.swp", now);
            it.rename_entity_file(".stone-0.yaml.swp", "stone-0.yaml");
        },
    },
    SaveMethod {
        name: "deleted and created",
        prepare: |_, _| (),
        save: |it, now| {
            fs::remove_file(it.home().join(ENTITY_FILE)).expect("the file exists");
            it.write_entity(ENTITY_FILE, now);
        },
    },
    SaveMethod {
        name: "with a backup file",
        prepare: |_, _| (),
        save: |it, now| {
            it.rename_entity_file("stone-0.yaml", "stone-0.yaml~");
            it.write_entity(ENTITY_FILE, now);
        },
    },
    SaveMethod {
        name: "git checkout",
        prepare: |it, now| {
            it.commit_entity(now);
            it.run_git(&["checkout", "-q", "HEAD~1"]);
        },
        save: |it, _| it.run_git(&["checkout", "-q", "main"]),
    },
    SaveMethod {
        name: "git pull",
        prepare: |it, now| {
            it.commit_entity(now);
            it.run_git(&["push", "-qf", "../remote", "HEAD:main"]);
            it.run_git(&["reset", "-q", "--hard", "HEAD~1"]);
        },
        save: |it, _| it.run_git(&["pull", "-q", "--ff-only", "../remote", "main"]),
    },
    SaveMethod {
        name: "git stash pop",
        prepare: |it, now| {
            it.run_git(&["reset", "-q", "--hard"]);
            it.write_entity(ENTITY_FILE, now);
            it.run_git(&["stash", "-q"]);
        },
        save: |it, _| it.run_git(&["stash", "pop", "-q"]),
    },
];

impl WatchFixture {
    /// Creates a palace with this many entities.
    pub(crate) fn new(entities: usize) -> Self {
        let fixture = Self { dir: BenchDir::new() };
        fs::create_dir_all(fixture.home().join("museum/rooms")).expect("the folder is new");
        let hall = "name: Hall\ndescription: Stone.\n";
        for (file, text) in [("palace.toml", "name = \"museum\"\n"), ("rooms/hall.yaml", hall)] {
            fs::write(fixture.home().join("museum").join(file), text)
                .expect("the file is writable");
        }
        fixture.write_entities(entities, "rough");
        fixture.run_git(&["init", "-q", "-b", "main"]);
        fixture.run_git(&["init", "-q", "--bare", "../remote"]);
        fixture.run_git(&["add", "."]);
        fixture.run_git(&["commit", "-qm", "Begin"]);
        fixture
    }

    /// Writes the first `count` entities in place.
    pub(crate) fn write_entities(&self, count: usize, status: &str) {
        for number in 0..count {
            let folder = self
                .home()
                .join(format!("museum/entities/stone/{:02}", number / ENTITIES_PER_FOLDER));
            fs::create_dir_all(&folder).expect("the parent folder is writable");
            let file = folder.join(format!("stone-{number}.yaml"));
            fs::write(file, entity_yaml(number, status)).expect("the file is writable");
        }
    }

    /// Returns the command that starts a server with this home.
    pub(crate) fn serve_command(&self) -> Command {
        let mut command = self.dir.isolated_command(env!("CARGO_BIN_EXE_palazzo"));
        command.arg("serve").arg(self.home());
        command
    }

    fn commit_entity(&self, status: &str) {
        self.run_git(&["reset", "-q", "--hard"]);
        self.write_entity(ENTITY_FILE, status);
        self.run_git(&["commit", "-qam", status]);
    }

    fn write_entity(&self, path: &str, status: &str) {
        fs::write(self.home().join(path), entity_yaml(0, status)).expect("the file is writable");
    }

    fn rename_entity_file(&self, from: &str, to: &str) {
        let folder = self.home().join("museum/entities/stone/00");
        fs::rename(folder.join(from), folder.join(to)).expect("the file exists");
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

fn entity_yaml(number: usize, status: &str) -> String {
    format!("name: Stone {number}\ngenus: Stone\nstatus: {status}\n")
}
