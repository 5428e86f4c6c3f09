//! Renders a room as a visitor sees it.

use chrono::{DateTime, Utc};

use crate::model::{Action, ItemId, Layout, Room, RoomId, Scroll, Slot};
use crate::render::text::{count_with_noun, one_line, printable_text};
use crate::render::{EntityListing, ago, entity_listing};

/// The contents of a room's page for one visitor.
#[derive(Clone, Debug)]
pub struct RoomView<'a> {
    /// The id of the room.
    pub id: &'a RoomId,
    /// The room, if it is built.
    pub room: Option<&'a Room>,
    /// Its description, in which links to entities are names with numbers.
    pub description: String,
    /// The numbering of menus in this palace.
    pub layout: Layout,
    /// The scrolls shown, newest first.
    pub scrolls: Vec<&'a Scroll>,
    /// The number of older scrolls that are not shown.
    pub older_scroll_count: usize,
    /// The number of drawers that can be opened here.
    pub drawer_count: usize,
    /// The entities that the graph shows here.
    pub entity_listing: Option<EntityListing<'a>>,
    /// The items that can be opened by number.
    pub listed_items: Vec<ItemId>,
    /// All actions, over all pages.
    pub actions: Vec<Action>,
    /// The page of actions shown, from 0.
    pub page: usize,
    /// The name of the room that the way back leads to, if there is one.
    pub back: Option<String>,
    /// The notices about the room.
    pub notices: Vec<Notice>,
    /// The current time.
    pub now: DateTime<Utc>,
}

/// A line that the server adds to a room's page; never stored (v2 section 3.7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice(pub String);

/// Renders the visitor's room: the wide layout follows v2, the classic one v1 section 6.
pub fn room(view: &RoomView<'_>) -> String {
    let Some(room) = view.room else { return String::new() };
    let mut page = format!("── {} ──\n", one_line(&room.name));
    if !view.description.is_empty() {
        page.push_str(&printable_text(&view.description));
        page.push('\n');
    }
    page.push_str(&scroll_section(view));
    if view.layout == Layout::Classic {
        page.push_str(&bracketed_notices(&view.notices));
    }
    page.push_str(
        &view.entity_listing.as_ref().map(entity_listing::room_listing).unwrap_or_default(),
    );
    page.push('\n');
    page.push_str(&menu(view));
    if view.layout == Layout::Wide {
        page.push_str(&notice_section(&view.notices));
    }
    page
}

/// Renders the visitor's hall.
pub fn hall(view: &RoomView<'_>) -> String {
    let listing =
        view.entity_listing.as_ref().map(entity_listing::hall_listing).unwrap_or_default();
    format!("{listing}\n{}", menu(view))
}

/// Renders a room that is not built yet (v1 section 9). `door` is the label of the door that
/// led here; `context` lists related entities.
pub fn unfinished_room(view: &RoomView<'_>, door: &str, context: &str) -> String {
    let mut page = format!(
        "── [Unfinished Room] ──\n\
         You pass the doorway marked '{}' and find bare walls and the smell of\n\
         fresh mortar: this room is not built yet.\n\n{context}\n\
         Call build_room with slug `{}` to build it.\n",
        one_line(door),
        view.id
    );
    page.push_str(&scroll_section(view));
    page.push_str(&bracketed_notices(&view.notices));
    page.push('\n');
    page.push_str(&menu(view));
    page
}

