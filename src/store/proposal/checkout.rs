//! Makes the worktree of a proposal, and checks out the files of palaces in it.
//!
//! The steps are in an order in which a killed process leaves nothing that the next one could take
//! for a worktree: the git directory is built in `.git/palazzo` and renamed into
//! `.git/worktrees` when everything else is in place, and it excludes all files. A file counts as
//! checked out when the index says so, after it was written.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::bstr::ByteSlice as _;
use gix::objs::tree::EntryKind;

use crate::model::{CommitId, Files};
use crate::store::history::commits::HistoryReader;
use crate::store::proposal::branches::reflog_entry;
use crate::store::repo::blob_entry::{BlobEntry, tree_of_commit};
use crate::store::repo::failpoint;
use crate::store::repo::fsync;
use crate::store::repo::index_file;
use crate::store::repo::line_endings::DiskConversion;
use crate::store::repo::palazzo_file;
use crate::store::repo::paths;
use crate::store::repo::proposal_error::ProposalError;
use crate::store::repo::proposal_place::ProposalPlace;
use crate::store::repo::regular_file::read_line;
use crate::store::repo::rename;
use crate::store::repo::repository::Repository;
use crate::store::write::index::Staging;
use crate::store::write::palazzo_lock::LockTimeouts;
use crate::store::write::write_guard::WriteGuard;
use crate::store::{Error, Store};

/// The folder in `.git/palazzo` in which the git directory of a worktree is built.
const BUILD_FOLDER: &str = "new-worktree";
/// The folder of a palace with files for editors, and how many of them are checked out.
const GENERATED_FOLDER: &str = ".palazzo/";
const MAX_GENERATED_FILES: usize = 100;

/// Returns whether the worktree of a proposal is there, with its git directory.
pub(crate) fn has_worktree(place: &ProposalPlace) -> Result<bool, Error> {
    let back = read_line(&place.git_dir.join("gitdir"))?.map(PathBuf::from);
    let there = read_line(&place.worktree.join(".git"))?;
    let there = there.as_deref().and_then(|it| it.strip_prefix("gitdir: ")).map(Path::new);
    Ok(back == Some(place.worktree.join(".git")) && there == Some(&place.git_dir))
}

/// Writes the file `.git` of the worktree again if it is gone, or was not written completely.
pub(crate) fn repair_git_file(place: &ProposalPlace) -> Result<(), Error> {
    let file = place.worktree.join(".git");
    let back = read_line(&place.git_dir.join("gitdir"))?.map(PathBuf::from);
    if back.as_ref() != Some(&file) || !palazzo_file::is_real_folder(&place.worktree) {
        return Ok(());
    }
    let expected = git_file_text(place);
    let there = read_line(&file)?.unwrap_or_default();
    if there == expected.trim_end() || !expected.starts_with(&there) {
        return Ok(());
    }
    fs::write(&file, expected).map_err(Error::for_file("write", &file))
}

/// Returns the content of the file `.git` of the worktree.
fn git_file_text(place: &ProposalPlace) -> String {
    format!("gitdir: {}\n", paths::path_for_git(&place.git_dir))
}

/// Makes the worktree with the commit `tip` of its branch, without files. Replaces what is left of
/// one that was deleted, or of one that was not finished. The caller holds the write lock.
pub(crate) fn create_worktree(
    repository: &Repository,
    place: &ProposalPlace,
    tip: ObjectId,
) -> Result<(), Error> {
    reject_other_folder(&place.worktree)?;
    create_worktrees_folder(place)?;
    remove_folder(&place.git_dir)?;
    let build = build_git_dir(repository, place, tip)?;
    let create = || -> io::Result<()> {
        fs::create_dir_all(&place.worktree)?;
        failpoint::kill_point("folder of the worktree is made");
        fs::write(place.worktree.join(".git"), git_file_text(place))?;
        failpoint::kill_point("`.git` of the worktree is written");
        rename::rename(&build, &place.git_dir)
    };
    create().map_err(Error::for_file("make the worktree", &place.worktree))?;
    fsync::sync_files_and_folders(&[place.worktree.join(".git"), place.git_dir.clone()])
}

/// Removes the worktree and its git directory, so that it can be made again.
pub(crate) fn remove_worktree(place: &ProposalPlace) -> Result<(), Error> {
    // Without its folder it is a worktree that was deleted, at every step.
    let mut old = place.worktree.clone().into_os_string();
    old.push("~");
    let old = PathBuf::from(old);
    remove_folder(&old)?;
    let moved = rename::rename(&place.worktree, &old);
    moved.map_err(Error::for_file("move the worktree", &place.worktree))?;
    remove_folder(&place.git_dir)?;
    remove_folder(&old)
}

