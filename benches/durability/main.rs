//! Durability: kills the server, cuts the power, runs two servers and a person at once,
//! and counts the answered writes that are missing afterwards.
//!
//! ```text
//! cargo bench --bench durability                        all of them, briefly
//! cargo bench --bench durability -- kill 500            that many kill -9
//! cargo bench --bench durability -- survivor 60         that many kills of one of two servers
//! cargo bench --bench durability -- gc 60               seconds next to `git gc --prune=now`
//! cargo bench --bench durability -- every-step          a kill at every system call of a write
//! cargo bench --bench durability -- contention 500      writes of each server
//! sudo … -- power 20                                    that many power cuts
//! ```
//!
//! `-- --smoke` runs few rounds of the first and the last part, and panics on any
//! error.
//!
//! A client keeps eight calls open, for scrolls, rooms and entities in turn, and
//! records which were answered. Each call writes a unique word.
//!
//! - **kill**: the server is killed by `kill -9` at a random instant, in a fresh, a
//!   packed, a cloned repository and a linked worktree in turn. Then a normal server
//!   starts, and its first write must be accepted; every answered word must be in
//!   `HEAD` and in the working directory, `git status` must be empty, no lock and no
//!   temporary file may be left, and `git fsck` must report nothing.
//! - **survivor**: one of two servers is killed; the other may refuse nothing.
//! - **gc**: two servers write while `git gc --prune=now` runs in a loop. Nothing may
//!   be lost or refused.
//! - **every-step**: `strace` kills the server at every system call of a write that
//!   changes anything, one after the other, from outside. Skipped without `strace`.
//! - **power**: the palace is on its own ext4 file system in a file. At a random
//!   instant the file system drops all unwritten data (`EXT4_IOC_SHUTDOWN` without
//!   flushing its log, by `xfs_io` of xfsprogs) and is mounted again. Needs root;
//!   otherwise skipped with a message.
//! - **contention**: two servers write into one palace while a person commits another
//!   file with `git add` and `git commit` in a loop. Nothing may be lost or refused,
//!   and no commit of the person may touch the palace.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

#[path = "../ground/asked.rs"]
mod asked;
mod disk;
mod steps;
mod witness;
mod writer;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use disk::LoopDisk;
use witness::{CheckedHome, DurabilityReport, RepositoryKind};
use writer::PipelinedWriter;

/// How many rounds share a home; later rounds have a longer history.
const ROUNDS_PER_HOME: usize = 20;

fn main() {
    let Some(asked) = asked::requested_parts() else { return };
    let mut dice = RandomDelays::new();
    if asked::is_smoke_run() {
        test_kills(4, &mut dice);
        test_survivor(2, &mut dice);
        test_gc(1);
        steps::kill_at_every_syscall(Some(2));
        test_contention(10);
        return;
    }
    let number = asked.get(1).and_then(|it| it.parse().ok());
    let chosen = |name: &str| asked.first().is_none_or(|it| *it == name);
    if chosen("kill") {
        test_kills(number.unwrap_or(20), &mut dice);
    }
    if chosen("survivor") {
        test_survivor(number.unwrap_or(10), &mut dice);
    }
    if chosen("gc") {
        test_gc(number.unwrap_or(10));
    }
    if chosen("every-step") {
        steps::kill_at_every_syscall(number);
    }
    if chosen("power") {
        test_power_cuts(number.unwrap_or(5), &mut dice);
    }
    if chosen("contention") {
        test_contention(number.unwrap_or(100));
    }
}

fn test_kills(rounds: usize, dice: &mut RandomDelays) {
    let mut total = DurabilityReport::default();
    let mut homes = RepositoryKind::ALL.map(CheckedHome::new);
    for round in 0..rounds {
        let kind = round % RepositoryKind::ALL.len();
        let home = &mut homes[kind];
        let answered = write_until_ended(home, round, dice.next_delay(), PipelinedWriter::kill);
        let refused = home.write_with_new_server(round);
        let found = home.check_writes(answered, refused);
        if report_round(round, &found) {
            homes[kind] = CheckedHome::new(RepositoryKind::ALL[kind]);
        }
        total += found;
    }
    println!("{rounds} × kill -9: {total}");
    fail_smoke_run_if_wrong(&total);
}

/// Kills one of two servers repeatedly; the other keeps running.
fn test_survivor(rounds: usize, dice: &mut RandomDelays) {
    let mut total = DurabilityReport::default();
    let mut home = CheckedHome::new(RepositoryKind::Packed);
    let mut survivor = PipelinedWriter::start(home.serve_command(), usize::MAX);
    for round in 0..rounds {
        let mut other = PipelinedWriter::start(home.serve_command(), round);
        let (begun, time) = (Instant::now(), dice.next_delay());
        while begun.elapsed() < time {
            other.write();
            survivor.write();
        }
        let answered = other.kill();
        survivor.write();
        survivor.wait_for_answers();
        let found = home.check_writes(answered, 0);
        report_round(round, &found);
        total += found;
    }
    let (answered, refused) = survivor.finish();
    total += home.check_writes(answered, refused);
    println!("{rounds} kills of one of two servers: {total}");
    fail_smoke_run_if_wrong(&total);
}

