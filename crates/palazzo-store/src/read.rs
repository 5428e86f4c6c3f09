//! Reads the files of a palace from the source of a store: the disk, a commit, or a branch, with the
//! texts that are open in an editor.

use std::path::PathBuf;

use rayon::prelude::*;

use crate::repo::note_files;
use crate::repo::palace_files::{self, CONFLICTS_FOLDER, PalaceListing};
use crate::repo::paths;
use crate::{Error, FileStamp, FileStamps, ReadResult, Source, Store};
use palazzo_core::model::{Diagnostic, Files};

impl Store {
    /// Reads all files of a store that reads from a commit or a branch; unreadable files are left
    /// out and reported as findings. `None`: the store reads from the disk.
    pub fn read_all_unless_on_disk(&self) -> Result<Option<(Files, Vec<Diagnostic>)>, Error> {
        self.repository.reject_symlinked_palace()?;
        match self.reads_disk() {
            true => Ok(None),
            false => self.retry_branch_read(|| {
                self.head()?.map(|commit| self.read_all_files_at(&commit)).transpose()
            }),
        }
    }

    /// Lists all files as [`Store::list_files`] does, and also the temporary files that a power
    /// failure may have left.
    pub fn list_files_with_temporaries(
        &self,
    ) -> Result<(FileStamps, Vec<Diagnostic>, Vec<PathBuf>), Error> {
        self.repository.reject_symlinked_palace()?;
        self.repository.note_palace_existence();
        let PalaceListing { mut stamps, mut findings, temporaries } =
            palace_files::list_files(&self.repository.palace, "")?;
        self.add_notes("", &mut stamps, &mut findings)?;
        Ok((stamps, findings, temporaries))
    }

    /// Lists the files at or below `path`, all files if it is empty, and reports entries that
    /// cannot be used. A store that reads from a commit lists none, because its files cannot
    /// change.
    pub fn list_files(&self, path: &str) -> Result<(FileStamps, Vec<Diagnostic>), Error> {
        match &self.source {
            Source::Disk => {
                self.repository.reject_symlinked_palace()?;
                let PalaceListing { mut stamps, mut findings, .. } =
                    palace_files::list_files(&self.repository.palace, path)?;
                self.add_notes(path, &mut stamps, &mut findings)?;
                Ok((stamps, findings))
            }
            Source::Commit(_) => Ok((FileStamps::new(), Vec::new())),
            Source::Branch(_) => self.retry_branch_read(|| self.list_files_at_head(path)),
        }
    }

    /// Reads files in parallel, because a cold disk answers parallel reads faster than sequential
    /// ones.
    pub fn read_files(&self, paths: Vec<String>) -> Vec<(String, ReadResult)> {
        let read = |path: String| {
            let read = self.read_file(&path);
            (path, read)
        };
        paths.into_par_iter().map(read).collect()
    }

    /// Sets the text that is read for a file which is open in an editor; `None`: the one on disk.
    /// Changes nothing on disk.
    pub fn set_open_buffer(&mut self, path: &str, text: Option<String>) {
        match text {
            Some(text) => drop(self.open_buffers.insert(path.to_owned(), text)),
            None => drop(self.open_buffers.remove(path)),
        }
    }

    /// Reads one file; `None`: it does not exist.
    pub fn read_file(&self, path: &str) -> ReadResult {
        if let Some(text) = self.open_buffers.get(path) {
            return Ok(Some(text.clone()));
        }
        self.repository.reject_symlinked_palace().map_err(|err| err.to_diagnostic(path))?;
        match self.reads_disk() {
            true => self.repository.read_file(path),
            false => {
                let read = self.retry_branch_read(|| match self.head()? {
                    Some(commit) => self.read_file_at(&commit, path),
                    None => Ok(Ok(None)),
                });
                read.map_err(|err| err.to_diagnostic(path))?
            }
        }
    }

    /// Returns a file's stamp, which changes when the file does; `None`: the file does not exist,
    /// it is open in an editor, or the store does not read from the disk.
    pub fn file_stamp(&self, path: &str) -> Option<FileStamp> {
        if !self.reads_disk() || self.open_buffers.contains_key(path) {
            return None;
        }
        if self.is_note(path) {
            let repository = self.repository().ok()??;
            return FileStamp::from_path(
                &repository.work.join(repository.path_in_repository(path)),
            );
        }
        self.repository.reject_symlinked_palace().and_then(|()| paths::check_path(path)).ok()?;
        FileStamp::from_path(&self.repository.palace.join(path))
    }

    /// Lists the folders of notes that exist, with all folders in them, by their paths from the
    /// palace.
    pub fn existing_note_folders(&self) -> Vec<String> {
        match (self.repository.note_folders().is_empty(), self.repository()) {
            (false, Ok(Some(it))) => {
                note_files::list_notes(&it.work, &it.note_folders(), "").folders
            }
            _ => Vec::new(),
        }
    }

    /// Lists all notes, and reports folders and files that cannot be used.
    pub fn list_notes(&self) -> Result<(FileStamps, Vec<Diagnostic>), Error> {
        let (mut stamps, mut findings) = (FileStamps::new(), Vec::new());
        if self.reads_disk() {
            self.add_notes("", &mut stamps, &mut findings)?;
        } else {
            (stamps, findings) = self.list_files("")?;
            stamps.retain(|path, _| self.is_note(path));
            findings.retain(|it| self.is_note(&it.file));
        }
        Ok((stamps, findings))
    }

    /// Adds the notes at or below `path`.
    fn add_notes(
        &self,
        path: &str,
        stamps: &mut FileStamps,
        findings: &mut Vec<Diagnostic>,
    ) -> Result<(), Error> {
        if self.repository.note_folders().is_empty() {
            return Ok(());
        }
        if let Some(repository) = self.repository()? {
            let folders = repository.note_folders();
            let notes = note_files::list_notes(&repository.work, &folders, path);
            stamps.extend(notes.stamps);
            findings.extend(notes.findings);
        }
        Ok(())
    }

    /// Counts the conflicts that are recorded in the palace.
    pub fn count_conflicts(&self) -> usize {
        let Ok(entries) = std::fs::read_dir(self.palace_folder().join(CONFLICTS_FOLDER)) else {
            return 0;
        };
        let is_conflict = |it: &std::fs::DirEntry| {
            let is_yaml = it.path().extension().is_some_and(|it| it == "yaml");
            is_yaml && it.file_type().is_ok_and(|it| it.is_file())
        };
        entries.flatten().filter(is_conflict).count()
    }
}
