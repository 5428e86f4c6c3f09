//! Checks the files of a remote before they are applied.

use std::collections::{BTreeSet, HashMap};

use gix::ObjectId;
use gix::bstr::ByteSlice as _;
use gix::objs::TreeRefIter;

use crate::model::MAX_FILE_BYTES;

use crate::store::Error;
use crate::store::history::tree_diff::{self, TreeEntry};
use crate::store::repo::{palace_files, paths};
use crate::store::sync::error::SyncError;
use crate::store::sync::palace_folders::PalaceFolders;

/// Fails if a file that `theirs` has otherwise than `ours` cannot be a file of a palace: a link, a
/// path outside the rules, a file that is too large, or two names that differ only in case. The
/// ids are those of root trees. Files of no palace are not checked here.
pub(crate) fn check_incoming_tree(
    git: &gix::Repository,
    ours: ObjectId,
    theirs: ObjectId,
) -> gix::Result<Result<(), Error>> {
    let folders = PalaceFolders::new(git, &[ours, theirs]);
    let mut paths = Vec::new();
    for change in tree_diff::compare(git, Some(ours), Some(theirs))? {
        let Some(entry) = change.now else { continue };
        let Some(folder) = folders.palace_of(&change.path)? else { continue };
        if let Some(why) = reason_to_refuse(git, &change.path[folder.len()..], entry)? {
            return Ok(Err(invalid_file(change.path, why)));
        }
        paths.push(change.path);
    }
    check_case_twins(git, theirs, &paths)
}

/// Fails if a tree has two names that differ only in case, in a folder of one of the files.
pub(crate) fn check_case_twins(
    git: &gix::Repository,
    tree: ObjectId,
    paths: &[String],
) -> gix::Result<Result<(), Error>> {
    let folders: BTreeSet<&str> = paths.iter().flat_map(|it| folders_above(it)).collect();
    for folder in folders {
        let names = folder.split('/').filter(|it| !it.is_empty());
        let root = git.find_tree(tree)?;
        let found = if folder.is_empty() {
            Some(tree)
        } else {
            root.lookup_entry(names)?.map(|it| it.object_id())
        };
        let Some(found) = found else { continue };
        let here = git.find_tree(found)?;
        let mut known: HashMap<String, String> = HashMap::new();
        for entry in TreeRefIter::from_bytes(&here.data, found.kind()) {
            let name = entry?.filename.to_str_lossy().into_owned();
            if let Some(twin) = known.insert(name.to_lowercase(), name.clone()) {
                let why = format!("`{twin}` is another name that differs only in case");
                return Ok(Err(invalid_file(format!("{folder}{name}"), why)));
            }
        }
    }
    Ok(Ok(()))
}

/// Returns the folders above a file, each empty or ending in `/`.
fn folders_above(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.match_indices('/').map(|(at, _)| at + 1);
    std::iter::once(0).chain(ends).map(|end| &path[..end])
}

fn invalid_file(path: String, why: String) -> Error {
    SyncError::InvalidFile { path, why }.into()
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
    if path.matches('/').count() > palace_files::MAX_DEPTH {
        return Ok(Some("its folders are nested too deep".to_owned()));
    }
    let size = git.find_header(entry.id)?.size();
    if size > MAX_FILE_BYTES as u64 {
        return Ok(Some(format!("it has {size} bytes, and the limit is {MAX_FILE_BYTES}")));
    }
    let is_text = std::str::from_utf8(&git.find_blob(entry.id)?.data).is_ok();
    Ok((!is_text).then(|| "it is not UTF-8".to_owned()))
}
