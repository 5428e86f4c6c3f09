//! The MCP server: names, schemas and descriptions of tools and resources. No logic of
//! the palace.

mod arguments;
mod call_queue;
mod call_runner;
mod call_visit;
mod choices;
mod graph_tools;
mod handler;
#[cfg(feature = "http")]
mod http;
#[cfg(test)]
mod imitation_tests;
mod json_rpc;
mod map_app;
mod memory_server_tools;
mod mempalace_tools;
mod palace_tools;
mod prompts;
mod reply;
mod resource_target;
mod resources;
mod server;
mod stdio_transport;
mod subscribers;
mod sync_tools;
mod toolbox;
mod work_tools;

pub use crate::mcp::stdio_transport::serve;
pub use choices::ChosenPage;
#[cfg(feature = "http")]
pub use http::http_route;
pub use reply::{ToolReply, ToolResult};
pub use server::Server;
pub use toolbox::{ToolSet, Toolbox};

impl Toolbox {
    /// Registers all tools, and offers the sets in `offered`.
    pub fn new(offered: Vec<ToolSet>) -> Self {
        Self::with_answer_limit(offered, memory_server_tools::MAX_ANSWER_WEIGHT)
    }

    /// Registers all tools, and offers the sets in `offered`; no tool truncates its
    /// answers to what clients accept.
    pub fn with_unbounded_answers(offered: Vec<ToolSet>) -> Self {
        Self::with_answer_limit(offered, usize::MAX)
    }

    fn with_answer_limit(offered: Vec<ToolSet>, answer_limit: usize) -> Self {
        let own = palace_tools::palace_tools().into_iter().chain(graph_tools::graph_tools());
        let own = own.chain(work_tools::work_tools()).chain(sync_tools::sync_tools());
        let others = memory_server_tools::memory_server_tools(answer_limit)
            .into_iter()
            .chain(mempalace_tools::mempalace_tools());
        Self::from_tools(own.chain(others).collect(), offered)
    }
}
