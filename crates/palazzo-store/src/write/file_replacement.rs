//! Replaces one file so that a concurrent save by another program is not lost.

use crate::repo::index_file;
use crate::repo::temporary_names::{BACKUP_INFIX, TEMPORARY_SUFFIX, temporary_name_begin};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use palazzo_core::model::FileEdit;

use crate::repo::index_file::Stat;
use crate::repo::palace_files::FileStamp;
use crate::repo::rename::{self, remove_if_exists};

/// Used instead of a fingerprint if there is no file.
const NO_FILE: &str = "nothing";

/// A file that is to be replaced, created or deleted.
#[derive(Debug)]
pub(crate) struct FileReplacement<'a> {
    pub(crate) edit: &'a FileEdit,
    pub(crate) place: PathBuf,
    /// The old file's stamp when it was compared; `None`: there was no file.
    pub(crate) before: Option<FileStamp>,
    /// The new file, until it is in place.
    pub(crate) temporary: Option<PathBuf>,
    /// The backup of the old file, until it is not needed any more.
    backup: Option<PathBuf>,
    /// The file whose permissions the new file gets: the old file, or one that is moved here.
    pub(crate) permissions_from: PathBuf,
    /// Whether the new file is executable; `None`: as the old one.
    pub(crate) is_executable: Option<bool>,
    /// The stat of the new file for the index.
    pub(crate) stat: Option<Stat>,
    is_in_place: bool,
}

impl<'a> FileReplacement<'a> {
    /// Creates the replacement of the file at `place`, which has the stamp `before`.
    pub(crate) fn new(edit: &'a FileEdit, place: PathBuf, before: Option<FileStamp>) -> Self {
        Self {
            edit,
            permissions_from: place.clone(),
            place,
            before,
            temporary: None,
            backup: None,
            is_executable: None,
            stat: None,
            is_in_place: false,
        }
    }

    /// Puts the new file in place; `false`: another program has saved the file meanwhile, and its
    /// version is kept.
    pub(crate) fn put_in_place(&mut self) -> io::Result<bool> {
        let Some(temporary) = self.temporary.take() else { return self.delete_old() };
        let written = index_file::stat_file(&temporary);
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
        // Renaming changes only the ctime. If anything else differs, the file is not the written
        // one, and git must read it itself.
        self.stat = index_file::stat_file(&self.place).filter(|now| {
            written.is_some_and(|it| (it.mtime, it.size, it.ino) == (now.mtime, now.size, now.ino))
        });
        Ok(true)
    }

    fn exchange_with_old(&mut self, temporary: &Path) -> io::Result<bool> {
        let backup = backup_path(&self.place, &fingerprint(temporary));
        let created = create_backup(&self.place, &backup);
        self.backup = Some(backup.clone());
        created?;
        // The old file is compared after it was moved away, so that no save can replace it
        // unnoticed.
        match rename::exchange_files(temporary, &self.place) {
            Some(exchanged) => {
                exchanged?;
                if self.has_old_content(temporary) {
                    drop(fs::remove_file(temporary));
                    return Ok(true);
                }
                self.restore_concurrent_version(temporary)?;
            }
            None => {
                rename::rename(temporary, &self.place)?;
                if self.has_old_content(&backup) {
                    return Ok(true);
                }
                rename::rename(&backup, &self.place)?;
            }
        }
        Ok(false)
    }

    fn delete_old(&mut self) -> io::Result<bool> {
        let backup = backup_path(&self.place, NO_FILE);
        match rename::rename(&self.place, &backup) {
            Err(err) if is_concurrent_change(&err) => return Ok(false),
            moved => moved?,
        }
        self.is_in_place = self.has_old_content(&backup);
        match self.is_in_place {
            true => self.backup = Some(backup),
            false => restore_backup(&backup, &self.place)?,
        }
        Ok(self.is_in_place)
    }

    /// Removes the backup. If another program had the old file open and has saved into it since,
    /// that save was last: the file is restored, next to the commit.
    pub(crate) fn discard_backup(&self) {
        let Some(backup) = &self.backup else { return };
        if !self.has_old_content(backup) {
            let restored = match self.edit.now {
                Some(_) => self.restore_concurrent_version(backup),
                None => restore_backup(backup, &self.place),
            };
            if restored.is_err() {
                return;
            }
        }
        drop(fs::remove_file(backup));
    }

    /// Restores another program's version from `theirs`, to which it was moved, in place of the new
    /// file.
    fn restore_concurrent_version(&self, theirs: &Path) -> io::Result<()> {
        let exchange = || match rename::exchange_files(theirs, &self.place) {
            Some(Ok(())) => Ok(()),
            _ => rename::rename(theirs, &self.place),
        };
        exchange()?;
        let now = self.edit.now.as_deref().map(str::as_bytes);
        match fs::read(theirs) {
            // The other program has meanwhile saved over the new file too.
            Ok(displaced) if Some(displaced.as_slice()) != now => exchange(),
            _ => Ok(()),
        }
    }

    /// Returns true if the file at `place` has the old content.
    fn has_old_content(&self, place: &Path) -> bool {
        fs::read(place)
            .is_ok_and(|it| Some(it.as_slice()) == self.edit.was.as_deref().map(str::as_bytes))
    }

    /// Undoes the replacement; a version that another program wrote since is kept. Needs no disk
    /// space.
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
            Some(backup) => rename::rename(&backup, &self.place),
            None => fs::remove_file(&self.place),
        })
    }
}

/// Returns the backup path of the file at `place`, with the fingerprint of the file that replaces
/// it.
fn backup_path(place: &Path, fingerprint: &str) -> PathBuf {
    let begin = temporary_name_begin(place);
    let process = std::process::id();
    place.with_file_name(format!("{begin}{process}{BACKUP_INFIX}{fingerprint}{TEMPORARY_SUFFIX}"))
}

/// Returns true if another program removed or created the file first.
fn is_concurrent_change(err: &io::Error) -> bool {
    matches!(err.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists)
}

/// Moves a backup back; if another file is there, that one is newer and is kept.
fn restore_backup(backup: &Path, place: &Path) -> io::Result<()> {
    match rename::rename_noreplace(backup, place) {
        Err(err) if err.kind() == io::ErrorKind::AlreadyExists => fs::remove_file(backup),
        given => given,
    }
}

fn create_backup(place: &Path, backup: &Path) -> io::Result<()> {
    // A file of that name was left by a crashed writer.
    remove_if_exists(backup)?;
    // Some file systems have no hard links; a copy needs space, but before anything is changed.
    fs::hard_link(place, backup).or_else(|_| fs::copy(place, backup).map(drop))
}

/// Returns a fingerprint of the file at `place` that is unique and survives renaming.
pub(crate) fn fingerprint(place: &Path) -> String {
    let Ok(metadata) = fs::symlink_metadata(place) else { return NO_FILE.to_owned() };
    let modified = metadata.modified().ok();
    let since = modified.and_then(|it| it.duration_since(SystemTime::UNIX_EPOCH).ok());
    let inode = FileStamp::from_path(place).map_or(0, |it| it.inode());
    format!("{inode}-{}", since.unwrap_or_default().as_nanos())
}
