//! Latency for clients: how long Palazzo takes to answer, and to write.
//!
//! `cargo bench` builds palaces of four sizes, each with a history of a thousand
//! commits, and calls the real program over standard input and output, as an MCP client
//! does. A time is from request line to response line, so it includes the pipes, the
//! protocol and the program; the row `ping` is the cost of the first two. `cargo bench
//! -- 1000x33` measures one size only; all four take about two minutes. `-- --smoke`
//! measures the smallest, with few rounds.
//!
//! How to read the tables:
//!
//! - The median is the usual time, the 90th percentile the slow one; on a busy machine
//!   the median is more reliable. *Starting* happens once in the life of a process: the
//!   first `set_workspace` reads every file, the first `map` the whole history.
//! - Times of different machines, or of different runs on a busy machine, cannot be
//!   compared. Ratios can: Palazzo makes four writes, then `git add` and `git commit`
//!   make the same edits in a copy of the palace, and so on in turn. Four, because git
//!   leaves the disk busy even after a sync, and the next write waits for it.
//! - When Palazzo answers, the write is on disk. Git's is not: by default git does not
//!   sync loose objects, index and branch. Each run also shows the cost of the disk
//!   itself: one small file written and synced.
//! - The last column names the claim and whether this run meets it.
//!
//! The palaces are below the target directory, or in `$PALAZZO_BENCH_DIR`; on a file
//! system in memory every write looks fast.

#![expect(clippy::print_stdout, reason = "a benchmark prints its tables")]

mod client;
#[path = "../ground/mod.rs"]
mod ground;
mod scene;
mod table;

use std::time::{Duration, Instant};

use serde_json::json;

use client::McpClient;
use scene::{PalaceSize, TwinPalaces};
use table::{GitComparison, Timings};

const SIZES: [PalaceSize; 4] = [
    PalaceSize { rooms: 10, entities: 33 },
    PalaceSize { rooms: 1_000, entities: 33 },
    PalaceSize { rooms: 10, entities: 10_000 },
    PalaceSize { rooms: 1_000, entities: 10_000 },
];

/// How many rounds of each action, after some warm-up rounds.
const START_ROUNDS: usize = 10;
const READ_ROUNDS: usize = 200;
const WRITE_ROUNDS: usize = 40;
const WARM_UP_ROUNDS: usize = 5;
/// How many rounds in a smoke run.
const SMOKE_ROUNDS: usize = 2;
/// On a slow disk fewer writes are measured.
const WRITE_TIME_LIMIT: Duration = Duration::from_secs(20);

fn main() {
    let Some(asked) = ground::requested_parts() else { return };
    let is_asked = |it: &PalaceSize| asked.is_empty() || asked.contains(&it.to_string());
    let sizes = if ground::is_smoke_run() { &SIZES[..1] } else { &SIZES };
    sizes.iter().copied().filter(is_asked).for_each(measure_size);
}

/// Returns how many of `rounds` to run.
fn limit_rounds(rounds: usize) -> usize {
    if ground::is_smoke_run() { SMOKE_ROUNDS } else { rounds }
}

fn measure_size(size: PalaceSize) {
    let scene = TwinPalaces::new(size);
    println!("\n── {size}: {} ──", scene.describe_size());
    let (mut starting, mut reading) = (Timings::default(), Timings::default());
    measure_starting(&scene, &mut starting);
    measure_reading(&scene, &mut Timings::default(), WARM_UP_ROUNDS);
    measure_reading(&scene, &mut reading, limit_rounds(READ_ROUNDS));
    let mut writing = GitComparison::default();
    measure_writing(&scene, &mut reading, &mut writing);
    scene.assert_same_files();
    println!("{}", starting.render("starting", false));
    println!("{}", reading.render("reading", true));
    print!("{}", writing.render());
}

/// Measures what happens once in the life of a process.
fn measure_starting(scene: &TwinPalaces, ledger: &mut Timings) {
    for _ in 0..limit_rounds(START_ROUNDS) {
        let begun = Instant::now();
        let mut client = McpClient::start(scene.serve_command());
        ledger.add_time("initialize, from spawn", begun.elapsed());
        ledger.add_time("set_workspace, first", client.enter_palace());
        ledger.add_time("map, first", client.choose_action(0));
    }
}

/// Measures a session that only reads.
fn measure_reading(scene: &TwinPalaces, ledger: &mut Timings, rounds: usize) {
    let mut client = McpClient::start(scene.serve_command());
    client.enter_palace();
    for round in 0..rounds {
        ledger.add_time("ping", client.ping());
        ledger.add_time("set_workspace", client.enter_palace());
        ledger.add_time("navigate", client.choose_action(TwinPalaces::TO_NEXT));
        ledger.add_time("map", client.choose_action(0));
        client.choose_action(15);
        ledger.add_time(
            "navigate, unfinished room",
            client.choose_action(TwinPalaces::TO_UNFINISHED),
        );
        client.choose_action(15);
        ledger.add_time("list_entities", client.call_tool("list_entities", &json!({})));
        let genus = json!({ "genus": scene.genus_with_entities(round), "page": 2 });
        ledger.add_time("list_entities, of a genus", client.call_tool("list_entities", &genus));
        let words = json!({ "query": scene.search_words(round) });
        ledger.add_time("search_entities, two words", client.call_tool("search_entities", &words));
        let word = json!({ "query": TwinPalaces::IN_EVERY_ENTITY });
        ledger.add_time("search_entities, in all", client.call_tool("search_entities", &word));
        let name = json!({ "name": scene.entity_name(round * 7) });
        ledger.add_time("get_entity", client.call_tool("get_entity", &name));
    }
}

/// Measures each kind of write against git, and a read after it.
fn measure_writing(scene: &TwinPalaces, reading: &mut Timings, writing: &mut GitComparison) {
    let mut client = McpClient::start(scene.serve_command());
    client.enter_palace();
    let begun = Instant::now();
    for round in (0..WARM_UP_ROUNDS + limit_rounds(WRITE_ROUNDS))
        .take_while(|_| begun.elapsed() < WRITE_TIME_LIMIT)
    {
        let mut edits = scene.edits_for_round(round);
        // The first to write after git finds the disk busy; so the order changes.
        let first = round % edits.len();
        edits.rotate_left(first);
        scene.flush_disk();
        let mut ours = Vec::new();
        for (_, tool, arguments, _) in &edits {
            ours.push((client.call_tool(tool, arguments), client.choose_action(0)));
        }
        let synced = scene.sync_one_file(round);
        scene.flush_disk();
        let theirs = edits.iter().map(|(.., file)| scene.repeat_edit_with_git(file));
        let theirs: Vec<_> = theirs.collect();
        if round < WARM_UP_ROUNDS {
            continue;
        }
        writing.add_times("one file, synced", synced, None);
        for (((what, ..), (ours, after)), theirs) in edits.iter().zip(ours).zip(theirs) {
            writing.add_times(what, ours, Some(theirs));
            reading.add_time("map, after a write", after);
        }
    }
}
