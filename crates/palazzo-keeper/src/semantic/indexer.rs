//! The indexer of one palace: it embeds passages with the palace's model, in the background if the
//! keeper is configured so.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use crate::semantic::models::ModelCache;
use crate::semantic::vector_store::VectorStore;
use palazzo_store::Store;

/// The vectors of one palace, and the thread that computes more.
pub(crate) struct SemanticIndexer {
    pub(crate) model_folder: String,
    pub(crate) vectors: Arc<VectorStore>,
    worker: Option<JoinHandle<()>>,
}

impl SemanticIndexer {
    /// Loads the model in `folder`; if the models are configured so, does that in the background
    /// and embeds `passages`.
    pub(crate) fn start(
        folder: &str,
        passages: Vec<(u64, String)>,
        store: Store,
        models: &ModelCache,
    ) -> Self {
        let vectors = Arc::new(VectorStore::with_queue(passages));
        let (shared, model_folder, cache) = (vectors.clone(), folder.to_owned(), models.clone());
        let in_background = models.in_background;
        let work = move || {
            shared.set_model_and_load_vectors(
                cache.load(store.palace_folder(), &model_folder),
                &store,
            );
            if in_background {
                shared.embed_until_stopped(&store);
            }
        };
        let worker = match in_background {
            true => thread::Builder::new().name("reader".to_owned()).spawn(work).ok(),
            false => {
                work();
                None
            }
        };
        Self { model_folder: folder.to_owned(), vectors, worker }
    }

    /// Adds passages that may be new to the queue.
    pub(crate) fn enqueue(&self, passages: impl Iterator<Item = (u64, String)>) {
        self.vectors.enqueue(passages);
    }
}

/// The thread ends after its current passage.
impl Drop for SemanticIndexer {
    fn drop(&mut self) {
        self.vectors.stop();
        drop(self.worker.take().map(JoinHandle::join));
    }
}
