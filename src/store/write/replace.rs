//! One file that takes the place of another, so that what somebody saves at that very moment is not
//! lost.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::model::Edit;

use crate::store::repo::disk::FileStamp;
use crate::store::write::index;
use crate::store::write::index::Stat;
use crate::store::write::rename;

/// What the name of a file ends in until it is put in its place.
pub(crate) const TEMPORARY_SUFFIX: &str = ".tmp";
/// What stands in the name of a file kept aside before what has taken its place.
pub(crate) const BACKUP_INFIX: &str = "-was-";
/// Where nothing has taken its place.
const NO_FILE: &str = "nothing";

/// A file that is to take its place.
#[derive(Debug)]
pub(crate) struct FileReplacement<'a> {
    pub(crate) edit: &'a Edit,
    pub(crate) place: PathBuf,
    /// How the old file stood when it was compared; `None`: there was none.
    pub(crate) before: Option<FileStamp>,
    /// The new file, until it is in its place.
    pub(crate) temporary: Option<PathBuf>,
    /// The old file, until it is not needed any more.
    backup: Option<PathBuf>,
    /// What the index is to remember of the new file.
    pub(crate) stat: Option<Stat>,
    is_in_place: bool,
}

impl<'a> FileReplacement<'a> {
    /// A file at `place` that stands as `before`.
    pub(crate) fn new(edit: &'a Edit, place: PathBuf, before: Option<FileStamp>) -> Self {
        Self { edit, place, before, temporary: None, backup: None, stat: None, is_in_place: false }
    }

    /// Puts the new file in the place of the old; `false`: somebody has saved another meanwhile, and
    /// that stands.
    pub(crate) fn put_in_place(&mut self) -> io::Result<bool> {
        let Some(temporary) = self.temporary.take() else { return self.delete_old() };
        let written = index::stat_file(&temporary);
        let put = match self.before {
            Some(_) => self.exchange_with_old(&temporary),
            None => rename::rename_noreplace(&temporary, &self.place).map(|()| true),
        };
        let put = match put {
            Err(err) if is_concurrent_change(&err) => Ok(false),
            put => put,
        };
        self.is_in_place = matches!(put, Ok(true));
        if !self.is_in_place {
            self.temporary = Some(temporary);
            return put;
        }
        // Renaming changes the time of change only. Should anything else differ, this is no longer
        // the file we wrote, and git shall look for itself.
        self.stat = index::stat_file(&self.place).filter(|now| {
            written.is_some_and(|it| (it.mtime, it.size, it.ino) == (now.mtime, now.size, now.ino))
        });
        Ok(true)
    }

    fn exchange_with_old(&mut self, temporary: &Path) -> io::Result<bool> {
        let aside = backup_path(&self.place, &fingerprint(temporary));
        let kept = create_backup(&self.place, &aside);
        self.backup = Some(aside.clone());
        kept?;
        // What is looked at when it has left its place cannot be saved over unseen.
        match rename::exchange_files(temporary, &self.place) {
            Some(exchanged) => {
                exchanged?;
                if self.has_old_content(temporary) {
                    drop(fs::remove_file(temporary));
                    return Ok(true);
                }
                self.restore_theirs(temporary)?;
            }
            None => {
                fs::rename(temporary, &self.place)?;
                if self.has_old_content(&aside) {
                    return Ok(true);
                }
                fs::rename(aside, &self.place)?;
            }
        }
        Ok(false)
    }

    fn delete_old(&mut self) -> io::Result<bool> {
        let aside = backup_path(&self.place, NO_FILE);
        match fs::rename(&self.place, &aside) {
            Err(err) if is_concurrent_change(&err) => return Ok(false),
            moved => moved?,
        }
        self.is_in_place = self.has_old_content(&aside);
        match self.is_in_place {
            true => self.backup = Some(aside),
            false => restore_backup(&aside, &self.place)?,
        }
        Ok(self.is_in_place)
    }

