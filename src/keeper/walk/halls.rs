//! What the graph shows in rooms, and the halls below them.

use crate::halls::{self, ChoiceCapacity, HallContents};
use crate::model::{
    Action, ActionKind, Door, GroupBy, Grouping, Hall, NavigationTarget, Palace, RoomId, RoomRef,
};
use crate::render::{self, EntityListing};
use crate::session::Location;

/// Returns the hall that somebody sees who stands in a place: the one they are
/// in, or what the room shows of the graph.
pub(crate) fn visible_hall(palace: &Palace, at: &Location) -> Option<Hall> {
    if let Some(hall) = &at.hall {
        return Some(hall.clone());
    }
    Some(Hall::for_grouping(match palace.room(&at.room)?.generate.clone()? {
        Grouping::Genus { genus, by } => {
            let genus =
                palace.graph.find_genus_ignoring_case(&genus).map_or(genus.clone(), str::to_owned);
            Grouping::Genus { genus, by }
        }
        Grouping::Everything => Grouping::Everything,
    }))
}

/// Looks at what a hall holds that is seen from a place.
pub(crate) fn hall_contents(palace: &Palace, at: &Location, hall: &Hall) -> HallContents {
    let layout = palace.settings.layout;
    let below = layout.page_size(0);
    let here = match palace.room(&at.room).filter(|_| at.hall.is_none()) {
        None => below,
        // On the page of a room its author's actions come first.
        Some(room) => {
            let page = layout.page_size(usize::MAX);
            Some(page.saturating_sub(room.actions.len())).filter(|it| *it > 1).unwrap_or(page)
        }
    };
    halls::hall_contents(
        &palace.graph.grouped_entities(&hall.grouping),
        hall,
        ChoiceCapacity { this_page: here, hall_page: below },
    )
}

/// Returns everything that can be chosen in a place: what its author wrote, then
/// what is made from the graph, then the doors no action leads through. `from`
/// is where the visitor came from.
pub(crate) fn available_actions(
    palace: &Palace,
    at: &Location,
    contents: Option<&HallContents>,
    from: Option<&RoomId>,
) -> Vec<Action> {
    let passages = contents.into_iter().flat_map(|it| &it.sub_halls).map(|it| {
        // Beside other actions a passage says which genus it leads to.
        let name = if at.hall.is_some() { &it.label } else { &it.hall.title };
        Action {
            label: render::sub_hall_label(name, it.total),
            kind: ActionKind::EnterHall(it.hall.clone()),
        }
    });
    if at.hall.is_some() {
        return passages.collect();
    }
    let own = palace.room(&at.room).map(|it| it.actions.clone()).unwrap_or_default();
    let doors = palace.door_names(&at.room).into_iter().map(|it| door_action(it, from));
    own.into_iter().chain(passages).chain(doors).collect()
}

/// Returns what is shown of a hall, besides the ways into its parts.
pub(crate) fn hall_view<'a>(
    palace: &'a Palace,
    hall: &Hall,
    contents: &HallContents,
) -> EntityListing<'a> {
    let HallContents { total, entity_names: listed, .. } = contents;
    let listed = listed.iter().filter_map(|name| palace.graph.get(name)).collect();
    let remark = missing_grouping_attribute(palace, hall)
        .map(|it| format!("None of them has the attribute `{it}`."));
    EntityListing { title: hall.title.clone(), total: *total, entities: listed, note: remark }
}

/// Returns the attribute that a hall is to be parted by, and nothing in it has.
fn missing_grouping_attribute<'a>(palace: &Palace, hall: &'a Hall) -> Option<&'a str> {
    let Grouping::Genus { by: GroupBy::Attribute(attribute), .. } = &hall.grouping else {
        return None;
    };
    let register = palace.graph.grouped_entities(&hall.grouping);
    // Those without it come last.
    let first = register.entity_at(0).filter(|_| hall.depth == 0)?;
    first.headings.iter().all(Option::is_none).then_some(attribute)
}

fn door_action(Door { to, name }: Door, from: Option<&RoomId>) -> Action {
    let verb = if from == Some(&to) { "Go back to" } else { "Go to" };
    let doorway = NavigationTarget { room: RoomRef::from(to), workspace: None };
    Action { label: format!("{verb} {name}"), kind: ActionKind::Navigate(doorway) }
}
