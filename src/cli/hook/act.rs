//! `palazzo hook act`.
//!
//! Whatever goes wrong, the hook is silent and exits with 0: Claude Code takes another exit code, or a word
//! on the error stream, as a fault of the agent's action.

use std::io::{self, Read as _, Write as _, stdin};
use std::panic;
use std::process;
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::cli::home::HomeArgs;
use crate::cli::outcome::current_time;
use crate::cli::user_folders::state_dir;
use palazzo_keeper::{self as keeper, ActHook, HookInput};

/// Limit for standard input; a longer one has no answer.
const MAX_INPUT_BYTES: u64 = 1 << 20;

/// How long the hook may take for a note, from the end of its input. Tests set another time in
/// milliseconds with `PALAZZO_HOOK_DEADLINE`.
const NOTE_DEADLINE: Duration = Duration::from_millis(50);

/// How long the hook may run in all, while it waits for its input or stores what the host has written.
const DEADLINE: Duration = Duration::from_secs(2);

/// Run by the hook after a tool: shows a memory whose trigger fits
///
/// Reads what Claude Code or Codex tells a hook from standard input. If a memory in
/// `drawers/claude/memory` has a trigger that fits the command, the changed file or the
/// error, prints its text for the agent: at most 600 characters, each memory once in a
/// conversation, and three in all. Only what this machine's host has written is shown, or
/// what `palazzo trust` has allowed. Takes at most 50 ms, and always exits with 0.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    home: HomeArgs,
}

/// Returns whether this run of the program is one of this hook, whose arguments may be wrong.
pub(in crate::cli) fn is_this_run() -> bool {
    let mut words = std::env::args_os().skip(1);
    words.next().is_some_and(|it| it == "hook") && words.next().is_some_and(|it| it == "act")
}

pub(super) fn run(args: &Args) {
    panic::set_hook(Box::new(|_| {}));
    // The threads that end the process share nothing with this one.
    let answer = panic::catch_unwind(panic::AssertUnwindSafe(|| answer_hook(args)));
    if let Ok(Some(answer)) = answer {
        // An agent that is gone needs no answer.
        let _ = io::stdout().write_all(answer.as_bytes());
    }
}

/// Returns what the hook prints, if anything.
fn answer_hook(args: &Args) -> Option<String> {
    end_process_after(DEADLINE);
    let input = HookInput::parse(&read_input()?)?;
    let is_memory_write = keeper::is_memory_write(&input);
    if !is_memory_write {
        end_process_after(note_deadline());
    }
    let hook = ActHook::find(&args.home.silent_keeper(), &state_dir()?, current_time())?;
    if is_memory_write {
        hook.record_written_memory(&input);
        return None;
    }
    let note = hook.note(&input)?;
    let output = json!({ "hookEventName": input.event, "additionalContext": note });
    Some(format!("{}\n", json!({ "hookSpecificOutput": output })))
}

fn read_input() -> Option<String> {
    let (mut input, mut stdin) = (Vec::new(), stdin().lock());
    stdin.by_ref().take(MAX_INPUT_BYTES).read_to_end(&mut input).ok()?;
    // A host that cannot write all of it would report that.
    io::copy(&mut stdin, &mut io::sink()).ok().filter(|it| *it == 0)?;
    String::from_utf8(input).ok()
}

fn note_deadline() -> Duration {
    let set = std::env::var("PALAZZO_HOOK_DEADLINE").ok().and_then(|it| it.parse().ok());
    set.map_or(NOTE_DEADLINE, Duration::from_millis)
}

/// Ends the process after a time, with success. The answer is written at once, so it is never cut.
fn end_process_after(time: Duration) {
    thread::spawn(move || {
        thread::sleep(time);
        process::exit(0);
    });
}
