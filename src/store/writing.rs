//! Writing files so that each is either the old or the new, and all of them or none.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::model::Edit;

use super::disk::{self, Stamp};
use super::index::{self, Stat};
use super::{Error, durable, paths};

/// Files being written; whatever was done is undone if this is dropped before it is kept.
#[derive(Debug)]
pub(super) struct Writing<'a> {
    root: &'a Path,
    files: Vec<Pending<'a>>,
    folders: Vec<PathBuf>,
    kept: bool,
}

#[derive(Debug)]
struct Pending<'a> {
    edit: &'a Edit,
    place: PathBuf,
    before: Option<Stamp>,
    temporary: Option<PathBuf>,
    stat: Option<Stat>,
    is_done: bool,
}

/// What the name of a file ends in until it is put in its place.
const SUFFIX: &str = ".tmp";

impl<'a> Writing<'a> {
    /// Compares each file with what its edit believes; the error lists those that differ.
    pub(super) fn compare(
        root: &'a Path,
        edits: &[&'a Edit],
    ) -> Result<Result<Self, Vec<String>>, Error> {
        let (mut files, mut stale) = (Vec::new(), Vec::new());
        for &edit in edits {
            paths::check_links(root, &edit.path)?;
            let place = root.join(&edit.path);
            let before = Stamp::of(&place);
            match disk::read(root, &edit.path) {
                Ok(text) if text == edit.was => {}
                _ => stale.push(edit.path.clone()),
            }
            files.push(Pending {
                edit,
                place,
                before,
                temporary: None,
                stat: None,
                is_done: false,
            });
        }
        if stale.is_empty() {
            Ok(Ok(Self { root, files, folders: Vec::new(), kept: false }))
        } else {
            Ok(Err(stale))
        }
    }

    /// Writes the new files beside the old, then puts each in its place; the list names files
    /// that somebody changed in between, and then nothing has happened.
    pub(super) fn write(&mut self) -> Result<Vec<String>, Error> {
        for at in 0..self.files.len() {
            self.prepare(at)?;
        }
        // A file may only take the place of another when its content cannot be lost any more.
        let temporaries: Vec<_> = self.files.iter().filter_map(|it| it.temporary.clone()).collect();
        durable::settle_contents(self.root, &temporaries)?;
        for at in 0..self.files.len() {
            let file = &mut self.files[at];
            paths::check_links(self.root, &file.edit.path)?;
            if Stamp::of(&file.place) != file.before {
                return Ok(vec![file.edit.path.clone()]);
            }
            file.put_in_place().map_err(Error::file("write", &file.place))?;
            if file.edit.now.is_none() {
                remove_empty_folders(self.root, &file.place);
            }
        }
        Ok(Vec::new())
    }

    /// Returns what the index is to remember of each written file, in the order of the edits.
    pub(super) fn stats(&self) -> impl Iterator<Item = Option<Stat>> {
        self.files.iter().map(|it| it.stat)
    }

    /// Lists the folders whose entries changed.
    pub(super) fn touched_folders(&self) -> Vec<PathBuf> {
        let parents = self.files.iter().filter_map(|it| it.place.parent()).filter(|it| it.is_dir());
        let above = self.folders.iter().filter_map(|it| it.parent());
        let mut folders: Vec<_> = parents.chain(above).map(Path::to_owned).collect();
        folders.sort();
        folders.dedup();
        folders
    }

    /// Says that all is well: nothing is undone any more.
    pub(super) fn keep(mut self) {
        self.kept = true;
    }

    fn prepare(&mut self, at: usize) -> Result<(), Error> {
        let file = &mut self.files[at];
        let Some(text) = &file.edit.now else { return Ok(()) };
        let folder = file.place.parent().unwrap_or(self.root);
        make_folders(folder, &mut self.folders).map_err(Error::file("make the folder", folder))?;
        let (temporary, out) =
            create(&file.place).map_err(Error::file("write beside", &file.place))?;
        file.temporary = Some(temporary);
        fill(&out, text, &file.place).map_err(Error::file("write beside", &file.place))
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        for file in self.files.iter().rev() {
            file.undo();
        }
        for folder in self.folders.iter().rev() {
            // One that is in use by now stays.
            drop(fs::remove_dir(folder));
        }
    }
}

impl Pending<'_> {
    fn put_in_place(&mut self) -> io::Result<()> {
        let Some(temporary) = self.temporary.take() else {
            fs::remove_file(&self.place)?;
            self.is_done = true;
            return Ok(());
        };
        let written = index::stat(&temporary);
        if let Err(err) = fs::rename(&temporary, &self.place) {
            self.temporary = Some(temporary);
            return Err(err);
        }
        self.is_done = true;
        // Renaming changes the time of change only. Should anything else differ, this is no longer
        // the file we wrote, and git shall look for itself.
        self.stat = index::stat(&self.place).filter(|now| {
            written.is_some_and(|it| (it.mtime, it.size, it.ino) == (now.mtime, now.size, now.ino))
        });
        Ok(())
    }

