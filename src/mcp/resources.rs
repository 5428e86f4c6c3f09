//! Lists, reads and completes resources: rooms, scrolls, findings and the graph, by address.
//!
//! The graph is a resource if the tools of the reference memory server are offered. It
//! has the name and content of that server: the answer of `read_graph`.

use crate::mcp::resource_target::GRAPH_URI;
use crate::mcp::resource_target::ResourceTarget;
use crate::mcp::resource_target::action_tools_for;
use crate::mcp::resource_target::parse_target;
use rmcp::model::{
    Annotations, CacheScope, CompleteRequestParams, CompleteResult, CompletionInfo, ErrorData,
    JsonObject, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Reference,
    Resource, ResourceContents, ResourceTemplate,
};
use serde_json::json;

use crate::mcp::map_app::{APP_TYPE, map_app_meta};
use crate::mcp::prompts::all_prompts;
use crate::mcp::reply::{ToolReply, shorten_long_lines};
use crate::mcp::subscribers::Subscribers;
use crate::mcp::toolbox::{ToolSet, Toolbox};
use palazzo_core::model::{ResourceUri, UriTarget, escape_unprintable_in_lines};
use palazzo_keeper::{self as keeper, Caller, Keeper, Refusal, ResourceSummary};

/// The number of resources on one page.
const PAGE_SIZE: usize = 200;

/// The address templates, in RFC 6570 syntax. The name of a room in a wing contains a
/// slash.
const ROOM_TEMPLATE: &str = "palace://{workspace}/rooms/{+room}";
const SCROLL_TEMPLATE: &str = "palace://{workspace}/scrolls/{+room}/{id}";

const FINDINGS_TEMPLATE: &str = "palace://{workspace}/findings";

const MARKDOWN_TYPE: &str = "text/markdown";
const JSON_TYPE: &str = "application/json";

/// One hour: the templates never change while the process runs.
const TEMPLATES_TTL_MS: u64 = 3_600_000;

/// Lists one page of resources; `cursor` is the last address of the previous page.
pub(super) fn list_resources(
    tools: &Toolbox,
    keeper: &mut Keeper,
    caller: &Caller,
    cursor: Option<&str>,
) -> Result<ListResourcesResult, ErrorData> {
    let after: Option<ResourceUri> = cursor.map(str::parse).transpose().map_err(|_| {
        ErrorData::invalid_params("invalid cursor: use the `nextCursor` of an earlier list", None)
    })?;
    let mut listed = keeper::list_resources(keeper, caller, after.as_ref(), PAGE_SIZE + 1)
        .map_err(|it| internal_error(&it.to_string()))?;
    let is_more = listed.len() > PAGE_SIZE;
    listed.truncate(PAGE_SIZE);
    let next = listed.last().filter(|_| is_more).map(|it| it.uri.to_string());
    let graph = (after.is_none() && tools.offers(ToolSet::Memory)).then(graph_resource);
    let resources = graph.into_iter().chain(listed.into_iter().map(to_resource)).collect();
    let mut result = ListResourcesResult::with_all_items(resources);
    result.next_cursor = next;
    Ok(result)
}

/// Lists the address templates.
pub(super) fn list_uri_templates(is_stateless: bool) -> ListResourceTemplatesResult {
    let template = |uri: &str, name: &str, title: &str, about: &str| {
        let template = ResourceTemplate::new(uri, name).with_title(title);
        template.with_description(about).with_mime_type(MARKDOWN_TYPE)
    };
    let list = ListResourceTemplatesResult::with_all_items(vec![
        template(
            ROOM_TEMPLATE,
            "room",
            "A room",
            "A room: description, actions, doors and scrolls",
        ),
        template(SCROLL_TEMPLATE, "scroll", "A scroll", "A dated note in a room"),
        template(
            FINDINGS_TEMPLATE,
            "findings",
            "Findings",
            "What is wrong or missing in a palace, and genera that no room shows",
        ),
    ]);
    match is_stateless {
        true => list.with_ttl_ms(TEMPLATES_TTL_MS).with_cache_scope(CacheScope::Public),
        false => list,
    }
}

/// Reads one resource.
pub(super) fn read_resource(
    tools: &Toolbox,
    keeper: &mut Keeper,
    caller: &Caller,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let (text, kind) = match parse_target(tools, caller, uri)
        .map_err(|why| not_found_error(uri, &why))?
    {
        ResourceTarget::InPalace(address) => {
            let action_tools = action_tools_for(tools, &address);
            let text =
                keeper::read_resource(keeper, &address, &action_tools).map_err(|refusal| {
                    match refusal {
                        Refusal::Store(_) => internal_error(&refusal.to_string()),
                        refusal => not_found_error(uri, &refusal.to_string()),
                    }
                })?;
            (keeper::cut_answer(escape_unprintable_in_lines(&text), None), MARKDOWN_TYPE)
        }
        ResourceTarget::MapApp(caller) => {
            let page = keeper::render_map_app(keeper, &caller);
            let page = page.map_err(|it| not_found_error(uri, &it.to_string()))?;
            let contents = ResourceContents::text(page, uri).with_mime_type(APP_TYPE);
            return Ok(ReadResourceResult::new(vec![contents.with_meta(map_app_meta())]));
        }
        ResourceTarget::Graph(caller) => {
            match tools.call_tool(keeper, &caller, "read_graph", JsonObject::new()) {
                Some(Ok(ToolReply { text, .. })) => (text, JSON_TYPE),
                Some(Err(refusal)) => return Err(internal_error(&refusal)),
                None => {
                    return Err(not_found_error(uri, &tools.explain_missing_tool("read_graph")));
                }
            }
        }
    };
    let contents = ResourceContents::text(text, uri).with_mime_type(kind);
    Ok(ReadResourceResult::new(vec![contents]))
}

