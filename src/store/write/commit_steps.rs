//! The steps of one commit: what it refuses, its objects, `HEAD`, and what comes after.
//!
//! `make.rs` puts them in order.

use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::objs::tree::EntryKind;

use crate::model::{Author, Change, Edit};

use crate::store::repo::line_endings;
use crate::store::repo::line_endings::to_git;
use crate::store::repo::repository::Repository;
use crate::store::write::commit;
use crate::store::write::commit::{Draft, Held, Person};
use crate::store::write::index::Staging;
use crate::store::write::lock::{Patience, Turn};
use crate::store::write::objects::ObjectWriter;
use crate::store::write::progress::Progress;
use crate::store::write::refs::{Moved, RefUpdate};
use crate::store::write::{failpoint, fsync};
use crate::store::{Error, Warning};

/// How often a commit is made anew because somebody moved `HEAD` meanwhile.
const ATTEMPTS: usize = 20;

/// What the steps of one commit need to know.
pub(crate) struct CommitSteps<'a> {
    pub(crate) repository: &'a Repository,
    pub(crate) git: &'a gix::Repository,
    pub(crate) change: &'a Change,
    pub(crate) edits: &'a [&'a Edit],
    pub(crate) turn: &'a Turn,
    pub(crate) patience: Patience,
    pub(crate) progress: Progress,
}

