//! `palazzo hook memory`: run by the hooks of Claude Code for the memory that lies in a palace.

use std::io::{Read as _, stdin};
use std::path::Path;

use serde_json::Value;

use crate::cli::home::HomeArgs;
use crate::cli::outcome::{Failure, current_time, terminal_user};
use crate::cli::terminal;
use palazzo_core::model::HOST_MEMORY_FOLDER;
use palazzo_keeper::{self as keeper, Caller};

/// Limit for standard input: the hook of a tool that writes gets the whole text.
const MAX_INPUT_BYTES: u64 = 16 << 20;

/// The client as which it commits: the name that Claude Code gives to MCP servers.
const CLIENT: &str = "claude-code";

/// The command, for commit messages.
const COMMAND: &str = "hook memory";

/// Run by the hooks for the memory of Claude Code: commits what it has written there
///
/// At the start of a conversation it completes MEMORY.md. Always exits with 0.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    home: HomeArgs,
}

/// The event of a conversation for which the hook runs.
struct MemoryEvent {
    event: String,
    session: Option<String>,
    source: String,
    file: Option<String>,
}

impl MemoryEvent {
    fn read() -> Result<Self, Failure> {
        let mut text = String::new();
        stdin().take(MAX_INPUT_BYTES).read_to_string(&mut text)?;
        let input: Value = serde_json::from_str(&text).unwrap_or_default();
        let string = |it: Option<&Value>| it.and_then(Value::as_str).map(str::to_owned);
        let file = input.get("tool_input").and_then(|it| it.get("file_path"));
        Ok(Self {
            event: string(input.get("hook_event_name")).unwrap_or_default(),
            session: string(input.get("session_id")),
            source: string(input.get("source")).unwrap_or_default(),
            file: string(file),
        })
    }
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let input = MemoryEvent::read()?;
    match input.event.as_str() {
        "SessionStart" if input.source == "startup" => start_conversation(args),
        "SessionStart" | "" => Ok(()),
        "PostToolUse" => commit_file(args, &input),
        _ => {
            let keeper = args.home.keeper();
            keeper::commit_host_memory(&keeper, &client(), input.session.as_deref(), None)?;
            Ok(())
        }
    }
}

/// Commits the file that a tool has written, if it is one of the memory.
fn commit_file(args: &Args, input: &MemoryEvent) -> Result<(), Failure> {
    let Some(file) = &input.file else { return Ok(()) };
    // Most files are elsewhere: then nothing of the palace is read.
    let name = Path::new(HOST_MEMORY_FOLDER).file_name().unwrap_or_default();
    if !Path::new(file).components().any(|it| it.as_os_str() == name) {
        return Ok(());
    }
    let keeper = args.home.keeper();
    let Some(path) = path_in_memory(&keeper::default_palace_folder(&keeper)?, Path::new(file))
    else {
        return Ok(());
    };
    keeper::commit_host_memory(&keeper, &client(), input.session.as_deref(), Some(&path))?;
    Ok(())
}

/// Returns the path in the palace of a file of the memory.
fn path_in_memory(palace: &Path, file: &Path) -> Option<String> {
    let folder = palace.join(HOST_MEMORY_FOLDER);
    let resolved = || {
        let parent = dunce::canonicalize(file.parent()?).ok()?;
        let below = parent.strip_prefix(dunce::canonicalize(&folder).ok()?).ok()?.to_owned();
        Some(below.join(file.file_name()?))
    };
    let below = file.strip_prefix(&folder).map(Path::to_owned).ok().or_else(resolved)?;
    let names = below.components().map(|it| it.as_os_str().to_str());
    let names: Vec<_> = names.collect::<Option<_>>()?;
    Some(format!("{HOST_MEMORY_FOLDER}/{}", names.join("/")))
}

/// Completes the index, commits it and what has changed between the conversations, which none of them
/// has written, and prints what is not committed.
fn start_conversation(args: &Args) -> Result<(), Failure> {
    let (keeper, person) = (args.home.keeper(), terminal_user(COMMAND));
    let completed = keeper::complete_memory_index(&keeper, &person);
    let report = keeper::commit_host_memory(&keeper, &person, None, None)?;
    let notes = report.notes();
    if !notes.is_empty() {
        terminal::print_page(&notes.join("\n"))?;
    }
    completed?;
    Ok(())
}

fn client() -> Caller {
    let client = Caller::for_client(CLIENT, current_time());
    Caller { tool: COMMAND, ..client }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_below_the_folder_are_of_the_memory() {
        let palace = Path::new("/p/keep");
        let find = |file: &str| path_in_memory(palace, Path::new(file));
        let found = find("/p/keep/drawers/claude/memory/sub/a.md");
        assert_eq!(found.as_deref(), Some("drawers/claude/memory/sub/a.md"));
        for other in ["/p/keep/drawers/claude/a.md", "/q/memory/a.md", "a.md", "/"] {
            assert_eq!(find(other), None, "{other}");
        }
    }
}
