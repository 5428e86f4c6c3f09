//! `palazzo hook`.

pub(super) mod act;
pub(super) mod claude_settings;
mod memory;
mod memory_files;
pub(super) mod memory_settings;
pub(super) mod memory_setup;
pub(super) mod start_command;

use std::io::{Read as _, stdin};
use std::path::PathBuf;
use std::process::{self, ExitCode, Stdio};

use serde_json::Value;

use crate::cli::client::config_file::{create_folders, read_config, replace_config, resolve_links};
use crate::cli::confirmation::confirm;
use crate::cli::home::HomeArgs;
use crate::cli::hook::claude_settings::{
    END_COMMAND_MARKER, END_EVENTS, START_EVENT, with_hooks, without_hooks,
};
use crate::cli::hook::memory_setup::{MemorySetup, remove_memory_setup};
use crate::cli::hook::start_command::StartCommand;
use crate::cli::outcome::{Failure, Outcome, terminal_user};
use crate::cli::program::{program_path, to_utf8};
use crate::cli::terminal;
use palazzo_core::model::{path_text, quote_for_shell};
use palazzo_keeper::{self as keeper, DEFAULT_WAKE_UP_TOKENS};

/// Limit for standard input; Claude Code sends a hook a few hundred bytes.
const MAX_INPUT_BYTES: u64 = 1 << 20;

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
    Act(act::Args),
    Memory(memory::Args),
}

/// Write the hooks into the settings of Claude Code
///
/// Other settings are kept. To change the options, install the hooks again.
#[derive(clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
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

    /// Only put the memory that Claude Code has of the project in this directory into the palace:
    /// as drawers in `drawers/claude/memory`, committed as it is written. Always in the settings of
    /// the project
    #[arg(long, conflicts_with_all = ["settings", "keep", "budget"])]
    memory: bool,

    /// With --memory: accept that the repository of the palace has a remote
    #[arg(long, requires = "memory")]
    accept: bool,
}

/// Remove the hooks from the settings of Claude Code
///
/// With --project also the memory that Claude Code has in a palace: its files are copied to where
/// Claude Code finds them then.
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
        matches!(
            self.command,
            Command::SessionStart(_)
                | Command::SessionEnd(_)
                | Command::Act(_)
                | Command::Memory(_)
        )
    }
}

pub(super) fn run(args: &Args) -> Outcome {
    match &args.command {
        Command::Install(it) if it.memory => install_memory(it),
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
        Command::Act(it) => {
            act::run(it);
            Ok(ExitCode::SUCCESS)
        }
        Command::Memory(it) => {
            memory::run(it).unwrap_or_else(|err| terminal::eprint_failure(&err.to_string()));
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
    let InstallArgs { place, start, keep, keep_secrets, .. } = args;
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

/// Puts the memory of Claude Code into the palace.
fn install_memory(args: &InstallArgs) -> Outcome {
    let setup = MemorySetup::new(args.start.home.keeper())?;
    if let Some(question) = setup.question()?
        && !confirm(&question, args.accept, "--accept")?
    {
        anstream::eprintln!("Nothing is changed.");
        return Ok(ExitCode::from(1));
    }
    terminal::print_page(&setup.install()?.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}

fn uninstall_hooks(place: &SettingsFileArgs) -> Outcome {
    let memory = remove_memory_setup(&find_settings_file(place)?)?;
    if let Some(lines) = &memory {
        terminal::print_page(&lines.join("\n"))?;
    }
    let file = SettingsFile::read(find_settings_file(place)?)?;
    let path = path_text(&file.path);
    let settings = without_hooks(file.text()).map_err(|it| file.error(&it.to_string()))?;
    if settings == file.text() && memory.is_some() {
        terminal::print_page(&format!("The memory is removed from {path}"))?;
    } else if settings == file.text() {
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

    #[test]
    fn a_budget_is_a_number_of_at_least_one_token() {
        assert_eq!(parse_budget("1").unwrap(), 1);
        for text in ["0", "-1", "many", "", "1.5"] {
            let refused = parse_budget(text).unwrap_err().to_string();
            assert_eq!(refused, format!("`--budget {text}`: give a number of tokens, at least 1"));
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
