//! Searches as an agent does: with number 17 among drawers, and with `search_entities`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;

use palazzo::mcp::{ToolSet, Toolbox};
use palazzo_core::model::ItemId;
use palazzo_keeper::{self as keeper, Caller, Keeper};
use serde_json::{Value, json};
use ulid::Ulid;

use crate::corpus::{Corpus, Note};
use crate::metrics::{RetrievalMetrics, evaluate_search};

/// A palace with a drawer and an entity for each note, in which an agent searches.
struct AgentPalace {
    _home: tempfile::TempDir,
    keeper: RefCell<Keeper>,
    toolbox: Toolbox,
    caller: Caller,
    notes_by_name: HashMap<String, usize>,
    /// The answers, and their characters and results together.
    counts: RefCell<[usize; 3]>,
}

/// Prints how much of what answers the questions is among the results that an agent is shown, and how
/// long the answers are.
pub(crate) fn measure_agent_search(corpus: &Corpus) {
    let palace = AgentPalace::new(&corpus.notes);
    for (name, search) in [
        ("17, kind:drawer", AgentPalace::search_drawers as fn(&AgentPalace, &str) -> Vec<usize>),
        ("search_entities", AgentPalace::search_entities),
    ] {
        *palace.counts.borrow_mut() = [0; 3];
        let metrics: RetrievalMetrics =
            evaluate_search(corpus, false, |query, _, _| search(&palace, query));
        let [answers, chars, results] = *palace.counts.borrow();
        println!("{}", metrics.total_row(name));
        println!(
            "    shown: {} results, {} characters in the mean",
            results / answers.max(1),
            chars / answers.max(1)
        );
    }
}

impl AgentPalace {
    fn new(notes: &[Note]) -> Self {
        let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))
            .expect("the target directory is writable");
        let palace = home.path().join("palace");
        let write = |file: String, text: String| {
            let file = palace.join(file);
            let folder = file.parent().expect("a file is in a folder");
            fs::create_dir_all(folder).expect("the folder is writable");
            fs::write(file, text).expect("the file is writable");
        };
        write("palace.toml".to_owned(), "name = \"Notes\"\n".to_owned());
        write("rooms/hall.yaml".to_owned(), "name: Hall\n".to_owned());
        let mut notes_by_name = HashMap::new();
        for (number, note) in notes.iter().enumerate() {
            let id = Ulid::from(number as u128);
            let filed = note.written.map(|it| format!("filed: {}\n", it.format("%FT%TZ")));
            let front = format!("---\nid: {id}\n{}---\n\n", filed.unwrap_or_default());
            let (wing, room) = (&note.wing, &note.room);
            write(format!("drawers/{wing}/{room}/{number:06}.md"), front + &note.text);
            let name = format!("{} {number}", note.title);
            let entity = json!({ "name": name, "genus": "Note", "observations": [note.text] });
            // JSON is YAML, too.
            write(format!("entities/{number:06}.yaml"), entity.to_string());
            notes_by_name.insert(name, number);
        }
        let keeper = RefCell::new(Keeper::new(home.path().to_owned(), None));
        let now = "2026-01-01T00:00:00Z".parse().expect("it is a time");
        let caller = Caller::for_client("benchmark", now);
        let toolbox = Toolbox::new(vec![ToolSet::Palace, ToolSet::Graph]);
        let counts = RefCell::default();
        Self { _home: home, keeper, toolbox, caller, notes_by_name, counts }
    }

    fn search_drawers(&self, query: &str) -> Vec<usize> {
        let params = format!("kind:drawer {query}");
        self.search("palace_action", json!({ "action": 17, "params": params }))
    }

    fn search_entities(&self, query: &str) -> Vec<usize> {
        self.search("search_entities", json!({ "query": query }))
    }

    /// Begins a new visit and searches. Returns the numbers of the notes that the answer shows.
    fn search(&self, tool: &str, arguments: Value) -> Vec<usize> {
        self.call("set_workspace", json!({ "workspace": "palace" }));
        let answer = self.call(tool, arguments);
        let listed = keeper::listed_items(&mut self.keeper.borrow_mut(), &self.caller);
        let is_shown = |place: usize| answer.contains(&format!("\n  {}. ", 31 + place));
        let shown = listed.iter().enumerate().filter(|(place, _)| is_shown(*place));
        let found: Vec<_> = shown.filter_map(|(_, it)| self.note_of(it)).collect();
        let mut counts = self.counts.borrow_mut();
        counts[0] += 1;
        counts[1] += answer.chars().count();
        counts[2] += found.len();
        found
    }

    fn call(&self, tool: &str, arguments: Value) -> String {
        let Value::Object(arguments) = arguments else { return String::new() };
        let keeper = &mut self.keeper.borrow_mut();
        let answer = self.toolbox.call_tool(keeper, &self.caller, tool, arguments);
        answer.expect("the tool exists").expect("the arguments are valid").text
    }

    fn note_of(&self, item: &ItemId) -> Option<usize> {
        match item {
            ItemId::Drawer(file) => file.rsplit('/').next()?.strip_suffix(".md")?.parse().ok(),
            ItemId::Entity(name) => self.notes_by_name.get(name).copied(),
            _ => None,
        }
    }
}
