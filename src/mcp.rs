//! The MCP door: names, schemas and descriptions of tools, and no thoughts.

mod arguments;
mod graph_tools;
mod palace_tools;
mod server;
mod toolbox;

pub use server::{Server, serve};
pub use toolbox::{Answer, ToolSet, Toolbox};
