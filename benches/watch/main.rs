//! Measures the time until a tool call shows a file that another program has saved.
//!
//! ```text
//! cargo bench --bench watch
//! ```
//!
//! - *first call* counts the saves that the first call after the save showed. The times are from
//!   the end of the save to the response that shows it, over any number of calls.
//! - *reload* is the time of a call after many files were written in place. The row with 0 changed
//!   files is for comparison.
//!
//! The palace is below the target directory, or in `$PALAZZO_BENCH_DIR`. `$PALAZZO_BENCH_ROUNDS`
//! is the number of rounds for each save method (default 200). `-- --smoke` runs each method once,
//! in a small palace.

#![expect(clippy::print_stdout, reason = "a benchmark prints its tables")]

#[path = "../common/mod.rs"]
mod common;
mod fixture;
#[path = "../common/mcp_client.rs"]
mod mcp_client;

use std::time::{Duration, Instant};

use serde_json::json;

use fixture::{SAVE_METHODS, SaveMethod, WatchFixture};
use mcp_client::McpClient;

/// The number of entities in the small and in the large palace.
const SMALL: usize = 1_000;
const LARGE: usize = 20_000;
/// The benchmark fails if a save is not shown after this time.
const MAX_WAIT: Duration = Duration::from_secs(60);
/// The number of rounds for each reload.
const RELOAD_ROUNDS: usize = 10;

fn main() {
    if common::positional_arguments().is_none() {
        return;
    }
    let rounds = std::env::var("PALAZZO_BENCH_ROUNDS").ok();
    let default_rounds = if common::is_smoke_run() { 1 } else { 200 };
    let rounds = rounds.and_then(|it| it.parse().ok()).unwrap_or(default_rounds);
    let fixture = WatchFixture::new(SMALL);
    let mut client = enter_palace(&fixture);
    println!("{SMALL} files, {rounds} rounds");
    println!("{:<24}{:>10}{:>13}{:>13}{:>13}", "save method", "first call", "p50", "p99", "max");
    for (method, letter) in SAVE_METHODS.iter().zip('a'..) {
        let results: Vec<_> = (0..rounds)
            .map(|it| time_save(&fixture, &mut client, method, &format!("{letter}{it}")))
            .collect();
        let first_call = results.iter().filter(|(calls, _)| *calls == 1).count();
        let times = results.into_iter().map(|(_, time)| time).collect();
        let percentiles = format_percentiles(times, &[50, 99, 100]);
        println!("{:<24}{first_call:>10}{percentiles}", method.name);
    }
    drop(client);
    println!("\n{:<24}{:>10}{:>13}{:>13}", "reload", "files", "p50", "max");
    let sizes: &[usize] = if common::is_smoke_run() { &[SMALL] } else { &[SMALL, LARGE] };
    for entities in sizes {
        measure_reloads(&WatchFixture::new(*entities), *entities);
    }
}

fn enter_palace(fixture: &WatchFixture) -> McpClient {
    let mut client = McpClient::start(fixture.serve_command());
    client.enter_palace();
    // The first map counts the versions of all files; later calls only update the counts.
    client.choose_action(0);
    client.ping();
    client
}

/// Saves once. Returns the number of calls until a response shows the save, and the time.
fn time_save(
    fixture: &WatchFixture,
    client: &mut McpClient,
    method: &SaveMethod,
    status: &str,
) -> (usize, Duration) {
    (method.prepare)(fixture, status);
    read_entity(client);
    (method.save)(fixture, status);
    let start = Instant::now();
    for calls in 1.. {
        read_entity(client);
        if client.last_response.contains(status) {
            return (calls, start.elapsed());
        }
        assert!(start.elapsed() < MAX_WAIT, "{}: {}", method.name, client.last_response);
    }
    (0, start.elapsed())
}

/// Measures a call after 0, 1 and 1,000 files were written.
fn measure_reloads(fixture: &WatchFixture, entities: usize) {
    let mut client = enter_palace(fixture);
    let rounds = if common::is_smoke_run() { 1 } else { RELOAD_ROUNDS };
    for changed in [0, 1, 1_000] {
        let times = (0..rounds).map(|round| {
            let status = format!("round{changed}-{round}");
            fixture.write_entities(changed, &status);
            let start = Instant::now();
            read_entity(&mut client);
            while changed > 0 && !client.last_response.contains(&status) {
                assert!(start.elapsed() < MAX_WAIT, "{}", client.last_response);
                read_entity(&mut client);
            }
            start.elapsed()
        });
        let name = format!("{changed} changed");
        println!("{name:<24}{entities:>10}{}", format_percentiles(times.collect(), &[50, 100]));
    }
}

fn read_entity(client: &mut McpClient) {
    client.call_tool("get_entity", &json!({ "name": "Stone 0" }));
}

fn format_percentiles(mut times: Vec<Duration>, percents: &[usize]) -> String {
    times.sort();
    let at = |percent: &usize| times[(times.len() * percent / 100).min(times.len() - 1)];
    let columns = percents.iter().map(|it| format!("{:>10.2} ms", at(it).as_secs_f64() * 1e3));
    columns.collect::<Vec<_>>().concat()
}
