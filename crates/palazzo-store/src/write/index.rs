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
use gix::index::extension::end_of_index_entry;
use gix::objs::tree::EntryKind;
use sha1::{Digest as _, Sha1};

use crate::Error;
use crate::history::commits::HistoryReader;
use crate::repo::index_file::{Stat, load_or_rebuild_index};
use crate::repo::line_endings::convert_to_git;
use crate::repo::repository::Repository;
use crate::repo::tree_diff::{TreeChange, compare};
use crate::repo::tree_lookup::{BlobEntry, compute_blob_id};
use crate::repo::{damage, palace_files};
use crate::write::lock_file::{LockFile, LockFileRecorder};
use crate::write::palazzo_lock::LockTimeouts;
use palazzo_core::model::commit_trailers;

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
pub(crate) struct LockedIndex<'a> {
    repository: &'a Repository,
    lock: LockFile,
    cached: CachedIndex,
    is_reloaded: bool,
}

impl<'a> LockedIndex<'a> {
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
        let mut locked_index = Self { repository, lock, cached, is_reloaded };
        locked_index.mark_racy_entries();
        Ok(locked_index)
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

/// The size in bytes of an entry before its path.
const ENTRY_HEAD_SIZE: usize = 62;
/// Entries are padded to a multiple of this, with at least one byte.
const ALIGNMENT: usize = 8;
/// A longer path counts as this long.
const MAX_PATH_LENGTH: usize = 0xfff;
/// The size in bytes of the signature and the size of an extension.
const EXTENSION_HEAD_SIZE: usize = 8;

/// Serialises the index into `bytes`, in place of what they hold, with the checksum at its end.
/// Returns the checksum.
///
/// gix writes an index a few bytes at a time, and hashes these with collision detection. With ten
/// thousand files that takes as long as a third of a commit, so the entries of version 2, which
/// nearly all indexes have, are written here. As in git itself, the checksum does not protect
/// against forgery.
fn serialize_index(index: &gix::index::File, bytes: &mut Vec<u8>) -> gix::Result<ObjectId> {
    bytes.clear();
    match is_version_2(index) {
        true => serialize_version_2(index, bytes)?,
        false => serialize_with_gix(index, bytes)?,
    }
    let digest = Sha1::digest(&bytes);
    bytes.extend_from_slice(&digest);
    Ok(ObjectId::Sha1(digest.into()))
}

/// Returns whether version 2 of the format can express all entries.
fn is_version_2(index: &gix::index::State) -> bool {
    let is_simple = |it: Flags| !it.intersects(Flags::EXTENDED | Flags::REMOVE);
    !index.is_sparse() && index.entries().iter().all(|it| is_simple(it.flags))
}

/// Serialises an index without the checksum.
fn serialize_with_gix(index: &gix::index::File, bytes: &mut Vec<u8>) -> gix::Result<()> {
    let options = gix::index::write::Options { skip_hash: true, ..Default::default() };
    let (_, null_digest) = index.write_to(&mut *bytes, options)?;
    bytes.truncate(bytes.len() - null_digest.as_slice().len());
    Ok(())
}

/// Serialises an index in version 2 of the format, without the checksum.
fn serialize_version_2(index: &gix::index::File, bytes: &mut Vec<u8>) -> gix::Result<()> {
    let count = to_u32(index.entries().len())?;
    bytes.reserve(index.entries().len() * 128);
    bytes.extend_from_slice(b"DIRC");
    bytes.extend_from_slice(&2_u32.to_be_bytes());
    bytes.extend_from_slice(&count.to_be_bytes());
    for entry in index.entries() {
        write_entry(bytes, entry, index);
    }
    let end_of_entries = bytes.len();
    if let Some(tree) = index.tree() {
        tree.write_to(&mut *bytes).map_err(gix::Error::from_error)?;
        if count > 0 {
            let signature = gix::index::extension::tree::SIGNATURE;
            let size = to_u32(bytes.len() - end_of_entries - EXTENSION_HEAD_SIZE)?;
            let (hash, end) = (index.object_hash(), to_u32(end_of_entries)?);
            end_of_index_entry::write_to(&mut *bytes, hash, end, [(signature, size)])?;
        }
    }
    Ok(())
}

fn write_entry(bytes: &mut Vec<u8>, entry: &gix::index::Entry, index: &gix::index::State) {
    let (stat, path) = (&entry.stat, entry.path(index));
    let numbers = [
        stat.ctime.secs,
        stat.ctime.nsecs,
        stat.mtime.secs,
        stat.mtime.nsecs,
        stat.dev,
        stat.ino,
        entry.mode.bits(),
        stat.uid,
        stat.gid,
        stat.size,
    ];
    let mut head = [0; ENTRY_HEAD_SIZE];
    for (place, number) in head.chunks_exact_mut(4).zip(numbers) {
        place.copy_from_slice(&number.to_be_bytes());
    }
    head[40..60].copy_from_slice(entry.id.as_slice());
    let length = u16::try_from(path.len().min(MAX_PATH_LENGTH)).unwrap_or_default();
    head[60..].copy_from_slice(&(entry.flags.to_storage().bits() | length).to_be_bytes());
    bytes.extend_from_slice(&head);
    bytes.extend_from_slice(path);
    let padding = ALIGNMENT - (ENTRY_HEAD_SIZE + path.len()) % ALIGNMENT;
    bytes.extend_from_slice(&[0; ALIGNMENT][..padding]);
}

fn to_u32(size: usize) -> gix::Result<u32> {
    u32::try_from(size).map_err(gix::Error::from_error)
}

/// Stages the changes of the last commit again, if Palazzo made it, for files whose index entry is
/// from before that commit while the disk has the committed content.
///
/// `git commit` reads the index before it takes the lock. If a change by Palazzo begins and ends
/// between the two, git writes the old index over the new one. That commit then fails because
/// `HEAD` has moved, but the user's next commit would revert the change. Everything else that is
/// staged is kept.
pub(crate) fn repair_stale_index(
    repository: &Repository,
    locked_index: &mut LockedIndex<'_>,
) -> Result<(), Error> {
    let failed = |err| repository.git_error("compare the index with the last commit", err);
    match restage_reverted_files(repository, locked_index).map_err(failed) {
        // Git has read the commit before, or it would have fetched it: no index of git is from then.
        Ok(()) | Err(Error::PartialClone { .. }) => Ok(()),
        // Writes need the last commit only, and the one before may be damaged.
        Err(_) => damage::check_head_commit(repository, repository.head()?),
    }
}

fn restage_reverted_files(
    repository: &Repository,
    locked_index: &mut LockedIndex<'_>,
) -> gix::Result<()> {
    let past = HistoryReader::new(repository);
    let Some(head) = past.git.head()?.id().map(gix::Id::detach) else { return Ok(()) };
    let Some(step) = past.walk_first_parents(head)?.next().transpose()? else { return Ok(()) };
    let [parent] = step.parents[..] else { return Ok(()) };
    if past.read_commit_details(&step)?.trailer(commit_trailers::TOOL).is_none() {
        return Ok(());
    }
    let trees = (past.palace_tree(parent)?, past.palace_tree(head)?);
    let mut reverted = compare(&past.git, trees.0, trees.1)?;
    reverted.retain(|it| is_reverted(repository, &past.git, locked_index, it).unwrap_or(false));
    let tracked: Vec<_> =
        reverted.iter().map(|it| format!("{}{}", repository.prefix, it.path)).collect();
    let files = tracked.iter().zip(&reverted);
    locked_index.stage_files(
        files.map(|(path, it)| (path.as_str().into(), it.now.map(BlobEntry::from), None)),
    );
    Ok(())
}

fn is_reverted(
    repository: &Repository,
    git: &gix::Repository,
    locked_index: &LockedIndex<'_>,
    changed: &TreeChange,
) -> gix::Result<bool> {
    let TreeChange { path, was, now, .. } = changed;
    let tracked = format!("{}{path}", repository.prefix);
    if locked_index.staged_id(&tracked) != was.map(|it| it.id) {
        return Ok(false);
    }
    let Ok(text) = palace_files::read_file(&repository.palace, path) else { return Ok(false) };
    let bytes = text
        .as_deref()
        .map(|it| convert_to_git(git, locked_index.index(), &tracked, it))
        .transpose()?;
    let on_disk = bytes.map(|it| compute_blob_id(git, &it)).transpose()?;
    Ok(on_disk == now.map(|it| it.id))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
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

    #[test]
    fn an_index_has_the_bytes_that_gix_would_write() {
        let scene = TestHome::with_repository();
        for length in 1..=9 {
            scene.write_file(&format!("a/{}", "n".repeat(length)), "text\n");
        }
        scene.write_file(&format!("{0}/{0}/{0}", "long".repeat(60)), "long\n");
        scene.git(&["add", "a", "long".repeat(60).as_str()]);
        scene.git(&["commit", "-qm", "files"]);
        scene.git(&["read-tree", "HEAD"]);
        scene.git(&["update-index", "--refresh"]);
        scene.git(&["update-index", "--assume-unchanged", "a/nn"]);
        let open = || gix::open(&scene.home).unwrap().open_index().unwrap();
        let mut index = open();
        assert!(index.tree().is_some());
        let (mut bytes, mut expected) = (Vec::new(), Vec::new());
        serialize_version_2(&index, &mut bytes).unwrap();
        serialize_with_gix(&index, &mut expected).unwrap();
        assert_eq!(bytes, expected);
        // Without cached trees there is no extension.
        index.remove_tree();
        let (mut bytes, mut expected) = (Vec::new(), Vec::new());
        serialize_version_2(&index, &mut bytes).unwrap();
        serialize_with_gix(&index, &mut expected).unwrap();
        assert_eq!(bytes, expected);
        // Git reads what is written in place of other bytes.
        serialize_index(&open(), &mut bytes).unwrap();
        std::fs::write(scene.home.join(".git/index"), bytes).unwrap();
        assert_eq!(scene.status(), "");
        scene.git(&["update-index", "--skip-worktree", "notes.md"]);
        assert!(!is_version_2(&open()));
    }

    const ATTIC: &str = "rooms/attic.yaml";

    #[test]
    fn a_damaged_commit_before_the_last_does_not_prevent_a_write() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
        let tree = scene.git(&["rev-parse", "HEAD~1:keep"]);
        let (folder, name) = tree.trim().split_at(2);
        fs::remove_file(scene.home.join(".git/objects").join(folder).join(name)).unwrap();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, Some("2\n"), Some("3\n")));
        assert_eq!(scene.status(), "");
    }

    #[test]
    fn an_index_overwritten_by_a_concurrent_commit_is_repaired() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(
            &mut store,
            &change_of_files(&[(HALL, None, Some("1\n")), (ATTIC, None, Some("1\n"))]),
        );
        scene.write_file("plans.md", "soon\n");
        scene.git(&["add", "plans.md"]);
        let index = scene.home.join(".git/index");
        let old = fs::read(&index).unwrap();
        commit_ok(
            &mut store,
            &change_of_files(&[(HALL, Some("1\n"), Some("2\n")), (ATTIC, Some("1\n"), None)]),
        );
        fs::write(&index, old).unwrap();
        commit_ok(&mut store, &change_of_one_file("rooms/cellar.yaml", None, Some("1\n")));
        assert_eq!(scene.status(), "A  plans.md\n");
        scene.git(&["commit", "-qm", "by hand"]);
        assert_eq!(scene.git(&["show", "HEAD:keep/rooms/hall.yaml"]), "2\n");
        scene.assert_fsck_clean();
    }

    #[test]
    fn a_revert_staged_by_the_user_is_kept() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
        scene.git(&["revert", "--no-commit", "HEAD"]);
        commit_ok(&mut store, &change_of_one_file(ATTIC, None, Some("1\n")));
        assert_eq!(scene.status(), "M  keep/rooms/hall.yaml\n");
    }
}
