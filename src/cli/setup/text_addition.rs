//! The additions of `palazzo setup` to files, besides the entries of servers: a hook, a permission, a
//! line of instructions.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::cli::client::Client;
use crate::cli::client::config_file::{read_config, require_writable, resolve_links};
use crate::cli::hook::claude_settings::runs_only_palazzo_hooks;
use crate::cli::hook::memory_settings::MEMORY_KEY;
use crate::cli::setup::change::{Change, RecordChange};
use crate::cli::setup::description::signed_lines;
use crate::cli::setup::plan::{Plan, SetupStep};
use crate::cli::setup::start_hook::{self, StartHook, parse_settings, with_recorded_command};
use crate::config_edit::{
    EntryPlace, insert_list_item, remove_list_items, revert_text_change, text_change,
};
use palazzo_core::model::{ClientSetup, InsertionTrace};

/// The line for CLAUDE.md, AGENTS.md and the like.
const INSTRUCTIONS: &str = "Palazzo (MCP) is the memory of all conversations: begin each with its \
    tool set_workspace, search it before you answer, and write there what is decided or found.";

/// The names of records.
const HOOK_RECORD: &str = "hooks.SessionStart";
const INSTRUCTIONS_RECORD: &str = "instructions";

/// The client in the record of instructions, which are of no one client.
const NO_CLIENT: &str = "-";

/// The lists in the settings of Claude Code.
const HOOKS: EntryPlace = EntryPlace { section: "hooks", name: "SessionStart" };
const PERMISSIONS: EntryPlace = EntryPlace { section: "permissions", name: "allow" };

/// An addition to a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TextAddition {
    /// A hook of Claude Code: an item of the list `hooks.SessionStart`.
    Hook(StartHook),
    /// A permission of Claude Code: an item of the list `permissions.allow`.
    Permission(String),
    /// A line of instructions at the end of a file.
    Instructions,
}

impl TextAddition {
    /// Returns the permission to call all tools of a server.
    pub(super) fn permission_for(server: &str) -> Self {
        Self::Permission(format!("mcp__{server}__*"))
    }

    /// Plans to add this to a file.
    pub(super) fn plan_insertion(self, file: PathBuf) -> Plan {
        let target = file.clone();
        Plan::from_planner(self.title().to_owned(), file, move || self.insertion_step(&target))
    }

