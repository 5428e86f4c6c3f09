//! Diaries: what agents tell themselves from one conversation to the next.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use ulid::Ulid;

use crate::model::{Slug, fold_name};

/// One entry of a diary. Never edited: to change your mind, write another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiaryEntry {
    /// Its identity; the order of ids is the order of writing.
    pub id: Ulid,
    /// Whose diary it is, as its file says; `None`: as its folder is called.
    pub agent: Option<String>,
    /// What it is about, in a word or two.
    pub topic: String,
    /// When it was written, to the second, if that is known.
    pub written: Option<DateTime<Utc>>,
    /// The text, byte for byte.
    pub text: String,
}

impl DiaryEntry {
    /// The topic of an entry that names none.
    pub const DEFAULT_TOPIC: &str = "general";
}

/// The diaries of all agents, in the order of writing. Whose they are does not
/// depend on how the name is spelled: `Claude Opus`, `claude_opus` and `claude-opus`,
/// as its folder is called, are one.
#[derive(Clone, Debug, Default)]
pub struct Diaries {
    entries_by_file: HashMap<Arc<str>, (Slug, DiaryEntry)>,
    entries_by_agent: BTreeMap<String, BTreeSet<EntrySortKey>>,
}

/// An entry's place in a diary.
type EntrySortKey = (Option<DateTime<Utc>>, Ulid, Arc<str>);

impl Diaries {
    /// Returns how many entries there are in all.
    pub fn len(&self) -> usize {
        self.entries_by_file.len()
    }

    /// Tells whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries_by_file.is_empty()
    }

    /// Returns the entry that `file` holds.
    pub fn get(&self, file: &str) -> Option<&DiaryEntry> {
        self.entries_by_file.get(file).map(|(_, entry)| entry)
    }

    /// Yields every entry in no order, with its file.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &DiaryEntry)> {
        self.entries_by_file.iter().map(|(file, (_, entry))| (file.as_ref(), entry))
    }

    /// Returns whose diary `file` belongs to.
    pub fn agent_of(&self, file: &str) -> Option<&str> {
        let (folder, entry) = self.entries_by_file.get(file)?;
        Some(entry.agent.as_deref().unwrap_or(folder.as_str()))
    }

    /// Returns the folder that holds the newest entry of `agent`.
    pub fn newest_folder_of(&self, agent: &str) -> Option<&Slug> {
        let (_, _, file) = self.entries_by_agent.get(&normalize_agent(agent))?.last()?;
        self.entries_by_file.get(file).map(|(folder, _)| folder)
    }

    /// Tells whether some entry lies in `folder`.
    pub fn has_folder(&self, folder: &Slug) -> bool {
        self.entries_by_file.values().any(|(it, _)| it == folder)
    }

    /// Yields the agents who keep a diary, by the name in the newest entry,
    /// with how many entries it has.
    pub fn agents(&self) -> impl Iterator<Item = (&str, usize)> {
        let newest = self.entries_by_agent.values().filter_map(|it| Some((it.last()?, it.len())));
        newest.filter_map(|((_, _, file), count)| Some((self.agent_of(file)?, count)))
    }

    /// Yields the entries of `agent` with their files, newest first.
    pub fn entries_of(&self, agent: &str) -> impl ExactSizeIterator<Item = (&str, &DiaryEntry)> {
        let places = self.entries_by_agent.get(&normalize_agent(agent));
        let files: Vec<_> = places.into_iter().flat_map(|it| it.iter().rev()).collect();
        files.into_iter().map(|(_, _, file)| (file.as_ref(), &self.entries_by_file[file].1))
    }

    /// Puts the entry that `file` holds, in the folder `folder`, in place of
    /// what it held.
    pub fn insert(&mut self, file: &str, folder: &Slug, entry: DiaryEntry) {
        self.remove(file);
        let file: Arc<str> = file.into();
        let place = (entry.written, entry.id, file.clone());
        self.entries_by_agent.entry(agent_key(folder, &entry)).or_default().insert(place);
        self.entries_by_file.insert(file, (folder.clone(), entry));
    }

    /// Takes out the entry that `file` held.
    pub fn remove(&mut self, file: &str) {
        let Some((file, (folder, entry))) = self.entries_by_file.remove_entry(file) else { return };
        let agent = agent_key(&folder, &entry);
        let left = self.entries_by_agent.get_mut(&agent);
        let place = (entry.written, entry.id, file);
        if left.is_some_and(|it| it.remove(&place) && it.is_empty()) {
            self.entries_by_agent.remove(&agent);
        }
    }
}

/// Diaries are equal when they hold the same entries in the same files.
impl PartialEq for Diaries {
    fn eq(&self, other: &Self) -> bool {
        self.entries_by_file == other.entries_by_file
    }
}

fn agent_key(folder: &Slug, entry: &DiaryEntry) -> String {
    normalize_agent(entry.agent.as_deref().unwrap_or(folder.as_str()))
}

/// Returns what the spellings of an agent's name have in common.
fn normalize_agent(agent: &str) -> String {
    fold_name(&agent.replace('-', " "))
}