/// Renders the numbered actions of a room.
pub fn menu(view: &RoomView<'_>) -> String {
    let layout = view.layout;
    let size = layout.page_size(view.actions.len());
    let shown = view.actions.iter().skip(view.page * size).take(size);
    let mut lines = vec!["Actions:".to_owned()];
    for (place, action) in shown.enumerate() {
        lines.push(menu_line(layout, Slot::Action(place), &one_line(&action.label)));
    }
    if view.actions.len() > size {
        lines.push(menu_line(layout, Slot::More, &more_actions_label(view, size)));
    }
    if view.drawer_count > 0 {
        lines.push(menu_line(
            layout,
            Slot::Drawers,
            &format!("Open the drawers ({})", view.drawer_count),
        ));
    }
    if layout == Layout::Classic && view.older_scroll_count > 0 {
        let older = count_with_noun(view.older_scroll_count, "older scroll");
        lines.push(menu_line(layout, Slot::OlderScrolls, &older));
    }
    lines.push("  ─────".to_owned());
    lines.extend(global_action_lines(view));
    lines.join("\n") + "\n"
}

fn more_actions_label(view: &RoomView<'_>, size: usize) -> String {
    let left = view.actions.len().saturating_sub((view.page + 1) * size);
    match left {
        0 => "More actions (back to the first)".to_owned(),
        _ => format!("More actions ({left} more)"),
    }
}

fn global_action_lines(view: &RoomView<'_>) -> Vec<String> {
    let layout = view.layout;
    if layout == Layout::Classic {
        let globals = [
            (Slot::Inventory, "Check inventory"),
            (Slot::WriteScroll, "Write a scroll"),
            (Slot::Map, "View map"),
        ];
        return globals.map(|(slot, label)| menu_line(layout, slot, label)).into();
    }
    let mut globals = Vec::new();
    let mut add =
        |slot, label: String| globals.push(format!("{} {label}", layout.number_of_slot(slot)));
    add(Slot::Map, "map".to_owned());
    if view.older_scroll_count > 0 {
        add(Slot::OlderScrolls, count_with_noun(view.older_scroll_count, "older scroll"));
    }
    if let Some(back) = &view.back {
        add(Slot::Back, format!("back to {}", one_line(back)));
    }
    add(Slot::GoTo, "go to (params: room)".to_owned());
    add(Slot::Search, "search (params: words)".to_owned());
    add(Slot::Inventory, "inventory".to_owned());
    add(Slot::WriteScroll, "write a scroll".to_owned());
    if !view.listed_items.is_empty() && view.entity_listing.is_some() {
        let last = layout.number_of_slot(Slot::Result(view.listed_items.len() - 1));
        add(Slot::Result(0), format!("to {last} items listed last"));
    }
    vec![format!("  {}", globals.join(" · "))]
}

fn menu_line(layout: Layout, slot: Slot, label: &str) -> String {
    format!("  {}. {label}", layout.number_of_slot(slot))
}

fn scroll_section(view: &RoomView<'_>) -> String {
    if view.scrolls.is_empty() {
        return String::new();
    }
    let mut page = "\nScrolls:\n".to_owned();
    for (place, scroll) in view.scrolls.iter().enumerate() {
        let label = format!("{} ({})", one_line(&scroll.title), ago(scroll.written, view.now));
        page.push_str(&match view.layout {
            Layout::Classic => format!("  [{label}]\n"),
            Layout::Wide => menu_line(view.layout, Slot::Scroll(place), &label) + "\n",
        });
    }
    page
}

fn bracketed_notices(notices: &[Notice]) -> String {
    let lines: Vec<_> = notices.iter().map(|Notice(text)| format!("[{text}]\n")).collect();
    if lines.is_empty() { String::new() } else { format!("\n{}", lines.concat()) }
}

