//! Checks the commits that one side of a synchronization has and the other has not, and their files:
//! those of a remote before they are applied, those from here before they are pushed.
//!
//! A commit of a few hundred kilobytes in a pack can have a message of hundreds of megabytes, which
//! every later reader of the history would have to hold in memory. So the sizes are checked by the
//! headers of the objects, and nothing else reads these commits before.

use std::collections::{BTreeSet, BinaryHeap, HashMap, HashSet};

use chrono::{DateTime, Utc};
use gix::ObjectId;
use gix::bstr::ByteSlice as _;
use gix::objs::{Kind, TreeRefIter};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::history::commits::{LAST_SECOND, short_id, utc_time};
use crate::history::palaces_in_trees::PalacesInTrees;
use crate::repo::git_attributes::attribute_set_in;
use crate::repo::note_folders::NotesOfRepository;
use crate::repo::tree_diff::TreeEntry;
use crate::repo::tree_lookup::find_folder;
use crate::repo::{palace_files, paths, tree_diff};
use crate::sync::error::SyncError;
use palazzo_core::model::{Author, max_file_bytes, quoted};

/// The maximum size of a commit object in bytes.
const MAX_COMMIT_BYTES: u64 = 1024 * 1024;

/// The maximum number of paths that the new commits change together: ten times the files of a palace of
/// 100,000 entities. Trees that contain one another name many paths at no cost, and each reader of the
/// history would list them all.
const MAX_CHANGED_PATHS: usize = 1_000_000;

/// The commits that one side has and the other has not.
#[derive(Debug, Default)]
pub(crate) struct NewCommitsReport {
    /// Those that are refused. Where many dates are wrong, the other side may have one of them too.
    pub(crate) invalid: Vec<InvalidCommit>,
    /// The one with the latest date, without merges by `palazzo sync`, which have that of a parent.
    pub(crate) latest: Option<DatedCommit>,
}

/// A commit that is not accepted.
#[derive(Clone, Debug)]
pub(crate) struct InvalidCommit {
    pub(crate) id: ObjectId,
    why: String,
}

/// A commit with the later one of its two dates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatedCommit {
    /// The first digits of its id.
    pub short: String,
    /// The name of its author.
    pub by: String,
    /// The date.
    pub at: DateTime<Utc>,
}

impl InvalidCommit {
    /// Returns the error; `is_ours`: the commit is on this side.
    pub(crate) fn into_error(self, is_ours: bool) -> Error {
        SyncError::InvalidCommit { commit: short_id(self.id), why: self.why, is_ours }.into()
    }
}

/// The maximum length of a name on common file systems.
const MAX_NAME_BYTES: usize = 255;
/// The maximum size of the files together that one side has otherwise. A hostile tree can name one file
/// many times.
const MAX_TOTAL_BYTES: u64 = 256 * 1024 * 1024;

/// A file that cannot be in a palace.
#[derive(Debug)]
pub(crate) struct InvalidFile {
    /// The path in the repository.
    path: String,
    why: String,
}

impl InvalidFile {
    /// Returns the error; `is_ours`: the file is on this side.
    pub(crate) fn into_error(self, is_ours: bool) -> Error {
        SyncError::InvalidFile { path: self.path, why: self.why, is_ours }.into()
    }

    /// Returns the error for a file that a merge would make.
    pub(crate) fn into_merge_error(self) -> Error {
        SyncError::InvalidMergedFile { path: self.path, why: self.why }.into()
    }
}

/// Checks the commits of `new` that are not among `known` and its ancestors.
pub(crate) fn check_new_commits(
    git: &gix::Repository,
    known: ObjectId,
    new: ObjectId,
) -> gix::Result<NewCommitsReport> {
    let (states, queue) = (HashMap::new(), BinaryHeap::new());
    let mut walk = CommitWalk { git, states, queue, undecided: 0, checked: Vec::new() };
    walk.visit(known, true)?;
    walk.visit(new, false)?;
    while walk.undecided > 0
        && let Some((_, id)) = walk.queue.pop()
    {
        walk.expand(id)?;
    }
    walk.check_changed_paths(MAX_CHANGED_PATHS)?;
    Ok(walk.into_new_commits())
}

