//! The nineteen tools of MemPalace, over the drawers and the graph that all other
//! tools use. Names, arguments and result fields are those of MemPalace.

mod diary;
pub(crate) mod drawers;
mod excerpts;
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
