//! What the log, and the pages of commits and visits, show.

use std::collections::BTreeSet;

use crate::Refusal;
use crate::history::item_diffs::{compare_items_in_files, replaced_scroll_files};
use crate::history::revert::creates_palace;
use crate::history::undone_commits::{UndoneCommitSet, is_change_of_tool, visit_of_commit};
use crate::history::visits::{
    client_visit_of_commit, combine_diffs, describe_visit, find_repeated_changes, find_visit,
    visits_of_commits,
};
use crate::pages::page_session::{PageContent, PageSession};
use crate::pages::side_by_side::compare_file_side_by_side;
use crate::palace::read_history::MAX_COMMITS;
use palazzo_core::format;
use palazzo_core::model::{
    CommitDetails, CommitId, FileDiff, RecordedVisit, VisitDetails, commit_trailers,
    quote_for_shell,
};
use palazzo_core::render;
use palazzo_core::render::{count_with_noun, one_line};
use palazzo_core::view::{
    self, CommitPage, LogPage, LogRow, PageKind, Revert, VisitPage, VisitRow,
};
use palazzo_store::CommitRange;

/// How many commits a page of the log has.
const COMMITS_PER_PAGE: usize = 50;
/// How many files the page of a commit or of a visit compares.
const MAX_FILES: usize = 20;
/// Above this number of changed files, the log only counts them.
const MAX_DESCRIBED_FILES: usize = 200;

/// The visits among the newest commits, each made to a row when a commit of it is listed.
pub(super) struct VisitRows {
    visits: Vec<RecordedVisit>,
}

impl VisitRows {
    pub(super) fn new(
        page: &PageSession<'_, '_>,
        shown: &[CommitDetails],
    ) -> Result<Self, Refusal> {
        // Older pages are not among the newest commits.
        let known: BTreeSet<_> = page.commits.iter().map(|it| &it.summary.id).collect();
        let older = shown.iter().filter(|it| !known.contains(&it.summary.id)).cloned();
        let commits: Vec<_> = page.commits.iter().cloned().chain(older).collect();
        Ok(Self { visits: visits_of_commits(page.session.palace, &commits)? })
    }

    /// Returns the row of the visit that made a commit, if a client did.
    pub(super) fn row_of_commit(
        &self,
        page: &PageSession<'_, '_>,
        commit: &CommitDetails,
    ) -> Result<Option<VisitRow>, Refusal> {
        let id = client_visit_of_commit(commit);
        match self.visits.iter().find(|it| Some(it.id) == id) {
            Some(visit) => visit_row(page, visit).map(Some),
            None => Ok(None),
        }
    }
}

/// Lists the commits.
pub(super) fn log_content(
    page: &mut PageSession<'_, '_>,
    number: usize,
) -> Result<PageContent, Refusal> {
    let first = (number - 1).saturating_mul(COMMITS_PER_PAGE);
    let end = first.saturating_add(COMMITS_PER_PAGE);
    let mut commits = page.commits.to_vec();
    if end >= MAX_COMMITS && commits.len() == MAX_COMMITS {
        let store = page.session.palace.store();
        commits = store.newest_of_range(&CommitRange::default(), end + 1)?;
    }
    let is_last = commits.len() <= end;
    let shown: Vec<_> = commits.into_iter().skip(first).take(COMMITS_PER_PAGE).collect();
    let rows = log_rows(page, &shown)?;
    let log = LogPage { rows, page: (number, if is_last { number } else { number + 1 }) };
    let body = view::log_page(&log, page.links, page.session.caller.now);
    Ok(PageContent::of_kind(PageKind::Log, "Log", body))
}