/// A walk from the newest commits to the oldest, which ends when all that is left is known.
struct CommitWalk<'g> {
    git: &'g gix::Repository,
    states: HashMap<ObjectId, CommitState>,
    /// Commits whose parents were not visited yet, by date.
    queue: BinaryHeap<(i64, ObjectId)>,
    /// The number of queued commits that are not known.
    undecided: usize,
    /// The commits that were not known when they were visited, each with its date or the reason to
    /// refuse it.
    checked: Vec<(ObjectId, Result<Option<DatedCommit>, String>)>,
}

#[derive(Clone, Copy)]
struct CommitState {
    is_known: bool,
    is_queued: bool,
    seconds: i64,
}

impl CommitWalk<'_> {
    /// Visits a commit that was reached from a known one or from a new one.
    fn visit(&mut self, id: ObjectId, is_known: bool) -> gix::Result<()> {
        if let Some(state) = self.states.get_mut(&id) {
            if is_known && !state.is_known {
                state.is_known = true;
                match state.is_queued {
                    true => self.undecided -= 1,
                    // Its ancestors are known too.
                    false => {
                        state.is_queued = true;
                        self.queue.push((state.seconds, id));
                    }
                }
            }
            return Ok(());
        }
        // The parents at the boundary of a shallow clone are missing.
        let Some(header) = self.git.try_find_header(id)? else { return Ok(()) };
        let refusal = match header.kind() {
            Kind::Commit if is_known || header.size() <= MAX_COMMIT_BYTES => None,
            Kind::Commit => {
                let size = header.size();
                Some(format!("it has {size} bytes, and the limit is {MAX_COMMIT_BYTES}"))
            }
            kind => Some(format!("it is a {kind}, and no commit")),
        };
        if let Some(why) = refusal {
            self.checked.push((id, Err(why)));
            return Ok(());
        }
        let seconds = self.git.find_commit(id)?.time().map_or(0, |it| it.seconds);
        self.states.insert(id, CommitState { is_known, is_queued: true, seconds });
        self.undecided += usize::from(!is_known);
        self.queue.push((seconds, id));
        Ok(())
    }

    /// Visits the parents of a queued commit, and checks it if it is new.
    fn expand(&mut self, id: ObjectId) -> gix::Result<()> {
        let Some(state) = self.states.get_mut(&id) else { return Ok(()) };
        state.is_queued = false;
        let is_known = state.is_known;
        if !is_known {
            self.undecided -= 1;
            let checked = self.check_dates(id)?;
            self.checked.push((id, checked));
        }
        let commit = self.git.find_commit(id)?;
        for parent in commit.parent_ids().map(gix::Id::detach) {
            self.visit(parent, is_known)?;
        }
        Ok(())
    }

    /// Refuses the commit with which the new ones change more paths than the limit.
    fn check_changed_paths(&mut self, limit: usize) -> gix::Result<()> {
        let mut left = limit;
        for (id, checked) in &mut self.checked {
            let is_known = self.states.get(id).is_some_and(|it| it.is_known);
            if is_known || checked.is_err() {
                continue;
            }
            match left.checked_sub(count_changed_paths(self.git, *id)?) {
                Some(rest) => left = rest,
                None => {
                    *checked = Err(format!("the new commits change more than {limit} paths"));
                    break;
                }
            }
        }
        Ok(())
    }

    fn check_dates(&self, id: ObjectId) -> gix::Result<Result<Option<DatedCommit>, String>> {
        let commit = self.git.find_commit(id)?;
        let author = commit.author()?;
        let dates = [author.time(), commit.time()].map(|it| it.ok().map(|it| it.seconds));
        let dates = dates.map(|it| it.filter(|it| (0..=LAST_SECOND).contains(it)));
        let [Some(authored), Some(committed)] = dates else {
            return Ok(Err("its date is outside of the years 1970 to 9999".to_owned()));
        };
        if commit.committer()?.email == Author::SYNC_EMAIL {
            return Ok(Ok(None));
        }
        let (by, at) = (author.name.to_str_lossy(), utc_time(authored.max(committed)));
        Ok(Ok(Some(DatedCommit { short: short_id(id), by: by.into_owned(), at })))
    }

    /// Returns what was found about the commits that have not turned out to be known.
    fn into_new_commits(self) -> NewCommitsReport {
        let mut found = NewCommitsReport::default();
        for (id, checked) in self.checked {
            match checked {
                _ if self.states.get(&id).is_some_and(|it| it.is_known) => {}
                Err(why) => found.invalid.push(InvalidCommit { id, why }),
                Ok(Some(dated)) if found.latest.as_ref().is_none_or(|it| it.at < dated.at) => {
                    found.latest = Some(dated);
                }
                Ok(_) => {}
            }
        }
        found
    }
}

