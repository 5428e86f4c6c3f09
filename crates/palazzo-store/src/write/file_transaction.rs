//! Writes files so that each is either old or new, and either all or none change.
//!
//! A backup of each old file is kept until the write has succeeded, so that undoing only renames
//! files. That works on a full disk too.

use crate::repo::shared_mode::SharedMode;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use gix::fs::dir::remove::empty_upward_until_boundary;

use palazzo_core::model::FileEdit;

use crate::Error;
use crate::repo::fsync;
use crate::repo::index_file::Stat;
use crate::repo::palace_files;
use crate::repo::palace_files::FileStamp;
use crate::repo::paths;
use crate::repo::processes;
use crate::repo::rename::{self, remove_if_exists};
use crate::repo::temporary_names::{
    BACKUP_INFIX, TEMPORARY_SUFFIX, is_temporary, temporary_name_begin,
};
use crate::repo::{failpoint, index_file};
use crate::write::moved_files::find_moved_files;
use crate::write::progress::Progress;

/// Files being written. Dropping it undoes the write unless it was kept, but only
/// [`FileTransaction::undo`] reports a failure to do so.
#[derive(Debug)]
pub(crate) struct FileTransaction<'a> {
    root: &'a Path,
    /// Whether the palace folder existed; then it is not created again.
    has_root: bool,
    files: Vec<FileReplacement<'a>>,
    folders: Vec<PathBuf>,
    progress: Progress,
    shared_mode: SharedMode,
    is_finished: bool,
}

