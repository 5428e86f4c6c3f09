//! Diaries: what agents tell themselves from one conversation to the next.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use ulid::Ulid;

use crate::model::{Slug, folded};

/// One entry of a diary. Never edited: to change your mind, write another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
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

impl Entry {
    /// The topic of an entry that names none.
    pub const GENERAL: &str = "general";
}

/// The diaries of all agents, in the order of writing. Whose they are does not
/// depend on how the name is spelled: `Claude Opus`, `claude_opus` and `claude-opus`,
/// as its folder is called, are one.
#[derive(Clone, Debug, Default)]
pub struct Diaries {
    held: HashMap<Arc<str>, (Slug, Entry)>,
    agents: BTreeMap<String, BTreeSet<Place>>,
}

/// An entry's place in a diary.
type Place = (Option<DateTime<Utc>>, Ulid, Arc<str>);

impl Diaries {
    /// Returns how many entries there are in all.
    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// Tells whether there are none.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Returns the entry that `file` holds.
    pub fn get(&self, file: &str) -> Option<&Entry> {
        self.held.get(file).map(|(_, entry)| entry)
    }

    /// Yields every entry in no order, with its file.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.held.iter().map(|(file, (_, entry))| (file.as_ref(), entry))
    }

    /// Returns whose diary `file` belongs to.
    pub fn agent_of(&self, file: &str) -> Option<&str> {
        let (folder, entry) = self.held.get(file)?;
        Some(entry.agent.as_deref().unwrap_or(folder.as_str()))
    }

    /// Returns the folder that holds the newest entry of `agent`.
    pub fn folder_of(&self, agent: &str) -> Option<&Slug> {
        let (_, _, file) = self.agents.get(&spelled(agent))?.last()?;
        self.held.get(file).map(|(folder, _)| folder)
    }

    /// Tells whether some entry lies in `folder`.
    pub fn has_folder(&self, folder: &Slug) -> bool {
        self.held.values().any(|(it, _)| it == folder)
    }

    /// Yields the agents who keep a diary, by the name in the newest entry,
    /// with how many entries it has.
    pub fn agents(&self) -> impl Iterator<Item = (&str, usize)> {
        let newest = self.agents.values().filter_map(|it| Some((it.last()?, it.len())));
        newest.filter_map(|((_, _, file), count)| Some((self.agent_of(file)?, count)))
    }

    /// Yields the entries of `agent` with their files, newest first.
    pub fn of(&self, agent: &str) -> impl ExactSizeIterator<Item = (&str, &Entry)> {
        let places = self.agents.get(&spelled(agent));
        let files: Vec<_> = places.into_iter().flat_map(|it| it.iter().rev()).collect();
        files.into_iter().map(|(_, _, file)| (file.as_ref(), &self.held[file].1))
    }

    /// Puts the entry that `file` holds, in the folder `folder`, in place of
    /// what it held.
    pub fn put(&mut self, file: &str, folder: &Slug, entry: Entry) {
        self.take(file);
        let file: Arc<str> = file.into();
        let place = (entry.written, entry.id, file.clone());
        self.agents.entry(whose(folder, &entry)).or_default().insert(place);
        self.held.insert(file, (folder.clone(), entry));
    }

    /// Takes out the entry that `file` held.
    pub fn take(&mut self, file: &str) {
        let Some((file, (folder, entry))) = self.held.remove_entry(file) else { return };
        let agent = whose(&folder, &entry);
        let left = self.agents.get_mut(&agent);
        let place = (entry.written, entry.id, file);
        if left.is_some_and(|it| it.remove(&place) && it.is_empty()) {
            self.agents.remove(&agent);
        }
    }
}

/// Diaries are equal when they hold the same entries in the same files.
impl PartialEq for Diaries {
    fn eq(&self, other: &Self) -> bool {
        self.held == other.held
    }
}

fn whose(folder: &Slug, entry: &Entry) -> String {
    spelled(entry.agent.as_deref().unwrap_or(folder.as_str()))
}

/// Returns what the spellings of an agent's name have in common.
fn spelled(agent: &str) -> String {
    folded(&agent.replace('-', " "))
}
