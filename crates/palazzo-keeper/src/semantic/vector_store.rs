//! The vectors of the passages of a palace, and the queue of passages without one. If the keeper is
//! configured so, a thread embeds one passage after the other, while searches use the vectors that
//! exist.
//!
//! The vectors are cached beside git's own files, by the text of the passage. The cache may be
//! deleted at any time: then the passages are embedded again.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::semantic::ModelCache;
use palazzo_core::embedding::Model;
use palazzo_core::model::{EmbeddingVector, VectorsByTextHash};
use palazzo_core::render;
use palazzo_core::search::extract_question;
use palazzo_store::{self as store, Store};

/// The name of the cache, and the first bytes of its file.
const CACHE_NAME: &str = "vectors";
const CACHE_HEADER: &[u8] = b"palazzo vectors 1\n";

/// The vector of this text shows whether the same model has made the cache. A small difference is
/// allowed, because processors differ in the last digits.
const PROBE_TEXT: &str =
    "A memory palace is walked in the mind: what was left in a room is found there.";
const MIN_PROBE_SIMILARITY: f32 = 0.999;

/// How long a search waits for a model that is being loaded.
const MODEL_LOAD_TIMEOUT: Duration = Duration::from_secs(1);

/// The cache is written when this number of vectors is new, or a quarter of all.
const SAVE_BATCH: usize = 256;

/// The vectors and the queue, which searches and the thread share.
pub(crate) struct VectorStore {
    vectors: RwLock<VectorsByTextHash>,
    queue: Mutex<EmbeddingQueue>,
    queue_changed: Condvar,
}

/// The passages to embed, and the model to do it.
#[derive(Default)]
struct EmbeddingQueue {
    /// The model or its error; `None` while it is being loaded.
    model: Option<Result<Arc<Model>, String>>,
    /// The passages without a vector; the first is being embedded.
    pending: VecDeque<(u64, String)>,
    /// Whether the thread should end.
    is_stopped: bool,
}

/// The vector of a query, and a lock on the vectors to compare it with.
pub(crate) struct EmbeddedQuery<'a> {
    query_vector: Option<EmbeddingVector>,
    vectors: RwLockReadGuard<'a, VectorsByTextHash>,
    /// How hits are ranked.
    pub(crate) ranker: RankingReport,
}

impl VectorStore {
    /// Creates a store without vectors, with these passages in the queue.
    fn with_queue(passages: Vec<(u64, String)>) -> Self {
        let queue = EmbeddingQueue { pending: passages.into(), ..EmbeddingQueue::default() };
        Self { vectors: RwLock::default(), queue: Mutex::new(queue), queue_changed: Condvar::new() }
    }

    /// Adds the passages that have no vector to the queue.
    pub(crate) fn enqueue(&self, passages: impl Iterator<Item = (u64, String)>) {
        let vectors = self.lock_vectors_for_reading();
        let new: Vec<_> = passages.filter(|(key, _)| !vectors.contains_key(key)).collect();
        drop(vectors);
        self.lock_queue().pending.extend(new);
        self.queue_changed.notify_all();
    }

    /// Returns how many passages have no vector yet.
    pub(crate) fn pending_count(&self) -> usize {
        self.lock_queue().pending.len()
    }

    /// Returns the first `limit` passages of the queue.
    pub(crate) fn peek_pending(&self, limit: usize) -> Vec<(u64, String)> {
        self.lock_queue().pending.iter().take(limit).cloned().collect()
    }

    /// Makes the thread end after its current passage.
    fn stop(&self) {
        self.lock_queue().is_stopped = true;
        self.queue_changed.notify_all();
    }