/// Creates the folder with the git directories of all worktrees; fails if a link is in its place.
fn create_worktrees_folder(place: &ProposalPlace) -> Result<(), Error> {
    let folder = place.common_dir.join("worktrees");
    let create = || match place.shared_mode.create_dir(&folder) {
        Err(err) if err.kind() != io::ErrorKind::AlreadyExists => Err(err),
        _ if !palazzo_file::is_real_folder(&folder) => {
            Err(io::Error::new(io::ErrorKind::InvalidData, "it is not a folder"))
        }
        _ => Ok(()),
    };
    create().map_err(Error::for_file("use the folder", &folder))
}

/// Builds the git directory of the worktree; returns where.
fn build_git_dir(
    repository: &Repository,
    place: &ProposalPlace,
    tip: ObjectId,
) -> Result<PathBuf, Error> {
    let build = place.palazzo_file(BUILD_FOLDER);
    remove_folder(&build)?;
    let null = ObjectId::null(tip.kind());
    let log = format!("{null} {tip} {}\n", reflog_entry(repository, "proposal: make the worktree"));
    let write = || -> io::Result<()> {
        palazzo_file::create_parent_folders(&place.common_dir, BUILD_FOLDER, place.shared_mode)?;
        fs::create_dir(&build)?;
        fs::write(build.join("HEAD"), format!("ref: {}\n", place.branch_ref))?;
        fs::write(build.join("commondir"), "../..\n")?;
        // By its last line a deleted branch is restored.
        fs::create_dir(build.join("logs"))?;
        fs::write(build.join("logs/HEAD"), &log)?;
        let back = paths::path_for_git(&place.worktree.join(".git"));
        fs::write(build.join("gitdir"), back + "\n")
    };
    write().map_err(Error::for_file("make the worktree", &build))?;
    let write = || {
        let history = HistoryReader::new(repository);
        let tree = history.root_tree(tip)?;
        index_file::write_index_without_files(&history.git, tree, &build.join("index"))?;
        place.shared_mode.adjust_all(&build).map_err(gix::Error::from_error)
    };
    write().map_err(|err| repository.git_error("make the index of a worktree", err))?;
    let files = ["HEAD", "commondir", "gitdir", "index", "logs/HEAD"].map(|it| build.join(it));
    fsync::sync_files_and_folders(&files)?;
    Ok(build)
}

/// Fails if the folder of a worktree has files although it is no worktree.
fn reject_other_folder(worktree: &Path) -> Result<(), Error> {
    let place = worktree.to_owned();
    let entries = match fs::read_dir(worktree) {
        Ok(entries) => entries,
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(err) => return Err(Error::for_file("list", worktree)(err)),
    };
    // The file `.git` is the first that is written.
    let is_other = |it: io::Result<fs::DirEntry>| it.is_ok_and(|it| it.file_name() != ".git");
    match entries.into_iter().any(is_other) || !palazzo_file::is_real_folder(worktree) {
        true => Err(ProposalError::PlaceTaken { place }.into()),
        false => Ok(()),
    }
}

fn remove_folder(folder: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(folder) {
        Err(err) if err.kind() != io::ErrorKind::NotFound => {
            Err(Error::for_file("remove", folder)(err))
        }
        _ => Ok(()),
    }
}

/// Checks out the files of a palace that are not there yet. `store` is the palace in the worktree.
/// The caller holds the write lock.
pub(crate) fn check_out_palace(
    store: &Store,
    tip: ObjectId,
    guard: &WriteGuard,
) -> Result<(), Error> {
    let repository = store.require_repository()?;
    let (git, timeouts) = (repository.git(), LockTimeouts::default());
    let mut record = |path: &Path, inode: u64| guard.record_lock_file(path, inode);
    let staging = Staging::open(&repository, &git, None, &timeouts, &mut record)?;
    let texts = read_palace(store, tip, &staging, &repository.prefix)?;
    let mut written = Vec::new();
    let failed = |err| repository.git_error("check out the files of a proposal", err);
    let mut conversion = DiskConversion::new(&git, staging.index()).map_err(failed)?;
    let paths = texts.keys().map(|it| format!("{}{it}", repository.prefix));
    let excluded = paths.filter(|it| staging.excluded_file(it).is_some());
    reject_filtered_files(&mut conversion, excluded).map_err(failed)??;
    for (path, text) in &texts {
        let path = format!("{}{path}", repository.prefix);
        let Some(entry) = staging.excluded_file(&path) else { continue };
        let bytes = conversion.convert(&path, text).map_err(failed)?;
        write_file(&repository.work, &path, entry.kind, &bytes)?;
        written.push((path, entry));
    }
    drop(conversion);
    if written.is_empty() {
        return Ok(());
    }
    stage(&repository, staging, &written)
}

