//! The history of a palace: its commits, the differences between two of them, the author of a line.

use crate::diff::unified_diff;
use crate::keeper::history::item_diffs::item_diffs_from_file_diffs;
use crate::keeper::history::resolve_item;
use crate::keeper::history::resolve_item::ResolvedItem;
use crate::keeper::palace::OpenPalace;
use crate::keeper::{Caller, Refusal, Session};
use crate::model::{
    BlamedLine, ChangeKind, CommitDetails, CommitId, CommitSummary, FileContent, FileDiff,
    ItemDiff, PalaceItem,
};
use crate::render;

/// The newest commits of a palace or of one item.
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
    /// Its id, subject, author and time.
    pub summary: CommitSummary,
    /// The changes of the item that the log is about, a line each; empty in the log of a palace.
    pub changes: String,
}

/// The differences between two states of a palace.
#[derive(Clone, Debug)]
pub enum PalaceDiff {
    /// No file differs.
    Same,
    /// By item.
    Items(Vec<ItemDiff>),
    /// A patch for `git apply`, with paths from the root of the repository.
    Patch(String),
}

/// Lists the newest commits, at most `limit`. If `item` (a room, a scroll, an entity or a file) is
/// given, lists only the commits that changed it, with their changes.
pub fn list_commits(
    session: &mut Session<'_>,
    item: Option<&str>,
    limit: usize,
) -> Result<CommitLog, Refusal> {
    let palace = &mut *session.palace;
    let resolved = item.map(|it| resolve_item::resolve_item(palace, it)).transpose()?;
    let paths: Vec<_> = resolved.iter().map(|it| it.file.as_str()).collect();
    let mut commits = Vec::new();
    palace.store().log(&paths, |it| {
        commits.push(it);
        commits.len() <= limit
    })?;
    let is_truncated = commits.len() > limit;
    commits.truncate(limit);
    let with_changes = |it: CommitDetails| {
        let changes = describe_item_changes(palace, &it)?;
        Ok(LoggedCommit { summary: it.summary, changes })
    };
    let commits = commits.into_iter().map(with_changes).collect::<Result<_, Refusal>>()?;
    Ok(CommitLog { commits, is_truncated })
}

/// Compares two states of the palace. The range `A..B` compares these two revisions (an empty end
/// is `HEAD`); `A` compares A with the present files; without a range, `HEAD` is compared with
/// them. Compares items, or lines if `is_patch`.
pub fn diff_revisions(
    session: &Session<'_>,
    range: Option<&str>,
    is_patch: bool,
) -> Result<PalaceDiff, Refusal> {
    let (palace, caller) = (&*session.palace, session.caller);
    let diffs = match range.and_then(|it| it.split_once("..")) {
        Some((old, new)) if new.starts_with('.') => {
            let why = format!(
                "`{}...{}` is not supported: use A..B for the differences between A and B",
                old.escape_debug(),
                new.trim_start_matches('.').escape_debug()
            );
            return Err(Refusal::Invalid(why));
        }
        Some((old, new)) => {
            let old = resolve_range_end(palace, caller, old)?;
            let new = resolve_range_end(palace, caller, new)?;
            palace.store().as_of(&new)?.diff_since(Some(&old))?
        }
        None => {
            let old = match range {
                Some(revision) => Some(palace.store().resolve_moment(revision, caller.now)?),
                None => palace.store().head()?,
            };
            palace.store().diff_since(old.as_ref())?
        }
    };
    if is_patch {
        let prefix = palace.store().prefix_in_repository()?;
        let patch = diffs.iter().map(|it| file_patch(&prefix, it)).collect();
        return Ok(PalaceDiff::Patch(patch));
    }
    match diffs.is_empty() {
        true => Ok(PalaceDiff::Same),
        false => Ok(PalaceDiff::Items(item_diffs_from_file_diffs(&diffs))),
    }
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

/// Resolves one end of a range; an empty one is `HEAD`.
fn resolve_range_end(
    palace: &OpenPalace,
    caller: &Caller,
    revision: &str,
) -> Result<CommitId, Refusal> {
    let revision = if revision.trim().is_empty() { "HEAD" } else { revision };
    Ok(palace.store().resolve_moment(revision, caller.now)?)
}

/// Describes the changes that a commit made to the one item that a log is about.
fn describe_item_changes(palace: &OpenPalace, commit: &CommitDetails) -> Result<String, Refusal> {
    let Some(path) = &commit.path_at_commit else { return Ok(String::new()) };
    let diffs = palace.store().diff_of_commit(commit)?;
    let own: Vec<_> = diffs.iter().filter(|it| it.path == *path).cloned().collect();
    let items: Vec<PalaceItem> =
        item_diffs_from_file_diffs(&own).into_iter().map(|it| it.item).collect();
    // Only the diff of all files shows that an item was moved.
    let own = item_diffs_from_file_diffs(&diffs).into_iter().filter(|it| items.contains(&it.item));
    let lines: Vec<_> = own.map(|it| describe_change(&it.change, path)).collect();
    Ok(lines.join("\n"))
}

fn describe_change(change: &ChangeKind, path: &str) -> String {
    match change {
        ChangeKind::Added => format!("added as {path}"),
        change => render::change_summary(change),
    }
}

fn file_patch(prefix: &str, diff: &FileDiff) -> String {
    let unreadable = |it: &FileContent| match it {
        FileContent::Unreadable(why) => Some(why.clone()),
        FileContent::Missing | FileContent::Text(_) => None,
    };
    let path = format!("{prefix}{}", diff.path);
    match unreadable(&diff.was).or_else(|| unreadable(&diff.now)) {
        Some(why) => format!("diff --git a/{path} b/{path}\nFiles differ: {why}\n"),
        None => unified_diff(&path, diff.was.text(), diff.now.text()),
    }
}
