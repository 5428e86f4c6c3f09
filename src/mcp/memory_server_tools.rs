//! The nine tools of the reference memory server, over the graph of the palace. Names,
//! arguments, answers and behaviour are those of the reference; unknown keys are ignored, as there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::mcp::reply::{ToolReply, ToolResult, format_json_item_per_line};
use crate::mcp::toolbox::{EffectHint, RegisteredTool, ToolSet, Toolbox};
use palazzo_core::model::{self, Entity, Triple};
use palazzo_keeper::{
    self as keeper, Caller, DeletedEntities, DeletionSummary, EntityObservations, GraphPage,
    Keeper, Refusal, Session,
};

/// The maximum size of an answer in thirds of a token: 20,000 tokens. Clients truncate answers
/// at 25,000 tokens.
pub(crate) const MAX_ANSWER_WEIGHT: usize = 60_000;

/// An entity.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(
    rename_all = "camelCase",
    expecting = "an entity: an object with `name`, `entityType` and `observations`"
)]
struct MemoryEntity {
    /// The entity's exact name: any text.
    name: String,
    /// Its kind, like `person`.
    entity_type: String,
    /// Facts about it, one each.
    observations: Vec<String>,
}

impl From<MemoryEntity> for model::Entity {
    fn from(it: MemoryEntity) -> Self {
        Self {
            id: None,
            name: it.name,
            is_defined: true,
            genus: it.entity_type,
            status: None,
            attributes: Map::new(),
            observations: it.observations,
            relations: Vec::new(),
            former_names: Vec::new(),
        }
    }
}

impl From<model::Entity> for MemoryEntity {
    fn from(it: model::Entity) -> Self {
        Self { name: it.name, entity_type: it.genus, observations: it.observations }
    }
}

/// A relation between two entities.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(
    rename_all = "camelCase",
    expecting = "a relation: an object with `from`, `to` and `relationType`"
)]
struct MemoryRelation {
    /// The name of the source entity.
    from: String,
    /// The name of the target entity.
    to: String,
    /// Its type, in the active voice: `works_at`.
    relation_type: String,
}

impl From<MemoryRelation> for Triple {
    fn from(MemoryRelation { from, to, relation_type: kind }: MemoryRelation) -> Self {
        Self { from, kind, to }
    }
}

impl From<Triple> for MemoryRelation {
    fn from(Triple { from, kind, to }: Triple) -> Self {
        Self { from, to, relation_type: kind }
    }
}

/// Entities to create, or that were created.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct MemoryEntities {
    /// The entities.
    entities: Vec<MemoryEntity>,
}

/// Relations to create or delete, or that were created.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct MemoryRelations {
    /// The relations.
    relations: Vec<MemoryRelation>,
}

impl MemoryRelations {
    fn into_triples(self) -> Vec<Triple> {
        self.relations.into_iter().map(Triple::from).collect()
    }
}

