//! The tools of the knowledge graph.

use crate::keeper::{EntityChange, NewEntity, Wanted};
use crate::mcp::arguments::{
    CreateEntities, GetEntity, GetRelationships, ListEntities, Nothing, Page, SearchEntities,
    UpdateEntity,
};
use crate::mcp::toolbox::{Effect, Handle, ToolSet, answer};

pub(super) fn all() -> Vec<Handle> {
    let mut tools = reading();
    tools.extend(writing());
    tools
}

fn reading() -> Vec<Handle> {
    let mut tools = Vec::from(lists());
    tools.extend([
        Handle::new(
            ToolSet::Graph,
            "get_entity",
            (
                "Examine an entity",
                "Everything known of one entity: status, attributes, observations, relations \
                 both ways, ages.",
            ),
            Effect::Reads,
            |_, keeper, by, it: GetEntity| answer(keeper.get_entity(by, &it.name)),
        ),
        Handle::new(
            ToolSet::Graph,
            "get_relationships",
            ("Trace relations", "How one entity is related to others, with dates and sources."),
            Effect::Reads,
            |_, keeper, by, it: GetRelationships| {
                let direction = it.direction.map(Into::into).unwrap_or_default();
                answer(keeper.get_relationships(by, &it.name, it.r#type.as_deref(), direction))
            },
        ),
        Handle::new(
            ToolSet::Graph,
            "list_genera",
            ("List genera", "The kinds of entities this workspace has, with counts by status."),
            Effect::Reads,
            |_, keeper, by, Nothing {}| answer(keeper.list_genera(by)),
        ),
        Handle::new(
            ToolSet::Graph,
            "describe_workspace",
            (
                "Describe the workspace",
                "What this workspace holds in a few lines: rooms, scrolls, genera with counts, \
                 latest changes.",
            ),
            Effect::Reads,
            |_, keeper, by, Nothing {}| answer(keeper.describe_workspace(by)),
        ),
    ]);
    tools
}

fn lists() -> [Handle; 2] {
    let page = |it: Option<Page>| it.map_or(1, |it| it.0);
    [
        Handle::new(
            ToolSet::Graph,
            "list_entities",
            (
                "List entities",
                "Entities by name, thirty a page: name, genus, status. A number before a name \
                 opens it with palace_action.",
            ),
            Effect::Reads,
            move |_, keeper, by, it: ListEntities| {
                let (genus, status, page) = (it.genus, it.status, page(it.page));
                answer(keeper.list_entities(by, &Wanted { genus, status, query: None, page }))
            },
        ),
        Handle::new(
            ToolSet::Graph,
            "search_entities",
            (
                "Search entities",
                "Entities that are about some words, best first, thirty a page: name, genus, \
                 status.",
            ),
            Effect::Reads,
            move |_, keeper, by, it: SearchEntities| {
                let (genus, status, page) = (it.genus, it.status, page(it.page));
                let query = Some(it.query);
                answer(keeper.list_entities(by, &Wanted { genus, status, query, page }))
            },
        ),
    ]
}

fn writing() -> [Handle; 2] {
    [
        Handle::new(
            ToolSet::Graph,
            "create_entities",
            (
                "Create entities",
                "Add entities to the knowledge graph, in one commit. Names that are taken are \
                 left as they are.",
            ),
            Effect::Adds,
            |_, keeper, by, it: CreateEntities| {
                let new = it.entities.into_iter().map(NewEntity::from).collect();
                answer(keeper.create_entities(by, new))
            },
        ),
        Handle::new(
            ToolSet::Graph,
            "update_entity",
            ("Change an entity", "Change what is known of one entity. What is not given stays."),
            Effect::Replaces,
            |_, keeper, by, it: UpdateEntity| {
                answer(keeper.update_entity(by, &EntityChange::from(it)))
            },
        ),
    ]
}
