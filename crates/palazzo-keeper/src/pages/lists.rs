//! Collects the content of the pages with lists: rooms and entities, search results, findings, tasks.

use crate::Refusal;
use crate::conflicts::list_conflicts;
use crate::maintain::check::check_palace;
use crate::pages::page_session::{PageContent, PageSession};
use crate::search::palace_search::search_for_page;
use crate::work::{list_open_work, work_view};
use palazzo_core::model::{Code, Diagnostic, Entity, ItemId, Palace, RoomId};
use palazzo_core::render;
use palazzo_core::view::{self, IndexPage, ListRow, PageKind};

/// Limits for lists.
const ROWS_PER_PAGE: usize = 200;
const MAX_GENERA: usize = 300;
const MAX_HITS: usize = 30;
const MAX_FINDINGS: usize = 500;
const MAX_WORK: usize = 300;

/// Lists the rooms and genera, or the entities of a genus.
pub(super) fn index_content(
    page: &mut PageSession<'_, '_>,
    genus: Option<&str>,
    number: usize,
) -> PageContent {
    let palace = &page.session.palace.palace;
    let first = (number - 1).saturating_mul(ROWS_PER_PAGE);
    let genus = genus.and_then(|it| palace.graph.find_genus_ignoring_case(it));
    let (rows, total): (Vec<_>, _) = match genus {
        Some(genus) => {
            let entities = palace.graph.entities_of_genus(genus, None);
            let shown = entities.skip(first).take(ROWS_PER_PAGE).map(entity_row);
            (shown.collect(), palace.graph.count_in_genus(genus))
        }
        None => {
            let rooms = palace.enterable_rooms();
            let shown = rooms.iter().skip(first).take(ROWS_PER_PAGE);
            (shown.map(|it| room_row(palace, it)).collect(), rooms.len())
        }
    };
    let genera = palace.graph.genus_counts().take(MAX_GENERA);
    let genera = genera.map(|(genus, count)| (genus.to_owned(), count));
    let index = IndexPage {
        genus: genus.map(str::to_owned),
        rows,
        genera: if genus.is_none() && number == 1 { genera.collect() } else { Vec::new() },
        page: (number, total.div_ceil(ROWS_PER_PAGE).max(1)),
    };
    let body = view::index_page(&index, page.links);
    PageContent::of_kind(PageKind::Index, "Index", body)
}

fn room_row(palace: &Palace, id: &RoomId) -> ListRow {
    let (name, note) = (palace.room_name(id), id.to_string());
    ListRow { item: ItemId::Room(id.clone()), name, note }
}

fn entity_row(it: &Entity) -> ListRow {
    let note = it.status.clone().unwrap_or_default();
    ListRow { item: ItemId::Entity(it.name.clone()), name: it.name.clone(), note }
}

/// Searches the palace.
pub(super) fn search_content(
    page: &mut PageSession<'_, '_>,
    query: &str,
) -> Result<PageContent, Refusal> {
    let (hits, total) = search_for_page(page.session, query, MAX_HITS)?;
    let body = view::search_page(query, &hits, total, page.links);
    Ok(PageContent::of_kind(PageKind::Search, "Search", body))
}

/// Lists the findings and the conflicts.
pub(super) fn findings_content(page: &mut PageSession<'_, '_>) -> Result<PageContent, Refusal> {
    let checked = (page.tools, page.workspaces);
    let report = check_palace(page.session.palace, checked, page.session.models, Vec::new())?;
    let open = &*page.session.palace;
    let files = open.file_states.change_counters();
    open.page_cache.finding_count.set(files, report.findings.len());
    let mut findings: Vec<_> = report.findings.into_iter().map(|it| it.diagnostic).collect();
    // They are listed with what to do about them.
    findings.retain(|it| it.code != Code::OpenConflict);
    findings.sort_by_key(Diagnostic::severity);
    findings.truncate(MAX_FINDINGS);
    let with_item = |it: Diagnostic| (open.item_in_file(&it.file), it);
    let findings: Vec<_> = findings.into_iter().map(with_item).map(|(a, b)| (b, a)).collect();
    let reader = page.session.caller.reader();
    let conflicts = list_conflicts(page.session)
        .into_iter()
        .take(MAX_FINDINGS)
        .map(|it| (render::conflict_notice(&it, None, reader), open.item_in_file(&it.item_file)));
    let body = view::findings_page(&findings, &conflicts.collect::<Vec<_>>(), page.links);
    Ok(PageContent::of_kind(PageKind::Findings, "Findings", body))
}

/// Lists the open tasks and processes.
pub(super) fn tasks_content(page: &PageSession<'_, '_>) -> PageContent {
    let open = &*page.session.palace;
    let [processes, tasks] = list_open_work(&open.palace, |_| true);
    let all: Vec<_> = processes.into_iter().chain(tasks).collect();
    let work = all.iter().take(MAX_WORK).filter_map(|it| Some((it.clone(), work_view(open, it)?)));
    let work: Vec<_> = work.collect();
    let body = view::tasks_page(&work, all.len(), page.links, page.session.caller.now);
    PageContent::of_kind(PageKind::Tasks, "Tasks", body)
}
