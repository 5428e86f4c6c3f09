//! What a resource URI leads to.

use crate::mcp::map_app::MAP_APP_URI;
use crate::mcp::toolbox::ToolSet;
use crate::mcp::toolbox::Toolbox;
use palazzo_core::model::ResourceUri;
use palazzo_core::model::Tool;
use palazzo_core::model::UriError;
use palazzo_core::model::UriTarget;
use palazzo_keeper::Caller;

/// A resource that a client can read.
#[derive(Clone, Debug)]
pub(super) enum ResourceTarget {
    /// A room, a scroll or the findings of a palace.
    InPalace(ResourceUri),
    /// The graph that this caller's tools act on.
    Graph(Caller),
    /// The map of the palace that this caller is in, as a view.
    MapApp(Caller),
}

/// Parses an address given by a client; the error describes the expected form.
pub(super) fn parse_target(
    tools: &Toolbox,
    caller: &Caller,
    uri: &str,
) -> Result<ResourceTarget, String> {
    match uri {
        GRAPH_URI if tools.offers(ToolSet::Memory) => Ok(ResourceTarget::Graph(caller.clone())),
        MAP_APP_URI if tools.offers(ToolSet::Palace) => Ok(ResourceTarget::MapApp(caller.clone())),
        _ => uri.parse().map(ResourceTarget::InPalace).map_err(|err: UriError| err.to_string()),
    }
}

/// Returns the tools that actions can call, if the resource at this address depends on them.
pub(super) fn action_tools_for(tools: &Toolbox, address: &ResourceUri) -> Vec<Tool> {
    match address.target {
        UriTarget::Findings => tools.action_tools(),
        UriTarget::Room(_) | UriTarget::Scroll(_) => Vec::new(),
    }
}

/// The graph's address in the reference memory server, npm 2026.8.31.
pub(super) const GRAPH_URI: &str = "memory://knowledge-graph";
