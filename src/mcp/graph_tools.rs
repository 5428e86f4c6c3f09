//! The tools of the knowledge graph.

use crate::keeper::{Caller, EntityChange, EntityQuery, Keeper, RelationQuery, TimelineQuery};
use crate::mcp::arguments::{
    CreateEntities, DeleteGraphEntities, GetEntity, GetRelationships, GetTimeline, ListEntities,
    ListGenera, NoArguments, PageNumber, SearchEntities, UpdateEntity,
};
use crate::mcp::reply::to_tool_result;
use crate::mcp::toolbox::{EffectHint, RegisteredTool, ToolSet, Toolbox};
use crate::model::Entity;

pub(super) fn graph_tools() -> [RegisteredTool; 10] {
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

fn describe_workspace() -> RegisteredTool {
    let about = (
        "Describe the workspace",
        "What this workspace holds in a few lines: rooms, scrolls, genera with counts, latest \
         changes.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, NoArguments {}| {
        to_tool_result(keeper.describe_workspace(by))
    };
    RegisteredTool::new(ToolSet::Graph, "describe_workspace", about, EffectHint::Reads, run)
}

fn list_genera() -> RegisteredTool {
    let about = (
        "List genera",
        "The kinds of entities this workspace has, with counts by status; or what is laid down \
         for one: attributes, statuses, relations.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: ListGenera| {
        to_tool_result(keeper.list_genera(by, it.genus.as_deref()))
    };
    RegisteredTool::new(ToolSet::Graph, "list_genera", about, EffectHint::Reads, run)
}

fn list_entities() -> RegisteredTool {
    let about = (
        "List entities",
        "Entities by name, thirty a page: name, genus, status. A number before a name opens it \
         with palace_action.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: ListEntities| {
        let (genus, status, page) = (it.genus, it.status, page_or_first(it.page));
        let attributes = it.attributes.unwrap_or_default();
        to_tool_result(
            keeper.list_entities(by, &EntityQuery { genus, status, attributes, query: None, page }),
        )
    };
    RegisteredTool::new(ToolSet::Graph, "list_entities", about, EffectHint::Reads, run)
}

fn search_entities() -> RegisteredTool {
    let about = (
        "Search entities",
        "Entities that are about some words, best first, thirty a page: name, genus, status.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: SearchEntities| {
        let (genus, status, page) = (it.genus, it.status, page_or_first(it.page));
        let (attributes, query) = (it.attributes.unwrap_or_default(), Some(it.query));
        to_tool_result(
            keeper.list_entities(by, &EntityQuery { genus, status, attributes, query, page }),
        )
    };
    RegisteredTool::new(ToolSet::Graph, "search_entities", about, EffectHint::Reads, run)
}

fn get_entity() -> RegisteredTool {
    let about = (
        "Examine an entity",
        "All that is known of one entity: attributes, observations, relations both ways, ages.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: GetEntity| {
        to_tool_result(keeper.get_entity(by, &it.name, page_or_first(it.page)))
    };
    RegisteredTool::new(ToolSet::Graph, "get_entity", about, EffectHint::Reads, run)
}

fn get_relationships() -> RegisteredTool {
    let about = ("Trace relations", "How one entity is related to others, with dates and sources.");
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: GetRelationships| {
        to_tool_result(keeper.get_relationships(by, &RelationQuery::from(it)))
    };
    RegisteredTool::new(ToolSet::Graph, "get_relationships", about, EffectHint::Reads, run)
}

fn get_timeline() -> RegisteredTool {
    let about = (
        "See what happened when",
        "Dated facts, oldest first, thirty a page: beginnings and ends of relations, \
         attributes that are dates.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: GetTimeline| {
        to_tool_result(keeper.get_timeline(by, &TimelineQuery::from(it)))
    };
    RegisteredTool::new(ToolSet::Graph, "get_timeline", about, EffectHint::Reads, run)
}

fn create_entities() -> RegisteredTool {
    let about = (
        "Create entities",
        "Add entities, in one commit. Names that are taken are left as they are.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: CreateEntities| {
        to_tool_result(
            keeper.create_entities(by, it.entities.into_iter().map(Entity::from).collect()),
        )
    };
    RegisteredTool::new(ToolSet::Graph, "create_entities", about, EffectHint::AddsOnce, run)
}

fn update_entity() -> RegisteredTool {
    let about =
        ("Change an entity", "Change what is known of one entity. What is not given stays.");
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: UpdateEntity| {
        to_tool_result(keeper.update_entity(by, &EntityChange::from(it)))
    };
    RegisteredTool::new(ToolSet::Graph, "update_entity", about, EffectHint::Replaces, run)
}

fn delete_entities() -> RegisteredTool {
    let about =
        ("Delete entities", "Delete entities, and every relation from or to them, in one commit.");
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: DeleteGraphEntities| {
        to_tool_result(keeper.delete_entities(by, &it.names))
    };
    RegisteredTool::new(ToolSet::Graph, "delete_entities", about, EffectHint::Replaces, run)
}

fn page_or_first(page: Option<PageNumber>) -> usize {
    page.map_or(1, |it| it.0)
}
