//! Writes objects, and gives them their names only when they are durable.
//!
//! Each is written under a temporary name, of which git takes no notice; one sync makes all of them
//! durable, and then they are renamed. So a power failure leaves no object of which a part is
//! missing. Because git may delete an object that no reference reaches yet, the writer keeps its
//! objects until the reference has moved.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use gix::objs::{Exists as _, Kind, Write as _, WriteTo};
use gix::odb::memory::Storage;
use gix::zlib::Status;
use gix::zlib::stream::deflate::{Compress, FlushCompress};
use gix::{ObjectId, OdbHandle};
use tempfile::TempPath;

use crate::Error;
use crate::repo::failpoint;
use crate::repo::fsync;
use crate::repo::palace_files::FileStamp;
use crate::repo::repository::Repository;
use crate::repo::{processes, regular_file};

/// The beginning of the names of temporary object files; gix uses it too. Git neither reads nor
/// deletes them.
const TEMPORARY_PREFIX: &str = ".tmp";
/// No write takes this long.
const MIN_STALE_AGE: Duration = Duration::from_secs(60 * 60);
/// How many bytes of trees and commits are kept for the next change.
const MAX_MEMORY_BYTES: usize = 16 * 1024 * 1024;
/// How often naming an object is attempted while git may be removing its folder.
const MAX_ATTEMPTS: usize = 5;

/// A written object.
#[derive(Clone, Debug)]
pub(crate) struct WrittenObject {
    pub(crate) id: ObjectId,
    kind: Kind,
    data: Vec<u8>,
    /// The stamp of its file when it was last looked for; `None`: never, or it is in a pack.
    pub(crate) stamp: Option<FileStamp>,
}

/// Writes the objects of one change and keeps a copy of each.
pub(crate) struct ObjectWriter<'g> {
    repository: &'g Repository,
    /// Has the new trees and commits in memory, because they have no names on disk yet.
    git: &'g gix::Repository,
    /// The objects on disk.
    on_disk: OdbHandle,
    loose: gix::odb::loose::Store,
    files: LooseObjectFiles<'g>,
    written: Vec<WrittenObject>,
}

/// Files of new objects, each under a temporary name. Dropping it deletes those without a name.
struct LooseObjectFiles<'g> {
    repository: &'g Repository,
    compress: Compress,
    buffer: Vec<u8>,
    unnamed: Vec<(TempPath, ObjectId)>,
}

impl<'g> ObjectWriter<'g> {
    /// Creates a writer for `repository`, which is read through `git`.
    pub(crate) fn new(repository: &'g Repository, git: &'g gix::Repository) -> Self {
        let folder = repository.common_dir.join("objects");
        let loose = gix::odb::loose::Store::at(folder, git.object_hash());
        let files = LooseObjectFiles::new(repository, git);
        Self {
            repository,
            git,
            on_disk: repository.git().objects,
            loose,
            files,
            written: Vec::new(),
        }
    }