    fn title(&self) -> &'static str {
        match self {
            Self::Hook(_) | Self::Permission(_) => Client::ClaudeCode.title(),
            Self::Instructions => "Instructions",
        }
    }

    fn insertion_step(&self, file: &Path) -> Result<SetupStep, String> {
        let target = resolve_links(file);
        let was = read_config(&target)?;
        let text = was.as_deref().unwrap_or_default();
        if let Self::Hook(hook) = self
            && let Some(step) = hook.update_step(&target, text)?
        {
            return Ok(step);
        }
        if let Some(why) = self.reason_not_to_add(text)? {
            return Ok(SetupStep::Nothing(why));
        }
        let new = self.insert(text)?;
        require_writable(&target)?;
        let record = RecordChange::Add(Box::new(ClientSetup {
            client: self.client_name(),
            file: target.clone(),
            name: self.record_name().to_owned(),
            start: self.hook_command().into_iter().collect(),
            trace: InsertionTrace::default(),
            text: Some(text_change(text, &new)),
            created_file: was.is_none(),
            created_folders: Vec::new(),
        }));
        let new_file = if was.is_none() { "  a new file:\n" } else { "" };
        let lines = signed_lines('+', &self.added_text());
        let description = format!("{new_file}  {}\n{lines}", self.meaning());
        Ok(SetupStep::Change(Box::new(Change { target, was, new: Some(new), record, description })))
    }

    /// Returns why there is nothing to add; `None`: it is missing.
    fn reason_not_to_add(&self, text: &str) -> Result<Option<String>, String> {
        if *self == Self::Instructions {
            let is_there = text.lines().any(|it| it == INSTRUCTIONS);
            return Ok(is_there.then(|| "the line is there already".to_owned()));
        }
        let settings = parse_settings(text)?;
        let plugins = settings.get("enabledPlugins").and_then(Value::as_object);
        let mut plugins = plugins.into_iter().flatten();
        let has_plugin = plugins.any(|(name, it)| name.starts_with("palazzo@") && *it == true);
        let EntryPlace { section, name } = self.list();
        let items = settings.get(section).and_then(|it| it.get(name)).and_then(Value::as_array);
        let is_there = items.is_some_and(|it| it.iter().any(|it| self.is_item(it)));
        Ok(match self {
            Self::Hook(_) if has_plugin => Some("the plugin has the hook".to_owned()),
            Self::Permission(_) if is_there => Some("the permission is there already".to_owned()),
            _ => None,
        })
    }

    fn insert(&self, text: &str) -> Result<String, String> {
        let item = match self {
            Self::Hook(hook) => hook.item()?,
            Self::Permission(name) => name.as_str().into(),
            Self::Instructions => {
                let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
                return Ok(format!("{text}{}{INSTRUCTIONS}{line_end}", gap_below(text, line_end)));
            }
        };
        let EntryPlace { section, name } = self.list();
        insert_list_item(text, &[section, name], &item).map_err(|it| it.to_string())
    }

    /// Removes this from a text that others have changed since. What they added stays.
    fn remove(&self, text: &str, inserted: &str) -> Result<String, String> {
        if *self == Self::Instructions {
            return Ok(remove_instructions(text, inserted));
        }
        let EntryPlace { section, name } = self.list();
        let has_key = |key: &str| inserted.contains(&format!("\"{key}\""));
        // The list was created for the item, perhaps with the object around it.
        let created = if has_key(name) { 1 + usize::from(has_key(section)) } else { 0 };
        let rest = remove_list_items(text, &[section, name], |it| self.is_item(it), created);
        rest.map_err(|it| it.to_string())
    }

    /// Returns whether an item of the list is this one.
    fn is_item(&self, item: &Value) -> bool {
        match self {
            Self::Hook(_) => runs_only_palazzo_hooks(item),
            Self::Permission(name) => item == name,
            Self::Instructions => false,
        }
    }

    fn list(&self) -> EntryPlace<'static> {
        match self {
            Self::Hook(_) => HOOKS,
            Self::Permission(_) | Self::Instructions => PERMISSIONS,
        }
    }

    /// Returns what this does, for the person who is asked.
    fn meaning(&self) -> &'static str {
        match self {
            Self::Hook(_) => start_hook::MEANING,
            Self::Permission(_) => {
                "Claude Code no longer asks before it calls a tool of this server. The tools read, \
                 write and delete\n  in the palaces, and sync them where you have set that up. Each \
                 change is a commit, which palazzo undo\n  takes back:"
            }
            Self::Instructions => "agents read this line in each conversation:",
        }
    }

    fn added_text(&self) -> String {
        match self {
            Self::Hook(hook) => format!("{}{}", start_hook::HOOK_LINE, hook.command()),
            Self::Permission(name) => format!("permissions.allow: {name}"),
            Self::Instructions => INSTRUCTIONS.to_owned(),
        }
    }

    /// Returns the command of a hook, by which it is found again after an update.
    fn hook_command(&self) -> Option<String> {
        match self {
            Self::Hook(hook) => Some(hook.command()),
            Self::Permission(_) | Self::Instructions => None,
        }
    }

    fn record_name(&self) -> &str {
        match self {
            Self::Hook(_) => HOOK_RECORD,
            Self::Permission(name) => name,
            Self::Instructions => INSTRUCTIONS_RECORD,
        }
    }

    fn client_name(&self) -> String {
        match self {
            Self::Hook(_) | Self::Permission(_) => Client::ClaudeCode.name(),
            Self::Instructions => NO_CLIENT.to_owned(),
        }
    }

    fn of_record(record: &ClientSetup) -> Self {
        match record.name.as_str() {
            HOOK_RECORD => Self::Hook(StartHook::default()),
            INSTRUCTIONS_RECORD => Self::Instructions,
            name => Self::Permission(name.to_owned()),
        }
    }
}

