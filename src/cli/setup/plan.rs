//! Plans the changes that `palazzo setup` makes in the configuration of a client.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::cli::client::config_file::{read_config, require_writable, resolve_links};
use crate::cli::client::server::{SERVER_NAMES, ServerCommand, runs_palazzo, serves_directly};
use crate::cli::client::{Client, entry_command};
use crate::cli::home::HomeArgs;
use crate::cli::outcome::Failure;
use crate::cli::setup::change::{Change, RecordChange};
use crate::cli::setup::description::{describe_insertion, describe_removal, describe_update};
use crate::cli::setup::new_memory::NewMemory;
use crate::cli::setup::new_palace::NewPalace;
use crate::config_edit::{ConfigError, find_entry};
use palazzo_core::model::{ClientSetup, InsertionTrace, quoted};

/// The name of the first palace, unless one is given.
const FIRST_PALACE: &str = "palace";

/// The step that is planned for a file.
pub(super) struct Plan {
    /// The client, or the feature, to which the file belongs.
    pub(super) title: String,
    pub(super) file: PathBuf,
    pub(super) step: SetupStep,
    /// Plans the step again, where an earlier one may have changed the same file.
    pub(super) replanner: Option<Box<StepPlanner>>,
}

/// Plans a step; the error says why the file is left alone.
pub(super) type StepPlanner = dyn Fn() -> Result<SetupStep, String>;

/// A step of the set-up.
pub(super) enum SetupStep {
    /// Nothing is to be done, for this reason.
    Nothing(String),
    /// The file is left alone, for this reason.
    Refused(String),
    /// The file is changed.
    Change(Box<Change>),
    /// A palace is created.
    Create(Box<NewPalace>),
    /// The memory of Claude Code is put into a palace.
    AddMemory(Box<NewMemory>),
    /// The memory of Claude Code is taken out of a palace.
    RemoveMemory(Box<ClientSetup>),
}

impl Plan {
    /// Plans a step that may be planned again.
    pub(super) fn from_planner(
        title: String,
        file: PathBuf,
        plan: impl Fn() -> Result<SetupStep, String> + 'static,
    ) -> Self {
        let step = plan().unwrap_or_else(SetupStep::Refused);
        Self { title, file, step, replanner: Some(Box::new(plan)) }
    }

    /// Returns whether there is something to do.
    pub(super) fn is_change(&self) -> bool {
        !matches!(self.step, SetupStep::Nothing(_) | SetupStep::Refused(_))
    }

    /// Returns whether another plan is for the same file.
    pub(super) fn has_file_of(&self, other: &Self) -> bool {
        resolve_links(&self.file) == resolve_links(&other.file)
    }

    /// Returns the records of what is removed.
    pub(super) fn removed_records(&self) -> impl Iterator<Item = &ClientSetup> {
        let records = match &self.step {
            SetupStep::Change(change) => change.record.removed(),
            SetupStep::RemoveMemory(record) => std::slice::from_ref(&**record),
            SetupStep::Nothing(_)
            | SetupStep::Refused(_)
            | SetupStep::Create(_)
            | SetupStep::AddMemory(_) => &[],
        };
        records.iter()
    }

    /// Renders the plan for a person who is asked.
    pub(super) fn to_text(&self) -> String {
        let mut page = format!("{}: {}\n", self.title, self.file.display());
        page += &match &self.step {
            SetupStep::Nothing(why) => format!("  {why}\n"),
            SetupStep::Refused(why) => format!("  left alone: {why}\n"),
            SetupStep::Change(it) => it.description.clone(),
            SetupStep::Create(it) => it.description.clone(),
            SetupStep::AddMemory(it) => it.description.clone(),
            SetupStep::RemoveMemory(it) => format!(
                "  - {}: {}\n  its hooks go too, and the memories are copied to where Claude Code \
                 finds them then\n",
                it.name,
                it.start.join(" ")
            ),
        };
        page
    }
}

/// Plans to create a palace in the home: `name`, or the first one.
pub(super) fn plan_palace(
    home: &HomeArgs,
    name: Option<&str>,
    template: Option<&str>,
) -> Result<Option<Plan>, Failure> {
    let keeper = home.keeper();
    let has_palaces = keeper.has_palaces();
    if name.is_none() && has_palaces {
        return Ok(None);
    }
    let name = name.unwrap_or(FIRST_PALACE);
    let step = match has_palaces && keeper.reject_unknown_workspace(name).is_ok() {
        true => SetupStep::Nothing("it is there already".to_owned()),
        false => SetupStep::Create(Box::new(NewPalace::new(home, name, template)?)),
    };
    let title = format!("Palace {}", quoted(name));
    Ok(Some(Plan { title, file: home.find(), step, replanner: None }))
}