    /// Returns the repository as it is read.
    pub(crate) fn git(&self) -> &'g gix::Repository {
        self.git
    }

    /// Writes a blob, unless it exists.
    pub(crate) fn write_blob(&mut self, data: &[u8]) -> gix::Result<ObjectId> {
        let id = gix::objs::compute_hash(self.git.object_hash(), Kind::Blob, data)?;
        if !self.is_intact(id) {
            self.files.write(id, Kind::Blob, data).map_err(gix::Error::from_error)?;
        }
        self.keep(id, Kind::Blob, data.to_owned());
        Ok(id)
    }

    /// Writes a tree or a commit. Because nearly all of them are new, it does not look whether it
    /// exists; replacing it by the same is harmless.
    pub(crate) fn write(&mut self, object: &dyn WriteTo) -> gix::Result<ObjectId> {
        let (mut data, kind) = (Vec::new(), object.kind());
        object.write_to(&mut data).map_err(gix::Error::from_error)?;
        let id = self.git.objects.write_buf(kind, &data)?;
        self.files.write(id, kind, &data).map_err(gix::Error::from_error)?;
        self.keep(id, kind, data);
        Ok(id)
    }

    /// Makes the new objects and the files `others`, which lie in `place`, durable, and then gives
    /// the objects their names.
    pub(crate) fn publish(&mut self, place: &Path, others: Vec<PathBuf>) -> Result<(), Error> {
        fsync::sync_names(&self.files.publish(place, others)?)
    }

    /// Writes objects again that git has deleted since, and makes them durable.
    pub(crate) fn restore_missing(&mut self) -> gix::Result<()> {
        restore_missing(self.repository, &mut self.written).map(drop)
    }

    /// Returns the written objects.
    pub(crate) fn into_objects(self) -> Vec<WrittenObject> {
        self.written
    }

    fn keep(&mut self, id: ObjectId, kind: Kind, data: Vec<u8>) {
        self.written.push(WrittenObject { id, kind, data, stamp: None });
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

impl<'g> LooseObjectFiles<'g> {
    fn new(repository: &'g Repository, git: &gix::Repository) -> Self {
        let compress = Compress::new(git.objects.loose_compression);
        Self { repository, compress, buffer: Vec::new(), unnamed: Vec::new() }
    }

    /// Writes an object under a temporary name.
    fn write(&mut self, id: ObjectId, kind: Kind, data: &[u8]) -> io::Result<()> {
        failpoint::fail_point("write object")?;
        self.compress(&[&gix::objs::encode::loose_header(kind, data.len() as u64), data].concat())?;
        let mut builder = tempfile::Builder::new();
        let prefix = temporary_prefix(processes::own_process_id());
        builder.prefix(&prefix);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o444));
        let mut file = builder.tempfile_in(self.repository.common_dir.join("objects"))?;
        file.write_all(&self.buffer)?;
        self.repository.shared_mode.adjust_file(file.as_file())?;
        self.unnamed.push((file.into_temp_path(), id));
        Ok(())
    }

    /// Makes the objects and the files `others`, which lie in `place`, durable, and then gives the
    /// objects their names. Returns their paths; their names are not durable yet.
    fn publish(&mut self, place: &Path, others: Vec<PathBuf>) -> Result<Vec<PathBuf>, Error> {
        let unnamed = self.unnamed.iter().map(|(file, _)| file.to_path_buf());
        let files = others.into_iter().chain(unnamed).collect();
        // Opening the folder of the objects wakes no watcher of the palace or of the folder above.
        let objects = self.repository.common_dir.join("objects");
        fsync::sync_file_systems_or_files(&[&objects, place], || files)?;
        failpoint::kill_point("objects are durable");
        let unnamed = std::mem::take(&mut self.unnamed).into_iter();
        let named: io::Result<_> = unnamed.map(|(file, id)| self.give_name(file, id)).collect();
        named.map_err(Error::for_file("write an object in", &objects))
    }

    /// Compresses `content` into the buffer.
    fn compress(&mut self, content: &[u8]) -> io::Result<()> {
        // What cannot be compressed grows by at most an eighth.
        self.buffer.resize(2 * content.len() + 64, 0);
        self.compress.reset();
        let (before, finish) = (self.compress.total_out(), FlushCompress::Finish);
        match self.compress.compress(content, &mut self.buffer, finish) {
            Ok(Status::StreamEnd) => {}
            Ok(_) => return Err(io::Error::other("an object cannot be compressed")),
            Err(err) => return Err(io::Error::other(err)),
        }
        let size = self.compress.total_out() - before;
        self.buffer.truncate(usize::try_from(size).map_err(io::Error::other)?);
        Ok(())
    }

    fn give_name(&self, mut file: TempPath, id: ObjectId) -> io::Result<PathBuf> {
        let path = fsync::loose_object_path(&self.repository.common_dir, id);
        if self.repository.object_folders.add(id) {
            self.create_folder(&path)?;
        }
        for attempt in 1.. {
            let Err(err) = file.persist(&path) else { break };
            // Windows does not replace a file that is open, or read-only.
            if cfg!(windows) && path.is_file() {
                break;
            }
            if attempt == MAX_ATTEMPTS || err.error.kind() != io::ErrorKind::NotFound {
                return Err(err.error);
            }
            file = err.path;
            // Git removes empty object folders.
            self.create_folder(&path)?;
        }
        Ok(path)
    }

    /// Creates the folder of an object, unless it exists.
    fn create_folder(&self, object: &Path) -> io::Result<()> {
        match object.parent().map(|it| self.repository.shared_mode.create_dir(it)) {
            Some(Err(err)) if err.kind() != io::ErrorKind::AlreadyExists => Err(err),
            _ => Ok(()),
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
    let git = repository.git();
    let mut writer = ObjectWriter::new(repository, &git);
    for text in texts {
        let written = writer.write_blob(text.as_bytes());
        written.map_err(|err| repository.git_error("write objects", err))?;
        // The blobs of an import may be too many to keep.
        writer.written.clear();
    }
    writer.publish(&repository.common_dir, Vec::new())
}

/// Writes those of `objects` that are missing, and makes them durable; returns their number.
pub(crate) fn restore_missing(
    repository: &Repository,
    objects: &mut [WrittenObject],
) -> gix::Result<usize> {
    let git = repository.git();
    for object in &mut *objects {
        let file = fsync::loose_object_path(&repository.common_dir, object.id);
        object.stamp = FileStamp::from_path(&file);
    }
    let is_missing = |it: &&WrittenObject| it.stamp.is_none() && !git.objects.exists(&it.id);
    let missing: Vec<_> = objects.iter().filter(is_missing).collect();
    if !missing.is_empty() {
        let mut files = LooseObjectFiles::new(repository, &git);
        for it in &missing {
            files.write(it.id, it.kind, &it.data).map_err(gix::Error::from_error)?;
        }
        let named = files.publish(&repository.common_dir, Vec::new());
        let durable = named.and_then(|it| fsync::sync_files_and_folders(&it));
        durable.map_err(gix::Error::from_error)?;
    }
    Ok(missing.len())
}

/// Removes old temporary object files that crashed writers left.
pub(crate) fn remove_old_temporaries(common_dir: &Path) {
    remove_temporaries(common_dir, TEMPORARY_PREFIX, MIN_STALE_AGE);
}

/// Removes the temporary object files of a process, which is dead.
pub(crate) fn remove_temporaries_of_process(common_dir: &Path, process: u32) {
    remove_temporaries(common_dir, &temporary_prefix(process), Duration::ZERO);
}

fn temporary_prefix(process: u32) -> String {
    format!("{TEMPORARY_PREFIX}-{process}-")
}

fn remove_temporaries(common_dir: &Path, prefix: &str, min_age: Duration) {
    for entry in regular_file::list_folder(&common_dir.join("objects")) {
        let is_temporary = entry.file_name().to_string_lossy().starts_with(prefix);
        let metadata = entry.metadata().ok().filter(|it| is_temporary && it.is_file());
        let modified = metadata.and_then(|it| it.modified().ok());
        if modified.is_some_and(|it| it.elapsed().unwrap_or_default() >= min_age) {
            drop(fs::remove_file(entry.path()));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::test_repository::{TestHome, change_of_one_file, commit_ok};

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
    fn an_object_gets_its_name_when_it_is_published_or_leaves_nothing() {
        let scene = TestHome::with_repository();
        let store = scene.palace("keep");
        let repository = store.repository.require().unwrap();
        let objects = scene.home.join(".git/objects");
        let list = || walkdir::WalkDir::new(&objects).into_iter().count();
        let before = list();
        for is_published in [false, true] {
            let git = repository.git();
            let mut writer = ObjectWriter::new(&repository, &git);
            // What cannot be compressed, and an empty object.
            let noise: Vec<u8> =
                (0..9_999u32).flat_map(|it| it.wrapping_pow(7).to_be_bytes()).collect();
            let ids = [&noise[..], b""].map(|it| writer.write_blob(it).unwrap());
            let mode = gix::objs::tree::EntryKind::Blob.into();
            let entry = gix::objs::tree::Entry { mode, filename: "noise".into(), oid: ids[0] };
            let tree = writer.write(&gix::objs::Tree { entries: vec![entry] }).unwrap();
            assert_eq!(writer.git().find_tree(tree).unwrap().id, tree);
            assert_eq!(list(), before + 3);
            assert!(!repository.git().has_object(tree));
            if is_published {
                writer.publish(&scene.home, Vec::new()).unwrap();
                assert_eq!(scene.git(&["cat-file", "-s", &ids[0].to_string()]), "39996\n");
                assert_eq!(scene.git(&["cat-file", "-t", &tree.to_string()]), "tree\n");
                assert_eq!(scene.git(&["cat-file", "-s", &ids[1].to_string()]), "0\n");
            } else {
                drop(writer);
                assert_eq!(list(), before);
            }
        }
        scene.git(&["fsck", "--strict", "--no-dangling"]);
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

    #[test]
    fn the_next_write_removes_the_objects_that_a_killed_process_was_writing() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        let names =
            [".tmp-7-abcdef", ".tmp-77-abcdef"].map(|it| scene.home.join(".git/objects").join(it));
        for name in &names {
            fs::write(name, "x").unwrap();
        }
        fs::write(scene.home.join(".git/palazzo/writing"), "pid 7\n").unwrap();
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
        assert_eq!(names.map(|it| it.exists()), [false, true]);
    }
}