impl<'a> FileTransaction<'a> {
    /// Compares each file with the expected content of its edit; the error lists those that differ.
    pub(crate) fn begin_if_unchanged(
        root: &'a Path,
        edits: &[&'a FileEdit],
    ) -> Result<Result<Self, Vec<String>>, Error> {
        let (mut files, mut stale) = (Vec::new(), Vec::new());
        for &edit in edits {
            let place = root.join(&edit.path);
            let before = FileStamp::from_path(&place);
            match palace_files::read_file(root, &edit.path) {
                Ok(text) if text == edit.was => {}
                _ => {
                    paths::reject_symbolic_links(root, &edit.path)?;
                    stale.push(edit.path.clone());
                }
            }
            files.push(FileReplacement::new(edit, place, before));
        }
        if stale.is_empty() {
            let (folders, progress) = (Vec::new(), Progress::default());
            Ok(Ok(Self {
                root,
                has_root: root.is_dir(),
                files,
                folders,
                progress,
                shared_mode: SharedMode::default(),
                is_finished: false,
            }))
        } else {
            Ok(Err(stale))
        }
    }

    /// Gives new files and folders these modes.
    pub(crate) fn with_shared_mode(mut self, shared_mode: SharedMode) -> Self {
        self.shared_mode = shared_mode;
        self
    }

    /// Reports the progress of each step.
    pub(crate) fn with_progress(mut self, progress: Progress) -> Self {
        self.progress = progress;
        self
    }

    /// Makes the new files whose paths have a value executable, or not.
    pub(crate) fn with_modes(mut self, is_executable: &BTreeMap<&str, bool>) -> Self {
        for file in &mut self.files {
            file.is_executable = is_executable.get(file.edit.path.as_str()).copied();
        }
        self
    }

    /// Gives the files that are moved the permissions that they have.
    pub(crate) fn with_moved_file_permissions(mut self, edits: &[&FileEdit]) -> Self {
        let moved = find_moved_files(edits);
        for file in &mut self.files {
            if let Some(old) = moved.get(file.edit.path.as_str()) {
                file.permissions_from = self.root.join(old);
            }
        }
        self
    }

    /// Makes the new files durable and puts each in place; returns the files that another program
    /// changed meanwhile.
    pub(crate) fn sync_and_put_in_place(&mut self) -> Result<Vec<String>, Error> {
        fsync::sync_contents(self.root, &self.temporaries())?;
        self.put_files_in_place()
    }

    /// Writes the new files under temporary names.
    pub(crate) fn write_temporaries(&mut self) -> Result<(), Error> {
        (0..self.files.len()).try_for_each(|at| self.write_temporary(at))
    }

    /// Lists the temporary files.
    pub(crate) fn temporaries(&self) -> Vec<PathBuf> {
        self.files.iter().filter_map(|it| it.temporary.clone()).collect()
    }

    /// Lists the files that did not exist before, each with the fingerprint of its new file, by
    /// which recovery can recognise it.
    pub(crate) fn new_file_fingerprints(&self) -> impl Iterator<Item = (&str, String)> {
        let new = self.files.iter().filter(|it| it.before.is_none());
        new.filter_map(|it| Some((it.edit.path.as_str(), fingerprint(it.temporary.as_ref()?))))
    }

    /// Puts each new file in place; returns the files that another program changed meanwhile. A
    /// file may only replace another when its content is durable; the caller has ensured that.
    pub(crate) fn put_files_in_place(&mut self) -> Result<Vec<String>, Error> {
        for at in 0..self.files.len() {
            let file = &mut self.files[at];
            // A link in place of the file has another stamp.
            if let Some((folder, _)) = file.edit.path.rsplit_once('/') {
                paths::reject_symbolic_links(self.root, folder)?;
            }
            if FileStamp::from_path(&file.place) != file.before {
                return Ok(vec![file.edit.path.clone()]);
            }
            let put = failpoint::fail_point("put file in place").and_then(|()| file.put_in_place());
            if !put.map_err(Error::for_file("write", &file.place))? {
                return Ok(vec![file.edit.path.clone()]);
            }
            failpoint::kill_point("file is in place");
            self.progress.count_step();
        }
        Ok(Vec::new())
    }

    /// Returns the index stat of each written file, in the order of the edits.
    pub(crate) fn index_stats(&self) -> impl Iterator<Item = Option<Stat>> {
        self.files.iter().map(|it| it.stat)
    }

    /// Lists the folders whose entries changed.
    pub(crate) fn touched_folders(&self) -> Vec<PathBuf> {
        let parents = self.files.iter().filter_map(|it| it.place.parent()).filter(|it| it.is_dir());
        let above = self.folders.iter().filter_map(|it| it.parent());
        let mut folders: Vec<_> = parents.chain(above).map(Path::to_owned).collect();
        folders.sort();
        folders.dedup();
        folders
    }

    /// Completes the write: removes the backups and the folders that became empty.
    pub(crate) fn keep_new_files(mut self) {
        self.is_finished = true;
        failpoint::kill_point("old files are not needed");
        self.files.iter().for_each(FileReplacement::discard_backup);
        failpoint::kill_point("old files are removed");
        for file in self.files.iter().filter(|it| it.edit.now.is_none() && !it.is_kept()) {
            remove_empty_folders_above(self.root, &file.place);
        }
    }

    /// Undoes the write; if that fails, the error includes `refusal`, the reason for undoing.
    pub(crate) fn undo(mut self, refusal: &str) -> Result<(), Error> {
        let undone = self.undo_all();
        self.is_finished = true;
        undone.map_err(|(path, source)| Error::UndoFailed {
            path,
            refusal: refusal.to_owned(),
            source,
        })
    }

    /// Undoes every file even if some fail, and returns the first failure.
    fn undo_all(&mut self) -> Result<(), (PathBuf, io::Error)> {
        let mut undone = Ok(());
        for file in self.files.iter_mut().rev() {
            let restored = file.undo().map_err(|err| (file.place.clone(), err));
            undone = undone.and(restored);
        }
        for folder in self.folders.iter().rev() {
            // A folder that is in use by now is kept.
            drop(fs::remove_dir(folder));
        }
        undone
    }

    fn write_temporary(&mut self, at: usize) -> Result<(), Error> {
        let file = &mut self.files[at];
        let Some(text) = file.edit.now.as_ref().filter(|_| !file.is_kept()) else { return Ok(()) };
        let folder = file.place.parent().unwrap_or(self.root);
        failpoint::fail_point("write new file")
            .map_err(Error::for_file("write beside", &file.place))?;
        if !folder.is_dir() {
            let existing = if self.has_root { Some(self.root) } else { None };
            create_folders(folder, existing, self.shared_mode, &mut self.folders)
                .map_err(Error::for_file("create the folder", folder))?;
        }
        let (temporary, out) =
            create_temporary(&file.place).map_err(Error::for_file("write beside", &file.place))?;
        file.temporary = Some(temporary);
        write_text_with_permissions(&out, text, &file.permissions_from, self.shared_mode)
            .and_then(|()| file.is_executable.map_or(Ok(()), |it| set_executable(&out, it)))
            .map_err(Error::for_file("write beside", &file.place))?;
        self.progress.count_step();
        Ok(())
    }
}

impl Drop for FileTransaction<'_> {
    fn drop(&mut self) {
        if !self.is_finished {
            drop(self.undo_all());
        }
    }
}

