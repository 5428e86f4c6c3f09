//! `palazzo hook`.

pub(super) mod start_command;

use std::io::{Read as _, stdin};
use std::path::{Path, PathBuf};
use std::process::{self, ExitCode, Stdio};

use serde_json::{Map, Value, json};

use crate::cli::client::config_file::{create_folders, read_config, replace_config, resolve_links};
use crate::cli::home::HomeArgs;
use crate::cli::hook::start_command::{START_COMMAND, StartCommand};
use crate::cli::outcome::{Failure, Outcome, terminal_user};
use crate::cli::program::{program_path, to_utf8};
use crate::cli::terminal;
use palazzo_core::model::{path_text, quote_for_shell, unquote_for_shell};
use palazzo_keeper::{self as keeper, DEFAULT_TOKENS};

/// The hook event at the start of a conversation, and the matcher for the starts with an
/// empty context.
pub(super) const START_EVENT: (&str, &str) = ("SessionStart", "startup|clear|compact");

/// The hook events after which the text of a conversation may be lost.
const END_EVENTS: [(&str, &str); 2] = [("PreCompact", ""), ("SessionEnd", "")];

/// The part by which the command at the end is recognised as ours, whatever the path of the program.
const END_COMMAND: &str = " hook session-end --home ";

/// Limit for standard input; Claude Code sends a hook a few hundred bytes.
const MAX_INPUT_BYTES: u64 = 1 << 20;

/// The seconds after which Claude Code continues without the hook's answer.
const HOOK_TIMEOUT_SECS: u64 = 10;

/// Start every conversation in Claude Code with a summary of a palace, and keep conversations
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Install(InstallArgs),
    Remove(SettingsFileArgs),
    SessionStart(SessionStartArgs),
    SessionEnd(SessionEndArgs),
}

/// Write the hooks into the settings of Claude Code
///
/// Other settings are kept. To change the options, install the hooks again.
#[derive(clap::Args)]
struct InstallArgs {
    #[command(flatten)]
    place: SettingsFileArgs,

    #[command(flatten)]
    start: SessionStartArgs,

    /// Also keep conversations: when one ends, or is about to be compacted, file its
    /// text in drawers, as `palazzo import` does
    #[arg(long)]
    keep: bool,

    /// Keep conversations with their secrets; else they are redacted, as in `palazzo import`
    #[arg(long, requires = "keep")]
    keep_secrets: bool,
}

/// Remove the hooks from the settings of Claude Code
#[derive(clap::Args)]
struct SettingsFileArgs {
    /// Use the settings of the project in this directory (`.claude/settings.local.json`,
    /// which is not shared, because the hooks contain paths of this machine) instead of
    /// those of all projects (`~/.claude/settings.json`)
    #[arg(long)]
    project: bool,

    /// Use this settings file
    #[arg(long, value_name = "FILE", conflicts_with = "project")]
    settings: Option<PathBuf>,
}

/// Run by the hook at the start: `palazzo wake-up`
///
/// Always exits with 0, so that it never blocks the start of a conversation.
#[derive(clap::Args)]
struct SessionStartArgs {
    #[command(flatten)]
    home: HomeArgs,

    /// The largest number of tokens to print
    #[arg(long, value_name = "TOKENS", default_value_t = DEFAULT_TOKENS.to_string())]
    budget: String,
}

/// Run by the hook at the end: `palazzo import` on the conversation that standard input
/// names
///
/// Does not wait for it to finish, and always exits with 0.
#[derive(clap::Args)]
struct SessionEndArgs {
    #[command(flatten)]
    home: HomeArgs,

    /// Keep secrets as they are
    #[arg(long)]
    keep_secrets: bool,
}

impl Args {
    /// Returns whether a client runs the command, and not a person.
    pub(super) fn is_run_by_client(&self) -> bool {
        matches!(self.command, Command::SessionStart(_) | Command::SessionEnd(_))
    }
}

