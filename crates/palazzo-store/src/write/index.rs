//! Reads and changes git's index, under git's own lock.
//!
//! Only the entries of written paths change; everything else that is staged stays staged. Two
//! things that git does and gix does not are done here: the cached trees along a changed path are
//! invalidated (otherwise the next `git commit` by the user would restore the old file), and
//! entries too recent to be trusted are marked so that git reads the files.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use gix::ObjectId;
use gix::bstr::{BStr, ByteSlice as _};
use gix::index::entry::{Flags, Mode, Stage};
use gix::objs::tree::EntryKind;

use crate::Error;
use crate::repo::blob_entry::BlobEntry;
use crate::repo::index_bytes::serialize_index;
use crate::repo::index_file::{Stat, load_or_rebuild_index};
use crate::repo::repository::Repository;
use crate::write::lock_file::{LockFile, LockFileRecorder};
use crate::write::palazzo_lock::LockTimeouts;

/// The name of the index in the git directory of a worktree.
const INDEX_FILE: &str = "index";
/// Up to how many entries are added or removed one by one instead of all at once.
const FEW_ENTRIES: usize = 16;

/// The index as this process last wrote it, so that it need not be read again.
pub(crate) struct CachedIndex {
    index: gix::index::File,
    /// The checksum at the end of the index file; `None`: it has not been written.
    digest: Option<ObjectId>,
    /// Memory for the file, so that none is taken for each write.
    buffer: Vec<u8>,
}

/// The index while this process holds its lock.
pub(crate) struct Staging<'a> {
    repository: &'a Repository,
    lock: LockFile,
    cached: CachedIndex,
    is_reloaded: bool,
}

impl<'a> Staging<'a> {
    /// Takes the lock and loads the index, or uses `cached` if no program has written it since.
    pub(crate) fn open(
        repository: &'a Repository,
        git: &gix::Repository,
        cached: Option<CachedIndex>,
        timeouts: &LockTimeouts,
        record: &mut LockFileRecorder<'_>,
    ) -> Result<Self, Error> {
        let deadline = Instant::now() + timeouts.index;
        let git_dir = &repository.git_dir;
        let lock = LockFile::acquire(repository, git_dir, INDEX_FILE, deadline, record)?;
        let path = lock.locked_path().to_owned();
        let is_current =
            |it: &CachedIndex| it.digest.is_some() && it.digest == read_index_digest(&path);
        let cached = cached.filter(is_current);
        let is_reloaded = cached.is_none();
        let failed = |err| repository.git_error("read the index", err);
        let cached = cached.map_or_else(|| CachedIndex::load(git), Ok).map_err(failed)?;
        if cached.index.is_sparse() {
            return Err(Error::SparseIndex { place: repository.work.clone() });
        }
        let mut staging = Self { repository, lock, cached, is_reloaded };
        staging.mark_racy_entries();
        Ok(staging)
    }

    /// Returns true if another program may have written the index since this process last did.
    pub(crate) fn is_reloaded(&self) -> bool {
        self.is_reloaded
    }

    /// Returns the index with the staged changes.
    pub(crate) fn index(&self) -> &gix::index::State {
        &self.cached.index
    }

    /// Returns true if `path` has an unresolved merge conflict.
    pub(crate) fn is_unmerged(&self, path: &str) -> bool {
        let index = self.index();
        let entries = index.entry_range(path.into()).map(|it| &index.entries()[it]);
        entries.is_some_and(|them| them.iter().any(|it| it.stage() != Stage::Unconflicted))
    }

    /// Returns the id of the blob staged for `path`.
    pub(crate) fn staged_id(&self, path: &str) -> Option<ObjectId> {
        let entry = self.index().entry_by_path_and_stage(path.into(), Stage::Unconflicted)?;
        (!entry.flags.contains(Flags::INTENT_TO_ADD)).then_some(entry.id)
    }

