//! Reads the palace as of a commit, or one file of it, by the same rules as on disk.
//!
//! Anyone may have made the commit, and a huge tree costs its author nothing: a tree can contain
//! another a thousand times. So the number of entries and bytes is limited.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};

use chrono::{DateTime, Utc};
use gix::ObjectId;
use gix::bstr::ByteSlice as _;
use gix::objs::TreeRefIter;
use gix::objs::tree::{EntryKind, EntryMode};
use rayon::prelude::*;

use palazzo_core::model::{
    Code, CommitDetails, CommitId, Diagnostic, Files, PALACE_FOLDERS, max_file_bytes,
};

use crate::history::commits;
use crate::history::commits::HistoryReader;
use crate::repo::note_folders::LocatedNoteFolder;
use crate::repo::palace_files::{FileReadError, FileStamp, FileStamps, SETTINGS_FILE};
use crate::repo::repository::Repository;
use crate::repo::tree_lookup::{find_blob_entry, find_folder, tree_of_commit};
use crate::repo::{palace_files, paths};
use crate::{Error, Source, Store};

/// The maximum number of files and folders.
const MAX_ENTRIES: usize = 500_000;
/// The maximum total size of the files in bytes.
const MAX_BYTES: u64 = 1 << 30;
/// The number of files up to which each is looked up by itself.
const MAX_SINGLE_FILES: usize = 16;
/// The number of files per thread and chunk.
const FILES_PER_CHUNK: usize = 256;

/// Maximum number of commits of the file that are read.
const MAX_COMMITS: usize = 50;

impl Store {
    /// Returns a read-only store of the palace as of `commit`.
    pub fn as_of(&self, commit: &CommitId) -> Result<Self, Error> {
        let repository = self.require_repository()?;
        let past = HistoryReader::new(&repository);
        let failed = |err| repository.git_error("read an old commit", err);
        let id = commits::parse_commit_id(commit).map_err(failed)?;
        let summary = past.read_commit_summary(id).map_err(failed)?;
        if past.palace_tree(id).map_err(failed)?.is_none() {
            let first = self.head()?.and_then(|it| {
                describe_first_palace_commit(&past, commits::parse_commit_id(&it).ok()?)
            });
            let (short, at) = (summary.short, format_time(summary.at));
            return Err(Error::PalaceNotYetCreated { short, at, first });
        }
        let store = Self::with_repository(self.repository.clone_unopened());
        Ok(Self { source: Source::Commit(summary), ..store })
    }

    /// Lists the files at or below `path`, all files if it is empty, in the newest commit.
    pub(crate) fn list_files_at_head(
        &self,
        path: &str,
    ) -> Result<(FileStamps, Vec<Diagnostic>), Error> {
        let repository = self.require_repository()?;
        let tip = self.history_tip(&repository)?;
        repository.read_history("list the files of a commit", |past| {
            let mut list = TreeFileList::of_commit(past, tip)?;
            let below = format!("{path}/");
            let is_wanted =
                |it: &str| path.is_empty() || it == path || it.starts_with(below.as_str());
            list.findings.retain(|it| is_wanted(&it.file));
            let files = list.files.into_iter().filter(|it| is_wanted(&it.path));
            let stamps = files.map(|it| (it.path, FileStamp::of_blob(it.id)));
            Ok((stamps.collect(), list.findings))
        })
    }

    /// Reads all files of the palace as of `commit`.
    pub(crate) fn read_all_files_at(
        &self,
        commit: &CommitId,
    ) -> Result<(Files, Vec<Diagnostic>), Error> {
        let repository = self.require_repository()?;
        let read = repository.read_history("read an old commit", |past| {
            let list = TreeFileList::of_commit(past, Some(commits::parse_commit_id(commit)?))?;
            let TreeFileList { files, mut findings, remaining_entries: left, .. } = list;
            if left == 0 {
                return Ok(None);
            }
            let Some((texts, unreadable)) = read_tree_files(&repository, &files)? else {
                return Ok(None);
            };
            findings.extend(unreadable);
            findings.sort_by(|a, b| a.file.cmp(&b.file));
            Ok(Some((texts, findings)))
        })?;
        read.ok_or_else(|| Error::CommitTooLarge { short: commit.0.chars().take(7).collect() })
    }

