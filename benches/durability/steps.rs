//! Kills the server at every system call of a write, from outside, by `strace
//! --inject`.
//!
//! First the calls of a write are counted, for each system call that can change
//! anything. Then one server is killed at the first `rename`, the next at the second,
//! and so on. After each kill a new server must accept a write.

use std::process::Command;

use crate::asked;
use crate::witness::{CheckedHome, DurabilityReport, RepositoryKind};
use crate::writer::PipelinedWriter;

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

/// Kills a server at every step of one write, at most `most` steps per system call.
pub(crate) fn kill_at_every_syscall(most: Option<usize>) {
    if Command::new("strace").arg("-V").output().is_err() {
        println!("every step: skipped, it needs strace");
        return;
    }
    let (mut total, mut kills) = (DurabilityReport::default(), 0);
    for kind in [RepositoryKind::Fresh, RepositoryKind::Packed] {
        let mut home = CheckedHome::new(kind);
        for call in CHANGING_SYSCALLS {
            for step in 1..=most.unwrap_or(usize::MAX) {
                let round = kills * 10 + 2;
                let Some(answered) = kill_at_syscall(&home, call, step, round) else { break };
                let refused = home.write_with_new_server(round);
                let found = home.check_writes(answered, refused);
                if found.has_errors() {
                    println!("  {call} {step}: {found}");
                    home = CheckedHome::new(kind);
                } else if matches!(kind, RepositoryKind::Packed) {
                    home.run_git(&["pack-refs", "--all"]);
                }
                total += found;
                kills += 1;
            }
        }
    }
    println!("{kills} kills, one at every step of a write: {total}");
    assert!(!asked::is_smoke_run() || !total.has_errors(), "{total}");
}

/// Kills a server at the call of that number after its start; `None` if the write ended
/// before.
fn kill_at_syscall(
    home: &CheckedHome,
    call: &str,
    step: usize,
    round: usize,
) -> Option<Vec<String>> {
    let mut writer = PipelinedWriter::start(home.serve_command(), round);
    let inject = format!("--inject={call}:signal=SIGKILL:when={step}");
    let mut strace = Command::new("strace");
    strace.args(["-q", "-f", "-o", "/dev/null", &format!("--trace={call}"), &inject]);
    let process = writer.process_id().to_string();
    let mut strace = strace.args(["-p", &process]).spawn().expect("strace starts");
    writer.wait_until_traced();
    writer.write();
    writer.wait_for_answers();
    let is_killed = writer.has_server_ended();
    let answered = writer.kill();
    drop(strace.wait());
    is_killed.then_some(answered)
}
