//! What every page of a palace shows around its content.

use crate::Refusal;
use crate::maintain::check::check_palace;
use crate::pages::page_session::PageSession;
use palazzo_core::model::{CommitDetails, CommitSummary, Palace};
use palazzo_core::view::TimeBar;

/// Above this number of items, findings are only counted when their page is opened.
const MAX_CHECKED_ITEMS: usize = 2_000;

/// Returns the commits that the reader can choose from. `present` are the newest commits, `past`
/// those up to the shown one.
pub(super) fn time_bar(
    present: &[CommitDetails],
    at: Option<&CommitSummary>,
    past: &[CommitDetails],
) -> TimeBar {
    let short = |it: &CommitDetails| it.summary.short.clone();
    let place = at.and_then(|at| present.iter().position(|it| it.summary.id == at.id));
    TimeBar {
        commits: present.iter().map(|it| (short(it), it.summary.at)).collect(),
        older: past.get(1).map(short),
        // The newest commit is the present, as far as commits tell.
        newer: place.filter(|it| *it > 1).map(|it| short(&present[it - 1])),
        at: at.cloned(),
    }
}

/// Counts the open tasks and processes.
pub(super) fn count_open_work(palace: &Palace) -> usize {
    palace.tasks.values().filter(|it| it.status.is_open()).count()
        + palace.processes.values().filter(|it| it.status.is_open()).count()
}

/// Returns the number of findings and conflicts; `None` in a large palace, until somebody opens the
/// page of the findings.
pub(super) fn finding_count(page: &mut PageSession<'_, '_>) -> Result<Option<usize>, Refusal> {
    let open = &*page.session.palace;
    let files = open.file_states.change_counters();
    if let Some((of, count)) = open.page_cache.finding_count.get()
        && of == files
    {
        return Ok(Some(count));
    }
    let palace = &open.palace;
    let items = palace.rooms().len() + palace.graph.len() + palace.drawers.len();
    if items > MAX_CHECKED_ITEMS || palace.scrolls().nth(MAX_CHECKED_ITEMS).is_some() {
        return Ok(None);
    }
    let checked = (page.tools, page.workspaces);
    let report = check_palace(page.session.palace, checked, page.session.models, Vec::new())?;
    let count = report.findings.len();
    page.session.palace.page_cache.finding_count.set(files, count);
    Ok(Some(count))
}