    /// Stages files, and removes those without an entry. Without a stat, git will read the file
    /// itself. Takes all files at once, because the index is sorted as a whole.
    pub(crate) fn stage_files<'f>(
        &mut self,
        files: impl IntoIterator<Item = (&'f BStr, Option<BlobEntry>, Option<Stat>)>,
    ) {
        let (mut new, mut gone) = (Vec::new(), BTreeSet::new());
        for (path, blob, stat) in files {
            self.invalidate_cached_trees(path);
            let Some(blob) = blob else {
                gone.extend(self.cached.index.entry_range(path).into_iter().flatten());
                continue;
            };
            let executable = blob.kind == EntryKind::BlobExecutable;
            let mode = if executable { Mode::FILE_EXECUTABLE } else { Mode::FILE };
            let stat = stat.unwrap_or_default();
            match self.cached.index.entry_mut_by_path_and_stage(path, Stage::Unconflicted) {
                Some(entry) => {
                    (entry.id, entry.mode, entry.stat) = (blob.id, mode, stat);
                    entry.flags = Flags::empty();
                }
                None => new.push((path, blob.id, mode, stat)),
            }
        }
        self.remove_entries(&gone);
        for (path, ..) in &new {
            self.remove_conflicting_entries(path);
        }
        self.add_entries(&new);
    }

    /// Adds entries for paths that have none.
    fn add_entries(&mut self, new: &[(&BStr, ObjectId, Mode, Stat)]) {
        let index = &mut self.cached.index;
        // Sorting compares all entries.
        let are_few = new.len() <= FEW_ENTRIES;
        for (path, id, mode, stat) in new {
            let place = are_few.then(|| index.entry_index_by_path(path).unwrap_or_else(|it| it));
            index.dangerously_push_entry(*stat, *id, Flags::empty(), *mode, path);
            if let Some(place) = place {
                index.entries_mut()[place..].rotate_right(1);
            }
        }
        if !are_few {
            index.sort_entries();
        }
    }

    /// Removes the entries at these positions.
    fn remove_entries(&mut self, gone: &BTreeSet<usize>) {
        // Removing a single entry moves all entries after it.
        if gone.len() > FEW_ENTRIES {
            self.cached.index.remove_entries(|at, _, _| gone.contains(&at));
        } else {
            for at in gone.iter().rev() {
                self.cached.index.remove_entry_at_index(*at);
            }
        }
    }

    /// Writes the index into its lock file.
    pub(crate) fn write_to_lock_file(&mut self) -> Result<(), Error> {
        let path = self.lock.path().to_owned();
        let failed = |err| self.repository.git_error("write the index", err);
        let CachedIndex { index, digest, buffer } = &mut self.cached;
        let new = serialize_index(index, buffer).map_err(failed)?;
        self.lock.write_all(buffer).map_err(Error::for_file("write", &path))?;
        *digest = Some(new);
        Ok(())
    }

    /// Replaces the index with the written lock file.
    pub(crate) fn replace_index(self) -> Result<CachedIndex, Error> {
        let path = self.lock.locked_path().to_owned();
        self.lock.commit().map_err(Error::for_file("replace", &path))?;
        Ok(self.cached)
    }

    /// Releases the lock; the index must be unchanged since it was opened.
    pub(crate) fn release_lock(self) -> CachedIndex {
        self.cached
    }

    /// Removes entries that conflict with a file at `path`: files at its parent folders, and files
    /// below it.
    fn remove_conflicting_entries(&mut self, path: &BStr) {
        let mut gone = Vec::new();
        for (at, _) in path.iter().enumerate().filter(|(_, byte)| **byte == b'/') {
            gone.extend(self.cached.index.entry_range(path[..at].as_bstr()));
        }
        let below: Vec<u8> = [path.as_bytes(), b"/"].concat();
        gone.extend(self.cached.index.prefixed_entries_range(below.as_bstr()));
        if gone.is_empty() {
            return;
        }
        self.cached.index.remove_entries(|at, _, _| gone.iter().any(|range| range.contains(&at)));
        self.cached.index.remove_tree();
    }

