//! What a resource URI leads to.

use crate::keeper::Caller;
use crate::mcp::toolbox::ToolSet;
use crate::mcp::toolbox::Toolbox;
use crate::model::ResourceUri;
use crate::model::UriError;

/// A resource that a client can read.
#[derive(Clone, Debug)]
pub(super) enum ResourceTarget {
    /// A room or scroll.
    RoomOrScroll(ResourceUri),
    /// The graph that this caller's tools act on.
    Graph(Caller),
}

/// Parses an address given by a client; the error describes the expected form.
pub(super) fn parse_target(
    tools: &Toolbox,
    caller: &Caller,
    uri: &str,
) -> Result<ResourceTarget, String> {
    match uri {
        GRAPH_URI if tools.offers(ToolSet::Memory) => Ok(ResourceTarget::Graph(caller.clone())),
        _ => uri.parse().map(ResourceTarget::RoomOrScroll).map_err(|err: UriError| err.to_string()),
    }
}

/// The graph's address in the reference memory server, npm 2026.8.31.
pub(super) const GRAPH_URI: &str = "memory://knowledge-graph";
