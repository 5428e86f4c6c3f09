//! One open palace in memory, kept up to date with its files.

pub(crate) mod change_plan;
pub(crate) mod entity_cache;
pub(crate) mod entity_faults;
pub(crate) mod file_errors;
pub(crate) mod file_states;
pub(crate) mod findings;
pub(crate) mod reload;
pub(crate) mod repository;
pub(crate) mod room_scope;
pub(crate) mod search_documents;
pub(crate) mod semantics;
pub(crate) mod watch_config;
use crate::keeper::palace::change_plan::ChangePlan;
use crate::keeper::palace::change_plan::missing_schema_edits;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use crate::format::PalacePath;
use crate::keeper::palace::entity_faults::{EntityFaults, EntityKey};
use crate::keeper::palace::file_states::FileStates;
use crate::keeper::palace::watch_config::WatchConfig;
use crate::keeper::semantic::indexer::SemanticIndexer;
use crate::keeper::snapshot::{SnapshotLimits, SnapshotSlot};
use crate::keeper::{Caller, Refusal};
use crate::model::{
    Change, CommitId, CommitMode, Diagnostic, Edit, FileHistories, ItemId, MAX_FILE_BYTES, Palace,
    Settings, Severity,
};
use crate::search::{Index, texts_to_embed};
use crate::store::{CommitOutcome, CommitReport, HistoryCache, Listener, Store};
use crate::watch::Watch;

/// How often a change is planned again because another writer was faster.
const MAX_ATTEMPTS: usize = 8;

/// An open palace: its parsed files, and the indexes and caches made from them.
pub(crate) struct OpenPalace {
    pub(crate) palace: Arc<Palace>,
    /// The search index, made by the first search.
    pub(crate) index: Arc<OnceLock<Index>>,
    pub(crate) entity_faults: Arc<OnceLock<EntityFaults>>,
    /// The indexer of embeddings, if the palace names a model.
    pub(crate) semantic_indexer: Option<Arc<SemanticIndexer>>,
    pub(crate) store: Store,
    pub(crate) findings: Arc<BTreeMap<String, Vec<Diagnostic>>>,
    pub(crate) file_states: Arc<FileStates>,
    pub(crate) watch: Option<Watch>,
    /// Whether a file has freed a name that another file may claim.
    pub(crate) name_freed: bool,
    /// The temporary files that were there when the palace was read.
    pub(crate) temporary_files: Vec<PathBuf>,
    /// Whether many entities were parsed that the cache could have supplied.
    pub(crate) should_write_entity_cache: bool,
    pub(crate) head: Option<CommitId>,
    pub(crate) history_cache: Arc<HistoryCache>,
    /// Where it is published for readers while a call waits.
    pub(crate) publication: Option<SnapshotSlot>,
    /// The limits of a snapshot; `None`: this is not a snapshot.
    pub(crate) snapshot_limits: Option<SnapshotLimits>,
    /// Why the history cannot be read.
    pub(crate) repository_fault: Option<Diagnostic>,
    /// The changes that were not taken yet.
    pub(crate) finished_changes: Vec<CommitReport>,
    /// Reports what went wrong after a change was made.
    pub(crate) warn: fn(&str),
}

impl OpenPalace {
    /// Opens a palace: reads all files, and begins to watch for changes by others.
    pub(crate) fn open(store: Store, name: &str, vigil: &WatchConfig) -> Result<Self, Refusal> {
        let mut held = Self::open_without_writing(store, name, vigil)?;
        held.finish_open();
        Ok(held)
    }

    /// Opens a palace as [`OpenPalace::open`] does, but writes nothing;
    /// [`OpenPalace::finish_open`] must be called before it is used.
    pub(crate) fn open_without_writing(
        store: Store,
        name: &str,
        vigil: &WatchConfig,
    ) -> Result<Self, Refusal> {
        let mut held = Self {
            palace: Arc::new(Palace::new(Settings::with_name(name))),
            index: Arc::default(),
            entity_faults: Arc::default(),
            semantic_indexer: None,
            head: None,
            store,
            findings: Arc::default(),
            file_states: Arc::default(),
            watch: None,
            name_freed: false,
            temporary_files: Vec::new(),
            should_write_entity_cache: false,
            history_cache: Arc::default(),
            publication: None,
            snapshot_limits: None,
            repository_fault: None,
            finished_changes: Vec::new(),
            warn: vigil.warn,
        };
        held.head = held.read_head()?;
        held.start_watching(vigil);
        held.read_all()?;
        held.check_lost_history();
        Ok(held)
    }

    /// Saves the entity cache, so that the next start is quicker.
    pub(crate) fn finish_open(&mut self) {
        self.write_entity_cache();
    }

