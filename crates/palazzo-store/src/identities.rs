//! By whom commits are made here, and whether they can be signed.

use gix::commit::sign::Options;

use crate::write::commit::GitIdentity;
use crate::write::signing;
use crate::write::signing::SIGNING_TIME_LIMIT;
use crate::{Error, Store};

impl Store {
    /// Returns the author and the committer, as `Ada <ada@example.org>`, of a commit by the user of
    /// this machine, whose login name is `user`; `None`: there is no repository.
    pub fn commit_identities(&self, user: &str) -> Result<Option<(String, String)>, Error> {
        let Some(repository) = self.repository()? else { return Ok(None) };
        let git = repository.git();
        let author = GitIdentity::configured_author_or(&git, user);
        let identities = [author, GitIdentity::for_committer(&git)];
        let [author, committer] = identities.map(|it| it.description());
        Ok(Some((author, committer)))
    }

    /// Tries to sign a text as a commit is signed; the error is the reason why that is impossible.
    /// `None`: commits are not to be signed.
    pub fn try_signing(&self) -> Option<Result<(), String>> {
        let git = self.repository().ok()??.git();
        let options = signing::read_signing_options(&git, SIGNING_TIME_LIMIT);
        let sign = |it: Options| signing::sign(&it, b"test\n", SIGNING_TIME_LIMIT).map(drop);
        options.transpose().map(|it| it.and_then(sign))
    }
}