/// Runs two servers while git collects garbage in a loop.
fn test_gc(seconds: usize) {
    let mut home = CheckedHome::new(RepositoryKind::Packed);
    let stop = AtomicBool::new(false);
    let time = Duration::from_secs(seconds as u64);
    let (answered, refused, collections) = std::thread::scope(|scope| {
        let servers = [1, 2].map(|server| {
            let mut writer = PipelinedWriter::start(home.serve_command(), server);
            scope.spawn(move || {
                let begun = Instant::now();
                while begun.elapsed() < time {
                    writer.write();
                }
                writer.finish()
            })
        });
        let git = scope.spawn(|| home.run_gc_until(|| stop.load(Ordering::Relaxed)));
        let ended = servers.map(|it| it.join().expect("a writer ends"));
        stop.store(true, Ordering::Relaxed);
        let [one, two] = ended;
        ([one.0, two.0].concat(), one.1 + two.1, git.join().expect("git ends"))
    });
    let found = home.check_writes(answered, refused);
    println!("{collections} × git gc --prune=now in {seconds} s next to 2 servers: {found}");
    fail_smoke_run_if_wrong(&found);
}

fn test_power_cuts(rounds: usize, dice: &mut RandomDelays) {
    let Some(mut disk) = LoopDisk::new() else {
        println!("power cuts: skipped, they need root, loop devices, mkfs.ext4, xfs_io");
        return;
    };
    let (mut total, mut home) =
        (DurabilityReport::default(), CheckedHome::open_or_create(disk.mount_point()));
    for round in 0..rounds {
        let answered = write_until_ended(&home, round, dice.next_delay(), |writer| {
            disk.cut_power();
            writer.kill()
        });
        disk.remount();
        let refused = home.write_with_new_server(round);
        let found = home.check_writes(answered, refused);
        if report_round(round, &found) {
            disk.wipe();
            home = CheckedHome::open_or_create(disk.mount_point());
        }
        total += found;
    }
    println!("{rounds} × power cut: {total}");
}

/// Prints a round with errors, and returns whether the next round needs a new home:
/// after an error, or when the history is long.
fn report_round(round: usize, found: &DurabilityReport) -> bool {
    if found.has_errors() {
        println!("  round {round}: {found}");
    }
    found.has_errors() || (round + 1).is_multiple_of(ROUNDS_PER_HOME)
}

/// Writes into `home` for this long, stops the writer with `end`, and returns the
/// answered words.
fn write_until_ended(
    home: &CheckedHome,
    round: usize,
    time: Duration,
    end: impl FnOnce(PipelinedWriter) -> Vec<String>,
) -> Vec<String> {
    let mut writer = PipelinedWriter::start(home.serve_command(), round);
    let begun = Instant::now();
    while begun.elapsed() < time {
        writer.write();
    }
    end(writer)
}

fn test_contention(writes: usize) {
    let mut home = CheckedHome::new(RepositoryKind::Fresh);
    let stop = AtomicBool::new(false);
    let begun = Instant::now();
    let (answered, refused, by_hand) = std::thread::scope(|scope| {
        let servers = [1, 2].map(|server| {
            let mut writer = PipelinedWriter::start(home.serve_command(), server);
            scope.spawn(move || {
                (0..writes).for_each(|_| writer.write());
                writer.finish()
            })
        });
        let person = scope.spawn(|| home.commit_by_hand_until(|| stop.load(Ordering::Relaxed)));
        let ended = servers.map(|it| it.join().expect("a writer ends"));
        stop.store(true, Ordering::Relaxed);
        let [one, two] = ended;
        let by_hand = person.join().expect("the person ends");
        ([one.0, two.0].concat(), one.1 + two.1, by_hand)
    });
    let time = begun.elapsed().as_secs_f64();
    let found = home.check_writes(answered, refused);
    println!(
        "2 servers × {writes} writes and {by_hand} commits by hand in {time:.1} s: {found}, \
         {} of the commits by hand touched the palace",
        home.count_reverting_commits()
    );
    fail_smoke_run_if_wrong(&found);
}

/// Panics in a smoke run with errors; other runs only report them.
fn fail_smoke_run_if_wrong(found: &DurabilityReport) {
    assert!(!asked::is_smoke_run() || !found.has_errors(), "{found}");
}

/// A random number generator for instants.
struct RandomDelays(u64);

impl RandomDelays {
    fn new() -> Self {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Self(u64::from(now.unwrap_or_default().subsec_nanos()) | 1)
    }

    /// Returns a random time between zero and a fifth of a second.
    fn next_delay(&mut self) -> Duration {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        Duration::from_micros(self.0 % 200_000)
    }
}