/// Subscribes the initialized client to a resource, which need not exist yet.
pub(super) fn subscribe(
    tools: &Toolbox,
    keeper: &mut Keeper,
    caller: &Caller,
    subscribers: &mut Subscribers,
    uri: &str,
) -> Result<(), ErrorData> {
    let target = match parse_target(tools, caller, uri).map_err(|why| not_found_error(uri, &why))? {
        ResourceTarget::InPalace(address) => {
            keeper::resolve_uri(keeper, &address).map(ResourceTarget::InPalace)
        }
        other => Ok(other),
    };
    let target = target.map_err(|refusal| not_found_error(uri, &refusal.to_string()))?;
    subscribers
        .subscribe(tools, keeper, caller.visit_id, uri, target)
        .map_err(|why| ErrorData::invalid_request(why, None))
}

/// Completes a part of an address, or an argument of a prompt.
pub(super) fn complete_argument(
    keeper: &mut Keeper,
    caller: &Caller,
    request: &CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let is_known = match &request.r#ref {
        Reference::Resource(it) => {
            [ROOM_TEMPLATE, SCROLL_TEMPLATE, FINDINGS_TEMPLATE].contains(&it.uri.as_str())
        }
        Reference::Prompt(it) => all_prompts().iter().any(|prompt| prompt.name == it.name),
        _ => false,
    };
    if !is_known {
        let why = "only the resource templates and the prompts of this server can be completed";
        return Err(ErrorData::invalid_params(why, None));
    }
    let given = |name: &str| request.context.as_ref()?.get_argument(name).cloned();
    let workspace = given("workspace").or_else(|| keeper::present_workspace_key(keeper, caller));
    let names = match (request.argument.name.as_str(), workspace, given("room")) {
        ("workspace", ..) => keeper::list_workspace_keys(keeper),
        ("room", Some(workspace), _) => keeper::list_room_ids(keeper, &workspace),
        ("id", Some(workspace), Some(room)) => match room.parse() {
            Ok(room) => keeper::list_scroll_ids(keeper, &workspace, &room),
            Err(_) => Ok(Vec::new()),
        },
        _ => Ok(Vec::new()),
    };
    // A workspace or room that does not exist has no completions.
    let mut names = names.unwrap_or_default();
    let prefix = request.argument.value.to_lowercase();
    names.retain(|it| it.to_lowercase().starts_with(&prefix));
    let completion = CompletionInfo::with_pagination(
        names.iter().take(CompletionInfo::MAX_VALUES).cloned().collect(),
        u32::try_from(names.len()).ok(),
        names.len() > CompletionInfo::MAX_VALUES,
    );
    let completion = completion.map_err(|err| ErrorData::internal_error(err, None))?;
    Ok(CompleteResult::new(completion))
}

/// The graph as a resource, with the texts of the reference memory server.
fn graph_resource() -> Resource {
    let description = "The full knowledge graph with all entities and relations";
    let resource = Resource::new(GRAPH_URI, "knowledge-graph").with_title("Knowledge Graph");
    resource.with_description(description).with_mime_type(JSON_TYPE)
}

fn to_resource(it: ResourceSummary) -> Resource {
    let ResourceSummary { uri: address, title, description, written } = it;
    let name = match &address.target {
        UriTarget::Findings => "findings".to_owned(),
        UriTarget::Room(room) => room.to_string(),
        UriTarget::Scroll(it) => format!("{}/{}", it.room, it.id),
    };
    let resource = Resource::new(address.to_string(), name).with_title(title);
    let resource = resource.with_description(description).with_mime_type(MARKDOWN_TYPE);
    match written {
        Some(written) => resource.with_annotations(Annotations::default().with_timestamp(written)),
        None => resource,
    }
}

fn not_found_error(uri: &str, why: &str) -> ErrorData {
    let why = shorten_long_lines(&escape_unprintable_in_lines(why));
    ErrorData::resource_not_found(why, Some(json!({ "uri": uri })))
}

fn internal_error(why: &str) -> ErrorData {
    ErrorData::internal_error(shorten_long_lines(&escape_unprintable_in_lines(why)), None)
}
