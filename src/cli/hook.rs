//! `palazzo hook`.

use std::io::{ErrorKind, Read as _, stdin};
use std::path::{Path, PathBuf};
use std::process::{self, ExitCode, Stdio};

use serde_json::{Map, Value, json};

use crate::cli::{Failure, Outcome, home, terminal, terminal_user};
use crate::keeper::{self, DEFAULT_TOKENS, Keeper};
use crate::model::quote_for_shell;

/// What Claude Code calls the beginning of a conversation, and those of its
/// beginnings at which it knows nothing yet.
const START_EVENT: (&str, &str) = ("SessionStart", "startup|clear|compact");

/// What it calls the moments after which a conversation may be gone.
const END_EVENTS: [(&str, &str); 2] = [("PreCompact", ""), ("SessionEnd", "")];

/// What our commands say, whatever the program is called.
const START_COMMAND: &str = " hook session-start --home ";
const END_COMMAND: &str = " hook session-end --home ";

/// What Claude Code tells a hook has a few hundred bytes.
const MAX_INPUT_BYTES: u64 = 1 << 20;

/// After so many seconds Claude Code goes on without an answer.
const HOOK_TIMEOUT_SECS: u64 = 10;

/// Let Claude Code begin every conversation with what a palace knows, and keep it
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Install(InstallArgs),
    Remove(SettingsArgs),
    SessionStart(SessionStartArgs),
    SessionEnd(SessionEndArgs),
}

/// Write the hooks into the settings of Claude Code
///
/// All else in them stays. To change what is said, install it again.
#[derive(clap::Args)]
struct InstallArgs {
    #[command(flatten)]
    place: SettingsArgs,

    #[command(flatten)]
    start: SessionStartArgs,

    /// And keep conversations: when one ends, or is about to be shortened, file what
    /// was said in drawers, as `palazzo mine` does
    #[arg(long)]
    keep: bool,
}

/// Take the hooks out of the settings again
#[derive(clap::Args)]
struct SettingsArgs {
    /// For the project in this directory, in `.claude/settings.local.json`, which is
    /// not shared (paths of this machine stand in it), and not for all projects, in
    /// `~/.claude/settings.json`
    #[arg(long)]
    project: bool,

    /// In this file
    #[arg(long, value_name = "FILE", conflicts_with = "project")]
    settings: Option<PathBuf>,
}

/// What the hook runs: `palazzo wake-up`, but silent where it has nothing to say
///
/// Ends well whatever happens, so that no conversation is kept from beginning.
#[derive(clap::Args)]
struct SessionStartArgs {
    /// The home, or one palace
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,

    /// The workspace, where the home has several
    #[arg(long, value_name = "NAME")]
    workspace: Option<String>,

    /// How many tokens it may take
    #[arg(long, value_name = "TOKENS", default_value_t = DEFAULT_TOKENS.to_string())]
    budget: String,
}

/// What the hook runs at an end: `palazzo mine` on the conversation that standard
/// input tells of
///
/// Does not wait for it, and ends well whatever happens.
#[derive(clap::Args)]
struct SessionEndArgs {
    /// The home, or one palace
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,

    /// The workspace, where the home has several
    #[arg(long, value_name = "NAME")]
    workspace: Option<String>,
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
    let keeper = Keeper::new(home::find_home(args.home.as_deref()), None);
    let mut keeper = keeper.with_consent_folder(home::state_dir());
    let budget = parse_budget(&args.budget)?;
    Ok(terminal::print_page(&keeper::wake_up(
        &mut keeper,
        &terminal_user("hook"),
        args.workspace.as_deref(),
        budget,
    )?)?)
}

/// Reads a number of tokens. It is a text until then: whoever calls for the beginning
/// of a conversation is never refused.
fn parse_budget(said: &str) -> Result<usize, Failure> {
    let wrong =
        || Failure::Message(format!("`--budget {said}`: this is a number of tokens, from 1"));
    said.parse().ok().filter(|it| *it > 0).ok_or_else(wrong)
}

/// Begins to file the conversation that Claude Code tells of. It gives its hooks a
/// moment at its end, and ends those that are not done: what files is on its own.
fn run_session_end(args: &SessionEndArgs) -> Result<(), Failure> {
    let mut told = String::new();
    stdin().take(MAX_INPUT_BYTES).read_to_string(&mut told)?;
    let told: Value = serde_json::from_str(&told).unwrap_or_default();
    let unknown = "standard input names no `transcript_path`: nothing is kept";
    let transcript = told.get("transcript_path").and_then(Value::as_str);
    let transcript = transcript.ok_or_else(|| Failure::Message(unknown.to_owned()))?;
    let mut mine = process::Command::new(std::env::current_exe()?);
    mine.arg("mine").arg("--home").arg(home::find_home(args.home.as_deref()));
    if let Some(name) = &args.workspace {
        mine.arg("--workspace").arg(name);
    }
    mine.arg("--").arg(transcript);
    mine.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut mine, 0);
    mine.spawn()?;
    Ok(())
}

fn install_hooks(args: &InstallArgs) -> Outcome {
    let InstallArgs { place, start, keep } = args;
    let file = settings_file(place)?;
    let mut settings = read_settings(&file)?;
    let budget = parse_budget(&start.budget)?;
    remove_hooks(&mut settings);
    let put = |settings: &mut _, event, command: &str| {
        add_hook(settings, event, command).map_err(|what| settings_error(&file, &what))
    };
    let words = hook_command(start.home.as_deref(), start.workspace.as_deref());
    put(&mut settings, START_EVENT, &format!("{} --budget {}", words(START_COMMAND), budget))?;
    for event in END_EVENTS.into_iter().filter(|_| *keep) {
        put(&mut settings, event, &words(END_COMMAND))?;
    }
    write_settings(&file, &settings)?;
    let kept = if *keep { ", and what is said is kept" } else { "" };
    if !Keeper::new(home::find_home(start.home.as_deref()), None).has_palaces() {
        let home = home::find_home(start.home.as_deref());
        anstream::eprintln!("There is no palace in {} yet", home.display());
    }
    let file = file.display();
    terminal::print_page(&format!("Claude Code begins with what the palace knows{kept}: {file}"))?;
    Ok(ExitCode::SUCCESS)
}

