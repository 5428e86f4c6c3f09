//! The MCP door: names, schemas and descriptions of tools, and no thoughts.

mod arguments;
mod graph_tools;
mod palace_tools;
mod server;
mod toolbox;

pub use server::{Server, serve};
pub use toolbox::{Answer, ToolSet, Toolbox};

impl Toolbox {
    /// Lays out all tools there are, and offers those of `offered`.
    pub fn new(offered: Vec<ToolSet>) -> Self {
        let palace = palace_tools::all().into_iter();
        Self::of(palace.chain(graph_tools::all()).collect(), offered)
    }
}
