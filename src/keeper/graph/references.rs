//! Everything that names an entity, following it to another name.

use serde_json::Value;

use crate::format::{self, room_path};
use crate::keeper::Refusal;
use crate::keeper::graph::edit::GraphEdit;
use crate::keeper::palace::OpenPalace;
use crate::model::{
    Action, ActionKind, AttributeKind, Edit, Entity, Graph, ItemId, Process, Relation, Room, Task,
    WorkSubject,
};
use crate::render;
use crate::session::Visit;

/// Lets everything that names `gone` and has a file of its own name `name`
/// instead; returns how many do. Those among `going` are let go anyway.
pub(crate) fn rename_in_entities(
    revision: &mut GraphEdit,
    held: &mut OpenPalace,
    gone: &str,
    name: &str,
    going: &[String],
) -> Result<usize, Refusal> {
    let naming = held.palace.graph.names_referring_to(gone);
    let mut followers = 0;
    for (caller, is_defined) in naming.iter().filter(|(it, _)| !going.contains(it)) {
        let entity = match is_defined {
            true => revision.entity_mut(held, caller)?,
            false => revision.loose_end_mut(held, caller)?,
        };
        let Some(entity) = entity else { continue };
        let was = entity.clone();
        rename_in_entity(entity, &held.palace.graph, gone, name);
        followers += usize::from(*entity != was);
    }
    Ok(followers)
}

/// Returns the edits of the rooms whose actions name one of `gone`.
pub(crate) fn rename_in_rooms(
    held: &mut OpenPalace,
    gone: &[String],
    name: &str,
) -> Result<Vec<Edit>, Refusal> {
    let renamed = |held: &OpenPalace, room: &Room| {
        let (graph, mut renamed) = (&held.palace.graph, room.clone());
        let (links, is_gone) = (link_attributes(graph), |text: &str| {
            gone.iter().any(|it| is_reference_to(graph, text, it))
        });
        renamed.actions.iter_mut().for_each(|it| rename_in_action(it, &links, is_gone, name));
        Some(renamed).filter(|it| it != room)
    };
    let concerned = held.palace.rooms().filter(|(_, it)| renamed(held, it).is_some());
    let concerned: Vec<_> = concerned.map(|(id, _)| id.clone()).collect();
    let mut edits = Vec::new();
    for id in concerned {
        let path = room_path(&id);
        let text = held.read_for_change(&path)?;
        let (Some(text), Some(old)) = (text, held.palace.room(&id)) else { continue };
        let Some(new) = renamed(held, old) else { continue };
        let now = format::edit_room_text(&path, &text, old, &new)
            .ok_or_else(|| Refusal::UneditableFormatting { file: path.clone() })?;
        edits.push(Edit { path, was: Some(text), now: Some(now) });
    }
    Ok(edits)
}

/// Returns the edits of the tasks and processes that are about one of `gone`.
pub(crate) fn rename_in_work(
    held: &mut OpenPalace,
    gone: &[String],
    name: &str,
) -> Result<Vec<Edit>, Refusal> {
    let graph = &held.palace.graph;
    let is_gone = |about: &WorkSubject| {
        about
            .entity
            .as_ref()
            .is_some_and(|it| gone.iter().any(|gone| is_reference_to(graph, it, gone)))
    };
    let tasks = held.palace.tasks.iter().filter(|(_, it)| is_gone(&it.subject));
    let processes = held.palace.processes.iter().filter(|(_, it)| is_gone(&it.subject));
    let tasks = tasks.map(|(path, _)| path);
    let paths: Vec<_> = tasks.chain(processes.map(|(path, _)| path)).cloned().collect();
    let mut edits = Vec::new();
    for path in paths {
        let was = held.read_for_change(&path)?;
        let Some(text) = &was else { continue };
        let about = |it: &WorkSubject| WorkSubject { entity: Some(name.to_owned()), ..it.clone() };
        let task = held.palace.tasks.get(&path).and_then(|old| {
            let new = Task { subject: about(&old.subject), ..old.clone() };
            format::edit_task_text(&path, text, old, &new)
        });
        let process = || {
            let old = held.palace.processes.get(&path)?;
            let new = Process { subject: about(&old.subject), ..old.clone() };
            format::edit_process_text(&path, text, old, &new)
        };
        let now = task
            .or_else(process)
            .ok_or_else(|| Refusal::UneditableFormatting { file: path.clone() })?;
        edits.push(Edit { path, was, now: Some(now) });
    }
    Ok(edits)
}

