//! Answers to editors about a palace: findings, definitions, references, renames, completions.
//!
//! Nothing here writes files. The texts of open files stand for those on disk, so that all answers
//! are about what the user sees.

pub(crate) mod annotations;
pub(crate) mod completion;
pub(crate) mod findings;
pub(crate) mod fixes;
pub(crate) mod hover;
pub(crate) mod occurrences;
pub(crate) mod outline;
pub(crate) mod references;
pub(crate) mod rename;
pub(crate) mod symbol;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::editor::occurrences::{Occurrence, OccurrenceIndex, find_occurrences};
use crate::palace::OpenPalace;
use crate::palace::open_palace::WatchConfig;
use crate::semantic::ModelCache;
use crate::{Keeper, Refusal};
use palazzo_core::format::{PalacePath, room_path};
use palazzo_core::model::{
    Diagnostic, Entity, Graph, RoomId, Tool, ValuePath, WatchMode, fold_name,
};
use palazzo_core::render;
use palazzo_store::watch::WakeCallback;

/// The findings that depend on the whole palace and its repository, by file: each with the path of
/// its value if its position follows from that.
pub(in crate::editor) type PalaceWideFindings =
    BTreeMap<String, Vec<(Diagnostic, Option<ValuePath>)>>;

/// A palace with the texts of the files that are open in an editor.
pub struct EditorPalace {
    pub(in crate::editor) open: OpenPalace,
    /// The tools that actions can call.
    pub(in crate::editor) tools: Vec<Tool>,
    /// The directories and names of the palaces that doors can lead to.
    pub(in crate::editor) workspaces: Vec<String>,
    pub(in crate::editor) models: ModelCache,
    pub(in crate::editor) palace_wide: PalaceWideFindings,
    /// The names of entities, since an entity was last added, renamed or removed.
    names: OnceCell<NameIndex>,
    unfinished_rooms: OnceCell<BTreeSet<RoomId>>,
    occurrences: OccurrenceIndex,
}

impl EditorPalace {
    /// Opens the palace at `root`, and begins to watch its files; `wake` is called, from any thread,
    /// when some may have changed. `consent_folder` is as for [`Keeper::with_consent_folder`].
    /// Writes nothing.
    pub fn open(
        root: &Path,
        tools: Vec<Tool>,
        consent_folder: Option<PathBuf>,
        wake: WakeCallback,
    ) -> Result<Self, Refusal> {
        let home = root.parent().map_or_else(|| root.to_owned(), Path::to_owned);
        let keeper = Keeper::new(home, None).with_consent_folder(consent_folder);
        let mut workspaces = keeper.workspace_keys_and_names()?;
        let name = root.file_name().unwrap_or_default().to_string_lossy().into_owned();
        workspaces.push(name.clone());
        let config = WatchConfig { mode: WatchMode::Auto, wake, warn: |_| {} };
        let store = keeper.store_at(root.to_owned());
        let mut open = OpenPalace::open_without_writing(store, &name, &config)?;
        open.find_renamed_rooms()?;
        let palace = Self {
            open,
            tools,
            workspaces,
            models: ModelCache::default(),
            palace_wide: PalaceWideFindings::default(),
            names: OnceCell::new(),
            unfinished_rooms: OnceCell::new(),
            occurrences: OccurrenceIndex::default(),
        };
        palace.index_rooms();
        Ok(palace)
    }

    /// Returns the folder of the palace.
    pub fn root(&self) -> PathBuf {
        self.open.store().palace_folder().to_owned()
    }

    /// Returns the display name of a room.
    pub fn room_name(&self, id: &RoomId) -> String {
        render::one_line(&self.open.palace.room_name(id))
    }

    /// Returns whether a file at `path` is one that Palazzo reads.
    pub fn is_palace_file(path: &str) -> bool {
        !matches!(PalacePath::parse(path), Ok(PalacePath::Other))
    }

    /// Sets the text of a file that is open in the editor.
    pub fn set_buffer(&mut self, path: &str, text: &str) {
        self.change_buffer(path, |open| open.set_open_buffer(path, text));
    }

    /// Uses the file on disk again, because the editor has closed it.
    pub fn close_buffer(&mut self, path: &str) {
        self.change_buffer(path, |open| open.close_buffer(path));
    }

    fn change_buffer(&mut self, path: &str, change: impl FnOnce(&mut OpenPalace)) {
        let before = self.own_entity(path).map(|it| it.name.clone());
        change(&mut self.open);
        if self.own_entity(path).map(|it| &it.name) != before.as_ref() {
            self.names.take();
        }
    }

    /// Returns the occurrences of symbols in a file, in the order of the file.
    pub(in crate::editor) fn occurrences(&self, path: &str) -> Arc<[Occurrence]> {
        let digest = self.open.file_states.digest(path);
        if let Some(known) = self.occurrences.find(path, digest, |it| it.occurrences.clone()) {
            return known;
        }
        let Some(text) = self.text(path) else { return Arc::default() };
        let found: Arc<[Occurrence]> = find_occurrences(path, &text).into();
        self.occurrences.insert(path, &text, found.clone());
        found
    }

    /// Returns whether a file is known to have only ASCII characters, so that its columns are the same
    /// in all units.
    pub fn is_ascii_file(&self, path: &str) -> bool {
        let digest = self.open.file_states.digest(path);
        self.occurrences.find(path, digest, |it| it.is_ascii).unwrap_or_default()
    }

