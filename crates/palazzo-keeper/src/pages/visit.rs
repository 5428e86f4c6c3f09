//! Collects what the log shows of visits, and the pages of visits.

use std::collections::BTreeSet;

use crate::Refusal;
use crate::history::repeated_changes::find_repeated_changes;
use crate::history::visits::{
    combine_diffs, describe_visit, find_visit, visit_of_client, visits_of_commits,
};
use crate::pages::page_session::{PageContent, PageSession};
use crate::pages::side_by_side::compare_file;
use palazzo_core::format;
use palazzo_core::model::{CommitDetails, RecordedVisit, VisitDetails, quote_for_shell};
use palazzo_core::render;
use palazzo_core::view::{self, VisitPage, VisitRow};

/// How many files the page of a visit compares.
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
        let id = visit_of_client(commit);
        match self.visits.iter().find(|it| Some(it.id) == id) {
            Some(visit) => visit_row(page, visit).map(Some),
            None => Ok(None),
        }
    }
}

pub(super) fn visit_row(
    page: &PageSession<'_, '_>,
    visit: &RecordedVisit,
) -> Result<VisitRow, Refusal> {
    let files = visit.commits.iter().map(|it| it.changed_files.len()).sum();
    let (changes, hand_over) = match files {
        0..=MAX_DESCRIBED_FILES => {
            let layers = combine_diffs(page.session.palace, &visit.described_commits())?;
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
        hand_over: hand_over.map(|it| render::hand_over_in_words(&it)),
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
    let commits = visit.described_commits();
    let layers = combine_diffs(open, &commits)?;
    let repeated = find_repeated_changes(open, &commits)?;
    let diffs = layers.iter().flatten().filter(|it| !format::is_palazzo_path(&it.path));
    let undo_command = undo_command_of_visit(page, &visit);
    let content = VisitPage {
        details: VisitDetails { repeated, ..describe_visit(open, visit, &layers)? },
        files: diffs.clone().take(MAX_FILES).map(compare_file).collect(),
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
