//! The session of a page, its content, and what every page shows around that.

use maud::Markup;

use crate::maintain::check::check_palace;
use crate::{Refusal, Session};
use palazzo_core::model::{CommitDetails, CommitSummary, ItemId, Palace, Tool};
use palazzo_core::view::{Links, PageKind, TimeBar};

/// Above this number of items, findings are only counted when their page is opened.
const MAX_CHECKED_ITEMS: usize = 2_000;

/// The content of a page, and what its frame needs to know about it.
pub(super) struct PageContent {
    pub(super) title: String,
    pub(super) place: Option<String>,
    pub(super) kind: Option<PageKind>,
    pub(super) item: Option<ItemId>,
    pub(super) body: Markup,
}

/// The session of a page: the palace that it shows, and the links.
pub(super) struct PageSession<'s, 'k> {
    pub(super) session: &'s mut Session<'k>,
    pub(super) links: &'s Links,
    /// The newest commits up to the shown one.
    pub(super) commits: &'s [CommitDetails],
    pub(super) tools: &'s [Tool],
    /// The names of all palaces of the home.
    pub(super) workspaces: &'s [String],
}

impl PageContent {
    /// Returns the content of a page that is not about one item.
    pub(super) fn of_kind(kind: PageKind, title: &str, body: Markup) -> Self {
        Self { title: title.to_owned(), place: None, kind: Some(kind), item: None, body }
    }
}

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
