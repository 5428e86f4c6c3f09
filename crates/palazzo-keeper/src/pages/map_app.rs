//! The map of the palace that a caller is in, as a view for clients that show views.

use crate::pages::room::{map_view, planned_map};
use crate::{Caller, Keeper, Refusal};
use palazzo_core::view::{self, Links};

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
