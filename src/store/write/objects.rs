//! Writes objects and verifies that each object file has the content of its id.
//!
//! A power failure may have left the file of an object empty or damaged, and git may delete an object
//! that no reference reaches yet. So each existing object is read and checked, and the writer keeps
//! its objects until the reference has moved.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gix::objs::{Exists as _, Kind, Write as _, WriteTo};
use gix::odb::memory::Storage;
use gix::{ObjectId, OdbHandle};

use crate::store::Error;
use crate::store::repo::failpoint;
use crate::store::repo::fsync;
use crate::store::repo::palace_files::FileStamp;
use crate::store::repo::repository::Repository;

/// The prefix of gix's temporary object files.
const TEMPORARY_PREFIX: &str = ".tmp";
/// No write takes this long.
const MIN_STALE_AGE: Duration = Duration::from_secs(60 * 60);
/// How many bytes of trees and commits are kept for the next change.
const MAX_MEMORY_BYTES: usize = 16 * 1024 * 1024;
/// How often writing an object is attempted while git may be removing its folder.
const MAX_ATTEMPTS: usize = 5;

/// A written object.
#[derive(Clone, Debug)]
pub(crate) struct WrittenObject {
    id: ObjectId,
    kind: Kind,
    data: Vec<u8>,
    /// The stamp of its file when it was last looked for; `None`: never, or it is in a pack.
    stamp: Option<FileStamp>,
}

/// Writes the objects of one change and keeps a copy of each.
pub(crate) struct ObjectWriter<'g> {
    repository: &'g Repository,
    git: &'g gix::Repository,
    /// The objects on disk; `git` may have some in memory.
    on_disk: OdbHandle,
    loose: gix::odb::loose::Store,
    written: Vec<WrittenObject>,
}

impl<'g> ObjectWriter<'g> {
    /// Creates a writer for `repository`, which is read through `git`.
    pub(crate) fn new(repository: &'g Repository, git: &'g gix::Repository) -> Self {
        let folder = repository.common_dir.join("objects");
        let loose = gix::odb::loose::Store::at(folder, git.object_hash());
        Self { repository, git, on_disk: repository.git().objects, loose, written: Vec::new() }
    }

    /// Returns the repository as it is read.
    pub(crate) fn git(&self) -> &'g gix::Repository {
        self.git
    }

    /// Writes a blob, unless it exists.
    pub(crate) fn write_blob(&mut self, data: &[u8]) -> gix::Result<ObjectId> {
        self.write_data(Kind::Blob, data.to_owned())
    }

    /// Writes a tree or a commit, unless it exists.
    pub(crate) fn write(&mut self, object: &dyn WriteTo) -> gix::Result<ObjectId> {
        let mut data = Vec::new();
        object.write_to(&mut data).map_err(gix::Error::from_error)?;
        self.write_data(object.kind(), data)
    }

    /// Lists the files of the written objects.
    pub(crate) fn object_files(&self) -> Vec<PathBuf> {
        let common_dir = &self.repository.common_dir;
        self.written.iter().map(|it| fsync::loose_object_path(common_dir, it.id)).collect()
    }

    /// Writes objects again that git has deleted since, and makes them durable.
    pub(crate) fn restore_missing(&mut self) -> gix::Result<()> {
        restore_missing(self.repository, &mut self.written).map(drop)
    }

    /// Returns the written objects.
    pub(crate) fn into_objects(self) -> Vec<WrittenObject> {
        self.written
    }

    fn write_data(&mut self, kind: Kind, data: Vec<u8>) -> gix::Result<ObjectId> {
        let id = gix::objs::compute_hash(self.git.object_hash(), kind, &data);
        let id = id.map_err(gix::Error::from_error)?;
        // An intact object is durable, and a copy in its place would not be, until the next sync.
        if !self.is_intact(id) {
            write_object(self.repository, &self.on_disk, id, kind, &data)?;
        }
        self.written.push(WrittenObject { id, kind, data, stamp: None });
        Ok(id)
    }

    /// Returns true if the object exists and is intact.
    fn is_intact(&self, id: ObjectId) -> bool {
        if !self.on_disk.exists_without_refresh(&id) {
            return false;
        }
        let mut buffer = Vec::new();
        match self.loose.try_find(&id, &mut buffer) {
            Ok(Some(found)) => {
                let hash = gix::objs::compute_hash(id.kind(), found.kind, found.data);
                hash.is_ok_and(|it| it == id)
            }
            // A pack has its own checksum, and is not written by Palazzo.
            Ok(None) => true,
            Err(_) => false,
        }
    }
}

