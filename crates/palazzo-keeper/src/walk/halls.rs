//! The halls that show entities of the graph in rooms.

use crate::palace::OpenPalace;
use palazzo_core::halls::{self, ChoiceCapacity, HallContents};
use palazzo_core::model::{
    Action, ActionKind, Door, GroupBy, Grouping, Hall, ItemId, NavigationTarget, Palace, RoomId,
    RoomRef, quoted,
};
use palazzo_core::render::{self, EntityListing};
use palazzo_core::visit::Location;

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
pub(crate) fn hall_entity_listing<'a>(
    palace: &'a Palace,
    hall: &Hall,
    contents: &HallContents,
) -> EntityListing<'a> {
    let HallContents { total, entity_names, .. } = contents;
    let entities = entity_names.iter().filter_map(|name| palace.graph.get(name)).collect();
    let note = missing_grouping_attribute(palace, hall)
        .map(|it| format!("None of them has the attribute {}.", quoted(it)));
    EntityListing { title: hall.title.clone(), total: *total, entities, facts: Vec::new(), note }
}

/// Returns the names of the entities that are listed at a position.
pub(crate) fn names_listed_at(open: &mut OpenPalace, position: &Location) -> Vec<String> {
    let Some(hall) = visible_hall(&open.palace, position) else { return Vec::new() };
    open.keep_grouping_sorted(&hall.grouping);
    let names = hall_contents(&open.palace, position, &hall).entity_names;
    names.iter().map(ToString::to_string).collect()
}

/// Returns the items that the numbers of a list of entities open.
pub(crate) fn listed_entities(listing: Option<&EntityListing<'_>>) -> Vec<ItemId> {
    let entities = listing.into_iter().flat_map(|it| &it.entities);
    entities.map(|it| ItemId::Entity(it.name.clone())).collect()
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
    let name = render::title_after_label(&name);
    Action { label: format!("{verb} {name}"), kind: ActionKind::Navigate(target) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::TestHome;

    /// A palace of a hall with an action, a grouping of rocks, and doors.
    fn home(rocks: usize) -> TestHome {
        let hall = "name: Hall\nactions:\n  - label: Descend\n    type: navigate\n    room: crypt\n\
                    generate: { genus: rock, by: hardness }\nportals: [crypt, porch]\n";
        let home = TestHome::new(&[
            ("rooms/hall.yaml", hall),
            ("rooms/crypt.yaml", "name: Crypt\n"),
            ("rooms/porch.yaml", "name: Porch\n"),
        ]);
        for number in 0..rocks {
            let text = format!("name: Rock {number:02}\ngenus: Rock\n");
            home.write(&format!("entities/rock/{number:02}.yaml"), &text);
        }
        home
    }

    fn position(room: &str, hall: Option<Hall>) -> Location {
        Location { hall, ..Location::from_room("keep", room.parse().unwrap()) }
    }

    fn labels(palace: &Palace, at: &Location, from: Option<&RoomId>) -> Vec<String> {
        let hall = visible_hall(palace, at);
        let contents = hall.map(|it| hall_contents(palace, at, &it));
        let actions = available_actions(palace, at, contents.as_ref(), from);
        actions.into_iter().map(|it| it.label).collect()
    }

    #[test]
    fn a_door_that_an_action_leads_through_is_not_listed_again() {
        let labels = home(0).run(|it| labels(&it.palace.palace, &position("hall", None), None));
        assert_eq!(labels, ["Descend", "Go to Porch"]);
    }

    #[test]
    fn the_door_to_the_previous_room_leads_back() {
        let from = "porch".parse().unwrap();
        let labels =
            home(0).run(|it| labels(&it.palace.palace, &position("hall", None), Some(&from)));
        assert_eq!(labels, ["Descend", "Go back to Porch"]);
    }

    #[test]
    fn halls_are_listed_between_the_actions_of_the_room_and_its_doors() {
        let labels = home(40).run(|it| labels(&it.palace.palace, &position("hall", None), None));
        assert_eq!(
            (labels[0].as_str(), labels.last().unwrap().as_str()),
            ("Descend", "Go to Porch")
        );
        assert!(labels.len() > 3 && labels[1].starts_with("Rock · "), "{labels:?}");
    }

    #[test]
    fn a_hall_has_no_actions_of_its_room() {
        let labels = home(2).run(|it| {
            let palace = &it.palace.palace;
            let hall = visible_hall(palace, &position("hall", None));
            labels(palace, &position("hall", hall), None)
        });
        assert_eq!(labels, [""; 0]);
    }

    #[test]
    fn a_room_shows_a_genus_in_the_spelling_of_its_entities() {
        let title = home(2).run(|it| {
            let hall = visible_hall(&it.palace.palace, &position("hall", None)).unwrap();
            (hall.title, visible_hall(&it.palace.palace, &position("crypt", None)))
        });
        assert_eq!(title, ("Rock".to_owned(), None));
    }

    #[test]
    fn a_listing_notes_that_no_entity_has_the_attribute_of_the_grouping() {
        let (names, note) = home(2).run(|it| {
            let (palace, at) = (&it.palace.palace, position("hall", None));
            let hall = visible_hall(palace, &at).unwrap();
            let view = hall_entity_listing(palace, &hall, &hall_contents(palace, &at, &hall));
            let names = view.entities.iter().map(|it| it.name.clone()).collect::<Vec<_>>();
            (names, view.note)
        });
        assert_eq!(names, ["Rock 00", "Rock 01"]);
        assert_eq!(note.as_deref(), Some("None of them has the attribute `hardness`."));
    }
}
