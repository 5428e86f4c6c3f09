//! The MCP door: names, schemas and descriptions of tools and resources, and no
//! thoughts.

mod arguments;
mod call_queue;
mod call_runner;
mod graph_pages;
mod graph_tools;
mod handler;
mod instructions;
mod json_rpc;
mod memory_server_tools;
mod mempalace_tools;
mod palace_tools;
mod prompts;
mod reply;
mod resources;
mod server;
mod stdio_transport;
mod subscribers;
mod toolbox;
mod work_tools;

pub use reply::{ToolReply, ToolResult};
pub use server::{Server, serve};
pub use toolbox::{ToolSet, Toolbox};

impl Toolbox {
    /// Lays out all tools there are, and offers those of `offered`.
    pub fn new(offered: Vec<ToolSet>) -> Self {
        Self::with_answer_limit(offered, memory_server_tools::MAX_ANSWER_WEIGHT)
    }

    /// Lays out all tools there are, and offers those of `offered`; none cuts
    /// its answers for being more than a client takes in.
    pub fn unbounded(offered: Vec<ToolSet>) -> Self {
        Self::with_answer_limit(offered, usize::MAX)
    }

    fn with_answer_limit(offered: Vec<ToolSet>, most: usize) -> Self {
        let own = palace_tools::palace_tools().into_iter().chain(graph_tools::graph_tools());
        let own = own.chain(work_tools::work_tools());
        let others = memory_server_tools::memory_server_tools(most)
            .into_iter()
            .chain(mempalace_tools::mempalace_tools());
        Self::from_tools(own.chain(others).collect(), offered)
    }
}
