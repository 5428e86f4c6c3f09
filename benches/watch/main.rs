//! How soon a tool call shows changes that other programs have saved.
//!
//! ```text
//! cargo bench --bench watch
//! ```
//!
//! - *at once* counts the saves that the next call showed; the times are from the end
//!   of the save, when the editor or git is done, to the answer that shows it, over any
//!   number of calls.
//! - *reload* is the call after many files were written in place; next to it is the
//!   same call without any change.
//!
//! The palace is below the target directory, or in `$PALAZZO_BENCH_DIR`;
//! `$PALAZZO_BENCH_ROUNDS` is the number of rounds for each way of saving (default
//! 200). `-- --smoke` runs each once, in a small palace.

#![expect(clippy::print_stdout, reason = "a benchmark prints its tables")]

#[path = "../palace/client.rs"]
mod client;
#[path = "../ground/mod.rs"]
mod ground;
mod scene;

use std::time::{Duration, Instant};

use serde_json::json;

use client::McpClient;
use scene::{SAVE_METHODS, SaveMethod, WatchFixture};

/// How many stones the palaces contain.
const SMALL: usize = 1_000;
const LARGE: usize = 20_000;
/// A save that is not shown after this time is an error.
const MAX_WAIT: Duration = Duration::from_secs(60);
/// How often a reload is measured.
const RELOAD_ROUNDS: usize = 10;

fn main() {
    if ground::requested_parts().is_none() {
        return;
    }
    let rounds = std::env::var("PALAZZO_BENCH_ROUNDS").ok();
    let usual = if ground::is_smoke_run() { 1 } else { 200 };
    let rounds = rounds.and_then(|it| it.parse().ok()).unwrap_or(usual);
    let scene = WatchFixture::new(SMALL);
    let mut client = enter_palace(&scene);
    println!("{SMALL} files, {rounds} rounds");
    println!("{:<24}{:>10}{:>13}{:>13}{:>13}", "saved", "at once", "p50", "p99", "longest");
    for (way, told) in SAVE_METHODS.iter().zip('a'..) {
        let seen: Vec<_> = (0..rounds)
            .map(|it| time_save(&scene, &mut client, way, &format!("{told}{it}")))
            .collect();
        let at_once = seen.iter().filter(|(calls, _)| *calls == 1).count();
        let times = seen.into_iter().map(|(_, time)| time).collect();
        println!("{:<24}{:>10}{}", way.name, at_once, format_percentiles(times, &[50, 99, 100]));
    }
    drop(client);
    println!("\n{:<24}{:>10}{:>13}{:>13}", "reload", "files", "p50", "longest");
    let sizes: &[usize] = if ground::is_smoke_run() { &[SMALL] } else { &[SMALL, LARGE] };
    for stones in sizes {
        measure_reloads(&WatchFixture::new(*stones), *stones);
    }
}

fn enter_palace(scene: &WatchFixture) -> McpClient {
    let mut client = McpClient::start(scene.serve_command());
    client.enter_palace();
    // The first question starts the count of all files; it is kept up to date from then
    // on.
    client.choose_action(0);
    client.ping();
    client
}

/// Saves once; returns the number of calls until it was shown, and the time.
fn time_save(
    scene: &WatchFixture,
    client: &mut McpClient,
    way: &SaveMethod,
    status: &str,
) -> (usize, Duration) {
    (way.prepare)(scene, status);
    read_stone(client);
    (way.save)(scene, status);
    let begun = Instant::now();
    for calls in 1.. {
        read_stone(client);
        if client.answer.contains(status) {
            return (calls, begun.elapsed());
        }
        assert!(begun.elapsed() < MAX_WAIT, "{}: {}", way.name, client.answer);
    }
    (0, begun.elapsed())
}

fn measure_reloads(scene: &WatchFixture, stones: usize) {
    let mut client = enter_palace(scene);
    let rounds = if ground::is_smoke_run() { 1 } else { RELOAD_ROUNDS };
    for changed in [0, 1, 1_000] {
        let times = (0..rounds).map(|round| {
            let status = format!("round{changed}-{round}");
            scene.write_stones(changed, &status);
            let begun = Instant::now();
            read_stone(&mut client);
            while changed > 0 && !client.answer.contains(&status) {
                assert!(begun.elapsed() < MAX_WAIT, "{}", client.answer);
                read_stone(&mut client);
            }
            begun.elapsed()
        });
        let what = format!("{changed} changed");
        println!("{what:<24}{stones:>10}{}", format_percentiles(times.collect(), &[50, 100]));
    }
}

fn read_stone(client: &mut McpClient) {
    client.call_tool("get_entity", &json!({ "name": "Stone 0" }));
}

fn format_percentiles(mut times: Vec<Duration>, percents: &[usize]) -> String {
    times.sort();
    let at = |percent: &usize| times[(times.len() * percent / 100).min(times.len() - 1)];
    let shown = percents.iter().map(|it| format!("{:>10.2} ms", at(it).as_secs_f64() * 1e3));
    shown.collect::<Vec<_>>().concat()
}