    /// Finds the occurrences in all rooms, so that the first search for references is as fast as the next.
    fn index_rooms(&self) {
        let paths = self.open.palace.rooms().map(|(id, _)| room_path(id));
        self.occurrences.fill(paths.filter_map(|it| Some((it.clone(), self.text(&it)?))));
    }

    /// Forgets the unfinished rooms, which are searched once for each rest: that reads all doors.
    pub fn forget_unfinished_rooms(&mut self) {
        self.unfinished_rooms.take();
    }

    /// Returns the rooms that were unfinished at the last rest.
    pub(in crate::editor) fn unfinished_rooms(&self) -> &BTreeSet<RoomId> {
        self.unfinished_rooms.get_or_init(|| self.open.palace.unfinished_rooms())
    }

    /// Returns the names of entities.
    pub(in crate::editor) fn names(&self) -> &NameIndex {
        self.names.get_or_init(|| NameIndex::from_graph(&self.open.palace.graph))
    }

    /// Returns the time until a file can be applied that may have been half written; `None` if there
    /// is none.
    pub fn time_until_deferred_file(&self) -> Option<Duration> {
        self.open.time_until_deferred_file()
    }

    /// Applies what others have saved and committed.
    pub fn catch_up(&mut self) -> Result<(), Refusal> {
        let before = self.open.file_states.change_counters();
        self.open.catch_up()?;
        if self.open.file_states.change_counters().graph_digest != before.graph_digest {
            self.names.take();
        }
        Ok(())
    }

    /// Returns whether the files follow the rules of another format, which this program does not know.
    pub(super) fn has_other_format(&self) -> bool {
        self.open.check_format_version().is_err()
    }

    /// Returns the text of a file: that of the editor, else that on disk.
    pub fn text(&self, path: &str) -> Option<String> {
        self.open.store().read_file(path).ok().flatten()
    }

    /// Returns the entity that a file defines.
    pub(in crate::editor) fn own_entity(&self, path: &str) -> Option<&Entity> {
        self.open.palace.graph.entity_in_file(path).filter(|it| it.is_defined)
    }
}

/// The names of a graph, in the order in which they are compared.
#[derive(Debug)]
pub(super) struct NameIndex {
    /// The entities: the name without regard to case, the name, the genus.
    entities: Vec<(String, String, String)>,
    /// The types of relations, with the number of each.
    pub(super) relation_types: BTreeMap<String, usize>,
}

impl NameIndex {
    pub(super) fn from_graph(graph: &Graph) -> Self {
        let entities = graph.iter();
        let entities = entities.map(|it| (fold_name(&it.name), it.name.clone(), it.genus.clone()));
        let mut entities: Vec<_> = entities.collect();
        entities.sort_unstable();
        let mut relation_types = BTreeMap::<String, usize>::new();
        for relation in graph.entities_and_loose_ends().flat_map(|it| &it.relations) {
            match relation_types.get_mut(&relation.kind) {
                Some(count) => *count += 1,
                None => drop(relation_types.insert(relation.kind.clone(), 1)),
            }
        }
        Self { entities, relation_types }
    }

    /// Lists up to `limit` entities, with their genera: first those whose names begin with `folded`,
    /// then those that have all its words.
    pub(super) fn find(
        &self,
        folded: &str,
        genus: Option<&str>,
        limit: usize,
    ) -> Vec<(&str, &str)> {
        let is_wanted = |it: &&(String, String, String)| genus.is_none_or(|genus| it.2 == genus);
        let start = self.entities.partition_point(|it| it.0.as_str() < folded);
        let first = self.entities[start..].iter().take_while(|it| it.0.starts_with(folded));
        let mut found: Vec<_> = first.filter(is_wanted).take(limit).collect();
        if found.len() < limit && !folded.is_empty() {
            let words: Vec<_> = folded.split_whitespace().collect();
            let has_words = |it: &&(String, String, String)| {
                !it.0.starts_with(folded) && words.iter().all(|word| it.0.contains(word))
            };
            let more = self.entities.iter().filter(has_words).filter(is_wanted);
            found.extend(more.take(limit - found.len()));
        }
        found.into_iter().map(|it| (it.1.as_str(), it.2.as_str())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::TestHome;

    #[test]
    fn names_that_begin_with_the_typed_words_come_first() {
        let mut home = TestHome::new(&[
            ("entities/a/1.yaml", "name: Moving continents\ngenus: Claim\n"),
            ("entities/a/2.yaml", "name: Continents drift\ngenus: Claim\n"),
            (
                "entities/a/3.yaml",
                "name: Geology\ngenus: Field\nrelations:\n- { type: has, to: X }\n",
            ),
        ]);
        let index = home.run(|it| NameIndex::from_graph(&it.palace.palace.graph));
        let find = |typed, genus, limit| {
            index.find(typed, genus, limit).into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(find("cont", None, 9), ["Continents drift", "Moving continents"]);
        assert_eq!(find("continents mov", None, 9), ["Moving continents"]);
        assert_eq!(find("", Some("Field"), 9), ["Geology"]);
        assert_eq!(find("", None, 2), ["Continents drift", "Geology"]);
        assert_eq!(index.relation_types["has"], 1);
    }
}