pub(super) fn run(args: &Args) -> Outcome {
    match &args.command {
        Command::Install(it) => install_hooks(it),
        Command::Remove(it) => uninstall_hooks(it),
        Command::SessionStart(it) => {
            run_session_start(it).unwrap_or_else(|err| terminal::eprint_failure(&err.to_string()));
            Ok(ExitCode::SUCCESS)
        }
        Command::SessionEnd(it) => {
            run_session_end(it).unwrap_or_else(|err| terminal::eprint_failure(&err.to_string()));
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn run_session_start(args: &SessionStartArgs) -> Result<(), Failure> {
    let mut keeper = args.home.keeper();
    let budget = parse_budget(&args.budget)?;
    Ok(terminal::print_page(&keeper::wake_up(
        &mut keeper,
        &terminal_user("hook"),
        args.home.workspace(),
        budget,
    )?)?)
}

/// Parses a number of tokens. The argument is a string, because an error of the argument
/// parser would make the hook exit with a failure at the start of a conversation.
fn parse_budget(text: &str) -> Result<usize, Failure> {
    let wrong =
        || Failure::Message(format!("`--budget {text}`: give a number of tokens, at least 1"));
    text.parse().ok().filter(|it| *it > 0).ok_or_else(wrong)
}

/// Starts filing the conversation that Claude Code names. Claude Code kills hooks that are
/// not done soon after its end, so a process of its own files the text.
fn run_session_end(args: &SessionEndArgs) -> Result<(), Failure> {
    let mut input = String::new();
    stdin().take(MAX_INPUT_BYTES).read_to_string(&mut input)?;
    let input: Value = serde_json::from_str(&input).unwrap_or_default();
    let unknown = "standard input names no `transcript_path`: nothing is kept";
    let transcript = input.get("transcript_path").and_then(Value::as_str);
    let transcript = transcript.ok_or_else(|| Failure::Message(unknown.to_owned()))?;
    let mut import = process::Command::new(std::env::current_exe()?);
    import.arg("import").arg("--home").arg(args.home.find());
    if let Some(name) = args.home.workspace() {
        import.arg("--workspace").arg(name);
    }
    if args.keep_secrets {
        import.arg("--keep-secrets");
    }
    import.arg("--").arg(transcript);
    import.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    detach(&mut import);
    import.spawn()?;
    Ok(())
}

/// Keeps the end of this process group or console from ending `program`.
#[cfg(unix)]
fn detach(program: &mut process::Command) {
    std::os::unix::process::CommandExt::process_group(program, 0);
}

/// Keeps the end of this process group or console from ending `program`.
#[cfg(windows)]
fn detach(program: &mut process::Command) {
    const DETACHED_PROCESS: u32 = 0x0000_0008;
    std::os::windows::process::CommandExt::creation_flags(program, DETACHED_PROCESS);
}

fn install_hooks(args: &InstallArgs) -> Outcome {
    let InstallArgs { place, start, keep, keep_secrets } = args;
    let keeper = start.home.keeper();
    let has_palaces = keeper.has_palaces();
    if has_palaces {
        // The hook could only report this where nobody reads it.
        keeper.require_default_workspace()?;
    }
    let (file, mut settings) = SettingsFile::read(find_settings_file(place)?)?;
    let budget = parse_budget(&start.budget)?;
    remove_hooks(&mut settings);
    let add = |settings: &mut _, event, command: &str| {
        add_hook(settings, event, command)
            .map_err(|why| settings_not_changed_error(&file.path, &why))
    };
    let command = StartCommand::new(&start.home, budget)?.to_string();
    add(&mut settings, START_EVENT, &command)?;
    let command = end_command(&start.home)?;
    for event in END_EVENTS.into_iter().filter(|_| *keep) {
        let keep_secrets = if *keep_secrets { " --keep-secrets" } else { "" };
        add(&mut settings, event, &format!("{command}{keep_secrets}"))?;
    }
    file.replace(Some(settings))?;
    let kept = if *keep { ", and keeps conversations" } else { "" };
    if !has_palaces {
        anstream::eprintln!("There is no palace in {} yet", start.home.find().display());
    }
    let done = "Claude Code starts with a summary of the palace";
    terminal::print_page(&format!("{done}{kept}: {}", path_text(&file.path)))?;
    Ok(ExitCode::SUCCESS)
}

fn uninstall_hooks(place: &SettingsFileArgs) -> Outcome {
    let (file, mut settings) = SettingsFile::read(find_settings_file(place)?)?;
    let path = path_text(&file.path);
    if remove_hooks(&mut settings) {
        file.replace(Some(settings).filter(|it| !it.is_empty()))?;
        terminal::print_page(&format!("The hook is removed from {path}"))?;
    } else {
        terminal::print_page(&format!("There is no hook of Palazzo in {path}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the command line of the hooks at the end of a conversation.
fn end_command(home: &HomeArgs) -> Result<String, Failure> {
    let program = quote_for_shell(&program_path()?);
    let place = quote_for_shell(&to_utf8(&home.find())?);
    let workspace = home
        .workspace()
        .map_or(String::new(), |it| format!(" --workspace={}", quote_for_shell(it)));
    Ok(format!("{program}{END_COMMAND}{place}{workspace}"))
}

/// Returns the item of the list `hooks.SessionStart` that runs a command.
pub(super) fn start_hook(command: &StartCommand) -> Value {
    hook_matcher(START_EVENT.1, &command.to_string())
}

/// Returns the commands of the hooks of Palazzo in settings, each with its event.
pub(super) fn palazzo_hooks(settings: &Value) -> Vec<(&'static str, &str)> {
    let events = std::iter::once(START_EVENT.0).chain(END_EVENTS.map(|it| it.0));
    let commands = events.flat_map(|event| {
        let matchers = settings.get("hooks").and_then(|it| it.get(event)?.as_array());
        let hooks = matchers.into_iter().flatten().filter_map(|it| it.get("hooks")?.as_array());
        let ours = hooks.flatten().filter(|it| is_palazzo_hook(it));
        ours.filter_map(move |it| Some((event, it.get("command")?.as_str()?)))
    });
    commands.collect()
}

/// Returns the commands of the hooks of Palazzo at the start of a conversation.
pub(super) fn start_commands(settings: &Value) -> Vec<&str> {
    let hooks = palazzo_hooks(settings).into_iter().filter(|(event, _)| *event == START_EVENT.0);
    hooks.map(|(_, command)| command).collect()
}

/// Returns the home in the command of a hook; `None` if only a shell can tell it.
pub(super) fn home_of_hook(command: &str) -> Option<String> {
    let rest = [START_COMMAND, END_COMMAND].iter().find_map(|it| command.split_once(it))?.1;
    let ends = rest.match_indices(' ').map(|(at, _)| at).chain([rest.len()]);
    ends.into_iter().find_map(|end| unquote_word(&rest[..end]))
}

/// Returns a word without the quotes of a shell, also if a person has written them.
fn unquote_word(word: &str) -> Option<String> {
    let in_quotes = |quote: char| {
        let inner = word.strip_prefix(quote)?.strip_suffix(quote)?;
        (!inner.contains(['"', '\'', '$', '\\', '`'])).then(|| inner.to_owned())
    };
    unquote_for_shell(word).or_else(|| in_quotes('"')).or_else(|| in_quotes('\''))
}

/// Returns whether an item of the list `hooks.SessionStart` runs only a hook of Palazzo.
pub(super) fn runs_start_hook(matcher: &Value) -> bool {
    let hooks = matcher.get("hooks").and_then(Value::as_array);
    hooks.is_some_and(|it| !it.is_empty() && it.iter().all(is_palazzo_hook))
}

fn hook_matcher(matcher: &str, command: &str) -> Value {
    let hook = json!({ "type": "command", "command": command, "timeout": HOOK_TIMEOUT_SECS });
    json!({ "matcher": matcher, "hooks": [hook] })
}

/// Adds a hook to the settings; the error names the part that has the wrong type.
fn add_hook(
    settings: &mut Map<String, Value>,
    (event, matcher): (&str, &str),
    command: &str,
) -> Result<(), String> {
    let hooks = settings.entry("hooks").or_insert_with(|| json!({}));
    let hooks = hooks.as_object_mut().ok_or("`hooks` is not an object")?;
    let matchers = hooks.entry(event).or_insert_with(|| json!([]));
    let matchers =
        matchers.as_array_mut().ok_or_else(|| format!("`hooks.{event}` is not a list"))?;
    matchers.push(hook_matcher(matcher, command));
    Ok(())
}

/// Removes every hook of ours from the settings, and the lists and objects that become
/// empty. Returns true if there was one.
fn remove_hooks(settings: &mut Map<String, Value>) -> bool {
    let Some(hooks) = settings.get_mut("hooks").and_then(Value::as_object_mut) else {
        return false;
    };
    let events = END_EVENTS.into_iter().chain([START_EVENT]);
    let had = events.filter(|(event, _)| remove_event_hooks(hooks, event)).count() > 0;
    settings.retain(|key, it| !had || key != "hooks" || *it != json!({}));
    had
}

fn remove_event_hooks(hooks: &mut Map<String, Value>, event: &str) -> bool {
    let Some(matchers) = hooks.get_mut(event).and_then(Value::as_array_mut) else { return false };
    let mut was_there = false;
    matchers.retain_mut(|matcher| {
        let Some(commands) = matcher.get_mut("hooks").and_then(Value::as_array_mut) else {
            return true;
        };
        let number = commands.len();
        commands.retain(|it| !is_palazzo_hook(it));
        let had = commands.len() < number;
        was_there |= had;
        !had || !commands.is_empty()
    });
    if was_there {
        hooks.retain(|it, matchers| it != event || *matchers != json!([]));
    }
    was_there
}

fn is_palazzo_hook(hook: &Value) -> bool {
    let command = hook.get("command").and_then(Value::as_str).unwrap_or_default();
    command.contains(START_COMMAND) || command.contains(END_COMMAND)
}

/// Returns the settings file; if it is a symbolic link, the file that the link points to.
fn find_settings_file(place: &SettingsFileArgs) -> Result<PathBuf, Failure> {
    let set = |name: &str| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    let folder = || match place.project {
        true => Some(PathBuf::from(".claude")),
        false => set("CLAUDE_CONFIG_DIR")
            .or_else(|| set("HOME").or_else(|| set("USERPROFILE")).map(|it| it.join(".claude"))),
    };
    let name = if place.project { "settings.local.json" } else { "settings.json" };
    let file = place.settings.clone().or_else(|| folder().map(|it| it.join(name)));
    let unknown = "the settings file of Claude Code was not found: give `--settings FILE`";
    let file = file.ok_or_else(|| Failure::Message(unknown.to_owned()))?;
    Ok(resolve_links(&std::path::absolute(&file)?))
}

/// A settings file, with its content if it exists.
struct SettingsFile {
    path: PathBuf,
    text: Option<String>,
}

impl SettingsFile {
    /// Reads a file. Returns its settings too; an empty file has none.
    fn read(path: PathBuf) -> Result<(Self, Map<String, Value>), Failure> {
        let not_changed = |why: String| settings_not_changed_error(&path, &why);
        let text = read_config(&path).map_err(not_changed)?;
        let settings = match text.as_deref().filter(|it| !it.trim().is_empty()) {
            Some(text) => serde_json::from_str(text).map_err(|it| not_changed(it.to_string()))?,
            None => Map::new(),
        };
        Ok((Self { path, text }, settings))
    }

    /// Replaces the file, unless another program has changed it meanwhile; `None` deletes it.
    fn replace(&self, settings: Option<Map<String, Value>>) -> Result<(), Failure> {
        let new = settings.map(|it| format!("{:#}\n", Value::from(it)));
        create_folders(&self.path)?;
        replace_config(&self.path, self.text.as_deref(), new.as_deref())
            .map_err(|why| settings_not_changed_error(&self.path, &why))
    }
}

/// Returns the error for settings that cannot be parsed; the file is not changed.
fn settings_not_changed_error(file: &Path, why: &str) -> Failure {
    Failure::Message(format!("`{}` is not changed: {why}", path_text(file)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &str = "/bin/palazzo hook session-start --home /a --budget 300";

    fn settings(value: Value) -> Map<String, Value> {
        serde_json::from_value(value).unwrap()
    }

    fn hook(command: &str) -> Value {
        json!({ "type": "command", "command": command })
    }

    #[test]
    fn a_hook_is_added_after_those_of_the_user() {
        let mut settings =
            settings(json!({ "hooks": { "SessionStart": [{ "hooks": [hook("make")] }] } }));
        add_hook(&mut settings, START_EVENT, OURS).unwrap();
        let starts = settings["hooks"]["SessionStart"].as_array().unwrap();
        assert_eq!(starts[0]["hooks"][0], hook("make"));
        assert_eq!(starts[1]["matcher"], "startup|clear|compact");
        let ours = json!({ "type": "command", "command": OURS, "timeout": 10 });
        assert_eq!(starts[1]["hooks"], json!([ours]));
    }

    #[test]
    fn removing_the_hooks_restores_the_settings_of_the_user() {
        for user in [
            json!({}),
            json!({ "model": "opus", "hooks": { "Stop": [], "SessionEnd": [{ "hooks": [] }] } }),
        ] {
            let mut changed = settings(user.clone());
            add_hook(&mut changed, START_EVENT, OURS).unwrap();
            for event in END_EVENTS {
                add_hook(&mut changed, event, &format!("palazzo{END_COMMAND}/a")).unwrap();
            }
            assert!(remove_hooks(&mut changed));
            assert_eq!(Value::from(changed.clone()), user);
            assert!(!remove_hooks(&mut changed));
        }
    }

    #[test]
    fn a_hook_beside_ours_in_one_matcher_is_kept() {
        let both = json!({ "matcher": "clear", "hooks": [hook("make"), hook(OURS)] });
        let mut settings = settings(json!({ "hooks": { "SessionStart": [both] } }));
        assert!(remove_hooks(&mut settings));
        let left = json!({ "hooks": { "SessionStart": [{ "matcher": "clear", "hooks": [hook("make")] }] } });
        assert_eq!(Value::from(settings), left);
    }

    #[test]
    fn a_hook_is_ours_whatever_the_path_of_the_program() {
        assert!(is_palazzo_hook(&hook("'/a b/pal' hook session-end --home ~")));
        for other in [hook("palazzo wake-up"), hook("make hook session-start"), json!({}), json!(1)]
        {
            assert!(!is_palazzo_hook(&other), "{other}");
        }
    }

    #[test]
    fn the_home_of_a_hook_is_read_also_when_somebody_has_changed_it() {
        for (command, home) in [
            (OURS, Some("/a")),
            ("A=1 pal hook session-start --home '/a b' | head", Some("/a b")),
            ("pal hook session-end --home '/it'\\''s c'", Some("/it's c")),
            ("pal hook session-start --home \"/a b\"", Some("/a b")),
            ("pal hook session-start --home '/a' -x", Some("/a")),
            ("pal hook session-end --home $HOME/a", None),
            ("pal hook session-end --home \"$HOME/a\"", None),
            ("palazzo wake-up", None),
        ] {
            assert_eq!(home_of_hook(command).as_deref(), home, "{command}");
        }
    }

    #[test]
    fn settings_of_a_wrong_type_are_refused_and_named() {
        let refused = |value| add_hook(&mut settings(value), START_EVENT, OURS).unwrap_err();
        assert_eq!(refused(json!({ "hooks": [] })), "`hooks` is not an object");
        let wrong = json!({ "hooks": { "SessionStart": {} } });
        assert_eq!(refused(wrong), "`hooks.SessionStart` is not a list");
        assert!(!remove_hooks(&mut settings(json!({ "hooks": { "SessionStart": 1 } }))));
    }

    #[test]
    fn a_budget_is_a_number_of_at_least_one_token() {
        assert_eq!(parse_budget("1").unwrap(), 1);
        for text in ["0", "-1", "many", "", "1.5"] {
            let refused = parse_budget(text).unwrap_err().to_string();
            assert_eq!(refused, format!("`--budget {text}`: give a number of tokens, at least 1"));
        }
    }

    #[test]
    fn a_missing_or_blank_settings_file_is_empty_and_a_broken_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.json");
        let read = || SettingsFile::read(file.clone()).map(|(_, settings)| settings);
        assert_eq!(read().unwrap(), Map::new());
        std::fs::write(&file, " \n").unwrap();
        assert_eq!(read().unwrap(), Map::new());
        std::fs::write(&file, "[]").unwrap();
        let refused = read().unwrap_err().to_string();
        assert!(
            refused.starts_with(&format!("`{}` is not changed: ", file.display())),
            "{refused}"
        );
    }

    #[test]
    fn settings_are_written_into_a_new_folder_without_a_temporary_file_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/settings.json");
        let (file, _) = SettingsFile::read(path.clone()).unwrap();
        file.replace(Some(settings(json!({ "model": "größe" })))).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\n  \"model\": \"größe\"\n}\n");
        assert_eq!(std::fs::read_dir(folder.path().join("new")).unwrap().count(), 1);
    }

    #[test]
    fn settings_that_another_program_has_changed_meanwhile_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        let (file, _) = SettingsFile::read(path.clone()).unwrap();
        std::fs::write(&path, "{\"model\": \"opus\"}").unwrap();
        let refused = file.replace(Some(Map::new())).unwrap_err().to_string();
        assert!(refused.contains("is not changed: "), "{refused}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"model\": \"opus\"}");
    }
}