    /// Reads one file as of `HEAD`; `None`: it is not committed, or cannot be read.
    pub fn read_file_at_head(&self, path: &str) -> Option<String> {
        let head = self.head().ok()??;
        self.read_file_at(&head, path).ok()?.ok()?
    }

    /// Reads files as of `HEAD`, without those that are not committed, or cannot be read.
    pub fn read_files_at_head(&self, paths: &[String]) -> Files {
        if paths.len() > MAX_SINGLE_FILES {
            return self.read_many_files_at_head(paths).unwrap_or_default();
        }
        let texts = paths.iter().map(|it| (it.clone(), self.read_file_at_head(it)));
        texts.filter_map(|(path, text)| Some((path, text?))).collect()
    }

    /// Reads files with a single look at the tree of the palace.
    fn read_many_files_at_head(&self, paths: &[String]) -> Option<Files> {
        let repository = self.require_repository().ok()?;
        let past = HistoryReader::new(&repository);
        let tip = self.history_tip(&repository).ok()?;
        let mut list = TreeFileList::of_commit(&past, tip).ok()?;
        let wanted: HashSet<_> = paths.iter().collect();
        list.files.retain(|it| wanted.contains(&it.path));
        Some(read_tree_files(&repository, &list.files).ok()??.0)
    }

    /// Reads one file as of `commit`; `None`: the commit does not have it.
    pub fn read_file_at(
        &self,
        commit: &CommitId,
        path: &str,
    ) -> Result<Result<Option<String>, Diagnostic>, Error> {
        let is_note = self.is_note(path);
        if let Err(err) = paths::check_path(path)
            && !is_note
        {
            return Ok(Err(palace_files::invalid_path_finding(Code::FileName, path, &err)));
        }
        let repository = self.require_repository()?;
        repository.read_history("read an old commit", |past| {
            let commit = commits::parse_commit_id(commit)?;
            let (tree, path_in_tree) = match is_note {
                true => (Some(past.root_tree(commit)?), repository.path_in_repository(path)),
                false => (past.palace_tree(commit)?, path.to_owned()),
            };
            let Some(tree) = tree else { return Ok(Ok(None)) };
            let found = past.git.find_tree(tree)?.lookup_entry(path_in_tree.split('/'))?;
            match found {
                None => Ok(Ok(None)),
                Some(it) => Ok(read_text_blob(past, path, it.mode(), it.object_id())?.map(Some)),
            }
        })
    }

    /// Returns whether files are executable, by path, in the first of `commits` that has them.
    pub fn executable_bits<'c>(
        &self,
        commits: impl Iterator<Item = &'c CommitId>,
        paths: &[&str],
    ) -> Result<BTreeMap<String, bool>, Error> {
        let mut found = BTreeMap::new();
        if paths.is_empty() {
            return Ok(found);
        }
        let repository = self.require_repository()?;
        let git = repository.git();
        let mut read = |commit| -> gix::Result<()> {
            let tree = tree_of_commit(&git, Some(commits::parse_commit_id(commit)?))?;
            for &path in paths {
                let tracked = repository.path_in_repository(path);
                if let Some(entry) = find_blob_entry(&git, tree, &tracked)? {
                    let is_executable = entry.kind == EntryKind::BlobExecutable;
                    found.entry(path.to_owned()).or_insert(is_executable);
                }
            }
            Ok(())
        };
        for commit in commits {
            read(commit).map_err(|err| repository.git_error("read the modes of files", err))?;
        }
        Ok(found)
    }

    /// Returns the newest committed text of a file that `is_match` accepts, also of a file that was
    /// deleted or renamed since; `None`: there is none, or it cannot be read.
    pub fn find_past_text(&self, path: &str, is_match: impl Fn(&str) -> bool) -> Option<String> {
        if let Some(text) = self.read_file_at_head(path).filter(|it| is_match(it)) {
            return Some(text);
        }
        let (mut found, mut left) = (None, MAX_COMMITS);
        let text_at = |commit: &CommitId, path: &str| self.read_file_at(commit, path).ok()?.ok()?;
        let read = |commit: CommitDetails| {
            let path = commit.path_at_commit.as_deref().unwrap_or(path);
            // The commit may have deleted the file: then its parent has the text.
            let commits = [Some(&commit.summary.id), commit.parent.as_ref()].into_iter().flatten();
            found = commits.filter_map(|it| text_at(it, path)).find(|it| is_match(it));
            left -= 1;
            found.is_none() && left > 0
        };
        self.log(&[path], read).ok()?;
        found
    }
}

