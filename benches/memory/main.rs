//! Compares Palazzo with the reference memory server: both get the same calls, in one run.
//!
//! `cargo bench --bench memory` generates graphs of four sizes, gives each graph to both servers,
//! and sends the same calls to them in turn. Only Palazzo gets a fifth graph, of 100,000 entities.
//! `cargo bench --bench memory -- 1000` measures one size, and `-- --smoke` measures the smallest
//! size with few rounds. The reference server is at the same path as in `tests/reference`; without
//! it the benchmark measures only Palazzo.
//!
//! How to read the tables:
//!
//! - *Wall* is the median time from request line to response line. *CPU* is the mean CPU time of
//!   all threads of the server for one call; it is more reliable on a busy machine. Compare only
//!   within one run.
//! - When Palazzo returns, the write is on disk and in git. The reference server has written its
//!   file but has not synced it.
//! - The reference server reads its whole file at each call and writes the whole file at each
//!   change, so its cost grows with the graph. In Palazzo, git's index and the text that a search
//!   scans grow with the graph.
//! - `$PALAZZO_BENCH_DIR` selects the file system: `/dev/shm` needs no disk.

#![expect(clippy::print_stdout, reason = "a benchmark prints its tables")]

#[path = "../common/mod.rs"]
mod common;
mod generated_graph;
#[path = "../common/measured_server.rs"]
mod measured_server;
mod reference_server;

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use common::BenchDir;
use generated_graph::GeneratedGraph;
use measured_server::{CallCost, MeasuredServer};

const SIZES: [usize; 5] = [100, 1_000, 10_000, 30_000, 100_000];
/// The size of the largest graph for the reference server, whose calls take seconds beyond it.
const MAX_REFERENCE_SIZE: usize = 30_000;
/// The number of measured rounds for each call, and of warm-up rounds before them.
const ROUNDS: usize = 30;
const WARM_UP_ROUNDS: usize = 3;
/// The number of measured rounds in a smoke run.
const SMOKE_ROUNDS: usize = 1;

fn main() {
    let Some(parts) = common::positional_arguments() else { return };
    let is_selected = |it: &usize| parts.is_empty() || parts.contains(&it.to_string());
    let sizes = if common::is_smoke_run() { &SIZES[..1] } else { &SIZES };
    sizes.iter().copied().filter(is_selected).for_each(measure_size);
}

fn measure_size(size: usize) {
    let bench_dir = BenchDir::new();
    let file = bench_dir.path().join("memory.jsonl");
    let graph = GeneratedGraph { size };
    std::fs::write(&file, graph.to_jsonl()).expect("the file is writable");
    println!("\n── {size} entities, {} relations ──", 2 * size);
    let import_time = import_graph(&bench_dir, &file);
    let mut palazzo = MeasuredServer::start_palazzo(&bench_dir, "memory");
    let first_call_time = time_first_call(&mut palazzo, &graph);
    let memory = palazzo.memory_in_mb();
    println!("import {import_time:.2?}; first call {first_call_time:.2?}; memory {memory} MB");
    let mut reference =
        (size <= MAX_REFERENCE_SIZE).then(|| reference_server::start_reference(&file)).flatten();
    println!(
        "{:<18}{:>12}{:>12}{:>12}{:>12}{:>10}",
        "", "wall", "CPU", "reference", "CPU", "CPU ratio"
    );
    for tool in ["create_entities", "add_observations", "search_nodes", "open_nodes"] {
        let mut costs = (Vec::new(), Vec::new());
        let rounds = if common::is_smoke_run() { SMOKE_ROUNDS } else { ROUNDS };
        for round in 0..WARM_UP_ROUNDS + rounds {
            let arguments = graph.tool_arguments(tool, round);
            let palazzo_cost = palazzo.call_tool(tool, &arguments);
            let reference_cost = reference.as_mut().map(|it| it.call_tool(tool, &arguments));
            if round >= WARM_UP_ROUNDS {
                costs.0.push(palazzo_cost);
                costs.1.extend(reference_cost);
            }
        }
        println!("{tool:<18}{}", format_row(&costs.0, &costs.1));
    }
    if let Some(reference) = &reference {
        let (palazzo, reference) = (palazzo.memory_in_mb(), reference.memory_in_mb());
        println!("memory: {palazzo} MB, reference {reference} MB");
    }
}

/// Imports a file of the reference server into Palazzo and returns the time.
fn import_graph(bench_dir: &BenchDir, file: &Path) -> Duration {
    let start = Instant::now();
    let mut command = bench_dir.isolated_command(env!("CARGO_BIN_EXE_palazzo"));
    command.args(["import", "memory"]).arg(file).arg("--home").arg(bench_dir.path().join("home"));
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{output:?}");
    start.elapsed()
}

/// Returns the time of the first call, in which the server reads its data.
fn time_first_call(server: &mut MeasuredServer, graph: &GeneratedGraph) -> Duration {
    let start = Instant::now();
    server.call_tool("open_nodes", &graph.tool_arguments("open_nodes", 0));
    start.elapsed()
}

fn format_row(palazzo: &[CallCost], reference: &[CallCost]) -> String {
    let format_costs = |costs: &[CallCost]| {
        format!("{:>9.3} ms{:>9.3} ms", median_wall_ms(costs), mean_cpu_ms(costs))
    };
    match reference {
        [] => format_costs(palazzo),
        reference => format!(
            "{}{}{:>9.1}×",
            format_costs(palazzo),
            format_costs(reference),
            mean_cpu_ms(reference) / mean_cpu_ms(palazzo)
        ),
    }
}

fn median_wall_ms(costs: &[CallCost]) -> f64 {
    let mut times: Vec<_> = costs.iter().map(|it| it.wall).collect();
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e3
}

fn mean_cpu_ms(costs: &[CallCost]) -> f64 {
    let total: Duration = costs.iter().map(|it| it.cpu).sum();
    #[expect(clippy::cast_precision_loss, reason = "there are fewer than 2^52 calls")]
    let count = costs.len() as f64;
    total.as_secs_f64() * 1e3 / count
}

/// Renders an entity as both servers accept it.
fn entity_json(name: &str, kind: &str, observations: &[String]) -> Value {
    json!({ "name": name, "entityType": kind, "observations": observations })
}
