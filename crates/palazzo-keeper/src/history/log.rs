//! The history of a palace: its commits, those of one client or one time, and the author of a line.

use chrono::{DateTime, Utc};
use ulid::Ulid;

use crate::history::item_diffs::item_diffs_from_file_diffs;
use crate::history::revisions::{
    RevisionQuery, RevisionRange, parse_revision_query, unknown_word_refusal,
};
use crate::history::undone_commits::{UndoneCommitSet, is_undo, visit_of_commit};
use crate::palace::OpenPalace;
use crate::palace::resolve;
use crate::palace::resolve::{ResolvedItem, folders_of_wing, is_in_folders};
use crate::workspaces::open_as_of;
use crate::{Caller, Keeper, Refusal, Session};
use palazzo_core::model::{
    BlamedLine, ChangeKind, CommitDetails, CommitId, ItemDiff, UndoneAmount, commit_trailers,
    quoted,
};
use palazzo_core::render;
use palazzo_store::CommitRange;

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
    /// The id by which it can be undone itself, if it is an undo.
    pub undo_id: Option<Ulid>,
    /// How much of it is undone; `None` in the log of a revision, where later commits are not read.
    pub undone: Option<UndoneAmount>,
}

/// The commits that a log lists.
#[derive(Clone, Debug, Default)]
pub struct LogFilter {
    /// The name of the client, or of the author, in any case.
    pub client: Option<String>,
    /// The moment since which they were made: a day, a time or an age.
    pub since: Option<String>,
}

/// A filter whose texts are parsed.
#[derive(Default)]
pub(crate) struct ParsedLogFilter {
    client: Option<String>,
    pub(crate) since: Option<DateTime<Utc>>,
}

impl ParsedLogFilter {
    pub(crate) fn parse(filter: &LogFilter, caller: &Caller) -> Result<Self, Refusal> {
        let since = filter.since.as_deref().map(|it| parse_since(it, caller)).transpose()?;
        Ok(Self { client: filter.client.clone(), since })
    }

    /// Returns whether a commit was made by the client, and not before the moment.
    pub(crate) fn selects(&self, commit: &CommitDetails) -> bool {
        self.client.as_ref().is_none_or(|it| is_made_by(commit, it))
            && self.since.is_none_or(|it| commit.summary.at >= it)
    }
}

/// Lists the newest commits that the filter selects, at most `limit`: of the revision or range that
/// the query names, else of `HEAD`. If the query names items, lists only the commits that changed one of them, with these
/// changes.
pub fn list_commits(
    keeper: &mut Keeper,
    caller: &Caller,
    query: &RevisionQuery,
    filter: &LogFilter,
    limit: usize,
) -> Result<CommitLog, Refusal> {
    let selection = ParsedLogFilter::parse(filter, caller)?;
    let key = keeper.current_workspace(caller)?;
    let (names, range) =
        parse_revision_query(keeper.session_in(&key, caller)?.palace, caller, query)?;
    let mut files = Vec::new();
    for name in &names {
        let found = find_paths_of_item(keeper, caller, &key, name, range.end());
        files.extend(found.map_err(|it| unknown_word_refusal(query, it))?);
    }
    let session = keeper.session_in(&key, caller)?;
    let palace = &*session.palace;
    let paths: Vec<_> = files.iter().map(String::as_str).collect();
    let (mut commits, mut undone) = (Vec::new(), UndoneCommitSet::default());
    let is_whole = matches!(range, RevisionRange::None);
    let collect = |commit| {
        let amount = is_whole.then(|| add_to_undone(&mut undone, palace, &commit));
        commits.extend(Some((commit, amount)).filter(|(it, _)| selection.selects(it)));
        commits.len() <= limit
    };
    palace.store().log_range(&commit_range(range), &paths, collect)?;
    let is_truncated = commits.len() > limit;
    commits.truncate(limit);
    let with_changes = |(details, undone)| {
        let changes = describe_item_changes(palace, &details, &files)?;
        let undo_id = visit_of_commit(&details).filter(|_| is_undo(&details));
        Ok(LoggedCommit { details, changes, undo_id, undone })
    };
    let commits = commits.into_iter().map(with_changes).collect::<Result<_, Refusal>>()?;
    Ok(CommitLog { commits, is_truncated })
}