/// Returns the line ends between a text and a paragraph below it: they leave an empty line.
fn gap_below(text: &str, line_end: &str) -> String {
    let is_ended = text.is_empty() || text.ends_with('\n');
    let has_gap = text.is_empty() || text.ends_with(&line_end.repeat(2));
    line_end.repeat(usize::from(!is_ended) + usize::from(!has_gap))
}

/// Removes the line of instructions from a text that others have changed since, with the empty line
/// above it if that is still there. What stands below begins on a line of its own.
fn remove_instructions(text: &str, inserted: &str) -> String {
    let Some((above, below)) = text.split_once(inserted) else {
        let is_kept = |it: &&str| it.trim_end_matches(['\r', '\n']) != INSTRUCTIONS;
        return text.split_inclusive('\n').filter(is_kept).collect();
    };
    let is_ended = above.is_empty() || below.is_empty() || above.ends_with('\n');
    let line_end = if inserted.ends_with("\r\n") { "\r\n" } else { "\n" };
    format!("{above}{}{below}", if is_ended { "" } else { line_end })
}

/// Plans to remove what the records list, of these clients; all of it if there are none.
pub(super) fn plan_text_removals(records: &[ClientSetup], clients: &[Client]) -> Vec<Plan> {
    let names: Vec<_> = clients.iter().map(|it| it.name()).collect();
    let is_asked = |it: &&ClientSetup| names.is_empty() || names.contains(&it.client);
    let records = records.iter().filter(|it| it.text.is_some()).filter(is_asked).cloned();
    let plan = |record: ClientSetup| {
        if record.name == MEMORY_KEY {
            return memory_removal(record);
        }
        let (title, file) = (TextAddition::of_record(&record).title(), record.file.clone());
        Plan::from_planner(title.to_owned(), file, move || removal_step(&record))
    };
    records.map(plan).collect()
}

fn memory_removal(record: ClientSetup) -> Plan {
    let title = format!("{}, memory", Client::ClaudeCode.title());
    let (file, step) = (record.file.clone(), SetupStep::RemoveMemory(Box::new(record)));
    Plan { title, file, step, replanner: None }
}

fn removal_step(record: &ClientSetup) -> Result<SetupStep, String> {
    let addition = TextAddition::of_record(record);
    let target = resolve_links(&record.file);
    let was = read_config(&target)?;
    let change = record.text.clone().unwrap_or_default();
    let text = was.as_deref().unwrap_or_default();
    // A line that others wrote below the instructions must not be joined with the one above.
    let is_last = text.ends_with(&change.inserted);
    let added = with_recorded_command(text, record);
    let reverted = revert_text_change(added.as_deref().unwrap_or(text), &change);
    let rest = match reverted.filter(|_| is_last || addition != TextAddition::Instructions) {
        Some(rest) => rest,
        None => addition.remove(text, &change.inserted)?,
    };
    let is_deleted = record.created_file && rest.is_empty() && was.is_some();
    let mut description = match rest == text {
        true => "  it is no longer there; its record is removed\n".to_owned(),
        false => signed_lines('-', addition.removed_text()),
    };
    if is_deleted {
        description += "  the file is then empty, and is deleted\n";
    }
    let new = was.is_some().then_some(rest).filter(|_| !is_deleted);
    if new != was {
        require_writable(&target)?;
    }
    let record = RecordChange::Remove(vec![record.clone()]);
    Ok(SetupStep::Change(Box::new(Change { target, was, new, record, description })))
}

impl TextAddition {
    fn removed_text(&self) -> &str {
        match self {
            Self::Hook(_) => "hooks.SessionStart: the hook of Palazzo",
            Self::Permission(name) => name,
            Self::Instructions => INSTRUCTIONS,
        }
    }
}
