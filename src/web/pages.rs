//! The pages of palaces. Pages only read.

use axum::Router;
use axum::routing::get;

/// Returns the routes of the pages.
pub(super) fn page_routes() -> Router {
    Router::new().route("/", get(async || "Palazzo\n"))
}