/// Plans to put the memory of the project in the current folder into the palace; `None`: it is there
/// already, or there is no project. `is_asked` tells whether a person sees the plan.
pub(super) fn plan_memory(home: &HomeArgs, is_asked: bool) -> Option<Plan> {
    let planned = NewMemory::new(home, is_asked);
    let (file, step) = match planned {
        Ok(memory) => {
            let memory = memory?;
            (memory.settings.clone(), SetupStep::AddMemory(Box::new(memory)))
        }
        Err(failure) => (PathBuf::from("-"), SetupStep::Refused(failure.to_string())),
    };
    let title = format!("{}, memory", Client::ClaudeCode.title());
    Some(Plan { title, file, step, replanner: None })
}

/// Plans to add the entry of a server to the configuration of a client, or to update it.
pub(super) fn plan_insertion(
    client: Client,
    file: Option<PathBuf>,
    server: &ServerCommand,
) -> Plan {
    let Some(file) = file else {
        let why =
            format!("the place of its configuration is not known; {}", advice_by_hand(client));
        return client_plan(client, PathBuf::from("-"), SetupStep::Refused(why));
    };
    let step = insertion_step(client, &file, server).unwrap_or_else(SetupStep::Refused);
    client_plan(client, file, step)
}

fn client_plan(client: Client, file: PathBuf, step: SetupStep) -> Plan {
    Plan { title: client.title().to_owned(), file, step, replanner: None }
}

fn advice_by_hand(client: Client) -> String {
    format!("add the entry by hand (palazzo setup --print {})", client.name())
}

fn insertion_step(
    client: Client,
    file: &Path,
    server: &ServerCommand,
) -> Result<SetupStep, String> {
    let by_hand = |why: String| format!("{why}; {}", advice_by_hand(client));
    let not_edited = |why: ConfigError| by_hand(why.to_string());
    let target = resolve_links(file);
    let was = read_config(&target).map_err(by_hand)?;
    let (format, place) = (client.format(), client.entry_place(server.name));
    let text = was.as_deref().unwrap_or_default();
    let config = format.parse(text).map_err(|it| format!("{it}; correct it and run this again"))?;
    let entry = find_entry(&config, place);
    let command = entry.and_then(entry_command).unwrap_or_default();
    let server = &server.with_options_of(&command).map_err(by_hand)?;
    let fields = client.command_fields(server);
    let is_current = |entry: &Value| fields.iter().all(|(key, it)| entry.get(key) == Some(it));
    let (new, record, description) = match entry {
        None => {
            let entry = client.command_entry(server);
            let (new, trace) = format.insert(text, place, &entry).map_err(not_edited)?;
            let record = entry_record(client, &target, server, trace, was.is_none());
            let description = describe_insertion(format, place, &entry, was.is_none());
            (new, RecordChange::Add(Box::new(record)), description)
        }
        Some(entry) if is_current(entry) && client.missing_fields(server, entry).is_empty() => {
            return Ok(SetupStep::Nothing(format!("`{}` is there already", server.name)));
        }
        Some(entry) if is_current(entry) || serves_directly(&command) && !has_older_form(entry) => {
            let mut fields = fields.clone();
            fields.extend(client.missing_fields(server, entry));
            let new = format.update(text, place, &fields).map_err(not_edited)?;
            (new, RecordChange::Keep, describe_update(server.name, entry, &fields))
        }
        Some(entry) => return step_for_foreign_entry(entry, &command, server.name),
    };
    require_writable(&target).map_err(by_hand)?;
    Ok(SetupStep::Change(Box::new(Change { target, was, new: Some(new), record, description })))
}

fn entry_record(
    client: Client,
    target: &Path,
    server: &ServerCommand,
    trace: InsertionTrace,
    created_file: bool,
) -> ClientSetup {
    ClientSetup {
        client: client.name(),
        file: target.to_owned(),
        name: server.name.to_owned(),
        start: server.start_words(),
        trace,
        text: None,
        created_file,
        created_folders: Vec::new(),
    }
}

/// Returns whether an entry has an older form of Zed, with more below `command` than the command.
fn has_older_form(entry: &Value) -> bool {
    entry.get("command").is_some_and(Value::is_object)
}

/// Returns the step if the entry with our name is not one that Palazzo may change.
fn step_for_foreign_entry(
    entry: &Value,
    command: &[String],
    name: &str,
) -> Result<SetupStep, String> {
    if has_older_form(entry) {
        return Err(format!("its entry `{name}` has an older form; remove it and run this again"));
    }
    if runs_palazzo(command) {
        return Ok(SetupStep::Nothing(format!("`{name}` is there already, by {}", command[0])));
    }
    Err(format!(
        "its entry `{name}` starts or connects to something else; remove it if Palazzo should take \
         its place"
    ))
}

