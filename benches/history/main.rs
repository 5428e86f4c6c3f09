//! Measures commands that read the history of a palace with 1,000 rooms and 10,000 commits.
//!
//! ```text
//! cargo bench --bench history
//! cargo bench --bench history -- --smoke      each command once, with a small palace
//! ```
//!
//! Each row compares Palazzo with git for the same work, in the same run. There is one table for
//! each object storage of git: loose objects; a pack; a pack with the commit graph that
//! `git maintenance` writes.
//!
//! - *library* is a call in this process. *from spawn* is the whole program, which also reads the
//!   palace. *git* is the program `git`.
//! - *versions* counts the commits of every file, as the first map of a process does: *cold*
//!   without a cache, *warm* from a cache that another process has written, and *behind* from a
//!   cache that is 100 commits old. Git has no such command; the benchmark runs `git log
//!   --name-only`, which lists the files of every commit.
//! - *as of* opens the palace as it was 5,000 commits ago: for the first time, and again.
//!
//! All times are medians. The repository is in the page cache. It is below the target directory,
//! or in `$PALAZZO_BENCH_DIR`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its tables")]

#[path = "../common/mod.rs"]
mod common;
mod fixture;
#[path = "../common/mcp_client.rs"]
mod mcp_client;

use std::time::{Duration, Instant};

use palazzo_core::model::TimeZone;
use palazzo_store::{FileHistoryCache, Store};
use serde_json::json;

use fixture::{HistoryFixture, ObjectStorage};
use mcp_client::McpClient;

/// The number of measured rounds for each action, after one warm-up round.
const ROUNDS: usize = 7;
/// The number of rooms, and the number of rooms in a smoke run.
const ROOM_COUNT: usize = 1_000;
const SMOKE_ROOM_COUNT: usize = 20;

fn main() {
    if common::positional_arguments().is_none() {
        return;
    }
    let fixture =
        HistoryFixture::new(if common::is_smoke_run() { SMOKE_ROOM_COUNT } else { ROOM_COUNT });
    println!("{}", fixture.describe_size());
    for storage in [ObjectStorage::Loose, ObjectStorage::Packed, ObjectStorage::CommitGraph] {
        fixture.set_storage(storage);
        println!(
            "\n{:<34}{:>12}{:>12}{:>12}",
            format!("── {storage:?} ──"),
            "library",
            "from spawn",
            "git"
        );
        measure_logs(&fixture);
        measure_diff(&fixture);
        measure_version_counts(&fixture);
        measure_as_of(&fixture);
    }
}

fn measure_logs(fixture: &HistoryFixture) {
    let room = fixture.sample_room();
    let path = format!("rooms/{room}.yaml");
    let count_commits = |limit: usize| {
        let mut count = 0;
        let log = fixture.open_store().log(&[&path], |_| {
            count += 1;
            count < limit
        });
        log.expect("the repository is readable");
        count
    };
    let tracked = format!("museum/{path}");
    let same = count_commits(usize::MAX)
        == fixture.run_git(&["log", "--format=%h", "--", &tracked]).lines().count();
    assert!(same, "Palazzo and git list the same number of commits");
    print_row(
        "log of one room, all 10",
        median_time(|| count_commits(usize::MAX)),
        median_time(|| fixture.run_palazzo(&["log", &room])),
        median_time(|| fixture.run_git(&["log", "--format=%h %an %s", "--", &tracked])),
    );
    print_row(
        "log of one room, the newest",
        median_time(|| count_commits(1)),
        median_time(|| fixture.run_palazzo(&["log", "-n", "1", &room])),
        median_time(|| fixture.run_git(&["log", "-1", "--format=%h %an %s", "--", &tracked])),
    );
    print_row(
        "blame of one room",
        median_time(|| {
            fixture
                .open_store()
                .blame(&path, &fixture.read_file(&path))
                .expect("the file has a history")
        }),
        median_time(|| fixture.run_palazzo(&["blame", &room])),
        median_time(|| fixture.run_git(&["blame", &tracked])),
    );
}

