//! A kill at every system call of a write, from outside, by `strace --inject`.
//!
//! Which calls a write makes is counted once for each call that can change
//! anything; then a server is killed at the first `rename`, the next at the
//! second, and so on. After each kill a new server must accept a write.

use std::process::Command;

use crate::asked;
use crate::witness::{Found, Home, Kind};
use crate::writer::Writer;

/// The system calls that change something on a disk.
const CHANGING: [&str; 12] = [
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

/// Kills a server at every step of one write, at most `most` steps of each system call.
pub(crate) fn every_step(most: Option<usize>) {
    if Command::new("strace").arg("-V").output().is_err() {
        println!("every step: passed over, for it needs strace");
        return;
    }
    let (mut total, mut kills) = (Found::default(), 0);
    for kind in [Kind::Fresh, Kind::Packed] {
        let mut home = Home::new(kind);
        for call in CHANGING {
            for step in 1..=most.unwrap_or(usize::MAX) {
                let round = kills * 10 + 2;
                let Some(answered) = killed_at(&home, call, step, round) else { break };
                let refused = home.write_again(round);
                let found = home.look(answered, refused);
                if found.is_wrong() {
                    println!("  {call} {step}: {found}");
                    home = Home::new(kind);
                } else if matches!(kind, Kind::Packed) {
                    home.git(&["pack-refs", "--all"]);
                }
                total += found;
                kills += 1;
            }
        }
    }
    println!("{kills} kills, one at every step of a write: {total}");
    assert!(!asked::is_smoke() || !total.is_wrong(), "{total}");
}

/// Kills a server at the call of that number after its start; `None`: it ended its write before.
fn killed_at(home: &Home, call: &str, step: usize, round: usize) -> Option<Vec<String>> {
    let mut writer = Writer::start(home.palazzo(), round);
    let inject = format!("--inject={call}:signal=SIGKILL:when={step}");
    let mut strace = Command::new("strace");
    strace.args(["-q", "-f", "-o", "/dev/null", &format!("--trace={call}"), &inject]);
    let process = writer.process().to_string();
    let mut strace = strace.args(["-p", &process]).spawn().expect("strace starts");
    writer.wait_until_traced();
    writer.write();
    writer.wait();
    let is_killed = writer.is_killed();
    let answered = writer.kill();
    drop(strace.wait());
    is_killed.then_some(answered)
}
