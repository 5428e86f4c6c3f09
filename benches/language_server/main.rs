//! Measures what an editor waits for: the language server in a large palace.
//!
//! ```text
//! cargo bench --bench language_server             1,000 rooms, 10,000 scrolls, 100,000 entities
//! cargo bench --bench language_server -- --smoke  a small palace, few rounds
//! ```
//!
//! Times are from the request to the response over standard input and output; for a change, to its
//! findings. If `ruff` and yaml-language-server are there, changes of a file of their own are
//! measured in the same run, for comparison: `$PALAZZO_RUFF`, else `ruff` on the path, and
//! `$PALAZZO_LANGUAGE_SERVER`, as in the tests.

#![expect(clippy::print_stdout, reason = "a benchmark prints its tables")]

#[path = "../common/mod.rs"]
mod common;
mod editor;
mod fixture;
mod others;

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use editor::Editor;
use fixture::{DOORS, Fixture, Size};

/// The claimed limits.
const MAX_INITIALIZE: Duration = Duration::from_millis(20);
const MAX_CHANGE: Duration = Duration::from_millis(15);
const MAX_COMPLETION: Duration = Duration::from_millis(10);
const MAX_LOOKUP: Duration = Duration::from_millis(5);
const MAX_RENAME: Duration = Duration::from_secs(1);
const MAX_MEMORY_MB: u64 = 300;

fn main() {
    if common::positional_arguments().is_none() {
        return;
    }
    let is_smoke = common::is_smoke_run();
    let size = if is_smoke { Size::SMALL } else { Size::REFERENCE };
    let rounds = if is_smoke { 2 } else { 200 };
    let fixture = Fixture::create(size);
    println!("{size}, {rounds} rounds");
    println!("{:<34}{:>11}{:>11}{:>11}{:>8}", "", "p50", "p95", "max", "claim");
    let mut editor = measure_start(&fixture);
    measure_changes(&fixture, &mut editor, rounds);
    measure_requests(&fixture, &mut editor, rounds);
    measure_rename(&fixture, &mut editor, if is_smoke { 1 } else { 10 });
    let memory = editor.memory_in_mb();
    let verdict = verdict(memory <= MAX_MEMORY_MB);
    println!("{:<34}{:>8} MB{:>22}{verdict:>8}", "memory", memory, "");
    drop(editor);
    if !is_smoke {
        others::measure(&fixture, rounds);
    }
}

/// Starts the server, and measures until it has answered, and until it has read the palace.
fn measure_start(fixture: &Fixture) -> Editor {
    let start = Instant::now();
    let mut editor = Editor::start(fixture.palazzo());
    let time = editor.initialize(fixture.root());
    print_times("initialize", vec![time], Some(MAX_INITIALIZE));
    editor.open(&fixture.room_file(0), &fixture.room_text(0));
    editor.wait_for_findings();
    print_times("palace read", vec![start.elapsed()], None);
    editor
}

/// Measures changes of one line, until the findings about the document are there.
fn measure_changes(fixture: &Fixture, editor: &mut Editor, rounds: usize) {
    let file = fixture.room_file(0);
    let line = fixture.room_text(0).lines().count();
    let time = |editor: &mut Editor, round: usize| {
        let (text, end) = if round.is_multiple_of(2) { ("x: 1\n", 0) } else { ("", 1) };
        let change = json!({
            "range": { "start": { "line": line, "character": 0 },
                       "end": { "line": line + end, "character": 0 } },
            "text": text,
        });
        let start = Instant::now();
        editor.change(&file, &change);
        editor.wait_for_findings();
        start.elapsed()
    };
    let times = (0..rounds).map(|it| time(editor, it)).collect();
    print_times("change of a room to its findings", times, Some(MAX_CHANGE));
    let entity = fixture.entity_file(1);
    editor.open(&entity, &fixture.entity_text(1));
    editor.wait_for_findings();
    let times = (0..rounds).map(|round| {
        let text = format!("{}# {round}\n", fixture.entity_text(1));
        let start = Instant::now();
        editor.change(&entity, &json!({ "text": text }));
        editor.wait_for_findings();
        start.elapsed()
    });
    print_times("change of an entity to its findings", times.collect(), Some(MAX_CHANGE));
}

fn measure_requests(fixture: &Fixture, editor: &mut Editor, rounds: usize) {
    let (room, entity) = (fixture.room_file(0), fixture.entity_file(1));
    let doors: Vec<_> = (1..=DOORS).map(|it| fixture.place_of_door(0, it)).collect();
    let relation = [fixture.place_of_relation(1)];
    let requests = [
        ("completion of a room", "textDocument/completion", &room, &doors[..], MAX_COMPLETION),
        ("completion of an entity", "textDocument/completion", &entity, &relation, MAX_COMPLETION),
        ("hover", "textDocument/hover", &room, &doors, MAX_LOOKUP),
        ("definition of a room", "textDocument/definition", &room, &doors, MAX_LOOKUP),
        ("definition of an entity", "textDocument/definition", &entity, &relation, MAX_LOOKUP),
        ("references of a room", "textDocument/references", &room, &doors, MAX_LOOKUP),
    ];
    for (name, method, file, places, limit) in requests {
        let mut most = 0;
        let times = (0..rounds).map(|round| {
            let (line, character) = places[round % places.len()];
            let params = json!({
                "textDocument": { "uri": editor::uri(file) },
                "position": { "line": line, "character": character },
                "context": { "includeDeclaration": true, "triggerKind": 1 },
            });
            let start = Instant::now();
            let response = editor.request(method, &params);
            let time = start.elapsed();
            most = most.max(items(&response));
            time
        });
        let times: Vec<_> = times.collect();
        assert!(most > 0, "{name}: there is an answer");
        assert!(!method.ends_with("completion") || most <= 100, "{name}: {most} items");
        print_times(name, times, Some(limit));
    }
}

/// Measures the rename of the entity that 1,000 others name.
fn measure_rename(fixture: &Fixture, editor: &mut Editor, rounds: usize) {
    let entity = fixture.entity_file(1);
    let (line, character) = fixture.place_of_relation(1);
    let params = json!({
        "textDocument": { "uri": editor::uri(&entity) },
        "position": { "line": line, "character": character },
        "newName": "Another name",
    });
    let mut files = 0;
    let times = (0..rounds).map(|_| {
        let start = Instant::now();
        let response = editor.request("textDocument/rename", &params);
        let time = start.elapsed();
        files = response["result"]["documentChanges"].as_array().map_or(0, Vec::len);
        time
    });
    let times = times.collect();
    assert!(files >= fixture.mentions(), "the rename changes {files} files");
    print_times(&format!("rename in {files} files"), times, Some(MAX_RENAME));
}

/// Counts what a response has.
fn items(response: &Value) -> usize {
    let result = &response["result"];
    let list = result["items"].as_array().or_else(|| result.as_array());
    list.map_or(usize::from(!result.is_null()), Vec::len)
}

fn print_times(name: &str, mut times: Vec<Duration>, limit: Option<Duration>) {
    times.sort();
    let percentile = |percent: usize| times[(times.len() - 1) * percent / 100];
    let shown = [50, 95, 100].map(|it| format!("{:.1} ms", percentile(it).as_secs_f64() * 1e3));
    let verdict = limit.map_or("", |limit| verdict(percentile(95) <= limit));
    println!("{name:<34}{:>11}{:>11}{:>11}{verdict:>8}", shown[0], shown[1], shown[2]);
}

fn verdict(is_confirmed: bool) -> &'static str {
    if is_confirmed { "yes" } else { "no" }
}
