//! A temporary home with one palace, for unit tests of operations.

use std::fs;
use std::path::Path;

use chrono::{DateTime, Utc};

use crate::{
    Blueprint, Caller, ChoiceOutcome, Keeper, Refusal, Session, find_choice, run_choice,
    set_workspace, with_menu,
};

/// The time at which tests begin.
pub(crate) const NOW: &str = "2026-03-01T12:00:00Z";

/// A home that is deleted at the end of the test, and its keeper.
pub(crate) struct TestHome {
    dir: tempfile::TempDir,
    pub(crate) keeper: Keeper,
}

impl TestHome {
    /// Creates a home with the palace `keep` of these files, each a path in the palace and a text.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let keeper = Keeper::new(dir.path().join("home"), None);
        let home = Self { dir, keeper };
        home.write("palace.toml", "format = 1\nname = \"Keep\"\n");
        for (path, text) in files {
            home.write(path, text);
        }
        home
    }

    /// Returns the temporary folder, in which `home` is.
    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Writes a file of the palace as a person would.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let place = self.dir.path().join("home/keep").join(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, text).unwrap();
    }

    /// Renames a file of the palace as a person would.
    pub(crate) fn rename(&self, from: &str, to: &str) {
        let text = self.read(from).unwrap();
        self.write(to, &text);
        fs::remove_file(self.dir.path().join("home/keep").join(from)).unwrap();
    }

    /// Replaces the keeper by one that reads all files again, as another process would.
    pub(crate) fn restart(&mut self) {
        self.keeper = Keeper::new(self.dir.path().join("home"), None);
    }

    /// Returns the text of a file of the palace; `None` if it does not exist.
    pub(crate) fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.dir.path().join("home/keep").join(path)).ok()
    }

    /// Runs an operation of the caller `ada` in a session.
    pub(crate) fn run<T>(&mut self, operation: impl FnOnce(&mut Session<'_>) -> T) -> T {
        operation(&mut self.keeper.session(&ada()).unwrap())
    }

    /// Chooses a number as the caller `ada`, and returns the page with the menu.
    pub(crate) fn choose(&mut self, number: i64, params: Option<&str>) -> Result<String, Refusal> {
        let choice = find_choice(&mut self.keeper, &ada(), number)?;
        match run_choice(&mut self.keeper, &ada(), (number, choice), params)? {
            ChoiceOutcome::Page(page) => Ok(page),
            ChoiceOutcome::Text(text) => with_menu(&mut self.keeper, &ada(), &text),
            ChoiceOutcome::RunTool(call) => Ok(format!("calls {}", call.tool)),
            ChoiceOutcome::Everything(it) => Ok(format!("everything {}", it.title)),
        }
    }

    /// Enters the palace as the caller `ada`, and returns the page.
    pub(crate) fn enter(&mut self) -> Result<String, Refusal> {
        set_workspace(&mut self.keeper, &ada(), "keep", false, None)
    }
}

/// Returns the caller of tests.
pub(crate) fn ada() -> Caller {
    let now: DateTime<Utc> = NOW.parse().unwrap();
    Caller { tool: "test", ..Caller::for_client("ada", now) }
}

/// Returns a complete blueprint of a room named "Hall".
pub(crate) fn blueprint(room: &str) -> Blueprint {
    Blueprint {
        room: room.parse().unwrap(),
        wing: None,
        name: Some("Hall".to_owned()),
        description: Some("Stone.".to_owned()),
        entry: None,
        actions: None,
        portals: None,
        generate: None,
        remove_actions: Vec::new(),
        merge: false,
        quiet: true,
    }
}