/// Counts the paths in which a commit differs from each of its parents.
fn count_changed_paths(git: &gix::Repository, id: ObjectId) -> gix::Result<usize> {
    let commit = git.find_commit(id)?;
    let tree = commit.tree_id()?.detach();
    let mut count = 0;
    for parent in commit.parent_ids() {
        // Those at the boundary of a shallow clone are missing.
        if git.try_find_header(parent)?.is_some() {
            let before = git.find_commit(parent)?.tree_id()?.detach();
            count += tree_diff::compare(git, Some(before), Some(tree))?.len();
        }
    }
    Ok(count)
}

/// Returns a file that `new` has otherwise than `old`, and that cannot be a file of a palace, with
/// the reason: a link, a path outside the rules or not UTF-8, a file that is too large or has a
/// filter, or two names that differ only in case. The ids are those of root trees; without an old one, all files
/// count. Files of no palace that are no notes are not checked here.
pub(crate) fn find_invalid_file(
    git: &gix::Repository,
    old: Option<ObjectId>,
    new: ObjectId,
    notes: &NotesOfRepository,
) -> gix::Result<Option<InvalidFile>> {
    let trees: Vec<_> = old.into_iter().chain([new]).collect();
    let folders = PalacesInTrees::new(git, &trees);
    let (mut paths, mut deleted, mut total) = (Vec::new(), HashSet::new(), 0);
    for change in tree_diff::compare(git, old, Some(new))? {
        if change.now.is_none() {
            deleted.insert(change.path.clone());
        }
        let Some(entry) = change.now else { continue };
        if let Some(palace) = folders.palace_around_settings(&change.path)? {
            let why = format!("it makes a palace of a folder of the palace {}", quoted(&palace));
            return Ok(Some(InvalidFile { path: change.path, why }));
        }
        let folder = folders.palace_of(&change.path)?;
        let is_note = folder.is_none() && notes.contains(&change.path);
        let Some(folder) = folder.or_else(|| is_note.then(String::new)) else { continue };
        if let Some(name) = &change.name_not_utf8 {
            let why = format!("the name {} is not UTF-8", quoted(name));
            return Ok(Some(InvalidFile { path: change.path, why }));
        }
        // Other programs name notes.
        let names = if is_note { |_: &str| None } else { reason_to_refuse_names };
        if let Some(why) = reason_to_refuse(git, &change.path[folder.len()..], entry, names)? {
            return Ok(Some(InvalidFile { path: change.path, why }));
        }
        total += git.find_header(entry.id)?.size();
        if old.is_some() && total > MAX_TOTAL_BYTES {
            let why =
                format!("the files that differ have together more than {MAX_TOTAL_BYTES} bytes");
            return Ok(Some(InvalidFile { path: change.path, why }));
        }
        paths.push(change.path);
    }
    match find_folder_twin(&paths, &deleted) {
        Some(found) => Ok(Some(found)),
        None => find_case_twin(git, new, &paths),
    }
}

/// Returns a path that is a file on one side and a folder on the other, from the paths that the new side
/// has otherwise, and those that it lacks. A merge could keep only one of the two.
fn find_folder_twin(paths: &[String], deleted: &HashSet<String>) -> Option<InvalidFile> {
    let new: HashSet<&str> = paths.iter().map(String::as_str).collect();
    let folder_in_new = paths.iter().flat_map(|it| folders_above(it));
    let folder_in_new = folder_in_new.map(|it| it.trim_end_matches('/'));
    let file_before = folder_in_new.filter(|it| deleted.contains(*it));
    let folder_before = deleted.iter().flat_map(|it| folders_above(it));
    let folder_before = folder_before.map(|it| it.trim_end_matches('/'));
    let path = file_before.chain(folder_before.filter(|it| new.contains(it))).min()?;
    let why = "it is a file on one side, and a folder on the other".to_owned();
    Some(InvalidFile { path: path.to_owned(), why })
}