    /// Applies what others have saved and committed since the last call. An uncommitted change to
    /// a file that is not watched is noticed when that file is read.
    pub(crate) fn catch_up(&mut self) -> Result<(), Refusal> {
        if self.is_snapshot() {
            return Ok(());
        }
        self.apply_saved_changes()?;
        let head = self.read_head()?;
        if head != self.head && self.repository_fault.is_none() {
            let paths = self.files_changed_until(head.as_ref());
            self.apply_committed_changes(paths)?;
            self.head = head;
        }
        self.refresh_file(PalacePath::SETTINGS_FILE);
        Ok(())
    }

    /// Returns the search index.
    pub(crate) fn index(&self) -> &Index {
        self.index.get_or_init(|| search_documents::build_index(&self.palace))
    }

    /// Makes what is otherwise made by the first use.
    pub(crate) fn warm_caches(&self) {
        self.entity_faults();
        self.index();
    }

    /// Yields the findings about all files.
    pub(crate) fn findings(&self) -> impl Iterator<Item = &Diagnostic> {
        let findings = self.findings.values().flatten().chain(self.file_states.path_diagnostics());
        findings.chain(&self.repository_fault)
    }

    /// Returns the error for which a file could not be read completely.
    pub(crate) fn file_error(&self, path: &str) -> Option<&Diagnostic> {
        self.findings_in(path).find(|it| it.severity() == Severity::Error)
    }

    /// Yields the findings about one file.
    pub(crate) fn findings_in(&self, path: &str) -> impl Iterator<Item = &Diagnostic> {
        let findings = self.findings.get(path).into_iter().flatten();
        findings.chain(self.file_states.path_diagnostic(path))
    }

    /// Reads a file that is about to be changed; refuses a file with errors, because a change
    /// could lose what was not parsed.
    pub(crate) fn read_for_change(&mut self, path: &str) -> Result<Option<String>, Refusal> {
        if let Some(limits) = &self.snapshot_limits {
            return Err(limits.refuse());
        }
        let text = self.reread_file(path);
        match self.file_error(path) {
            Some(finding) => Err(Refusal::BrokenFile(finding.clone().into())),
            None => Ok(text),
        }
    }

    /// Tells whether a file at `path` is known. A file that another writer has just created is
    /// not: the change is then planned again.
    pub(crate) fn has_file(&self, path: &str) -> bool {
        self.file_states.digest(path).is_some()
    }

    /// Makes a change. `plan` returns the edits for the files as they are, and is called again if
    /// the files have changed meanwhile. Returns whether anything was changed.
    pub(crate) fn change(
        &mut self,
        by: &Caller,
        plan: impl FnMut(&mut Self) -> Result<ChangePlan, Refusal>,
    ) -> Result<bool, Refusal> {
        self.change_with_trailer(by, None, plan)
    }

    /// Makes a change as [`OpenPalace::change`] does, under a lock that excludes other changes
    /// which depend on something being absent.
    pub(crate) fn change_exclusively(
        &mut self,
        by: &Caller,
        plan: impl FnMut(&mut Self) -> Result<ChangePlan, Refusal>,
    ) -> Result<bool, Refusal> {
        self.check_writable(by)?;
        let wait = self.begin_wait();
        let _alone = self.store.lock_filing()?;
        drop(wait);
        self.change(by, plan)
    }

