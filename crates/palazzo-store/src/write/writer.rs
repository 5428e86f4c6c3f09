//! The settings and caches that a store keeps from one change to the next.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use gix::ObjectId;

use crate::Error;
use crate::repo::palace_repository::PalaceRepository;
use crate::write::deleted_object_restorer::{self, DeletedObjectRestorer};
use crate::write::index::CachedIndex;
use crate::write::objects::LastTrees;
use crate::write::palazzo_lock::LockTimeouts;
use crate::write::progress::{Progress, ProgressListener};
use crate::write::signing::{Signer, SigningState};

/// Makes the changes of one store.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    pub(crate) lock_timeouts: LockTimeouts,
    pub(crate) signing: SigningState,
    /// The signatures of the write that has begun.
    pub(crate) signer: Option<Signer>,
    pub(crate) listener: Option<ProgressListener>,
    /// Whether the caller no longer wants the change that it asked for.
    pub(crate) cancelled: Arc<AtomicBool>,
    pub(crate) deleted_object_restorer: DeletedObjectRestorer,
    pub(crate) cached_index: Option<CachedIndex>,
    pub(crate) last_trees: LastTrees,
    /// The last commit whose objects were all found.
    pub(crate) checked_head: Option<ObjectId>,
}

impl Writer {
    /// Returns the signer of the write that has begun. The caller puts it back if the write is tried
    /// again.
    pub(crate) fn take_signer(&mut self) -> Signer {
        self.signing.signer(self.signer.take())
    }

    /// Signs the commit that the last attempt of a write could not sign. The caller holds no lock.
    pub(crate) fn sign_missing_commit(&mut self, palace: &PalaceRepository) -> Result<(), Error> {
        let repository = palace.require()?;
        let Some(mut signer) = self.signer.take() else { return Ok(()) };
        let signed = signer.sign_waiting_commit(&repository, &mut self.signing);
        self.signer = Some(signer);
        signed
    }

    /// Starts to report the progress of `total` steps.
    pub(crate) fn start_progress(&self, total: usize) -> Progress {
        Progress::start(self.listener.as_ref(), total)
    }

    /// Fails if the caller cancelled the change.
    pub(crate) fn reject_if_cancelled(&self) -> Result<(), Error> {
        match self.cancelled.load(Ordering::Relaxed) {
            true => Err(Error::Cancelled),
            false => Ok(()),
        }
    }

    /// Restores the objects of the last changes that `git gc` deleted; returns true if there were
    /// any.
    pub(crate) fn restore_pruned_objects(&self, palace: &PalaceRepository) -> bool {
        let repository = palace.find().ok().flatten();
        repository.is_some_and(|it| self.deleted_object_restorer.restore_deleted_objects(&it))
    }
}

/// Returns true if `git gc` is running in the palace's repository.
pub(crate) fn is_gc_running(palace: &PalaceRepository) -> bool {
    let repository = palace.find().ok().flatten();
    repository.is_some_and(|it| deleted_object_restorer::is_gc_running(&it.common_dir))
}