/// Returns how much of a commit those before, which are newer, undo, and adds those that it undoes.
fn add_to_undone(
    undone: &mut UndoneCommitSet,
    palace: &OpenPalace,
    commit: &CommitDetails,
) -> UndoneAmount {
    if undone.add_commit(palace, commit) {
        return UndoneAmount::Whole;
    }
    let left = undone.without_undone_files(commit.clone()).changed_files;
    match left.len() < commit.changed_files.len() {
        true => UndoneAmount::Part,
        false => UndoneAmount::Nothing,
    }
}

/// Returns the commits that a log lists.
fn commit_range(range: RevisionRange) -> CommitRange {
    match range {
        RevisionRange::None => CommitRange::default(),
        RevisionRange::One(tip) => CommitRange { tips: vec![tip], hidden: Vec::new() },
        RevisionRange::Two(hidden, tip) => CommitRange { tips: vec![tip], hidden: vec![hidden] },
        RevisionRange::Symmetric { left, right, base } => {
            CommitRange { tips: vec![left, right], hidden: vec![base] }
        }
    }
}

/// Finds the file of an item in the palace, or in its state at the end of a range; the folders of a
/// wing.
fn find_paths_of_item(
    keeper: &mut Keeper,
    caller: &Caller,
    key: &str,
    name: &str,
    end: Option<&CommitId>,
) -> Result<Vec<String>, Refusal> {
    let present = keeper.session_in(key, caller)?.palace;
    if let Some(folders) = folders_of_wing(present, name)? {
        return Ok(folders.into_iter().collect());
    }
    let refusal = match (resolve::resolve_item(present, name), end) {
        (Ok(it), _) => return Ok(vec![it.file]),
        (Err(refusal), None) => return Err(refusal),
        (Err(refusal), Some(_)) => refusal,
    };
    let revision = end.map(ToString::to_string).unwrap_or_default();
    let past_key = open_as_of(keeper, caller, key, &revision)?;
    let found = resolve::resolve_item(keeper.open_palace(&past_key)?, name);
    found.map(|it| vec![it.file]).map_err(|_| refusal)
}

