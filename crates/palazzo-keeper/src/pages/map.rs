//! Collects the content of the page with the map, and of the map as a view for MCP clients.

use std::sync::Arc;

use crate::pages::page_session::{PageContent, PageSession};
use crate::palace::OpenPalace;
use crate::{Caller, Keeper, Refusal};
use palazzo_core::format::room_path;
use palazzo_core::model::RoomId;
use palazzo_core::render::MapView;
use palazzo_core::view::{self, Links, MapPlan, PageKind};

/// Draws the whole map.
pub(super) fn map_content(page: &PageSession<'_, '_>) -> Result<PageContent, Refusal> {
    let (open, by) = (&*page.session.palace, page.session.caller);
    let entry = open.palace.entry_room();
    let plan = planned_map(open, entry, by)?;
    let body = view::draw_planned_map(&plan, &map_view(open, None, by), page.links, true);
    Ok(PageContent::of_kind(PageKind::Map, "Map", view::map_page(&body)))
}

/// Returns the map that shows the wing of a room in full.
pub(super) fn planned_map(
    open: &OpenPalace,
    here: Option<&RoomId>,
    by: &Caller,
) -> Result<Arc<MapPlan>, Refusal> {
    let wing = here.and_then(|it| it.wing.as_ref());
    let arrivals = open.room_arrivals()?;
    let plan = || view::plan_map(&map_view(open, here, by), &arrivals);
    Ok(open.page_cache.map_of_wing(wing, plan))
}

/// Returns what a map shows of the palace.
pub(super) fn map_view<'a>(
    open: &'a OpenPalace,
    here: Option<&'a RoomId>,
    by: &Caller,
) -> MapView<'a> {
    MapView {
        palace: &open.palace,
        here,
        hall: None,
        conflicts: 0,
        history: open.file_histories(),
        room_file: room_path,
        audience: by.audience(),
        now: by.now,
    }
}

/// Renders the map of the palace that the caller acts on, with their place. It begins no visit.
pub fn render_map_app(keeper: &mut Keeper, by: &Caller) -> Result<String, Refusal> {
    let session = keeper.session(by)?;
    session.palace.update_file_history_cache()?;
    let location = session.visit.location.as_ref().filter(|it| it.workspace == session.key);
    let (here, open) = (location.map(|it| &it.room), &*session.palace);
    let plan = planned_map(open, here.or(open.palace.entry_room()), by)?;
    let links = Links::Resources { workspace: session.key.clone() };
    let map = view::draw_planned_map(&plan, &map_view(open, here, by), &links, true);
    Ok(view::map_app(&map))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::{TestHome, ada};

    #[test]
    fn the_map_links_to_rooms_as_resources_and_marks_the_visitor() {
        let mut home = TestHome::new(&[
            ("rooms/hall.yaml", "name: <b>Hall\nportals: [attic]\n"),
            ("rooms/attic.yaml", "name: Attic\n"),
        ]);
        let page = render_map_app(&mut home.keeper, &ada()).unwrap();
        assert!(page.contains("href=\"palace://keep/rooms/hall\""), "{page}");
        assert!(page.contains("&lt;b&gt;Hall") && !page.contains("<b>"), "{page}");
        assert!(!page.contains("room here"), "{page}");
        home.enter().unwrap();
        let page = render_map_app(&mut home.keeper, &ada()).unwrap();
        assert!(page.contains("room here"), "{page}");
    }
}