fn measure_diff(fixture: &HistoryFixture) {
    let diff = |store: Store| {
        let since = store.resolve_revision("HEAD~100", chrono::Utc::now(), &TimeZone::UTC);
        let since = since.expect("the history has more than 100 commits");
        let head = store.head().expect("the repository is readable").expect("there are commits");
        let files = store.as_of(&head).and_then(|it| it.diff_since(Some(&since)));
        files.expect("the repository is readable")
    };
    print_row(
        "diff HEAD~100..HEAD",
        median_time(|| diff(fixture.open_store())),
        median_time(|| fixture.run_palazzo(&["diff", "HEAD~100.."])),
        median_time(|| fixture.run_git(&["diff", "HEAD~100", "HEAD"])),
    );
}

fn measure_version_counts(fixture: &HistoryFixture) {
    let count = || {
        let mut cache = FileHistoryCache::default();
        let read = fixture.open_store().update_file_history_cache(&mut cache);
        read.expect("the repository is readable");
        cache.history.len()
    };
    let map = || {
        let mut client = McpClient::start(fixture.serve_command());
        client.enter_palace();
        client.choose_action(0)
    };
    let git_log = ["log", "--format=%ct", "--name-only"];
    let clear_cache = || fixture.clear_cache();
    let fill_cache = || assert!(count() > fixture.room_count());
    let git = median_time(|| fixture.run_git(&git_log));
    print_row(
        "versions of all rooms, cold",
        median_time_after_setup(clear_cache, count),
        median_of_times(clear_cache, map),
        git,
    );
    print_row(
        "versions of all rooms, warm",
        median_time_after_setup(fill_cache, count),
        median_of_times(fill_cache, map),
        git,
    );
    let fill_cache_at_old_commit = || {
        fixture.run_git(&["checkout", "-q", "--detach", "HEAD~100"]);
        fixture.clear_cache();
        count();
        fixture.run_git(&["checkout", "-q", "main"]);
    };
    print_row(
        "versions of all rooms, behind",
        median_time_after_setup(fill_cache_at_old_commit, count),
        median_of_times(fill_cache_at_old_commit, map),
        git,
    );
}

fn measure_as_of(fixture: &HistoryFixture) {
    let old = format!("HEAD~{}", fixture.commit_count() / 2);
    let as_of = json!({ "workspace": "museum", "as_of": old });
    let mut first = Vec::new();
    let mut again = Vec::new();
    for _ in 0..round_count() {
        let mut client = McpClient::start(fixture.serve_command());
        client.enter_palace();
        client.ping();
        first.push(client.call_tool("set_workspace", &as_of));
        again.push(client.call_tool("set_workspace", &as_of));
    }
    for (name, times) in [("first", first), ("again", again)] {
        let name = format!("as of {old}, {name}");
        println!("{name:<34}{:>12}{}", "", format_time(median_of(times)));
    }
}

fn print_row(name: &str, library: Duration, from_spawn: Duration, git: Duration) {
    println!("{name:<34}{}", [library, from_spawn, git].map(format_time).concat());
}

fn format_time(time: Duration) -> String {
    format!("{:>9.2} ms", time.as_secs_f64() * 1e3)
}

/// Returns the median time of an action.
fn median_time<T>(action: impl Fn() -> T) -> Duration {
    median_time_after_setup(|| (), action)
}

/// Returns the median time of an action. Calls `setup` before each round and does not measure it.
fn median_time_after_setup<T>(setup: impl Fn(), action: impl Fn() -> T) -> Duration {
    median_of_times(setup, || {
        let start = Instant::now();
        drop(action());
        start.elapsed()
    })
}

/// Returns the median of the times that `action` returns.
fn median_of_times(setup: impl Fn(), action: impl Fn() -> Duration) -> Duration {
    let times = (0..=round_count()).map(|_| {
        setup();
        action()
    });
    median_of(times.skip(1).collect())
}

fn round_count() -> usize {
    if common::is_smoke_run() { 1 } else { ROUNDS }
}

fn median_of(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
