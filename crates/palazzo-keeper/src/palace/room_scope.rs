//! Which entities, rooms and work concern a room.

use std::collections::BTreeSet;

use serde_json::Value;

use palazzo_core::model::{ActionKind, Grouping, Palace, RoomId, Tool, WorkSubject};

/// Lists the genera that have entities and that no action and no grouping of a room lists or names,
/// each with the number of its entities.
pub(crate) fn unshown_genera(palace: &Palace) -> Vec<(String, usize)> {
    let mut shown = BTreeSet::new();
    for (id, _) in palace.rooms() {
        let topics = RoomScope::for_room(palace, id);
        if topics.lists_everything {
            return Vec::new();
        }
        let exact_names =
            topics.names.iter().flat_map(|it| palace.graph.names_ignoring_case(it.trim()));
        let named = exact_names.filter_map(|it| palace.graph.get(it));
        shown.extend(named.map(|it| it.genus.to_lowercase()));
        shown.extend(topics.genera);
    }
    let genera = palace.graph.genus_counts();
    let unshown = genera.filter(|(genus, _)| !shown.contains(&genus.to_lowercase()));
    unshown.map(|(genus, count)| (genus.to_owned(), count)).collect()
}

/// What concerns a room: the entities and genera that its actions name, or everything.
pub(crate) struct RoomScope<'a> {
    /// True for the entry room, and for a room that shows all entities.
    is_whole_palace: bool,
    /// True for a room whose actions or grouping list all entities.
    lists_everything: bool,
    room: &'a RoomId,
    names: BTreeSet<&'a str>,
    genera: BTreeSet<String>,
}

impl<'a> RoomScope<'a> {
    /// Returns true for the entry room, and for a room that shows all entities.
    pub(crate) fn is_whole_palace(&self) -> bool {
        self.is_whole_palace
    }

    /// Collects what the actions and the grouping of a room name.
    pub(crate) fn for_room(palace: &'a Palace, room: &'a RoomId) -> Self {
        let found = palace.room(room);
        let actions = found.map(|it| it.actions.as_slice()).unwrap_or_default();
        let (mut names, mut genera) = (BTreeSet::new(), BTreeSet::new());
        let grouping = found.and_then(|it| it.generate.as_ref());
        let mut lists_everything = grouping == Some(&Grouping::Everything);
        for action in actions {
            names.extend(action.named_entities());
            let ActionKind::Query { tool, params } = &action.kind else { continue };
            lists_everything |=
                Tool::bare_name(tool) == "list_entities" && !params.contains_key("genus");
            let text = |key: &str| params.get(key).and_then(Value::as_str);
            genera.extend(text("genus").map(str::to_lowercase));
        }
        if let Some(Grouping::Genus { genus, .. }) = grouping {
            genera.insert(genus.to_lowercase());
        }
        let is_whole_palace =
            palace.entry_room() == Some(room) || grouping == Some(&Grouping::Everything);
        Self { is_whole_palace, lists_everything, room, names, genera }
    }

    /// Returns true if the room shows all entities of a genus.
    pub(crate) fn includes_genus(&self, genus: &str) -> bool {
        self.is_whole_palace || self.genera.contains(&genus.to_lowercase())
    }

    /// Returns true if an action of the room names the entity.
    pub(crate) fn names_entity(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Returns true if an action or the grouping of the room lists the entity or its genus.
    pub(crate) fn lists_entity(&self, genus: &str, name: &str) -> bool {
        self.lists_everything
            || self.genera.contains(&genus.to_lowercase())
            || self.names_entity(name)
    }

    /// Returns true if changes of the room `room` concern this room.
    pub(crate) fn includes_room(&self, room: &RoomId) -> bool {
        self.is_whole_palace || self.room == room
    }

    /// Returns true if a task or a process with this subject concerns the room.
    pub(crate) fn includes_subject(&self, palace: &Palace, subject: &WorkSubject) -> bool {
        let is_here = |it| palace.resolve_present_room(it, None).as_ref() == Ok(self.room);
        let includes = |name: &String| {
            let genus = palace.graph.get(name).map(|it| it.genus.as_str());
            self.names_entity(name) || genus.is_some_and(|it| self.includes_genus(it))
        };
        self.is_whole_palace
            || subject.room.as_ref().is_some_and(is_here)
            || subject.entity.as_ref().is_some_and(includes)
    }
}
