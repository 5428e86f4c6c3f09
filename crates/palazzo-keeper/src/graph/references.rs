//! Renames an entity in everything that refers to it: entities, rooms, tasks, processes, visits.

use serde_json::Value;

use crate::Refusal;
use crate::graph::entity_file_edits::EntityFileEdits;
use crate::palace::OpenPalace;
use crate::palace::reference_edits::plan_reference_edits_in_rooms_and_work;
use palazzo_core::format::{
    ReferenceKind, change_query_references, room_has_reference, work_has_reference,
};
use palazzo_core::model::{
    ActionKind, AttributeKind, Entity, FileEdit, Graph, ItemId, Relation, WorkSubject,
    entity_links, rename_in_entity_links,
};
use palazzo_core::render;
use palazzo_core::visit::Visit;

/// Replaces `old_name` by `name` in entities and loose ends, and returns how many change. Skips
/// those in `deleted`.
pub(crate) fn rename_in_entities(
    edit: &mut EntityFileEdits,
    open: &mut OpenPalace,
    old_name: &str,
    name: &str,
    deleted: &[String],
) -> Result<usize, Refusal> {
    let sources = open.palace.graph.names_referring_to(old_name);
    let mut changed = 0;
    for (source, is_defined) in sources.iter().filter(|(it, _)| !deleted.contains(it)) {
        let entity = match is_defined {
            true => edit.entity_mut(open, source)?,
            false => edit.loose_end_mut(open, source)?,
        };
        let Some(entity) = entity else { continue };
        let before = entity.clone();
        rename_in_entity(entity, &open.palace.graph, old_name, name);
        changed += usize::from(*entity != before);
        edit.record_renamed_target(source, *is_defined, old_name, name);
    }
    Ok(changed)
}

/// Plans the edits of the rooms, and of the tasks and processes, that name one of `old_names`.
pub(crate) fn plan_rename_in_rooms_and_work(
    open: &mut OpenPalace,
    old_names: &[String],
    name: &str,
) -> Result<[Vec<FileEdit>; 2], Refusal> {
    let palace = open.palace.clone();
    let links = link_attribute_names(&palace.graph);
    let is_old = |text: &str| old_names.iter().any(|it| is_reference_to(&palace.graph, text, it));
    plan_reference_edits_in_rooms_and_work(open, &|kind, _, text| {
        rename_reference(kind, text, &links, &is_old, name);
    })
}

