//! The cost of history: a palace of 1,000 rooms with 10,000 commits.
//!
//! ```text
//! cargo bench --bench history
//! cargo bench --bench history -- --smoke      once, with a small part of all that
//! cargo bench --bench history -- --smoke      once, with a small palace
//!
//! Each row compares Palazzo with git for the same work, alternating in one run. There
//! is a table for each way in which git stores the objects: as loose files, as before
//! any maintenance; packed; packed, and with the commit graph that `git maintenance`
//! writes.
//!
//! - *library* is the call in this process; *from spawn* is the whole program, as a
//!   person runs it, which also reads the palace; *git* is always the program.
//! - *versions* counts the commits of every file, as the first map of a process does:
//!   *cold* without a cache, *warm* from a cache that another process has written,
//!   *behind* from a cache that is a hundred commits old. Git has no such command; it
//!   lists the files of every commit instead.
//! - *as of* opens the palace as it was five thousand commits ago: for the first time,
//!   and again.
//!
//! All times are medians; the repository is in the page cache. It is below the target
//! directory, or in `$PALAZZO_BENCH_DIR`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its tables")]

#[path = "../palace/client.rs"]
mod client;
#[path = "../ground/mod.rs"]
mod ground;
mod scene;

use std::time::{Duration, Instant};

use palazzo::store::{HistoryCache, Store};
use serde_json::json;

use client::McpClient;
use scene::{HistoryFixture, ObjectStorage};

/// How often each action is measured, after one warm-up.
const ROUNDS: usize = 7;
/// How many rooms there are, also in a smoke run.
const ROOM_COUNT: usize = 1_000;
const SMOKE_ROOM_COUNT: usize = 20;

fn main() {
    if ground::requested_parts().is_none() {
        return;
    }
    let scene =
        HistoryFixture::new(if ground::is_smoke_run() { SMOKE_ROOM_COUNT } else { ROOM_COUNT });
    println!("{}", scene.describe_size());
    for state in [ObjectStorage::Loose, ObjectStorage::Packed, ObjectStorage::CommitGraph] {
        scene.set_storage(state);
        println!(
            "\n{:<34}{:>12}{:>12}{:>12}",
            format!("── {state:?} ──"),
            "library",
            "from spawn",
            "git"
        );
        measure_logs(&scene);
        measure_diff(&scene);
        measure_version_counts(&scene);
        measure_as_of(&scene);
    }
}

fn measure_logs(scene: &HistoryFixture) {
    let room = scene.sample_room();
    let path = format!("rooms/{room}.yaml");
    let ask = |most: usize| {
        let mut heard = 0;
        let log = scene.open_store().log(&[&path], |_| {
            heard += 1;
            heard < most
        });
        log.expect("it can be read");
        heard
    };
    let tracked = format!("museum/{path}");
    let same =
        ask(usize::MAX) == scene.run_git(&["log", "--format=%h", "--", &tracked]).lines().count();
    assert!(same, "git finds as many commits");
    print_row(
        "log of one room, all 10",
        median_time(|| ask(usize::MAX)),
        median_time(|| scene.run_palazzo(&["log", &room])),
        median_time(|| scene.run_git(&["log", "--format=%h %an %s", "--", &tracked])),
    );
    print_row(
        "log of one room, the newest",
        median_time(|| ask(1)),
        median_time(|| scene.run_palazzo(&["log", "-n", "1", &room])),
        median_time(|| scene.run_git(&["log", "-1", "--format=%h %an %s", "--", &tracked])),
    );
    print_row(
        "blame of one room",
        median_time(|| {
            scene.open_store().blame(&path, &scene.read_file(&path)).expect("it can be read")
        }),
        median_time(|| scene.run_palazzo(&["blame", &room])),
        median_time(|| scene.run_git(&["blame", &tracked])),
    );
}

fn measure_diff(scene: &HistoryFixture) {
    let diff = |store: Store| {
        let since = store.resolve_revision("HEAD~100", chrono::Utc::now()).expect("it exists");
        let now = store.head().expect("it exists").expect("it exists");
        store.as_of(&now).and_then(|it| it.changed_since(Some(&since))).expect("it can be read")
    };
    print_row(
        "diff HEAD~100..HEAD",
        median_time(|| diff(scene.open_store())),
        median_time(|| scene.run_palazzo(&["diff", "HEAD~100.."])),
        median_time(|| scene.run_git(&["diff", "HEAD~100", "HEAD"])),
    );
}

fn measure_version_counts(scene: &HistoryFixture) {
    let count = || {
        let mut known = HistoryCache::default();
        scene.open_store().update_history(&mut known).expect("it can be read");
        known.history.len()
    };
    let map = || {
        let mut client = McpClient::start(scene.serve_command());
        client.enter_palace();
        client.choose_action(0)
    };
    let of_all = ["log", "--format=%ct", "--name-only"];
    let (forget, keep) = (|| scene.clear_cache(), || assert!(count() > scene.room_count()));
    let git = median_time(|| scene.run_git(&of_all));
    print_row(
        "versions of all rooms, cold",
        median_time_after_setup(forget, count),
        median_of_times(forget, map),
        git,
    );
    print_row(
        "versions of all rooms, warm",
        median_time_after_setup(keep, count),
        median_of_times(keep, map),
        git,
    );
    let behind = || {
        scene.run_git(&["checkout", "-q", "--detach", "HEAD~100"]);
        scene.clear_cache();
        count();
        scene.run_git(&["checkout", "-q", "main"]);
    };
    print_row(
        "versions of all rooms, behind",
        median_time_after_setup(behind, count),
        median_of_times(behind, map),
        git,
    );
}

fn measure_as_of(scene: &HistoryFixture) {
    let old = format!("HEAD~{}", scene.commit_count() / 2);
    let as_of = json!({ "workspace": "museum", "as_of": old });
    let mut first = Vec::new();
    let mut again = Vec::new();
    for _ in 0..round_count() {
        let mut client = McpClient::start(scene.serve_command());
        client.enter_palace();
        client.ping();
        first.push(client.call_tool("set_workspace", &as_of));
        again.push(client.call_tool("set_workspace", &as_of));
    }
    let shown = |it: Duration| format!("{:>9.2} ms", it.as_secs_f64() * 1e3);
    println!("{:<34}{:>12}{}", format!("as of {old}, first"), "", shown(median_of(first)));
    println!("{:<34}{:>12}{}", format!("as of {old}, again"), "", shown(median_of(again)));
}

fn print_row(what: &str, asked: Duration, spawned: Duration, git: Duration) {
    let shown = |it: Duration| format!("{:>9.2} ms", it.as_secs_f64() * 1e3);
    println!("{what:<34}{}{}{}", shown(asked), shown(spawned), shown(git));
}

/// Returns the time of an action.
fn median_time<T>(act: impl Fn() -> T) -> Duration {
    median_time_after_setup(|| (), act)
}

/// Returns the time of an action that needs a preparation each time.
fn median_time_after_setup<T>(prepare: impl Fn(), act: impl Fn() -> T) -> Duration {
    median_of_times(prepare, || {
        let begun = Instant::now();
        drop(act());
        begun.elapsed()
    })
}

/// Returns the median of the times that `act` measures itself.
fn median_of_times(prepare: impl Fn(), act: impl Fn() -> Duration) -> Duration {
    let times = (0..=round_count()).map(|_| {
        prepare();
        act()
    });
    median_of(times.skip(1).collect())
}

fn round_count() -> usize {
    if ground::is_smoke_run() { 1 } else { ROUNDS }
}

fn median_of(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
