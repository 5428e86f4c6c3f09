//! The MCP door: names, schemas and descriptions of tools and resources, and no
//! thoughts.

mod arguments;
mod calls;
mod connection;
mod graph_tools;
mod handler;
mod instructions;
mod lines;
mod memory_tools;
mod mempalace;
mod palace_tools;
mod prompts;
mod queue;
mod reply;
mod resources;
mod server;
mod subscribers;
mod toolbox;
mod work_tools;

pub use reply::{Answer, Reply};
pub use server::{Server, serve};
pub use toolbox::{ToolSet, Toolbox};

impl Toolbox {
    /// Lays out all tools there are, and offers those of `offered`.
    pub fn new(offered: Vec<ToolSet>) -> Self {
        Self::answering(offered, memory_tools::MOST)
    }

    /// Lays out all tools there are, and offers those of `offered`; none cuts
    /// its answers for being more than a client takes in.
    pub fn unbounded(offered: Vec<ToolSet>) -> Self {
        Self::answering(offered, usize::MAX)
    }

    fn answering(offered: Vec<ToolSet>, most: usize) -> Self {
        let own = palace_tools::all().into_iter().chain(graph_tools::all());
        let own = own.chain(work_tools::all());
        let others = memory_tools::all(most).into_iter().chain(mempalace::all());
        Self::of(own.chain(others).collect(), offered)
    }
}