/// The arguments of `add_observations`.
#[derive(Debug, Deserialize, JsonSchema)]
struct AddObservations {
    /// The observations to add, by entity.
    observations: Vec<ObservationAddition>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ObservationAddition {
    /// The entity, by its exact name.
    entity_name: String,
    /// The observations to add.
    contents: Vec<String>,
}

impl From<AddObservations> for Vec<EntityObservations> {
    fn from(it: AddObservations) -> Self {
        it.observations.into_iter().map(|it| (it.entity_name, it.contents)).collect()
    }
}

/// The answer of `add_observations`.
#[derive(Debug, Serialize, JsonSchema)]
struct AddObservationsOutput {
    /// The added observations, by entity.
    results: Vec<AddedObservations>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AddedObservations {
    /// The entity.
    entity_name: String,
    /// The observations that it did not have before.
    added_observations: Vec<String>,
}

impl From<Vec<EntityObservations>> for AddObservationsOutput {
    fn from(added: Vec<EntityObservations>) -> Self {
        let added = added.into_iter();
        let results = added.map(|(entity_name, added_observations)| AddedObservations {
            entity_name,
            added_observations,
        });
        Self { results: results.collect() }
    }
}

/// The arguments of `delete_entities`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct DeleteEntities {
    /// The entities, by their exact names.
    entity_names: Vec<String>,
}

/// The arguments of `delete_observations`.
#[derive(Debug, Deserialize, JsonSchema)]
struct DeleteObservations {
    /// The observations to delete, by entity.
    deletions: Vec<ObservationDeletion>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ObservationDeletion {
    /// The entity, by its exact name.
    entity_name: String,
    /// The observations to delete, word for word.
    observations: Vec<String>,
}

impl From<DeleteObservations> for Vec<EntityObservations> {
    fn from(it: DeleteObservations) -> Self {
        it.deletions.into_iter().map(|it| (it.entity_name, it.observations)).collect()
    }
}

/// The answer of the tools that delete.
#[derive(Debug, Serialize, JsonSchema)]
struct DeletionOutput {
    /// Always true: deleting something that does not exist is not an error.
    success: bool,
    /// How many items were deleted, and which were not found.
    message: String,
}

/// The arguments of `read_graph`; clients of the reference send none.
#[derive(Debug, Deserialize, JsonSchema)]
struct ReadGraph {
    /// Continue after this entity: the exact name of the last one in the previous answer.
    after: Option<String>,
}

/// The arguments of `search_nodes`.
#[derive(Debug, Deserialize, JsonSchema)]
struct SearchNodes {
    /// The text to find in names, types or observations, in any letter case. An empty
    /// text finds all entities.
    query: String,
    /// Continue after this entity: the exact name of the last one in the previous answer.
    after: Option<String>,
}

/// The arguments of `open_nodes`.
#[derive(Debug, Deserialize, JsonSchema)]
struct OpenNodes {
    /// The entities, by their exact names.
    names: Vec<String>,
    /// The number of observations to skip at the start of each entity.
    skip: Option<usize>,
}

/// The answer of the tools that read.
#[derive(Debug, Serialize, JsonSchema)]
struct GraphOutput {
    /// The entities, oldest first.
    entities: Vec<MemoryEntity>,
    /// The relations from or to these entities.
    relations: Vec<MemoryRelation>,
    /// What was left out because of its size, and how to get it.
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

impl From<GraphPage> for GraphOutput {
    fn from(GraphPage { entities, relations, omission_note }: GraphPage) -> Self {
        Self {
            entities: entities.into_iter().map(MemoryEntity::from).collect(),
            relations: relations.into_iter().map(MemoryRelation::from).collect(),
            notice: omission_note,
        }
    }
}

/// Returns the tools. The answers of the reading tools have about `most` thirds of a token at
/// most.
pub(crate) fn memory_server_tools(most: usize) -> [RegisteredTool; 9] {
    [
        create_entities(),
        create_relations(),
        add_observations(),
        delete_entities(),
        delete_observations(),
        delete_relations(),
        read_graph(most),
        search_nodes(most),
        open_nodes(most),
    ]
}

fn create_entities() -> RegisteredTool {
    let about = (
        "Create Entities",
        "Add entities to the knowledge graph, each with a unique name, a type and observations. \
         Entities that exist already are not changed. Returns the new entities.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: MemoryEntities| {
        let new = it.entities.into_iter().map(Entity::from).collect();
        let entities = refusal_to_text(keeper::create_entities_if_absent(keeper, caller, new))?
            .into_iter()
            .map(MemoryEntity::from)
            .collect();
        list_reply("entities", &MemoryEntities { entities })
    };
    RegisteredTool::new(ToolSet::Memory, "create_entities", about, EffectHint::AddsOnce, run)
        .with_output_schema::<MemoryEntities>()
}

fn create_relations() -> RegisteredTool {
    let about = (
        "Create Relations",
        "Add relations between entities of the knowledge graph, in the active voice. Relations \
         that exist already are skipped. Returns the new relations.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: MemoryRelations| {
        let relations = refusal_to_text(keeper::create_relations_if_absent(
            keeper,
            caller,
            &it.into_triples(),
        ))?
        .into_iter()
        .map(MemoryRelation::from);
        list_reply("relations", &MemoryRelations { relations: relations.collect() })
    };
    RegisteredTool::new(ToolSet::Memory, "create_relations", about, EffectHint::AddsOnce, run)
        .with_output_schema::<MemoryRelations>()
}

fn add_observations() -> RegisteredTool {
    let about = (
        "Add Observations",
        "Add observations to entities of the knowledge graph. Observations that an entity has \
         already are skipped. If one of the entities does not exist, nothing is added.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: AddObservations| {
        let new: Vec<_> = it.into();
        list_reply(
            "results",
            &AddObservationsOutput::from(refusal_to_text(keeper::add_observations(
                keeper, caller, &new,
            ))?),
        )
    };
    RegisteredTool::new(ToolSet::Memory, "add_observations", about, EffectHint::AddsOnce, run)
        .with_output_schema::<AddObservationsOutput>()
}

fn delete_entities() -> RegisteredTool {
    let about = (
        "Delete Entities",
        "Delete entities from the knowledge graph, and every relation from or to them.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: DeleteEntities| {
        let DeletedEntities { entities, missing, relations } =
            refusal_to_text(keeper.session_if_any(caller).and_then(|session| match session {
                Some(mut session) => {
                    keeper::delete_entities_by_exact_name(&mut session, &it.entity_names)
                }
                None => Ok(DeletedEntities::all_missing(&it.entity_names)),
            }))?;
        let all = (entities.len(), entities.len() + missing.len());
        let mut message = deletion_message("entities", all, &missing);
        if !missing.is_empty() && relations > 0 {
            message.push_str(&format!("; deleted relations with those names: {relations}"));
        }
        deletion_reply(message)
    };
    RegisteredTool::new(ToolSet::Memory, "delete_entities", about, EffectHint::Replaces, run)
        .with_output_schema::<DeletionOutput>()
}

fn delete_observations() -> RegisteredTool {
    let about = (
        "Delete Observations",
        "Delete observations from entities of the knowledge graph, word for word.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: DeleteObservations| {
        let old: Vec<_> = it.into();
        let DeletionSummary { deleted, requested, missing } =
            refusal_to_text(keeper::delete_observations(keeper, caller, &old))?;
        deletion_reply(deletion_message("observations", (deleted, requested), &missing))
    };
    RegisteredTool::new(ToolSet::Memory, "delete_observations", about, EffectHint::Replaces, run)
        .with_output_schema::<DeletionOutput>()
}

fn delete_relations() -> RegisteredTool {
    let about = ("Delete Relations", "Delete relations from the knowledge graph.");
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: MemoryRelations| {
        let DeletionSummary { deleted, requested, missing } =
            refusal_to_text(keeper::delete_relations(keeper, caller, &it.into_triples()))?;
        deletion_reply(deletion_message("relations", (deleted, requested), &missing))
    };
    RegisteredTool::new(ToolSet::Memory, "delete_relations", about, EffectHint::Replaces, run)
        .with_output_schema::<DeletionOutput>()
}

fn read_graph(most: usize) -> RegisteredTool {
    let about = (
        "Read Graph",
        "Read the whole knowledge graph, oldest first. If it is too large for one answer, \
         `notice` reports what was left out; continue with `after`.",
    );
    let run = move |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: ReadGraph| {
        graph_reply(keeper, caller, |session| {
            keeper::read_graph(session, it.after.as_deref(), most)
        })
    };
    RegisteredTool::new(ToolSet::Memory, "read_graph", about, EffectHint::Reads, run)
        .with_output_schema::<GraphOutput>()
}

fn search_nodes(most: usize) -> RegisteredTool {
    let about = (
        "Search Nodes",
        "Find entities whose name, type or observations contain a text, in any letter case, \
         with their relations.",
    );
    let run = move |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: SearchNodes| {
        graph_reply(keeper, caller, |session| {
            keeper::search_nodes(session, &it.query, it.after.as_deref(), most)
        })
    };
    RegisteredTool::new(ToolSet::Memory, "search_nodes", about, EffectHint::Reads, run)
        .with_output_schema::<GraphOutput>()
}

fn open_nodes(most: usize) -> RegisteredTool {
    let about =
        ("Open Nodes", "Show complete entities by their exact names, with their relations.");
    let run = move |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: OpenNodes| {
        graph_reply(keeper, caller, |session| {
            keeper::open_nodes(session, &it.names, it.skip.unwrap_or_default(), most)
        })
    };
    RegisteredTool::new(ToolSet::Memory, "open_nodes", about, EffectHint::Reads, run)
        .with_output_schema::<GraphOutput>()
}

/// Reports how many items were deleted: if all were, in the words of the reference; else with the
/// names that were not found.
fn deletion_message(
    what: &str,
    (deleted, requested): (usize, usize),
    missing: &[String],
) -> String {
    let title = what[..1].to_uppercase() + &what[1..];
    match missing {
        _ if deleted == requested => format!("{title} deleted successfully"),
        [] => format!("{title} deleted: {deleted} of {requested}; the others were not found"),
        _ => format!(
            "{title} deleted: {deleted} of {requested}; not found: {}",
            quote_missing_names(missing)
        ),
    }
}

/// Lists the names that were not found, in quotes: at most ten, and how many more there are.
fn quote_missing_names(names: &[String]) -> String {
    let short = |it: &String| it.chars().take(80).collect::<String>();
    let shown: Vec<_> =
        names.iter().take(10).map(|it| Value::from(short(it)).to_string()).collect();
    let more = names.len() - shown.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

fn deletion_reply(message: String) -> ToolResult {
    let text = message.clone();
    let structured = to_json(&DeletionOutput { success: true, message })?;
    Ok(ToolReply { text, structured: Some(structured) })
}

/// Returns a page of the graph; an empty one if there is no palace yet.
fn graph_reply(
    keeper: &mut Keeper,
    caller: &Caller,
    read: impl FnOnce(&mut Session<'_>) -> Result<GraphPage, Refusal>,
) -> ToolResult {
    let page = keeper.session_if_any(caller).and_then(|session| match session {
        Some(mut session) => read(&mut session),
        None => Ok(GraphPage::default()),
    });
    let structured = to_json(&GraphOutput::from(refusal_to_text(page)?))?;
    Ok(ToolReply { text: format_json_item_per_line(&structured), structured: Some(structured) })
}

/// Returns a list, like the reference: under `key` in the structured result, without `key` in the
/// text.
fn list_reply(key: &str, list: &impl Serialize) -> ToolResult {
    let structured = to_json(list)?;
    Ok(ToolReply {
        text: format_json_item_per_line(&structured[key]),
        structured: Some(structured),
    })
}

fn refusal_to_text<T>(result: Result<T, Refusal>) -> Result<T, String> {
    result.map_err(|refusal| refusal.to_string())
}

fn to_json(it: &impl Serialize) -> Result<Value, String> {
    serde_json::to_value(it).map_err(|err| err.to_string())
}
