//! `palazzo hook`.

pub(super) mod start_command;

use std::io::{Read as _, stdin};
use std::path::PathBuf;
use std::process::{self, ExitCode, Stdio};

use serde_json::{Value, json};

use crate::cli::client::config_file::{create_folders, read_config, replace_config, resolve_links};
use crate::cli::home::HomeArgs;
use crate::cli::hook::start_command::{START_COMMAND_MARKER, StartCommand};
use crate::cli::outcome::{Failure, Outcome, terminal_user};
use crate::cli::program::{program_path, to_utf8};
use crate::cli::terminal;
use crate::config_edit::{ConfigError, ConfigFormat, insert_list_item, remove_list_items};
use palazzo_core::model::{path_text, quote_for_shell, unquote_for_shell};
use palazzo_keeper::{self as keeper, DEFAULT_WAKE_UP_TOKENS};

/// The hook event at the start of a conversation, and the matcher for the starts with an
/// empty context.
pub(super) const START_EVENT: (&str, &str) = ("SessionStart", "startup|clear|compact");

/// The hook events after which the text of a conversation may be lost.
const END_EVENTS: [(&str, &str); 2] = [("PreCompact", ""), ("SessionEnd", "")];

/// The part by which the command at the end is recognised as ours, whatever the path of the program.
const END_COMMAND_MARKER: &str = " hook session-end --home ";

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
    #[arg(long, value_name = "TOKENS", default_value_t = DEFAULT_WAKE_UP_TOKENS.to_string())]
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
    let file = SettingsFile::read(find_settings_file(place)?)?;
    let budget = parse_budget(&start.budget)?;
    let mut hooks = vec![(START_EVENT, StartCommand::new(&start.home, budget)?.to_string())];
    if *keep {
        let keep_secrets = if *keep_secrets { " --keep-secrets" } else { "" };
        let command = end_command(&start.home)? + keep_secrets;
        hooks.extend(END_EVENTS.map(|it| (it, command.clone())));
    }
    let settings = without_hooks(file.text()).map_err(|it| file.error(&it.to_string()))?;
    let settings = with_hooks(settings, &hooks).map_err(|it| file.error(&it))?;
    file.replace(Some(&settings))?;
    let kept = if *keep { ", and keeps conversations" } else { "" };
    if !has_palaces {
        anstream::eprintln!("There is no palace in {} yet", start.home.find().display());
    }
    let done = "Claude Code starts with a summary of the palace";
    terminal::print_page(&format!("{done}{kept}: {}", path_text(&file.path)))?;
    Ok(ExitCode::SUCCESS)
}

fn uninstall_hooks(place: &SettingsFileArgs) -> Outcome {
    let file = SettingsFile::read(find_settings_file(place)?)?;
    let path = path_text(&file.path);
    let settings = without_hooks(file.text()).map_err(|it| file.error(&it.to_string()))?;
    if settings == file.text() {
        terminal::print_page(&format!("There is no hook of Palazzo in {path}"))?;
    } else {
        let is_empty = settings.split_whitespace().collect::<String>() == "{}";
        file.replace(Some(settings.as_str()).filter(|_| !is_empty))?;
        terminal::print_page(&format!("The hook is removed from {path}"))?;
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
    Ok(format!("{program}{END_COMMAND_MARKER}{place}{workspace}"))
}

/// Returns the item of the list `hooks.SessionStart` that runs a command.
pub(super) fn start_hook_item(command: &StartCommand) -> Value {
    hook_matcher(START_EVENT.1, &command.to_string())
}

/// Returns the events after which a hook of Palazzo may run.
fn events() -> impl Iterator<Item = &'static str> {
    std::iter::once(START_EVENT).chain(END_EVENTS).map(|(event, _)| event)
}

