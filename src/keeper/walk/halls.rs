//! The halls that show entities of the graph in rooms.

use crate::halls::{self, ChoiceCapacity, HallContents};
use crate::model::{
    Action, ActionKind, Door, GroupBy, Grouping, Hall, NavigationTarget, Palace, RoomId, RoomRef,
};
use crate::render::{self, EntityListing};
use crate::visit::Location;

/// Returns the hall at a position: the one the caller is in, or the one that the room shows.
pub(crate) fn visible_hall(palace: &Palace, position: &Location) -> Option<Hall> {
    if let Some(hall) = &position.hall {
        return Some(hall.clone());
    }
    Some(Hall::for_grouping(match palace.room(&position.room)?.generate.clone()? {
        Grouping::Genus { genus, by } => {
            let genus =
                palace.graph.find_genus_ignoring_case(&genus).map_or(genus.clone(), str::to_owned);
            Grouping::Genus { genus, by }
        }
        Grouping::Everything => Grouping::Everything,
    }))
}

/// Returns the contents of a hall, as seen from a position.
pub(crate) fn hall_contents(palace: &Palace, position: &Location, hall: &Hall) -> HallContents {
    let layout = palace.settings.layout;
    let below = layout.page_size(0);
    let here = match palace.room(&position.room).filter(|_| position.hall.is_none()) {
        None => below,
        // On the page of a room, the actions of its file come first.
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

/// Returns the actions at a position: those of the room file, then those into halls, then the doors
/// that no action leads through. `from` is the room the visitor came from.
pub(crate) fn available_actions(
    palace: &Palace,
    position: &Location,
    contents: Option<&HallContents>,
    from: Option<&RoomId>,
) -> Vec<Action> {
    let sub_halls = contents.into_iter().flat_map(|it| &it.sub_halls).map(|it| {
        // Among the actions of a room, the label contains the genus.
        let name = if position.hall.is_some() { &it.label } else { &it.hall.title };
        Action {
            label: render::sub_hall_label(name, it.total),
            kind: ActionKind::EnterHall(it.hall.clone()),
        }
    });
    if position.hall.is_some() {
        return sub_halls.collect();
    }
    let own = palace.room(&position.room).map(|it| it.actions.clone()).unwrap_or_default();
    let doors =
        palace.doors_without_action(&position.room).into_iter().map(|it| door_action(it, from));
    own.into_iter().chain(sub_halls).chain(doors).collect()
}

/// Returns the entities that a hall lists.
pub(crate) fn hall_view<'a>(
    palace: &'a Palace,
    hall: &Hall,
    contents: &HallContents,
) -> EntityListing<'a> {
    let HallContents { total, entity_names, .. } = contents;
    let entities = entity_names.iter().filter_map(|name| palace.graph.get(name)).collect();
    let note = missing_grouping_attribute(palace, hall)
        .map(|it| format!("None of them has the attribute `{it}`."));
    EntityListing { title: hall.title.clone(), total: *total, entities, note }
}

/// Returns the attribute that a hall is grouped by, if no entity in it has it.
fn missing_grouping_attribute<'a>(palace: &Palace, hall: &'a Hall) -> Option<&'a str> {
    let Grouping::Genus { by: GroupBy::Attribute(attribute), .. } = &hall.grouping else {
        return None;
    };
    let grouped = palace.graph.grouped_entities(&hall.grouping);
    // Entities without the attribute come last.
    let first = grouped.entity_at(0).filter(|_| hall.depth == 0)?;
    first.headings.iter().all(Option::is_none).then_some(attribute)
}

fn door_action(Door { to, name }: Door, from: Option<&RoomId>) -> Action {
    let verb = if from == Some(&to) { "Go back to" } else { "Go to" };
    let target = NavigationTarget { room: RoomRef::from(to), workspace: None };
    Action { label: format!("{verb} {name}"), kind: ActionKind::Navigate(target) }
}