/// Says which rooms, tasks and processes name one of `gone`, by what they are called.
pub(crate) fn describe_references(held: &OpenPalace, gone: &[String]) -> Vec<String> {
    let palace = &held.palace;
    let is_gone =
        |text: &str| gone.iter().any(|it| it.to_lowercase() == text.trim().to_lowercase());
    let asks = |action: &Action| {
        let ActionKind::Query { params, .. } = &action.kind else { return false };
        let named = Action::ENTITY_PARAMS.iter().filter_map(|key| params.get(*key)?.as_str());
        named.into_iter().any(is_gone)
    };
    let is_about = |it: &WorkSubject| it.entity.as_deref().is_some_and(is_gone);
    let rooms = palace.rooms().filter(|(_, it)| it.actions.iter().any(asks));
    let tasks = palace.tasks.values().filter(|it| is_about(&it.subject));
    let processes = palace.processes.values().filter(|it| is_about(&it.subject));
    [
        count_and_first_name("room", &rooms.map(|(_, it)| it.name.as_str()).collect::<Vec<_>>()),
        count_and_first_name("task", &tasks.map(|it| it.title.as_str()).collect::<Vec<_>>()),
        count_and_first_name("process", &processes.map(|it| it.name.as_str()).collect::<Vec<_>>()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Counts what is of a kind, and names the first.
fn count_and_first_name(noun: &str, names: &[&str]) -> Option<String> {
    let first = names.first()?;
    let first = render::truncate(&render::one_line(first), 60);
    let first = if names.len() > 1 { format!("first {first}") } else { first };
    Some(format!("{} ({first})", render::pluralize(names.len(), noun)))
}

/// Lets the numbers that a visitor was shown lead to `name` instead of `gone`.
pub(crate) fn rename_in_visit(visit: &mut Visit, gone: &[String], name: &str) {
    let is_gone = |text: &str| gone.iter().any(|it| it == text);
    visit.menu.iter_mut().for_each(|it| rename_in_action(it, &[], is_gone, name));
    for opening in &mut visit.listed_items {
        if let ItemId::Entity(it) = opening
            && gone.contains(it)
        {
            name.clone_into(it);
        }
    }
}

/// Lets one entity name `name` in place of `gone`. Relations that become the
/// same by it are kept once.
fn rename_in_entity(entity: &mut Entity, graph: &Graph, gone: &str, name: &str) {
    let mut relations: Vec<Relation> = Vec::new();
    for mut relation in std::mem::take(&mut entity.relations) {
        if relation.to == gone {
            name.clone_into(&mut relation.to);
        }
        add_unique_relation(&mut relations, relation, name);
    }
    entity.relations = relations;
    let genus = graph.genus_definition(&entity.genus);
    for (key, about) in genus.into_iter().flat_map(|it| &it.attributes) {
        if let (AttributeKind::Link(_), Some(Value::String(to))) =
            (&about.kind, entity.attributes.get_mut(key))
            && is_reference_to(graph, to, gone)
        {
            name.clone_into(to);
        }
    }
}

/// Adds a relation, unless one to `name` says the same; a source it knows is
/// kept.
pub(crate) fn add_unique_relation(relations: &mut Vec<Relation>, relation: Relation, name: &str) {
    let facts =
        |it: &Relation| (it.kind.clone(), it.to.clone(), it.since.clone(), it.until.clone());
    let same = |it: &&mut Relation| relation.to == name && facts(it) == facts(&relation);
    match relations.iter_mut().find(same) {
        Some(twin) => twin.source = twin.source.take().or(relation.source),
        None => relations.push(relation),
    }
}

/// Lets an action name `name` instead of who is gone, also where it asks for what
/// has somebody in one of the attributes that are `links`.
fn rename_in_action(
    action: &mut Action,
    links: &[String],
    is_gone: impl Fn(&str) -> bool,
    name: &str,
) {
    let ActionKind::Query { params, .. } = &mut action.kind else { return };
    let redirect = |value: Option<&mut Value>| {
        if let Some(Value::String(text)) = value
            && is_gone(text)
        {
            name.clone_into(text);
        }
    };
    for key in Action::ENTITY_PARAMS {
        redirect(params.get_mut(key));
    }
    if let Some(Value::Object(attributes)) = params.get_mut("attributes") {
        for key in links {
            redirect(attributes.get_mut(key));
        }
    }
}

/// Lists the attributes that some genus says are links.
fn link_attributes(graph: &Graph) -> Vec<String> {
    let attributes = graph.genus_definitions().flat_map(|it| &it.attributes);
    let links = attributes.filter(|(_, it)| matches!(it.kind, AttributeKind::Link(_)));
    links.map(|(key, _)| key.clone()).collect()
}

/// Tells whether who is asked for by `text` finds `name`: in another case only
/// where nobody else is called so.
fn is_reference_to(graph: &Graph, text: &str, name: &str) -> bool {
    text == name || graph.get(text).is_none() && graph.names_ignoring_case(text.trim()).eq([name])
}
