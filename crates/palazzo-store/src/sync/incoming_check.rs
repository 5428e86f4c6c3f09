//! Checks the files of a remote before they are applied, and those from here before they are pushed.

use std::collections::{BTreeSet, HashMap, HashSet};

use gix::ObjectId;
use gix::bstr::ByteSlice as _;
use gix::objs::TreeRefIter;

use palazzo_core::model::{max_file_bytes, quoted};

use crate::Error;
use crate::history::palace_folders::PalaceFolders;
use crate::repo::line_endings::attribute_set_in;
use crate::repo::palace_trees::find_folder;
use crate::repo::tree_diff::{self, TreeEntry};
use crate::repo::{palace_files, paths};
use crate::sync::error::SyncError;

/// The maximum length of a name on common file systems.
const MAX_NAME_BYTES: usize = 255;
/// The maximum size of the files together that one side has otherwise. A hostile tree can name one file
/// many times.
const MAX_TOTAL_BYTES: u64 = 256 * 1024 * 1024;

/// Returns a file that `new` has otherwise than `old`, and that cannot be a file of a palace, with
/// the reason: a link, a path outside the rules or not UTF-8, a file that is too large or has a
/// filter, or two names that differ only in case. The ids are those of root trees; without an old one, all files
/// count. Files of no palace are not checked here.
pub(crate) fn find_invalid_file(
    git: &gix::Repository,
    old: Option<ObjectId>,
    new: ObjectId,
) -> gix::Result<Option<InvalidFile>> {
    let trees: Vec<_> = old.into_iter().chain([new]).collect();
    let folders = PalaceFolders::new(git, &trees);
    let (mut paths, mut deleted, mut total) = (Vec::new(), HashSet::new(), 0);
    for change in tree_diff::compare(git, old, Some(new))? {
        if change.now.is_none() {
            deleted.insert(change.path.clone());
        }
        let Some(entry) = change.now else { continue };
        if let Some(palace) = folders.palace_around(&change.path)? {
            let why = format!("it makes a palace of a folder of the palace {}", quoted(&palace));
            return Ok(Some(InvalidFile { path: change.path, why }));
        }
        let Some(folder) = folders.palace_of(&change.path)? else { continue };
        if let Some(name) = &change.name_not_utf8 {
            let why = format!("the name {} is not UTF-8", quoted(name));
            return Ok(Some(InvalidFile { path: change.path, why }));
        }
        if let Some(why) = reason_to_refuse(git, &change.path[folder.len()..], entry)? {
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
pub(crate) fn find_invalid_text(
    folders: &PalaceFolders<'_>,
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

/// Returns why a file cannot be at `path` of a palace; `None`: it can.
fn reason_to_refuse(
    git: &gix::Repository,
    path: &str,
    entry: TreeEntry,
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
