//! The cost of the nineteen MemPalace tools: filing, search and facts, with few and
//! many drawers.
//!
//! `cargo bench --bench drawers` builds palaces of three sizes, with a tenth as many
//! facts as drawers, and calls the real program over standard input and output. Then it
//! files 2,000 drawers and compares that server's memory with that of a fresh one.
//! `cargo bench --bench drawers -- 10000` measures one size, `-- memory` only the
//! memory, `-- --smoke` the smallest size with few rounds.
//!
//! How to read the tables:
//!
//! - *Wall* is the time from request line to response line; *CPU* is the time of all
//!   threads of the server meanwhile, and more reliable on a busy machine. The median
//!   is the usual time, p99 the slow one.
//! - When `add_drawer` answers, the text has been compared with the filed texts, and is
//!   on disk and in git. The row above is the cost of the disk itself: one small file
//!   written and synced. `$PALAZZO_BENCH_DIR` is the place to measure: on `/dev/shm`
//!   there is no wait for a disk.
//! - *On disk* are the bytes of the files, and of everything that git stores for them;
//!   Palazzo has no index on disk. Changes leave data in `.git` that `git gc` would
//!   pack; it is off here.
//! - The texts are sentences of the notes of the retrieval benchmark, six in each with
//!   a unique word; the questions are those of its choosing half.
//! - The last column names a claim about 10,000 drawers, and whether this run meets it.

#![expect(clippy::print_stdout, reason = "a benchmark prints its tables")]

#[path = "../retrieval/corpus.rs"]
#[expect(dead_code, reason = "the answers to the questions are not used here")]
mod corpus;
#[path = "../ground/mod.rs"]
mod ground;
#[path = "../memory/peer.rs"]
mod peer;
mod scene;
mod table;

use peer::{CallCost, MeasuredServer};
use scene::DrawerFixture;
use table::CostTable;

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
/// The size that the claims are about.
const CLAIMED_SIZE: usize = 10_000;
/// How many rounds of each call, after some warm-up rounds.
const ROUNDS: usize = 300;
const WARM_UP_ROUNDS: usize = 5;
/// How many rounds in a smoke run.
const SMOKE_ROUNDS: usize = 5;
/// How many drawers are filed before memory is compared, also in a smoke run.
const FILED_DRAWERS: usize = 2_000;
const SMOKE_FILED_DRAWERS: usize = 100;
/// How many drawers exist before that.
const DRAWERS_BEFORE: usize = 100;
/// The maximum memory of a server that has filed many drawers, relative to a fresh one.
const MAX_MEMORY_RATIO: u64 = 2;

fn main() {
    let Some(asked) = ground::requested_parts() else { return };
    let is_asked = |it: &usize| asked.is_empty() || asked.contains(&it.to_string());
    let sizes = if ground::is_smoke_run() { &SIZES[..1] } else { &SIZES };
    sizes.iter().copied().filter(is_asked).for_each(measure_size);
    if asked.is_empty() || asked.iter().any(|it| it == "memory") {
        compare_memory();
    }
}

/// Compares the memory of a server that has filed many drawers with that of a fresh
/// one, after the same search.
fn compare_memory() {
    let filed = if ground::is_smoke_run() { SMOKE_FILED_DRAWERS } else { FILED_DRAWERS };
    let scene = DrawerFixture::new(DRAWERS_BEFORE);
    let mut server = MeasuredServer::start_palazzo(scene.bench_dir(), "mempalace");
    for round in 0..filed {
        server.call_tool("mempalace_add_drawer", &scene.tool_arguments("add_drawer", round));
    }
    let search = scene.tool_arguments("search", 0);
    server.call_tool("mempalace_search", &search);
    let after = server.memory_in_mb();
    drop(server);
    let mut server = MeasuredServer::start_palazzo(scene.bench_dir(), "mempalace");
    server.call_tool("mempalace_search", &search);
    let fresh = server.memory_in_mb();
    let holds = if after <= MAX_MEMORY_RATIO * fresh { "yes" } else { "NO" };
    println!(
        "\n{filed} drawers filed: {after} MB; a fresh server: {fresh} MB; at most {MAX_MEMORY_RATIO} times: {holds}"
    );
}

fn measure_size(size: usize) {
    let rounds = WARM_UP_ROUNDS + if ground::is_smoke_run() { SMOKE_ROUNDS } else { ROUNDS };
    let scene = DrawerFixture::new(size);
    println!("\n── {size} drawers, {} facts ──\n{}", scene.fact_count(), scene.disk_usage());
    let mut server = MeasuredServer::start_palazzo(scene.bench_dir(), "mempalace");
    let mut call = |tool: &str, round: usize| {
        let cost =
            server.call_tool(&format!("mempalace_{tool}"), &scene.tool_arguments(tool, round));
        (cost, server.memory_in_mb())
    };
    for (what, tool) in [("first status, reading all", "status"), ("first search", "search")] {
        let (CallCost { wall, cpu }, megabytes) = call(tool, 0);
        println!("{what}: {wall:.1?}, CPU {cpu:.1?}, then {megabytes} MB");
    }
    let mut table = CostTable::default();
    for round in 0..rounds {
        for tool in ["status", "search", "check_duplicate", "kg_query"] {
            let (cost, _) = call(tool, round);
            table.add_cost(tool, cost);
        }
    }
    for round in 0..rounds {
        table.add_cost("one file, synced", scene.sync_one_file(round));
        for (tool, next, after) in [
            ("add_drawer", "search", "search, after it"),
            ("kg_add", "kg_query", "kg_query, after it"),
        ] {
            table.add_cost(tool, call(tool, round).0);
            table.add_cost(after, call(next, round).0);
        }
    }
    print!("{}", table.render(WARM_UP_ROUNDS, size == CLAIMED_SIZE));
    println!("then {} MB; {}", server.memory_in_mb(), scene.disk_usage());
    drop(server);
    scene.assert_all_committed(2 * rounds);
}