/// Used instead of a fingerprint if there is no file.
const NO_FILE: &str = "nothing";

/// A file that is to be replaced, created or deleted.
#[derive(Debug)]
struct FileReplacement<'a> {
    edit: &'a FileEdit,
    place: PathBuf,
    /// The old file's stamp when it was compared; `None`: there was no file.
    before: Option<FileStamp>,
    /// The new file, until it is in place.
    temporary: Option<PathBuf>,
    /// The backup of the old file, until it is not needed any more.
    backup: Option<PathBuf>,
    /// The file whose permissions the new file gets: the old file, or one that is moved here.
    permissions_from: PathBuf,
    /// Whether the new file is executable; `None`: as the old one.
    is_executable: Option<bool>,
    /// The stat of the new file for the index.
    stat: Option<Stat>,
    is_in_place: bool,
}

impl<'a> FileReplacement<'a> {
    /// Creates the replacement of the file at `place`, which has the stamp `before`.
    fn new(edit: &'a FileEdit, place: PathBuf, before: Option<FileStamp>) -> Self {
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

    /// Returns whether the file stays as it is. A change of the mode alone writes it.
    fn is_kept(&self) -> bool {
        self.edit.was == self.edit.now && self.is_executable.is_none()
    }

    /// Puts the new file in place; `false`: another program has saved the file meanwhile, and its
    /// version is kept.
    fn put_in_place(&mut self) -> io::Result<bool> {
        if self.is_kept() {
            // Git must read a file itself that may change again without another time.
            let is_certain = self.before.is_some_and(|it| !it.is_too_recent_to_trust());
            self.stat = index_file::stat_file(&self.place).filter(|_| is_certain);
            return Ok(true);
        }
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
    fn discard_backup(&self) {
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
    fn undo(&mut self) -> io::Result<()> {
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

/// Restores the file at `path` below `root` from the backup of a crashed write, unless there is
/// none or another program has changed the file since.
pub(crate) fn restore_old_file(root: &Path, path: &str) -> io::Result<()> {
    let place = root.join(path);
    let ending = format!("{BACKUP_INFIX}{}{TEMPORARY_SUFFIX}", fingerprint(&place));
    match temporary_files_beside(root, path)
        .into_iter()
        .find(|it| it.to_string_lossy().ends_with(&ending))
    {
        Some(backup) => rename::rename(&backup, &place),
        None => Ok(()),
    }
}

/// Removes the file at `path` below `root` that a crashed write added, if it still has `expected`
/// as its fingerprint.
pub(crate) fn remove_new_file(root: &Path, path: &str, expected: &str) -> io::Result<()> {
    let place = root.join(path);
    if paths::reject_symbolic_links(root, path).is_err() || fingerprint(&place) != expected {
        return Ok(());
    }
    remove_if_exists(&place)?;
    remove_empty_folders_above(root, &place);
    Ok(())
}

/// Removes the files that a crashed writer left beside the file at `path` below `root`.
pub(crate) fn remove_temporaries(root: &Path, path: &str) {
    for temporary in temporary_files_beside(root, path) {
        drop(fs::remove_file(temporary));
    }
}

/// Lists Palazzo's files beside the file at `path` below `root`.
fn temporary_files_beside(root: &Path, path: &str) -> Vec<PathBuf> {
    if paths::check_path(path).and_then(|()| paths::reject_symbolic_links(root, path)).is_err() {
        return Vec::new();
    }
    let place = root.join(path);
    let Some(folder) = place.parent() else { return Vec::new() };
    let begin = temporary_name_begin(&place);
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let is_ours = |name: &str| name.starts_with(&begin) && is_temporary(name);
    let entries = entries.flatten();
    entries.filter(|it| is_ours(&it.file_name().to_string_lossy())).map(|it| it.path()).collect()
}

/// Creates a temporary file beside `place`.
fn create_temporary(place: &Path) -> io::Result<(PathBuf, File)> {
    let begin = temporary_name_begin(place);
    for n in 0_u32.. {
        let temporary = format!("{begin}{}-{n}{TEMPORARY_SUFFIX}", processes::own_process_id());
        let temporary = place.with_file_name(temporary);
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Err(err) if err.kind() == io::ErrorKind::AlreadyExists => {}
            out => return Ok((temporary, out?)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Writes `text`, with the permissions of the file at `old`, or those of a new file.
fn write_text_with_permissions(
    mut out: &File,
    text: &str,
    old: &Path,
    shared_mode: SharedMode,
) -> io::Result<()> {
    match fs::symlink_metadata(old) {
        Ok(old) => out.set_permissions(old.permissions())?,
        Err(_) => shared_mode.adjust_file(out)?,
    }
    out.write_all(text.as_bytes())
}

/// Lets those who may read a file run it, or nobody, as git does.
#[cfg(unix)]
fn set_executable(file: &File, is_executable: bool) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let old = file.metadata()?.permissions().mode();
    let new = if is_executable { old | (old & 0o444) >> 2 } else { old & !0o111 };
    if new == old { Ok(()) } else { file.set_permissions(fs::Permissions::from_mode(new)) }
}

/// Does nothing: on Windows no file is executable, and git keeps the mode of committed files.
#[cfg(windows)]
fn set_executable(_: &File, _: bool) -> io::Result<()> {
    Ok(())
}

/// Creates `folder` and its parents up to `existing`, which must exist, and records the created
/// ones.
fn create_folders(
    folder: &Path,
    existing: Option<&Path>,
    shared_mode: SharedMode,
    created: &mut Vec<PathBuf>,
) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if existing == Some(folder) {
        return Err(io::ErrorKind::NotFound.into());
    }
    match shared_mode.create_dir(folder) {
        Ok(()) => created.push(folder.to_owned()),
        Err(err) if err.kind() == io::ErrorKind::NotFound => {
            let above = folder.parent().ok_or(err)?;
            create_folders(above, existing, shared_mode, created)?;
            return create_folders(folder, existing, shared_mode, created);
        }
        Err(_) if folder.is_dir() => {}
        Err(err) => return Err(err),
    }
    Ok(())
}

/// Removes the folders below `root` that the file at `place` has left empty.
fn remove_empty_folders_above(root: &Path, place: &Path) {
    // It fails at the first folder that is not empty.
    drop(empty_upward_until_boundary(place.parent().unwrap_or(root), root));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_repository::{TestHome, change_of_files, change_of_one_file, commit_ok};

    const HALL: &str = "rooms/hall.yaml";

    fn file_names(scene: &TestHome, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(scene.home.join(folder)).unwrap().flatten();
        let mut names: Vec<_> = entries.map(|it| it.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Writes `edit` and stops without cleanup, as a killed process would, leaving a marker.
    fn write_and_die(scene: &TestHome, store: &crate::Store, edit: &FileEdit) {
        let edits = [edit];
        let mut writing =
            FileTransaction::begin_if_unchanged(store.palace_folder(), &edits).unwrap().unwrap();
        writing.write_temporaries().unwrap();
        let lines = writing
            .new_file_fingerprints()
            .map(|(path, print)| format!("fresh {print} keep/{path}\n"));
        let marker = format!("pid 1\npath keep/{}\n{}", edit.path, lines.collect::<String>());
        assert_eq!(writing.sync_and_put_in_place().unwrap(), Vec::<String>::new());
        std::mem::forget(writing);
        fs::write(scene.home.join(".git/palazzo/writing"), marker).unwrap();
    }

    fn write_and_place(writing: &mut FileTransaction<'_>) {
        writing.write_temporaries().unwrap();
        assert_eq!(writing.sync_and_put_in_place().unwrap(), Vec::<String>::new());
    }

    #[test]
    fn undoing_a_write_restores_the_original_files_and_no_others() {
        let scene = TestHome::new();
        let store = scene.palace("keep");
        scene.write_file("keep/rooms/hall.yaml", "1\n");
        scene.write_file("keep/rooms/old.yaml", "old\n");
        let before = (inode(&scene, HALL), inode(&scene, "rooms/old.yaml"));
        let change = change_of_files(&[
            (HALL, Some("1\n"), Some("2\n")),
            ("rooms/old.yaml", Some("old\n"), None),
            ("scrolls/x/new.md", None, Some("new\n")),
        ]);
        let edits: Vec<_> = change.edits.iter().collect();
        let mut writing =
            FileTransaction::begin_if_unchanged(store.palace_folder(), &edits).unwrap().unwrap();
        write_and_place(&mut writing);
        assert_eq!(scene.read_file("keep/rooms/hall.yaml"), "2\n");
        assert!(!scene.home.join("keep/rooms/old.yaml").exists());
        writing.undo("no reason").unwrap();
        assert_eq!((inode(&scene, HALL), inode(&scene, "rooms/old.yaml")), before);
        assert_eq!(file_names(&scene, "keep/rooms"), ["hall.yaml", "old.yaml"]);
        assert_eq!(file_names(&scene, "keep"), ["rooms"]);
    }

    fn inode(scene: &TestHome, path: &str) -> u64 {
        FileStamp::from_path(&scene.home.join("keep").join(path)).unwrap().inode()
    }

    /// How a user saves or creates a file at the moment when a change is made.
    type SaveFile = fn(&Path);

    const USER_SAVES: [SaveFile; 2] = [
        |file| fs::write(file, "mine\n").unwrap(),
        |file| {
            fs::write(file.with_file_name("new"), "mine\n").unwrap();
            fs::rename(file.with_file_name("new"), file).unwrap();
        },
    ];

    #[test]
    fn the_longest_name_of_a_file_can_be_written_and_undone() {
        let scene = TestHome::new();
        let store = scene.palace("keep");
        let path = format!("rooms/{}.yaml", "\u{e9}".repeat(125));
        let file = format!("keep/{path}");
        scene.write_file(&file, "1\n");
        let change = change_of_one_file(&path, Some("1\n"), Some("2\n"));
        let edits: Vec<_> = change.edits.iter().collect();
        let begin = || FileTransaction::begin_if_unchanged(store.palace_folder(), &edits);
        for (is_undone, expected) in [(true, "1\n"), (false, "2\n")] {
            let mut writing = begin().unwrap().unwrap();
            writing.write_temporaries().unwrap();
            assert!(writing.files[0].put_in_place().unwrap());
            if is_undone {
                writing.undo("no reason").unwrap();
            } else {
                remove_temporaries(store.palace_folder(), &path);
            }
            assert_eq!(scene.read_file(&file), expected);
            assert_eq!(file_names(&scene, "keep/rooms").len(), 1);
        }
    }

    #[test]
    fn a_save_during_a_write_wins_and_leaves_no_temporary_files() {
        for save in USER_SAVES {
            for (was, now) in [(Some("1\n"), Some("2\n")), (Some("1\n"), None), (None, Some("2\n"))]
            {
                let scene = TestHome::new();
                let store = scene.palace("keep");
                scene.write_file("keep/rooms/other.yaml", "other\n");
                if let Some(was) = was {
                    scene.write_file("keep/rooms/hall.yaml", was);
                }
                let change = change_of_one_file(HALL, was, now);
                let edits: Vec<_> = change.edits.iter().collect();
                let mut writing =
                    FileTransaction::begin_if_unchanged(store.palace_folder(), &edits)
                        .unwrap()
                        .unwrap();
                writing.write_temporaries().unwrap();
                save(&store.palace_folder().join(HALL));
                // After the check of its stamp.
                assert!(!writing.files[0].put_in_place().unwrap());
                writing.undo("no reason").unwrap();
                assert_eq!(scene.read_file("keep/rooms/hall.yaml"), "mine\n");
                assert_eq!(file_names(&scene, "keep/rooms"), ["hall.yaml", "other.yaml"]);
            }
        }
    }

    #[test]
    fn a_file_deleted_during_a_write_stays_deleted() {
        for now in [Some("2\n"), None] {
            let scene = TestHome::new();
            let store = scene.palace("keep");
            scene.write_file("keep/rooms/hall.yaml", "1\n");
            let change = change_of_one_file(HALL, Some("1\n"), now);
            let edits: Vec<_> = change.edits.iter().collect();
            let mut writing = FileTransaction::begin_if_unchanged(store.palace_folder(), &edits)
                .unwrap()
                .unwrap();
            writing.write_temporaries().unwrap();
            fs::remove_file(store.palace_folder().join(HALL)).unwrap();
            assert!(!writing.files[0].put_in_place().unwrap());
            writing.undo("no reason").unwrap();
            assert_eq!(file_names(&scene, "keep/rooms"), [""; 0]);
        }
    }

    // Windows replaces no file that another program has open.
    #[cfg(unix)]
    #[test]
    fn a_save_into_the_still_open_old_file_wins() {
        for now in [Some("2\n"), None] {
            let scene = TestHome::new();
            let store = scene.palace("keep");
            scene.write_file("keep/rooms/hall.yaml", "1\n");
            let mut open =
                OpenOptions::new().write(true).open(store.palace_folder().join(HALL)).unwrap();
            let change = change_of_one_file(HALL, Some("1\n"), now);
            let edits: Vec<_> = change.edits.iter().collect();
            let mut writing = FileTransaction::begin_if_unchanged(store.palace_folder(), &edits)
                .unwrap()
                .unwrap();
            write_and_place(&mut writing);
            open.write_all(b"mine\n").unwrap();
            writing.keep_new_files();
            assert_eq!(scene.read_file("keep/rooms/hall.yaml"), "mine\n");
            assert_eq!(file_names(&scene, "keep/rooms"), ["hall.yaml"]);
        }
    }

    #[test]
    fn a_failed_undo_is_reported() {
        let scene = TestHome::new();
        let store = scene.palace("keep");
        scene.write_file("keep/rooms/hall.yaml", "1\n");
        let change = change_of_one_file(HALL, Some("1\n"), Some("2\n"));
        let edits: Vec<_> = change.edits.iter().collect();
        let mut writing =
            FileTransaction::begin_if_unchanged(store.palace_folder(), &edits).unwrap().unwrap();
        write_and_place(&mut writing);
        remove_temporaries(store.palace_folder(), HALL);
        let message = writing.undo("the disk is full").unwrap_err().to_string();
        let place = store.palace_folder().join(HALL);
        assert_eq!(
            message,
            format!(
                "the change failed (the disk is full), and `{}` could not be restored; Palazzo \
                 tries again when the palace is next used",
                place.display()
            )
        );
    }

    #[test]
    fn files_replaced_before_a_crash_are_restored() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        for now in [Some("2\n"), None] {
            write_and_die(&scene, &store, &change_of_one_file(HALL, Some("1\n"), now).edits[0]);
            store.recover_from_crash().unwrap();
            assert_eq!(scene.read_file("keep/rooms/hall.yaml"), "1\n");
            assert_eq!(scene.status(), "");
        }
    }

    #[test]
    fn a_hand_edit_after_a_crash_is_kept() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        write_and_die(&scene, &store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")).edits[0]);
        scene.write_file("keep/rooms/hall.yaml", "by hand\n");
        store.recover_from_crash().unwrap();
        assert_eq!(scene.read_file("keep/rooms/hall.yaml"), "by hand\n");
        assert_eq!(file_names(&scene, "keep/rooms"), ["hall.yaml"]);
    }
    #[test]
    fn a_file_added_before_a_crash_is_removed() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        let note = change_of_one_file("scrolls/hall/note.md", None, Some("note\n"));
        write_and_die(&scene, &store, &note.edits[0]);
        assert_eq!(scene.status(), "?? keep/scrolls/hall/note.md\n");
        store.recover_from_crash().unwrap();
        assert_eq!(
            (file_names(&scene, "keep"), scene.status()),
            (vec!["rooms".to_owned()], String::new())
        );
        // Unless another program has replaced it.
        write_and_die(&scene, &store, &note.edits[0]);
        fs::write(scene.home.join("keep/scrolls/hall/note.md"), "mine\n").unwrap();
        store.recover_from_crash().unwrap();
        assert_eq!(scene.read_file("keep/scrolls/hall/note.md"), "mine\n");
    }
}
