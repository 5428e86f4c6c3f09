//! What the pages show that list: rooms and entities, search results, findings, tasks; and single
//! scrolls, entities, drawers and other items.

use crate::Refusal;
use crate::conflicts::list_conflicts;
use crate::graph::describe::entity_view;
use crate::graph::resolve_entity_name;
use crate::maintain::check::check_palace;
use crate::pages::page_session::{PageContent, PageSession};
use crate::pages::room::room_content;
use crate::search::palace_search::{find_mentions, search_for_page};
use crate::walk::drawers::drawer_view;
use crate::walk::notices::list_open_work;
use crate::walk::show_item::read_diary_entry;
use crate::work::{render_work_item, work_view};
use palazzo_core::model::{Code, Diagnostic, Entity, ItemId, Palace, RoomId, ScrollId, quoted};
use palazzo_core::render;
use palazzo_core::view::{self, EntityPage, IndexPage, ListRow, PageKind};

/// Limits for lists.
const ROWS_PER_PAGE: usize = 200;
const MAX_GENERA: usize = 300;
const MAX_HITS: usize = 30;
const MAX_FINDINGS: usize = 500;
const MAX_WORK: usize = 300;

/// Limits for the lists beside an entity.
const MAX_MENTIONS: usize = 12;
const MAX_CHANGES: usize = 5;

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

/// Shows a scroll.
pub(super) fn scroll_content(
    page: &mut PageSession<'_, '_>,
    which: &ScrollId,
) -> Result<PageContent, Refusal> {
    let palace = &page.session.palace.palace;
    let Some(scroll) = palace.scroll(which) else { return Err(no_item(&which.id.to_string())) };
    let view = page.session.palace.scroll_view(&which.room, scroll);
    let about =
        render::scroll_subtitle(&view, &palace.room_name(&which.room), page.session.caller.now);
    let body = view::text_page(&about, &scroll.body, &palace.graph, page.links);
    Ok(PageContent {
        title: scroll.title.clone(),
        place: Some(which.room.to_string()),
        kind: None,
        item: Some(ItemId::Scroll(which.clone())),
        body,
    })
}

/// Shows the item in a file: a room, a drawer, a task.
pub(super) fn file_content(
    page: &mut PageSession<'_, '_>,
    path: &str,
) -> Result<PageContent, Refusal> {
    let Some(item) = page.session.palace.item_in_file(path) else { return Err(no_item(path)) };
    let (title, body) = match &item {
        ItemId::Room(room) => return room_content(page, Some(&room.clone().into())),
        ItemId::Scroll(which) => return scroll_content(page, which),
        ItemId::Entity(name) => return entity_content(page, name),
        ItemId::Genus(name) => return Ok(index_content(page, Some(name), 1)),
        ItemId::Drawer(file) => drawer_body(page, file)?,
        ItemId::Diary(file) => {
            let text = read_diary_entry(page.session, file)?;
            ("Diary".to_owned(), view::plain_text_page(&text))
        }
        ItemId::Task(_) | ItemId::Process(_) => {
            let now = page.session.caller.now;
            let text = render_work_item(page.session.palace, &item, now)?;
            let title = text.lines().next().unwrap_or_default().trim_matches(['─', ' ']).to_owned();
            (title, view::plain_text_page(&text))
        }
    };
    Ok(PageContent { title, place: None, kind: None, item: Some(item), body })
}

fn drawer_body(page: &PageSession<'_, '_>, file: &str) -> Result<(String, maud::Markup), Refusal> {
    let palace = &page.session.palace.palace;
    let it = drawer_view(page.session.palace, file).ok_or_else(|| no_item(file))?;
    let about = render::drawer_subtitle(&it, page.session.caller.now);
    let body = view::text_page(&about, &it.drawer.text, &palace.graph, page.links);
    Ok((render::drawer_title(it.drawer), body))
}

fn no_item(name: &str) -> Refusal {
    let name = quoted(name);
    Refusal::Invalid(format!("the palace has no {name}; it may have been deleted or moved"))
}

/// Collects what the page of an entity shows.
pub(super) fn entity_content(
    page: &mut PageSession<'_, '_>,
    name: &str,
) -> Result<PageContent, Refusal> {
    let now = page.session.caller.now;
    let name = resolve_entity_name(&page.session.palace.palace, name)?;
    let mentions = find_mentions(page.session.palace, &name, MAX_MENTIONS, now);
    let file =
        page.session.palace.palace.graph.file_of_entity(&name).unwrap_or_default().to_owned();
    page.session.palace.refresh_file(&file);
    let (open, by) = (&*page.session.palace, page.session.caller);
    let Some(view) = entity_view(open, &name, by.reader()) else {
        return Err(Refusal::NoSuchEntity { asked: name, meant: None });
    };
    let changes = page.commits.iter().filter(|it| it.changed_files.contains(&file));
    let changes = changes.take(MAX_CHANGES).map(|it| it.summary.clone()).collect();
    let graph = &open.palace.graph;
    let links = page.links;
    let body = view::entity_page(&EntityPage { graph, links, view, mentions, changes, now });
    let item = Some(ItemId::Entity(name.clone()));
    Ok(PageContent { title: name, place: None, kind: None, item, body })
}
