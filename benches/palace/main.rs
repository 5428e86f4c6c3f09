//! What a client feels: how long Palazzo takes to answer, and to write.
//!
//! `cargo bench` builds palaces of four sizes, each with a past of a thousand
//! commits, and speaks to the real program over its standard input and output,
//! as an MCP client does. A time goes from the line that asks to the line that
//! answers, so it holds the pipes, the protocol and the program; the row `ping`
//! is what the first two cost by themselves. `cargo bench -- 1000x33` measures
//! one size only; all four take about two minutes. `-- --smoke` measures the
//! smallest, with few rounds.
//!
//! How to read the tables:
//!
//! - A median says what to expect and a ninetieth percentile how bad it gets; on
//!   a busy machine believe the first. *Starting* is what happens once in the
//!   life of a process: the first `set_workspace` reads every file, the first
//!   `map` the whole past.
//! - Times of different machines, or of different runs on a busy one, cannot be
//!   compared. Ratios can: Palazzo makes four writes, then `git add` and
//!   `git commit` make the very same edits in a twin of the palace, turn and
//!   turn about. Four, because git leaves the disk something to do even after
//!   that was asked to finish, and who comes next waits for it.
//! - When Palazzo answers, the write is on disk. What git does is not, for by
//!   default git leaves loose objects, index and branch to the system's good
//!   will. Each run also tells what the disk itself asks for: one small file
//!   written and synced, nothing else.
//! - The last column names the claim and whether this run bears it out.
//!
//! The palaces lie below the target directory, or in `$PALAZZO_BENCH_DIR`; a
//! file system in memory would make every write look good.

#![expect(clippy::print_stdout, reason = "a benchmark is there to print its tables")]

mod client;
#[path = "../ground/mod.rs"]
mod ground;
mod scene;
mod table;

use std::time::{Duration, Instant};

use serde_json::json;

use client::Client;
use scene::{Scene, Size};
use table::{Comparison, Ledger};

const SIZES: [Size; 4] = [
    Size { rooms: 10, entities: 33 },
    Size { rooms: 1_000, entities: 33 },
    Size { rooms: 10, entities: 10_000 },
    Size { rooms: 1_000, entities: 10_000 },
];

/// How often each thing is done, after a few times that do not count.
const STARTS: usize = 10;
const WALKS: usize = 200;
const WRITES: usize = 40;
const UNCOUNTED: usize = 5;
/// How often in a smoke run.
const SMOKE: usize = 2;
/// On a disk that makes everybody wait, fewer writes have to do.
const PATIENCE: Duration = Duration::from_secs(20);

fn main() {
    let Some(asked) = ground::asked() else { return };
    let is_asked = |it: &Size| asked.is_empty() || asked.contains(&it.to_string());
    let sizes = if ground::is_smoke() { &SIZES[..1] } else { &SIZES };
    sizes.iter().copied().filter(is_asked).for_each(measure);
}

/// Returns how many of `rounds` are made.
fn limited(rounds: usize) -> usize {
    if ground::is_smoke() { SMOKE } else { rounds }
}

fn measure(size: Size) {
    let scene = Scene::new(size);
    println!("\n── {size}: {} ──", scene.about());
    let (mut starting, mut reading) = (Ledger::default(), Ledger::default());
    start(&scene, &mut starting);
    walk(&scene, &mut Ledger::default(), UNCOUNTED);
    walk(&scene, &mut reading, limited(WALKS));
    let mut writing = Comparison::default();
    write(&scene, &mut reading, &mut writing);
    scene.assert_twins();
    println!("{}", starting.table("starting", false));
    println!("{}", reading.table("reading", true));
    print!("{}", writing.table());
}

/// Measures what happens once in the life of a process.
fn start(scene: &Scene, ledger: &mut Ledger) {
    for _ in 0..limited(STARTS) {
        let begun = Instant::now();
        let mut client = Client::start(scene.palazzo());
        ledger.note("initialize, from spawn", begun.elapsed());
        ledger.note("set_workspace, first", client.enter());
        ledger.note("map, first", client.choose(0));
    }
}

/// Measures a conversation that only reads.
fn walk(scene: &Scene, ledger: &mut Ledger, rounds: usize) {
    let mut client = Client::start(scene.palazzo());
    client.enter();
    for round in 0..rounds {
        ledger.note("ping", client.ping());
        ledger.note("set_workspace", client.enter());
        ledger.note("navigate", client.choose(Scene::TO_NEXT));
        ledger.note("map", client.choose(0));
        client.choose(15);
        ledger.note("navigate, unfinished room", client.choose(Scene::TO_UNFINISHED));
        client.choose(15);
        ledger.note("list_entities", client.call("list_entities", &json!({})));
        let genus = json!({ "genus": scene.genus(round), "page": 2 });
        ledger.note("list_entities, of a genus", client.call("list_entities", &genus));
        let words = json!({ "query": scene.words(round) });
        ledger.note("search_entities, two words", client.call("search_entities", &words));
        let word = json!({ "query": Scene::IN_EVERY_ENTITY });
        ledger.note("search_entities, in all", client.call("search_entities", &word));
        let name = json!({ "name": scene.entity(round * 7) });
        ledger.note("get_entity", client.call("get_entity", &name));
    }
}

/// Measures each way to write against git, and a look around after it.
fn write(scene: &Scene, reading: &mut Ledger, writing: &mut Comparison) {
    let mut client = Client::start(scene.palazzo());
    client.enter();
    let begun = Instant::now();
    for round in (0..UNCOUNTED + limited(WRITES)).take_while(|_| begun.elapsed() < PATIENCE) {
        let mut edits = scene.edits(round);
        // Whoever comes first after git finds the disk busy; that is not always the same.
        let first = round % edits.len();
        edits.rotate_left(first);
        scene.settle();
        let mut ours = Vec::new();
        for (_, tool, arguments, _) in &edits {
            ours.push((client.call(tool, arguments), client.choose(0)));
        }
        let synced = scene.sync_one_file(round);
        scene.settle();
        let theirs = edits.iter().map(|(.., file)| scene.same_with_git(file));
        let theirs: Vec<_> = theirs.collect();
        if round < UNCOUNTED {
            continue;
        }
        writing.note("one file, synced", synced, None);
        for (((what, ..), (ours, after)), theirs) in edits.iter().zip(ours).zip(theirs) {
            writing.note(what, ours, Some(theirs));
            reading.note("map, after a write", after);
        }
    }
}