    fn invalidate_cached_trees(&mut self, path: &BStr) {
        let Some(mut tree) = self.cached.index.tree_mut() else { return };
        tree.num_entries = None;
        let mut names = path.split(|byte| *byte == b'/').peekable();
        while let Some(name) = names.next() {
            if names.peek().is_none() {
                return;
            }
            let Some(at) = tree.children.iter().position(|it| it.name.as_slice() == name) else {
                return;
            };
            tree = &mut tree.children[at];
            tree.num_entries = None;
        }
    }

    /// Marks entries as recent as the index they were read from, unless their file has the staged
    /// content: such a file may have been changed since with the same stat, and the newer index
    /// that is written now would hide that. Git does the same. An entry marked without need would
    /// let `git merge --abort` fail, which does not read the files.
    fn mark_racy_entries(&mut self) {
        let index = fs::metadata(self.lock.locked_path()).and_then(|it| it.modified());
        let since = index.ok().and_then(|it| it.duration_since(SystemTime::UNIX_EPOCH).ok());
        let Some(since) = since else { return };
        let work = &self.repository.work;
        for (entry, path) in self.cached.index.entries_mut_with_paths() {
            let written = Duration::new(entry.stat.mtime.secs.into(), entry.stat.mtime.nsecs);
            if written >= since && !has_staged_content(work, path, entry) {
                entry.stat.size = 0;
            }
        }
    }
}

/// Returns true if the file of an entry has the staged content, byte for byte.
fn has_staged_content(work: &Path, path: &BStr, entry: &gix::index::Entry) -> bool {
    let Ok(path) = gix::path::from_bstr(path) else { return false };
    let place = work.join(path);
    let is_same_size = |it: &fs::Metadata| it.is_file() && it.len() == u64::from(entry.stat.size);
    let hash = |bytes: Vec<u8>| {
        gix::objs::compute_hash(entry.id.kind(), gix::objs::Kind::Blob, &bytes).ok()
    };
    let is_readable = fs::symlink_metadata(&place).is_ok_and(|it| is_same_size(&it));
    is_readable && fs::read(&place).ok().and_then(hash) == Some(entry.id)
}

impl CachedIndex {
    /// Loads the index; if it is missing or damaged, builds it from `HEAD`.
    fn load(git: &gix::Repository) -> gix::Result<Self> {
        let index = load_or_rebuild_index(git)?;
        let digest = index.checksum();
        Ok(Self { index, digest, buffer: Vec::new() })
    }
}

/// Reads the checksum at the end of the index, which shows whether a program has written it since.
fn read_index_digest(path: &Path) -> Option<ObjectId> {
    let mut bytes = [0; 20];
    let mut file = File::open(path).ok()?;
    file.seek(SeekFrom::End(-20)).ok()?;
    file.read_exact(&mut bytes).ok()?;
    let digest = ObjectId::try_from(&bytes[..]).ok()?;
    // A null checksum means that the writer did not compute one.
    (!digest.is_null()).then_some(digest)
}