fn uninstall_hooks(place: &SettingsArgs) -> Outcome {
    let file = settings_file(place)?;
    let mut settings = read_settings(&file)?;
    if remove_hooks(&mut settings) {
        match settings.is_empty() {
            true => std::fs::remove_file(&file)?,
            false => write_settings(&file, &settings)?,
        }
        terminal::print_page(&format!("The hook is taken out of {}", file.display()))?;
    } else {
        terminal::print_page(&format!("There is no hook of ours in {}", file.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns how a hook that does `what` is called.
fn hook_command(home: Option<&Path>, workspace: Option<&str>) -> impl Fn(&str) -> String {
    let program = std::env::current_exe().map_or("palazzo".into(), |it| it.display().to_string());
    let (program, home) =
        (quote_for_shell(&program), quote_for_shell(&home::find_home(home).display().to_string()));
    let workspace =
        workspace.map_or(String::new(), |it| format!(" --workspace {}", quote_for_shell(it)));
    move |what| format!("{program}{what}{home}{workspace}")
}

/// Adds a hook to the settings; `Err` says what in them is not as it should be.
fn add_hook(
    settings: &mut Map<String, Value>,
    (event, matcher): (&str, &str),
    command: &str,
) -> Result<(), String> {
    let hooks = settings.entry("hooks").or_insert_with(|| json!({}));
    let hooks = hooks.as_object_mut().ok_or("`hooks` is no object")?;
    let moments = hooks.entry(event).or_insert_with(|| json!([]));
    let moments = moments.as_array_mut().ok_or_else(|| format!("`hooks.{event}` is no list"))?;
    let hook = json!({ "type": "command", "command": command, "timeout": HOOK_TIMEOUT_SECS });
    moments.push(json!({ "matcher": matcher, "hooks": [hook] }));
    Ok(())
}

/// Takes every hook of ours out of the settings, and what it leaves empty; tells
/// whether there was one.
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
    let Some(moments) = hooks.get_mut(event).and_then(Value::as_array_mut) else { return false };
    let mut was_there = false;
    moments.retain_mut(|moment| {
        let Some(commands) = moment.get_mut("hooks").and_then(Value::as_array_mut) else {
            return true;
        };
        let number = commands.len();
        commands.retain(|it| !is_palazzo_hook(it));
        let had = commands.len() < number;
        was_there |= had;
        !had || !commands.is_empty()
    });
    if was_there {
        hooks.retain(|it, moments| it != event || *moments != json!([]));
    }
    was_there
}

fn is_palazzo_hook(hook: &Value) -> bool {
    let command = hook.get("command").and_then(Value::as_str).unwrap_or_default();
    command.contains(START_COMMAND) || command.contains(END_COMMAND)
}

/// Returns the file that holds the settings; where a link leads elsewhere, the
/// one it leads to.
fn settings_file(place: &SettingsArgs) -> Result<PathBuf, Failure> {
    let set = |name: &str| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    let folder = || match place.project {
        true => Some(PathBuf::from(".claude")),
        false => set("CLAUDE_CONFIG_DIR")
            .or_else(|| set("HOME").or_else(|| set("USERPROFILE")).map(|it| it.join(".claude"))),
    };
    let name = if place.project { "settings.local.json" } else { "settings.json" };
    let file = place.settings.clone().or_else(|| folder().map(|it| it.join(name)));
    let unknown = "it is not known where Claude Code keeps its settings: say `--settings FILE`";
    let file = file.ok_or_else(|| Failure::Message(unknown.to_owned()))?;
    let file = std::path::absolute(&file)?;
    // A link may lead to what is not there yet.
    let led = std::fs::read_link(&file).ok().zip(file.parent()).map(|(to, from)| from.join(to));
    Ok(std::fs::canonicalize(&file).ok().or(led).unwrap_or(file))
}

fn read_settings(file: &Path) -> Result<Map<String, Value>, Failure> {
    let text = match std::fs::read_to_string(file) {
        Err(err) if err.kind() == ErrorKind::NotFound => return Ok(Map::new()),
        text => text.map_err(|err| settings_error(file, &err.to_string()))?,
    };
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    serde_json::from_str(&text).map_err(|err| settings_error(file, &err.to_string()))
}

/// Writes the settings beside where they are, and then in their place.
fn write_settings(file: &Path, settings: &Map<String, Value>) -> Result<(), Failure> {
    let new = file.with_extension("json.palazzo");
    let text = format!("{:#}\n", Value::from(settings.clone()));
    let folder = file.parent().map_or(Ok(()), std::fs::create_dir_all);
    let written = folder.and_then(|()| std::fs::write(&new, text));
    let written = written.and_then(|()| match std::fs::metadata(file) {
        Ok(it) => std::fs::set_permissions(&new, it.permissions()),
        Err(_) => Ok(()),
    });
    written
        .and_then(|()| std::fs::rename(&new, file))
        .map_err(|err| Failure::Message(format!("cannot write `{}`: {err}", file.display())))
}

/// Says that the settings cannot be understood; they are left as they are.
fn settings_error(file: &Path, what: &str) -> Failure {
    Failure::Message(format!("`{}` is left as it is: {what}", file.display()))
}
