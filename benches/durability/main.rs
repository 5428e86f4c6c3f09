//! Counts confirmed writes that are lost when a server is killed, the power fails, or several
//! programs write at the same time.
//!
//! ```text
//! cargo bench --bench durability                        all parts, with few rounds
//! cargo bench --bench durability -- kill 500            500 × `kill -9`
//! cargo bench --bench durability -- survivor 60         60 × `kill -9` of one of two servers
//! cargo bench --bench durability -- gc 60               60 seconds with `git gc --prune=now`
//! cargo bench --bench durability -- every-syscall       a kill at every system call of a write
//! cargo bench --bench durability -- contention 500      500 writes by each of two servers
//! cargo bench --bench durability -- syscalls            the system calls of one write
//! sudo … -- power 20                                    20 power failures
//! ```
//!
//! `-- --smoke` runs few rounds of each part except **power**, and panics on any error.
//!
//! A client keeps up to eight calls in flight. The calls write scrolls, rooms and entities in
//! turn, each with a unique word, and the client records which calls succeeded.
//!
//! - **kill**: `kill -9` ends the server at a random time, in a new repository, one with packed
//!   refs, a clone, and a linked worktree in turn. Then a new server must accept its first write.
//!   Every confirmed word must be in `HEAD` and in the working directory, `git status` must be
//!   empty, no lock file and no temporary file may be left, and `git fsck` must report nothing.
//! - **survivor**: `kill -9` ends one of two servers. The other server must accept all writes.
//! - **gc**: two servers write while `git gc --prune=now` runs in a loop. No write may be lost or
//!   refused.
//! - **every-syscall**: `strace` kills the server at each system call of a write that changes the
//!   file system. Skipped without `strace`.
//! - **power**: the palace is on its own ext4 file system on a loop device. At a random time the
//!   file system drops all unwritten data (`EXT4_IOC_SHUTDOWN` without a flush of the journal, by
//!   `xfs_io` of xfsprogs) and is mounted again. Skipped without root.
//! - **contention**: two servers write into one palace while a person commits another file with
//!   `git add` and `git commit` in a loop. No write may be lost or refused, and no commit of the
//!   person may change the palace.
//! - **syscalls**: how many system calls one write of each kind makes. Skipped without `strace`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

#[path = "../common/arguments.rs"]
mod arguments;
mod loop_device;
mod pipelined_writer;
mod syscall_counts;
mod syscall_kills;
mod test_home;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use loop_device::LoopDevice;
use pipelined_writer::PipelinedWriter;
use test_home::{DurabilityReport, RepositoryKind, TestHome};

/// The number of rounds with the same home. Later rounds have a longer history.
const ROUNDS_PER_HOME: usize = 20;

fn main() {
    let Some(arguments) = arguments::positional_arguments() else { return };
    let mut delays = RandomDelays::new();
    if arguments::is_smoke_run() {
        test_kills(4, &mut delays);
        test_survivor(2, &mut delays);
        test_gc(1);
        syscall_kills::kill_at_every_syscall(Some(2));
        test_contention(10);
        syscall_counts::count_syscalls();
        return;
    }
    let count = arguments.get(1).and_then(|it| it.parse().ok());
    let is_selected = |part: &str| arguments.first().is_none_or(|it| *it == part);
    if is_selected("kill") {
        test_kills(count.unwrap_or(20), &mut delays);
    }
    if is_selected("survivor") {
        test_survivor(count.unwrap_or(10), &mut delays);
    }
    if is_selected("gc") {
        test_gc(count.unwrap_or(10));
    }
    if is_selected("every-syscall") {
        syscall_kills::kill_at_every_syscall(count);
    }
    if is_selected("power") {
        test_power_failures(count.unwrap_or(5), &mut delays);
    }
    if is_selected("contention") {
        test_contention(count.unwrap_or(100));
    }
    if is_selected("syscalls") {
        syscall_counts::count_syscalls();
    }
}

/// Kills the server in each kind of repository in turn.
fn test_kills(rounds: usize, delays: &mut RandomDelays) {
    let mut total = DurabilityReport::default();
    let mut homes = RepositoryKind::ALL.map(TestHome::new);
    for round in 0..rounds {
        let kind = round % RepositoryKind::ALL.len();
        let home = &mut homes[kind];
        let confirmed = write_for(home, round, delays.next_delay(), PipelinedWriter::kill);
        let refused = home.write_with_new_server(round);
        let result = home.check_writes(confirmed, refused);
        if needs_new_home(round, &result) {
            homes[kind] = TestHome::new(RepositoryKind::ALL[kind]);
        }
        total += result;
    }
    println!("{rounds} × kill -9: {total}");
    assert_no_errors_in_smoke_run(&total);
}

/// Kills one of two servers repeatedly, while the other server keeps running.
fn test_survivor(rounds: usize, delays: &mut RandomDelays) {
    let mut total = DurabilityReport::default();
    let mut home = TestHome::new(RepositoryKind::PackedRefs);
    let mut survivor = PipelinedWriter::start(home.serve_command(), usize::MAX);
    for round in 0..rounds {
        let mut other = PipelinedWriter::start(home.serve_command(), round);
        let (start, time) = (Instant::now(), delays.next_delay());
        while start.elapsed() < time {
            other.write();
            survivor.write();
        }
        let confirmed = other.kill();
        survivor.write();
        survivor.wait_for_responses();
        let result = home.check_writes(confirmed, 0);
        print_errors(round, &result);
        total += result;
    }
    let (confirmed, refused) = survivor.finish();
    total += home.check_writes(confirmed, refused);
    println!("{rounds} × kill -9 of one of two servers: {total}");
    assert_no_errors_in_smoke_run(&total);
}

