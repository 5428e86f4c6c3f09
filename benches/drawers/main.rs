//! Measures the MemPalace tools for drawers and facts, with 1,000 to 100,000 drawers.
//!
//! `cargo bench --bench drawers` builds palaces of three sizes, with one fact for every ten
//! drawers, and calls the program over standard input and output. Then it files 2,000 drawers and
//! compares the memory of that server with the memory of a new server. `cargo bench --bench
//! drawers -- 10000` measures one size, `-- memory` measures only the memory, and `-- --smoke`
//! measures the smallest size with few rounds.
//!
//! How to read the tables:
//!
//! - *Wall* is the time from request line to response line. *CPU* is the CPU time of all threads
//!   of the server in that time; it is more reliable on a busy machine. The columns are the median
//!   and the 99th percentile.
//! - When `add_drawer` returns, the server has compared the text with the filed texts and has
//!   written it to disk and to git. The row above it is the cost of the disk: it writes and syncs
//!   one small file. `$PALAZZO_BENCH_DIR` selects the file system: `/dev/shm` needs no disk.
//! - *On disk* is the size of the files, and of all data that git stores for them. Palazzo has no
//!   index on disk. Each change adds objects to `.git`; `git gc` would pack them, but the
//!   benchmark disables it.
//! - A text consists of six sentences from the notes of the retrieval benchmark and one unique
//!   word. The queries are the questions of its tuning set.
//! - A search from the command line reads all files, and indexes only the words of its query: compare it
//!   with the first status and the first search of the server, which index all words.
//! - The last column shows the claims about 10,000 drawers, and whether this run confirms them.

#![expect(clippy::print_stdout, reason = "a benchmark prints its tables")]

#[path = "../common/mod.rs"]
mod common;
#[path = "../retrieval/corpus.rs"]
#[expect(dead_code, reason = "this benchmark does not use the answers")]
mod corpus;
mod fixture;
#[path = "../common/measured_server.rs"]
mod measured_server;
mod report;

use fixture::DrawerFixture;
use measured_server::{CallCost, MeasuredServer};
use report::CostTable;

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
/// The size for which the report checks the claims.
const CLAIM_SIZE: usize = 10_000;
/// The number of measured rounds for each call, and of warm-up rounds before them.
const ROUNDS: usize = 300;
const WARM_UP_ROUNDS: usize = 5;
/// The number of measured rounds in a smoke run.
const SMOKE_ROUNDS: usize = 5;
/// The number of drawers to file before the comparison of memory, and in a smoke run.
const NEW_DRAWERS: usize = 2_000;
const SMOKE_NEW_DRAWERS: usize = 100;
/// The number of drawers that exist before that.
const INITIAL_DRAWERS: usize = 100;
/// The claimed maximum memory of a server that has filed many drawers, relative to a new server.
const MAX_MEMORY_RATIO: u64 = 2;

fn main() {
    let Some(parts) = common::positional_arguments() else { return };
    let is_selected = |it: &usize| parts.is_empty() || parts.contains(&it.to_string());
    let sizes = if common::is_smoke_run() { &SIZES[..1] } else { &SIZES };
    sizes.iter().copied().filter(is_selected).for_each(measure_size);
    if parts.is_empty() || parts.iter().any(|it| it == "memory") {
        compare_memory();
    }
}

/// Compares the memory of a server that has filed many drawers with the memory of a new server,
/// after the same search.
fn compare_memory() {
    let new_drawers = if common::is_smoke_run() { SMOKE_NEW_DRAWERS } else { NEW_DRAWERS };
    let fixture = DrawerFixture::new(INITIAL_DRAWERS);
    let mut server = MeasuredServer::start_palazzo(fixture.bench_dir(), "mempalace");
    for round in 0..new_drawers {
        server.call_tool("mempalace_add_drawer", &fixture.tool_arguments("add_drawer", round));
    }
    let search = fixture.tool_arguments("search", 0);
    server.call_tool("mempalace_search", &search);
    let memory_after_writes = server.memory_in_mb();
    drop(server);
    let mut server = MeasuredServer::start_palazzo(fixture.bench_dir(), "mempalace");
    server.call_tool("mempalace_search", &search);
    let memory_of_new_server = server.memory_in_mb();
    let is_confirmed = memory_after_writes <= MAX_MEMORY_RATIO * memory_of_new_server;
    println!(
        "\nafter {new_drawers} new drawers: {memory_after_writes} MB; \
         a new server: {memory_of_new_server} MB; at most {MAX_MEMORY_RATIO} times: {}",
        if is_confirmed { "yes" } else { "NO" }
    );
}

fn measure_size(size: usize) {
    let rounds = WARM_UP_ROUNDS + if common::is_smoke_run() { SMOKE_ROUNDS } else { ROUNDS };
    let fixture = DrawerFixture::new(size);
    println!("\n── {size} drawers, {} facts ──\n{}", fixture.fact_count(), fixture.disk_usage());
    let mut server = MeasuredServer::start_palazzo(fixture.bench_dir(), "mempalace");
    let mut call = |tool: &str, round: usize| {
        let cost =
            server.call_tool(&format!("mempalace_{tool}"), &fixture.tool_arguments(tool, round));
        (cost, server.memory_in_mb())
    };
    for (name, tool) in [("first status, reads all files", "status"), ("first search", "search")] {
        let (CallCost { wall, cpu }, megabytes) = call(tool, 0);
        println!("{name}: {wall:.1?}, CPU {cpu:.1?}, memory {megabytes} MB");
    }
    let mut table = CostTable::default();
    for round in 0..rounds {
        for tool in ["status", "search", "check_duplicate", "kg_query"] {
            let (cost, _) = call(tool, round);
            table.add_cost(tool, cost);
        }
    }
    for round in 0..rounds {
        table.add_cost("write and sync a file", fixture.sync_one_file(round));
        for (write_tool, read_tool, read_row) in [
            ("add_drawer", "search", "search after a write"),
            ("kg_add", "kg_query", "kg_query after a write"),
        ] {
            table.add_cost(write_tool, call(write_tool, round).0);
            table.add_cost(read_row, call(read_tool, round).0);
        }
    }
    print!("{}", table.render(WARM_UP_ROUNDS, size == CLAIM_SIZE));
    println!("memory {} MB; {}", server.memory_in_mb(), fixture.disk_usage());
    drop(server);
    let searches: Vec<_> = (1..=3).map(|it| fixture.search_from_command_line(it)).collect();
    println!("three searches from the command line: {searches:.1?}");
    fixture.assert_all_committed(2 * rounds);
}
