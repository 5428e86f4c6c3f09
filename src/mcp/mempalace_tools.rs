//! The nineteen tools of MemPalace, over the same drawers and the same graph as
//! all others: its names, arguments and the fields of its answers.

mod diary;
pub(crate) mod drawers;
mod facts;
pub(crate) mod overview;
pub(crate) mod reply;
mod search;
pub(crate) mod tunnels;

use crate::mcp::toolbox::RegisteredTool;

pub(crate) fn mempalace_tools() -> impl Iterator<Item = RegisteredTool> {
    let looking = overview::overview_tools()
        .into_iter()
        .chain([search::search()])
        .chain(drawers::drawer_tools());
    looking.chain(facts::fact_tools()).chain(tunnels::tunnel_tools()).chain(diary::diary_tools())
}
