//! What is in memory of an open palace: its parsed files, and the indexes and caches made from
//! them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::palace::faulty_entities::{EntityNameAndGenus, FaultyEntities};
use crate::palace::file_states::{ChangeCounters, FileStates};
use crate::palace::search_documents;
use crate::palace::text_warnings::TextWarnings;
use crate::palace::visit_changes::VisitChanges;
use crate::semantic::vector_store::SemanticIndexer;
use palazzo_core::format::{self, NoteLinks, PalacePath};
use palazzo_core::model::{
    CommitDetails, CommitId, Diagnostic, FileHistories, ItemId, Palace, RoomArrivalOrder, Settings,
    Severity, Slug,
};
use palazzo_core::search::{Index, texts_to_embed};
use palazzo_core::view::MapPlan;
use palazzo_store::{FileHistoryCache, Store};

/// The parsed files of a palace, and the indexes and caches made from them.
pub(crate) struct LoadedPalace {
    pub(crate) palace: Arc<Palace>,
    /// The search index, made by the first search.
    pub(crate) index: Arc<OnceLock<Index>>,
    /// The links of the notes, read by the first use.
    pub(crate) note_links: Arc<OnceLock<NoteLinks>>,
    /// The entities with faults, computed by the first use.
    pub(crate) faulty_entities: Arc<OnceLock<FaultyEntities>>,
    /// The indexer of embeddings, if the palace names a model.
    pub(crate) semantic_indexer: Option<Arc<SemanticIndexer>>,
    pub(crate) store: Store,
    /// The findings of the parser, by file.
    pub(crate) findings: Arc<BTreeMap<String, Vec<Diagnostic>>>,
    pub(crate) file_states: Arc<FileStates>,
    pub(crate) conflict_states: Arc<ConflictStates>,
    /// The last commit that was applied.
    pub(crate) head: Option<CommitId>,
    pub(crate) history_cache: Arc<FileHistoryCache>,
    /// The changes of each visit.
    pub(crate) visit_changes: Arc<VisitChanges>,
    /// The warnings about the texts of files, made by the first check.
    pub(crate) text_warnings: Arc<TextWarnings>,
    /// What pages need again and again.
    pub(crate) page_cache: Arc<PageCache>,
    /// Why the history cannot be read.
    pub(crate) repository_fault: Option<Diagnostic>,
}

impl LoadedPalace {
    /// Creates a palace of which no file was read.
    pub(crate) fn empty(store: Store, name: &str) -> Self {
        Self {
            palace: Arc::new(Palace::new(Settings::with_name(name))),
            index: Arc::default(),
            note_links: Arc::default(),
            faulty_entities: Arc::default(),
            semantic_indexer: None,
            store,
            findings: Arc::default(),
            file_states: Arc::default(),
            conflict_states: Arc::default(),
            head: None,
            history_cache: Arc::default(),
            visit_changes: Arc::default(),
            text_warnings: Arc::default(),
            page_cache: Arc::default(),
            repository_fault: None,
        }
    }

    /// Returns a copy that shares this memory, for reading.
    pub(crate) fn clone_for_reading(&self) -> Self {
        Self {
            palace: self.palace.clone(),
            index: self.index.clone(),
            note_links: self.note_links.clone(),
            faulty_entities: self.faulty_entities.clone(),
            semantic_indexer: self.semantic_indexer.clone(),
            store: self.store.clone_for_reading(),
            findings: self.findings.clone(),
            file_states: self.file_states.clone(),
            conflict_states: self.conflict_states.clone(),
            head: self.head.clone(),
            history_cache: self.history_cache.clone(),
            visit_changes: self.visit_changes.clone(),
            text_warnings: self.text_warnings.clone(),
            page_cache: self.page_cache.clone(),
            repository_fault: self.repository_fault.clone(),
        }
    }

    /// Returns the search index.
    pub(crate) fn index(&self) -> &Index {
        self.index.get_or_init(|| search_documents::build_index(&self.palace))
    }

    /// Returns the links of the notes.
    pub(crate) fn note_links(&self) -> &NoteLinks {
        self.note_links.get_or_init(|| NoteLinks::of_palace(&self.palace))
    }

