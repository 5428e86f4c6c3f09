//! The history of a palace: its commits, and the author of a line.

use crate::keeper::history::item_diffs::item_diffs_from_file_diffs;
use crate::keeper::history::resolve_item;
use crate::keeper::history::resolve_item::ResolvedItem;
use crate::keeper::history::revisions::{
    RevisionQuery, RevisionRange, parse_revision_query, unknown_word_refusal,
};
use crate::keeper::palace::OpenPalace;
use crate::keeper::workspaces::as_of::open_as_of;
use crate::keeper::{Caller, Keeper, Refusal, Session};
use crate::model::{BlamedLine, ChangeKind, CommitDetails, CommitId, ItemDiff};
use crate::render;
use crate::store::CommitRange;

/// The newest commits of a palace or of some items.
#[derive(Clone, Debug)]
pub struct CommitLog {
    /// The commits, newest first.
    pub commits: Vec<LoggedCommit>,
    /// Whether there are older ones.
    pub is_truncated: bool,
}

/// A commit in a [`CommitLog`].
#[derive(Clone, Debug)]
pub struct LoggedCommit {
    /// The commit.
    pub details: CommitDetails,
    /// The changes of the items that the log is about, a line each; empty in the log of a palace.
    pub changes: String,
}

/// Lists the newest commits, at most `limit`: of the revision or range that the query names, else
/// of `HEAD`. If the query names items, lists only the commits that changed one of them, with these
/// changes.
pub fn list_commits(
    keeper: &mut Keeper,
    caller: &Caller,
    query: &RevisionQuery,
    limit: usize,
) -> Result<CommitLog, Refusal> {
    let key = keeper.current_workspace(caller)?;
    let (names, range) =
        parse_revision_query(keeper.session_in(&key, caller)?.palace, caller, query)?;
    let mut files = Vec::new();
    for name in &names {
        let file = find_file_of_item(keeper, caller, &key, name, range.end());
        files.push(file.map_err(|it| unknown_word_refusal(query, it))?);
    }
    let session = keeper.session_in(&key, caller)?;
    let palace = &*session.palace;
    let paths: Vec<_> = files.iter().map(String::as_str).collect();
    let mut commits = Vec::new();
    let collect = |it| {
        commits.push(it);
        commits.len() <= limit
    };
    match commit_range(range) {
        Some(range) => palace.store().log_range(&range, &paths, collect)?,
        None => palace.store().log(&paths, collect)?,
    }
    let is_truncated = commits.len() > limit;
    commits.truncate(limit);
    let with_changes = |details: CommitDetails| {
        let changes = describe_item_changes(palace, &details, &files)?;
        Ok(LoggedCommit { details, changes })
    };
    let commits = commits.into_iter().map(with_changes).collect::<Result<_, Refusal>>()?;
    Ok(CommitLog { commits, is_truncated })
}

/// Returns the commits that a log lists; `None`: those of `HEAD`.
fn commit_range(range: RevisionRange) -> Option<CommitRange> {
    Some(match range {
        RevisionRange::None => return None,
        RevisionRange::One(tip) => CommitRange { tips: vec![tip], hidden: Vec::new() },
        RevisionRange::Two(hidden, tip) => CommitRange { tips: vec![tip], hidden: vec![hidden] },
        RevisionRange::Symmetric { left, right, base } => {
            CommitRange { tips: vec![left, right], hidden: vec![base] }
        }
    })
}

/// Finds the file of an item in the palace, or in its state at the end of a range.
fn find_file_of_item(
    keeper: &mut Keeper,
    caller: &Caller,
    key: &str,
    name: &str,
    end: Option<&CommitId>,
) -> Result<String, Refusal> {
    let present = keeper.session_in(key, caller)?.palace;
    let refusal = match (resolve_item::resolve_item(present, name), end) {
        (Ok(it), _) => return Ok(it.file),
        (Err(refusal), None) => return Err(refusal),
        (Err(refusal), Some(_)) => refusal,
    };
    let revision = end.map(ToString::to_string).unwrap_or_default();
    let past_key = open_as_of(keeper, caller, key, &revision)?;
    let found = resolve_item::resolve_item(keeper.open_palace(&past_key)?, name);
    found.map(|it| it.file).map_err(|_| refusal)
}

/// Lists the lines of the file of `item`, each with the commit that added it.
pub fn blame_item(session: &mut Session<'_>, item: &str) -> Result<Vec<BlamedLine>, Refusal> {
    let palace = &mut *session.palace;
    let ResolvedItem { thing: item, file } = resolve_item::resolve_item(palace, item)?;
    let text = palace.store().read_file(&file).map_err(|it| Refusal::UnreadableFile(it.into()))?;
    let Some(text) = text else {
        let item = render::item_label(&item);
        let why = format!("{item} was deleted; `palazzo log {file}` lists its commits");
        return Err(Refusal::Invalid(why));
    };
    Ok(palace.store().blame(&file, &text)?)
}

/// Describes the changes that a commit made to the items that a log is about, in `files`.
fn describe_item_changes(
    palace: &OpenPalace,
    commit: &CommitDetails,
    files: &[String],
) -> Result<String, Refusal> {
    let paths = match &commit.path_at_commit {
        Some(path) => std::slice::from_ref(path),
        None => files,
    };
    if paths.is_empty() {
        return Ok(String::new());
    }
    let diffs = item_diffs_from_file_diffs(&palace.store().diff_of_commit(commit)?);
    let own = diffs.iter().filter(|it| it.files.iter().any(|it| paths.contains(it)));
    let describe = |it: &ItemDiff| match files {
        [_] => describe_change(it),
        _ => format!("{}: {}", render::item_label(&it.item), describe_change(it)),
    };
    Ok(own.map(describe).collect::<Vec<_>>().join("\n"))
}

fn describe_change(diff: &ItemDiff) -> String {
    match (&diff.change, diff.files.as_slice()) {
        (ChangeKind::Added(_), [path, ..]) => format!("added as {path}"),
        (change, _) => render::change_summary(change),
    }
}
