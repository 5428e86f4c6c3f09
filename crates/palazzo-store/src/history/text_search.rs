//! Finds a text in everything that a repository stores, so that it can be removed: in all objects,
//! also those that no reference leads to, and in the files beside them. Reads only.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use gix::ObjectId;
use gix::bstr::ByteSlice as _;
use gix::objs::Kind;
use walkdir::WalkDir;

use crate::history::commits::{self, HistoryReader};
use crate::repo::regular_file;
use crate::repo::tree_diff;
use crate::{Error, Store};
use palazzo_core::model::{SoughtText, TextInCommit, TextInFile, TextInRepository};

/// The size of the largest file that is searched.
const MAX_FILE_BYTES: u64 = 1024 * 1024 * 1024;

/// Finds the regular files below `folder` that contain `text`, or have it in their path. Counts
/// those that cannot be read in `unread_count`.
pub fn find_text_in_folder(
    folder: &Path,
    text: &SoughtText,
    is_searched: impl Fn(&Path) -> bool,
    unread_count: &mut usize,
) -> Vec<TextInFile> {
    let mut found = Vec::new();
    let entries = WalkDir::new(folder).sort_by_file_name().into_iter();
    for entry in entries.filter_entry(|it| is_searched(it.path())) {
        let file = match entry {
            Ok(it) if it.file_type().is_file() => it.into_path(),
            Ok(_) => continue,
            Err(err) => {
                let is_gone =
                    err.io_error().is_some_and(|it| it.kind() == std::io::ErrorKind::NotFound);
                *unread_count += usize::from(!is_gone);
                continue;
            }
        };
        let in_path =
            file.strip_prefix(folder).is_ok_and(|it| text.is_in_path(&it.to_string_lossy()));
        let lines = match regular_file::read_regular_file_at_most(&file, MAX_FILE_BYTES) {
            Ok(bytes) => lines_with_text(&bytes.unwrap_or_default(), text.as_str()),
            Err(_) => {
                *unread_count += 1;
                Vec::new()
            }
        };
        if in_path || !lines.is_empty() {
            found.push(TextInFile { path: file, lines });
        }
    }
    found
}

impl Store {
    /// Finds `text` in the repository of the palace, and in the files of `.git` beside its objects;
    /// `None`: there is no repository. Counts what cannot be read in `unread_count`.
    pub fn find_text_in_repository(
        &self,
        text: &SoughtText,
        unread_count: &mut usize,
    ) -> Result<Option<TextInRepository>, Error> {
        let Some(repository) = self.repository()? else { return Ok(None) };
        let past = HistoryReader::new(&repository);
        let read = |unread_count: &mut usize| -> gix::Result<_> {
            let found = find_objects(&past, text, unread_count)?;
            commits_with_text(&past, found, text, unread_count)
        };
        let in_history =
            read(unread_count).map_err(|err| repository.git_error("search the history", err))?;
        let objects_folder = repository.common_dir.join("objects");
        let mut folders = vec![&repository.common_dir];
        if !repository.git_dir.starts_with(&repository.common_dir) {
            folders.push(&repository.git_dir);
        }
        let mut git_files = Vec::new();
        for folder in folders {
            let is_searched = |it: &Path| it != objects_folder;
            git_files.extend(find_text_in_folder(folder, text, is_searched, unread_count));
        }
        let remotes = past.git.remote_names().iter().map(ToString::to_string).collect();
        let work = repository.work.clone();
        Ok(Some(TextInRepository { work, git_files, remotes, ..in_history }))
    }
}

/// Reads all objects of a repository; returns those with the text, and all commits. A tree contains
/// the text in the name of an entry.
fn find_objects(
    past: &HistoryReader<'_>,
    text: &SoughtText,
    unread_count: &mut usize,
) -> gix::Result<(HashMap<ObjectId, Kind>, Vec<ObjectId>)> {
    let (mut found, mut commits) = (HashMap::new(), Vec::new());
    let mut seen = HashSet::new();
    for id in past.git.objects.iter()? {
        let Ok(id) = id else {
            *unread_count += 1;
            continue;
        };
        // A loose object may be in a pack too.
        if !seen.insert(id) {
            continue;
        }
        let Ok(object) = past.git.find_object(id) else {
            *unread_count += 1;
            continue;
        };
        if object.kind == Kind::Commit {
            commits.push(id);
        }
        let in_name = || {
            object.kind == Kind::Tree
                && text.slug_start().is_some_and(|it| object.data.contains_str(it))
        };
        if object.data.contains_str(text.as_str()) || in_name() {
            found.insert(id, object.kind);
        }
    }
    Ok((found, commits))
}

