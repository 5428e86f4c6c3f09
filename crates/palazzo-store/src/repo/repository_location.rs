//! Finds the repository that contains a folder, and decides whether it needs the user's consent.
//! Every file is checked with `lstat` before it is opened.
//!
//! A `.git` file or link, or a `commondir` file, can point to any repository on this machine. Git
//! creates such files for linked worktrees and submodules, which are recognised by their path back
//! to the folder. All others need consent. What git does not accept as a repository is explained.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use gix::bstr::ByteSlice as _;

use palazzo_core::model::{Consent, path_text, quote_for_shell, quoted};

use crate::Error;
use crate::repo::regular_file;
use crate::repo::regular_file::SizeLimit;
use crate::repo::{config, git_files};

/// The location of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RepositoryLocation {
    /// The folder that contains `.git`.
    pub(crate) work: PathBuf,
    /// The git directory of this worktree, with `HEAD` and the index.
    pub(crate) git_dir: PathBuf,
    /// The directory shared by all worktrees, with objects and branches.
    pub(crate) common_dir: PathBuf,
}

/// Finds the nearest repository at or above `start`, a path without links; `None`: there is none,
/// or only a bare one.
pub(crate) fn locate_repository(start: &Path) -> Result<Option<RepositoryLocation>, Error> {
    for work in start.ancestors() {
        if let Some(git_dir) = find_git_dir(work)? {
            let common_dir = find_common_dir(&git_dir)?;
            let found = RepositoryLocation { work: work.to_owned(), git_dir, common_dir };
            config::reject_unsupported_format(&found.work, &found.common_dir)?;
            git_files::check_all_git_files(&found.git_dir, &found.common_dir)?;
            return Ok(Some(found));
        }
        check_bare_repository_files(work)?;
    }
    Ok(None)
}

impl RepositoryLocation {
    /// Returns the consent that this repository needs; `None`: it needs none, because it is inside
    /// its own folder, or is a linked worktree or a submodule.
    pub(crate) fn needed_consent(&self) -> Result<Option<Consent>, Error> {
        let is_inside =
            self.git_dir.starts_with(&self.work) && self.common_dir.starts_with(&self.work);
        if is_inside || self.is_linked_worktree()? || self.is_submodule()? {
            return Ok(None);
        }
        let folders = [&self.git_dir, &self.common_dir];
        Ok(Some(Consent::for_repository(&self.work, folders.map(PathBuf::as_path))))
    }

    /// Lists the files that determine where the repository is.
    pub(crate) fn location_files(&self) -> Vec<PathBuf> {
        let mut files = vec![self.git_dir.join("commondir"), self.git_dir.join("gitdir")];
        let git = self.work.join(".git");
        // A real folder changes with every file in it, and determines nothing.
        if git.is_symlink() || !git.is_dir() {
            files.push(git);
        }
        files
    }

    /// Returns true if the repository lists this folder as a worktree.
    fn is_linked_worktree(&self) -> Result<bool, Error> {
        if self.git_dir.parent() != Some(&self.common_dir.join("worktrees")) {
            return Ok(false);
        }
        let Some(path) = read_path_from_file(&self.git_dir.join("gitdir"), b"")? else {
            return Ok(false);
        };
        let is_git = path.file_name() == Some(OsStr::new(".git"));
        let back = path.parent().and_then(|it| dunce::canonicalize(it).ok());
        Ok(is_git && back.as_ref() == Some(&self.work))
    }

