//! The upstream of the current branch, as the repository's configuration names it, and what is known
//! about it without reaching it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use gix::bstr::BString;

use palazzo_core::model::{Consent, GitUrl, NoteFolders, quoted, quoted_unless_plain};

use crate::history::commits::HistoryReader;
use crate::repo::note_folders::NotesOfRepository;
use crate::repo::references;
use crate::repo::repository::Repository;
use crate::sync::error::SyncError;
use crate::sync::record::SyncRecord;
use crate::write::git_drivers;
use crate::{Error, Store};

/// The name of a remote that `palazzo sync --setup URL` adds.
const NEW_REMOTE: &str = "origin";

/// The branch on another machine with which the current branch is synchronized.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    /// The working directory of the repository.
    pub work: PathBuf,
    /// The current branch: `main`.
    pub branch: String,
    /// The name of the remote: `origin`.
    pub remote: String,
    /// The URL of the remote.
    pub url: GitUrl,
    /// The full name of the branch there: `refs/heads/main`.
    pub remote_ref: String,
}

impl Upstream {
    /// Returns the reference to the commit that the remote had when it was last reached.
    pub(crate) fn tracking_ref(&self) -> String {
        let name = self.remote_ref.strip_prefix("refs/heads/").unwrap_or(&self.remote_ref);
        format!("refs/remotes/{}/{name}", self.remote)
    }

    /// Returns the remote and the branch there: `origin/main`.
    pub fn short_name(&self) -> String {
        let name = self.remote_ref.strip_prefix("refs/heads/").unwrap_or(&self.remote_ref);
        format!("{}/{name}", self.remote)
    }

    /// Returns the branch and the remote for a message: `main of origin (https://…)`.
    pub fn description(&self) -> String {
        let name = self.remote_ref.strip_prefix("refs/heads/").unwrap_or(&self.remote_ref);
        let (remote, url) = (&self.remote, self.url.to_string());
        let [remote, url] = [remote, &url].map(|it| quoted_unless_plain(it));
        format!("{} of {remote} ({url})", quoted(name))
    }
}

impl Store {
    /// Creates a store for the whole repository around the palace, whose paths begin at the
    /// working directory; `None`: there is no repository.
    pub fn for_whole_repository(&self) -> Result<Option<Self>, Error> {
        let Some(repository) = self.repository()? else { return Ok(None) };
        let work = repository.work.clone();
        Ok(Some(self.store_of_work(&work)))
    }

    /// Sets the notes that are synchronized with the palaces of the whole repository: the folders of
    /// notes of each palace, which has the folder `prefix` in the repository, empty or ending in `/`.
    /// Later clones of the store have them too.
    pub fn set_synced_notes(&mut self, palaces: &[(String, NoteFolders)]) {
        let notes = Arc::new(NotesOfRepository::new(palaces));
        if let Ok(Some(repository)) = self.repository() {
            repository.set_synced_notes(notes.clone());
        }
        self.repository.synced_notes = notes;
    }

    /// Returns the upstream of the current branch. Only `.git/config` is read, never a file of
    /// the palace.
    pub fn upstream(&self) -> Result<Upstream, Error> {
        let repository = self.require_repository()?;
        let branch = current_branch(&repository)?;
        let setting =
            |section: &str, name: &str, key: &str| setting(&repository, section, name, key);
        let remote = setting("branch", &branch, "remote").filter(|it| it != ".");
        let remote_ref = setting("branch", &branch, "merge");
        let (Some(remote), Some(remote_ref)) = (remote, remote_ref) else {
            return Err(SyncError::NoUpstream { branch }.into());
        };
        let Some(url) = setting("remote", &remote, "url") else {
            return Err(SyncError::NoUpstream { branch }.into());
        };
        if setting("remote", &remote, "pushurl").is_some_and(|it| it != url) {
            return Err(SyncError::SeparatePushUrl { remote }.into());
        }
        if !is_plain_name(&remote) || !remote_ref.starts_with("refs/heads/") {
            return Err(SyncError::UnusableUpstream { remote, remote_ref }.into());
        }
        let url = parse_url(&repository, &url)?;
        Ok(Upstream { work: repository.work.clone(), branch, remote, url, remote_ref })
    }

    /// Adds the remote `origin` with this URL and makes it the upstream of the current branch, if
    /// the branch has none.
    pub fn add_upstream(&self, url: &str) -> Result<Upstream, Error> {
        let repository = self.require_repository()?;
        let branch = current_branch(&repository)?;
        let url = parse_url(&repository, url)?;
        check_local_remote(&repository, &url)?;
        match self.upstream() {
            Err(Error::Sync(SyncError::NoUpstream { .. })) => {}
            Ok(known) if known.url == url => return Ok(known),
            Ok(known) => return Err(SyncError::OtherUpstream { known: known.description() }.into()),
            Err(err) => return Err(err),
        }
        if setting(&repository, "remote", NEW_REMOTE, "url").is_some_and(|it| it != url.as_str()) {
            return Err(SyncError::OtherUpstream { known: NEW_REMOTE.to_owned() }.into());
        }
        let lines = [
            format!("[remote \"{NEW_REMOTE}\"]"),
            format!("\turl = {}", quote_value(url.as_str())),
            format!("\tfetch = +refs/heads/*:refs/remotes/{NEW_REMOTE}/*"),
            format!("[branch \"{branch}\"]"),
            format!("\tremote = {NEW_REMOTE}"),
            format!("\tmerge = refs/heads/{branch}"),
        ];
        let deadline = Instant::now() + self.writer.lock_timeouts.index;
        git_drivers::write_configuration(&repository, deadline, |text| {
            git_drivers::append_lines(text, &lines)
        })?;
        self.repository.recheck_on_next_use();
        self.upstream()
    }