/// Returns the commits that added the objects with the text, newest first, and the other objects.
fn commits_with_text(
    past: &HistoryReader<'_>,
    (mut found, commits): (HashMap<ObjectId, Kind>, Vec<ObjectId>),
    text: &SoughtText,
    unread_count: &mut usize,
) -> gix::Result<TextInRepository> {
    if found.is_empty() {
        return Ok(TextInRepository::default());
    }
    let tags = take_tags(past, &mut found)?;
    let (referenced, mut with_text) = (referenced_commits(past)?, Vec::new());
    let mut in_commits = HashSet::new();
    for id in commits {
        let is_in_message = found.remove(&id).is_some();
        let Ok(added) = files_with_text(past, id, &found, text) else {
            *unread_count += 1;
            continue;
        };
        in_commits.extend(added.iter().map(|it| it.1));
        let paths: BTreeSet<_> = added.into_iter().map(|it| it.0).collect();
        if is_in_message || !paths.is_empty() {
            let (mut commit, paths) = (past.read_commit_summary(id)?, paths.into_iter().collect());
            commit.subject = commit.subject.replace(text.as_str(), "[…]");
            let is_referenced = referenced.contains_key(&id);
            let proposals = Vec::new();
            with_text.push(TextInCommit { commit, paths, is_in_message, is_referenced, proposals });
        }
    }
    // Commits of one second have the order of the history.
    with_text.sort_by_cached_key(|it| {
        let rank = commits::parse_commit_id(&it.commit.id).ok().and_then(|it| referenced.get(&it));
        (Reverse(it.commit.at), rank.copied().unwrap_or(usize::MAX), it.commit.id.0.clone())
    });
    // A tree has the text in a name, which is the path of a file in a commit.
    let is_left = |(id, kind): &(&ObjectId, &Kind)| {
        !in_commits.contains(*id) && (**kind != Kind::Tree || with_text.is_empty())
    };
    let mut left: Vec<_> =
        found.iter().filter(is_left).map(|(id, it)| format!("{it} {id}")).collect();
    left.sort();
    Ok(TextInRepository { commits: with_text, tags, objects: left, ..TextInRepository::default() })
}

/// Removes the tags from the objects, and returns the names of those that have a name.
fn take_tags(
    past: &HistoryReader<'_>,
    found: &mut HashMap<ObjectId, Kind>,
) -> gix::Result<Vec<String>> {
    let mut tags = Vec::new();
    for reference in past.git.references()?.tags()?.flatten() {
        let id = reference.try_id().map(gix::Id::detach);
        if id.is_some_and(|it| found.remove(&it) == Some(Kind::Tag)) {
            tags.push(reference.name().shorten().to_string());
        }
    }
    Ok(tags)
}

/// Returns all commits to which a reference or `HEAD` leads, each with its place in the history,
/// newest first.
fn referenced_commits(past: &HistoryReader<'_>) -> gix::Result<HashMap<ObjectId, usize>> {
    let mut tips: Vec<_> = past.git.head_id().into_iter().map(gix::Id::detach).collect();
    for reference in past.git.references()?.all()?.flatten() {
        // A reference to a blob or to nothing leads to no commit.
        let commit = reference.into_fully_peeled_id().ok().and_then(|it| it.object().ok());
        let commit = commit.filter(|it| it.kind == Kind::Commit);
        tips.extend(commit.map(|it| it.id));
    }
    let ids = past.walk_commits(tips, [])?.enumerate();
    ids.map(|(place, it)| it.map(|it| (it.id, place))).collect()
}

/// Returns the files with the text in which a commit differs from all of its parents, and their
/// blobs.
fn files_with_text(
    past: &HistoryReader<'_>,
    commit: ObjectId,
    found: &HashMap<ObjectId, Kind>,
    text: &SoughtText,
) -> gix::Result<BTreeSet<(String, ObjectId)>> {
    let node = past.read_commit_node(commit)?;
    let tree = past.root_tree(commit)?;
    let added_to = |parent: Option<ObjectId>| -> gix::Result<BTreeSet<(String, ObjectId)>> {
        let before = parent.map(|it| past.root_tree(it)).transpose()?;
        let changes = tree_diff::compare(&past.git, before, Some(tree))?.into_iter();
        let added = changes.filter_map(|it| Some((it.path, it.now?.id)));
        Ok(added.filter(|(path, id)| found.contains_key(id) || text.is_in_path(path)).collect())
    };
    let Some((first, others)) = node.parents.split_first() else { return added_to(None) };
    let mut added = added_to(Some(*first))?;
    for other in others.iter().filter(|_| !added.is_empty()).collect::<Vec<_>>() {
        let also = added_to(Some(*other))?;
        added.retain(|it| also.contains(it));
    }
    Ok(added)
}

/// Returns the lines that contain a text, counted from one. A binary file counts as one line: the
/// bytes of a hash or of a length may be those of line ends.
fn lines_with_text(bytes: &[u8], text: &str) -> Vec<usize> {
    if bytes.contains(&0) {
        return bytes.contains_str(text).then_some(1).into_iter().collect();
    }
    let (mut line, mut counted, mut lines) = (1, 0, Vec::new());
    for place in bytes.find_iter(text) {
        line += bytes[counted..place].find_iter("\n").count();
        counted = place;
        lines.push(line);
    }
    lines.dedup();
    lines
}

#[test]
fn lines_are_counted_in_texts_and_not_in_binary_files() {
    assert_eq!(lines_with_text("ä\nb a b\n\na".as_bytes(), "a"), [2, 4]);
    assert_eq!(lines_with_text(b"\n\0\na\na", "a"), [1]);
    assert_eq!(lines_with_text(b"\n\0", "a"), [0; 0]);
}