/// Fails if git would run a filter on a file of a palace in a commit. `palace` is in the working
/// directory of the person, or where it would be there.
pub(crate) fn reject_filtered_palace(palace: &Store, commit: ObjectId) -> Result<(), Error> {
    let repository = palace.require_repository()?;
    let (git, id) = (repository.git(), CommitId(commit.to_string()));
    let (texts, _) = palace.as_of(&id)?.read_all_past_files()?.unwrap_or_default();
    let check = || {
        let index = git.index_from_tree(&tree_of_commit(&git, Some(commit))?)?;
        let mut conversion = DiskConversion::new(&git, &index)?;
        let paths = texts.keys().map(|it| format!("{}{it}", repository.prefix));
        reject_filtered_files(&mut conversion, paths)
    };
    check().map_err(|err| repository.git_error("read attributes", err))??;
    Ok(())
}

/// Lists the files that git would convert in an unsupported way; the inner error names them.
fn reject_filtered_files(
    conversion: &mut DiskConversion<'_>,
    paths: impl Iterator<Item = String>,
) -> gix::Result<Result<(), ProposalError>> {
    let (mut files, mut attribute) = (Vec::new(), None);
    for path in paths {
        if let Some(found) = conversion.converting_attribute(&path)? {
            attribute.get_or_insert(found);
            files.push(path);
        }
    }
    let filtered = |attribute| Err(ProposalError::FilteredFiles { files, attribute });
    Ok(attribute.map_or(Ok(()), filtered))
}

/// Reads the files of a palace in a commit, also those that Palazzo makes for editors.
fn read_palace(
    store: &Store,
    commit: ObjectId,
    staging: &Staging<'_>,
    prefix: &str,
) -> Result<Files, Error> {
    let commit = CommitId(commit.to_string());
    let (mut texts, _) = store.as_of(&commit)?.read_all_past_files()?.unwrap_or_default();
    let folder = format!("{prefix}{GENERATED_FOLDER}");
    let index = staging.index();
    let generated = index.prefixed_entries(folder.as_str().into()).unwrap_or_default();
    for entry in generated.iter().take(MAX_GENERATED_FILES) {
        let Ok(path) = entry.path(index).to_str() else { continue };
        let path = &path[prefix.len()..];
        if let Ok(Some(text)) = store.read_file_at(&commit, path)? {
            texts.insert(path.to_owned(), text);
        }
    }
    Ok(texts)
}

/// Writes the index, in which the written files are no longer excluded.
fn stage(
    repository: &Repository,
    mut staging: Staging<'_>,
    written: &[(String, BlobEntry)],
) -> Result<(), Error> {
    let places = || written.iter().map(|(path, _)| repository.work.join(path)).collect();
    fsync::sync_file_systems_or_files(&[&repository.work], places)?;
    staging.stage_files(written.iter().map(|(path, entry)| {
        let stat = index_file::stat_file(&repository.work.join(path));
        (path.as_str().into(), Some(*entry), stat)
    }));
    staging.write_to_lock_file()?;
    staging.replace_index().map(drop)
}

fn write_file(work: &Path, path: &str, kind: EntryKind, bytes: &[u8]) -> Result<(), Error> {
    paths::reject_symbolic_links(work, path)?;
    let place = work.join(path);
    let write = || -> io::Result<()> {
        if let Some(folder) = place.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&place, bytes)?;
        failpoint::kill_point("file is checked out");
        set_executable(&place, kind == EntryKind::BlobExecutable)
    };
    write().map_err(Error::for_file("write", &place))
}

/// Lets the user execute a file, if it is executable in git.
#[cfg(unix)]
pub(crate) fn set_executable(file: &Path, is_executable: bool) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    match is_executable {
        true => fs::set_permissions(file, fs::Permissions::from_mode(0o755)),
        false => Ok(()),
    }
}

/// Does nothing: Windows has no such permission, and git keeps the mode of committed files.
#[cfg(windows)]
pub(crate) fn set_executable(_: &Path, _: bool) -> io::Result<()> {
    Ok(())
}