impl WrittenObject {
    /// Returns its size in bytes.
    pub(crate) fn size(&self) -> usize {
        self.data.len()
    }
}

/// The trees and the commits that the last change wrote, for the next one to read.
#[derive(Debug, Default)]
pub(crate) struct LastTrees(Vec<WrittenObject>);

impl LastTrees {
    /// Takes them from the objects of a change, which have been looked for; large ones are left out.
    pub(crate) fn new(mut objects: Vec<WrittenObject>) -> Self {
        let mut size = 0;
        objects.retain(|it| {
            size += it.data.len();
            it.kind != Kind::Blob && it.stamp.is_some() && size <= MAX_MEMORY_BYTES
        });
        Self(objects)
    }

    /// Returns those whose files are as they were: of the others, the next change is to find that
    /// they are damaged.
    pub(crate) fn take_unchanged(&mut self, common_dir: &Path) -> Storage {
        let is_unchanged = |it: &WrittenObject| {
            FileStamp::from_path(&fsync::loose_object_path(common_dir, it.id)) == it.stamp
        };
        let mut unchanged = Storage::default();
        let objects = std::mem::take(&mut self.0).into_iter().filter(is_unchanged);
        unchanged.extend(objects.map(|it| (it.id, (it.kind, it.data))));
        unchanged
    }
}

/// Writes blobs that no commit contains yet, and makes them durable.
pub(crate) fn write_durable_blobs<'t>(
    repository: &Repository,
    texts: impl Iterator<Item = &'t str>,
) -> Result<(), Error> {
    let (git, common_dir) = (repository.git(), &repository.common_dir);
    let mut files = Vec::new();
    for text in texts {
        // Each writer keeps a copy of what it writes.
        let mut writer = ObjectWriter::new(repository, &git);
        let written = writer.write_blob(text.as_bytes());
        written.map_err(|err| repository.git_error("write objects", err))?;
        files.extend(writer.object_files());
    }
    fsync::sync_file_systems_or_files(&[common_dir], || files)
}

/// Writes those of `objects` that are missing, and makes them durable; returns their number.
pub(crate) fn restore_missing(
    repository: &Repository,
    objects: &mut [WrittenObject],
) -> gix::Result<usize> {
    let on_disk = repository.git().objects;
    for object in &mut *objects {
        let file = fsync::loose_object_path(&repository.common_dir, object.id);
        object.stamp = FileStamp::from_path(&file);
    }
    let is_missing = |it: &&WrittenObject| it.stamp.is_none() && !on_disk.exists(&it.id);
    let missing: Vec<_> = objects.iter().filter(is_missing).collect();
    for object in &missing {
        write_object(repository, &on_disk, object.id, object.kind, &object.data)?;
    }
    let common_dir = &repository.common_dir;
    let files: Vec<_> =
        missing.iter().map(|it| fsync::loose_object_path(common_dir, it.id)).collect();
    fsync::sync_files_and_folders(&files).map_err(gix::Error::from_error)?;
    Ok(missing.len())
}

/// Removes old temporary object files that crashed writers left.
pub(crate) fn remove_old_temporaries(common_dir: &Path) {
    let Ok(entries) = fs::read_dir(common_dir.join("objects")) else { return };
    for entry in entries.flatten() {
        let is_temporary = entry.file_name().to_string_lossy().starts_with(TEMPORARY_PREFIX);
        let metadata = entry.metadata().ok().filter(|it| is_temporary && it.is_file());
        let age = metadata.and_then(|it| it.modified().ok()?.elapsed().ok());
        if age.is_some_and(|it| it >= MIN_STALE_AGE) {
            drop(fs::remove_file(entry.path()));
        }
    }
}