/// Returns a file of a tree whose name differs from another one only in case, in a folder of one of
/// the files.
pub(crate) fn find_case_twin(
    git: &gix::Repository,
    tree: ObjectId,
    paths: &[String],
) -> gix::Result<Option<InvalidFile>> {
    let folders: BTreeSet<&str> = paths.iter().flat_map(|it| folders_above(it)).collect();
    for folder in folders {
        let Some(found) = find_folder(git, tree, folder)? else { continue };
        let here = git.find_tree(found)?;
        let mut known: HashMap<String, String> = HashMap::new();
        for entry in TreeRefIter::from_bytes(&here.data, found.kind()) {
            // Others are refused where they are added.
            let Ok(name) = entry?.filename.to_str().map(str::to_owned) else { continue };
            if let Some(twin) = known.insert(name.to_lowercase(), name.clone()) {
                let why = format!("{} is another name that differs only in case", quoted(&twin));
                return Ok(Some(InvalidFile { path: format!("{folder}{name}"), why }));
            }
        }
    }
    Ok(None)
}

/// Returns the folders above a file, each empty or ending in `/`.
fn folders_above(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.match_indices('/').map(|(at, _)| at + 1);
    std::iter::once(0).chain(ends).map(|end| &path[..end])
}

/// Returns why a path of a palace cannot be, or would take the place of a file.
fn reason_to_refuse_names(path: &str) -> Option<&'static str> {
    let folders = path.rsplit_once('/').map_or("", |it| it.0);
    let is_file =
        |it: &str| ["yaml", "md"].iter().any(|end| it.to_lowercase().ends_with(&format!(".{end}")));
    if path.matches('/').count() > palace_files::max_depth(path) {
        return Some("its folders are nested too deep");
    }
    if path.split('/').any(|it| it.len() > MAX_NAME_BYTES) {
        return Some("a name in its path has more than 255 bytes");
    }
    if folders.starts_with("conflicts/") {
        return Some("the folder `conflicts` has no folders");
    }
    folders.split('/').any(is_file).then_some("a folder has the name of a file")
}

/// Returns why a file that a merge makes cannot be in a palace.
pub(crate) fn invalid_merged_file(
    folders: &PalacesInTrees<'_>,
    (path, text): (&str, &str),
) -> gix::Result<Option<InvalidFile>> {
    let Some(folder) = folders.palace_of(path)? else { return Ok(None) };
    let in_palace = &path[folder.len()..];
    let (size, limit) = (text.len(), max_file_bytes(in_palace));
    let too_large = || {
        let what = match in_palace.starts_with("conflicts/") {
            true => "both sides have changed the same text, and with both versions",
            false => "with what both sides have written,",
        };
        let why = format!("{what} it has {size} bytes, and the limit is {limit}");
        (size > limit).then_some(why)
    };
    let why = reason_to_refuse_names(in_palace).map(str::to_owned).or_else(too_large);
    Ok(why.map(|why| InvalidFile { path: path.to_owned(), why }))
}

