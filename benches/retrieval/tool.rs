//! Palazzo through its own tool: every note in a drawer, every question through
//! `mempalace_search`.

use std::cell::RefCell;
use std::fs;

use palazzo::keeper::{Caller, Keeper};
use palazzo::mcp::{ToolSet, Toolbox};
use serde_json::{Value, json};
use ulid::Ulid;

use crate::corpus::Note;

/// A palace of drawers, and the tools to search it with.
pub(crate) struct SearchTool {
    _home: tempfile::TempDir,
    keeper: RefCell<Keeper>,
    toolbox: Toolbox,
    by: Caller,
}

impl SearchTool {
    /// Files every note as `palazzo mine` does, with its number in the id.
    pub(crate) fn new(notes: &[Note]) -> Self {
        let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("there is a folder");
        let palace = home.path().join("palace");
        fs::create_dir(&palace).expect("it can be made");
        fs::write(palace.join("palace.toml"), "name = \"Notes\"\n").expect("it can be written");
        for (number, note) in notes.iter().enumerate() {
            let folder = palace.join("drawers").join(&note.wing).join(&note.room);
            fs::create_dir_all(&folder).expect("it can be made");
            let id = Ulid::from(number as u128);
            let filed = note.written.map(|it| format!("filed: {}\n", it.format("%FT%TZ")));
            let filed = filed.unwrap_or_default();
            let text = format!("---\nid: {id}\n{filed}---\n\n{}", note.text);
            fs::write(folder.join(format!("{number:06}.md")), text).expect("it can be written");
        }
        let keeper = RefCell::new(Keeper::new(home.path().to_owned(), None));
        let now = "2026-01-01T00:00:00Z".parse().expect("it is a moment");
        let by = Caller::for_client("benchmark", now);
        Self { _home: home, keeper, toolbox: Toolbox::new(vec![ToolSet::Mempalace]), by }
    }

    /// Returns the numbers of the best notes, in one wing if it is named.
    pub(crate) fn search(&self, ask: &str, wing: Option<&str>, most: usize) -> Vec<usize> {
        let asked = json!({ "query": ask, "wing": wing, "limit": most });
        let Value::Object(asked) = asked else { return Vec::new() };
        let keeper = &mut self.keeper.borrow_mut();
        let answer = self.toolbox.call_tool(keeper, &self.by, "mempalace_search", asked);
        let answer = answer.expect("there is that tool").expect("it can be asked so");
        let found = answer.structured.expect("it answers in fields");
        let results = found["results"].as_array().expect("they are a list").iter();
        results.map(|it| note_number(it["drawer_id"].as_str().unwrap_or_default())).collect()
    }
}

fn note_number(drawer: &str) -> usize {
    let id = drawer.rsplit('_').next().unwrap_or_default();
    let id: Ulid = id.parse().expect("a drawer's id ends in ours");
    usize::try_from(u128::from(id)).expect("it is a number of a note")
}