    /// Updates the links of the notes after a change of a file, if they were read.
    pub(crate) fn update_note_links(&mut self, path: &str) {
        match PalacePath::parse(path) {
            Ok(PalacePath::Settings) => self.note_links = Arc::default(),
            Ok(kind @ (PalacePath::Other | PalacePath::Room(_)))
                if self.note_links.get().is_some() =>
            {
                let links = Arc::make_mut(&mut self.note_links).get_mut();
                match (links, kind) {
                    (Some(links), PalacePath::Other) => links.update(&self.palace, path),
                    (Some(links), _) => links.forget_room_names(),
                    (None, _) => {}
                }
            }
            _ => {}
        }
    }

    /// Makes the indexes that the first use would make.
    pub(crate) fn warm_caches(&self) {
        self.faulty_entities();
        self.index();
    }

    /// Yields the findings about all files.
    pub(crate) fn findings(&self) -> impl Iterator<Item = &Diagnostic> {
        let findings =
            self.findings.values().flatten().chain(self.file_states.unreadable_path_diagnostics());
        findings.chain(&self.repository_fault)
    }

    /// Returns the warnings about the texts of all files. Only those that have changed since the last
    /// call are read.
    pub(crate) fn text_warnings(&self) -> Vec<Diagnostic> {
        self.text_warnings.update(self.file_states.known_files(), |path| {
            let text = self.store.read_file(path).ok().flatten().unwrap_or_default();
            format::text_warnings(path, &text, self.file_error(path).is_some())
        })
    }

    /// Returns the error for which a file could not be read completely.
    pub(crate) fn file_error(&self, path: &str) -> Option<&Diagnostic> {
        self.findings_in(path).find(|it| it.severity() == Severity::Error)
    }

    /// Yields the findings about one file.
    pub(crate) fn findings_in(&self, path: &str) -> impl Iterator<Item = &Diagnostic> {
        let findings = self.findings.get(path).into_iter().flatten();
        findings.chain(self.file_states.diagnostic_for_unreadable_path(path))
    }

    /// Returns whether a file at `path` is known. A file that another writer has just created is
    /// not: the change is then planned again.
    pub(crate) fn has_file(&self, path: &str) -> bool {
        self.file_states.digest(path).is_some()
    }

    /// Returns the file histories that are loaded.
    pub(crate) fn file_histories(&self) -> &FileHistories {
        &self.history_cache.history
    }

    /// Returns the entities with faults.
    pub(crate) fn faulty_entities(&self) -> &FaultyEntities {
        self.faulty_entities.get_or_init(|| FaultyEntities::from_graph(&self.palace.graph))
    }

    /// Returns the store, for reading.
    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// Updates the entity faults after a change of one file; after a change of a genus, all of
    /// them.
    pub(crate) fn update_faults(&mut self, path: &str, before: Option<&EntityNameAndGenus>) {
        let after = self.name_and_genus_if_faults_known(path);
        if self.faulty_entities.get().is_none() {
            return;
        }
        let faults = Arc::make_mut(&mut self.faulty_entities);
        match (PalacePath::parse(path), faults.get_mut()) {
            (Ok(PalacePath::Genus), _) => drop(faults.take()),
            (Ok(PalacePath::Entity), Some(it)) => {
                it.recheck_affected_entities(&self.palace.graph, before, after.as_ref());
            }
            _ => {}
        }
    }

    /// Returns the entity in a file, if the entity faults are computed.
    pub(crate) fn name_and_genus_if_faults_known(&self, path: &str) -> Option<EntityNameAndGenus> {
        self.faulty_entities.get()?;
        let entity = self.palace.graph.entity_in_file(path).filter(|it| it.is_defined);
        entity.map(|it| (it.name.clone(), it.genus.clone()))
    }

    /// Returns the item that a file holds; of a room also if its file cannot be read. A loose end is
    /// none.
    pub(crate) fn item_in_file(&self, path: &str) -> Option<ItemId> {
        match PalacePath::parse(path).ok()? {
            PalacePath::Room(id) => Some(ItemId::Room(id)),
            PalacePath::Entity if !self.palace.graph.entity_in_file(path)?.is_defined => None,
            _ => format::item_in_file(&self.palace, path),
        }
    }