    /// Returns true if the repository is a submodule's and its configuration names this folder.
    fn is_submodule(&self) -> Result<bool, Error> {
        let names: Vec<_> = self.git_dir.iter().collect();
        let is_among_modules = names.windows(2).any(|it| it == [".git", "modules"]);
        if self.git_dir != self.common_dir || !is_among_modules {
            return Ok(false);
        }
        for name in ["config", "config.worktree"] {
            let worktree = read_core_worktree(&self.git_dir.join(name))?;
            let worktree = worktree.and_then(|it| dunce::canonicalize(self.git_dir.join(it)).ok());
            if worktree.as_ref() == Some(&self.work) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Returns the repository that the `.git` in `work` is or points to, without links; `None`: there
/// is no `.git`, or it is only a folder of that name.
fn find_git_dir(work: &Path) -> Result<Option<PathBuf>, Error> {
    let git = work.join(".git");
    let Some(metadata) = regular_file::lstat(&git)? else { return Ok(None) };
    let git_dir = match () {
        () if metadata.is_dir() => git,
        // Git follows a link to a folder; it needs the user's consent.
        () if metadata.is_symlink() && git.is_dir() => git,
        () if metadata.is_symlink() && !git.exists() => return Ok(None),
        () => match read_path_from_file(&git, b"gitdir: ")? {
            Some(path) => path,
            None => return Ok(None),
        },
    };
    // Without these it is no repository; opening it reports that.
    let is_repository =
        ["HEAD", "objects"].iter().any(|it| git_dir.join(it).symlink_metadata().is_ok())
            || git_dir.join("commondir").symlink_metadata().is_ok();
    if !is_repository {
        return Ok(None);
    }
    dunce::canonicalize(&git_dir).map(Some).map_err(Error::for_file("find", &git_dir))
}

/// Returns the folder with the objects and branches of the repository at `git_dir`.
fn find_common_dir(git_dir: &Path) -> Result<PathBuf, Error> {
    match read_path_from_file(&git_dir.join("commondir"), b"")? {
        None => Ok(git_dir.to_owned()),
        Some(path) => Ok(dunce::canonicalize(&path).unwrap_or(path)),
    }
}

/// Checks the files that are opened to find out whether `folder` is a bare repository.
fn check_bare_repository_files(folder: &Path) -> Result<(), Error> {
    let is_there = |name: &str| folder.join(name).symlink_metadata().is_ok();
    if !is_there("HEAD") {
        return Ok(());
    }
    // Only a folder with all three counts as a repository, but `HEAD` is opened first.
    for name in ["HEAD", "commondir", "gitdir"] {
        regular_file::check_regular_file(&folder.join(name), SizeLimit::Bounded)?;
    }
    match is_there("objects") && is_there("refs") {
        true => git_files::check_all_git_files(folder, folder),
        false => Ok(()),
    }
}

/// Reads the path after `prefix` in `file`, relative to the file's folder; `None`: there is no such
/// file, or no path in it.
fn read_path_from_file(file: &Path, prefix: &[u8]) -> Result<Option<PathBuf>, Error> {
    let Some(bytes) = regular_file::read_regular_file(file)? else { return Ok(None) };
    let path = bytes.strip_prefix(prefix).map(|it| it.trim_end().to_owned());
    let path = path.filter(|it| !it.is_empty()).and_then(|it| gix::path::from_bstring(it).ok());
    Ok(path.map(|it| file.parent().map_or(it.clone(), |folder| folder.join(&it))))
}

/// Returns the `core.worktree` setting of a configuration file.
fn read_core_worktree(file: &Path) -> Result<Option<PathBuf>, Error> {
    regular_file::check_regular_file(file, SizeLimit::Bounded)?;
    let source = gix::config::Source::Local;
    let config = gix::config::File::from_path_no_includes(file.to_owned(), source).ok();
    let value = config.and_then(|it| it.string("core.worktree"));
    Ok(value.and_then(|it| gix::path::from_bstring(it).ok()))
}

/// Explains why git does not accept `git_dir` as a repository; usually `HEAD` is damaged.
pub(crate) fn unreadable_repository_error(work: &Path, git_dir: &Path) -> Error {
    // Without a current folder, gix opens no repository, also at a whole path.
    if let Err(err) = std::env::current_dir() {
        return Error::for_file("find the current folder", Path::new("."))(err);
    }
    if git_dir.is_file() {
        return Error::DamagedRepository {
            place: work.to_owned(),
            what: format!("`{}` points to no repository", path_text(git_dir)),
            remedy: "restore the folder that this file names, or run `git worktree repair`"
                .to_owned(),
        };
    }
    let mut branches = Vec::new();
    let heads = git_dir.join("logs/refs/heads");
    for entry in walkdir::WalkDir::new(&heads).into_iter().flatten() {
        let name = entry.path().strip_prefix(&heads).ok().and_then(Path::to_str);
        branches.extend(name.filter(|_| entry.file_type().is_file()).map(str::to_owned));
    }
    branches.sort();
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "/._-".contains(it);
    let branch = match branches.as_slice() {
        [only] if only.chars().all(is_plain) => only,
        _ => "BRANCH",
    };
    let choices = match branches.as_slice() {
        [] | [_] => String::new(),
        several => {
            let names: Vec<_> = several.iter().map(|it| quoted(it)).collect();
            format!(" (existing branches: {})", names.join(", "))
        }
    };
    let head = git_dir.join("HEAD");
    let (head, word) = (path_text(&head), quote_for_shell(&head.display().to_string()));
    Error::DamagedRepository {
        place: work.to_owned(),
        what: format!("`HEAD` in `{}` is invalid", path_text(git_dir)),
        remedy: format!(
            "if `{head}` is empty or damaged, `printf 'ref: refs/heads/{branch}\\n' > {word}` \
             restores it{choices}; `git fsck` reports what else is wrong"
        ),
    }
}
