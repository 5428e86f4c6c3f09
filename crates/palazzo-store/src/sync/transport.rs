//! Fetches and pushes through a bare repository of its own.
//!
//! `git` never works in the palace's repository: it would read `.git/config` and run hooks, which
//! may come from a stranger and name programs (`core.sshCommand`, `credential.helper`,
//! `remote.origin.uploadpack`), other URLs (`url.….insteadOf`) or more files (`include.path`). It
//! works in `.git/palazzo/transport`, which is made for one synchronization: a repository without
//! hooks and settings, which borrows the objects of the palace's. What counts are the settings of
//! the user and of the system. Fetched objects stay there until they were checked.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gix::ObjectId;

use crate::Error;
use crate::remote::git_process::{EndedGit, GitProcess, GitProcessError};
use crate::repo::failpoint;
use crate::repo::fsync;
use crate::repo::palazzo_file;
use crate::repo::rename;
use crate::repo::repository::{ALLOCATION_LIMIT, PACK_SLOTS, Repository};
use crate::sync::error::SyncError;
use crate::sync::upstream::Upstream;

/// The name of the folder in `.git/palazzo`.
const FOLDER: &str = "transport";
/// The maximum size in bytes of what is fetched.
const SIZE_LIMIT: u64 = 256 << 20;
/// The reference to the fetched commit.
const FETCHED_REF: &str = "refs/remotes/fetched";
/// Settings of fetch and push, besides those of every git process. Fetched objects become packs,
/// and a repository is not asked for the references of the one that it borrows objects from.
const SETTINGS: [&str; 3] =
    ["core.alternateRefsCommand=true", "fetch.unpackLimit=1", "core.fsync=committed"];

/// A bare repository for one synchronization, removed with this value. The caller holds the lock
/// for synchronizing.
#[derive(Debug)]
pub(crate) struct Transport {
    folder: PathBuf,
    common_dir: PathBuf,
    time_limit: Duration,
    /// Ends every run of git.
    cancelled: Arc<AtomicBool>,
}

impl Transport {
    /// Creates the repository. `tips` are the commits that the remote may know.
    pub(crate) fn create(
        repository: &Repository,
        tips: &[ObjectId],
        time_limit: Duration,
        cancelled: Arc<AtomicBool>,
    ) -> Result<Self, Error> {
        let common_dir = repository.common_dir.clone();
        let folder = palazzo_file::palazzo_file_path(&common_dir, FOLDER);
        let create = || -> io::Result<()> {
            palazzo_file::create_parent_folders(&common_dir, FOLDER, repository.shared_mode)?;
            remove_leftovers(&folder)?;
            failpoint::fail_point("create transport")?;
            fs::create_dir(&folder)?;
            for part in ["refs/heads", "objects/info", "objects/pack"] {
                fs::create_dir_all(folder.join(part))?;
            }
            fs::write(folder.join("HEAD"), "ref: refs/heads/none\n")?;
            let shared_mode = repository.shared_mode.config_line();
            let config =
                format!("[core]\n\trepositoryformatversion = 0\n\tbare = true\n{shared_mode}");
            fs::write(folder.join("config"), config)?;
            fs::write(folder.join("objects/info/alternates"), "../../../objects\n")?;
            for (number, tip) in tips.iter().enumerate() {
                fs::write(folder.join(format!("refs/heads/known-{number}")), format!("{tip}\n"))?;
            }
            let shallow = common_dir.join("shallow");
            if shallow.exists() {
                fs::copy(shallow, folder.join("shallow"))?;
            }
            repository.shared_mode.adjust_all(&folder)
        };
        create().map_err(Error::for_file("create", &folder))?;
        Ok(Self { folder, common_dir, time_limit, cancelled })
    }

    /// Fetches the branch of the upstream, with all commits if `is_deepened`; `None`: the remote
    /// has no such branch.
    pub(crate) fn fetch(
        &self,
        upstream: &Upstream,
        is_deepened: bool,
    ) -> Result<Option<ObjectId>, Error> {
        let refspec = format!("+{}:{FETCHED_REF}", upstream.remote_ref);
        let operation = format!("fetch {}", upstream.description());
        let git = self.git_process(upstream, operation.clone());
        let git = git.without_hooks().with_size_limit(&self.folder, SIZE_LIMIT);
        let git = git.args([
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-recurse-submodules",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
        ]);
        let git = if is_deepened { git.args(["--unshallow"]) } else { git };
        let git = git.args(["--", upstream.url.as_str(), &refspec]);
        failpoint::kill_point("before the fetch");
        let ended = self.run(git)?;
        failpoint::kill_point("objects are fetched");
        if ended.status.success() {
            let text = fs::read_to_string(self.folder.join(FETCHED_REF));
            let text = text.map_err(Error::for_file("read", &self.folder.join(FETCHED_REF)))?;
            return Ok(ObjectId::from_hex(text.trim().as_bytes()).ok());
        }
        match ended.messages.contains("couldn't find remote ref") {
            true => Ok(None),
            false => Err(failed(operation, &ended)),
        }
    }

    /// Pushes a commit to the branch of the upstream, which must not lose any of its commits;
    /// `false`: the remote has other commits meanwhile.
    pub(crate) fn push(&self, upstream: &Upstream, tip: ObjectId) -> Result<bool, Error> {
        let operation = format!("push to {}", upstream.description());
        let refspec = format!("{tip}:{}", upstream.remote_ref);
        let git = self.git_process(upstream, operation.clone()).args([
            "push",
            "--porcelain",
            "--no-follow-tags",
            "--recurse-submodules=no",
            "--",
            upstream.url.as_str(),
            &refspec,
        ]);
        failpoint::kill_point("before the push");
        let ended = self.run(git)?;
        failpoint::kill_point("commits are pushed");
        if ended.status.success() {
            return Ok(true);
        }
        let Some(reason) = rejection_reason(&ended.output) else {
            return Err(failed(operation, &ended));
        };
        if is_race(&reason) {
            return Ok(false);
        }
        let upstream = upstream.description();
        let why = match last_remote_message(&ended.messages) {
            Some(message) => format!("{message} ({reason})"),
            None => reason,
        };
        Err(SyncError::PushRejected { upstream, why }.into())
    }

