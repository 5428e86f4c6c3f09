//! How soon a tool call shows what others have saved.
//!
//! ```text
//! cargo bench --bench watch
//! ```
//!
//! - *at once* counts the saves that the very next call showed; the times run
//!   from the end of the save, when the editor or git is done, to the answer
//!   that shows it, however many calls that took.
//! - *reload* is the call after many files were written in place; beside it
//!   stands the same call when nothing has changed.
//!
//! The palace lies below the target directory, or in `$PALAZZO_BENCH_DIR`;
//! `$PALAZZO_BENCH_ROUNDS` says how often each way of saving is tried (200).
//! `-- --smoke` tries each once, in a small palace.

#![expect(clippy::print_stdout, reason = "a benchmark is there to print its tables")]

#[path = "../palace/client.rs"]
mod client;
#[path = "../ground/mod.rs"]
mod ground;
mod scene;

use std::time::{Duration, Instant};

use serde_json::json;

use client::Client;
use scene::{Scene, WAYS, Way};

/// How many stones the palaces hold.
const SMALL: usize = 1_000;
const LARGE: usize = 20_000;
/// Who waits so long for a save to be shown has found a fault.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often a reload is tried.
const RELOADS: usize = 10;

fn main() {
    if ground::asked().is_none() {
        return;
    }
    let rounds = std::env::var("PALAZZO_BENCH_ROUNDS").ok();
    let usual = if ground::is_smoke() { 1 } else { 200 };
    let rounds = rounds.and_then(|it| it.parse().ok()).unwrap_or(usual);
    let scene = Scene::new(SMALL);
    let mut client = enter(&scene);
    println!("{SMALL} files, {rounds} rounds");
    println!("{:<24}{:>10}{:>13}{:>13}{:>13}", "saved", "at once", "p50", "p99", "longest");
    for (way, told) in WAYS.iter().zip('a'..) {
        let seen: Vec<_> =
            (0..rounds).map(|it| saved(&scene, &mut client, way, &format!("{told}{it}"))).collect();
        let at_once = seen.iter().filter(|(calls, _)| *calls == 1).count();
        let times = seen.into_iter().map(|(_, time)| time).collect();
        println!("{:<24}{:>10}{}", way.name, at_once, shown(times, &[50, 99, 100]));
    }
    drop(client);
    println!("\n{:<24}{:>10}{:>13}{:>13}", "reload", "files", "p50", "longest");
    let sizes: &[usize] = if ground::is_smoke() { &[SMALL] } else { &[SMALL, LARGE] };
    for stones in sizes {
        reloads(&Scene::new(*stones), *stones);
    }
}

fn enter(scene: &Scene) -> Client {
    let mut client = Client::start(scene.serve());
    client.enter();
    // Once somebody asks, everything is counted; it is kept up from then on.
    client.choose(0);
    client.ping();
    client
}

/// Saves once, and returns how many calls it took to be shown, and how long.
fn saved(scene: &Scene, client: &mut Client, way: &Way, status: &str) -> (usize, Duration) {
    (way.prepare)(scene, status);
    look(client);
    (way.save)(scene, status);
    let begun = Instant::now();
    for calls in 1.. {
        look(client);
        if client.answer.contains(status) {
            return (calls, begun.elapsed());
        }
        assert!(begun.elapsed() < PATIENCE, "{}: {}", way.name, client.answer);
    }
    (0, begun.elapsed())
}

fn reloads(scene: &Scene, stones: usize) {
    let mut client = enter(scene);
    let rounds = if ground::is_smoke() { 1 } else { RELOADS };
    for changed in [0, 1, 1_000] {
        let times = (0..rounds).map(|round| {
            let status = format!("round{changed}-{round}");
            scene.put_many(changed, &status);
            let begun = Instant::now();
            look(&mut client);
            while changed > 0 && !client.answer.contains(&status) {
                assert!(begun.elapsed() < PATIENCE, "{}", client.answer);
                look(&mut client);
            }
            begun.elapsed()
        });
        let what = format!("{changed} changed");
        println!("{what:<24}{stones:>10}{}", shown(times.collect(), &[50, 100]));
    }
}

fn look(client: &mut Client) {
    client.call("get_entity", &json!({ "name": "Stone 0" }));
}

fn shown(mut times: Vec<Duration>, percents: &[usize]) -> String {
    times.sort();
    let at = |percent: &usize| times[(times.len() * percent / 100).min(times.len() - 1)];
    let shown = percents.iter().map(|it| format!("{:>10.2} ms", at(it).as_secs_f64() * 1e3));
    shown.collect::<Vec<_>>().concat()
}