/// Runs two servers while `git gc` runs in a loop.
fn test_gc(seconds: usize) {
    let mut home = TestHome::new(RepositoryKind::PackedRefs);
    let stop = AtomicBool::new(false);
    let time = Duration::from_secs(seconds as u64);
    let (confirmed, refused, gc_runs) = std::thread::scope(|scope| {
        let servers = [1, 2].map(|server| {
            let mut writer = PipelinedWriter::start(home.serve_command(), server);
            scope.spawn(move || {
                let start = Instant::now();
                while start.elapsed() < time {
                    writer.write();
                }
                writer.finish()
            })
        });
        let git = scope.spawn(|| home.run_gc_until(|| stop.load(Ordering::Relaxed)));
        let [one, two] = servers.map(|it| it.join().expect("the writer does not panic"));
        stop.store(true, Ordering::Relaxed);
        let gc_runs = git.join().expect("the thread does not panic");
        ([one.0, two.0].concat(), one.1 + two.1, gc_runs)
    });
    let result = home.check_writes(confirmed, refused);
    println!("{gc_runs} × git gc --prune=now in {seconds} s, while 2 servers write: {result}");
    assert_no_errors_in_smoke_run(&result);
}

/// Simulates power failures.
fn test_power_failures(rounds: usize, delays: &mut RandomDelays) {
    let Some(mut device) = LoopDevice::new() else {
        println!("power failures: skipped, they need root, loop devices, mkfs.ext4 and xfs_io");
        return;
    };
    let (mut total, mut home) =
        (DurabilityReport::default(), TestHome::open_or_create(device.mount_point()));
    for round in 0..rounds {
        let confirmed = write_for(&home, round, delays.next_delay(), |writer| {
            device.shut_down();
            writer.kill()
        });
        device.remount();
        let refused = home.write_with_new_server(round);
        let result = home.check_writes(confirmed, refused);
        if needs_new_home(round, &result) {
            device.reformat();
            home = TestHome::open_or_create(device.mount_point());
        }
        total += result;
    }
    println!("{rounds} × power failure: {total}");
}

/// Prints the result of a round with errors.
fn print_errors(round: usize, result: &DurabilityReport) {
    if result.has_errors() {
        println!("  round {round}: {result}");
    }
}

/// Prints the errors of a round. Returns true if the next round needs a new home: after an error,
/// or after [`ROUNDS_PER_HOME`] rounds.
fn needs_new_home(round: usize, result: &DurabilityReport) -> bool {
    print_errors(round, result);
    result.has_errors() || (round + 1).is_multiple_of(ROUNDS_PER_HOME)
}

/// Writes into `home` for `time`, stops the writer with `end`, and returns the confirmed words.
fn write_for(
    home: &TestHome,
    round: usize,
    time: Duration,
    end: impl FnOnce(PipelinedWriter) -> Vec<String>,
) -> Vec<String> {
    let mut writer = PipelinedWriter::start(home.serve_command(), round);
    let start = Instant::now();
    while start.elapsed() < time {
        writer.write();
    }
    end(writer)
}

/// Runs two servers while a person commits another file in a loop.
fn test_contention(writes: usize) {
    let mut home = TestHome::new(RepositoryKind::New);
    let stop = AtomicBool::new(false);
    let start = Instant::now();
    let (confirmed, refused, commits) = std::thread::scope(|scope| {
        let servers = [1, 2].map(|server| {
            let mut writer = PipelinedWriter::start(home.serve_command(), server);
            scope.spawn(move || {
                for _ in 0..writes {
                    writer.write();
                }
                writer.finish()
            })
        });
        let person = scope.spawn(|| home.commit_with_git_until(|| stop.load(Ordering::Relaxed)));
        let [one, two] = servers.map(|it| it.join().expect("the writer does not panic"));
        stop.store(true, Ordering::Relaxed);
        let commits = person.join().expect("the thread does not panic");
        ([one.0, two.0].concat(), one.1 + two.1, commits)
    });
    let time = start.elapsed().as_secs_f64();
    let result = home.check_writes(confirmed, refused);
    println!(
        "2 servers × {writes} writes, and {commits} commits by a person, in {time:.1} s: {result}, \
         {} commits by the person changed the palace",
        home.count_wrong_commits()
    );
    assert_no_errors_in_smoke_run(&result);
}

/// Panics if a smoke run has errors. Other runs only print them.
fn assert_no_errors_in_smoke_run(result: &DurabilityReport) {
    assert!(!arguments::is_smoke_run() || !result.has_errors(), "{result}");
}

/// A generator of random delays.
struct RandomDelays(u64);

impl RandomDelays {
    fn new() -> Self {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Self(u64::from(now.unwrap_or_default().subsec_nanos()) | 1)
    }

    /// Returns a random delay below 200 ms.
    fn next_delay(&mut self) -> Duration {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        Duration::from_micros(self.0 % 200_000)
    }
}
