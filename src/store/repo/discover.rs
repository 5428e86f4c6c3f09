//! Finds the repository that a palace belongs to, and creates one if there is none.

use std::path::Path;

use crate::store::Error;
use crate::store::repo::consents::ConsentStore;
use crate::store::repo::repository::Repository;
use crate::store::repo::{git_files, regular_file};
use crate::store::write::index;

/// Finds the repository that contains `palace`; `None`: there is none, or it ignores the palace.
pub(crate) fn find_repository(
    palace: &Path,
    consents: &ConsentStore,
    isolated: bool,
) -> Result<Option<Repository>, Error> {
    let Some(found) = Repository::find(palace, consents, isolated)? else { return Ok(None) };
    Ok(if ignores_palace(&found)? { None } else { Some(found) })
}

/// Creates a repository for `palace`, unless another process has just created it.
pub(crate) fn create_repository(
    palace: &Path,
    home: &Path,
    consents: &ConsentStore,
    isolated: bool,
) -> Result<(), Error> {
    // A repository at the home either ignores the palace, or was created meanwhile.
    let is_taken = home.join(".git").symlink_metadata().is_ok();
    if is_taken && find_repository(palace, consents, isolated)?.is_some() {
        return Ok(());
    }
    Repository::create(palace, home, isolated)
}

/// Returns true if `.gitignore` excludes the palace and none of its files are in the index.
fn ignores_palace(repository: &Repository) -> Result<bool, Error> {
    if repository.prefix.is_empty() {
        return Ok(false);
    }
    let git = repository.git();
    git_files::check_gitignores(&repository.work, &repository.prefix)?;
    if let Ok(Some(file)) = git.config_snapshot().trusted_path("core.excludesFile") {
        regular_file::check_link_target(&file)?;
    }
    let ignored = || -> gix::Result<bool> {
        let index = index::load_or_rebuild_index(&git)?;
        let source = gix::worktree::stack::state::ignore::Source::WorktreeThenIdMappingIfNotSkipped;
        let mut excludes = git.excludes(&index, None, source)?;
        let folder = repository.prefix.trim_end_matches('/');
        let is_ignored =
            excludes.at_path(folder, Some(gix::index::entry::Mode::DIR))?.is_excluded();
        Ok(is_ignored && index.prefixed_entries(repository.prefix.as_str().into()).is_none())
    };
    ignored().map_err(|err| repository.git_error("read what is ignored", err))
}
