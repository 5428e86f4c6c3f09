//! The semantic index of an open palace, if its settings name a model.

use std::sync::Arc;

use crate::palace::open_palace::OpenPalace;
use crate::palace::search_documents;
use crate::semantic::ModelCache;
use crate::semantic::vector_store::{SemanticIndexer, VectorStore};
use palazzo_core::search::texts_to_embed;

impl OpenPalace {
    /// Returns the vectors of the passages; `None` if the palace names no model, or is opened as of
    /// a past commit.
    pub(crate) fn vector_store(&mut self, models: &ModelCache) -> Option<Arc<VectorStore>> {
        self.start_semantic_indexer(models);
        self.semantic_indexer.as_ref().map(|it| it.vectors.clone())
    }

    /// Starts the indexer with the model that the settings name, unless it runs already.
    pub(crate) fn start_semantic_indexer(&mut self, models: &ModelCache) {
        if self.is_snapshot() {
            return;
        }
        let folder =
            self.palace.settings.model.as_ref().filter(|_| self.store.as_of_commit().is_none());
        if folder == self.semantic_indexer.as_ref().map(|it| &it.model_folder) {
            return;
        }
        let start = |folder: &String| {
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
        self.loaded.semantic_indexer = folder.map(start).map(Arc::new);
    }

    /// Returns the error of loading the model that the settings name, if there is one.
    pub(crate) fn model_error(&self, models: &ModelCache) -> Option<String> {
        let folder = self.palace.settings.model.as_ref()?;
        models.load(self.store.palace_folder(), folder).err()
    }
}
