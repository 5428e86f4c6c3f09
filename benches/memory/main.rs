//! Compares Palazzo with the reference memory server: the same calls to both, in one
//! run.
//!
//! `cargo bench --bench memory` generates graphs of four sizes, imports each into both
//! servers, and alternates the same calls between them; a fifth graph, of 100,000
//! entities, goes only to Palazzo. `cargo bench --bench memory -- 1000` measures one
//! size, `-- --smoke` the smallest with few rounds. The reference is found as in
//! `tests/reference`; without it only Palazzo is measured.
//!
//! How to read the tables:
//!
//! - *Wall* is the median time from request line to response line. *CPU* is the average
//!   time of all threads of the server for one call, and more reliable on a busy
//!   machine. Compare only within one run.
//! - When Palazzo answers a write, it is on disk and in git. The reference has written
//!   its file, but not synced it.
//! - The reference reads its whole file at each call, and writes all of it at each
//!   change: its cost grows with the graph. In Palazzo, git's index grows, and the
//!   amount that a search has to scan.
//! - `$PALAZZO_BENCH_DIR` is the place to measure: on `/dev/shm` there is no wait for a
//!   disk.

#![expect(clippy::print_stdout, reason = "a benchmark prints its tables")]

mod graph;
#[path = "../ground/mod.rs"]
mod ground;
mod peer;
mod reference;

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use graph::GeneratedGraph;
use ground::BenchDir;
use peer::{CallCost, MeasuredServer};

const SIZES: [usize; 5] = [100, 1_000, 10_000, 30_000, 100_000];
/// The largest graph for the reference; beyond it, one of its calls takes seconds.
const MAX_REFERENCE_SIZE: usize = 30_000;
/// How many rounds of each call, after some warm-up rounds.
const ROUNDS: usize = 30;
const WARM_UP_ROUNDS: usize = 3;
/// How many rounds in a smoke run.
const SMOKE_ROUNDS: usize = 1;

fn main() {
    let Some(asked) = ground::requested_parts() else { return };
    let is_asked = |it: &usize| asked.is_empty() || asked.contains(&it.to_string());
    let sizes = if ground::is_smoke_run() { &SIZES[..1] } else { &SIZES };
    sizes.iter().copied().filter(is_asked).for_each(measure_size);
}

fn measure_size(size: usize) {
    let ground = BenchDir::new();
    let file = ground.path().join("memory.jsonl");
    let graph = GeneratedGraph { size };
    std::fs::write(&file, graph.to_jsonl()).expect("it can be written");
    println!("\n── {size} entities, {} relations ──", 2 * size);
    let imported = import_graph(&ground, &file);
    let (mut ours, starting) =
        time_first_call(MeasuredServer::start_palazzo(&ground, "memory"), &graph);
    println!("import {imported:.2?}; first call {starting:.2?}, then {} MB", ours.memory_in_mb());
    let mut theirs =
        (size <= MAX_REFERENCE_SIZE).then(|| reference::start_reference(&file)).flatten();
    println!(
        "{:<18}{:>12}{:>12}{:>12}{:>12}{:>10}",
        "", "wall", "CPU", "reference", "CPU", "CPU ratio"
    );
    for tool in ["create_entities", "add_observations", "search_nodes", "open_nodes"] {
        let mut costs = (Vec::new(), Vec::new());
        let rounds = if ground::is_smoke_run() { SMOKE_ROUNDS } else { ROUNDS };
        for round in 0..WARM_UP_ROUNDS + rounds {
            let arguments = graph.tool_arguments(tool, round);
            let cost = ours.call_tool(tool, &arguments);
            let their_cost = theirs.as_mut().map(|it| it.call_tool(tool, &arguments));
            if round >= WARM_UP_ROUNDS {
                costs.0.push(cost);
                costs.1.extend(their_cost);
            }
        }
        println!("{tool:<18}{}", format_row(&costs.0, &costs.1));
    }
    if let Some(theirs) = &theirs {
        println!("memory: {} MB, reference {} MB", ours.memory_in_mb(), theirs.memory_in_mb());
    }
}

/// Imports the file of the reference into Palazzo.
fn import_graph(ground: &BenchDir, file: &Path) -> Duration {
    let begun = Instant::now();
    let mut command = ground.isolated_command(env!("CARGO_BIN_EXE_palazzo"));
    command.args(["import", "memory"]).arg(file).arg("--home").arg(ground.path().join("home"));
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{output:?}");
    begun.elapsed()
}

/// Returns a server that has read its data, and the time it took.
fn time_first_call(mut peer: MeasuredServer, graph: &GeneratedGraph) -> (MeasuredServer, Duration) {
    let begun = Instant::now();
    peer.call_tool("open_nodes", &graph.tool_arguments("open_nodes", 0));
    (peer, begun.elapsed())
}

fn format_row(ours: &[CallCost], theirs: &[CallCost]) -> String {
    let shown = |costs: &[CallCost]| {
        format!("{:>9.3} ms{:>9.3} ms", median_wall_ms(costs), mean_cpu_ms(costs))
    };
    match theirs {
        [] => shown(ours),
        theirs => format!(
            "{}{}{:>9.1}×",
            shown(ours),
            shown(theirs),
            mean_cpu_ms(theirs) / mean_cpu_ms(ours)
        ),
    }
}

fn median_wall_ms(costs: &[CallCost]) -> f64 {
    let mut times: Vec<_> = costs.iter().map(|it| it.wall).collect();
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e3
}

fn mean_cpu_ms(costs: &[CallCost]) -> f64 {
    let all: Duration = costs.iter().map(|it| it.cpu).sum();
    #[expect(clippy::cast_precision_loss, reason = "there are fewer than 2^52 calls")]
    let number = costs.len() as f64;
    all.as_secs_f64() * 1e3 / number
}

/// Renders an entity as an argument of both servers.
fn entity_json(name: &str, kind: &str, observations: &[String]) -> Value {
    json!({ "name": name, "entityType": kind, "observations": observations })
}
