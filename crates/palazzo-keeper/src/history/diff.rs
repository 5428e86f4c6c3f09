//! The differences between two states of a palace.

use std::collections::BTreeSet;

use crate::history::item_diffs::{ComparedItems, compare_items_in_files, replaced_scroll_files};
use crate::history::revisions::{
    RevisionQuery, RevisionRange, parse_revision_query, unknown_word_refusal,
};
use crate::palace::OpenPalace;
use crate::palace::findings::other_format_finding;
use crate::palace::resolve::{self, folders_of_wing, is_in_folders, path_in_palace};
use crate::{Refusal, Session};
use palazzo_core::diff::unified_diff;
use palazzo_core::model::{CommitId, CommitSummary, FileContent, FileDiff, ItemDiff};
use palazzo_store::path_in_repository;

/// The differences between two states of a palace.
#[derive(Clone, Debug)]
pub struct PalaceDiff {
    /// The earlier commit; `None` if nothing is committed yet.
    pub from: Option<CommitSummary>,
    /// The later commit; `None` for the files on disk.
    pub to: Option<CommitSummary>,
    /// The items that differ.
    pub items: Vec<ItemDiff>,
    /// A patch for `git apply`, with paths from the root of the repository.
    pub patch: String,
}

/// Compares two states of the palace: `A..B` these two revisions, `A...B` the common ancestor of
/// both with B, `A` with the files on disk; without a revision, `HEAD` with them. With items,
/// compares only these.
pub fn diff_palace(
    session: &mut Session<'_>,
    query: &RevisionQuery,
) -> Result<PalaceDiff, Refusal> {
    let (palace, caller) = (&mut *session.palace, session.caller);
    let (names, range) = parse_revision_query(palace, caller, query)?;
    let (from, to) = match range {
        RevisionRange::None => (palace.store().head()?, None),
        RevisionRange::One(from) => (Some(from), None),
        RevisionRange::Two(from, to) => (Some(from), Some(to)),
        RevisionRange::Symmetric { right, base, .. } => (Some(base), Some(right)),
    };
    for revision in from.iter().chain(&to) {
        if let Some(finding) = other_format_finding(&palace.store().as_of(revision)?) {
            return Err(Refusal::OtherFormat(finding.diagnostic.into()));
        }
    }
    let mut diffs = match &to {
        Some(to) => palace.store().as_of(to)?.diff_since(from.as_ref())?,
        None => palace.store().diff_since(from.as_ref())?,
    };
    let replaced = replaced_scroll_files(palace, from.as_ref(), &diffs)?;
    let mut compared = compare_items_in_files(&diffs, &replaced, &palace.palace.settings);
    if !names.is_empty() {
        let files = files_of_items(palace, &names, &compared)
            .map_err(|it| unknown_word_refusal(query, it))?;
        compared.items.retain(|it| it.files.iter().any(|it| files.contains(it)));
        let shown = compared.items.iter().flat_map(|it| &it.files).chain(&files);
        let shown: BTreeSet<_> = shown.cloned().collect();
        diffs.retain(|it| shown.contains(&it.path));
    }
    let prefix = palace.store().prefix_in_repository()?;
    Ok(PalaceDiff {
        from: from.map(|it| commit_summary(palace, &it)).transpose()?,
        to: to.map(|it| commit_summary(palace, &it)).transpose()?,
        items: compared.items,
        patch: diffs.iter().map(|it| file_patch(&prefix, it)).collect(),
    })
}

/// Finds the files of items by name, in the palace and among those that differ.
fn files_of_items(
    palace: &mut OpenPalace,
    names: &[String],
    compared: &ComparedItems,
) -> Result<BTreeSet<String>, Refusal> {
    let mut files = BTreeSet::new();
    for name in names {
        if let Some(folders) = folders_of_wing(palace, name)? {
            let differing = compared.items.iter().flat_map(|it| &it.files);
            files.extend(differing.filter(|it| is_in_folders(it, &folders)).cloned());
            continue;
        }
        let sides = [&compared.was, &compared.now].into_iter();
        let differing = sides.flat_map(|it| resolve::items_with_name(it, name.trim()));
        let mut found: Vec<_> = differing.map(|it| it.file).collect();
        let path = path_in_palace(palace, name);
        let differing = compared.items.iter().flat_map(|it| &it.files);
        let is_path = |it: &&String| *it == name || Some(*it) == path.as_ref();
        found.extend(differing.filter(is_path).cloned());
        match resolve::resolve_item(palace, name) {
            Ok(it) => found.push(it.file),
            Err(refusal) if found.is_empty() => return Err(refusal),
            Err(_) => {}
        }
        files.extend(found);
    }
    Ok(files)
}

pub(crate) fn commit_summary(
    palace: &OpenPalace,
    commit: &CommitId,
) -> Result<CommitSummary, Refusal> {
    let past = palace.store().as_of(commit)?;
    let why = || Refusal::Invalid(format!("the commit {commit} cannot be read"));
    past.as_of_commit().cloned().ok_or_else(why)
}

pub(crate) fn file_patch(prefix: &str, diff: &FileDiff) -> String {
    let unreadable = |it: &FileContent| match it {
        FileContent::Unreadable(why) => Some(why.clone()),
        FileContent::Missing | FileContent::Text(_) => None,
    };
    let path = path_in_repository(prefix, &diff.path).unwrap_or_else(|| diff.path.clone());
    match unreadable(&diff.was).or_else(|| unreadable(&diff.now)) {
        Some(why) => format!("diff --git a/{path} b/{path}\nFiles differ: {why}\n"),
        None => unified_diff(&path, diff.was.text(), diff.now.text()),
    }
}