/// Lists the lines of the file of `item`, each with the commit that added it.
pub fn blame_item(session: &mut Session<'_>, item: &str) -> Result<Vec<BlamedLine>, Refusal> {
    let palace = &mut *session.palace;
    let ResolvedItem { item, file } = resolve::resolve_item(palace, item)?;
    let text = palace.store().read_file(&file).map_err(|it| Refusal::UnreadableFile(it.into()))?;
    let Some(text) = text else {
        return Err(Refusal::ItemDeleted { item: render::item_label(&item), file, advice: "" });
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
    let diffs = item_diffs_from_file_diffs(
        &palace.store().diff_of_commit(commit)?,
        &palace.palace.settings,
    );
    let own = diffs.iter().filter(|it| it.files.iter().any(|it| is_in_folders(it, paths)));
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

/// Parses a day, a time or an age.
pub(crate) fn parse_since(since: &str, caller: &Caller) -> Result<DateTime<Utc>, Refusal> {
    caller.parse_start_time(since).ok_or_else(|| {
        Refusal::Invalid(format!(
            "{} is not a time: use a day (2026-03-01), a time (2026-03-01T12:00:00Z) or an age \
             (3 hours)",
            quoted(since)
        ))
    })
}

/// Returns whether the client or the author of a commit has this name, in any case.
pub(crate) fn is_made_by(commit: &CommitDetails, name: &str) -> bool {
    let client = commit.trailer(commit_trailers::CLIENT).unwrap_or_default();
    let names = [client, &commit.summary.by].map(str::to_lowercase);
    names.contains(&name.trim().to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palace::change_plan::{ChangeOptions, ChangePlan};
    use crate::test_home::{TestHome, ada};
    use palazzo_core::model::FileEdit;

    /// Commits a new file as the caller `ada`.
    fn commit(home: &mut TestHome, path: &str, text: &str) {
        let edit = FileEdit { path: path.to_owned(), was: None, now: Some(text.to_owned()) };
        let plan = |_: &mut OpenPalace| {
            let edits = vec![edit.clone()];
            Ok(ChangePlan { edits, subject: path.to_owned(), body: String::new() })
        };
        home.keeper
            .session(&ada())
            .unwrap()
            .palace
            .change_files(&ada(), &ChangeOptions::default(), plan)
            .unwrap();
    }

    /// Returns the subjects of the commits that changed an item, and the changes of it.
    fn log(home: &mut TestHome, item: &str) -> Result<String, String> {
        let query = RevisionQuery { words: vec![item.to_owned()], items: Vec::new() };
        let log = list_commits(&mut home.keeper, &ada(), &query, &LogFilter::default(), 9)
            .map_err(|it| it.to_string())?;
        let lines = log.commits.iter().map(|it| {
            format!("{} | {}", it.details.summary.subject, it.changes.replace('\n', " / "))
        });
        Ok(lines.collect::<Vec<_>>().join("\n"))
    }

    #[test]
    fn the_log_of_a_wing_has_its_rooms_scrolls_and_drawers_and_no_others() {
        let mut home = TestHome::new(&[]);
        let scroll = "---\ntitle: Moss\n---\n\nGreen.\n";
        for (path, text) in [
            ("rooms/east/den.yaml", "name: Den\ndescription: x\n"),
            ("rooms/east.yaml", "name: East\ndescription: x\n"),
            ("scrolls/east/01KJMM4N00F2JXHH4DQ7YF03TN-moss.md", scroll),
            ("scrolls/east/den/01KJMM4N00F2JXHH4DQ7YF03TP-moss.md", scroll),
            ("drawers/east/den/01KJMM4N00F2JXHH4DQ7YF03TQ-x.md", "---\nwing: east\n---\n\nX.\n"),
        ] {
            commit(&mut home, path, text);
        }
        insta::assert_snapshot!(log(&mut home, "east/").unwrap(), @"
        drawers/east/den/01KJMM4N00F2JXHH4DQ7YF03TQ-x.md | drawer 'X.': added as drawers/east/den/01KJMM4N00F2JXHH4DQ7YF03TQ-x.md
        scrolls/east/den/01KJMM4N00F2JXHH4DQ7YF03TP-moss.md | scroll 'Moss' in east/den: added as scrolls/east/den/01KJMM4N00F2JXHH4DQ7YF03TP-moss.md
        rooms/east/den.yaml | room east/den: added as rooms/east/den.yaml
        ");
        assert!(log(&mut home, "west/").unwrap_err().contains("is called `west/`"));
    }

    #[test]
    fn an_item_is_named_by_its_file_with_the_folder_of_the_palace() {
        let mut home = TestHome::new(&[]);
        commit(&mut home, "rooms/den.yaml", "name: Den\ndescription: x\n");
        let expected = log(&mut home, "rooms/den.yaml").unwrap();
        assert!(expected.starts_with("rooms/den.yaml | added"), "{expected}");
        let folder = home.run(|it| it.palace.store().palace_folder().display().to_string());
        let names = ["keep/", "./", "home/keep/", &format!("{folder}/")];
        for before in names {
            assert_eq!(log(&mut home, &format!("{before}rooms/den.yaml")).as_ref(), Ok(&expected));
        }
        assert!(log(&mut home, "other/rooms/den.yaml").is_err());
    }
}
