//! Measures how long an agent waits for `palazzo hook act` after each of its actions.
//!
//! ```text
//! cargo bench --bench act
//! ```
//!
//! The times are those of the whole process, from its start to its end, beside `palazzo --version`, which
//! does nothing. Every memory has three triggers. In rows with *shown*, one of them fits, and the memory is
//! shown; in the others, none does.
//!
//! `$PALAZZO_BENCH_ROUNDS` is the number of runs for each row (default 300). `-- --smoke` runs each once.

#![expect(clippy::print_stdout, reason = "a benchmark prints its tables")]

#[path = "../common/mod.rs"]
mod common;

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use common::BenchDir;

/// The time within which 95 of 100 hooks are to answer with the most memories that are read.
const LIMIT: Duration = Duration::from_millis(20);

/// The most memories that are read.
const MOST: usize = 500;

fn main() {
    if common::positional_arguments().is_none() {
        return;
    }
    let rounds = std::env::var("PALAZZO_BENCH_ROUNDS").ok().and_then(|it| it.parse().ok());
    let rounds = rounds.unwrap_or(if common::is_smoke_run() { 1 } else { 300 });
    println!("{:<24}{:>13}{:>13}{:>13}", "", "p50", "p95", "max");
    let empty = Fixture::new(0);
    let version = (0..rounds).map(|_| empty.time(&["--version"], "")).collect();
    print_row("palazzo --version", version);
    let mut slowest = Duration::ZERO;
    for count in [0, 50, MOST] {
        let fixture = Fixture::new(count);
        let times = (0..rounds).map(|it| fixture.time_hook(it, "make all", false)).collect();
        slowest = slowest.max(print_row(&format!("{count} memories"), times));
        if count > 0 {
            let times = (0..rounds).map(|it| fixture.time_hook(it, "task 7 now", true)).collect();
            slowest = slowest.max(print_row(&format!("{count} memories, shown"), times));
        }
    }
    let is_met = if slowest <= LIMIT { "yes" } else { "no" };
    println!("\n95 of 100 hooks answer within {} ms: {is_met}", LIMIT.as_millis());
}

/// A palace with memories that the user has allowed.
struct Fixture {
    dir: BenchDir,
    home: PathBuf,
}

impl Fixture {
    fn new(count: usize) -> Self {
        let dir = BenchDir::new();
        let home = dir.path().join("home");
        let folder = home.join("palace/drawers/claude/memory");
        fs::create_dir_all(&folder).expect("the folder is writable");
        fs::write(home.join("palace/palace.toml"), "name = \"Palace\"\n").expect("writable");
        for it in 0..count {
            fs::write(folder.join(format!("memory-{it}.md")), memory(it)).expect("writable");
        }
        let fixture = Self { dir, home };
        fixture.time(&["trust", "--yes"], "");
        fixture
    }

    /// Runs the program with an input, and returns how long it ran.
    fn time(&self, arguments: &[&str], input: &str) -> Duration {
        self.run(arguments, input).0
    }

    /// Runs the hook after a command of a new conversation.
    fn time_hook(&self, round: usize, command: &str, is_shown: bool) -> Duration {
        let input = json!({
            "session_id": format!("{command} {round}"), "cwd": self.home,
            "hook_event_name": "PostToolUse", "tool_name": "Bash",
            "tool_input": { "command": command }, "tool_response": { "stdout": "" },
        });
        let (time, printed) = self.run(&["hook", "act"], &input.to_string());
        assert_eq!(!printed.is_empty(), is_shown, "{printed}");
        time
    }

    fn run(&self, arguments: &[&str], input: &str) -> (Duration, String) {
        let mut command: Command = self.dir.isolated_command(env!("CARGO_BIN_EXE_palazzo"));
        command.env_remove("XDG_STATE_HOME").env("PALAZZO_HOME", &self.home);
        // A hook that is silent because it is late would look fast.
        command.env("PALAZZO_HOOK_DEADLINE", "60000").args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let start = Instant::now();
        let mut running = command.spawn().expect("the program starts");
        let mut stdin = running.stdin.take().expect("it is piped");
        // A command that reads nothing may have ended.
        let _ = stdin.write_all(input.as_bytes());
        drop(stdin);
        let output = running.wait_with_output().expect("the program ends");
        let time = start.elapsed();
        assert!(output.status.success(), "{output:?}");
        (time, String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// Returns a memory as Claude Code writes it: with three triggers, and 1,500 bytes of text.
fn memory(number: usize) -> String {
    let text = "What was learned here, and why it matters. ".repeat(35);
    format!(
        "---\nname: memory-{number}\ndescription: What was learned in task {number}.\nmetadata:\n  \
         node_type: memory\n  type: feedback\n  originSessionId: 5f486be8-2660-4d4c-80a6-4fe8370c0efa\n  \
         modified: 2026-02-26T12:00:00.000Z\n  when:\n    - run: '^(task|job) {number}\\b'\n    \
         - edit: 'src/part-{number}/**/*.rs'\n    - error: 'E{number:04}'\n---\n\n{text}\n"
    )
}

/// Prints the percentiles of times, and returns that of 95.
fn print_row(name: &str, mut times: Vec<Duration>) -> Duration {
    times.sort();
    let at = |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)];
    let columns = [50, 95, 100].map(|it| format!("{:>10.2} ms", at(it).as_secs_f64() * 1e3));
    println!("{name:<24}{}", columns.concat());
    at(95)
}
