//! Rooms, scrolls and the graph as resources: listed, read and completed by
//! address.
//!
//! The graph is one where the tools of the reference memory server are offered,
//! by its name there and with its answer to `read_graph`.

use rmcp::model::{
    Annotations, CacheScope, CompleteRequestParams, CompleteResult, CompletionInfo, ErrorData,
    JsonObject, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Reference,
    Resource, ResourceContents, ResourceTemplate,
};
use serde_json::json;

use crate::keeper::{Caller, Keeper, Refusal, ResourceSummary};
use crate::mcp::reply::{Reply, shortened};
use crate::mcp::subscribers::Subscribers;
use crate::mcp::toolbox::{ToolSet, Toolbox};
use crate::model::{Leaf, NoUri, Uri, printable};

/// How many resources one answer lists.
const PAGE: usize = 200;

/// The addresses there can be, as RFC 6570 spells them: a room may stand in a
/// wing, and then its name has a slash.
const ROOMS: &str = "palace://{workspace}/rooms/{+room}";
const SCROLLS: &str = "palace://{workspace}/scrolls/{+room}/{id}";

/// Where the reference memory server, npm 2026.8.31, has its graph.
const GRAPH: &str = "memory://knowledge-graph";

const MARKDOWN: &str = "text/markdown";
const JSON: &str = "application/json";

/// Templates are the same for as long as the process lives; an hour.
const TTL_MS: u64 = 3_600_000;

/// What can be read by itself.
#[derive(Clone, Debug)]
pub(super) enum Subject {
    /// A room or scroll.
    Leaf(Uri),
    /// The graph that the caller's tools act on.
    Graph(Caller),
}

/// Lists one page of what can be read; `cursor` is the last address of the page
/// before.
pub(super) fn list(
    tools: &Toolbox,
    keeper: &mut Keeper,
    by: &Caller,
    cursor: Option<&str>,
) -> Result<ListResourcesResult, ErrorData> {
    let after: Option<Uri> = cursor.map(str::parse).transpose().map_err(|_| {
        ErrorData::invalid_params("this cursor is none that a list has ended with", None)
    })?;
    let mut listed = keeper
        .list_resources(by, after.as_ref(), PAGE + 1)
        .map_err(|it| refused(&it.to_string()))?;
    let is_more = listed.len() > PAGE;
    listed.truncate(PAGE);
    let next = listed.last().filter(|_| is_more).map(|it| it.uri.to_string());
    let graph = (after.is_none() && tools.offers(ToolSet::Memory)).then(graph);
    let resources = graph.into_iter().chain(listed.into_iter().map(resource)).collect();
    let mut result = ListResourcesResult::with_all_items(resources);
    result.next_cursor = next;
    Ok(result)
}

/// Lists how addresses are made.
pub(super) fn templates(is_stateless: bool) -> ListResourceTemplatesResult {
    let template = |uri: &str, name: &str, title: &str, about: &str| {
        let template = ResourceTemplate::new(uri, name).with_title(title);
        template.with_description(about).with_mime_type(MARKDOWN)
    };
    let list = ListResourceTemplatesResult::with_all_items(vec![
        template(ROOMS, "room", "A room", "A room: description, actions, doors and scrolls"),
        template(SCROLLS, "scroll", "A scroll", "A dated note that hangs in a room"),
    ]);
    match is_stateless {
        true => list.with_ttl_ms(TTL_MS).with_cache_scope(CacheScope::Public),
        false => list,
    }
}

/// Reads one resource.
pub(super) fn read(
    tools: &Toolbox,
    keeper: &mut Keeper,
    by: &Caller,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let (text, kind) = match subject(tools, by, uri).map_err(|why| not_found(uri, &why))? {
        Subject::Leaf(address) => {
            let text = keeper.read_resource(&address).map_err(|refusal| match refusal {
                Refusal::Store(_) => refused(&refusal.to_string()),
                refusal => not_found(uri, &refusal.to_string()),
            })?;
            (printable(&text), MARKDOWN)
        }
        Subject::Graph(by) => match tools.call(keeper, &by, "read_graph", JsonObject::new()) {
            Some(Ok(Reply { text, .. })) => (text, JSON),
            Some(Err(refusal)) => return Err(refused(&refusal)),
            None => return Err(not_found(uri, &tools.absent("read_graph"))),
        },
    };
    let contents = ResourceContents::text(text, uri).with_mime_type(kind);
    Ok(ReadResourceResult::new(vec![contents]))
}