impl CommitSteps<'_> {
    /// Refuses paths that git holds in a way we must not touch.
    pub(crate) fn refuse(&self, staging: &Staging<'_>) -> Result<(), Error> {
        self.refuse_unmerged(staging)?;
        self.refuse_left_out(staging)?;
        self.refuse_filtered(staging)
    }

    fn refuse_unmerged(&self, staging: &Staging<'_>) -> Result<(), Error> {
        let unmerged = self.edits.iter().find(|it| staging.is_unmerged(&self.tracked(it)));
        unmerged.map_or(Ok(()), |it| Err(Error::Unmerged { path: it.path.clone() }))
    }

    fn refuse_left_out(&self, staging: &Staging<'_>) -> Result<(), Error> {
        // One that is there all the same is an ordinary file.
        let mut missing = self.edits.iter().filter(|it| it.was.is_none());
        let left_out = missing.find(|it| staging.is_left_out(&self.tracked(it)));
        left_out.map_or(Ok(()), |it| Err(Error::LeftOut { path: it.path.clone() }))
    }

    fn refuse_filtered(&self, staging: &Staging<'_>) -> Result<(), Error> {
        for edit in self.edits {
            let attribute = line_endings::foreign(self.git, staging.index(), &self.tracked(edit));
            let attribute =
                attribute.map_err(|err| self.repository.error("read attributes", err))?;
            if let Some(attribute) = attribute {
                return Err(Error::Filtered { path: edit.path.clone(), attribute });
            }
        }
        Ok(())
    }

    /// Drafts the commits to be made: what was staged by hand, what was edited by hand, the change.
    pub(crate) fn drafts(
        &self,
        writer: &mut ObjectWriter<'_>,
        staging: &Staging<'_>,
        head: Option<ObjectId>,
    ) -> gix::Result<Vec<Draft>> {
        let tree = commit::tree_of(self.git, head)?;
        let (mut staged, mut by_hand, mut ours) = (Vec::new(), Vec::new(), Vec::new());
        for edit in self.edits {
            let path = self.tracked(edit);
            let there = commit::entry(self.git, tree, &path)?;
            let kind = self.kind(edit, there);
            let convert = |text| to_git(self.git, staging.index(), &path, text);
            let was = edit.was.as_deref().map(convert).transpose()?;
            let now = edit.now.as_deref().map(convert).transpose()?;
            let hash = |bytes| commit::blob_id(self.git, bytes);
            let on_disk = was.as_deref().map(hash).transpose()?;
            let in_head = there.map(|it| it.id);
            let was_staged = staging.staged(&path).filter(|id| {
                Some(*id) != on_disk && Some(*id) != in_head && self.git.has_object(id)
            });
            if let Some(id) = was_staged {
                staged.push((path.clone(), Some(Held { kind, id })));
            }
            if was_staged.is_some() || on_disk != in_head {
                by_hand.push((path.clone(), blob(writer, was.as_deref(), kind)?));
            }
            ours.push((path, blob(writer, now.as_deref(), kind)?));
            self.progress.step();
        }
        let drafts = [
            self.hand_draft("hand edit, as staged", staged),
            self.hand_draft("hand edit", by_hand),
            Some(self.draft(ours)),
        ];
        Ok(drafts.into_iter().flatten().collect())
    }

    fn hand_draft(&self, what: &str, files: Vec<(String, Option<Held>)>) -> Option<Draft> {
        let message = match files.as_slice() {
            [] => return None,
            [(path, _)] => {
                let inside = path.strip_prefix(&self.repository.prefix).unwrap_or(path);
                format!("{what}: {inside}\n")
            }
            files => format!("{what}: {} files\n", files.len()),
        };
        Some(Draft { author: Person::by_hand(self.git), message, ..self.draft(files) })
    }

    fn draft(&self, files: Vec<(String, Option<Held>)>) -> Draft {
        let author = match &self.change.author {
            Author::Client(name) => Person::client(name),
            Author::Person(name) => Person::known_as(self.git, name),
        };
        let committer = Person::committer(self.git);
        let at = self.change.at.timestamp();
        Draft { files, author, committer, at, message: commit::message(self.change) }
    }

    /// Returns the mode of a file: what git knows of it, else what the disk shows.
    fn kind(&self, edit: &Edit, held: Option<Held>) -> EntryKind {
        match (&edit.was, held) {
            (Some(_), Some(held)) => held.kind,
            (Some(_), None) if self.is_executable(edit) => EntryKind::BlobExecutable,
            _ => EntryKind::Blob,
        }
    }

    fn is_executable(&self, edit: &Edit) -> bool {
        // Some file systems show every file as executable; git is told so when it begins there.
        let is_trusted = self.git.config_snapshot().boolean("core.fileMode").unwrap_or(true);
        is_trusted && is_executable(&self.repository.palace.join(&edit.path))
    }

    /// Writes the commits on top of `HEAD`, lets `settle` do what must come before, and moves it;
    /// `None`: all of it was there already. The list names files that somebody has changed.
    pub(crate) fn record(
        &self,
        writer: &mut ObjectWriter<'_>,
        drafts: &[Draft],
        mut head: Option<ObjectId>,
        mut settle: impl FnMut(&ObjectWriter<'_>) -> Result<Vec<String>, Error>,
    ) -> Result<Result<Option<ObjectId>, Vec<String>>, Error> {
        let failed = |err| self.repository.error("commit", err);
        for _ in 0..ATTEMPTS {
            let mut tip = head;
            for draft in drafts {
                tip = draft.write(writer, tip).map_err(failed)?.or(tip);
            }
            let stale = settle(writer)?;
            if !stale.is_empty() {
                return Ok(Err(stale));
            }
            let (Some(new), Some(last)) = (tip.filter(|_| tip != head), drafts.last()) else {
                return Ok(Ok(None));
            };
            match self.move_head(head, new, last)? {
                Moved::Yes => return Ok(Ok(Some(new))),
                Moved::Elsewhere => head = self.repository.head()?,
            }
        }
        Err(Error::Moving { place: self.repository.work.clone() })
    }

    /// Moves `HEAD`, or the branch it names, from `old` to `new`.
    fn move_head(
        &self,
        old: Option<ObjectId>,
        new: ObjectId,
        draft: &Draft,
    ) -> Result<Moved, Error> {
        let (repository, timeout) = (self.repository, self.patience.head);
        let log = Some(draft.log_entry());
        let update = RefUpdate { repository, name: "HEAD", old, new, log, timeout };
        failpoint::pass("before `HEAD` is moved");
        let moved = update.apply(&mut |path, inode| self.turn.note_lock_file(path, inode));
        failpoint::pass("after `HEAD` is moved");
        match moved {
            // It failed only after it was done.
            Err(_) if self.repository.head().is_ok_and(|it| it == Some(new)) => Ok(Moved::Yes),
            moved => moved,
        }
    }

    /// Makes the new files and objects durable.
    pub(crate) fn settle(
        &self,
        writer: &ObjectWriter<'_>,
        temporaries: Vec<PathBuf>,
    ) -> Result<(), Error> {
        let places = [self.repository.palace.as_path(), &self.repository.common_dir];
        fsync::settle(&places, || temporaries.into_iter().chain(writer.files()).collect())
    }

    /// Does what remains when the commit is made; what fails now is only a warning.
    pub(crate) fn finish(&self, folders: Vec<PathBuf>) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if let Err(err) = self.settle_the_rest(folders) {
            warnings.push(Warning::NotDurable(err.in_full()));
        }
        if self.git.head().is_ok_and(|it| it.is_detached()) {
            warnings.push(Warning::Detached);
        }
        warnings
    }

    /// Makes durable where `HEAD` points, the names of the files, and the index in its lock.
    fn settle_the_rest(&self, folders: Vec<PathBuf>) -> Result<(), Error> {
        let Repository { git_dir, common_dir, palace, .. } = self.repository;
        let files = commit::reference_files(self.git, git_dir, common_dir);
        let mut files = files.map_err(|err| self.repository.error("read `HEAD`", err))?;
        files.push(git_dir.join("index.lock"));
        files.extend(folders);
        fsync::settle(&[palace, git_dir, common_dir], || files)
    }

    /// Returns the path git knows the file by.
    fn tracked(&self, edit: &Edit) -> String {
        format!("{}{}", self.repository.prefix, edit.path)
    }
}

fn blob(
    writer: &mut ObjectWriter<'_>,
    bytes: Option<&[u8]>,
    kind: EntryKind,
) -> gix::Result<Option<Held>> {
    let Some(bytes) = bytes else { return Ok(None) };
    Ok(Some(Held { kind, id: writer.write_blob(bytes)? }))
}

#[cfg(unix)]
fn is_executable(place: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::symlink_metadata(place).is_ok_and(|it| it.permissions().mode() & 0o100 != 0)
}

#[cfg(not(unix))]
fn is_executable(_: &Path) -> bool {
    false
}
