//! Plans the changes that `palazzo setup` makes in the configuration of a client.

use std::path::{Path, PathBuf};

use crate::cli::client::config_file::{read_config, require_writable, resolve_links};
use crate::cli::client::server::{SERVER_NAMES, ServerCommand, runs_palazzo, serves_directly};
use crate::cli::client::{Client, entry_command};
use crate::cli::setup::change::{Change, RecordChange};
use crate::cli::setup::line_diff::describe_change;
use crate::config_edit::find_entry;
use crate::model::ClientSetup;

/// The step that is planned for a file.
pub(super) struct Plan {
    pub(super) client: Client,
    pub(super) file: PathBuf,
    pub(super) step: Step,
}

/// A step of the set-up.
pub(super) enum Step {
    /// Nothing is to be done, for this reason.
    Nothing(String),
    /// The file is left alone, for this reason.
    Refused(String),
    /// The file is changed.
    Change(Box<Change>),
}

impl Plan {
    /// Returns the records of what is removed.
    pub(super) fn removed_records(&self) -> impl Iterator<Item = &ClientSetup> {
        let records = match &self.step {
            Step::Change(change) => change.record.removed(),
            Step::Nothing(_) | Step::Refused(_) => &[],
        };
        records.iter()
    }

    /// Renders the plan for a person who is asked.
    pub(super) fn to_text(&self) -> String {
        let mut page = format!("{}: {}\n", self.client.title(), self.file.display());
        page += &match &self.step {
            Step::Nothing(why) => format!("  {why}\n"),
            Step::Refused(why) => format!("  left alone: {why}\n"),
            Step::Change(it) => {
                let note = it.note.as_ref().map(|it| format!("  {it}\n")).unwrap_or_default();
                note + &describe_change(it.was.as_deref(), it.new.as_deref())
            }
        };
        page
    }
}

/// Plans to add the entry of a server to the configuration of a client, or to update it.
pub(super) fn plan_insertion(
    client: Client,
    file: Option<PathBuf>,
    server: &ServerCommand,
) -> Plan {
    let by_hand = format!("add the entry by hand (palazzo client-config {})", client.name());
    let Some(file) = file else {
        let why = format!("the place of its configuration is not known; {by_hand}");
        return Plan { client, file: PathBuf::from("-"), step: Step::Refused(why) };
    };
    let step = insertion_step(client, &file, server);
    let step = step.unwrap_or_else(|why| Step::Refused(format!("{why}; {by_hand}")));
    Plan { client, file, step }
}

fn insertion_step(client: Client, file: &Path, server: &ServerCommand) -> Result<Step, String> {
    let target = resolve_links(file);
    let was = read_config(&target)?;
    let (format, place) = (client.format(), client.entry_place(server.name));
    let text = was.as_deref().unwrap_or_default();
    let config = format.parse(text).map_err(|it| it.to_string())?;
    let entry = find_entry(&config, place);
    let command = entry.and_then(entry_command).unwrap_or_default();
    let fields = client.command_fields(&server.with_options_of(&command));
    let (new, record) = match entry {
        None => {
            let entry = client.command_entry(server);
            let (new, trace) = format.insert(text, place, &entry).map_err(|it| it.to_string())?;
            let record = ClientSetup {
                client: client.name(),
                file: target.clone(),
                name: server.name.to_owned(),
                trace,
                created_file: was.is_none(),
                created_folders: Vec::new(),
            };
            (new, RecordChange::Add(record))
        }
        Some(entry) if fields.iter().all(|(key, it)| entry.get(key) == Some(it)) => {
            return Ok(Step::Nothing(format!("`{}` is there already", server.name)));
        }
        Some(_) if serves_directly(&command) => {
            let new = format.update(text, place, &fields).map_err(|it| it.to_string())?;
            (new, RecordChange::Keep)
        }
        Some(_) if runs_palazzo(&command) => {
            let program = command[0].clone();
            return Ok(Step::Nothing(format!("`{}` is there already, by {program}", server.name)));
        }
        Some(_) => {
            return Err(format!("another server there has the name `{}`", server.name));
        }
    };
    require_writable(&target)?;
    Ok(Step::Change(Box::new(Change { target, was, new: Some(new), record, note: None })))
}

/// Plans to remove the entries of Palazzo from the configuration of a client, also where it was when
/// they were added.
pub(super) fn plan_removals(
    client: Client,
    file: Option<PathBuf>,
    records: &[ClientSetup],
) -> Vec<Plan> {
    let records: Vec<_> = records.iter().filter(|it| it.client == client.name()).collect();
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
        let step = step
            .unwrap_or_else(|why| Some(Step::Refused(format!("{why}; remove the entry by hand"))));
        Some(Plan { client, file, step: step? })
    };
    files.into_iter().filter_map(plan).collect()
}

/// Returns `None` if there is nothing of Palazzo.
fn removal_step(
    client: Client,
    target: PathBuf,
    records: &[&ClientSetup],
) -> Result<Option<Step>, String> {
    let read = || {
        let was = read_config(&target)?;
        let removed = remove_entries(client, was.as_deref().unwrap_or_default(), records)?;
        Ok::<_, String>((was, removed))
    };
    let (was, (text, note)) = match read() {
        // Nothing of ours is known to be there.
        Err(why) if records.is_empty() => {
            return Ok(Some(Step::Nothing(format!("it cannot be read: {why}"))));
        }
        read => read?,
    };
    let is_created = records.iter().any(|it| it.created_file && it.file == target);
    let is_empty = text.trim_start_matches('\u{feff}').is_empty();
    let new = was.is_some().then_some(text).filter(|_| !(is_created && is_empty));
    if records.is_empty() && new == was {
        return Ok(None);
    }
    if new != was {
        require_writable(&target)?;
    }
    let record = RecordChange::Remove(records.iter().map(|it| (*it).clone()).collect());
    Ok(Some(Step::Change(Box::new(Change { target, was, new, record, note }))))
}

/// Removes the entries of Palazzo from a text. Returns it, with what the user should know.
fn remove_entries(
    client: Client,
    text: &str,
    records: &[&ClientSetup],
) -> Result<(String, Option<String>), String> {
    let (format, mut text, mut note) = (client.format(), text.to_owned(), None);
    let config = format.parse(&text).map_err(|it| it.to_string())?;
    let is_there = |name: &str| find_entry(&config, client.entry_place(name)).is_some();
    let is_ours = |name: &str| {
        let entry = find_entry(&config, client.entry_place(name));
        entry.and_then(entry_command).is_some_and(|it| serves_directly(&it))
    };
    // What was added last is removed first.
    let recorded = records.iter().rev().map(|it| (it.name.as_str(), Some(&it.trace)));
    let unrecorded = SERVER_NAMES.iter().filter(|name| records.iter().all(|it| it.name != **name));
    for (name, trace) in recorded.chain(unrecorded.map(|it| (*it, None))) {
        // What setup has added is its own, whatever the program is called.
        if !(is_ours(name) || trace.is_some() && is_there(name)) {
            continue;
        }
        text =
            format.remove(&text, client.entry_place(name), trace).map_err(|it| it.to_string())?;
        if trace.is_none() {
            note = Some(format!(
                "there is no record that setup has added `{name}` here: an empty mapping may stay"
            ));
        }
    }
    Ok((text, note))
}