    /// Returns the state of the current branch as last fetched.
    pub fn sync_status(&self) -> Result<SyncStatus, Error> {
        let upstream = self.upstream()?;
        let repository = self.require_repository()?;
        let ours = repository.head()?.ok_or(SyncError::NoCommit)?;
        let theirs = references::find_ref(&repository, &upstream.tracking_ref())?;
        let history = HistoryReader::new(&repository);
        let count = |tip, hidden| -> gix::Result<usize> {
            history.walk_commits([tip], [hidden])?.try_fold(0, |sum, it| it.map(|_| sum + 1))
        };
        let failed = |err| repository.git_error("count commits", err);
        let ahead = theirs.map(|it| count(ours, it)).transpose().map_err(failed)?;
        let behind = theirs.map(|it| count(it, ours)).transpose().map_err(failed)?;
        Ok(SyncStatus { upstream, ahead, behind, record: self.sync_record() })
    }

    /// Returns whether the user allows to synchronize with the upstream.
    pub fn is_sync_allowed(&self, upstream: &Upstream) -> Result<bool, Error> {
        self.repository.consents.is_allowed(&Consent::for_sync(&upstream.work, &upstream.url))
    }
}

/// The state of the current branch compared with its upstream, as last fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncStatus {
    /// The upstream.
    pub upstream: Upstream,
    /// The number of commits that the remote lacks; `None`: it was never reached.
    pub ahead: Option<usize>,
    /// The number of commits of the remote that are missing here; `None`: it was never reached.
    pub behind: Option<usize>,
    /// What is known of the last synchronizations.
    pub record: SyncRecord,
}

fn current_branch(repository: &Repository) -> Result<String, Error> {
    let name =
        repository.git().head_name().map_err(|it| repository.git_error("read `HEAD`", it))?;
    let branch = name.map(|it| it.shorten().to_string());
    let branch = branch.filter(|it| !it.contains(['"', '\\', '\n']));
    let error = || match repository.is_kept_by_jj() {
        true => SyncError::JjRepository,
        false => SyncError::NoBranch,
    };
    branch.ok_or_else(|| error().into())
}

/// Returns a setting of a named section: `[remote "origin"] url`.
fn setting(repository: &Repository, section: &str, name: &str, key: &str) -> Option<String> {
    let git = repository.git();
    let config = git.config_snapshot();
    let value: BString = config.plumbing().string_by(section, Some(name.into()), key)?;
    String::from_utf8(value.into()).ok()
}

/// Parses the URL of a remote; a path becomes a `file://` URL.
fn parse_url(repository: &Repository, url: &str) -> Result<GitUrl, Error> {
    let text = match GitUrl::looks_like_url(url) {
        true => url.to_owned(),
        false => file_url(&repository.work.join(url)),
    };
    text.parse().map_err(|err| SyncError::InvalidUrl(err).into())
}

/// Returns the URL of a path as git reads it: `file:///C:/repository` on Windows.
fn file_url(path: &Path) -> String {
    let path = path.display().to_string();
    let path = if cfg!(windows) { path.replace('\\', "/") } else { path };
    match (path.starts_with("//"), path.starts_with('/')) {
        // `//server/share`
        (true, _) if cfg!(windows) => format!("file:{path}"),
        (_, true) => format!("file://{path}"),
        (_, false) => format!("file:///{path}"),
    }
}

/// Fails if a remote on this machine does not exist, or is the repository of the palace itself.
fn check_local_remote(repository: &Repository, url: &GitUrl) -> Result<(), Error> {
    let Some(path) = url.as_str().strip_prefix("file://").filter(|_| url.is_local()) else {
        return Ok(());
    };
    // `/C:/repository`
    let drive = path.strip_prefix('/').filter(|it| cfg!(windows) && it.get(1..2) == Some(":"));
    let path = || drive.unwrap_or(path).to_owned();
    let Ok(found) = dunce::canonicalize(path()) else {
        return Err(SyncError::NoRepositoryAtPath { path: path() }.into());
    };
    let own = [&repository.work, &repository.common_dir];
    match own.iter().any(|it| dunce::canonicalize(it).is_ok_and(|it| it == found)) {
        true => Err(SyncError::OwnRepository { path: path() }.into()),
        false => Ok(()),
    }
}

/// Returns whether the name of a remote can be part of a reference and of a path.
fn is_plain_name(remote: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/');
    remote.chars().all(is_plain) && !remote.starts_with('-') && !remote.contains("..")
}

fn quote_value(value: &str) -> String {
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}
