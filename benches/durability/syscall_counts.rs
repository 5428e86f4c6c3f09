//! Counts the system calls of one write of each kind, with `strace`.
//!
//! Unlike times, the counts are the same on every machine with the same libraries.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::pipelined_writer::PipelinedWriter;
use crate::test_home::{RepositoryKind, TestHome};

/// The number of kinds of writes that the client sends in turn.
const KINDS: usize = 4;

/// The system calls that name a path.
const PATH_SYSCALLS: [&str; 24] = [
    "access",
    "chmod",
    "faccessat2",
    "link",
    "linkat",
    "lstat",
    "mkdir",
    "mkdirat",
    "newfstatat",
    "open",
    "openat",
    "openat2",
    "readlink",
    "readlinkat",
    "rename",
    "renameat",
    "renameat2",
    "rmdir",
    "stat",
    "statx",
    "symlink",
    "truncate",
    "unlink",
    "unlinkat",
];

/// Prints how many system calls a server makes in one write of each kind, and how many of them name
/// a path.
pub(crate) fn count_syscalls() {
    if Command::new("strace").arg("-V").output().is_err() {
        println!("system calls: skipped, it needs strace");
        return;
    }
    let home = TestHome::new(RepositoryKind::New);
    let mut writer = PipelinedWriter::start(home.serve_command(), 1);
    // The first write of each kind creates folders.
    for _ in 0..KINDS {
        writer.write();
        writer.wait_for_responses();
    }
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let log = folder.path().join("log");
    for _ in 0..KINDS {
        let strace = start_strace(&writer, &log);
        let tool = writer.write();
        writer.wait_for_responses();
        let (all, with_path) = parse_log(&end_strace(strace, &log));
        println!("{tool}: {all} system calls, {with_path} of them name a path");
        assert!(all > with_path && with_path > 0, "strace has recorded nothing");
    }
    let (_, refused) = writer.finish();
    assert_eq!(refused, 0);
}

fn start_strace(writer: &PipelinedWriter, log: &Path) -> Child {
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-o"]).arg(log).args(["-p", &writer.process_id().to_string()]);
    let strace = strace.stderr(Stdio::null()).spawn().expect("strace is installed");
    writer.wait_until_traced();
    strace
}

/// Ends `strace` in a way that lets it write the whole log.
fn end_strace(mut strace: Child, log: &Path) -> String {
    let process = strace.id().to_string();
    let ended = Command::new("kill").arg(process).status().expect("there is a program `kill`");
    assert!(ended.success(), "strace has ended by itself");
    drop(strace.wait());
    fs::read_to_string(log).expect("strace has written its log")
}

/// Counts the system calls in a log, and those that name a path.
fn parse_log(log: &str) -> (usize, usize) {
    let calls = log.lines().filter_map(|line| {
        let (name, arguments) = line.split_once(' ')?.1.trim_start().split_once('(')?;
        let is_name =
            name.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'_');
        is_name.then_some((name, arguments))
    });
    let names_path = |(name, arguments): &(&str, &str)| {
        PATH_SYSCALLS.contains(name)
            && arguments.split('"').nth(1).is_some_and(|path| !path.is_empty())
    };
    let calls: Vec<_> = calls.collect();
    (calls.len(), calls.iter().filter(|it| names_path(it)).count())
}
