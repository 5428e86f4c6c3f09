//! The map as a view for clients that show views (MCP Apps, `io.modelcontextprotocol/ui`).
//!
//! The text answers stay complete, so other clients lose nothing.

use rmcp::model::{ClientCapabilities, MetaObject, Tool};
use serde_json::json;

/// The URI of the view.
pub(super) const MAP_APP_URI: &str = "ui://palazzo/map";

/// The media type of views.
pub(super) const APP_TYPE: &str = "text/html;profile=mcp-app";

/// The extension by which clients declare that they show views.
const EXTENSION: &str = "io.modelcontextprotocol/ui";

/// Returns whether a client shows views.
pub(super) fn shows_apps(client: Option<&ClientCapabilities>) -> bool {
    let extensions = client.and_then(|it| it.extensions.as_ref());
    let settings = extensions.and_then(|it| it.get(EXTENSION));
    let types = settings.and_then(|it| it.get("mimeTypes")).and_then(|it| it.as_array());
    types.is_some_and(|it| it.iter().any(|it| it == APP_TYPE))
}

/// Names the view in the definition of `palace_action`.
pub(super) fn offer_map_app(tools: &mut [Tool]) {
    for tool in tools.iter_mut().filter(|it| it.name == "palace_action") {
        let meta = tool.meta.get_or_insert_default();
        meta.insert("ui".to_owned(), json!({ "resourceUri": MAP_APP_URI }));
    }
}

/// Returns the settings of the view: it connects to nothing and loads nothing.
pub(super) fn map_app_meta() -> MetaObject {
    let policy = json!({ "connectDomains": [], "resourceDomains": [] });
    let mut meta = MetaObject::default();
    meta.insert("ui".to_owned(), json!({ "csp": policy, "prefersBorder": true }));
    meta
}