    /// Undoes what was done as well as it can be; what somebody has written since stays.
    fn undo(&self) {
        if let Some(temporary) = &self.temporary {
            drop(fs::remove_file(temporary));
        }
        let now = fs::read_to_string(&self.place).ok();
        if !self.is_done || now != self.edit.now {
            return;
        }
        drop(match &self.edit.was {
            Some(text) => restore(&self.place, text),
            None => fs::remove_file(&self.place),
        });
    }
}

/// Tells whether `name` is that of a file we had not yet put in its place.
pub(super) fn is_temporary(name: &str) -> bool {
    name.starts_with('.') && name.contains(".palazzo-") && name.ends_with(SUFFIX)
}

/// Removes what a dead writer left beside the file at `path` below `root`.
pub(super) fn remove_temporaries(root: &Path, path: &str) {
    if paths::check(path).and_then(|()| paths::check_links(root, path)).is_err() {
        return;
    }
    let place = root.join(path);
    let (Some(folder), Some(name)) = (place.parent(), place.file_name()) else { return };
    let ours = format!(".{}.palazzo-", name.to_string_lossy());
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(&ours) && is_temporary(&name) {
            drop(fs::remove_file(entry.path()));
        }
    }
}

/// Creates a file of its own beside `place`.
fn create(place: &Path) -> io::Result<(PathBuf, File)> {
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    for n in 0_u32.. {
        let temporary = format!(".{name}.palazzo-{}-{n}{SUFFIX}", std::process::id());
        let temporary = place.with_file_name(temporary);
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Err(err) if err.kind() == io::ErrorKind::AlreadyExists => {}
            out => return Ok((temporary, out?)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Writes `text`, with the permissions of the file it is to replace.
fn fill(mut out: &File, text: &str, place: &Path) -> io::Result<()> {
    if let Ok(old) = fs::symlink_metadata(place) {
        out.set_permissions(old.permissions())?;
    }
    out.write_all(text.as_bytes())
}

fn restore(place: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = place.parent() {
        fs::create_dir_all(folder)?;
    }
    let (temporary, out) = create(place)?;
    fill(&out, text, place)?;
    fs::rename(temporary, place)
}

/// Makes `folder` and those above it, and notes which were not there.
fn make_folders(folder: &Path, made: &mut Vec<PathBuf>) -> io::Result<()> {
    match fs::create_dir(folder) {
        Ok(()) => made.push(folder.to_owned()),
        Err(err) if err.kind() == io::ErrorKind::NotFound => {
            let above = folder.parent().ok_or(err)?;
            make_folders(above, made)?;
            return make_folders(folder, made);
        }
        Err(_) if folder.is_dir() => {}
        Err(err) => return Err(err),
    }
    Ok(())
}

fn remove_empty_folders(root: &Path, place: &Path) {
    let above = place.ancestors().skip(1).take_while(|it| *it != root);
    for folder in above {
        // The first that is not empty ends it.
        if fs::remove_dir(folder).is_err() {
            return;
        }
    }
}