    /// Makes a change as [`OpenPalace::change`] does, with one more trailer for the commit.
    pub(crate) fn change_with_trailer(
        &mut self,
        by: &Caller,
        note: Option<&(&'static str, String)>,
        mut plan: impl FnMut(&mut Self) -> Result<ChangePlan, Refusal>,
    ) -> Result<bool, Refusal> {
        if let Some(moment) = self.store.as_of_commit() {
            return Err(Refusal::ReadOnlyPast(moment.clone()));
        }
        self.check_writable(by)?;
        self.recover_from_crash()?;
        for _ in 0..MAX_ATTEMPTS {
            self.catch_up()?;
            // Unreadable settings may have switched commits off.
            if let Some(finding) = self.file_error(PalacePath::SETTINGS_FILE) {
                return Err(Refusal::BrokenFile(finding.clone().into()));
            }
            let mut plan = plan(self)?;
            if plan.edits.iter().all(|it| it.was == it.now) {
                return Ok(false);
            }
            let new = plan.edits.iter().filter(|it| it.was.is_none());
            let new = new.filter_map(|it| Some((it.path.as_str(), it.now.as_deref()?)));
            plan.edits.extend(missing_schema_edits(&self.store, new));
            if self.apply_plan(by, plan, note)? {
                return Ok(true);
            }
        }
        Err(Refusal::Contended)
    }

    /// Takes the finished changes: their commits, and the warnings after them.
    pub(crate) fn take_finished_changes(&mut self) -> Vec<CommitReport> {
        std::mem::take(&mut self.finished_changes)
    }

    /// Returns the file histories that are loaded.
    pub(crate) fn history(&self) -> &FileHistories {
        &self.history_cache.history
    }

    /// Returns the entities with faults.
    pub(crate) fn entity_faults(&self) -> &EntityFaults {
        self.entity_faults.get_or_init(|| EntityFaults::from_graph(&self.palace.graph))
    }

    /// Reports the progress of each change to `listener` from now on.
    pub(crate) fn set_progress_listener(&mut self, listener: Listener) {
        self.store.set_progress_listener(listener);
    }

    /// Returns the store, for reading.
    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    fn apply_plan(
        &mut self,
        by: &Caller,
        plan: ChangePlan,
        note: Option<&(&'static str, String)>,
    ) -> Result<bool, Refusal> {
        for edit in &plan.edits {
            if let Some(size) = edit.now.as_ref().map(String::len).filter(|it| *it > MAX_FILE_BYTES)
            {
                return Err(Refusal::FileTooLarge { file: edit.path.clone(), size });
            }
        }
        let mut trailers =
            vec![("Palazzo-Tool", by.tool.to_owned()), ("Palazzo-Client", by.name.clone())];
        trailers.extend(note.cloned());
        let change = Change {
            edits: plan.edits,
            subject: plan.subject,
            body: plan.body,
            trailers,
            author: by.author.clone(),
            at: by.now,
            commit: self.palace.settings.commit == CommitMode::Auto,
        };
        if by.is_cancelled() {
            return Err(Refusal::Cancelled);
        }
        let wait = self.begin_wait();
        let made = self.store.commit(&change);
        drop(wait);
        match made? {
            CommitOutcome::Stale(paths) => {
                for path in paths {
                    self.reread_file(&path);
                }
                Ok(false)
            }
            CommitOutcome::Done(done) => {
                self.update_after_change(done, &change.edits).map(|()| true)
            }
        }
    }

    /// Applies a finished change to the palace in memory.
    fn update_after_change(&mut self, done: CommitReport, edits: &[Edit]) -> Result<(), Refusal> {
        for edit in edits {
            self.apply_own_write(&edit.path, edit.now.as_deref());
        }
        self.retry_conflicts();
        done.warnings.iter().for_each(|it| (self.warn)(&it.to_string()));
        let commit = done.commit.clone();
        self.finished_changes.push(done);
        self.advance_head(commit, edits)
    }

    /// Updates the entity faults after a change of one file; after a change of a genus, all of
    /// them.
    pub(crate) fn update_faults(&mut self, path: &str, before: Option<&EntityKey>) {
        let after = self.entity_key_in(path);
        if self.entity_faults.get().is_none() {
            return;
        }
        let health = Arc::make_mut(&mut self.entity_faults);
        match (PalacePath::parse(path), health.get_mut()) {
            (Ok(PalacePath::Genus), _) => drop(health.take()),
            (Ok(PalacePath::Entity), Some(it)) => {
                it.update(&self.palace.graph, before, after.as_ref());
            }
            _ => {}
        }
    }

    /// Returns the entity in a file, if the entity faults are computed.
    pub(crate) fn entity_key_in(&self, path: &str) -> Option<EntityKey> {
        self.entity_faults.get()?;
        let entity = self.palace.graph.entity_in_file(path).filter(|it| it.is_defined);
        entity.map(|it| (it.name.clone(), it.genus.clone()))
    }

    pub(crate) fn item_in_file(&self, path: &str) -> Option<ItemId> {
        match PalacePath::parse(path).ok()? {
            PalacePath::Room(id) => Some(ItemId::Room(id)),
            PalacePath::Scroll(_) => self.palace.scroll_in_file(path).cloned().map(ItemId::Scroll),
            PalacePath::Entity => {
                let entity = self.palace.graph.entity_in_file(path).filter(|it| it.is_defined)?;
                Some(ItemId::Entity(entity.name.clone()))
            }
            PalacePath::Drawer(_) => {
                self.palace.drawers.get(path).map(|_| ItemId::Drawer(path.to_owned()))
            }
            PalacePath::Task => self.palace.tasks.get(path).map(|_| ItemId::Task(path.to_owned())),
            PalacePath::Process => {
                self.palace.processes.get(path).map(|_| ItemId::Process(path.to_owned()))
            }
            PalacePath::Diary(_) => {
                self.palace.diaries.get(path).map(|_| ItemId::Diary(path.to_owned()))
            }
            PalacePath::Genus => {
                let genus = self.palace.graph.genus_definition_in_file(path)?;
                Some(ItemId::Genus(genus.name.clone()))
            }
            PalacePath::Settings | PalacePath::Other => None,
        }
    }

    pub(crate) fn unindex_file(&mut self, path: &str) {
        if self.index.get().is_none() {
            return;
        }
        let opening = self.item_in_file(path);
        if let (Some(index), Some(opening)) = (Arc::make_mut(&mut self.index).get_mut(), opening) {
            index.remove(&opening);
        }
    }

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
