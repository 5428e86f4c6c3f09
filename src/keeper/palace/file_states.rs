//! What was last read of each file.

use crate::format::PalacePath;
use crate::model::Entity;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::model::Diagnostic;
use crate::store::{FileStamp, FileStamps};

/// What was last read of each file of a palace, and what lies in the way of
/// others.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileStates {
    files: BTreeMap<String, FileRecord>,
    path_diagnostics: BTreeMap<String, Diagnostic>,
    generation: Generation,
}

/// Numbers by which changes to a palace are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Generation {
    /// Grows whenever a file says something else.
    pub text: u64,
    /// Grows whenever a room or scroll comes, goes or gets another name; 0 where
    /// there has never been one.
    pub titles: u64,
    /// A sum over all entities: another one for another graph, the same for the
    /// same, 0 where there is nothing in it.
    pub graph_digest: u64,
}

/// What a file shows of itself where others are told of.
#[derive(Debug, Default)]
pub(crate) struct Fingerprint {
    /// The title of the room or scroll that it holds.
    pub(crate) title: Option<String>,
    /// A number that another entity hardly has; 0 if it holds none.
    pub(crate) entity_digest: u64,
}

/// What was last read of one file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FileRecord {
    /// How the file stood then; `None`: it may have changed without a trace.
    pub(crate) stamp: Option<FileStamp>,
    /// What it said; `None`: it was not there.
    pub(crate) digest: Option<u64>,
    /// What the palace has of it.
    pub(crate) state: FileState,
}

/// What the palace has of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FileState {
    /// Nothing.
    #[default]
    Absent,
    /// What the file says.
    Present,
    /// What the file said before, for of what it says now nothing could be
    /// understood.
    Stale,
}

impl FileState {
    /// Returns what the palace has of a file that has become unreadable.
    pub(crate) fn after_read_error(self) -> Self {
        match self {
            Self::Absent => Self::Absent,
            Self::Present | Self::Stale => Self::Stale,
        }
    }
}

impl FileStates {
    /// Returns the digest of what a file said; `None`: it was not there.
    pub(crate) fn digest(&self, path: &str) -> Option<u64> {
        self.files.get(path)?.digest
    }

    /// Returns what the palace has of a file.
    pub(crate) fn state(&self, path: &str) -> FileState {
        self.files.get(path).map(|it| it.state).unwrap_or_default()
    }

    /// Returns how often what files say has changed.
    pub(crate) fn generation(&self) -> Generation {
        self.generation
    }

    /// Yields the files of which the palace has what they say, with how they stood
    /// and the digest of what they said.
    pub(crate) fn present_files(&self) -> impl Iterator<Item = (&str, FileStamp, u64)> {
        let settled = self.files.iter().filter(|(_, it)| it.state == FileState::Present);
        settled.filter_map(|(path, it)| Some((path.as_str(), it.stamp?, it.digest?)))
    }

