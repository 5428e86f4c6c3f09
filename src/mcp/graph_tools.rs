//! The tools of the knowledge graph.

use crate::keeper::{Caller, EntityChange, EntityQuery, Keeper, RelationQuery, TimelineQuery};
use crate::mcp::arguments::{
    CreateEntities, GetEntity, GetRelationships, GetTimeline, ListEntities, ListGenera, Nothing,
    Page, RemoveEntities, SearchEntities, UpdateEntity,
};
use crate::mcp::reply::answer;
use crate::mcp::toolbox::{Effect, Handle, ToolSet, Toolbox};
use crate::model::Entity;

pub(super) fn all() -> [Handle; 10] {
    [
        describe_workspace(),
        list_genera(),
        list_entities(),
        search_entities(),
        get_entity(),
        get_relationships(),
        get_timeline(),
        create_entities(),
        update_entity(),
        delete_entities(),
    ]
}

fn describe_workspace() -> Handle {
    let about = (
        "Describe the workspace",
        "What this workspace holds in a few lines: rooms, scrolls, genera with counts, latest \
         changes.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, Nothing {}| {
        answer(keeper.describe_workspace(by))
    };
    Handle::new(ToolSet::Graph, "describe_workspace", about, Effect::Reads, run)
}

fn list_genera() -> Handle {
    let about = (
        "List genera",
        "The kinds of entities this workspace has, with counts by status; or what is laid down \
         for one: attributes, statuses, relations.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: ListGenera| {
        answer(keeper.list_genera(by, it.genus.as_deref()))
    };
    Handle::new(ToolSet::Graph, "list_genera", about, Effect::Reads, run)
}

fn list_entities() -> Handle {
    let about = (
        "List entities",
        "Entities by name, thirty a page: name, genus, status. A number before a name opens it \
         with palace_action.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: ListEntities| {
        let (genus, status, page) = (it.genus, it.status, number(it.page));
        let attributes = it.attributes.unwrap_or_default();
        answer(
            keeper.list_entities(by, &EntityQuery { genus, status, attributes, query: None, page }),
        )
    };
    Handle::new(ToolSet::Graph, "list_entities", about, Effect::Reads, run)
}

fn search_entities() -> Handle {
    let about = (
        "Search entities",
        "Entities that are about some words, best first, thirty a page: name, genus, status.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: SearchEntities| {
        let (genus, status, page) = (it.genus, it.status, number(it.page));
        let (attributes, query) = (it.attributes.unwrap_or_default(), Some(it.query));
        answer(keeper.list_entities(by, &EntityQuery { genus, status, attributes, query, page }))
    };
    Handle::new(ToolSet::Graph, "search_entities", about, Effect::Reads, run)
}

fn get_entity() -> Handle {
    let about = (
        "Examine an entity",
        "All that is known of one entity: attributes, observations, relations both ways, ages.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: GetEntity| {
        answer(keeper.get_entity(by, &it.name, number(it.page)))
    };
    Handle::new(ToolSet::Graph, "get_entity", about, Effect::Reads, run)
}

fn get_relationships() -> Handle {
    let about = ("Trace relations", "How one entity is related to others, with dates and sources.");
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: GetRelationships| {
        answer(keeper.get_relationships(by, &RelationQuery::from(it)))
    };
    Handle::new(ToolSet::Graph, "get_relationships", about, Effect::Reads, run)
}

fn get_timeline() -> Handle {
    let about = (
        "See what happened when",
        "Dated facts, oldest first, thirty a page: beginnings and ends of relations, \
         attributes that are dates.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: GetTimeline| {
        answer(keeper.get_timeline(by, &TimelineQuery::from(it)))
    };
    Handle::new(ToolSet::Graph, "get_timeline", about, Effect::Reads, run)
}

fn create_entities() -> Handle {
    let about = (
        "Create entities",
        "Add entities, in one commit. Names that are taken are left as they are.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: CreateEntities| {
        answer(keeper.create_entities(by, it.entities.into_iter().map(Entity::from).collect()))
    };
    Handle::new(ToolSet::Graph, "create_entities", about, Effect::AddsOnce, run)
}

fn update_entity() -> Handle {
    let about =
        ("Change an entity", "Change what is known of one entity. What is not given stays.");
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: UpdateEntity| {
        answer(keeper.update_entity(by, &EntityChange::from(it)))
    };
    Handle::new(ToolSet::Graph, "update_entity", about, Effect::Replaces, run)
}

fn delete_entities() -> Handle {
    let about =
        ("Delete entities", "Delete entities, and every relation from or to them, in one commit.");
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: RemoveEntities| {
        answer(keeper.delete_entities(by, &it.names))
    };
    Handle::new(ToolSet::Graph, "delete_entities", about, Effect::Replaces, run)
}

fn number(page: Option<Page>) -> usize {
    page.map_or(1, |it| it.0)
}
