//! What the past costs: a palace of 1,000 rooms with 10,000 commits behind it.
//!
//! ```text
//! cargo bench --bench history
//! cargo bench --bench history -- --smoke      once, with a small part of all that
//! ```
//!
//! Each row tells what Palazzo takes beside what git takes for as much, turn
//! and turn about in one run, and each table how git keeps the objects: as
//! loose files, as they are before git has ever tidied up; packed; packed and
//! with the table of commits that `git maintenance` writes.
//!
//! - *asked* is the library's own call; *from spawn* is the whole program, as a
//!   person runs it, and reads the palace too; *git* is always the program.
//! - *versions* counts the commits of every file, as the first map of a process
//!   does: *cold* from nothing, *warm* from what another process has kept aside,
//!   *behind* from what was kept a hundred commits ago. Git has no such count;
//!   beside it stands listing the files of every commit.
//! - *as of* enters the palace as it was five thousand commits ago: the first
//!   time, and again.
//!
//! Medians; the repository is warm in memory. It lies below the target
//! directory, or in `$PALAZZO_BENCH_DIR`.

#![expect(clippy::print_stdout, reason = "a benchmark is there to print its tables")]

#[path = "../palace/client.rs"]
mod client;
#[path = "../ground/mod.rs"]
mod ground;
mod scene;

use std::time::{Duration, Instant};

use palazzo::store::{Known, Store};
use serde_json::json;

use client::Client;
use scene::{Scene, State};

/// How often each thing is done, after once that does not count.
const ROUNDS: usize = 7;
/// How many rooms there are, and how many in a smoke run.
const ROOMS: usize = 1_000;
const SMOKE: usize = 20;

fn main() {
    if ground::asked().is_none() {
        return;
    }
    let scene = Scene::new(if ground::is_smoke() { SMOKE } else { ROOMS });
    println!("{}", scene.about());
    for state in [State::Loose, State::Packed, State::Graphed] {
        scene.put_in(state);
        println!(
            "\n{:<34}{:>12}{:>12}{:>12}",
            format!("── {state:?} ──"),
            "asked",
            "from spawn",
            "git"
        );
        logs(&scene);
        diff(&scene);
        versions(&scene);
        past(&scene);
    }
}

fn logs(scene: &Scene) {
    let room = scene.room();
    let path = format!("rooms/{room}.yaml");
    let ask = |most: usize| {
        let mut heard = 0;
        let log = scene.store().log(&[&path], |_| {
            heard += 1;
            heard < most
        });
        log.expect("it can be read");
        heard
    };
    let tracked = format!("museum/{path}");
    let same =
        ask(usize::MAX) == scene.git(&["log", "--format=%h", "--", &tracked]).lines().count();
    assert!(same, "git finds as many commits");
    row(
        "log of one room, all 10",
        median(|| ask(usize::MAX)),
        median(|| scene.palazzo(&["log", &room])),
        median(|| scene.git(&["log", "--format=%h %an %s", "--", &tracked])),
    );
    row(
        "log of one room, the newest",
        median(|| ask(1)),
        median(|| scene.palazzo(&["log", "-n", "1", &room])),
        median(|| scene.git(&["log", "-1", "--format=%h %an %s", "--", &tracked])),
    );
    row(
        "blame of one room",
        median(|| scene.store().blame(&path, &scene.text(&path)).expect("it can be read")),
        median(|| scene.palazzo(&["blame", &room])),
        median(|| scene.git(&["blame", &tracked])),
    );
}

fn diff(scene: &Scene) {
    let diff = |store: Store| {
        let since = store.revision("HEAD~100", chrono::Utc::now()).expect("it is there");
        let now = store.head().expect("it is there").expect("it is there");
        store.as_of(&now).and_then(|it| it.changed_since(Some(&since))).expect("it can be read")
    };
    row(
        "diff HEAD~100..HEAD",
        median(|| diff(scene.store())),
        median(|| scene.palazzo(&["diff", "HEAD~100.."])),
        median(|| scene.git(&["diff", "HEAD~100", "HEAD"])),
    );
}

fn versions(scene: &Scene) {
    let count = || {
        let mut known = Known::default();
        scene.store().history(&mut known).expect("it can be read");
        known.history.len()
    };
    let map = || {
        let mut client = Client::start(scene.serve());
        client.enter();
        client.choose(0)
    };
    let of_all = ["log", "--format=%ct", "--name-only"];
    let (forget, keep) = (|| scene.forget(), || assert!(count() > scene.rooms()));
    let git = median(|| scene.git(&of_all));
    row("versions of all rooms, cold", prepared(forget, count), timed(forget, map), git);
    row("versions of all rooms, warm", prepared(keep, count), timed(keep, map), git);
    let behind = || {
        scene.git(&["checkout", "-q", "--detach", "HEAD~100"]);
        scene.forget();
        count();
        scene.git(&["checkout", "-q", "main"]);
    };
    row("versions of all rooms, behind", prepared(behind, count), timed(behind, map), git);
}

fn past(scene: &Scene) {
    let old = format!("HEAD~{}", scene.commits() / 2);
    let as_of = json!({ "workspace": "museum", "as_of": old });
    let mut first = Vec::new();
    let mut again = Vec::new();
    for _ in 0..rounds() {
        let mut client = Client::start(scene.serve());
        client.enter();
        client.ping();
        first.push(client.call("set_workspace", &as_of));
        again.push(client.call("set_workspace", &as_of));
    }
    let shown = |it: Duration| format!("{:>9.2} ms", it.as_secs_f64() * 1e3);
    println!("{:<34}{:>12}{}", format!("as of {old}, first"), "", shown(middle(first)));
    println!("{:<34}{:>12}{}", format!("as of {old}, again"), "", shown(middle(again)));
}

fn row(what: &str, asked: Duration, spawned: Duration, git: Duration) {
    let shown = |it: Duration| format!("{:>9.2} ms", it.as_secs_f64() * 1e3);
    println!("{what:<34}{}{}{}", shown(asked), shown(spawned), shown(git));
}

/// Returns how long something takes.
fn median<T>(act: impl Fn() -> T) -> Duration {
    prepared(|| (), act)
}

/// Returns how long something takes that has to be prepared each time.
fn prepared<T>(prepare: impl Fn(), act: impl Fn() -> T) -> Duration {
    timed(prepare, || {
        let begun = Instant::now();
        drop(act());
        begun.elapsed()
    })
}

/// Returns the median of times that `act` takes itself.
fn timed(prepare: impl Fn(), act: impl Fn() -> Duration) -> Duration {
    let times = (0..=rounds()).map(|_| {
        prepare();
        act()
    });
    middle(times.skip(1).collect())
}

fn rounds() -> usize {
    if ground::is_smoke() { 1 } else { ROUNDS }
}

fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