/// Formats a time as a date with hours and minutes in UTC.
pub(crate) fn format_time(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%d %H:%M UTC").to_string()
}

/// Reads a tree's entry at `path` as text, or returns the finding that it is not a text file.
pub(crate) fn read_text_blob(
    past: &HistoryReader<'_>,
    path: &str,
    mode: EntryMode,
    id: ObjectId,
) -> gix::Result<Result<String, Diagnostic>> {
    if mode.is_link() {
        let (code, why) = palace_files::LINK;
        return Ok(Err(Diagnostic::for_file(code, path, why)));
    }
    if !mode.is_blob() {
        return Ok(Err(FileReadError::NotRegularFile.to_diagnostic(path)));
    }
    // The header has the size; the object need not be unpacked.
    let size = past.git.find_header(id)?.size();
    let most = max_file_bytes(path) as u64;
    if size > most {
        return Ok(Err(FileReadError::TooLarge { size, most }.to_diagnostic(path)));
    }
    Ok(palace_files::decode_utf8(path, past.git.find_blob(id)?.take_data()))
}

/// Describes the first commit with the palace, for an error message.
fn describe_first_palace_commit(past: &HistoryReader<'_>, head: ObjectId) -> Option<String> {
    let steps = past.walk_commits([head], None).ok()?.filter_map(Result::ok);
    let with = steps.filter(|it| past.palace_tree(it.id).is_ok_and(|it| it.is_some()));
    let first = past.read_commit_summary(with.last()?.id).ok()?;
    Some(format!("{} of {}", first.short, format_time(first.at)))
}

/// A file in a tree.
struct TreeFile {
    path: String,
    mode: EntryMode,
    id: ObjectId,
}

/// The files in a tree, selected by the rules of `repo/palace_files.rs`.
struct TreeFileList<'p> {
    history: &'p HistoryReader<'p>,
    files: Vec<TreeFile>,
    findings: Vec<Diagnostic>,
    /// How many more entries may be listed.
    remaining_entries: usize,
}

impl<'p> TreeFileList<'p> {
    /// Lists the files of the palace in a commit; none without one.
    fn of_commit(past: &'p HistoryReader<'p>, commit: Option<ObjectId>) -> gix::Result<Self> {
        let (files, findings) = (Vec::new(), Vec::new());
        let mut list = Self { history: past, files, findings, remaining_entries: MAX_ENTRIES };
        let Some(commit) = commit else { return Ok(list) };
        if let Some(tree) = past.palace_tree(commit)? {
            list.add_palace(tree)?;
        }
        for folder in &past.note_folders.located {
            let root = past.root_tree(commit)?;
            let tree = find_folder(&past.git, root, &folder.path_in_repository)?;
            if let Some(tree) = tree
                && !is_in_other_palace(past, root, folder)?
            {
                list.add_notes(folder, &folder.path, tree, 0)?;
            }
        }
        Ok(list)
    }

