//! Measures how soon commits of one machine are visible on others that share a palace.
//!
//! ```text
//! cargo bench --bench sync                 2, 8 and 16 machines, about 15 minutes
//! cargo bench --bench sync -- 16           16 machines
//! cargo bench --bench sync -- hosted       16 machines, together at most 6 pushes a minute
//! cargo bench --bench sync -- commits      16 clones that push every commit, with git alone
//! cargo bench --bench sync -- --smoke      2 machines, about 80 seconds
//! ```
//!
//! Each machine has its own clone of one bare repository, its own user folder, and a running
//! server. Its client writes once a second, every fourth time to an entity that all machines write
//! to. The servers sync by themselves.
//!
//! - *retries* is the number of rejected pushes for each accepted one.
//! - *p50* and *p95* are times from "a commit is on its machine" to "it is on another one", over
//!   all commits and all other machines. Commits shortly before the end do not count, because
//!   machines that no longer write sync less often.
//! - *fewest* is the least number of accepted pushes of a machine, divided by the mean.
//! - *equal after* is the time from the last write until all machines have the same commit.

#![expect(clippy::print_stdout, reason = "a benchmark prints its tables")]

#[path = "../common/mod.rs"]
mod common;
mod git_clone;
mod machine;
#[path = "../common/mcp_client.rs"]
mod mcp_client;
mod remote;
mod report;
mod timeline;

use std::thread;
use std::time::{Duration, Instant};

use git_clone::GitClone;
use machine::Machine;
use remote::Remote;
use report::Row;
use timeline::Sampler;

/// How long the machines write.
const WRITING: Duration = Duration::from_secs(180);
/// How long they write if they push rarely.
const HOSTED_WRITING: Duration = Duration::from_secs(900);
/// Commits of the last part of the writing time do not count.
const TAIL: Duration = Duration::from_secs(60);
const HOSTED_TAIL: Duration = Duration::from_secs(360);
/// The recommendation of a large host for one repository.
const HOSTED_PUSHES_PER_MINUTE: usize = 6;
/// The benchmark fails if the machines are not equal after this time.
const MAX_SETTLING: Duration = Duration::from_secs(900);

/// How long machines write, and which of their commits count.
#[derive(Clone, Copy)]
struct Period {
    writing: Duration,
    tail: Duration,
}

const PERIOD: Period = Period { writing: WRITING, tail: TAIL };
const HOSTED_PERIOD: Period = Period { writing: HOSTED_WRITING, tail: HOSTED_TAIL };
const SMOKE_PERIOD: Period = Period { writing: Duration::from_secs(5), tail: Duration::ZERO };

fn main() {
    let Some(parts) = common::positional_arguments() else { return };
    println!("{}", report::header());
    if common::is_smoke_run() {
        println!("{}", measure_servers(2, None, SMOKE_PERIOD));
        println!("{}", measure_git(2, SMOKE_PERIOD));
        return;
    }
    let is_chosen = |part: &str| parts.is_empty() || parts.iter().any(|it| it == part);
    for machines in [2, 8, 16] {
        if is_chosen(&machines.to_string()) {
            println!("{}", measure_servers(machines, None, PERIOD));
        }
    }
    if is_chosen("commits") {
        println!("{}", measure_git(16, PERIOD));
    }
    if parts.iter().any(|it| it == "hosted") {
        let interval = 16 * 60 / HOSTED_PUSHES_PER_MINUTE;
        println!("{}", measure_servers(16, Some(interval), HOSTED_PERIOD));
    }
}

/// Measures machines with servers that sync by themselves. `push_interval` is the least number of
/// seconds between two pushes of one machine.
fn measure_servers(machines: usize, push_interval: Option<usize>, period: Period) -> Row {
    let remote = Remote::create_with_palace(push_interval);
    let machines: Vec<_> = (0..machines).map(|it| Machine::clone_from(&remote, it)).collect();
    let sampler = Sampler::start(machines.iter().map(|it| it.repository().to_owned()).collect());
    let end = Instant::now() + period.writing;
    thread::scope(|scope| {
        for machine in &machines {
            scope.spawn(move || machine.write_until(end));
        }
        let settled = sampler.wait_until_equal(end, MAX_SETTLING);
        for machine in &machines {
            machine.stop_server();
        }
        let settled = settled.expect("all machines end with the same commit");
        let pushes: Vec<_> = machines.iter().map(Machine::pushes).collect();
        Row::new("palazzo", &sampler.finish(), &pushes, period, Some(settled))
    })
}

/// Measures clones in which git pushes every commit, and tries again until the push is accepted.
fn measure_git(clones: usize, period: Period) -> Row {
    let remote = Remote::create_with_palace(None);
    let clones: Vec<_> = (0..clones).map(|it| GitClone::create(&remote, it)).collect();
    let sampler = Sampler::start(clones.iter().map(|it| it.repository().to_owned()).collect());
    let end = Instant::now() + period.writing;
    let pushes: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> =
            clones.iter().map(|it| scope.spawn(move || it.push_commits_until(end))).collect();
        threads.into_iter().map(|it| it.join().expect("git runs")).collect()
    });
    Row::new("push every commit", &sampler.finish(), &pushes, period, None)
}
