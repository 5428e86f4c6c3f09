//! Reads palaces for pages, in turn with the calls of MCP.

use tokio::sync::watch;

use crate::mcp::Server;
use palazzo_keeper::{self as keeper, Caller, PageRequest};

/// What answers the requests for pages.
#[derive(Clone)]
pub(super) struct PageServer {
    pub(super) server: Server,
    /// Returns the person who reads the pages.
    pub(super) reader: fn() -> Caller,
    /// Becomes true when the server is stopped.
    pub(super) stopped: watch::Receiver<bool>,
}

impl PageServer {
    /// Renders a page; the inner error says why there is none.
    pub(super) async fn render(
        &self,
        request: PageRequest,
    ) -> Result<Result<String, String>, String> {
        let render = move |keeper: &mut keeper::Keeper, by: &Caller, tools: &[_]| {
            keeper::render_page(keeper, by, &request, tools).map_err(|it| it.to_string())
        };
        self.server.read((self.reader)(), render).await
    }
}
