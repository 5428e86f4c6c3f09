//! Answers clients that look for an OAuth server: there is none, the token is in a file.

use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use serde_json::json;

/// Where clients look for the metadata of an OAuth server (RFC 8414, RFC 9728, `OpenID` Connect
/// Discovery), before or behind the path of MCP, and where they register themselves (RFC 7591).
const DISCOVERY_PATHS: [&str; 2] = ["/.well-known/{*name}", "/mcp/.well-known/{*name}"];

/// Returns routes that answer with JSON: clients parse the answer, whatever its status.
pub(super) fn oauth_routes() -> Router {
    let routes = Router::new().route("/register", any(report_no_oauth));
    DISCOVERY_PATHS.iter().fold(routes, |it, path| it.route(path, any(report_no_oauth)))
}

async fn report_no_oauth() -> Response {
    let answer = json!({
        "error": "not_found",
        "error_description": "This server has no OAuth: `palazzo setup --print --http` prints the \
                              token for the header `Authorization: Bearer TOKEN`.",
    });
    let json = [(header::CONTENT_TYPE, "application/json")];
    (StatusCode::NOT_FOUND, json, answer.to_string()).into_response()
}