impl std::fmt::Debug for CachedIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CachedIndex").field("digest", &self.digest).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::test_repository::{TestHome, change_of_files, change_of_one_file, commit_ok};
    use palazzo_core::model::Changeset;

    const HALL: &str = "rooms/hall.yaml";

    #[test]
    fn a_missing_index_is_rebuilt_from_the_last_commit() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        fs::remove_file(scene.home.join(".git/index")).unwrap();
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
        assert_eq!(scene.status(), "");
        assert_eq!(scene.git(&["ls-files"]), "keep/rooms/hall.yaml\nnotes.md\n");
    }

    #[test]
    fn a_file_added_with_intent_to_add_is_committed() {
        let scene = TestHome::with_repository();
        scene.write_file("keep/rooms/hall.yaml", "1\n");
        scene.git(&["add", "-N", "keep"]);
        commit_ok(&mut scene.palace("keep"), &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
        assert_eq!(scene.log().lines().nth(1), Some("Ada: hand edit: rooms/hall.yaml"));
        assert_eq!(scene.status(), "");
    }

    #[test]
    fn written_entries_record_their_size_so_git_need_not_read_them() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("12345\n")));
        let entry = scene.git(&["ls-files", "--debug", "keep"]);
        assert!(entry.contains("size: 6"), "{entry}");
    }

    #[test]
    fn an_edit_in_the_clock_tick_of_the_index_is_not_hidden() {
        for (text, size, status) in [("other\n", "size: 6", "M  "), ("third\n", "size: 0", "MM ")] {
            let scene = TestHome::with_repository();
            // The state after git did everything within one clock tick: a file as recent as the
            // index.
            scene.write_file("notes.md", "other\n");
            let index = fs::File::open(scene.home.join(".git/index")).unwrap();
            let tick = index.metadata().unwrap().modified().unwrap();
            let set_tick = |file: &str| {
                let file = fs::File::options().write(true).open(scene.home.join(file)).unwrap();
                file.set_modified(tick).unwrap();
            };
            set_tick("notes.md");
            scene.git(&["add", "notes.md"]);
            scene.write_file("notes.md", text);
            set_tick("notes.md");
            set_tick(".git/index");
            commit_ok(&mut scene.palace("keep"), &change_of_one_file(HALL, None, Some("1\n")));
            let shown = scene.git(&["ls-files", "--debug", "notes.md"]);
            assert!(shown.contains(size), "{shown}");
            assert_eq!(scene.status(), format!("{status}notes.md\n"));
        }
    }

    #[test]
    fn other_staged_changes_are_kept_between_two_writes() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        scene.write_file("notes.md", "changed\n");
        scene.git(&["add", "notes.md"]);
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
        assert_eq!(scene.status(), "M  notes.md\n");
        scene.git(&["rm", "-q", "--cached", "notes.md"]);
        commit_ok(&mut store, &change_of_one_file(HALL, Some("2\n"), Some("3\n")));
        assert_eq!(scene.status(), "D  notes.md\n?? notes.md\n");
    }

    #[test]
    fn files_outside_a_sparse_checkout_are_not_hand_deletions() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        let two = [(HALL, None, Some("1\n")), ("scrolls/hall/one.md", None, Some("one\n"))];
        commit_ok(&mut store, &change_of_files(&two));
        scene.git(&["sparse-checkout", "set", "--no-cone", "/notes.md", "/keep/scrolls/"]);
        assert!(!scene.home.join("keep/rooms").exists());
        for commit in [true, false] {
            let refused =
                store.commit(&Changeset { commit, ..change_of_one_file(HALL, None, Some("2\n")) });
            assert_eq!(
                refused.unwrap_err().to_string(),
                format!(
                    "`rooms/hall.yaml` is outside the sparse checkout; run `git -C {} \
                     sparse-checkout add keep` first",
                    scene.home.display()
                )
            );
        }
        assert_eq!(scene.log().lines().count(), 2);
        let change = change_of_one_file("scrolls/hall/one.md", Some("one\n"), Some("two\n"));
        commit_ok(&mut store, &change);
        assert_eq!(scene.git(&["show", "HEAD:keep/rooms/hall.yaml"]), "1\n");
        assert_eq!(scene.status(), "");
    }

    #[test]
    fn an_empty_or_damaged_index_is_rebuilt_from_the_last_commit() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("0\n")));
        let place = scene.home.join(".git/index");
        let whole = fs::read(&place).unwrap();
        for (at, left) in [b"".as_slice(), b"garbage", &whole[..whole.len() / 2]].iter().enumerate()
        {
            fs::write(&place, left).unwrap();
            let mut store = scene.palace("keep");
            let (was, now) = (format!("{at}\n"), format!("{}\n", at + 1));
            commit_ok(&mut store, &change_of_one_file(HALL, Some(&was), Some(&now)));
            assert_eq!(scene.status(), "");
            assert_eq!(scene.git(&["ls-files"]), "keep/rooms/hall.yaml\nnotes.md\n");
        }
        scene.assert_fsck_clean();
    }
}