    /// Adds the notes of `folder` in the tree of a folder in it, which has the path `place` from the
    /// palace.
    fn add_notes(
        &mut self,
        folder: &LocatedNoteFolder,
        place: &str,
        tree: ObjectId,
        depth: usize,
    ) -> gix::Result<()> {
        let tree = self.history.git.find_tree(tree)?;
        let is_palace = tree.find_entry(SETTINGS_FILE).is_some();
        if is_palace && depth > 0 || depth >= palace_files::MAX_DRAWER_DEPTH {
            return Ok(());
        }
        for entry in TreeRefIter::from_bytes(&tree.data, tree.id.kind()) {
            let entry = entry?;
            self.remaining_entries = self.remaining_entries.saturating_sub(1);
            let Ok(name) = entry.filename.to_str() else { continue };
            if self.remaining_entries == 0 || name.starts_with('.') {
                continue;
            }
            let path = if place.is_empty() { name.to_owned() } else { format!("{place}/{name}") };
            let (mode, id) = (entry.mode, entry.oid.to_owned());
            let folders = &self.history.note_folders;
            if mode.is_tree() && folders.folders.may_contain(&path) {
                self.add_notes(folder, &path, id, depth + 1)?;
            } else if folders.is_note_of(folder, &path) && mode.is_link() {
                self.add_finding(&path, (Code::NoteNotRead, palace_files::LINK.1));
            } else if folders.is_note_of(folder, &path) && mode.is_blob() {
                self.files.push(TreeFile { path, mode, id });
            }
        }
        Ok(())
    }