    /// Lets go of the old file. Whoever had it open, and has saved into it since, saved last: then
    /// it takes its place again, beside the commit.
    pub(crate) fn discard_backup(&self) {
        let Some(aside) = &self.backup else { return };
        if !self.has_old_content(aside) {
            let given = match self.edit.now {
                Some(_) => self.restore_theirs(aside),
                None => restore_backup(aside, &self.place),
            };
            if given.is_err() {
                return;
            }
        }
        drop(fs::remove_file(aside));
    }

    /// Puts what somebody has saved, and we have displaced to `theirs`, in the place of ours.
    fn restore_theirs(&self, theirs: &Path) -> io::Result<()> {
        let exchange = || match rename::exchange_files(theirs, &self.place) {
            Some(Ok(())) => Ok(()),
            _ => fs::rename(theirs, &self.place),
        };
        exchange()?;
        let now = self.edit.now.as_deref().map(str::as_bytes);
        match fs::read(theirs) {
            // In that moment they have saved over ours too.
            Ok(displaced) if Some(displaced.as_slice()) != now => exchange(),
            _ => Ok(()),
        }
    }

    /// Tells whether the file at `place` holds what was there before.
    fn has_old_content(&self, place: &Path) -> bool {
        fs::read(place)
            .is_ok_and(|it| Some(it.as_slice()) == self.edit.was.as_deref().map(str::as_bytes))
    }

    /// Undoes what was done; what somebody has written since stays. Needs no space.
    pub(crate) fn undo(&mut self) -> io::Result<()> {
        let removed = self.temporary.take().map_or(Ok(()), remove_if_exists);
        let now = match fs::read(&self.place) {
            Err(err) if err.kind() == io::ErrorKind::NotFound => None,
            now => Some(now?),
        };
        if !self.is_in_place || now.as_deref() != self.edit.now.as_deref().map(str::as_bytes) {
            return removed.and(self.backup.take().map_or(Ok(()), remove_if_exists));
        }
        removed.and(match self.backup.take() {
            Some(aside) => fs::rename(aside, &self.place),
            None => fs::remove_file(&self.place),
        })
    }
}

/// Returns where the file at `place` is kept while one that looks so takes its place.
fn backup_path(place: &Path, looks: &str) -> PathBuf {
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    place.with_file_name(format!(
        ".{name}.palazzo-{}{BACKUP_INFIX}{looks}{TEMPORARY_SUFFIX}",
        std::process::id()
    ))
}

/// Tells whether somebody else was there first: took the file away, or put one there.
fn is_concurrent_change(err: &io::Error) -> bool {
    matches!(err.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists)
}

/// Gives a file that was taken away its place again; where another has been put, that is newer.
fn restore_backup(aside: &Path, place: &Path) -> io::Result<()> {
    match rename::rename_noreplace(aside, place) {
        Err(err) if err.kind() == io::ErrorKind::AlreadyExists => fs::remove_file(aside),
        given => given,
    }
}

fn create_backup(place: &Path, aside: &Path) -> io::Result<()> {
    // One of that name is a dead writer's.
    remove_if_exists(aside.to_owned())?;
    // Not every file system has links; a copy needs space, but it is needed before anything is done.
    fs::hard_link(place, aside).or_else(|_| fs::copy(place, aside).map(drop))
}

/// Returns what tells the file at `place` from any other, wherever it is moved.
pub(crate) fn fingerprint(place: &Path) -> String {
    let Ok(metadata) = fs::symlink_metadata(place) else { return NO_FILE.to_owned() };
    let modified = metadata.modified().ok();
    let since = modified.and_then(|it| it.duration_since(SystemTime::UNIX_EPOCH).ok());
    let inode = FileStamp::from_path(place).map_or(0, |it| it.inode());
    format!("{inode}-{}", since.unwrap_or_default().as_nanos())
}

/// Removes a file, if it is there.
pub(crate) fn remove_if_exists(place: PathBuf) -> io::Result<()> {
    match fs::remove_file(place) {
        Err(err) if err.kind() != io::ErrorKind::NotFound => Err(err),
        _ => Ok(()),
    }
}