/// Returns why a file cannot be at `path` of a palace, or a note in a repository; `None`: it can.
fn reason_to_refuse(
    git: &gix::Repository,
    path: &str,
    entry: TreeEntry,
    reason_to_refuse_names: fn(&str) -> Option<&'static str>,
) -> gix::Result<Option<String>> {
    if entry.mode.is_link() {
        return Ok(Some("it is a symbolic link".to_owned()));
    }
    if !entry.mode.is_blob() {
        return Ok(Some("it is no regular file".to_owned()));
    }
    if let Err(Error::InvalidPath { why, .. }) = paths::check_path(path) {
        return Ok(Some(why.to_owned()));
    }
    if let Some(why) = reason_to_refuse_names(path) {
        return Ok(Some(why.to_owned()));
    }
    let size = git.find_header(entry.id)?.size();
    let limit = max_file_bytes(path);
    if size > limit as u64 {
        return Ok(Some(format!("it has {size} bytes, and the limit is {limit}")));
    }
    let blob = git.find_blob(entry.id)?;
    let Ok(text) = std::str::from_utf8(&blob.data) else {
        return Ok(Some("it is not UTF-8".to_owned()));
    };
    let is_attributes = path.rsplit('/').next() == Some(".gitattributes");
    let attribute = if is_attributes { attribute_set_in(text) } else { None };
    Ok(attribute.map(|it| format!("it sets the git attribute `{it}`, and Palazzo runs no filters")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_repository::TestHome;

    /// Writes a commit object with this parent, dates and message; returns its id.
    fn write_commit(scene: &TestHome, parent: &str, seconds: &str, message: &str) -> String {
        let tree = scene.git(&["rev-parse", "HEAD^{tree}"]);
        let who = format!("Ada <ada@example.org> {seconds} +0000");
        let text = format!(
            "tree {}\nparent {parent}\nauthor {who}\ncommitter {who}\n\n{message}",
            tree.trim()
        );
        let arguments = ["hash-object", "-t", "commit", "--literally", "-w", "--stdin"];
        scene.git_with_input(&arguments, &text).trim().to_owned()
    }

    fn check(scene: &TestHome, known: &str, new: &str) -> NewCommitsReport {
        let git = gix::open(&scene.home).unwrap();
        let id = |it: &str| git.rev_parse_single(it).unwrap().detach();
        check_new_commits(&git, id(known), id(new)).unwrap()
    }

    fn reasons(found: &NewCommitsReport) -> Vec<&str> {
        found.invalid.iter().map(|it| it.why.as_str()).collect()
    }

    #[test]
    fn commits_are_refused_by_their_size_and_their_dates() {
        let scene = TestHome::with_repository();
        let head = scene.git(&["rev-parse", "HEAD"]).trim().to_owned();
        let fitting = write_commit(&scene, &head, "1770000000", &"m".repeat(1_000_000));
        let found = check(&scene, &head, &fitting);
        assert_eq!(reasons(&found), [""; 0]);
        assert_eq!(found.latest.unwrap().at.timestamp(), 1_770_000_000);
        let oversized = write_commit(&scene, &head, "1770000000", &"m".repeat(1024 * 1024));
        // It is refused below another commit too.
        let above = write_commit(&scene, &oversized, "1770000001", "above");
        let reason = "bytes, and the limit is 1048576";
        assert!(reasons(&check(&scene, &head, &above))[0].ends_with(reason));
        for seconds in ["-1", "253402300800", "315537897600000"] {
            let wrong = write_commit(&scene, &head, seconds, "wrong");
            let found = check(&scene, &head, &wrong);
            assert_eq!(reasons(&found), ["its date is outside of the years 1970 to 9999"]);
            assert_eq!(found.latest, None);
        }
        let last = write_commit(&scene, &head, "253402300799", "last");
        assert_eq!(reasons(&check(&scene, &head, &last)), [""; 0]);
    }

    #[test]
    fn commits_that_the_other_side_has_are_not_checked() {
        let scene = TestHome::with_repository();
        let head = scene.git(&["rev-parse", "HEAD"]).trim().to_owned();
        let wrong = write_commit(&scene, &head, "253402300800", "wrong");
        let ours = write_commit(&scene, &wrong, "1900000001", "ours");
        let theirs = write_commit(&scene, &wrong, "1900000002", "theirs");
        let found = check(&scene, &ours, &theirs);
        assert_eq!(reasons(&found), [""; 0]);
        assert_eq!(found.latest.unwrap().short, theirs[..12]);
        assert_eq!(check(&scene, &ours, &wrong).latest, None);
        assert_eq!(check(&scene, &ours, &ours).latest, None);
    }

    #[test]
    fn commits_that_change_too_many_paths_together_are_refused() {
        let scene = TestHome::with_repository();
        let old = scene.git(&["rev-parse", "HEAD"]).trim().to_owned();
        for text in ["a", "b", "c"] {
            scene.write_file("notes.md", text);
            scene.write_file("more.md", text);
            scene.git(&["add", "."]);
            scene.git(&["commit", "-qm", text]);
        }
        let git = gix::open(&scene.home).unwrap();
        let id = |it: &str| git.rev_parse_single(it).unwrap().detach();
        let refused = |limit| {
            let (states, queue) = (HashMap::new(), BinaryHeap::new());
            let mut walk =
                CommitWalk { git: &git, states, queue, undecided: 0, checked: Vec::new() };
            walk.visit(id(&old), true).unwrap();
            walk.visit(id("HEAD"), false).unwrap();
            while let Some((_, id)) = walk.queue.pop() {
                walk.expand(id).unwrap();
            }
            walk.check_changed_paths(limit).unwrap();
            walk.into_new_commits().invalid.into_iter().map(|it| it.id).collect::<Vec<_>>()
        };
        assert_eq!(refused(6), Vec::<ObjectId>::new());
        assert_eq!(refused(5), [id("HEAD~2")], "the oldest one");
    }

    #[test]
    fn a_tag_in_place_of_a_commit_is_refused() {
        let scene = TestHome::with_repository();
        scene.git(&["tag", "-a", "-m", "a tag", "v1"]);
        assert_eq!(reasons(&check(&scene, "HEAD", "v1")), ["it is a tag, and no commit"]);
    }
}
