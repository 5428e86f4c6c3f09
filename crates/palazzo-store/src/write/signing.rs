//! Signs the commits of one write, if the configuration of the user or the system asks for that.
//!
//! A signing program may take long, so none runs while a lock is held. A commit whose signature is
//! missing makes the write fail before anything is visible; the locks are released, the commit is
//! signed, and the write is planned and tried again. If `HEAD` has moved meanwhile, the commit is
//! another one, and is signed again. All signatures of one write share one time limit.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::repo::repository::Repository;
use crate::write::signing_program;
use crate::{CommitWarning, Error};
use palazzo_core::model::SigningMode;

/// How long signing may last for one write, in total.
pub(crate) const SIGNING_TIME_LIMIT: Duration = Duration::from_secs(10);
/// How many commits of one write are signed; `HEAD` may move while one is, and a program may be
/// fast.
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
#[derive(Debug)]
pub(crate) struct Signer {
    mode: SigningMode,
    time_limit: Duration,
    /// How much of the time limit is left.
    time_left: Duration,
    /// By the content of the commit without its signature.
    signatures: HashMap<Vec<u8>, String>,
    /// The commit that has to be signed before the write can be tried again.
    waiting: Mutex<Option<Vec<u8>>>,
    /// Why commits stay without a signature.
    failure: Option<String>,
}

impl Default for SigningState {
    fn default() -> Self {
        let (mode, time_limit) = (SigningMode::default(), SIGNING_TIME_LIMIT);
        Self { mode, time_limit, reported: None, stopped: None }
    }
}

impl SigningState {
    /// Returns the signer of one write for its next attempt: the one of the last attempt, or a new one.
    pub(crate) fn signer(&self, last: Option<Signer>) -> Signer {
        let signer = last.unwrap_or_else(|| self.new_signer());
        // The settings may have changed since the last attempt.
        let failure = signer.failure.filter(|_| self.mode != SigningMode::Required);
        Signer { mode: self.mode, failure, waiting: Mutex::new(None), ..signer }
    }

    fn new_signer(&self) -> Signer {
        let stopped = self.stopped.clone();
        Signer {
            mode: self.mode,
            time_limit: self.time_limit,
            time_left: self.time_limit,
            signatures: HashMap::new(),
            waiting: Mutex::new(None),
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
    /// Returns the signature of a commit with the content `payload`; `None`: it is written without
    /// one. Fails if it has to be signed first.
    pub(crate) fn find_signature(
        &self,
        git: &gix::Repository,
        payload: &[u8],
    ) -> gix::Result<Option<&str>> {
        let is_wanted = git.config_snapshot().boolean("commit.gpgSign") == Some(true);
        if !is_wanted || self.mode == SigningMode::Never {
            return Ok(None);
        }
        match self.signatures.get(payload) {
            Some(signature) => Ok(Some(signature)),
            None if self.failure.is_some() => Ok(None),
            None => {
                let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
                *waiting = Some(payload.to_owned());
                let err = std::io::Error::other("the commit is not signed yet");
                Err(gix::Error::from_error(err))
            }
        }
    }

    /// Returns whether a commit has to be signed before the write can be tried again.
    pub(crate) fn is_waiting(&self) -> bool {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Signs the commit that waits for it, if one does. The caller holds no lock.
    pub(crate) fn sign_waiting_commit(
        &mut self,
        repository: &Repository,
        state: &mut SigningState,
    ) -> Result<(), Error> {
        let waiting = self.waiting.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let Some(payload) = waiting else { return Ok(()) };
        let started = Instant::now();
        let signed = self.sign_in_time(&repository.git(), &payload);
        let elapsed = started.elapsed();
        self.time_left = self.time_left.saturating_sub(elapsed);
        match signed {
            Ok(signature) => drop(self.signatures.insert(payload, signature)),
            Err(why) if self.mode == SigningMode::Required => {
                return Err(Error::NotSigned { why });
            }
            Err(why) => {
                if elapsed >= self.time_limit {
                    state.stopped = Some(why.clone());
                }
                self.failure = Some(why);
            }
        }
        Ok(())
    }

    /// Signs a commit within the time that is left; the error is the reason, in a few words.
    fn sign_in_time(&self, git: &gix::Repository, payload: &[u8]) -> Result<String, String> {
        if self.signatures.len() >= MAX_SIGNATURES {
            return Err(format!("`HEAD` has moved during each of {MAX_SIGNATURES} signatures"));
        }
        let (started, limit) = (Instant::now(), self.time_left);
        let options = signing_program::read_signing_options(git, limit);
        let signed = options.and_then(|it| match it {
            Some(options) => {
                let left = limit.saturating_sub(started.elapsed());
                signing_program::sign(&options, payload, left)
            }
            None => Err("the configuration has changed".to_owned()),
        });
        let is_late = limit < self.time_limit && started.elapsed() >= limit;
        signed.map_err(|why| if is_late { self.describe_lateness() } else { why })
    }

    fn describe_lateness(&self) -> String {
        let (seconds, count) = (self.time_limit.as_secs(), self.signatures.len() + 1);
        format!("{count} signatures for one change took more than {seconds} seconds in total")
    }
}
