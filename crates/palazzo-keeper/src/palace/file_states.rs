//! The last read state of each file.

use palazzo_core::format::PalacePath;
use palazzo_core::model::Entity;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use palazzo_core::model::{Code, Diagnostic, SideFile, side_file};
use palazzo_store::{FileStamp, FileStamps};

/// The last read state of each file of a palace, and the paths that cannot be read as files.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileStates {
    files: BTreeMap<String, FileRecord>,
    unreadable_path_diagnostics: BTreeMap<String, Diagnostic>,
    change_counters: ChangeCounters,
}

/// Counters by which changes to a palace are recognized.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChangeCounters {
    /// Grows whenever the content of a file changes.
    pub text: u64,
    /// Grows whenever a room or scroll is added, removed or renamed; 0 if there never was one.
    pub titles: u64,
    /// A digest of all entities: equal for equal graphs, 0 for an empty graph.
    pub graph_digest: u64,
}

/// The parts of a file that appear in listings: title and entity digest.
#[derive(Debug, Default)]
pub(crate) struct ListedParts {
    /// The title of its room or scroll.
    pub(crate) title: Option<String>,
    /// The digest of its entity; 0 if it has none.
    pub(crate) entity_digest: u64,
}

/// The last read state of one file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FileRecord {
    /// The stamp of the file; `None`: it may have changed without a trace.
    pub(crate) stamp: Option<FileStamp>,
    /// The digest of its content; `None`: there was no file.
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
    /// Its current content.
    Present,
    /// Earlier content, because the current content cannot be parsed.
    Stale,
}

impl FileState {
    /// Returns the state of a file that has become unreadable.
    pub(crate) fn after_read_error(self) -> Self {
        match self {
            Self::Absent => Self::Absent,
            Self::Present | Self::Stale => Self::Stale,
        }
    }
}

impl FileStates {
    /// Returns the digest of the content last read; `None`: there was no file.
    pub(crate) fn digest(&self, path: &str) -> Option<u64> {
        self.files.get(path)?.digest
    }

    /// Returns what the palace has of a file.
    pub(crate) fn state(&self, path: &str) -> FileState {
        self.files.get(path).map(|it| it.state).unwrap_or_default()
    }

