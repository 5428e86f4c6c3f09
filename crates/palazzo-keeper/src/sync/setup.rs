//! The user's consent to synchronize a repository.

use std::time::Duration;

use crate::Refusal;
use crate::merge::MERGE_RULES_VERSION;
use crate::sync::repositories::SyncedRepository;
use palazzo_store::SyncSession;

/// What was set up.
#[derive(Clone, Debug)]
pub struct SyncSetup {
    /// The branch and the remote, for a message.
    pub upstream: String,
    /// Whether there was no such upstream before.
    pub is_new_upstream: bool,
    /// The number of commits that the first synchronization pushes, if that is known.
    pub ahead: Option<usize>,
}

/// Stores the user's consent to synchronize a repository with the upstream of its branch. `url`
/// gives a branch without an upstream one. A repository with other files must not differ from the
/// upstream in them.
pub fn set_up_sync(
    repository: &SyncedRepository,
    url: Option<&str>,
    time_limit: Duration,
    lock_timeout: Duration,
) -> Result<SyncSetup, Refusal> {
    let store = repository.store();
    let is_new_upstream = url.is_some() && store.upstream().is_err();
    let upstream = match url {
        Some(url) => store.add_upstream(url)?,
        None => store.upstream()?,
    };
    let ahead = if store.has_files_of_no_palace()? {
        let mut session = SyncSession::begin(repository.store(), time_limit, lock_timeout)?;
        session.fetch()?;
        Some(session.compare(MERGE_RULES_VERSION)?.ahead)
    } else {
        store.sync_status().ok().and_then(|it| it.ahead)
    };
    repository.allow(&upstream)?;
    Ok(SyncSetup { upstream: upstream.description(), is_new_upstream, ahead })
}
