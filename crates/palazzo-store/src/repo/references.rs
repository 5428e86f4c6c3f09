//! Where git keeps a reference (gitrepository-layout(5)), what it points to, and its log.

use std::path::Path;

use gix::ObjectId;
use gix::refs::{FullName, Target};

use crate::Error;
use crate::repo::repository::Repository;
use crate::repo::{git_files, regular_file};

/// References of a single worktree (gitrepository-layout(5)), besides those like `HEAD`.
const PER_WORKTREE_REFS: [&str; 3] = ["refs/bisect/", "refs/worktree/", "refs/rewritten/"];

/// Returns the git directory that contains the reference `name`.
pub(crate) fn git_dir_of_ref<'r>(repository: &'r Repository, name: &str) -> &'r Path {
    let is_per_worktree =
        !name.contains('/') || PER_WORKTREE_REFS.iter().any(|it| name.starts_with(it));
    if is_per_worktree { &repository.git_dir } else { &repository.common_dir }
}

/// Returns what the reference `name` points to. `packed-refs` is read only if the reference has no
/// file of its own.
pub(crate) fn find_reference_target(
    repository: &Repository,
    name: &str,
) -> Result<Option<Target>, Error> {
    let file = git_dir_of_ref(repository, name).join(name);
    if let Some(target) = git_files::parse_ref(&git_files::read_ref_file(&file)?) {
        return Ok(Some(target));
    }
    let find = || -> gix::Result<_> {
        let name = FullName::try_from(name).map_err(gix::Error::from_error)?;
        Ok(repository.git().refs.try_find(name.as_ref())?.map(|it| it.target))
    };
    find().map_err(|err| repository.git_error("read a reference", err))
}

/// Returns the commit that a reference points to; `None`: there is no such reference.
pub(crate) fn find_ref(repository: &Repository, name: &str) -> Result<Option<ObjectId>, Error> {
    let git = repository.git();
    let find = || -> gix::Result<_> {
        let Some(found) = git.try_find_reference(name)? else { return Ok(None) };
        Ok(Some(found.into_fully_peeled_id()?.detach()))
    };
    find().map_err(|err| repository.git_error("read a reference", err))
}

/// Lists the commits in a reference's log, newest first; none if it cannot be read.
pub(crate) fn read_reflog(log: &Path) -> Vec<ObjectId> {
    let text = regular_file::read_regular_file(log).ok().flatten().unwrap_or_default();
    let lines = text.split(|it| *it == b'\n');
    let id = |line: &[u8]| ObjectId::from_hex(line.get(41..81)?).ok();
    let mut ids: Vec<_> = lines.filter_map(id).filter(|it| !it.is_null()).collect();
    ids.reverse();
    ids
}
