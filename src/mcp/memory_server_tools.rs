//! The nine tools of the reference memory server, on the same graph as all
//! others: its names, arguments, answers and behaviour.

use serde::Serialize;
use serde_json::Value;

use crate::keeper::{Caller, DeletedEntities, DeletionSummary, Keeper, Refusal};
use crate::mcp::arguments::{
    AddObservations, Additions, DeleteEntities, DeleteObservations, Done, Edge, Edges, Network,
    Node, Nodes, OpenNodes, ReadGraph, SearchNodes,
};
use crate::mcp::reply::{Answer, Reply};
use crate::mcp::toolbox::{Effect, Handle, ToolSet, Toolbox};
use crate::model::{Entity, printable_json};

/// What an answer may weigh that nobody can know beforehand, in thirds of a token:
/// 20,000 tokens, where clients cut at 25,000.
pub(crate) const MOST: usize = 60_000;

/// Lists the tools; those that read answer with about `most` thirds of a token.
pub(crate) fn all(most: usize) -> [Handle; 9] {
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

fn create_entities() -> Handle {
    let about = (
        "Create Entities",
        "Add entities to the knowledge graph, each with a unique name, a type and observations. \
         Names that are taken are left as they are; the answer holds the new ones.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: Nodes| {
        let new = it.entities.into_iter().map(Entity::from).collect();
        let entities =
            told(keeper.create_entities_if_absent(by, new))?.into_iter().map(Node::from).collect();
        reply("entities", &Nodes { entities })
    };
    Handle::new(ToolSet::Memory, "create_entities", about, Effect::AddsOnce, run)
        .answering::<Nodes>()
}

fn create_relations() -> Handle {
    let about = (
        "Create Relations",
        "Add relations between entities of the knowledge graph, in the active voice. Those that \
         are there already are passed over; the answer holds the new ones.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: Edges| {
        let relations =
            told(keeper.create_relations_if_absent(by, &it.triples()))?.into_iter().map(Edge::from);
        reply("relations", &Edges { relations: relations.collect() })
    };
    Handle::new(ToolSet::Memory, "create_relations", about, Effect::AddsOnce, run)
        .answering::<Edges>()
}

fn add_observations() -> Handle {
    let about = (
        "Add Observations",
        "Add observations to entities of the knowledge graph. Those an entity has already are \
         passed over; if one of the entities is not there, nothing is added.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: AddObservations| {
        let new: Vec<_> = it.into();
        reply("results", &Additions::from(told(keeper.add_observations(by, &new))?))
    };
    Handle::new(ToolSet::Memory, "add_observations", about, Effect::AddsOnce, run)
        .answering::<Additions>()
}

fn delete_entities() -> Handle {
    let about = (
        "Delete Entities",
        "Delete entities from the knowledge graph, and every relation from or to them.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: DeleteEntities| {
        let DeletedEntities { entities, missing, relations } =
            told(keeper.delete_exact_entities(by, &it.entity_names))?;
        let all = (entities.len(), entities.len() + missing.len());
        let mut message = deleted("entities", all, &missing);
        if !missing.is_empty() && relations > 0 {
            message.push_str(&format!("; relations deleted with those names: {relations}"));
        }
        done(message)
    };
    Handle::new(ToolSet::Memory, "delete_entities", about, Effect::Replaces, run)
        .answering::<Done>()
}

fn delete_observations() -> Handle {
    let about = (
        "Delete Observations",
        "Delete observations from entities of the knowledge graph, word for word.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: DeleteObservations| {
        let old: Vec<_> = it.into();
        let DeletionSummary { deleted: gone, requested: asked, missing } =
            told(keeper.delete_observations(by, &old))?;
        done(deleted("observations", (gone, asked), &missing))
    };
    Handle::new(ToolSet::Memory, "delete_observations", about, Effect::Replaces, run)
        .answering::<Done>()
}

fn delete_relations() -> Handle {
    let about = ("Delete Relations", "Delete relations from the knowledge graph.");
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: Edges| {
        let DeletionSummary { deleted: gone, requested: asked, missing } =
            told(keeper.delete_relations(by, &it.triples()))?;
        done(deleted("relations", (gone, asked), &missing))
    };
    Handle::new(ToolSet::Memory, "delete_relations", about, Effect::Replaces, run)
        .answering::<Done>()
}

fn read_graph(most: usize) -> Handle {
    let about = (
        "Read Graph",
        "Read the whole knowledge graph, oldest first. Where that is too much, the answer has \
         a notice of what was left out, and `after` goes on.",
    );
    let run = move |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: ReadGraph| {
        network(keeper.read_graph(by, it.after.as_deref(), most))
    };
    Handle::new(ToolSet::Memory, "read_graph", about, Effect::Reads, run).answering::<Network>()
}

fn search_nodes(most: usize) -> Handle {
    let about = (
        "Search Nodes",
        "Find entities whose name, type or observations hold a text, whatever the case, with \
         their relations.",
    );
    let run = move |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: SearchNodes| {
        network(keeper.search_nodes(by, &it.query, it.after.as_deref(), most))
    };
    Handle::new(ToolSet::Memory, "search_nodes", about, Effect::Reads, run).answering::<Network>()
}

fn open_nodes(most: usize) -> Handle {
    let about = ("Open Nodes", "Show entities by their exact names, whole, with their relations.");
    let run = move |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: OpenNodes| {
        network(keeper.open_nodes(by, &it.names, it.skip.unwrap_or_default(), most))
    };
    Handle::new(ToolSet::Memory, "open_nodes", about, Effect::Reads, run).answering::<Network>()
}

/// Says how much was deleted: in the reference's words if all was, else with
/// what was not found.
fn deleted(what: &str, (gone, asked): (usize, usize), missing: &[String]) -> String {
    let title = what[..1].to_uppercase() + &what[1..];
    match missing {
        _ if gone == asked => format!("{title} deleted successfully"),
        [] => format!("{title} deleted: {gone} of {asked}; the others were not there"),
        _ => format!("{title} deleted: {gone} of {asked}; there is no {}", quoted(missing)),
    }
}

/// Lists names that were not found, the first few of many.
fn quoted(names: &[String]) -> String {
    let short = |it: &String| it.chars().take(80).collect::<String>();
    let shown: Vec<_> =
        names.iter().take(10).map(|it| Value::from(short(it)).to_string()).collect();
    let more = names.len() - shown.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

fn done(message: String) -> Answer {
    let text = message.clone();
    let structured = value(&Done { success: true, message })?;
    Ok(Reply { text, structured: Some(structured) })
}

fn network(found: Result<crate::keeper::GraphPage, Refusal>) -> Answer {
    let structured = value(&Network::from(told(found)?))?;
    Ok(Reply { text: spread(&structured), structured: Some(structured) })
}

/// Answers with a list: as a value under `key`, as text the list alone, as the
/// reference does.
fn reply(key: &str, list: &impl Serialize) -> Answer {
    let structured = value(list)?;
    Ok(Reply { text: spread(&structured[key]), structured: Some(structured) })
}

fn told<T>(said: Result<T, Refusal>) -> Result<T, String> {
    said.map_err(|refusal| refusal.to_string())
}

fn value(it: &impl Serialize) -> Result<Value, String> {
    serde_json::to_value(it).map_err(|err| err.to_string())
}

/// Writes a value as JSON with one item of a list on each line: a third shorter
/// than indented, and still to be read.
pub(crate) fn spread(value: &Value) -> String {
    let text = match value {
        Value::Object(map) => {
            let pairs = map.iter().map(|(key, it)| format!("\"{key}\":{}", listed(it)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(",\n"))
        }
        list => listed(list),
    };
    printable_json(&text)
}

fn listed(value: &Value) -> String {
    match value {
        Value::Array(items) if !items.is_empty() => {
            let items: Vec<_> = items.iter().map(Value::to_string).collect();
            format!("[\n{}\n]", items.join(",\n"))
        }
        other => other.to_string(),
    }
}
