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
use crate::model::{Vector, Vectors};
use crate::search::question_in;
use crate::store::{self, Store};

/// What the vectors are kept under, and what they begin with.
const NAME: &str = "vectors";
const MAKER: &[u8] = b"palazzo vectors 1\n";

/// What is made of this tells whether another model has made what is kept, and how
/// much alike it must be: processors differ in the last digits.
const PROBE: &str =
    "A memory palace is walked in the mind: what was left in a room is found there.";
const SAME: f32 = 0.999;

/// How long a search waits for a model that is just being read.
const PATIENCE: Duration = Duration::from_secs(1);

/// What was read is kept when so many passages are new, or a quarter of all.
const FEW: usize = 256;

/// What searches and the reader share.
pub(crate) struct Mind {
    known: RwLock<Vectors>,
    desk: Mutex<Desk>,
    news: Condvar,
}

/// What there is to do.
#[derive(Default)]
struct Desk {
    /// `None`: it is being read.
    model: Option<Result<Arc<Model>, String>>,
    /// What is to be read, the first being under way.
    waiting: VecDeque<(u64, String)>,
    /// Whether nobody wants to know any more.
    is_over: bool,
}

/// A question that was understood, with what is known.
pub(crate) struct Understood<'a> {
    asked: Option<Vector>,
    known: RwLockReadGuard<'a, Vectors>,
    /// By what things are found.
    pub(crate) ranker: Ranker,
}

impl Mind {
    /// Has all these passages to understand.
    pub(crate) fn facing(passages: Vec<(u64, String)>) -> Self {
        let desk = Desk { waiting: passages.into(), ..Desk::default() };
        Self { known: RwLock::default(), desk: Mutex::new(desk), news: Condvar::new() }
    }

    /// Takes on passages that may be new.
    pub(crate) fn face(&self, passages: impl Iterator<Item = (u64, String)>) {
        let known = self.known();
        let new: Vec<_> = passages.filter(|(key, _)| !known.contains_key(key)).collect();
        drop(known);
        self.desk().waiting.extend(new);
        self.news.notify_all();
    }

    /// Returns how many passages are not known yet.
    pub(crate) fn waiting(&self) -> usize {
        self.desk().waiting.len()
    }

    /// Returns the first passages of those that are not known yet.
    pub(crate) fn next(&self, most: usize) -> Vec<(u64, String)> {
        self.desk().waiting.iter().take(most).cloned().collect()
    }

    /// Reads no more than what is at hand.
    pub(crate) fn rest(&self) {
        self.desk().is_over = true;
        self.news.notify_all();
    }