    /// Removes the item in a file from the search index, if there is one.
    pub(crate) fn unindex_file(&mut self, path: &str) {
        if self.index.get().is_none() {
            return;
        }
        let item = self.item_in_file(path);
        if let (Some(index), Some(item)) = (Arc::make_mut(&mut self.index).get_mut(), item) {
            index.remove(&item);
        }
    }

    /// Adds the item in a file to the search index and the queue of embeddings, if they exist.
    pub(crate) fn index_file(&mut self, path: &str) {
        if self.index.get().is_none() && self.semantic_indexer.is_none() {
            return;
        }
        let document = self
            .item_in_file(path)
            .and_then(|it| search_documents::item_document(&self.palace, &it));
        if let (Some(indexer), Some(document)) = (&self.semantic_indexer, &document) {
            indexer.enqueue(texts_to_embed(document));
        }
        if let (Some(index), Some(document)) = (Arc::make_mut(&mut self.index).get_mut(), document)
        {
            index.put(&document);
        }
    }
}

/// What the pages of a palace need again and again.
#[derive(Default)]
pub(crate) struct PageCache {
    /// The map that shows a wing in full, by that wing; emptied when a room changes.
    maps: Mutex<BTreeMap<Option<Slug>, Arc<MapPlan>>>,
    /// The newest commits up to a commit.
    pub(crate) newest_commits: Memo<CommitId, Arc<Vec<CommitDetails>>>,
    /// When each room came into the palace, up to a commit.
    pub(crate) room_arrivals: Memo<CommitId, Arc<RoomArrivalOrder>>,
    /// The commits up to a commit that came from other machines.
    pub(crate) synced_commits: Memo<CommitId, Arc<HashSet<String>>>,
    /// The number of findings in the files with these counters.
    pub(crate) finding_count: Memo<ChangeCounters, usize>,
}

/// The last value that was computed, with the key that it was computed for.
pub(crate) struct Memo<K, V>(Mutex<Option<(K, V)>>);

impl<K: Clone, V: Clone> Memo<K, V> {
    /// Returns the value, with its key.
    pub(crate) fn get(&self) -> Option<(K, V)> {
        lock(&self.0).clone()
    }

    /// Keeps a value.
    pub(crate) fn set(&self, key: K, value: V) {
        *lock(&self.0) = Some((key, value));
    }
}

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl PageCache {
    /// Forgets what depends on a file that changes.
    pub(crate) fn forget_maps_after_change_of(&self, path: &str) {
        use PalacePath::{Drawer, Other, Room, Settings};
        if matches!(PalacePath::parse(path), Ok(Room(_) | Drawer(_) | Settings | Other)) {
            lock(&self.maps).clear();
        }
    }

    /// Returns the map that shows a wing in full, made by `plan` unless it is known.
    pub(crate) fn map_of_wing(
        &self,
        wing: Option<&Slug>,
        plan: impl FnOnce() -> MapPlan,
    ) -> Arc<MapPlan> {
        let key = wing.cloned();
        if let Some(known) = lock(&self.maps).get(&key) {
            return known.clone();
        }
        let plan = Arc::new(plan());
        lock(&self.maps).insert(key, plan.clone());
        plan
    }
}

/// Which conflicts are open, as far as it was asked.
#[derive(Debug, Default)]
pub(crate) struct ConflictStates {
    known: Mutex<HashMap<String, KnownState>>,
}

/// The files that decide whether a conflict is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConflictInputs {
    /// The digest of the file of the conflict.
    pub(crate) conflict_digest: Option<u64>,
    /// The file of its item.
    pub(crate) item_file: String,
    /// The digest of that file; `None`: there is no such item.
    pub(crate) item_digest: Option<u64>,
}

#[derive(Debug)]
struct KnownState {
    inputs: ConflictInputs,
    is_open: bool,
}

impl ConflictStates {
    /// Returns whether the conflict in the file `path` is open, if that was recorded for the same
    /// contents.
    pub(crate) fn recorded(&self, path: &str, inputs: &ConflictInputs) -> Option<bool> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(path).filter(|it| it.inputs == *inputs).map(|it| it.is_open)
    }

    /// Records whether a conflict is open.
    pub(crate) fn record(&self, path: &str, inputs: ConflictInputs, is_open: bool) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(path.to_owned(), KnownState { inputs, is_open });
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
