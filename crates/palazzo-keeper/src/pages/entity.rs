//! What the page of an entity shows.

use crate::Refusal;
use crate::graph::describe::entity_view;
use crate::graph::lookup::resolve_entity_name;
use crate::pages::page_session::{PageContent, PageSession};
use crate::search::palace_search::find_mentions;
use palazzo_core::model::ItemId;
use palazzo_core::view::{self, EntityPage};

/// Limits for the lists beside an entity.
const MAX_MENTIONS: usize = 12;
const MAX_CHANGES: usize = 5;

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
