//! Measures the response time of a server: start, reading and writing.
//!
//! `cargo bench --bench palace` builds palaces of four sizes, each with 1,000 commits, and calls
//! the program over standard input and output, as an MCP client does. A time is from request line
//! to response line, so it includes the pipes, the protocol and the program; the row `ping` shows
//! the cost of the pipes and the protocol. `cargo bench --bench palace -- 1000x33` measures one
//! size; all four take about two minutes. `-- --smoke` measures the smallest size with few rounds.
//!
//! How to read the tables:
//!
//! - The columns are the median and the 90th percentile; on a busy machine the median is more
//!   reliable. The calls of the table *start* happen once in each process: the first
//!   `set_workspace` reads every file, and the first `map` reads the whole history.
//! - Do not compare times of different machines, or of different runs on a busy machine. Compare
//!   ratios: in each round Palazzo makes four writes, then `git add` and `git commit` make the same
//!   edits in a copy of the palace. A round has four writes because git keeps the disk busy even
//!   after a sync, and the next write waits for the disk.
//! - When Palazzo returns, the write is on disk. By default git does not sync loose objects, index
//!   and branch. Each run also measures the disk: it writes and syncs one small file.
//! - The last column shows the claim, and whether this run confirms it.
//!
//! The palaces are below the target directory, or in `$PALAZZO_BENCH_DIR`. On a file system in
//! memory every write is fast.

#![expect(clippy::print_stdout, reason = "a benchmark prints its tables")]

#[path = "../common/mod.rs"]
mod common;
mod fixture;
#[path = "../common/mcp_client.rs"]
mod mcp_client;
mod report;

use std::time::{Duration, Instant};

use serde_json::json;

use fixture::{PalaceFixture, PalaceSize};
use mcp_client::McpClient;
use report::{GitComparison, Timings};

const SIZES: [PalaceSize; 4] = [
    PalaceSize { rooms: 10, entities: 33 },
    PalaceSize { rooms: 1_000, entities: 33 },
    PalaceSize { rooms: 10, entities: 10_000 },
    PalaceSize { rooms: 1_000, entities: 10_000 },
];

/// The number of measured rounds for each action, and of warm-up rounds before them.
const START_ROUNDS: usize = 10;
const READ_ROUNDS: usize = 200;
const WRITE_ROUNDS: usize = 40;
const WARM_UP_ROUNDS: usize = 5;
/// The number of measured rounds in a smoke run.
const SMOKE_ROUNDS: usize = 2;
/// The maximum time for all writes: on a slow disk the benchmark measures fewer rounds.
const WRITE_TIME_LIMIT: Duration = Duration::from_secs(20);

fn main() {
    let Some(parts) = common::positional_arguments() else { return };
    let is_selected = |it: &PalaceSize| parts.is_empty() || parts.contains(&it.to_string());
    let sizes = if common::is_smoke_run() { &SIZES[..1] } else { &SIZES };
    sizes.iter().copied().filter(is_selected).for_each(measure_size);
}

/// Returns the number of rounds to run: `rounds`, or few rounds in a smoke run.
fn limit_rounds(rounds: usize) -> usize {
    if common::is_smoke_run() { SMOKE_ROUNDS } else { rounds }
}

fn measure_size(size: PalaceSize) {
    let fixture = PalaceFixture::new(size);
    println!("\n── {size}: {} ──", fixture.describe_size());
    let (mut start_times, mut read_times) = (Timings::default(), Timings::default());
    measure_start(&fixture, &mut start_times);
    measure_reads(&fixture, &mut Timings::default(), WARM_UP_ROUNDS);
    measure_reads(&fixture, &mut read_times, limit_rounds(READ_ROUNDS));
    let mut write_times = GitComparison::default();
    measure_writes(&fixture, &mut read_times, &mut write_times);
    fixture.assert_same_files();
    println!("{}", start_times.render("start", false));
    println!("{}", read_times.render("read", true));
    print!("{}", write_times.render());
}

/// Measures the calls that happen once in each process.
fn measure_start(fixture: &PalaceFixture, times: &mut Timings) {
    for _ in 0..limit_rounds(START_ROUNDS) {
        let start = Instant::now();
        let mut client = McpClient::start(fixture.serve_command());
        times.add_time("initialize, from spawn", start.elapsed());
        times.add_time("set_workspace, first", client.enter_palace());
        times.add_time("map, first", client.choose_action(0));
    }
}

/// Measures a session that only reads.
fn measure_reads(fixture: &PalaceFixture, times: &mut Timings, rounds: usize) {
    let mut client = McpClient::start(fixture.serve_command());
    client.enter_palace();
    for round in 0..rounds {
        times.add_time("ping", client.ping());
        times.add_time("set_workspace", client.enter_palace());
        times.add_time("navigate", client.choose_action(PalaceFixture::ACTION_TO_NEXT_ROOM));
        times.add_time("map", client.choose_action(0));
        client.choose_action(15);
        times.add_time(
            "navigate, unfinished room",
            client.choose_action(PalaceFixture::ACTION_TO_UNFINISHED_ROOM),
        );
        client.choose_action(15);
        times.add_time("list_entities", client.call_tool("list_entities", &json!({})));
        let genus = json!({ "genus": fixture.genus_with_entities(round), "page": 2 });
        times.add_time("list_entities, of a genus", client.call_tool("list_entities", &genus));
        let words = json!({ "query": fixture.search_words(round) });
        times.add_time("search_entities, two words", client.call_tool("search_entities", &words));
        let word = json!({ "query": PalaceFixture::COMMON_WORD });
        times.add_time("search_entities, all match", client.call_tool("search_entities", &word));
        let name = json!({ "name": fixture.entity_name(round * 7) });
        times.add_time("get_entity", client.call_tool("get_entity", &name));
    }
}

/// Measures each kind of write, a read after it, and the same edit with git.
fn measure_writes(
    fixture: &PalaceFixture,
    read_times: &mut Timings,
    write_times: &mut GitComparison,
) {
    let mut client = McpClient::start(fixture.serve_command());
    client.enter_palace();
    let start = Instant::now();
    for round in (0..WARM_UP_ROUNDS + limit_rounds(WRITE_ROUNDS))
        .take_while(|_| start.elapsed() < WRITE_TIME_LIMIT)
    {
        let mut edits = fixture.edits_for_round(round);
        // The first write after git waits for the busy disk, so the rounds rotate the edits.
        let first = round % edits.len();
        edits.rotate_left(first);
        fixture.flush_disk();
        let mut palazzo_times = Vec::new();
        for (_, tool, arguments, _) in &edits {
            palazzo_times.push((client.call_tool(tool, arguments), client.choose_action(0)));
        }
        let sync_time = fixture.sync_one_file(round);
        fixture.flush_disk();
        let git_times = edits.iter().map(|(.., file)| fixture.repeat_edit_with_git(file));
        let git_times: Vec<_> = git_times.collect();
        if round < WARM_UP_ROUNDS {
            continue;
        }
        write_times.add_times("write and sync a file", sync_time, None);
        for (((name, ..), (write, read)), git) in edits.iter().zip(palazzo_times).zip(git_times) {
            write_times.add_times(name, write, Some(git));
            read_times.add_time("map, after a write", read);
        }
    }
}
