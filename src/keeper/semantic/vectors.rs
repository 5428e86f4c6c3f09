//! What is known of the meaning of passages, and the reader who finds out more: one
//! passage after the other, while searches go on with what is known.
//!
//! What was made of a passage is kept beside git's own files, by what the passage
//! says, and may be deleted at any time: that costs the time to read it again.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use crate::embedding::Model;
use crate::keeper::Ranker;
use crate::model::{Vector, VectorsByTextHash};
use crate::search::extract_question;
use crate::store::{self, Store};

/// What the vectors are kept under, and what they begin with.
const CACHE_NAME: &str = "vectors";
const CACHE_HEADER: &[u8] = b"palazzo vectors 1\n";

/// What is made of this tells whether another model has made what is kept, and how
/// much alike it must be: processors differ in the last digits.
const PROBE_TEXT: &str =
    "A memory palace is walked in the mind: what was left in a room is found there.";
const MIN_PROBE_SIMILARITY: f32 = 0.999;

/// How long a search waits for a model that is just being read.
const MODEL_LOAD_TIMEOUT: Duration = Duration::from_secs(1);

/// What was read is kept when so many passages are new, or a quarter of all.
const SAVE_BATCH: usize = 256;

/// What searches and the reader share.
pub(crate) struct VectorStore {
    vectors: RwLock<VectorsByTextHash>,
    queue: Mutex<Queue>,
    queue_changed: Condvar,
}

/// What there is to do.
#[derive(Default)]
struct Queue {
    /// `None`: it is being read.
    model: Option<Result<Arc<Model>, String>>,
    /// What is to be read, the first being under way.
    pending: VecDeque<(u64, String)>,
    /// Whether nobody wants to know any more.
    is_stopped: bool,
}

/// A question that was understood, with what is known.
pub(crate) struct EmbeddedQuery<'a> {
    query_vector: Option<Vector>,
    vectors: RwLockReadGuard<'a, VectorsByTextHash>,
    /// By what things are found.
    pub(crate) ranker: Ranker,
}

impl VectorStore {
    /// Has all these passages to understand.
    pub(crate) fn with_queue(passages: Vec<(u64, String)>) -> Self {
        let desk = Queue { pending: passages.into(), ..Queue::default() };
        Self { vectors: RwLock::default(), queue: Mutex::new(desk), queue_changed: Condvar::new() }
    }

    /// Takes on passages that may be new.
    pub(crate) fn enqueue(&self, passages: impl Iterator<Item = (u64, String)>) {
        let known = self.vectors();
        let new: Vec<_> = passages.filter(|(key, _)| !known.contains_key(key)).collect();
        drop(known);
        self.queue().pending.extend(new);
        self.queue_changed.notify_all();
    }

    /// Returns how many passages are not known yet.
    pub(crate) fn pending_count(&self) -> usize {
        self.queue().pending.len()
    }

    /// Returns the first passages of those that are not known yet.
    pub(crate) fn next_pending(&self, most: usize) -> Vec<(u64, String)> {
        self.queue().pending.iter().take(most).cloned().collect()
    }

    /// Reads no more than what is at hand.
    pub(crate) fn stop(&self) {
        self.queue().is_stopped = true;
        self.queue_changed.notify_all();
    }