/// Makes the rows of the log: one for each visit of a client and day, and for each other commit.
fn log_rows(page: &PageSession<'_, '_>, shown: &[CommitDetails]) -> Result<Vec<LogRow>, Refusal> {
    let (undone, visits) = (undone_commits(page), VisitRows::new(page, shown)?);
    let (mut rows, mut seen) = (Vec::new(), BTreeSet::new());
    for commit in shown {
        let visit = client_visit_of_commit(commit);
        if visit.is_some_and(|it| !seen.insert((it, commit.summary.at.date_naive()))) {
            continue;
        }
        rows.push(match visits.row_of_commit(page, commit)? {
            Some(row) => LogRow::Visit(VisitRow { at: commit.summary.at, ..row }),
            None => LogRow::Commit {
                summary: commit.summary.clone(),
                is_undone: undone.contains(&commit.summary.id),
            },
        });
    }
    Ok(rows)
}

/// Returns the ids of the newest commits that were undone.
fn undone_commits(page: &PageSession<'_, '_>) -> BTreeSet<CommitId> {
    let (mut later, mut undone) = (UndoneCommitSet::default(), BTreeSet::new());
    for it in page.commits {
        if later.add_commit(page.session.palace, it) {
            undone.insert(it.summary.id.clone());
        }
    }
    undone
}

/// Collects what the page of a commit shows.
pub(super) fn commit_content(
    page: &mut PageSession<'_, '_>,
    id: &str,
) -> Result<PageContent, Refusal> {
    let (commit, neighbours) = find_commit(page, id)?;
    let open = &*page.session.palace;
    let diffs = open.store().diff_of_commit(&commit)?;
    let replaced = replaced_scroll_files(open, commit.parent.as_ref(), &diffs)?;
    let revert = revert_of(page, &commit, &diffs);
    let content = CommitPage {
        items: compare_items_in_files(&diffs, &replaced, &open.palace.settings).items,
        files: diffs.iter().take(MAX_FILES).map(compare_file_side_by_side).collect(),
        more_files: diffs.len().saturating_sub(MAX_FILES),
        revert,
        neighbours,
        commit,
    };
    let body = view::commit_page(&content, page.links, page.session.caller.now);
    let title = content.commit.summary.subject.clone();
    Ok(PageContent { title, place: None, kind: None, item: None, body })
}

/// The commits before and after one, by their short ids.
type Neighbours = (Option<String>, Option<String>);

fn find_commit(
    page: &PageSession<'_, '_>,
    id: &str,
) -> Result<(CommitDetails, Neighbours), Refusal> {
    let known = page.commits;
    let short = |it: &CommitDetails| it.summary.short.clone();
    let lower = id.to_lowercase();
    if let Some(at) = known.iter().position(|it| it.summary.id.0.starts_with(&lower)) {
        let newer = at.checked_sub(1).map(|it| short(&known[it]));
        return Ok((known[at].clone(), (known.get(at + 1).map(short), newer)));
    }
    let store = page.session.palace.store();
    let found = store.resolve_revision(id, page.session.caller.now, &page.session.caller.zone)?;
    let range = CommitRange { tips: vec![found.clone()], hidden: Vec::new() };
    let commits = store.newest_of_range(&range, 2)?;
    let older = commits.get(1).map(short);
    match commits.into_iter().next().filter(|it| it.summary.id == found) {
        Some(commit) => Ok((commit, (older, None))),
        None => Err(Refusal::Invalid(format!("the commit `{id}` did not change this palace"))),
    }
}

/// Returns how to revert a commit.
fn revert_of(page: &PageSession<'_, '_>, commit: &CommitDetails, diffs: &[FileDiff]) -> Revert {
    let open = &*page.session.palace;
    let mut undone = UndoneCommitSet::default();
    let mut is_last_of_tool = is_change_of_tool(commit);
    for newer in page.commits.iter().take_while(|it| it.summary.id != commit.summary.id) {
        let is_newer_undone = undone.add_commit(open, newer);
        let mut by_it = UndoneCommitSet::default();
        if !is_newer_undone && !by_it.add_commit(open, newer) && by_it.take_if_undone(commit) {
            return Revert::Undone(newer.summary.short.clone());
        }
        is_last_of_tool &= !is_change_of_tool(newer) || is_newer_undone;
    }
    let mut commands = Vec::new();
    if creates_palace(diffs) {
        return Revert::Commands(commands);
    }
    if is_last_of_tool {
        let effect = "Reverts this change, the last one of a tool, in a new commit";
        commands.push((undo_command(page, ""), effect.to_owned()));
    }
    commands.extend(undo_of_visit(page, commit));
    let folder = quote_for_shell(&open.store().palace_folder().display().to_string());
    let command = format!("git -C {folder} revert --no-edit {}", commit.summary.short);
    commands.push((command, "Reverts only this change, with git".to_owned()));
    Revert::Commands(commands)
}