    /// Returns a handle that reads the objects of the palace's repository and the fetched ones.
    pub(crate) fn open(&self) -> gix::Result<gix::Repository> {
        let options = gix::open::Options::isolated().config_overrides([ALLOCATION_LIMIT]);
        let options = options.object_store_slots(PACK_SLOTS);
        Ok(gix::ThreadSafeRepository::open_opts(&self.folder, options)?.to_thread_local())
    }

    /// Moves the fetched objects into the palace's repository, durably.
    pub(crate) fn adopt_objects(&self) -> Result<(), Error> {
        let (from, to) = (self.folder.join("objects/pack"), self.common_dir.join("objects/pack"));
        let adopt = || -> io::Result<()> {
            let names = fs::read_dir(&from)?.map(|it| it.map(|it| it.file_name()));
            let mut names = names.collect::<io::Result<Vec<_>>>()?;
            // Git uses a pack as soon as it sees its index.
            names.sort_by_key(|it| Path::new(it).extension().is_some_and(|it| it == "idx"));
            fs::create_dir_all(&to)?;
            for name in &names {
                failpoint::fail_point("adopt objects")?;
                rename::rename(&from.join(name), &to.join(name))?;
                failpoint::kill_point("objects are adopted");
            }
            Ok(())
        };
        adopt().map_err(Error::for_file("move the fetched objects to", &to))?;
        self.update_shallow_file()?;
        fsync::sync_files_and_folders(&[to.join("any")])
    }

    /// Updates git's list of the commits where a shallow clone ends, after it was deepened.
    fn update_shallow_file(&self) -> Result<(), Error> {
        let (from, to) = (self.folder.join("shallow"), self.common_dir.join("shallow"));
        let adopt = || match (from.exists(), to.exists()) {
            (true, true) if fs::read(&from)? != fs::read(&to)? => rename::rename(&from, &to),
            (false, true) => fs::remove_file(&to),
            _ => Ok(()),
        };
        adopt().map_err(Error::for_file("write", &to))
    }

    fn run(&self, git: GitProcess) -> Result<EndedGit, Error> {
        let is_cancelled = || self.cancelled.load(Ordering::Relaxed);
        git.run_to_end(&is_cancelled).map_err(Error::GitProcess)
    }

    fn git_process(&self, upstream: &Upstream, operation: String) -> GitProcess {
        let mut git = GitProcess::new(&self.folder, operation, self.time_limit);
        for setting in SETTINGS {
            git = git.args(["-c", setting]);
        }
        if upstream.url.is_local() { git.with_local_repositories() } else { git }
    }
}

impl Drop for Transport {
    fn drop(&mut self) {
        failpoint::kill_point("before the transport is removed");
        // The next synchronization removes what is left.
        drop(fs::remove_dir_all(&self.folder));
    }
}

fn remove_leftovers(folder: &Path) -> io::Result<()> {
    match fs::symlink_metadata(folder) {
        Ok(it) if it.is_dir() => fs::remove_dir_all(folder),
        Ok(_) => fs::remove_file(folder),
        Err(_) => Ok(()),
    }
}

fn failed(operation: String, ended: &EndedGit) -> Error {
    GitProcessError::Failed { operation, why: ended.error_message() }.into()
}

/// Returns the reason in the line of a rejected reference: `! a:b [rejected] (fetch first)`.
fn rejection_reason(output: &str) -> Option<String> {
    let line = output.lines().find(|it| it.starts_with("!\t"))?;
    Some(line.rsplit('\t').next().unwrap_or_default().to_owned())
}

/// Returns whether a push was rejected because others pushed at the same time.
fn is_race(reason: &str) -> bool {
    let signs = [
        "(fetch first)",
        "(non-fast-forward)",
        "cannot lock ref",
        "failed to update ref",
        "incorrect old value",
        "stale info",
    ];
    signs.iter().any(|it| reason.contains(it))
}

/// Returns the last line that the other side has sent.
fn last_remote_message(messages: &str) -> Option<String> {
    let mut lines = messages.lines().filter_map(|it| it.strip_prefix("remote: ")).map(str::trim);
    lines.rfind(|it| !it.is_empty()).map(|it| it.chars().take(300).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_a_rejection_is_parsed() {
        let output = "To /srv/a.git\n!\tabc:refs/heads/main\t[rejected] (fetch first)\nDone\n";
        let reason = rejection_reason(output).unwrap();
        assert_eq!(reason, "[rejected] (fetch first)");
        assert!(is_race(&reason));
        let hook = "!\tabc:refs/heads/main\t[remote rejected] (pre-receive hook declined)\n";
        assert!(!is_race(&rejection_reason(hook).unwrap()));
        assert_eq!(rejection_reason("To /srv/a.git\nDone\n"), None);
    }

    #[test]
    fn the_last_message_of_the_remote_is_found() {
        let messages = "remote: one\nremote: no entry today        \nremote: \nerror: failed\n";
        assert_eq!(last_remote_message(messages).as_deref(), Some("no entry today"));
        assert_eq!(last_remote_message("error: failed\n"), None);
    }
}