/// Lets the client that has shaken hands follow a resource, whether it is there
/// already or not.
pub(super) fn follow(
    tools: &Toolbox,
    keeper: &mut Keeper,
    by: &Caller,
    subscribers: &mut Subscribers,
    uri: &str,
) -> Result<(), ErrorData> {
    let subject = match subject(tools, by, uri).map_err(|why| not_found(uri, &why))? {
        Subject::Leaf(address) => keeper.resolve_uri(&address).map(Subject::Leaf),
        graph @ Subject::Graph(_) => Ok(graph),
    };
    let subject = subject.map_err(|refusal| not_found(uri, &refusal.to_string()))?;
    subscribers.follow(keeper, uri, subject).map_err(|why| ErrorData::invalid_request(why, None))
}

/// Says what a part of an address that has been begun could become.
pub(super) fn complete(
    keeper: &mut Keeper,
    request: &CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let known = match &request.r#ref {
        Reference::Resource(it) => [ROOMS, SCROLLS].contains(&it.uri.as_str()),
        _ => false,
    };
    if !known {
        let why = "only the resource templates of this server can be completed";
        return Err(ErrorData::invalid_params(why, None));
    }
    let given = |name: &str| request.context.as_ref()?.get_argument(name).cloned();
    let names = match (request.argument.name.as_str(), given("workspace"), given("room")) {
        ("workspace", ..) => keeper.workspace_names(),
        ("room", Some(workspace), _) => keeper.room_ids(&workspace),
        ("id", Some(workspace), Some(room)) => match room.parse() {
            Ok(room) => keeper.scroll_ids(&workspace, &room),
            Err(_) => Ok(Vec::new()),
        },
        _ => Ok(Vec::new()),
    };
    // What does not exist has no continuation.
    let mut names = names.unwrap_or_default();
    let begun = request.argument.value.to_lowercase();
    names.retain(|it| it.to_lowercase().starts_with(&begun));
    let completion = CompletionInfo::with_pagination(
        names.iter().take(CompletionInfo::MAX_VALUES).cloned().collect(),
        u32::try_from(names.len()).ok(),
        names.len() > CompletionInfo::MAX_VALUES,
    );
    let completion = completion.map_err(|err| ErrorData::internal_error(err, None))?;
    Ok(CompleteResult::new(completion))
}

/// Reads the address that a caller gives; the error says what one looks like.
pub(super) fn subject(tools: &Toolbox, by: &Caller, uri: &str) -> Result<Subject, String> {
    match uri {
        GRAPH if tools.offers(ToolSet::Memory) => Ok(Subject::Graph(by.clone())),
        _ => uri.parse().map(Subject::Leaf).map_err(|err: NoUri| err.to_string()),
    }
}

/// In the words of the reference memory server.
fn graph() -> Resource {
    let about = "The full knowledge graph with all entities and relations";
    let resource = Resource::new(GRAPH, "knowledge-graph").with_title("Knowledge Graph");
    resource.with_description(about).with_mime_type(JSON)
}

fn resource(it: ResourceSummary) -> Resource {
    let ResourceSummary { uri: address, title, description: about, written } = it;
    let name = match &address.place {
        Leaf::Room(room) => room.to_string(),
        Leaf::Scroll(it) => format!("{}/{}", it.room, it.id),
    };
    let resource = Resource::new(address.to_string(), name).with_title(title);
    let resource = resource.with_description(about).with_mime_type(MARKDOWN);
    match written {
        Some(written) => resource.with_annotations(Annotations::default().with_timestamp(written)),
        None => resource,
    }
}

fn not_found(uri: &str, why: &str) -> ErrorData {
    let why = shortened(&printable(why));
    ErrorData::resource_not_found(why, Some(json!({ "uri": uri })))
}

fn refused(why: &str) -> ErrorData {
    ErrorData::internal_error(shortened(&printable(why)), None)
}
