//! The nine tools of the reference memory server, over the graph of the palace. Names,
//! arguments, answers and behaviour are those of the reference.

use serde::Serialize;
use serde_json::Value;

use crate::mcp::arguments::{
    AddObservations, AddObservationsOutput, DeleteEntities, DeleteObservations, DeletionOutput,
    GraphOutput, MemoryEntities, MemoryEntity, MemoryRelation, MemoryRelations, OpenNodes,
    ReadGraph, SearchNodes,
};
use crate::mcp::effect_hint::EffectHint;
use crate::mcp::reply::{ToolReply, ToolResult};
use crate::mcp::toolbox::{RegisteredTool, ToolSet, Toolbox};
use palazzo_core::model::{Entity, escape_unprintable_json};
use palazzo_keeper::{
    self as keeper, Caller, DeletedEntities, DeletionSummary, GraphPage, Keeper, Refusal, Session,
};

/// The maximum size of an answer in thirds of a token: 20,000 tokens. Clients truncate answers
/// at 25,000 tokens.
pub(crate) const MAX_ANSWER_WEIGHT: usize = 60_000;

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

/// Writes a value as JSON with one item of a list on each line: a third shorter than indented
/// JSON, and still readable.
pub(crate) fn format_json_item_per_line(value: &Value) -> String {
    let text = match value {
        Value::Object(map) => {
            let pairs = map.iter().map(|(key, it)| format!("\"{key}\":{}", format_json_list(it)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(",\n"))
        }
        list => format_json_list(list),
    };
    escape_unprintable_json(&text)
}

fn format_json_list(value: &Value) -> String {
    match value {
        Value::Array(items) if !items.is_empty() => {
            let items: Vec<_> = items.iter().map(Value::to_string).collect();
            format!("[\n{}\n]", items.join(",\n"))
        }
        other => other.to_string(),
    }
}