/// Counts the rooms, tasks and processes that name one of `names`: a phrase for each kind.
pub(crate) fn describe_references(open: &OpenPalace, names: &[String]) -> Vec<String> {
    let palace = &open.palace;
    let links = link_attribute_names(&palace.graph);
    let is_one = |text: &str| {
        let is_other = palace.graph.get(text.trim()).is_some_and(|it| !names.contains(&it.name));
        !is_other && names.iter().any(|it| it.to_lowercase() == text.trim().to_lowercase())
    };
    let names_one = |kind: &ReferenceKind, text: &str| match kind {
        ReferenceKind::TextWithLinks => entity_links(text).iter().any(|it| is_one(it.name)),
        _ => is_entity_name(kind, &links) && is_one(text),
    };
    let rooms = palace.rooms().filter(|(_, it)| room_has_reference(it, &names_one));
    let has_one = |it: &WorkSubject| work_has_reference(it, &names_one);
    let tasks = palace.tasks.values().filter(|it| has_one(&it.subject));
    let processes = palace.processes.values().filter(|it| has_one(&it.subject));
    [
        count_and_first_name("room", &rooms.map(|(_, it)| it.name.as_str()).collect::<Vec<_>>()),
        count_and_first_name("task", &tasks.map(|it| it.title.as_str()).collect::<Vec<_>>()),
        count_and_first_name("process", &processes.map(|it| it.name.as_str()).collect::<Vec<_>>()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Counts the items of a kind, and names the first.
fn count_and_first_name(noun: &str, names: &[&str]) -> Option<String> {
    let first = names.first()?;
    let first = render::name_in_sentence(&render::truncate(first, 60));
    let first = if names.len() > 1 { format!("first {first}") } else { first };
    Some(format!("{} ({first})", render::count_with_noun(names.len(), noun)))
}

/// Replaces `old_names` by `name` in the menu and the listed items of a visit.
pub(crate) fn rename_in_visit(visit: &mut Visit, old_names: &[String], name: &str) {
    let is_old =
        |text: &str| old_names.iter().any(|it| it.to_lowercase() == text.trim().to_lowercase());
    let rename =
        |kind: &ReferenceKind, text: &mut String| rename_reference(kind, text, &[], &is_old, name);
    for action in &mut visit.menu {
        match &mut action.kind {
            ActionKind::ShowEntity { entity } => rename(&ReferenceKind::Entity, entity),
            ActionKind::Text { content } => rename(&ReferenceKind::TextWithLinks, content),
            ActionKind::Query { params, .. } => change_query_references(params, &mut &rename),
            ActionKind::Navigate(_) | ActionKind::EnterHall(_) => {}
        }
    }
    for item in &mut visit.listed_items {
        if let ItemId::Entity(it) = item
            && old_names.contains(it)
        {
            name.clone_into(it);
        }
    }
}

/// Replaces `old_name` by `name` in one entity. Relations that become equal are merged.
fn rename_in_entity(entity: &mut Entity, graph: &Graph, old_name: &str, name: &str) {
    let mut relations: Vec<Relation> = Vec::new();
    for mut relation in std::mem::take(&mut entity.relations) {
        if relation.to == old_name {
            name.clone_into(&mut relation.to);
        }
        add_unique_relation(&mut relations, relation, name);
    }
    entity.relations = relations;
    let genus = graph.genus_definition(&entity.genus);
    for (key, definition) in genus.into_iter().flat_map(|it| &it.attributes) {
        if let (AttributeKind::Link(_), Some(Value::String(to))) =
            (&definition.kind, entity.attributes.get_mut(key))
            && is_reference_to(graph, to, old_name)
        {
            name.clone_into(to);
        }
    }
}

/// Adds a relation, unless an equal one to `target` exists, which then takes the source if it has
/// none.
pub(crate) fn add_unique_relation(relations: &mut Vec<Relation>, relation: Relation, target: &str) {
    let facts =
        |it: &Relation| (it.kind.clone(), it.to.clone(), it.since.clone(), it.until.clone());
    let same = |it: &&mut Relation| relation.to == target && facts(it) == facts(&relation);
    match relations.iter_mut().find(same) {
        Some(existing) => existing.source = existing.source.take().or(relation.source),
        None => relations.push(relation),
    }
}

/// Replaces an old name by `name` in a value of a room, a task or a process. `links` are the
/// attributes that name entities.
fn rename_reference(
    kind: &ReferenceKind,
    text: &mut String,
    links: &[String],
    is_old: &dyn Fn(&str) -> bool,
    name: &str,
) {
    if *kind == ReferenceKind::TextWithLinks {
        *text = rename_in_entity_links(text, is_old, name);
    } else if is_entity_name(kind, links) && is_old(text) {
        name.clone_into(text);
    }
}

/// Returns whether a value of this kind is the name of an entity.
fn is_entity_name(kind: &ReferenceKind, links: &[String]) -> bool {
    match kind {
        ReferenceKind::Entity => true,
        ReferenceKind::Attribute(key) => links.iter().any(|it| **it == **key),
        _ => false,
    }
}

/// Lists the attributes that a genus defines as links.
fn link_attribute_names(graph: &Graph) -> Vec<String> {
    let attributes = graph.genus_definitions().flat_map(|it| &it.attributes);
    let links = attributes.filter(|(_, it)| matches!(it.kind, AttributeKind::Link(_)));
    links.map(|(key, _)| key.clone()).collect()
}

/// Returns true if `text` refers to the entity called `name`, which may not exist any more: a
/// person may have changed its name in its file.
fn is_reference_to(graph: &Graph, text: &str, name: &str) -> bool {
    text == name || graph.find_entity(text).is_some_and(|it| it.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::TestHome;
    use palazzo_core::model::Action;

    const ADA: (&str, &str) = ("entities/person/ada.yaml", "name: Ada\ngenus: Person\n");
    const BOOK_GENUS: (&str, &str) =
        ("genera/book.yaml", "name: Book\nattributes:\n  by: link to Person\n");
    const HALL: (&str, &str) = (
        "rooms/hall.yaml",
        "name: Hall\ndescription: Stone.\nactions:\n- label: See her\n  type: query\n  \
        tool: get_entity\n  tool_params: {name: ada}   # soon\n",
    );
    const TASK: (&str, &str) = ("tasks/ask.yaml", "title: Ask\nstatus: open\nentity: ADA\n");

    fn ada() -> [String; 1] {
        ["Ada".to_owned()]
    }

    fn query_action(params: Value) -> Action {
        let Value::Object(params) = params else { panic!("{params}") };
        let kind = ActionKind::Query { tool: "get_entity".to_owned(), params };
        Action { label: "See her".to_owned(), kind }
    }

    /// Returns the new texts of the rooms of a palace in which Ada is renamed to Eve.
    fn rename_in_rooms(files: &[(&str, &str)]) -> Vec<String> {
        let edits =
            TestHome::new(files).run(|it| plan_rename_in_rooms_and_work(it.palace, &ada(), "Eve"));
        let [rooms, _] = edits.unwrap();
        rooms.into_iter().filter_map(|it| it.now).collect()
    }

    #[test]
    fn a_room_action_is_renamed_in_any_case_and_its_comment_stays() {
        assert_eq!(rename_in_rooms(&[ADA, HALL]), [HALL.1.replace("{name: ada}", "{name: Eve}")]);
    }

    #[test]
    fn an_action_that_shows_the_entity_is_renamed() {
        let query = "tool: get_entity\n  tool_params: {name: ada}";
        let hall = HALL.1.replace(query, "entity: ada");
        let renamed = hall.replace("entity: ada", "entity: Eve");
        assert_eq!(rename_in_rooms(&[ADA, (HALL.0, &hall)]), [renamed]);
    }

    #[test]
    fn a_name_that_is_a_number_is_renamed_and_comments_in_a_list_stay() {
        let year = ("entities/year/1984.yaml", "name: 1984\ngenus: Year\n");
        let hall = "name: Hall\ndescription: Stone.\nactions:\n- label: See it\n  type: query\n  \
                    entity: 1984\n- label: See all\n  type: query\n  tool: get_entity\n  tool_params:\n    \
                    names:\n    - '1984' # one\n    - Bob # two\n";
        let edits = TestHome::new(&[year, (HALL.0, hall)])
            .run(|it| plan_rename_in_rooms_and_work(it.palace, &["1984".to_owned()], "Nineteen"));
        let [rooms, _] = edits.unwrap();
        insta::assert_snapshot!(rooms[0].now.as_ref().unwrap(), @"
        name: Hall
        description: Stone.
        actions:
        - label: See it
          type: query
          entity: Nineteen
        - label: See all
          type: query
          tool: get_entity
          # one
          tool_params:
            names:
            - Nineteen
            - Bob # two
        ");
    }

    #[test]
    fn an_action_is_not_renamed_if_two_names_match_in_another_case() {
        let other = ("entities/person/ada-2.yaml", "name: ADA\ngenus: Person\n");
        assert_eq!(rename_in_rooms(&[ADA, other, HALL]), [""; 0]);
    }

    #[test]
    fn an_attribute_filter_is_renamed_only_if_a_genus_defines_a_link() {
        let text = HALL.1.replace("{name: ada}", "{attributes: {by: Ada, name: Ada}}");
        let hall = (HALL.0, text.as_str());
        let renamed = text.replace("by: Ada", "by: Eve");
        assert_eq!(rename_in_rooms(&[ADA, BOOK_GENUS, hall]), [renamed]);
        assert_eq!(rename_in_rooms(&[ADA, hall]), [""; 0]);
    }

    #[test]
    fn tasks_and_processes_about_the_entity_are_renamed() {
        let process = (
            "processes/move.yaml",
            "name: Move\nentity: Ada\nsteps:\n  - Pack\nstep: 1\nstatus: running\n",
        );
        let other = ("tasks/rest.yaml", "title: Ada rests\nstatus: open\n");
        let mut home = TestHome::new(&[ADA, TASK, process, other]);
        let edits = home.run(|it| plan_rename_in_rooms_and_work(it.palace, &ada(), "Eve"));
        let [_, work] = edits.unwrap();
        let texts: Vec<_> = work.into_iter().map(|it| it.now.unwrap()).collect();
        assert_eq!(texts, [TASK.1.replace("ADA", "Eve"), process.1.replace("Ada", "Eve")]);
    }

    #[test]
    fn a_link_attribute_of_an_entity_is_renamed() {
        let notes =
            ("entities/book/notes.yaml", "name: Notes\ngenus: Book\nattributes: { by: ada }\n");
        TestHome::new(&[ADA, BOOK_GENUS, notes]).run(|session| {
            let mut edit = EntityFileEdits::default();
            let changed = rename_in_entities(&mut edit, session.palace, "Ada", "Eve", &[]);
            assert_eq!(changed.unwrap(), 1);
            let notes = edit.entity_mut(session.palace, "Notes").unwrap().unwrap();
            assert_eq!(notes.attributes["by"], "Eve");
        });
    }

    #[test]
    fn entities_that_are_deleted_are_not_renamed() {
        let eve = (
            "entities/person/eve.yaml",
            "name: Eve\ngenus: Person\nrelations:\n- { type: met, to: Ada }\n",
        );
        let changed = TestHome::new(&[ADA, eve]).run(|session| {
            let (mut edit, deleted) = (EntityFileEdits::default(), ["Eve".to_owned()]);
            rename_in_entities(&mut edit, session.palace, "Ada", "Lovelace", &deleted).unwrap()
        });
        assert_eq!(changed, 0);
    }

    #[test]
    fn a_visit_renames_the_entity_in_its_menu_and_its_list() {
        let actions =
            |names: [&str; 2]| names.map(|it| query_action(serde_json::json!({ "entity": it })));
        let items = |names: [&str; 2]| names.map(|it| ItemId::Entity(it.to_owned()));
        let mut visit = Visit::default();
        visit.menu = actions(["Ada", "Bob"]).to_vec();
        visit.listed_items = items(["ADA", "Ada"]).to_vec();
        rename_in_visit(&mut visit, &ada(), "Eve");
        assert_eq!(visit.menu, actions(["Eve", "Bob"]));
        assert_eq!(visit.listed_items, items(["ADA", "Eve"]));
    }

    #[test]
    fn other_parameters_of_an_action_are_not_renamed() {
        let action = query_action(serde_json::json!({ "query": "Ada", "name": ["Ada"] }));
        let mut visit = Visit::default();
        visit.menu = vec![action.clone()];
        rename_in_visit(&mut visit, &ada(), "Eve");
        assert_eq!(visit.menu, [action]);
    }

    #[test]
    fn an_equal_relation_is_not_added_but_gives_its_source() {
        let met = |since: Option<&str>, source: Option<&str>| Relation {
            kind: "met".to_owned(),
            to: "Ada".to_owned(),
            since: since.map(str::to_owned),
            until: None,
            source: source.map(str::to_owned),
        };
        let mut relations = vec![met(None, None)];
        for (since, source) in
            [(None, Some("a letter")), (None, Some("a diary")), (Some("1830"), None)]
        {
            add_unique_relation(&mut relations, met(since, source), "Ada");
        }
        assert_eq!(relations, [met(None, Some("a letter")), met(Some("1830"), None)]);
    }

    #[test]
    fn references_are_counted_by_kind_with_the_first_name() {
        let study = ("rooms/study.yaml", HALL.1.replace("Hall", "Study"));
        let home = [ADA, HALL, (study.0, study.1.as_str()), TASK];
        TestHome::new(&home).run(|session| {
            let references = describe_references(session.palace, &ada());
            assert_eq!(references, ["2 rooms (first Hall)", "1 task (Ask)"]);
            assert_eq!(describe_references(session.palace, &["Eve".to_owned()]), [""; 0]);
        });
    }

    #[test]
    fn an_attribute_filter_is_counted_only_if_a_genus_defines_a_link() {
        let hall = HALL.1.replace("{name: ada}", "{attributes: {by: Ada}}");
        let count = |files: &[(&str, &str)]| {
            TestHome::new(files).run(|it| describe_references(it.palace, &ada()))
        };
        assert_eq!(count(&[ADA, BOOK_GENUS, (HALL.0, &hall)]), ["1 room (Hall)"]);
        assert_eq!(count(&[ADA, (HALL.0, &hall)]), [""; 0]);
    }
}