    /// Embeds a query, and locks the vectors for the time of the search.
    pub(crate) fn embed_query(&self, question: &str) -> EmbeddedQuery<'_> {
        let (model, error) = match self.wait_for_model() {
            Ok(model) => (Some(model), None),
            Err(error) => (None, Some(error)),
        };
        let query_vector = model
            .and_then(|it| EmbeddingVector::from_floats(&it.embed(extract_question(question))));
        let pending_passages = self.pending_count();
        let vectors = self.lock_vectors_for_reading();
        let is_semantic = query_vector.is_some() && !vectors.is_empty();
        EmbeddedQuery {
            query_vector,
            vectors,
            ranker: RankingReport { is_semantic, pending_passages, model_error: error },
        }
    }

    /// Returns whether the model is still being loaded.
    pub(crate) fn is_loading_model(&self) -> bool {
        self.lock_queue().model.is_none()
    }

    /// Waits until the model is loaded, and returns it or its error.
    pub(crate) fn wait_for_model(&self) -> Result<Arc<Model>, String> {
        let is_loading = |it: &mut EmbeddingQueue| it.model.is_none();
        let queue = self.lock_queue();
        let queue = self.queue_changed.wait_timeout_while(queue, MODEL_LOAD_TIMEOUT, is_loading);
        let queue = queue.unwrap_or_else(PoisonError::into_inner).0;
        queue.model.clone().unwrap_or_else(|| Err("the model is still being loaded".to_owned()))
    }

    /// Sets the model, and reads its vectors from the cache.
    fn set_model_and_load_vectors(&self, model: Result<Arc<Model>, String>, store: &Store) {
        if let Ok(model) = &model {
            let mut cached =
                decode_vectors(&store.read_cache(CACHE_NAME).unwrap_or_default(), model);
            let mut queue = self.lock_queue();
            if cached.len() > 2 * queue.pending.len() + SAVE_BATCH {
                let needed: VectorsByTextHash = queue
                    .pending
                    .iter()
                    .filter_map(|(key, _)| Some((*key, cached.remove(key)?)))
                    .collect();
                cached = needed;
            }
            queue.pending.retain(|(key, _)| !cached.contains_key(key));
            *self.vectors.write().unwrap_or_else(PoisonError::into_inner) = cached;
        }
        self.lock_queue().model = Some(model);
        self.queue_changed.notify_all();
    }

    /// Embeds the passages of the queue until [`VectorStore::stop`] is called.
    fn embed_until_stopped(&self, store: &Store) {
        let Ok(model) = self.wait_for_model() else { return };
        let mut new = 0;
        loop {
            let next = self.peek_pending(1).pop();
            let is_batch_full = new >= SAVE_BATCH.max(self.lock_vectors_for_reading().len() / 4);
            if new > 0 && (next.is_none() || is_batch_full) {
                // An error is no problem: without a cache, only the next start takes longer.
                drop(self.save(&model, store));
                new = 0;
            }
            match next {
                Some((key, text)) => {
                    self.finish_first_pending(
                        key,
                        EmbeddingVector::from_floats(&model.embed(&text)),
                    );
                    new += 1;
                }
                None => {
                    let is_idle = |it: &mut EmbeddingQueue| it.pending.is_empty() && !it.is_stopped;
                    drop(self.queue_changed.wait_while(self.lock_queue(), is_idle));
                }
            }
            if self.lock_queue().is_stopped {
                break;
            }
        }
        if new > 0 {
            drop(self.save(&model, store));
        }
    }

    /// Removes the first passage from the queue, and stores its vector.
    pub(crate) fn finish_first_pending(&self, key: u64, vector: Option<EmbeddingVector>) {
        if let Some(vector) = vector {
            self.vectors.write().unwrap_or_else(PoisonError::into_inner).insert(key, vector);
        }
        self.lock_queue().pending.pop_front();
    }

    /// Writes the vectors to the cache.
    pub(crate) fn save(&self, model: &Model, store: &Store) -> Result<(), store::Error> {
        store.write_cache(CACHE_NAME, &self.to_bytes(model))
    }

    fn to_bytes(&self, model: &Model) -> Vec<u8> {
        let Some(probe) = EmbeddingVector::from_floats(&model.embed(PROBE_TEXT)) else {
            return Vec::new();
        };
        let mut bytes = CACHE_HEADER.to_vec();
        bytes.extend(u32::try_from(probe.components().len()).unwrap_or_default().to_le_bytes());
        let vectors = self.lock_vectors_for_reading();
        let keyed = vectors.iter().map(|(key, vector)| (*key, vector));
        for (key, vector) in [(0, &probe)].into_iter().chain(keyed) {
            bytes.extend(key.to_le_bytes());
            bytes.extend(vector.components().iter().map(|it| it.cast_unsigned()));
        }
        bytes
    }

    pub(crate) fn lock_vectors_for_reading(&self) -> RwLockReadGuard<'_, VectorsByTextHash> {
        self.vectors.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_queue(&self) -> MutexGuard<'_, EmbeddingQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EmbeddedQuery<'_> {
    /// Returns the vector of the query and all vectors, for a search.
    pub(crate) fn query_and_vectors(&self) -> Option<(&EmbeddingVector, &VectorsByTextHash)> {
        self.query_vector
            .as_ref()
            .filter(|_| self.ranker.is_semantic)
            .map(|it| (it, &*self.vectors))
    }
}

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

/// How hits were ranked, in a palace that names a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankingReport {
    /// Whether hits were ranked by meaning too, not only by words.
    pub is_semantic: bool,
    /// How many passages have no embedding yet: they are ranked by words only.
    pub pending_passages: usize,
    /// The error of the model, if it cannot be used.
    pub model_error: Option<String>,
}

impl RankingReport {
    /// Returns its name: `words and meaning`.
    pub fn name(&self) -> &'static str {
        if self.is_semantic { "words and meaning" } else { "words" }
    }

    /// Returns the error of the model, or how many passages have no embedding yet.
    pub fn error_or_pending_text(&self) -> Option<String> {
        let pending = || {
            format!(
                "{} not embedded yet",
                render::count_with_noun(self.pending_passages, "passage")
            )
        };
        self.model_error.clone().or_else(|| (self.pending_passages > 0).then(pending))
    }
}

/// Prints as a sentence without a full stop.
impl fmt::Display for RankingReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let alone = if self.is_semantic { "" } else { " alone" };
        write!(f, "Found by {}{alone}", self.name())?;
        self.error_or_pending_text().map_or(Ok(()), |it| write!(f, ": {it}"))
    }
}

/// Decodes the vectors of a cache; none if another model has made it.
fn decode_vectors(bytes: &[u8], model: &Model) -> VectorsByTextHash {
    let read = || {
        let (size, rest) = bytes.strip_prefix(CACHE_HEADER)?.split_first_chunk()?;
        let size = usize::try_from(u32::from_le_bytes(*size)).ok()?;
        let mut vectors = rest.chunks_exact(size.checked_add(size_of::<u64>())?).filter_map(|it| {
            let (key, parts) = it.split_first_chunk()?;
            let parts = parts.iter().map(|it| it.cast_signed()).collect();
            Some((u64::from_le_bytes(*key), EmbeddingVector::from_components(parts)?))
        });
        let probe = EmbeddingVector::from_floats(&model.embed(PROBE_TEXT))?;
        let (_, cached) = vectors.next()?;
        (cached.cosine_similarity(&probe) > MIN_PROBE_SIMILARITY).then(|| vectors.collect())
    };
    read().unwrap_or_default()
}