    /// Yields what lies in the way of files.
    pub(crate) fn path_diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        self.path_diagnostics.values()
    }

    /// Returns what lies in the way of a file.
    pub(crate) fn path_diagnostic(&self, path: &str) -> Option<&Diagnostic> {
        self.path_diagnostics.get(path)
    }

    /// Lists the files at or below `path` that do not stand as they did, of
    /// which `stamps` are those that are there.
    pub(crate) fn changed_files(
        &self,
        path: &str,
        stamps: FileStamps,
    ) -> Vec<(String, Option<FileStamp>)> {
        let is_gone = |(known, it): &(&String, &FileRecord)| {
            it.digest.is_some() && !stamps.contains_key(*known)
        };
        let gone = entries_under(&self.files, path).filter(is_gone);
        let mut differing: Vec<_> = gone.map(|(path, _)| (path.clone(), None)).collect();
        let stands = |path: &str| self.files.get(path).and_then(|it| it.stamp);
        let changed = stamps.into_iter().filter(|(path, stamp)| stands(path) != Some(*stamp));
        differing.extend(changed.map(|(path, stamp)| (path, Some(stamp))));
        differing
    }

    /// Notes what lies in the way at or below `path`, in place of what lay there.
    pub(crate) fn set_path_diagnostics(&mut self, path: &str, obstacles: Vec<Diagnostic>) {
        let old: Vec<_> =
            entries_under(&self.path_diagnostics, path).map(|(it, _)| it.clone()).collect();
        for path in old {
            self.path_diagnostics.remove(&path);
        }
        self.path_diagnostics.extend(obstacles.into_iter().map(|it| (it.file.clone(), it)));
    }

    /// Notes that a file says what it said before.
    pub(crate) fn mark_unchanged(&mut self, path: &str, stamp: Option<FileStamp>) {
        if let Some(entry) = self.files.get_mut(path) {
            entry.stamp = reliable_stamp(stamp);
        }
    }

    /// Notes what a file says now, and the face it had and has with it.
    pub(crate) fn record_read(
        &mut self,
        path: &str,
        entry: FileRecord,
        before: &Fingerprint,
        now: &Fingerprint,
    ) {
        let Generation { text, titles, graph_digest: graph } = &mut self.generation;
        *text += 1;
        *titles += u64::from(before.title != now.title);
        *graph = graph.wrapping_sub(before.entity_digest).wrapping_add(now.entity_digest);
        let entry = FileRecord { stamp: reliable_stamp(entry.stamp), ..entry };
        self.files.insert(path.to_owned(), entry);
    }

    /// Notes that of a broken file the palace has what an older one said, and the
    /// face it has with it.
    pub(crate) fn mark_stale(&mut self, path: &str, now: &Fingerprint) {
        if let Some(entry) = self.files.get(path).copied() {
            self.record_read(
                path,
                FileRecord { state: FileState::Stale, ..entry },
                &Fingerprint::default(),
                now,
            );
        }
    }

    /// Forgets how a file stood and what it said.
    pub(crate) fn invalidate(&mut self, path: &str) {
        if let Some(entry) = self.files.get_mut(path) {
            (entry.stamp, entry.digest) = (None, None);
        }
    }
}

/// Returns a stamp that will not be borne by the file's next state.
fn reliable_stamp(stamp: Option<FileStamp>) -> Option<FileStamp> {
    stamp.filter(|it| !it.is_recent())
}

fn entries_under<'a, V>(
    map: &'a BTreeMap<String, V>,
    path: &str,
) -> impl Iterator<Item = (&'a String, &'a V)> {
    let below = if path.is_empty() { String::new() } else { format!("{path}/") };
    let end = below.clone();
    let inside = map.range(below..).take_while(move |(it, _)| it.starts_with(&end));
    let itself = if path.is_empty() { None } else { map.get_key_value(path) };
    itself.into_iter().chain(inside)
}

/// Returns a number that an entity hardly has of which an [`GraphPage`] tells
/// something else.
///
/// [`GraphPage`]: crate::keeper::Excerpt
pub(crate) fn entity_digest(it: &Entity) -> u64 {
    let mut hasher = DefaultHasher::new();
    (it.id, &it.name, it.is_defined, &it.genus, &it.observations).hash(&mut hasher);
    for relation in &it.relations {
        (&relation.kind, &relation.to).hash(&mut hasher);
    }
    hasher.finish()
}

/// Returns a number that another text hardly has.
pub(crate) fn text_digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Lists the files that do not stand as they stood, or may not.
pub(crate) fn changed_files(before: &FileStamps, now: &FileStamps) -> Vec<String> {
    let gone = before.keys().filter(|path| !now.contains_key(*path));
    let stands = |path: &str, it: &FileStamp| !it.is_recent() && before.get(path) == Some(it);
    let changed = now.iter().filter(|(path, it)| !stands(path, it)).map(|(path, _)| path);
    gone.chain(changed).cloned().collect()
}

/// Tells whether what the file holds has a name that others may claim.
pub(crate) fn has_unique_name(path: &str) -> bool {
    matches!(
        PalacePath::parse(path),
        Ok(PalacePath::Scroll(_) | PalacePath::Entity | PalacePath::Genus)
    )
}
