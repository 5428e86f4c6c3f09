//! Collects the content of the pages of single items: scrolls, entities, drawers, tasks and others.

use crate::Refusal;
use crate::graph::describe::entity_view;
use crate::graph::resolve_entity_name;
use crate::pages::lists::index_content;
use crate::pages::page_session::{PageContent, PageSession};
use crate::pages::room::room_content;
use crate::search::palace_search::find_mentions;
use crate::walk::drawers::drawer_view;
use crate::walk::show_item::read_diary_entry;
use crate::work::render_work_item;
use palazzo_core::model::{ItemId, ScrollId, quoted};
use palazzo_core::render;
use palazzo_core::view::{self, EntityPage};

/// Limits for the lists beside an entity.
const MAX_MENTIONS: usize = 12;
const MAX_CHANGES: usize = 5;

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
