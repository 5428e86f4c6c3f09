//! Signs the commits of one write, if the configuration of the user or the system asks for that.
//!
//! A signing program may take long, so none runs while a lock is held. A commit whose signature is
//! missing makes the write fail before anything is visible; the locks are released, the commit is
//! signed, and the write is tried again. If `HEAD` has moved meanwhile, the commit is another one,
//! and is signed again.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Duration;

use crate::model::SigningMode;
use crate::store::repo::repository::Repository;
use crate::store::write::signing_program;
use crate::store::{CommitWarning, Error};

/// How long a signing program may run.
pub(crate) const SIGNING_TIME_LIMIT: Duration = Duration::from_secs(10);
/// How many commits of one write are signed; `HEAD` may move while one is.
const MAX_SIGNATURES: usize = 60;

/// Which commits of a store are signed, and how.
#[derive(Clone, Debug)]
pub(crate) struct SigningState {
    pub(crate) mode: SigningMode,
    pub(crate) time_limit: Duration,
    /// Why the last commit was not signed; each reason is reported once.
    pub(crate) reported: Option<String>,
    /// Why the signing program was stopped. It is not run again, because each write would wait for
    /// it.
    pub(crate) stopped: Option<String>,
}

/// The signatures of the commits of one write.
pub(crate) struct Signer {
    mode: SigningMode,
    time_limit: Duration,
    /// By the content of the commit without its signature.
    signatures: HashMap<Vec<u8>, String>,
    /// The commit that has to be signed before the write can be tried again.
    waiting: RefCell<Option<Vec<u8>>>,
    /// Why commits stay without a signature.
    failure: Option<String>,
}

/// How a commit is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommitSignature<'a> {
    /// Without a signature.
    None,
    /// With this one.
    Signature(&'a str),
    /// Not yet: it has to be signed first.
    Missing,
}

impl Default for SigningState {
    fn default() -> Self {
        let (mode, time_limit) = (SigningMode::default(), SIGNING_TIME_LIMIT);
        Self { mode, time_limit, reported: None, stopped: None }
    }
}

impl SigningState {
    /// Creates the signer of one write.
    pub(crate) fn signer(&self) -> Signer {
        let stopped = self.stopped.clone();
        Signer {
            mode: self.mode,
            time_limit: self.time_limit,
            signatures: HashMap::new(),
            waiting: RefCell::new(None),
            failure: stopped.filter(|_| self.mode != SigningMode::Required),
        }
    }

    /// Returns the warning that the commits of a write were not signed, once for each reason.
    pub(crate) fn report(&mut self, signer: &Signer) -> Option<CommitWarning> {
        let failure = signer.failure.clone()?;
        if self.reported.as_ref() == Some(&failure) {
            return None;
        }
        self.reported = Some(failure.clone());
        Some(CommitWarning::NotSigned(failure))
    }
}

impl Signer {
    /// Returns the signature of a commit with the content `payload`.
    pub(crate) fn find_signature(
        &self,
        git: &gix::Repository,
        payload: &[u8],
    ) -> CommitSignature<'_> {
        let is_wanted = git.config_snapshot().boolean("commit.gpgSign") == Some(true);
        if !is_wanted || self.mode == SigningMode::Never {
            return CommitSignature::None;
        }
        match self.signatures.get(payload) {
            Some(signature) => CommitSignature::Signature(signature),
            None if self.failure.is_some() => CommitSignature::None,
            None => {
                *self.waiting.borrow_mut() = Some(payload.to_owned());
                CommitSignature::Missing
            }
        }
    }

    /// Returns whether a commit has to be signed before the write can be tried again.
    pub(crate) fn is_waiting(&self) -> bool {
        self.waiting.borrow().is_some()
    }

    /// Signs the commit that waits for it; `false`: none does. The caller holds no lock.
    pub(crate) fn sign_waiting_commit(
        &mut self,
        repository: &Repository,
        state: &mut SigningState,
    ) -> Result<bool, Error> {
        let Some(payload) = self.waiting.take() else { return Ok(false) };
        if self.signatures.len() >= MAX_SIGNATURES {
            return Err(Error::HeadKeepsMoving { place: repository.work.clone() });
        }
        let started = std::time::Instant::now();
        let options = signing_program::read_signing_options(&repository.git(), self.time_limit);
        let signed = options.and_then(|it| match it {
            Some(options) => signing_program::sign(&options, &payload, self.time_limit),
            None => Err("the configuration has changed".to_owned()),
        });
        match signed {
            Ok(signature) => drop(self.signatures.insert(payload, signature)),
            Err(why) if self.mode == SigningMode::Required => {
                return Err(Error::NotSigned { why });
            }
            Err(why) => {
                if started.elapsed() >= self.time_limit {
                    state.stopped = Some(why.clone());
                }
                self.failure = Some(why);
            }
        }
        Ok(true)
    }
}
