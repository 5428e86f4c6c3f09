//! Searches with the tool `mempalace_search` in a palace with one drawer for each note.

use std::cell::RefCell;
use std::fs;

use palazzo::mcp::{ToolSet, Toolbox};
use palazzo_keeper::{Caller, Keeper};
use serde_json::{Value, json};
use ulid::Ulid;

use crate::corpus::Note;

/// A palace with drawers, and the tool set that searches in it.
pub(crate) struct SearchTool {
    _home: tempfile::TempDir,
    keeper: RefCell<Keeper>,
    toolbox: Toolbox,
    caller: Caller,
}

impl SearchTool {
    /// Writes a drawer for every note, like `palazzo import`. The id contains the number of the note.
    pub(crate) fn new(notes: &[Note]) -> Self {
        let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))
            .expect("the target directory is writable");
        let palace = home.path().join("palace");
        fs::create_dir(&palace).expect("the folder is new");
        fs::write(palace.join("palace.toml"), "name = \"Notes\"\n").expect("the file is writable");
        for (number, note) in notes.iter().enumerate() {
            let folder = palace.join("drawers").join(&note.wing).join(&note.room);
            fs::create_dir_all(&folder).expect("the parent folder is writable");
            let id = Ulid::from(number as u128);
            let filed = note.written.map(|it| format!("filed: {}\n", it.format("%FT%TZ")));
            let filed = filed.unwrap_or_default();
            let text = format!("---\nid: {id}\n{filed}---\n\n{}", note.text);
            let file = folder.join(format!("{number:06}.md"));
            fs::write(file, text).expect("the file is writable");
        }
        let keeper = RefCell::new(Keeper::new(home.path().to_owned(), None));
        let now = "2026-01-01T00:00:00Z".parse().expect("it is a time");
        let caller = Caller::for_client("benchmark", now);
        Self { _home: home, keeper, toolbox: Toolbox::new(vec![ToolSet::Mempalace]), caller }
    }

    /// Returns the numbers of the best notes, in `wing` or in all wings.
    pub(crate) fn search(&self, query: &str, wing: Option<&str>, limit: usize) -> Vec<usize> {
        let arguments = json!({ "query": query, "wing": wing, "limit": limit });
        let Value::Object(arguments) = arguments else { return Vec::new() };
        let keeper = &mut self.keeper.borrow_mut();
        let answer = self.toolbox.call_tool(keeper, &self.caller, "mempalace_search", arguments);
        let answer = answer.expect("the tool exists").expect("the arguments are valid");
        let content = answer.structured.expect("the tool returns structured content");
        let results = content["results"].as_array().expect("the results are a list").iter();
        results.map(|it| note_number(it["drawer_id"].as_str().unwrap_or_default())).collect()
    }
}

/// Parses the number of the note from a drawer id.
fn note_number(drawer_id: &str) -> usize {
    let id = drawer_id.rsplit('_').next().unwrap_or_default();
    let id: Ulid = id.parse().expect("a drawer id ends with a ULID");
    usize::try_from(u128::from(id)).expect("the ULID is the number of a note")
}