    /// Understands a question, and holds still what is known for as long as it is
    /// looked for.
    pub(crate) fn understand(&self, question: &str) -> Understood<'_> {
        let (model, fault) = match self.model() {
            Ok(model) => (Some(model), None),
            Err(fault) => (None, Some(fault)),
        };
        let asked = model.and_then(|it| Vector::of(&it.embed(question_in(question))));
        let waiting = self.waiting();
        let known = self.known();
        let is_by_meaning = asked.is_some() && !known.is_empty();
        Understood { asked, known, ranker: Ranker { is_by_meaning, waiting, fault } }
    }

    /// Tells whether the model is still being read.
    pub(crate) fn is_being_read(&self) -> bool {
        self.desk().model.is_none()
    }

    /// Returns the model, when it was read; the error says why there is none.
    pub(crate) fn model(&self) -> Result<Arc<Model>, String> {
        let is_unread = |it: &mut Desk| it.model.is_none();
        let desk = self.news.wait_timeout_while(self.desk(), PATIENCE, is_unread);
        let desk = desk.unwrap_or_else(PoisonError::into_inner).0;
        desk.model.clone().unwrap_or_else(|| Err("the model is still being read".to_owned()))
    }

    /// Takes the model, and what it made of passages when it was last here.
    pub(crate) fn wake_up(&self, model: Result<Arc<Model>, String>, store: &Store) {
        if let Ok(model) = &model {
            let mut kept = recalled(&store.aside(NAME).unwrap_or_default(), model);
            let mut desk = self.desk();
            if kept.len() > 2 * desk.waiting.len() + FEW {
                let wanted: Vectors = desk
                    .waiting
                    .iter()
                    .filter_map(|(key, _)| Some((*key, kept.remove(key)?)))
                    .collect();
                kept = wanted;
            }
            desk.waiting.retain(|(key, _)| !kept.contains_key(key));
            *self.known.write().unwrap_or_else(PoisonError::into_inner) = kept;
        }
        self.desk().model = Some(model);
        self.news.notify_all();
    }

    /// Reads what is handed over until nobody wants to know any more.
    pub(crate) fn read_on(&self, store: &Store) {
        let Ok(model) = self.model() else { return };
        let mut new = 0;
        loop {
            let next = self.next(1).pop();
            let is_much = new >= FEW.max(self.known().len() / 4);
            if new > 0 && (next.is_none() || is_much) {
                // What cannot be kept costs time at the next start, and nothing else.
                drop(self.keep(&model, store));
                new = 0;
            }
            match next {
                Some((key, text)) => {
                    self.learn(key, Vector::of(&model.embed(&text)));
                    new += 1;
                }
                None => {
                    let is_idle = |it: &mut Desk| it.waiting.is_empty() && !it.is_over;
                    drop(self.news.wait_while(self.desk(), is_idle));
                }
            }
            if self.desk().is_over {
                break;
            }
        }
        if new > 0 {
            drop(self.keep(&model, store));
        }
    }

    /// Takes in what the first passage of those that wait means.
    pub(crate) fn learn(&self, key: u64, vector: Option<Vector>) {
        if let Some(vector) = vector {
            self.known.write().unwrap_or_else(PoisonError::into_inner).insert(key, vector);
        }
        self.desk().waiting.pop_front();
    }

    /// Keeps what is known for the next time.
    pub(crate) fn keep(&self, model: &Model, store: &Store) -> Result<(), store::Error> {
        store.set_aside(NAME, &self.written(model))
    }

    fn written(&self, model: &Model) -> Vec<u8> {
        let Some(probe) = Vector::of(&model.embed(PROBE)) else { return Vec::new() };
        let mut bytes = MAKER.to_vec();
        bytes.extend(u32::try_from(probe.parts().len()).unwrap_or_default().to_le_bytes());
        let known = self.known();
        let keyed = known.iter().map(|(key, vector)| (*key, vector));
        for (key, vector) in [(0, &probe)].into_iter().chain(keyed) {
            bytes.extend(key.to_le_bytes());
            bytes.extend(vector.parts().iter().map(|it| it.cast_unsigned()));
        }
        bytes
    }

    pub(crate) fn known(&self) -> RwLockReadGuard<'_, Vectors> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Understood<'_> {
    /// Returns what is asked and what is known, for a search.
    pub(crate) fn meaning(&self) -> Option<(&Vector, &Vectors)> {
        self.asked.as_ref().filter(|_| self.ranker.is_by_meaning).map(|it| (it, &*self.known))
    }
}

/// Finds what `bytes` hold; nothing where another model made it.
fn recalled(bytes: &[u8], model: &Model) -> Vectors {
    let read = || {
        let (size, rest) = bytes.strip_prefix(MAKER)?.split_first_chunk()?;
        let size = usize::try_from(u32::from_le_bytes(*size)).ok()?;
        let mut vectors = rest.chunks_exact(size.checked_add(size_of::<u64>())?).filter_map(|it| {
            let (key, parts) = it.split_first_chunk()?;
            let parts = parts.iter().map(|it| it.cast_signed()).collect();
            Some((u64::from_le_bytes(*key), Vector::from_parts(parts)?))
        });
        let probe = Vector::of(&model.embed(PROBE))?;
        let (_, kept) = vectors.next()?;
        (kept.likeness(&probe) > SAME).then(|| vectors.collect())
    };
    read().unwrap_or_default()
}
