//! `palazzo hook`.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Map, Value, json};

use crate::cli::client_config::quoted;
use crate::cli::{Failure, Outcome, home, page, person};
use crate::keeper::{Keeper, USUAL_TOKENS};

/// What Claude Code calls the beginning of a conversation, and those of its
/// beginnings at which it knows nothing yet.
const EVENT: &str = "SessionStart";
const BEGINNINGS: &str = "startup|clear|compact";

/// What every command of ours says, whatever the program is called.
const OURS: &str = " hook session-start";

/// After so many seconds Claude Code goes on without an answer.
const PATIENCE: u64 = 10;

/// Let Claude Code begin every conversation with what a palace knows
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Install(Install),
    Remove(Place),
    SessionStart(SessionStart),
}

/// Write the hook into the settings of Claude Code
///
/// All else in them stays. To change what is said, install it again.
#[derive(clap::Args)]
struct Install {
    #[command(flatten)]
    place: Place,

    #[command(flatten)]
    start: SessionStart,
}

/// Take the hook out of the settings again
#[derive(clap::Args)]
struct Place {
    /// For the project in this directory, in `.claude/settings.json`, and not for
    /// all projects, in `~/.claude/settings.json`
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
struct SessionStart {
    /// The home, or one palace
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,

    /// The workspace, where the home has several
    #[arg(long, value_name = "NAME")]
    workspace: Option<String>,

    /// How many tokens it may take
    #[arg(long, value_name = "TOKENS", default_value_t = USUAL_TOKENS)]
    budget: usize,
}

pub(super) fn run(args: &Args) -> Outcome {
    match &args.command {
        Command::Install(it) => install(it),
        Command::Remove(it) => remove(it),
        Command::SessionStart(it) => start(it),
    }
}

fn start(args: &SessionStart) -> Outcome {
    let mut keeper = Keeper::new(home::find(args.home.as_deref()), None);
    match keeper.wake_up(&person("hook"), args.workspace.as_deref(), args.budget) {
        Ok(known) => page::print(&known)?,
        Err(refusal) => page::failure(&refusal.to_string()),
    }
    Ok(ExitCode::SUCCESS)
}

fn install(args: &Install) -> Outcome {
    let file = file(&args.place)?;
    let mut settings = read(&file)?;
    take_out(&mut settings);
    put_in(&mut settings, &command(&args.start)).map_err(|what| odd(&file, what))?;
    write(&file, &settings)?;
    page::print(&format!("Claude Code begins with what the palace knows: {}", file.display()))?;
    Ok(ExitCode::SUCCESS)
}

fn remove(place: &Place) -> Outcome {
    let file = file(place)?;
    let mut settings = read(&file)?;
    if take_out(&mut settings) {
        write(&file, &settings)?;
        page::print(&format!("The hook is taken out of {}", file.display()))?;
    } else {
        page::print(&format!("There is no hook of ours in {}", file.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the command line that the hook runs.
fn command(SessionStart { home, workspace, budget }: &SessionStart) -> String {
    let program = std::env::current_exe().map_or("palazzo".into(), |it| it.display().to_string());
    let home = home::find(home.as_deref()).display().to_string();
    let mut command = format!("{}{OURS} --home {}", quoted(&program), quoted(&home));
    if let Some(name) = workspace {
        command = format!("{command} --workspace {}", quoted(name));
    }
    format!("{command} --budget {budget}")
}

/// Adds the hook to the settings; `Err` names what in them is not as it should be.
fn put_in(settings: &mut Map<String, Value>, command: &str) -> Result<(), &'static str> {
    let hooks = settings.entry("hooks").or_insert_with(|| json!({}));
    let hooks = hooks.as_object_mut().ok_or("`hooks` is no object")?;
    let starts = hooks.entry(EVENT).or_insert_with(|| json!([]));
    let starts = starts.as_array_mut().ok_or("`hooks.SessionStart` is no list")?;
    let hook = json!({ "type": "command", "command": command, "timeout": PATIENCE });
    starts.push(json!({ "matcher": BEGINNINGS, "hooks": [hook] }));
    Ok(())
}

/// Takes every hook of ours out of the settings, and what it leaves empty; tells
/// whether there was one.
fn take_out(settings: &mut Map<String, Value>) -> bool {
    let Some(hooks) = settings.get_mut("hooks").and_then(Value::as_object_mut) else {
        return false;
    };
    let Some(starts) = hooks.get_mut(EVENT).and_then(Value::as_array_mut) else { return false };
    let mut was_there = false;
    for start in starts.iter_mut() {
        let Some(commands) = start.get_mut("hooks").and_then(Value::as_array_mut) else { continue };
        let number = commands.len();
        commands.retain(|it| !is_ours(it));
        was_there |= commands.len() < number;
    }
    if was_there {
        starts.retain(|it| it.get("hooks") != Some(&json!([])));
        hooks.retain(|event, it| event != EVENT || *it != json!([]));
        settings.retain(|key, it| key != "hooks" || *it != json!({}));
    }
    was_there
}

fn is_ours(hook: &Value) -> bool {
    let command = hook.get("command").and_then(Value::as_str).unwrap_or_default();
    command.contains(OURS) && command.contains("--budget")
}

/// Returns the file that holds the settings; where a link leads elsewhere, the
/// one it leads to.
fn file(place: &Place) -> Result<PathBuf, Failure> {
    let set = |name: &str| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    let folder = || match place.project {
        true => Some(PathBuf::from(".claude")),
        false => set("CLAUDE_CONFIG_DIR")
            .or_else(|| set("HOME").or_else(|| set("USERPROFILE")).map(|it| it.join(".claude"))),
    };
    let file = place.settings.clone().or_else(|| folder().map(|it| it.join("settings.json")));
    let unknown = "it is not known where Claude Code keeps its settings: say `--settings FILE`";
    let file = file.ok_or_else(|| Failure::Said(unknown.to_owned()))?;
    let file = std::path::absolute(&file)?;
    Ok(std::fs::canonicalize(&file).unwrap_or(file))
}

fn read(file: &Path) -> Result<Map<String, Value>, Failure> {
    let text = match std::fs::read_to_string(file) {
        Err(err) if err.kind() == ErrorKind::NotFound => return Ok(Map::new()),
        text => text.map_err(|err| odd(file, &err.to_string()))?,
    };
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    serde_json::from_str(&text).map_err(|err| odd(file, &err.to_string()))
}

/// Writes the settings beside where they are, and then in their place.
fn write(file: &Path, settings: &Map<String, Value>) -> Result<(), Failure> {
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
        .map_err(|err| Failure::Said(format!("cannot write `{}`: {err}", file.display())))
}

/// Says that the settings cannot be understood; they are left as they are.
fn odd(file: &Path, what: &str) -> Failure {
    Failure::Said(format!("`{}` is left as it is: {what}", file.display()))
}
