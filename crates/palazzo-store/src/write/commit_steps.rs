//! The steps of one commit: checks, objects, moving `HEAD`, and the final steps.
//!
//! `apply.rs` calls them in order.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gix::ObjectId;
use gix::objs::tree::EntryKind;
use gix::refs::FullName;

use palazzo_core::model::{Author, Changeset, FileEdit, has_secret_of_memory, is_host_memory_path};

use crate::repo::failpoint;
use crate::repo::fsync;
use crate::repo::git_attributes;
use crate::repo::git_files::LooseHead;
use crate::repo::index_file::is_outside_sparse_checkout;
use crate::repo::line_endings::convert_to_git;
use crate::repo::repository::Repository;
use crate::repo::tree_lookup::{self, BlobEntry};
use crate::write::commit;
use crate::write::commit::{CommitDraft, GitIdentity};
use crate::write::index::LockedIndex;
use crate::write::moved_files::find_moved_files;
use crate::write::objects::ObjectWriter;
use crate::write::progress::Progress;
use crate::write::refs::{RefUpdate, RefUpdateOutcome};
use crate::write::signing::Signer;
use crate::write::write_guard::WriteGuard;
use crate::{CommitWarning, Error};

/// How often a commit is rebuilt because another program moved `HEAD` meanwhile.
const MAX_ATTEMPTS: usize = 20;

/// A move of `HEAD`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MovedHead {
    /// `None`: there was no commit.
    pub(crate) from: Option<ObjectId>,
    pub(crate) to: ObjectId,
}

/// The data used by the steps of one commit.
pub(crate) struct CommitSteps<'a> {
    /// The folder of the palace.
    pub(crate) palace: &'a Path,
    pub(crate) repository: &'a Arc<Repository>,
    pub(crate) git: &'a gix::Repository,
    pub(crate) edits: &'a [&'a FileEdit],
    /// Whether the author of the change has made the files what they are on disk, so that they are no
    /// hand edits.
    pub(crate) by_author: bool,
    pub(crate) write_guard: &'a WriteGuard,
    pub(crate) signer: &'a Signer,
    pub(crate) progress: Progress,
}