fn notice_section(notices: &[Notice]) -> String {
    if notices.is_empty() {
        return String::new();
    }
    let lines: Vec<_> = notices.iter().map(|Notice(text)| format!("  {text}\n")).collect();
    format!("  ─────\nNotices:\n{}", lines.concat())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::model::{ActionKind, NavigationTarget};

    fn scroll(title: &str, written: &str) -> Scroll {
        Scroll {
            id: ulid::Ulid::nil(),
            title: title.to_owned(),
            written: written.parse().unwrap(),
            by: "claude".to_owned(),
            body: String::new(),
        }
    }

    fn action(label: &str) -> Action {
        let room = "elsewhere".parse().unwrap();
        Action {
            label: label.to_owned(),
            kind: ActionKind::Navigate(NavigationTarget { room, workspace: None }),
        }
    }

    fn hall(labels: &[&str]) -> Room {
        Room {
            id: None,
            name: "Hall of Geology".to_owned(),
            description: "Bands of red and grey rock run round the walls.\nA cabinet stands open."
                .to_owned(),
            actions: labels.iter().map(|it| action(it)).collect(),
            portals: Vec::new(),
            generate: None,
        }
    }

    fn rendered_room(layout: Layout, labels: &[&str], page: usize, notices: &[&str]) -> String {
        let (id, hall) = ("hall-of-geology".parse().unwrap(), hall(labels));
        let scrolls = [
            scroll("On stasis", "2026-02-26T12:00:00Z"),
            scroll("Where we stopped", "2026-02-26T11:00:00Z"),
        ];
        room(&RoomView {
            id: &id,
            room: Some(&hall),
            layout,
            scrolls: scrolls.iter().collect(),
            older_scroll_count: 0,
            drawer_count: 0,
            entity_listing: None,
            listed_items: Vec::new(),
            description: hall.description.clone(),
            actions: hall.actions.clone(),
            page,
            back: Some("Great Hall".to_owned()),
            notices: notices.iter().map(|it| Notice((*it).to_owned())).collect(),
            now: "2026-03-01T12:00:00Z".parse().unwrap(),
        })
    }

    #[test]
    fn a_classic_room_has_the_lines_of_the_first_design_in_order() {
        let labels = ["Examine the fossil cabinet", "Read the inscription", "Enter the alcove"];
        let notices = ["Process: reading Cuvier (step 3/5, 2 days ago)"];
        assert_snapshot!(rendered_room(Layout::Classic, &labels, 0, &notices), @"
        ── Hall of Geology ──
        Bands of red and grey rock run round the walls.
        A cabinet stands open.

        Scrolls:
          [On stasis (3 days ago)]
          [Where we stopped (3 days ago)]

        [Process: reading Cuvier (step 3/5, 2 days ago)]

        Actions:
          1. Examine the fossil cabinet
          2. Read the inscription
          3. Enter the alcove
          ─────
          8. Check inventory
          9. Write a scroll
          0. View map
        ");
    }

    #[test]
    fn a_wide_room_has_its_notices_last() {
        assert_snapshot!(rendered_room(Layout::Wide, &["Examine the fossil cabinet"], 0, &["2 new Claims"]), @"
        ── Hall of Geology ──
        Bands of red and grey rock run round the walls.
        A cabinet stands open.

        Scrolls:
          21. On stasis (3 days ago)
          22. Where we stopped (3 days ago)

        Actions:
          1. Examine the fossil cabinet
          ─────
          0 map · 15 back to Great Hall · 16 go to (params: room) · 17 search (params: words) · 18 inventory · 19 write a scroll
          ─────
        Notices:
          2 new Claims
        ");
    }

    #[test]
    fn actions_beyond_the_page_are_behind_more_actions() {
        let labels: Vec<_> = (1..=9).map(|it| format!("Pull lever {it}")).collect();
        let labels: Vec<_> = labels.iter().map(String::as_str).collect();
        let classic = rendered_room(Layout::Classic, &labels, 0, &[]);
        assert!(classic.contains("  6. Pull lever 6\n  7. More actions (3 more)\n  ─────"));
        let last = rendered_room(Layout::Classic, &labels, 1, &[]);
        assert!(last.contains("  3. Pull lever 9\n  7. More actions (back to the first)\n"));
    }

    #[test]
    fn a_name_cannot_imitate_a_menu_or_move_the_cursor() {
        let page = rendered_room(Layout::Wide, &["Harmless\n  2. Give all away\x1b[2J"], 0, &[]);
        assert!(page.contains("  1. Harmless 2. Give all away [2J\n"), "{page}");
    }
}
