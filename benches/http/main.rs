//! Measures the server over HTTP: many clients at once, and the pages of a large palace.
//!
//! ```text
//! cargo bench --bench http                 everything: some minutes
//! cargo bench --bench http -- clients      200 clients for a minute
//! cargo bench --bench http -- pages        pages and the file of a large palace
//! cargo bench --bench http -- stdio        standard input and output, beside another program
//! cargo bench --bench http -- --smoke      everything at its smallest size
//! ```
//!
//! `clients`: 200 clients of one server read 2,000 times a second, and write ten scrolls a second.
//! `pages`: the time of a page in a palace of 1,000 rooms and 100,000 entities, without the time of
//! `/healthz`; and the time of `palazzo view --out`. `stdio` compares `palace_action 0` with that of
//! the program at `$PALAZZO_BASELINE`, an earlier version of Palazzo; without it, it is skipped.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

#[path = "../common/mod.rs"]
mod common;
#[expect(dead_code, reason = "only the time of calls is measured here")]
#[path = "../common/measured_server.rs"]
mod measured_server;

mod clients;
mod fixture;
mod http_server;
mod mcp_connection;

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::common::{BenchDir, is_smoke_run, positional_arguments};
use crate::http_server::HttpServer;
use crate::measured_server::MeasuredServer;

fn main() {
    let Some(parts) = positional_arguments() else { return };
    let is_chosen = |part: &str| parts.is_empty() || parts.iter().any(|it| it == part);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("the runtime starts");
    if is_chosen("clients") {
        runtime.block_on(clients::measure(is_smoke_run()));
    }
    if is_chosen("pages") {
        runtime.block_on(measure_pages());
    }
    if is_chosen("stdio") {
        compare_stdio();
    }
}

/// Prints the time and the size of pages of a large palace.
async fn measure_pages() {
    let (rooms, entities, rounds) = match is_smoke_run() {
        true => (80, 100, 3),
        false => (1_000, 100_000, 200),
    };
    let dir = BenchDir::new();
    fixture::write_palace(&dir, rooms, entities);
    let server = HttpServer::start(&dir);
    for path in ["/museum", "/museum/log", "/museum/entities/Finding%201", "/museum/index"] {
        // The first page of a palace opens it.
        let size = server.get(path).await.len();
        let (mut pages, mut empty) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            empty.push(time_get(&server, "/healthz").await);
            pages.push(time_get(&server, path).await);
        }
        let [page, empty] = [pages, empty].map(|it| percentile(it, 50));
        let time = page.saturating_sub(empty);
        println!("{path}: {time:.2?} in the server, {} KB", size / 1000);
    }
    drop(server);
    measure_file(rooms);
}

/// Prints the time of `palazzo view --out` for a palace with few entities.
fn measure_file(rooms: usize) {
    let dir = BenchDir::new();
    fixture::write_palace(&dir, rooms, 100);
    let out = dir.path().join("museum.html");
    let mut view = dir.isolated_command(env!("CARGO_BIN_EXE_palazzo"));
    view.arg("view").arg("--home").arg(dir.path().join("home")).arg("--out").arg(&out);
    let start = Instant::now();
    assert!(view.status().expect("the program starts").success());
    let (time, size) = (start.elapsed(), out.metadata().expect("the file exists").len());
    println!("view --out, {rooms} rooms: {time:.2?}, {} KB", size / 1000);
}

async fn time_get(server: &HttpServer, path: &str) -> Duration {
    let start = Instant::now();
    server.get(path).await;
    start.elapsed()
}

/// Compares a call over standard input and output with that of an earlier version.
fn compare_stdio() {
    let Some(baseline) = std::env::var_os("PALAZZO_BASELINE") else {
        println!("stdio: skipped, because PALAZZO_BASELINE names no earlier version");
        return;
    };
    let programs = [Path::new(&baseline), Path::new(env!("CARGO_BIN_EXE_palazzo"))];
    let rounds = if is_smoke_run() { 3 } else { 2_000 };
    // Each has its own home: a server notices the files that another one touches.
    let dirs = [BenchDir::new(), BenchDir::new()];
    let mut servers = [0, 1].map(|it| {
        let (dir, program) = (&dirs[it], programs[it]);
        fixture::write_palace(dir, 20, 20);
        let mut command = dir.isolated_command(&program.to_string_lossy());
        command.arg("serve").arg(dir.path().join("home"));
        MeasuredServer::start(command)
    });
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        for (server, times) in servers.iter_mut().zip(&mut times) {
            times.push(server.call_tool("palace_action", &json!({ "action": 0 })).wall);
        }
    }
    let [before, now] = times.map(|it| percentile(it, 50));
    let ratio = now.as_secs_f64() / before.as_secs_f64();
    println!("stdio: palace_action 0 {before:.1?} before, {now:.1?} now, ratio {ratio:.2}");
}

/// Returns the time that `percent` of the calls do not exceed.
fn percentile(mut times: Vec<Duration>, percent: usize) -> Duration {
    times.sort();
    times.get((times.len() * percent / 100).min(times.len() - 1)).copied().unwrap_or_default()
}