    /// Adds the files of a palace's tree.
    fn add_palace(&mut self, tree: ObjectId) -> gix::Result<()> {
        let tree = self.history.git.find_tree(tree)?;
        for entry in TreeRefIter::from_bytes(&tree.data, tree.id.kind()) {
            let entry = entry?;
            let Ok(name) = entry.filename.to_str() else { continue };
            let (mode, id) = (entry.mode, entry.oid.to_owned());
            match name {
                SETTINGS_FILE if !mode.is_tree() => {
                    self.files.push(TreeFile { path: name.to_owned(), mode, id });
                }
                folder if PALACE_FOLDERS.contains(&folder) && mode.is_tree() => {
                    self.add_folder(name, id, 1)?;
                }
                folder if PALACE_FOLDERS.contains(&folder) && mode.is_link() => {
                    self.add_finding(name, palace_files::LINK);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn add_folder(&mut self, path: &str, tree: ObjectId, depth: usize) -> gix::Result<()> {
        let tree = self.history.git.find_tree(tree)?;
        for entry in TreeRefIter::from_bytes(&tree.data, tree.id.kind()) {
            let entry = entry?;
            self.remaining_entries = self.remaining_entries.saturating_sub(1);
            if self.remaining_entries == 0 {
                return Ok(());
            }
            let name = entry.filename.to_str_lossy();
            let path = format!("{path}/{name}");
            let (mode, is_text) = (entry.mode, palace_files::is_text_file(&path));
            if name.starts_with('.') || !(mode.is_tree() || is_text) {
                continue;
            }
            match paths::check_path(&path) {
                _ if entry.filename.to_str().is_err() => {
                    self.add_finding(&path, palace_files::NOT_UNICODE);
                }
                Err(Error::InvalidPath { why, .. }) => {
                    self.add_finding(&path, (Code::FileName, why));
                }
                _ if !mode.is_tree() => {
                    self.files.push(TreeFile { path, mode, id: entry.oid.to_owned() });
                }
                _ if depth >= palace_files::max_depth(&path) => {
                    self.add_finding(&path, palace_files::TOO_DEEP);
                }
                _ => self.add_folder(&path, entry.oid.to_owned(), depth + 1)?,
            }
        }
        Ok(())
    }

    fn add_finding(&mut self, path: &str, (code, why): (Code, &str)) {
        self.findings.push(Diagnostic::for_file(code, path, why));
    }
}

/// Returns whether a folder of notes is in another palace, or is one.
fn is_in_other_palace(
    past: &HistoryReader<'_>,
    root: ObjectId,
    folder: &LocatedNoteFolder,
) -> gix::Result<bool> {
    let names = folder.path.split('/').filter(|it| !matches!(*it, "" | "..")).count();
    let mut path = folder.path_in_repository.as_str();
    for _ in 0..names {
        let tree = find_folder(&past.git, root, path)?;
        let tree = tree.map(|it| past.git.find_tree(it)).transpose()?;
        if tree.is_some_and(|it| it.find_entry(SETTINGS_FILE).is_some()) {
            return Ok(true);
        }
        path = path.rsplit_once('/').map_or("", |(above, _)| above);
    }
    Ok(false)
}

/// Reads `files` and reports the unreadable ones as findings; `None`: they are too large together.
fn read_tree_files(
    repository: &Repository,
    files: &[TreeFile],
) -> gix::Result<Option<(Files, Vec<Diagnostic>)>> {
    let bytes = AtomicU64::new(0);
    let read = files
        .par_chunks(FILES_PER_CHUNK)
        .map(|chunk| read_chunk_of_tree_files(repository, chunk, &bytes));
    let (mut texts, mut findings) = (Files::new(), Vec::new());
    for (path, text) in read.collect::<gix::Result<Vec<_>>>()?.into_iter().flatten() {
        match text {
            Ok(text) => drop(texts.insert(path.clone(), text)),
            Err(finding) => findings.push(finding),
        }
    }
    Ok((bytes.into_inner() <= MAX_BYTES).then_some((texts, findings)))
}

fn read_chunk_of_tree_files<'f>(
    repository: &Repository,
    chunk: &'f [TreeFile],
    bytes: &AtomicU64,
) -> gix::Result<Vec<(&'f String, Result<String, Diagnostic>)>> {
    let past = HistoryReader::new(repository);
    let mut read = Vec::with_capacity(chunk.len());
    for TreeFile { path, mode, id } in chunk {
        let text = read_text_blob(&past, path, *mode, *id)?;
        let size = text.as_ref().map_or(0, String::len) as u64;
        read.push((path, text));
        if bytes.fetch_add(size, Ordering::Relaxed) > MAX_BYTES {
            break;
        }
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_repository::{TestHome, change_of_one_file, commit_ok, read_all};

    const HALL: &str = "rooms/hall.yaml";

    fn store_as_of(scene: &TestHome, store: &Store, revision: &str) -> Result<Store, Error> {
        store.as_of(&CommitId(scene.git(&["rev-parse", revision]).trim().to_owned()))
    }

    #[test]
    fn a_commit_returns_the_same_files_as_the_disk() {
        for prefix in ["keep/", "deep/in/there/", ""] {
            let scene = TestHome::with_repository();
            let place = scene.home.join(prefix);
            let store = scene.store(&place);
            for path in [
                "palace.toml",
                "rooms/a.yaml",
                "rooms/w/b.yaml",
                "rooms/1/2/3/4/5/six.yaml",
                "rooms/1/2/3/4/5/6/seven.yaml",
                "scrolls/a/1.md",
                "rooms/.hidden.yaml",
                "rooms/.hidden/a.yaml",
                "rooms/a.yaml~",
                "rooms/a.txt",
                "other/a.yaml",
            ] {
                scene.write_file(&format!("{prefix}{path}"), path);
            }
            std::fs::write(place.join("rooms/latin.yaml"), b"one\ntw\xf6\n").unwrap();
            std::fs::write(
                place.join("rooms/large.yaml"),
                vec![b'x'; palazzo_core::model::MAX_FILE_BYTES + 1],
            )
            .unwrap();
            scene.git(&["add", "-f", "."]);
            scene.git(&["commit", "-qm", "all"]);
            let now = read_all(&store);
            assert_eq!((now.0.len(), now.1.len()), (5, 3));
            let then = store_as_of(&scene, &store, "HEAD").unwrap();
            assert_eq!(then.read_all_unless_on_disk().unwrap(), Some(now.clone()));
            for path in ["rooms/a.yaml", "rooms/latin.yaml", "rooms/none.yaml", "../x"] {
                assert_eq!(then.read_file(path), store.read_file(path), "{path}");
            }
        }
    }

    #[test]
    fn a_past_store_can_be_read_and_not_written() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
        let mut then = store_as_of(&scene, &store, "HEAD~1").unwrap();
        scene.write_file("keep/rooms/hall.yaml", "by hand\n");
        assert_eq!(then.read_file(HALL).unwrap().as_deref(), Some("1\n"));
        assert_eq!(then.file_stamp(HALL), None);
        assert_eq!(then.head().unwrap(), then.as_of_commit().map(|it| it.id.clone()));
        assert_eq!(then.recent_commits(9).unwrap().len(), 1);
        let mut known = crate::FileHistoryCache::default();
        then.update_file_history_cache(&mut known).unwrap();
        assert_eq!(known.history[HALL].count, 1);
        assert!(matches!(
            then.commit(&change_of_one_file(HALL, Some("1\n"), None)),
            Err(Error::ReadOnlyAsOf { .. })
        ));
        then.recover_from_crash().unwrap();
        // The store is unaffected when `HEAD` moves on.
        scene.git(&["commit", "-qam", "by hand"]);
        assert_eq!(then.read_file(HALL).unwrap().as_deref(), Some("1\n"));
    }

    #[test]
    fn a_commit_before_the_palace_existed_is_refused() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        let first = commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n"))).unwrap();
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
        let refused = store_as_of(&scene, &store, "HEAD~2").unwrap_err().to_string();
        assert!(refused.starts_with("the palace did not exist at "), "{refused}");
        let begins = format!("; its first commit is {} of 2030-03-17 17:46 UTC", &first.0[..7]);
        assert!(refused.ends_with(&begins), "{refused}");
    }

    #[test]
    fn links_and_submodules_in_a_commit_are_refused_as_on_disk() {
        let scene = TestHome::with_repository();
        let blob = scene.git_with_input(&["hash-object", "-w", "--stdin"], "x").trim().to_owned();
        let commit = scene.git(&["rev-parse", "HEAD"]).trim().to_owned();
        let tree = |entries: &str| {
            scene.git_with_input(&["mktree", "--missing"], entries).trim().to_owned()
        };
        let rooms = tree(&format!(
            "100755 blob {blob}\tgood.yaml\n120000 blob {blob}\tlink.yaml\n160000 commit {commit}\tother.yaml\n100644 blob {blob}\tback\\slash.yaml\n"
        ));
        let keep = tree(&format!(
            "040000 tree {rooms}\trooms\n120000 blob {blob}\tscrolls\n120000 blob {blob}\tpalace.toml\n"
        ));
        let root = tree(&format!("040000 tree {keep}\tkeep\n"));
        let commit = scene.git(&["commit-tree", "-m", "odd", &root]).trim().to_owned();
        let store = scene.palace("keep").as_of(&CommitId(commit)).unwrap();
        let (files, findings) = store.read_all_unless_on_disk().unwrap().unwrap();
        assert_eq!(files.into_keys().collect::<Vec<_>>(), ["rooms/good.yaml"]);
        let findings: Vec<_> = findings.iter().map(ToString::to_string).collect();
        insta::assert_snapshot!(findings.join("\n"), @r"
        palace.toml:1:1: error[link]: symbolic links are not followed
        rooms/back\slash.yaml:1:1: error[file-name]: it holds a backslash or a control character
        rooms/link.yaml:1:1: error[link]: symbolic links are not followed
        rooms/other.yaml:1:1: error[unreadable]: this is not an ordinary file
        scrolls:1:1: error[link]: symbolic links are not followed
        ");
        assert!(store.read_file("palace.toml").is_err());
    }

    #[test]
    fn an_oversized_commit_is_refused() {
        let scene = TestHome::with_repository();
        let blob = scene.git_with_input(&["hash-object", "-w", "--stdin"], "x");
        let mut entries = format!("100644 blob {}\tx.yaml\n", blob.trim());
        let mut tree = String::new();
        for _ in 0..6 {
            tree = scene.git_with_input(&["mktree"], &entries).trim().to_owned();
            let twins: Vec<_> = (0..40).map(|it| format!("040000 tree {tree}\t{it}\n")).collect();
            entries = twins.concat();
        }
        let keep = scene.git_with_input(&["mktree"], &format!("040000 tree {tree}\trooms\n"));
        let root =
            scene.git_with_input(&["mktree"], &format!("040000 tree {}\tkeep\n", keep.trim()));
        let commit = scene.git(&["commit-tree", "-m", "bomb", root.trim()]);
        let store = scene.palace("keep").as_of(&CommitId(commit.trim().to_owned())).unwrap();
        let refused = store.read_all_unless_on_disk().unwrap_err().to_string();
        assert!(refused.ends_with("is too large to be read"), "{refused}");
    }
}

#[cfg(all(test, unix))]
mod unix_tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use crate::test_repository::{TestHome, change_of_files, change_of_one_file, commit_ok};
    use palazzo_core::model::{Changeset, CommitId};

    const HALL: &str = "rooms/hall.yaml";

    #[test]
    fn moved_and_restored_files_keep_their_modes() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        let mode = |path: &str| {
            fs::metadata(scene.home.join("keep").join(path)).unwrap().permissions().mode() & 0o777
        };
        let listed =
            || scene.git(&["ls-tree", "-r", "--format=%(objectmode) %(path)", "HEAD", "keep"]);
        let place = scene.home.join("keep").join(HALL);
        fs::set_permissions(place, fs::Permissions::from_mode(0o700)).unwrap();
        scene.git(&["commit", "-qam", "executable"]);
        let before = CommitId(scene.git(&["rev-parse", "HEAD"]).trim().to_owned());

        let den = "rooms/den.yaml";
        let moved = [(HALL, Some("1\n"), None), (den, None, Some("2\n"))];
        commit_ok(&mut store, &change_of_files(&moved));
        assert_eq!((listed().as_str(), mode(den)), ("100755 keep/rooms/den.yaml\n", 0o700));
        commit_ok(&mut store, &change_of_one_file(den, Some("2\n"), None));

        let executable = store.executable_bits([&before].into_iter(), &[HALL, den]).unwrap();
        assert_eq!(executable.clone().into_iter().collect::<Vec<_>>(), [(HALL.to_owned(), true)]);
        let again = change_of_one_file(HALL, None, Some("1\n"));
        commit_ok(&mut store, &Changeset { executable, ..again });
        assert_eq!(listed(), "100755 keep/rooms/hall.yaml\n");
        assert_eq!(mode(HALL) & 0o100, 0o100);
        assert_eq!(scene.status(), "");
    }

    #[test]
    fn the_newest_matching_text_of_a_deleted_file_is_found() {
        const HALL: &str = "rooms/hall.yaml";
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        let texts = [None, Some("1\n"), Some("2\n"), None];
        for step in texts.windows(2) {
            commit_ok(&mut store, &change_of_one_file(HALL, step[0], step[1]));
        }
        let find = |wanted: &str| store.find_past_text(HALL, |it| it.starts_with(wanted));
        assert_eq!(find("").as_deref(), Some("2\n"));
        assert_eq!(find("1").as_deref(), Some("1\n"));
        assert_eq!(find("3"), None);
        assert_eq!(store.find_past_text("rooms/none.yaml", |_| true), None);
    }
}
