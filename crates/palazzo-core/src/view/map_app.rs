//! The map as a view inside a conversation (MCP Apps, `io.modelcontextprotocol/ui`, 2026-01-26).
//!
//! It walks by reading rooms as resources, so it leaves the visit of the conversation alone.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::view::PAGE_STYLE;

/// The script of the view. It speaks with the client that shows it, and with nobody else.
const SCRIPT: &str = include_str!("map_app.js");

/// Renders a map as a document for clients that show views. It loads nothing.
pub fn map_app(map: &Markup) -> String {
    let document = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                title { "Map" }
                style { (PreEscaped(PAGE_STYLE)) "body { padding: 0 } #room { white-space: pre-wrap }" }
            }
            body {
                div class="map-frame" id="map" { (map) }
                div id="room" role="status" {}
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    document.into_string()
}