/// Returns the commands of the hooks of Palazzo in settings, each with its event.
pub(super) fn palazzo_hooks(settings: &Value) -> Vec<(&'static str, &str)> {
    let commands = events().flat_map(|event| {
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
    let rest =
        [START_COMMAND_MARKER, END_COMMAND_MARKER].iter().find_map(|it| command.split_once(it))?.1;
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

/// Returns whether an item of the list of an event runs hooks of Palazzo and no others.
pub(super) fn runs_only_palazzo_hooks(matcher: &Value) -> bool {
    let hooks = matcher.get("hooks").and_then(Value::as_array);
    hooks.is_some_and(|it| !it.is_empty() && it.iter().all(is_palazzo_hook))
}

fn hook_matcher(matcher: &str, command: &str) -> Value {
    let hook = json!({ "type": "command", "command": command, "timeout": HOOK_TIMEOUT_SECS });
    json!({ "matcher": matcher, "hooks": [hook] })
}

/// Adds hooks to the text of settings; the error names the part that has the wrong type.
fn with_hooks(mut text: String, hooks: &[((&str, &str), String)]) -> Result<String, String> {
    let settings = ConfigFormat::Json.parse(&text).map_err(|it| it.to_string())?;
    let present = settings.get("hooks");
    if present.is_some_and(|it| !it.is_object()) {
        return Err("`hooks` is not an object".to_owned());
    }
    for ((event, matcher), command) in hooks {
        if present.and_then(|it| it.get(event)).is_some_and(|it| !it.is_array()) {
            return Err(format!("`hooks.{event}` is not a list"));
        }
        let item = hook_matcher(matcher, command);
        text = insert_list_item(&text, &["hooks", event], &item).map_err(|it| it.to_string())?;
    }
    Ok(text)
}

/// Removes every hook of ours from the text of settings, and the lists and objects that become
/// empty. All else stays as it is written.
fn without_hooks(text: &str) -> Result<String, ConfigError> {
    let mut text = text.to_owned();
    for event in events() {
        let list = ["hooks", event];
        text = remove_list_items(&text, &list, runs_only_palazzo_hooks, list.len())?;
        let settings = ConfigFormat::Json.parse(&text)?;
        let matchers = settings["hooks"][event].as_array().map_or(0, Vec::len);
        for index in (0..matchers).map(|it| it.to_string()) {
            let list = ["hooks", event, &index, "hooks"];
            text = remove_list_items(&text, &list, is_palazzo_hook, 0)?;
        }
    }
    Ok(text)
}

fn is_palazzo_hook(hook: &Value) -> bool {
    let command = hook.get("command").and_then(Value::as_str).unwrap_or_default();
    command.contains(START_COMMAND_MARKER) || command.contains(END_COMMAND_MARKER)
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
    fn read(path: PathBuf) -> Result<Self, Failure> {
        let mut file = Self { path, text: None };
        file.text = read_config(&file.path).map_err(|it| file.error(&it))?;
        Ok(file)
    }

    fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// Replaces the file, unless another program has changed it meanwhile; `None` deletes it.
    fn replace(&self, new: Option<&str>) -> Result<(), Failure> {
        create_folders(&self.path)?;
        replace_config(&self.path, self.text.as_deref(), new).map_err(|it| self.error(&it))
    }

    /// Returns the error for a file that is not changed.
    fn error(&self, why: &str) -> Failure {
        Failure::Message(format!("`{}` is not changed: {why}", path_text(&self.path)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &str = "/bin/palazzo hook session-start --home /a --budget 300";

    fn hook(command: &str) -> Value {
        json!({ "type": "command", "command": command })
    }

    fn with_start_hook(text: &str) -> Result<String, String> {
        with_hooks(text.to_owned(), &[(START_EVENT, OURS.to_owned())])
    }

    #[test]
    fn a_hook_is_added_after_those_of_the_user() {
        let settings = json!({ "hooks": { "SessionStart": [{ "hooks": [hook("make")] }] } });
        let text = with_start_hook(&settings.to_string()).unwrap();
        let settings = ConfigFormat::Json.parse(&text).unwrap();
        let starts = settings["hooks"]["SessionStart"].as_array().unwrap();
        assert_eq!(starts[0]["hooks"][0], hook("make"));
        assert_eq!(starts[1]["matcher"], "startup|clear|compact");
        let ours = json!({ "type": "command", "command": OURS, "timeout": 10 });
        assert_eq!(starts[1]["hooks"], json!([ours]));
    }

    #[test]
    fn removing_the_hooks_restores_the_settings_of_the_user() {
        let end = format!("palazzo{END_COMMAND_MARKER}/a");
        let hooks = [START_EVENT, END_EVENTS[0], END_EVENTS[1]].map(|it| (it, end.clone()));
        for user in [
            "{\"model\":\"opus\"}",
            "{ \"model\": \"opus\" } // end",
            "{\n  // mine\n}\n",
            "\u{feff}{\r\n\t\"hooks\": {\r\n\t\t// none\r\n\t},\r\n}\r\n",
            "{\"z\": 1.50, \"hooks\": {\"Stop\": [], \"SessionEnd\": [{\"hooks\": []}]},\n\n \"a\": 1}",
            "{\n  \"hooks\": {\n    \"SessionStart\": [\n      /* old */ { \"hooks\": [] }, // why\n    ],\n  },\n}\n",
        ] {
            let changed = with_hooks(user.to_owned(), &hooks).unwrap();
            let settings = ConfigFormat::Json.parse(&changed).unwrap();
            assert_eq!(palazzo_hooks(&settings).len(), 3, "{changed}");
            assert_eq!(without_hooks(&changed).as_deref(), Ok(user));
            assert_eq!(without_hooks(user).as_deref(), Ok(user));
        }
    }

    #[test]
    fn a_hook_beside_ours_in_one_matcher_is_kept() {
        let other = "{ \"command\": \"make\" } /* x */";
        let settings = |hooks: &str| {
            format!(
                "{{\"hooks\": {{\"SessionStart\": [{{\"matcher\": \"clear\",\n \"hooks\": [{hooks}]}}]}}}}"
            )
        };
        let ours = hook(OURS);
        for both in [format!("{other}, {ours}, {ours}"), format!("{ours},{other}")] {
            assert_eq!(without_hooks(&settings(&both)), Ok(settings(other)));
        }
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
        let refused = |text| with_start_hook(text).unwrap_err();
        assert_eq!(refused("{\"hooks\": []}"), "`hooks` is not an object");
        let wrong = "{\"hooks\": {\"SessionStart\": {}}}";
        assert_eq!(refused(wrong), "`hooks.SessionStart` is not a list");
        assert_eq!(without_hooks(wrong).as_deref(), Ok(wrong));
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
    fn blank_settings_are_empty_and_broken_ones_are_refused() {
        for blank in ["", " \n"] {
            let added = with_start_hook(blank).unwrap();
            assert_eq!(without_hooks(&added), Ok(format!("{blank}{{\n}}\n")));
        }
        for broken in ["[]", "{ \"model\": "] {
            assert!(with_start_hook(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn settings_are_written_into_a_new_folder_without_a_temporary_file_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/settings.json");
        let file = SettingsFile::read(path.clone()).unwrap();
        file.replace(Some("{\"model\": \"größe\"}")).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"model\": \"größe\"}");
        assert_eq!(std::fs::read_dir(folder.path().join("new")).unwrap().count(), 1);
    }

    #[test]
    fn settings_that_another_program_has_changed_meanwhile_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        let file = SettingsFile::read(path.clone()).unwrap();
        std::fs::write(&path, "{\"model\": \"opus\"}").unwrap();
        let refused = file.replace(Some("{}")).unwrap_err().to_string();
        assert!(refused.contains("is not changed: "), "{refused}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"model\": \"opus\"}");
    }
}
