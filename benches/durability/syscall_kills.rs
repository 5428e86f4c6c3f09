//! Kills the server at every system call of a write that changes the file system, with
//! `strace --inject`.
//!
//! For each of these system calls, one server is killed at its first call, the next server at its
//! second call, and so on, until a write ends before the kill. After each kill a new server must
//! accept a write.

use std::process::Command;

use crate::arguments;
use crate::pipelined_writer::PipelinedWriter;
use crate::test_home::{DurabilityReport, RepositoryKind, TestHome};

/// The system calls that change a file system.
const CHANGING_SYSCALLS: [&str; 12] = [
    "openat",
    "write",
    "pwrite64",
    "link",
    "linkat",
    "rename",
    "renameat2",
    "unlink",
    "mkdir",
    "rmdir",
    "ftruncate",
    "syncfs",
];

/// Kills a server at each call of each system call in one write, at most `limit` times for each
/// system call.
pub(crate) fn kill_at_every_syscall(limit: Option<usize>) {
    if Command::new("strace").arg("-V").output().is_err() {
        println!("every system call: skipped, it needs strace");
        return;
    }
    let (mut total, mut kills) = (DurabilityReport::default(), 0);
    for kind in [RepositoryKind::New, RepositoryKind::PackedRefs] {
        let mut home = TestHome::new(kind);
        for syscall in CHANGING_SYSCALLS {
            for number in 1..=limit.unwrap_or(usize::MAX) {
                let round = kills * 10 + 2;
                let killed = kill_at_syscall(&home, syscall, number, round);
                let Some(confirmed) = killed else { break };
                let refused = home.write_with_new_server(round);
                let result = home.check_writes(confirmed, refused);
                if result.has_errors() {
                    println!("  {syscall} {number}: {result}");
                    home = TestHome::new(kind);
                } else if matches!(kind, RepositoryKind::PackedRefs) {
                    home.run_git(&["pack-refs", "--all"]);
                }
                total += result;
                kills += 1;
            }
        }
    }
    println!("{kills} kills, one at each system call of a write: {total}");
    assert!(!arguments::is_smoke_run() || !total.has_errors(), "{total}");
}

/// Starts a server and kills it at call `number` of `syscall` in a write. Returns the confirmed
/// words, or `None` if the write ends before that call.
fn kill_at_syscall(
    home: &TestHome,
    syscall: &str,
    number: usize,
    round: usize,
) -> Option<Vec<String>> {
    let mut writer = PipelinedWriter::start(home.serve_command(), round);
    let inject = format!("--inject={syscall}:signal=SIGKILL:when={number}");
    let mut strace = Command::new("strace");
    strace.args(["-q", "-f", "-o", "/dev/null", &format!("--trace={syscall}"), &inject]);
    let process = writer.process_id().to_string();
    let mut strace = strace.args(["-p", &process]).spawn().expect("strace is installed");
    writer.wait_until_traced();
    writer.write();
    writer.wait_for_responses();
    let is_killed = writer.has_server_ended();
    let confirmed = writer.kill();
    drop(strace.wait());
    is_killed.then_some(confirmed)
}
