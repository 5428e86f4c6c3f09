//! What the passages of a palace mean, where it names a model.

use std::fmt;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use rayon::prelude::*;

use crate::keeper::palace::Held;
use crate::keeper::palace::search_documents;
use crate::keeper::semantic::models::Models;
use crate::keeper::semantic::vectors::Mind;
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::Vector;
use crate::render;
use crate::search::to_read;
use crate::store::Store;

/// How many passages are read in one go where somebody waits for all.
const SHARE: usize = 64;

/// By what something was found, in a palace that names a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranker {
    /// Whether by meaning too.
    pub is_by_meaning: bool,
    /// How many passages the model has not read yet: words alone find those.
    pub waiting: usize,
    /// Why not by meaning, if something is wrong with the model.
    pub fault: Option<String>,
}

/// What became of reading all that a palace holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Understanding {
    /// It names no model.
    NoModel,
    /// So many passages were read, and so many are known in all.
    Read(usize, usize),
}

/// What is known of the meaning of one palace, and who finds out more.
pub(crate) struct Sense {
    folder: String,
    mind: Arc<Mind>,
    reader: Option<JoinHandle<()>>,
}

impl Held {
    /// Returns what is known of the meaning of passages; `None`: the palace names no
    /// model, or is seen as it was.
    pub(crate) fn mind(&mut self, models: &Models) -> Option<Arc<Mind>> {
        self.begin_to_understand(models);
        self.sense.as_ref().map(|it| it.mind.clone())
    }

    /// Begins to find out what passages mean with the model that the palace names
    /// now.
    pub(crate) fn begin_to_understand(&mut self, models: &Models) {
        if self.is_snapshot() {
            return;
        }
        let folder = self.palace.settings.model.as_ref().filter(|_| self.store.moment().is_none());
        if folder == self.sense.as_ref().map(|it| &it.folder) {
            return;
        }
        let begin = |folder: &String| {
            let passages = search_documents::documents(&self.palace).flat_map(|it| {
                let passages: Vec<_> = to_read(&it).collect();
                passages
            });
            Sense::begin(folder, passages.collect(), self.store.once_more(), models)
        };
        self.sense = folder.map(begin).map(Arc::new);
    }

    /// Says what is wrong with the model that the palace names, if it names one.
    pub(crate) fn fault_of_model(&self, models: &Models) -> Option<String> {
        let folder = self.palace.settings.model.as_ref()?;
        models.read(self.store.root(), folder).err()
    }
}

impl Keeper {
    /// Reads all passages that the model of a palace has not read yet; `tell` is told
    /// how many of how many were.
    pub fn understand(
        &mut self,
        by: &Caller,
        tell: impl Fn(usize, usize),
    ) -> Result<Understanding, Refusal> {
        let models = self.models.clone();
        let held = self.opened(by)?;
        let Some(mind) = held.mind(&models) else { return Ok(Understanding::NoModel) };
        let model = mind.model().map_err(Refusal::Nonsense)?;
        let all = mind.waiting();
        loop {
            let share = mind.next(SHARE);
            tell(all - mind.waiting(), all);
            if share.is_empty() {
                break;
            }
            let read = share.par_iter().map(|(key, text)| (*key, Vector::of(&model.embed(text))));
            for (key, vector) in read.collect::<Vec<_>>() {
                mind.learn(key, vector);
            }
        }
        if all > 0 {
            mind.keep(&model, held.store())?;
        }
        Ok(Understanding::Read(all, mind.known().len()))
    }
}

impl Sense {
    fn begin(folder: &str, passages: Vec<(u64, String)>, store: Store, models: &Models) -> Self {
        let mind = Arc::new(Mind::facing(passages));
        let (shared, called, all) = (mind.clone(), folder.to_owned(), models.clone());
        let is_ahead = models.ahead;
        let read = move || {
            shared.wake_up(all.read(store.root(), &called), &store);
            if is_ahead {
                shared.read_on(&store);
            }
        };
        let reader = match is_ahead {
            true => thread::Builder::new().name("reader".to_owned()).spawn(read).ok(),
            false => {
                read();
                None
            }
        };
        Self { folder: folder.to_owned(), mind, reader }
    }

    /// Hands over passages that may be new.
    pub(crate) fn hand(&self, passages: impl Iterator<Item = (u64, String)>) {
        self.mind.face(passages);
    }
}

/// Whoever is reading ends with the passage at hand.
impl Drop for Sense {
    fn drop(&mut self) {
        self.mind.rest();
        drop(self.reader.take().map(JoinHandle::join));
    }
}

impl Ranker {
    /// Names it: `words and meaning`.
    pub fn name(&self) -> &'static str {
        if self.is_by_meaning { "words and meaning" } else { "words" }
    }

    /// Says what else there is to know of it.
    pub fn remark(&self) -> Option<String> {
        let waiting = || format!("{} still to be read", render::count(self.waiting, "passage"));
        self.fault.clone().or_else(|| (self.waiting > 0).then(waiting))
    }
}

/// Prints as a sentence without a full stop.
impl fmt::Display for Ranker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let alone = if self.is_by_meaning { "" } else { " alone" };
        write!(f, "Found by {}{alone}", self.name())?;
        self.remark().map_or(Ok(()), |it| write!(f, ": {it}"))
    }
}
