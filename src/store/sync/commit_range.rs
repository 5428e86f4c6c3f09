//! Reads the commits that one side of a synchronization has and the other has not.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use gix::ObjectId;
use gix::bstr::ByteSlice as _;

use crate::store::history::commits::{HistoryReader, utc_time};
use crate::store::sync::palace_folders::PalaceFolders;

/// The trailer of merge commits with the version of the rules of merging.
pub(crate) const MERGE_RULES_TRAILER: &str = "Palazzo-Merge-Rules";
/// The trailer of commits by tools.
const TOOL_TRAILER: &str = "Palazzo-Tool";

/// The last change of one side to a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LastChange {
    /// The name of the author.
    pub author: String,
    /// The author time.
    pub at: DateTime<Utc>,
    /// Whether the commit has no trailer of a tool.
    pub is_by_hand: bool,
    /// The id of the commit.
    pub commit: String,
}

/// The commits that one side has and the other has not.
#[derive(Debug, Default)]
pub(crate) struct CommitRange {
    /// The number of commits.
    pub(crate) count: usize,
    /// The last change to each file.
    last_changes: HashMap<String, LastChange>,
    /// The newest commit of the side.
    tip: LastChange,
    /// The first commit found that changes a file of no palace, and the file.
    pub(crate) other_file: Option<(ObjectId, String)>,
    /// The commit with the greatest version of the rules of merging, and the version.
    pub(crate) newest_rules: Option<(ObjectId, u32)>,
}

/// What the message of a commit says.
struct CommitNote {
    change: LastChange,
    merge_rules: Option<u32>,
}

impl CommitRange {
    /// Reads the commits of `tip` that are not in `hidden`.
    pub(crate) fn between(
        history: &HistoryReader<'_>,
        folders: &PalaceFolders<'_>,
        tip: ObjectId,
        hidden: impl IntoIterator<Item = ObjectId>,
    ) -> gix::Result<Self> {
        let mut range = Self { tip: read_note(history, tip)?.change, ..Self::default() };
        for step in history.walk_commits([tip], hidden)? {
            let step = step?;
            range.count += 1;
            let note = read_note(history, step.id)?;
            let is_newer = |version: u32| range.newest_rules.is_none_or(|(_, it)| version > it);
            if let Some(version) = note.merge_rules.filter(|it| is_newer(*it)) {
                range.newest_rules = Some((step.id, version));
            }
            for path in history.paths_changed_by(step.id, &step.parents)? {
                if range.other_file.is_none() && folders.palace_of(&path)?.is_none() {
                    range.other_file = Some((step.id, path.clone()));
                }
                // The merged commits have the authors of the merged values.
                if note.merge_rules.is_none() {
                    range.last_changes.entry(path).or_insert_with(|| note.change.clone());
                }
            }
        }
        Ok(range)
    }

    /// Returns the last change to a file; of a file that the side has not changed, its newest
    /// commit.
    pub(crate) fn last_change(&self, path: &str) -> LastChange {
        self.last_changes.get(path).unwrap_or(&self.tip).clone()
    }
}

/// Returns the version of the rules by which a commit was merged; `None`: it is no such merge.
pub(crate) fn merge_rules_of_commit(
    history: &HistoryReader<'_>,
    commit: ObjectId,
) -> gix::Result<Option<u32>> {
    Ok(read_note(history, commit)?.merge_rules)
}

fn read_note(history: &HistoryReader<'_>, id: ObjectId) -> gix::Result<CommitNote> {
    let commit = history.git.find_commit(id)?;
    let (message, author) = (commit.message()?, commit.author()?);
    let trailers = message.body().into_iter().flat_map(|it| {
        it.trailers().map(|it| (it.token.to_owned(), it.value.to_vec())).collect::<Vec<_>>()
    });
    let trailers: Vec<_> = trailers.collect();
    let find = |name: &str| {
        let found = trailers.iter().find(|(token, _)| token.eq_ignore_ascii_case(name.as_bytes()));
        found.map(|(_, value)| value.to_str_lossy().into_owned())
    };
    let change = LastChange {
        author: author.name.to_str_lossy().into_owned(),
        at: utc_time(author.seconds()),
        is_by_hand: find(TOOL_TRAILER).is_none(),
        commit: id.to_string(),
    };
    let merge_rules = find(MERGE_RULES_TRAILER).and_then(|it| it.trim().parse().ok());
    Ok(CommitNote { change, merge_rules })
}
