//! Diaries: notes of agents to themselves, kept between conversations.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use ulid::Ulid;

use crate::model::{Slug, fold_name};

/// One diary entry. Entries are never edited: a correction is a new entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiaryEntry {
    /// The id; ids are in the order of writing.
    pub id: Ulid,
    /// The agent, as named in the file; `None` if only the folder names it.
    pub agent: Option<String>,
    /// The topic, in a word or two.
    pub topic: String,
    /// The time of writing, to the second, if known.
    pub written: Option<DateTime<Utc>>,
    /// The text, byte for byte.
    pub text: String,
}

impl DiaryEntry {
    /// The topic of entries without one.
    pub const DEFAULT_TOPIC: &str = "general";
}

/// The diaries of all agents, in the order of writing. Agents are compared without regard to
/// spelling: `Claude Opus`, `claude_opus` and the folder name `claude-opus` are one agent.
#[derive(Clone, Debug, Default)]
pub struct Diaries {
    entries_by_file: HashMap<Arc<str>, (Slug, DiaryEntry)>,
    entries_by_agent: BTreeMap<String, BTreeSet<EntrySortKey>>,
}

/// The sort key of an entry within a diary.
type EntrySortKey = (Option<DateTime<Utc>>, Ulid, Arc<str>);

impl Diaries {
    /// Returns the number of all entries.
    pub fn len(&self) -> usize {
        self.entries_by_file.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries_by_file.is_empty()
    }

    /// Returns the path of `file` as it is stored here, if it has a diary entry.
    pub fn known_file(&self, file: &str) -> Option<&str> {
        self.entries_by_file.get_key_value(file).map(|(file, _)| &**file)
    }

    /// Returns the entry in `file`.
    pub fn entry_in_file(&self, file: &str) -> Option<&DiaryEntry> {
        self.entries_by_file.get(file).map(|(_, entry)| entry)
    }

    /// Yields every entry with its file, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &DiaryEntry)> {
        self.entries_by_file.iter().map(|(file, (_, entry))| (file.as_ref(), entry))
    }

    /// Returns the agent whose entry is in `file`.
    pub fn agent_of_file(&self, file: &str) -> Option<&str> {
        let (folder, entry) = self.entries_by_file.get(file)?;
        Some(entry.agent.as_deref().unwrap_or(folder.as_str()))
    }

    /// Returns the folder of the newest entry of `agent`.
    pub fn folder_of_newest_entry(&self, agent: &str) -> Option<&Slug> {
        let (_, _, file) = self.entries_by_agent.get(&normalize_agent(agent))?.last()?;
        self.entries_by_file.get(file).map(|(folder, _)| folder)
    }

    /// Returns whether `folder` contains an entry.
    pub fn has_folder(&self, folder: &Slug) -> bool {
        self.entries_by_file.values().any(|(it, _)| it == folder)
    }

    /// Yields the agents that have a diary, by the name in the newest entry, with the number of
    /// entries.
    pub fn agents(&self) -> impl Iterator<Item = (&str, usize)> {
        let newest = self.entries_by_agent.values().filter_map(|it| Some((it.last()?, it.len())));
        newest.filter_map(|((_, _, file), count)| Some((self.agent_of_file(file)?, count)))
    }

    /// Yields the entries of `agent` with their files, newest first.
    pub fn entries_of_agent(
        &self,
        agent: &str,
    ) -> impl ExactSizeIterator<Item = (&str, &DiaryEntry)> {
        let places = self.entries_by_agent.get(&normalize_agent(agent));
        let files: Vec<_> = places.into_iter().flat_map(|it| it.iter().rev()).collect();
        files.into_iter().map(|(_, _, file)| (file.as_ref(), &self.entries_by_file[file].1))
    }

    /// Inserts the entry in `file` of folder `folder`, replacing the previous one.
    pub fn insert(&mut self, file: &str, folder: &Slug, entry: DiaryEntry) {
        self.remove(file);
        let file: Arc<str> = file.into();
        let sort_key = (entry.written, entry.id, file.clone());
        self.entries_by_agent.entry(agent_key(folder, &entry)).or_default().insert(sort_key);
        self.entries_by_file.insert(file, (folder.clone(), entry));
    }

    /// Removes the entry in `file`.
    pub fn remove(&mut self, file: &str) {
        let Some((file, (folder, entry))) = self.entries_by_file.remove_entry(file) else { return };
        let agent = agent_key(&folder, &entry);
        let left = self.entries_by_agent.get_mut(&agent);
        let sort_key = (entry.written, entry.id, file);
        if left.is_some_and(|it| it.remove(&sort_key) && it.is_empty()) {
            self.entries_by_agent.remove(&agent);
        }
    }
}

/// Compares entries by file.
impl PartialEq for Diaries {
    fn eq(&self, other: &Self) -> bool {
        self.entries_by_file == other.entries_by_file
    }
}

fn agent_key(folder: &Slug, entry: &DiaryEntry) -> String {
    normalize_agent(entry.agent.as_deref().unwrap_or(folder.as_str()))
}

/// Returns the agent's name in the form in which spellings are compared.
fn normalize_agent(agent: &str) -> String {
    fold_name(&agent.replace('-', " "))
}