    /// Understands a question, and holds still what is known for as long as it is
    /// looked for.
    pub(crate) fn embed_query(&self, question: &str) -> EmbeddedQuery<'_> {
        let (model, fault) = match self.wait_for_model() {
            Ok(model) => (Some(model), None),
            Err(fault) => (None, Some(fault)),
        };
        let asked = model.and_then(|it| Vector::from_floats(&it.embed(extract_question(question))));
        let waiting = self.pending_count();
        let known = self.vectors();
        let is_by_meaning = asked.is_some() && !known.is_empty();
        EmbeddedQuery {
            query_vector: asked,
            vectors: known,
            ranker: Ranker {
                is_semantic: is_by_meaning,
                pending_passages: waiting,
                model_error: fault,
            },
        }
    }

    /// Tells whether the model is still being read.
    pub(crate) fn is_loading_model(&self) -> bool {
        self.queue().model.is_none()
    }

    /// Returns the model, when it was read; the error says why there is none.
    pub(crate) fn wait_for_model(&self) -> Result<Arc<Model>, String> {
        let is_unread = |it: &mut Queue| it.model.is_none();
        let desk =
            self.queue_changed.wait_timeout_while(self.queue(), MODEL_LOAD_TIMEOUT, is_unread);
        let desk = desk.unwrap_or_else(PoisonError::into_inner).0;
        desk.model.clone().unwrap_or_else(|| Err("the model is still being read".to_owned()))
    }

    /// Takes the model, and what it made of passages when it was last here.
    pub(crate) fn set_model(&self, model: Result<Arc<Model>, String>, store: &Store) {
        if let Ok(model) = &model {
            let mut kept = decode_vectors(&store.read_cache(CACHE_NAME).unwrap_or_default(), model);
            let mut desk = self.queue();
            if kept.len() > 2 * desk.pending.len() + SAVE_BATCH {
                let wanted: VectorsByTextHash = desk
                    .pending
                    .iter()
                    .filter_map(|(key, _)| Some((*key, kept.remove(key)?)))
                    .collect();
                kept = wanted;
            }
            desk.pending.retain(|(key, _)| !kept.contains_key(key));
            *self.vectors.write().unwrap_or_else(PoisonError::into_inner) = kept;
        }
        self.queue().model = Some(model);
        self.queue_changed.notify_all();
    }

    /// Reads what is handed over until nobody wants to know any more.
    pub(crate) fn run(&self, store: &Store) {
        let Ok(model) = self.wait_for_model() else { return };
        let mut new = 0;
        loop {
            let next = self.next_pending(1).pop();
            let is_much = new >= SAVE_BATCH.max(self.vectors().len() / 4);
            if new > 0 && (next.is_none() || is_much) {
                // What cannot be kept costs time at the next start, and nothing else.
                drop(self.save(&model, store));
                new = 0;
            }
            match next {
                Some((key, text)) => {
                    self.complete_first(key, Vector::from_floats(&model.embed(&text)));
                    new += 1;
                }
                None => {
                    let is_idle = |it: &mut Queue| it.pending.is_empty() && !it.is_stopped;
                    drop(self.queue_changed.wait_while(self.queue(), is_idle));
                }
            }
            if self.queue().is_stopped {
                break;
            }
        }
        if new > 0 {
            drop(self.save(&model, store));
        }
    }

    /// Takes in what the first passage of those that wait means.
    pub(crate) fn complete_first(&self, key: u64, vector: Option<Vector>) {
        if let Some(vector) = vector {
            self.vectors.write().unwrap_or_else(PoisonError::into_inner).insert(key, vector);
        }
        self.queue().pending.pop_front();
    }

    /// Keeps what is known for the next time.
    pub(crate) fn save(&self, model: &Model, store: &Store) -> Result<(), store::Error> {
        store.write_cache(CACHE_NAME, &self.to_bytes(model))
    }

    fn to_bytes(&self, model: &Model) -> Vec<u8> {
        let Some(probe) = Vector::from_floats(&model.embed(PROBE_TEXT)) else { return Vec::new() };
        let mut bytes = CACHE_HEADER.to_vec();
        bytes.extend(u32::try_from(probe.components().len()).unwrap_or_default().to_le_bytes());
        let known = self.vectors();
        let keyed = known.iter().map(|(key, vector)| (*key, vector));
        for (key, vector) in [(0, &probe)].into_iter().chain(keyed) {
            bytes.extend(key.to_le_bytes());
            bytes.extend(vector.components().iter().map(|it| it.cast_unsigned()));
        }
        bytes
    }

    pub(crate) fn vectors(&self) -> RwLockReadGuard<'_, VectorsByTextHash> {
        self.vectors.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EmbeddedQuery<'_> {
    /// Returns what is asked and what is known, for a search.
    pub(crate) fn query_and_vectors(&self) -> Option<(&Vector, &VectorsByTextHash)> {
        self.query_vector
            .as_ref()
            .filter(|_| self.ranker.is_semantic)
            .map(|it| (it, &*self.vectors))
    }
}

/// Finds what `bytes` hold; nothing where another model made it.
fn decode_vectors(bytes: &[u8], model: &Model) -> VectorsByTextHash {
    let read = || {
        let (size, rest) = bytes.strip_prefix(CACHE_HEADER)?.split_first_chunk()?;
        let size = usize::try_from(u32::from_le_bytes(*size)).ok()?;
        let mut vectors = rest.chunks_exact(size.checked_add(size_of::<u64>())?).filter_map(|it| {
            let (key, parts) = it.split_first_chunk()?;
            let parts = parts.iter().map(|it| it.cast_signed()).collect();
            Some((u64::from_le_bytes(*key), Vector::from_components(parts)?))
        });
        let probe = Vector::from_floats(&model.embed(PROBE_TEXT))?;
        let (_, kept) = vectors.next()?;
        (kept.cosine_similarity(&probe) > MIN_PROBE_SIMILARITY).then(|| vectors.collect())
    };
    read().unwrap_or_default()
}