fn undo_of_visit(page: &PageSession<'_, '_>, commit: &CommitDetails) -> Option<(String, String)> {
    let visit = visit_of_commit(commit).filter(|_| is_change_of_tool(commit))?;
    let of_visit = page.commits.iter().filter(|it| visit_of_commit(it) == Some(visit)).count();
    let client = one_line(commit.trailer(commit_trailers::CLIENT).unwrap_or("this client"));
    let changes = count_with_noun(of_visit.max(1), "change");
    let effect = format!("Reverts everything that {client} did in this conversation: {changes}");
    // The log knows only the visits of clients by their short ids.
    let id = match commit.is_by_client {
        true => RecordedVisit::shorten_id(visit),
        false => visit.to_string(),
    };
    Some((undo_command(page, &format!(" --visit {id}")), effect))
}

pub(super) fn visit_row(
    page: &PageSession<'_, '_>,
    visit: &RecordedVisit,
) -> Result<VisitRow, Refusal> {
    let files = visit.commits.iter().map(|it| it.changed_files.len()).sum();
    let (changes, hand_over) = match files {
        0..=MAX_DESCRIBED_FILES => {
            let layers = combine_diffs(page.session.palace, &visit.commits_to_describe())?;
            let VisitDetails { items, hand_over, .. } =
                describe_visit(page.session.palace, visit.clone(), &layers)?;
            (render::changes_in_words(&items), hand_over)
        }
        _ => (format!("{} changed", render::count_with_noun(files, "file")), None),
    };
    Ok(VisitRow {
        id: visit.short_id(),
        client: visit.client.clone(),
        at: visit.ended(),
        times: render::visit_times(visit, page.session.caller.now),
        changes,
        hand_over: hand_over.map(|it| render::hand_over_line(&it)),
        undone: visit.undone_amount(),
        undo_command: undo_command_of_visit(page, visit),
    })
}

/// Collects what the page of a visit shows.
pub(super) fn visit_content(
    page: &PageSession<'_, '_>,
    name: &str,
) -> Result<PageContent, Refusal> {
    let open = &*page.session.palace;
    let visit = find_visit(open, page.session.caller, name)?;
    let commits = visit.commits_to_describe();
    let layers = combine_diffs(open, &commits)?;
    let repeated = find_repeated_changes(open, &commits)?;
    let diffs = layers.iter().flatten().filter(|it| !format::is_schema_or_readme_path(&it.path));
    let undo_command = undo_command_of_visit(page, &visit);
    let content = VisitPage {
        details: VisitDetails { repeated, ..describe_visit(open, visit, &layers)? },
        files: diffs.clone().take(MAX_FILES).map(compare_file_side_by_side).collect(),
        more_files: diffs.count().saturating_sub(MAX_FILES),
        undo_command,
    };
    let body = view::visit_page(&content, page.links, page.session.caller.now);
    let title = format!("Conversation of {}", render::client_name(&content.details.visit));
    Ok(PageContent { title, place: None, kind: None, item: None, body })
}

fn undo_command_of_visit(page: &PageSession<'_, '_>, visit: &RecordedVisit) -> Option<String> {
    (visit.undoable > 0).then(|| undo_command(page, &format!(" --visit {}", visit.short_id())))
}

/// Returns the command that undoes something in the palace of a page.
pub(super) fn undo_command(page: &PageSession<'_, '_>, options: &str) -> String {
    let folder = page.session.palace.store().palace_folder().display().to_string();
    format!("palazzo undo{options} --home {}", quote_for_shell(&folder))
}