/// Plans to remove the entries of Palazzo from the configuration of a client, also where it was when
/// they were added.
pub(super) fn plan_removals(
    client: Client,
    file: Option<PathBuf>,
    records: &[ClientSetup],
) -> Vec<Plan> {
    let is_of_client = |it: &&ClientSetup| it.client == client.name() && it.text.is_none();
    let records: Vec<_> = records.iter().filter(is_of_client).collect();
    let mut files: Vec<_> = file.into_iter().collect();
    for record in &records {
        if files.iter().all(|it| resolve_links(it) != record.file && *it != record.file) {
            files.push(record.file.clone());
        }
    }
    let plan = |file: PathBuf| {
        let target = resolve_links(&file);
        // The user may have moved the file since, and left a link.
        let is_of_file = |it: &&&ClientSetup| it.file == target || it.file == file;
        let records: Vec<_> = records.iter().filter(is_of_file).copied().collect();
        let step = removal_step(client, target, &records);
        let step = step.unwrap_or_else(|why| {
            Some(SetupStep::Refused(format!("{why}; remove an entry of Palazzo by hand")))
        });
        Some(client_plan(client, file, step?))
    };
    files.into_iter().filter_map(plan).collect()
}

/// Returns `None` if there is nothing of Palazzo.
fn removal_step(
    client: Client,
    target: PathBuf,
    records: &[&ClientSetup],
) -> Result<Option<SetupStep>, String> {
    let was = read_config(&target)?;
    let removal = remove_entries(client, was.as_deref().unwrap_or_default(), records)?;
    let is_created = records.iter().any(|it| it.created_file && it.file == target);
    let is_empty = removal.text.trim_start_matches('\u{feff}').is_empty();
    let new = was.is_some().then_some(removal.text).filter(|_| !(is_created && is_empty));
    if records.is_empty() && new == was {
        return Ok(None);
    }
    if new != was {
        require_writable(&target)?;
    }
    let is_deleted = new.is_none() && was.is_some();
    let deleted = if is_deleted { "  the file is then empty, and is deleted\n" } else { "" };
    let description = removal.description + deleted;
    let record = RecordChange::Remove(records.iter().map(|it| (*it).clone()).collect());
    Ok(Some(SetupStep::Change(Box::new(Change { target, was, new, record, description }))))
}

/// The removal of the entries of Palazzo from a text.
struct TextWithoutEntries {
    text: String,
    /// What was removed, in lines for the user.
    description: String,
}

/// Removes the entries of Palazzo from a text.
fn remove_entries(
    client: Client,
    text: &str,
    records: &[&ClientSetup],
) -> Result<TextWithoutEntries, String> {
    let (format, mut text, mut description) = (client.format(), text.to_owned(), String::new());
    let config = format.parse(&text).map_err(|it| it.to_string())?;
    // What was added last is removed first.
    let recorded = records.iter().rev().map(|it| (it.name.as_str(), Some(*it)));
    let unrecorded = SERVER_NAMES.iter().filter(|name| records.iter().all(|it| it.name != **name));
    for (name, record) in recorded.chain(unrecorded.map(|it| (*it, None))) {
        let entry = find_entry(&config, client.entry_place(name));
        let command = entry.and_then(entry_command);
        let is_ours = command.as_ref().is_some_and(|it| is_own_command(it, record));
        description += &match (entry, record) {
            (None, Some(_)) => format!("  `{name}` is no longer there; its record is removed\n"),
            (Some(_), Some(_)) if !is_ours => {
                format!("  `{name}` is another server now, and stays; its record is removed\n")
            }
            (Some(_), None) if is_ours => format!(
                "  there is no record that setup has added `{name}` here: an empty mapping may stay\n"
            ),
            _ => String::new(),
        };
        if is_ours {
            let trace = record.map(|it| &it.trace);
            let new = format.remove(&text, client.entry_place(name), trace);
            let new = new.map_err(|it| it.to_string())?;
            description += &describe_removal(name, &command.unwrap_or_default());
            text = new;
        }
    }
    Ok(TextWithoutEntries { text, description })
}

/// Returns whether an entry with this command is one of Palazzo. What setup has added is, whatever
/// the program is called.
fn is_own_command(command: &[String], record: Option<&ClientSetup>) -> bool {
    serves_directly(command) || record.is_some_and(|it| command.starts_with(&it.start))
}