impl CommitSteps<'_> {
    /// Fails if git handles one of the paths in a way that Palazzo must not change.
    pub(crate) fn reject_blocked_paths(&self, locked_index: &LockedIndex<'_>) -> Result<(), Error> {
        self.reject_unmerged(locked_index)?;
        reject_outside_sparse_checkout(self.repository, locked_index.index(), self.edits)?;
        self.reject_filtered(locked_index.index())
    }

    fn reject_unmerged(&self, locked_index: &LockedIndex<'_>) -> Result<(), Error> {
        let unmerged =
            self.edits.iter().find(|it| locked_index.is_unmerged(&self.path_in_repository(it)));
        unmerged.map_or(Ok(()), |it| Err(Error::UnmergedFile { path: it.path.clone() }))
    }

    /// Fails if git would run a filter on one of the files, by the attributes in `index`.
    pub(crate) fn reject_filtered(&self, index: &gix::index::State) -> Result<(), Error> {
        for edit in self.edits {
            let path = self.path_in_repository(edit);
            let files = git_attributes::check_attribute_files(self.git, &path)?;
            let attribute = git_attributes::converting_attribute_in(self.git, index, &path, &files);
            let attribute =
                attribute.map_err(|err| self.repository.git_error("read attributes", err))?;
            if let Some(attribute) = attribute {
                return Err(Error::FilteredFile { path: edit.path.clone(), attribute });
            }
        }
        Ok(())
    }

    /// Drafts up to three commits: the files staged by the user, the files edited by the user, and
    /// the change.
    pub(crate) fn draft_commits(
        &self,
        writer: &mut ObjectWriter<'_>,
        locked_index: &LockedIndex<'_>,
        change: &Changeset,
        head: Option<ObjectId>,
    ) -> gix::Result<Vec<CommitDraft>> {
        let tree = tree_lookup::tree_of_commit(self.git, head)?;
        let (mut staged, mut by_hand, mut ours) = (Vec::new(), Vec::new(), Vec::new());
        let moved = find_moved_files(self.edits);
        for edit in self.edits {
            let path = self.path_in_repository(edit);
            let committed = tree_lookup::find_blob_entry(self.git, tree, &path)?;
            let kind = self.new_entry_kind(change, tree, edit, committed, &moved)?;
            let convert = |text| convert_to_git(self.git, locked_index.index(), &path, text);
            let was = edit.was.as_deref().map(convert).transpose()?;
            let now = edit.now.as_deref().map(convert).transpose()?;
            let hash = |bytes| tree_lookup::compute_blob_id(self.git, bytes);
            let on_disk = was.as_deref().map(hash).transpose()?;
            let in_head = committed.map(|it| it.id);
            let was_staged = locked_index.staged_id(&path).filter(|id| {
                Some(*id) != on_disk && Some(*id) != in_head && self.git.has_object(id)
            });
            let was_staged = was_staged.filter(|id| !self.is_secret_of_memory(edit, *id));
            if let Some(id) = was_staged {
                staged.push((path.clone(), Some(BlobEntry { kind, id })));
            }
            if !self.by_author && (was_staged.is_some() || on_disk != in_head) {
                by_hand.push((path.clone(), write_blob_entry(writer, was.as_deref(), kind)?));
            }
            ours.push((path, write_blob_entry(writer, now.as_deref(), kind)?));
            self.progress.count_step();
        }
        let drafts = [
            self.hand_edit_draft("hand edit, as staged", change, staged),
            self.hand_edit_draft("hand edit", change, by_hand),
            Some(self.new_draft(change, ours)),
        ];
        Ok(drafts.into_iter().flatten().collect())
    }

    /// Returns whether a staged version of a file of the host's memory contains a secret.
    fn is_secret_of_memory(&self, edit: &FileEdit, staged: ObjectId) -> bool {
        let has_secret = |text: &str| has_secret_of_memory(&edit.path, text);
        is_host_memory_path(&edit.path)
            && self
                .git
                .find_object(staged)
                .map_or(true, |it| has_secret(&String::from_utf8_lossy(&it.data)))
    }

    fn hand_edit_draft(
        &self,
        what: &str,
        change: &Changeset,
        files: Vec<(String, Option<BlobEntry>)>,
    ) -> Option<CommitDraft> {
        let message = match files.as_slice() {
            [] => return None,
            [(path, _)] => {
                let inside = path.strip_prefix(&self.repository.prefix).unwrap_or(path);
                format!("{what}: {inside}\n")
            }
            files => format!("{what}: {} files\n", files.len()),
        };
        Some(CommitDraft {
            author: GitIdentity::for_hand_edit(self.git),
            message,
            ..self.new_draft(change, files)
        })
    }

    pub(crate) fn new_draft(
        &self,
        change: &Changeset,
        files: Vec<(String, Option<BlobEntry>)>,
    ) -> CommitDraft {
        let author = match &change.author {
            Author::Client(name) => GitIdentity::for_client(name),
            Author::Person(name) => GitIdentity::configured_author_or(self.git, name),
        };
        let committer = GitIdentity::for_committer(self.git);
        CommitDraft {
            files,
            author,
            committer,
            seconds: change.at.timestamp(),
            message: commit::commit_message(change),
        }
    }

    /// Returns the new mode of a file: as the change sets it, as the file had it at its old path, as
    /// `committed`, or as on disk. `moved` are the old paths.
    pub(crate) fn new_entry_kind(
        &self,
        change: &Changeset,
        tree: ObjectId,
        edit: &FileEdit,
        committed: Option<BlobEntry>,
        moved: &HashMap<&str, &str>,
    ) -> gix::Result<EntryKind> {
        if let Some(is_executable) = change.executable.get(&edit.path) {
            return Ok(blob_kind(*is_executable));
        }
        let (path, committed) = match moved.get(edit.path.as_str()) {
            Some(old) => {
                let tracked = format!("{}{old}", self.repository.prefix);
                (*old, tree_lookup::find_blob_entry(self.git, tree, &tracked)?)
            }
            None if edit.was.is_none() => return Ok(EntryKind::Blob),
            None => (edit.path.as_str(), committed),
        };
        let on_disk = || blob_kind(self.is_executable(path));
        Ok(committed.map_or_else(on_disk, |it| it.kind))
    }

    /// Returns whether the change makes files executable on disk, by path; nothing if git is not to
    /// look at modes here.
    pub(crate) fn executable_bits_to_set<'c>(
        &self,
        change: &'c Changeset,
    ) -> BTreeMap<&'c str, bool> {
        let modes = change.executable.iter().filter(|_| self.has_modes());
        modes.map(|(path, is_executable)| (path.as_str(), *is_executable)).collect()
    }

    fn is_executable(&self, path: &str) -> bool {
        self.has_modes() && is_executable(&self.repository.palace.join(path))
    }

    /// Returns whether modes on disk count: some file systems report every file as executable, and
    /// `core.fileMode` is then off.
    fn has_modes(&self) -> bool {
        self.git.config_snapshot().boolean("core.fileMode").unwrap_or(true)
    }

    /// Writes the commits on top of `HEAD`, calls `settle` for the steps that must precede it, and
    /// moves `HEAD`; `None`: everything was already committed. The error lists files that another
    /// program has changed.
    pub(crate) fn write_commits_and_move_head(
        &self,
        writer: &mut ObjectWriter<'_>,
        drafts: &[CommitDraft],
        mut head: Option<ObjectId>,
        mut settle: impl FnMut(&mut ObjectWriter<'_>) -> Result<Vec<String>, Error>,
    ) -> Result<Result<Option<MovedHead>, Vec<String>>, Error> {
        let failed = |err| self.repository.git_error("commit", err);
        for _ in 0..MAX_ATTEMPTS {
            let mut tip = head;
            for draft in drafts {
                let commit = draft.write_trees_and_commit(writer, Some(self.signer), tip);
                tip = commit.map_err(failed)?.or(tip);
            }
            let stale = settle(writer)?;
            if !stale.is_empty() {
                return Ok(Err(stale));
            }
            let (Some(new), Some(last)) = (tip.filter(|_| tip != head), drafts.last()) else {
                return Ok(Ok(None));
            };
            match self.move_ref("HEAD", (head, new), last.reflog_entry())? {
                RefUpdateOutcome::Updated => {
                    return Ok(Ok(Some(MovedHead { from: head, to: new })));
                }
                RefUpdateOutcome::Conflict => head = self.repository.head()?,
            }
        }
        Err(Error::HeadKeepsMoving { place: self.repository.work.clone() })
    }

    /// Moves a reference, or the branch that it points to, from the first commit to the second.
    pub(crate) fn move_ref(
        &self,
        name: &str,
        (old, new): (Option<ObjectId>, ObjectId),
        reflog_entry: String,
    ) -> Result<RefUpdateOutcome, Error> {
        let (repository, guard, log) = (self.repository, self.write_guard, Some(reflog_entry));
        let update = RefUpdate { repository, guard, name, old, new, log };
        failpoint::kill_point("before a reference is moved");
        let moved = update.apply();
        failpoint::kill_point("after a reference is moved");
        moved
    }

    /// Performs the steps after the commit; failures are only warnings now.
    pub(crate) fn sync_and_collect_warnings(&self, folders: Vec<PathBuf>) -> Vec<CommitWarning> {
        let mut warnings = Vec::new();
        if let Err(err) = self.sync_refs_and_index(folders) {
            warnings.push(CommitWarning::NotDurable(err.message_with_causes()));
        }
        if self.write_guard.look().head.branch.is_none() && !self.repository.is_kept_by_jj() {
            warnings.push(CommitWarning::DetachedHead);
        }
        warnings
    }

    /// Makes the moved reference, the names of the files, and the index in its lock file durable.
    fn sync_refs_and_index(&self, folders: Vec<PathBuf>) -> Result<(), Error> {
        let Repository { git_dir, common_dir, palace, ref_files, .. } = self.repository.as_ref();
        let objects = common_dir.join("objects");
        let mut places = vec![objects.as_path(), palace];
        places.extend((git_dir != common_dir).then_some(git_dir.as_path()));
        fsync::sync_file_systems_or_files(&places, || {
            // Git may have switched to another branch after the look under the lock.
            let head = LooseHead::read(git_dir, common_dir, ref_files);
            let head = head.as_ref().unwrap_or(&self.write_guard.look().head);
            let of_branch = |it: &FullName| {
                let name = it.to_string();
                [common_dir.join(&name), common_dir.join("logs").join(&name)]
            };
            let files = ["HEAD", "logs/HEAD", "index.lock"].map(|it| git_dir.join(it)).into_iter();
            files.chain(head.branch.iter().flat_map(of_branch)).chain(folders).collect()
        })
    }

    /// Returns the path of the file in the repository.
    pub(crate) fn path_in_repository(&self, edit: &FileEdit) -> String {
        format!("{}{}", self.repository.prefix, edit.path)
    }
}

