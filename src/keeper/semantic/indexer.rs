//! What the passages of a palace mean, where it names a model.

use std::fmt;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use rayon::prelude::*;

use crate::keeper::palace::OpenPalace;
use crate::keeper::palace::search_documents;
use crate::keeper::semantic::models::ModelCache;
use crate::keeper::semantic::vectors::VectorStore;
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::Vector;
use crate::render;
use crate::search::texts_to_embed;
use crate::store::Store;

/// How many passages are read in one go where somebody waits for all.
const EMBED_BATCH: usize = 64;

/// By what something was found, in a palace that names a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranker {
    /// Whether by meaning too.
    pub is_semantic: bool,
    /// How many passages the model has not read yet: words alone find those.
    pub pending_passages: usize,
    /// Why not by meaning, if something is wrong with the model.
    pub model_error: Option<String>,
}

/// What became of reading all that a palace holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EmbedOutcome {
    /// It names no model.
    NoModel,
    /// So many passages were read, and so many are known in all.
    Embedded(usize, usize),
}

/// What is known of the meaning of one palace, and who finds out more.
pub(crate) struct SemanticIndexer {
    model_folder: String,
    vectors: Arc<VectorStore>,
    worker: Option<JoinHandle<()>>,
}

impl OpenPalace {
    /// Returns what is known of the meaning of passages; `None`: the palace names no
    /// model, or is seen as it was.
    pub(crate) fn vector_store(&mut self, models: &ModelCache) -> Option<Arc<VectorStore>> {
        self.start_semantic_indexer(models);
        self.semantic_indexer.as_ref().map(|it| it.vectors.clone())
    }

    /// Begins to find out what passages mean with the model that the palace names
    /// now.
    pub(crate) fn start_semantic_indexer(&mut self, models: &ModelCache) {
        if self.is_snapshot() {
            return;
        }
        let folder =
            self.palace.settings.model.as_ref().filter(|_| self.store.as_of_commit().is_none());
        if folder == self.semantic_indexer.as_ref().map(|it| &it.model_folder) {
            return;
        }
        let begin = |folder: &String| {
            let passages = search_documents::all_documents(&self.palace).flat_map(|it| {
                let passages: Vec<_> = texts_to_embed(&it).collect();
                passages
            });
            SemanticIndexer::start(
                folder,
                passages.collect(),
                self.store.clone_for_thread(),
                models,
            )
        };
        self.semantic_indexer = folder.map(begin).map(Arc::new);
    }

    /// Says what is wrong with the model that the palace names, if it names one.
    pub(crate) fn model_error(&self, models: &ModelCache) -> Option<String> {
        let folder = self.palace.settings.model.as_ref()?;
        models.load(self.store.root(), folder).err()
    }
}

impl Keeper {
    /// Reads all passages that the model of a palace has not read yet; `tell` is told
    /// how many of how many were.
    pub fn embed_passages(
        &mut self,
        by: &Caller,
        tell: impl Fn(usize, usize),
    ) -> Result<EmbedOutcome, Refusal> {
        let models = self.models.clone();
        let key = self.current_workspace(by)?;
        let held = self.open_palace(&key)?;
        held.catch_up()?;
        let Some(mind) = held.vector_store(&models) else { return Ok(EmbedOutcome::NoModel) };
        let model = mind.wait_for_model().map_err(Refusal::Invalid)?;
        let all = mind.pending_count();
        loop {
            let share = mind.next_pending(EMBED_BATCH);
            tell(all - mind.pending_count(), all);
            if share.is_empty() {
                break;
            }
            let read =
                share.par_iter().map(|(key, text)| (*key, Vector::from_floats(&model.embed(text))));
            for (key, vector) in read.collect::<Vec<_>>() {
                mind.complete_first(key, vector);
            }
        }
        if all > 0 {
            mind.save(&model, held.store())?;
        }
        Ok(EmbedOutcome::Embedded(all, mind.vectors().len()))
    }
}

impl SemanticIndexer {
    fn start(
        folder: &str,
        passages: Vec<(u64, String)>,
        store: Store,
        models: &ModelCache,
    ) -> Self {
        let mind = Arc::new(VectorStore::with_queue(passages));
        let (shared, called, all) = (mind.clone(), folder.to_owned(), models.clone());
        let is_ahead = models.in_background;
        let read = move || {
            shared.set_model(all.load(store.root(), &called), &store);
            if is_ahead {
                shared.run(&store);
            }
        };
        let reader = match is_ahead {
            true => thread::Builder::new().name("reader".to_owned()).spawn(read).ok(),
            false => {
                read();
                None
            }
        };
        Self { model_folder: folder.to_owned(), vectors: mind, worker: reader }
    }

    /// Hands over passages that may be new.
    pub(crate) fn enqueue(&self, passages: impl Iterator<Item = (u64, String)>) {
        self.vectors.enqueue(passages);
    }
}

/// Whoever is reading ends with the passage at hand.
impl Drop for SemanticIndexer {
    fn drop(&mut self) {
        self.vectors.stop();
        drop(self.worker.take().map(JoinHandle::join));
    }
}

impl Ranker {
    /// Names it: `words and meaning`.
    pub fn name(&self) -> &'static str {
        if self.is_semantic { "words and meaning" } else { "words" }
    }

    /// Says what else there is to know of it.
    pub fn remark(&self) -> Option<String> {
        let waiting =
            || format!("{} still to be read", render::pluralize(self.pending_passages, "passage"));
        self.model_error.clone().or_else(|| (self.pending_passages > 0).then(waiting))
    }
}

/// Prints as a sentence without a full stop.
impl fmt::Display for Ranker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let alone = if self.is_semantic { "" } else { " alone" };
        write!(f, "Found by {}{alone}", self.name())?;
        self.remark().map_or(Ok(()), |it| write!(f, ": {it}"))
    }
}