    /// Lists the files that the palace has and that are copies of `path` by their names.
    pub(crate) fn files_named_as_copies_of(&self, path: &str) -> Vec<String> {
        let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem).to_owned();
        let near = self.files.range(stem.clone()..).take_while(|(it, _)| it.starts_with(&stem));
        let original = SideFile::CopyOf(path.to_owned());
        let copies = near.filter(|(file, it)| {
            it.state == FileState::Present && side_file(file).as_ref() == Some(&original)
        });
        copies.map(|(file, _)| file.clone()).collect()
    }

    /// Returns the change counters.
    pub(crate) fn change_counters(&self) -> ChangeCounters {
        self.change_counters
    }

    /// Yields the files that were there when they were last read.
    pub(crate) fn known_files(&self) -> impl Iterator<Item = &str> {
        let known = self.files.iter().filter(|(_, it)| it.digest.is_some());
        known.map(|(path, _)| path.as_str())
    }

    /// Yields the files whose content the palace has, with their stamps and digests.
    pub(crate) fn present_files(&self) -> impl Iterator<Item = (&str, FileStamp, u64)> {
        let present = self.files.iter().filter(|(_, it)| it.state == FileState::Present);
        present.filter_map(|(path, it)| Some((path.as_str(), it.stamp?, it.digest?)))
    }

    /// Yields the findings about paths that cannot be read as files.
    pub(crate) fn unreadable_path_diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        self.unreadable_path_diagnostics.values()
    }

    /// Returns the finding about a path that cannot be read as a file.
    pub(crate) fn diagnostic_for_unreadable_path(&self, path: &str) -> Option<&Diagnostic> {
        self.unreadable_path_diagnostics.get(path)
    }

    /// Lists the files at or below `path` whose stamps have changed; `stamps` are the present
    /// ones.
    pub(crate) fn files_changed_since_read(
        &self,
        path: &str,
        stamps: FileStamps,
    ) -> Vec<(String, Option<FileStamp>)> {
        let is_gone = |(known, it): &(&String, &FileRecord)| {
            it.digest.is_some() && !stamps.contains_key(*known)
        };
        let gone = entries_under(&self.files, path).filter(is_gone);
        let mut differing: Vec<_> = gone.map(|(path, _)| (path.clone(), None)).collect();
        let known_stamp = |path: &str| self.files.get(path).and_then(|it| it.stamp);
        let changed = stamps.into_iter().filter(|(path, stamp)| known_stamp(path) != Some(*stamp));
        differing.extend(changed.map(|(path, stamp)| (path, Some(stamp))));
        differing
    }

    /// Replaces the findings about paths at or below `path`.
    pub(crate) fn set_unreadable_path_diagnostics(
        &mut self,
        path: &str,
        obstacles: Vec<Diagnostic>,
    ) {
        let old: Vec<_> = entries_under(&self.unreadable_path_diagnostics, path)
            .map(|(it, _)| it.clone())
            .collect();
        for path in old {
            self.unreadable_path_diagnostics.remove(&path);
        }
        self.unreadable_path_diagnostics
            .extend(obstacles.into_iter().map(|it| (it.file.clone(), it)));
    }

    /// Replaces the findings about notes that cannot be read.
    pub(crate) fn set_note_diagnostics(&mut self, findings: Vec<Diagnostic>) {
        self.unreadable_path_diagnostics.retain(|_, it| it.code != Code::NoteNotRead);
        self.unreadable_path_diagnostics
            .extend(findings.into_iter().map(|it| (it.file.clone(), it)));
    }

    /// Records that the content of a file is unchanged.
    pub(crate) fn mark_unchanged(&mut self, path: &str, stamp: Option<FileStamp>) {
        if let Some(entry) = self.files.get_mut(path) {
            entry.stamp = reliable_stamp(stamp);
        }
    }

    /// Records the new content of a file, with its digest before and after.
    pub(crate) fn record_read(
        &mut self,
        path: &str,
        entry: FileRecord,
        before: &ListedParts,
        now: &ListedParts,
    ) {
        let ChangeCounters { text, titles, graph_digest: graph } = &mut self.change_counters;
        *text += 1;
        *titles += u64::from(before.title != now.title);
        *graph = graph.wrapping_sub(before.entity_digest).wrapping_add(now.entity_digest);
        let entry = FileRecord { stamp: reliable_stamp(entry.stamp), ..entry };
        self.files.insert(path.to_owned(), entry);
    }

    /// Records that the palace keeps older content of a broken file, with its digest.
    pub(crate) fn mark_stale(&mut self, path: &str, now: &ListedParts) {
        if let Some(entry) = self.files.get(path).copied() {
            self.record_read(
                path,
                FileRecord { state: FileState::Stale, ..entry },
                &ListedParts::default(),
                now,
            );
        }
    }

    /// Forgets the stamp and the digest of a file.
    pub(crate) fn invalidate(&mut self, path: &str) {
        if let Some(entry) = self.files.get_mut(path) {
            (entry.stamp, entry.digest) = (None, None);
        }
    }
}

/// Returns a stamp that the file's next state cannot have.
fn reliable_stamp(stamp: Option<FileStamp>) -> Option<FileStamp> {
    stamp.filter(|it| !it.is_too_recent_to_trust())
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

/// Hashes the parts of an entity that a graph page shows.
pub(crate) fn entity_digest(it: &Entity) -> u64 {
    let mut hasher = DefaultHasher::new();
    (it.id, &it.name, it.is_defined, &it.genus, &it.observations).hash(&mut hasher);
    for relation in &it.relations {
        (&relation.kind, &relation.to).hash(&mut hasher);
    }
    hasher.finish()
}

/// Hashes a text.
pub(crate) fn text_digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Lists the files whose stamps differ, or may differ.
pub(crate) fn files_changed_between_listings(before: &FileStamps, now: &FileStamps) -> Vec<String> {
    let gone = before.keys().filter(|path| !now.contains_key(*path));
    let stands =
        |path: &str, it: &FileStamp| !it.is_too_recent_to_trust() && before.get(path) == Some(it);
    let changed = now.iter().filter(|(path, it)| !stands(path, it)).map(|(path, _)| path);
    gone.chain(changed).cloned().collect()
}

/// Returns whether the file defines a name that other files may claim too.
pub(crate) fn needs_unique_name(path: &str) -> bool {
    matches!(
        PalacePath::parse(path),
        Ok(PalacePath::Scroll(_)
            | PalacePath::Entity
            | PalacePath::Genus
            | PalacePath::Task
            | PalacePath::Process
            | PalacePath::Drawer(_)
            | PalacePath::Diary(_))
    )
}