/// Fails if a sparse checkout excludes one of the files from the working directory.
pub(crate) fn reject_outside_sparse_checkout(
    repository: &Repository,
    index: &gix::index::State,
    edits: &[&FileEdit],
) -> Result<(), Error> {
    // If the file exists all the same, it is an ordinary file.
    let mut missing = edits.iter().filter(|it| it.was.is_none());
    let tracked = |edit: &FileEdit| format!("{}{}", repository.prefix, edit.path);
    let left_out = missing.find(|it| is_outside_sparse_checkout(index, &tracked(it)));
    left_out.map_or(Ok(()), |it| {
        let command = repository.sparse_checkout_command();
        Err(Error::OutsideSparseCheckout { path: it.path.clone(), command })
    })
}

fn blob_kind(is_executable: bool) -> EntryKind {
    if is_executable { EntryKind::BlobExecutable } else { EntryKind::Blob }
}

pub(crate) fn write_blob_entry(
    writer: &mut ObjectWriter<'_>,
    bytes: Option<&[u8]>,
    kind: EntryKind,
) -> gix::Result<Option<BlobEntry>> {
    let Some(bytes) = bytes else { return Ok(None) };
    Ok(Some(BlobEntry { kind, id: writer.write_blob(bytes)? }))
}

/// Returns whether the user may execute a file.
#[cfg(unix)]
pub(crate) fn is_executable(place: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::symlink_metadata(place).is_ok_and(|it| it.permissions().mode() & 0o100 != 0)
}

/// Returns `false`: on Windows no file is executable, and git keeps the mode of committed files.
#[cfg(windows)]
pub(crate) fn is_executable(_: &Path) -> bool {
    false
}