/// Writes an object, also if there is a file of its name.
fn write_object(
    repository: &Repository,
    on_disk: &OdbHandle,
    id: ObjectId,
    kind: Kind,
    data: &[u8],
) -> gix::Result<()> {
    failpoint::fail_point("write object").map_err(gix::Error::from_error)?;
    let mut written = on_disk.write_buf_with_known_id(kind, data, id);
    for _ in 1..MAX_ATTEMPTS {
        // Git removes empty object folders.
        if written.is_ok() {
            break;
        }
        written = on_disk.write_buf_with_known_id(kind, data, id);
    }
    let file = fsync::loose_object_path(&repository.common_dir, written?);
    let shared_mode = repository.shared_mode;
    let folder = file.parent().map_or(Ok(()), |it| shared_mode.adjust(it));
    folder.and_then(|()| shared_mode.adjust(&file)).map_err(gix::Error::from_error)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::{Duration, SystemTime};

    use crate::store::test_repository::{TestHome, change_of_one_file, commit_ok};

    const HALL: &str = "rooms/hall.yaml";

    #[test]
    fn an_object_truncated_by_a_power_cut_is_written_again() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        // The ids of the next contents, from `git hash-object`.
        for (text, id, left) in [
            ("2\n", "0cfbf08886fca9a91cb753ec8734c84fcbe52c9f", ""),
            ("3\n", "00750edc07d6415dcc07ae0351e9397b0222b7ba", "x"),
        ] {
            let folder = scene.home.join(".git/objects").join(&id[..2]);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(&id[2..]), left).unwrap();
            let was = scene.read_file("keep/rooms/hall.yaml");
            commit_ok(&mut store, &change_of_one_file(HALL, Some(&was), Some(text)));
            assert_eq!(scene.git(&["show", "HEAD:keep/rooms/hall.yaml"]), text);
        }
        scene.assert_fsck_clean();
    }

    #[test]
    fn a_tree_of_the_last_change_that_was_damaged_since_is_noticed() {
        for damaged in ["HEAD", "HEAD^{tree}", "HEAD:keep", "HEAD:keep/rooms"] {
            for is_gone in [true, false] {
                let scene = TestHome::with_repository();
                let mut store = scene.palace("keep");
                commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
                let id = scene.git(&["rev-parse", damaged]);
                let (folder, name) = id.trim().split_at(2);
                let file = scene.home.join(".git/objects").join(folder).join(name);
                let whole = fs::read(&file).unwrap();
                fs::remove_file(&file).unwrap();
                if !is_gone {
                    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
                }
                let change = change_of_one_file(HALL, Some("1\n"), Some("2\n"));
                assert!(store.commit(&change).is_err(), "{damaged}");
                fs::remove_file(&file).unwrap_or_default();
                fs::write(&file, whole).unwrap();
                commit_ok(&mut store, &change);
                scene.assert_fsck_clean();
            }
        }
    }

    #[test]
    fn temporary_objects_are_removed_after_an_hour() {
        let scene = TestHome::with_repository();
        let objects = scene.home.join(".git/objects");
        let hours_ago = |hours| SystemTime::now() - Duration::from_hours(hours);
        for (name, hours) in [(".tmpOld", 2), (".tmpNew", 0), ("tmp_obj_git", 2)] {
            let file = fs::File::create(objects.join(name)).unwrap();
            file.set_modified(hours_ago(hours)).unwrap();
        }
        super::remove_old_temporaries(&scene.home.join(".git"));
        let left = |name: &str| objects.join(name).exists();
        assert_eq!([".tmpOld", ".tmpNew", "tmp_obj_git"].map(left), [false, true, true]);
    }
}
