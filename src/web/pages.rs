//! The pages of palaces, for browsers. Pages only read.

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;

use crate::web::events::stream_events;
use crate::web::page_server::PageServer;
use palazzo_core::view::{PAGE_SCRIPT, PAGE_STYLE};
use palazzo_keeper as keeper;

/// Returns the routes of the pages.
pub(super) fn page_routes(pages: PageServer) -> Router {
    Router::new().route("/events", get(stream_events)).fallback(show_page).with_state(pages)
}

/// Returns the routes of the style and the script, which say nothing about a palace.
pub(super) fn asset_routes() -> Router {
    let text = |kind: &'static str, text: &'static str| {
        get(move || async move { ([(header::CONTENT_TYPE, kind)], text) })
    };
    Router::new()
        .route("/page.css", text("text/css; charset=utf-8", PAGE_STYLE))
        .route("/page.js", text("text/javascript; charset=utf-8", PAGE_SCRIPT))
}

/// Answers with the page that the path of a request names.
async fn show_page(State(pages): State<PageServer>, request: Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "GET, HEAD")]).into_response();
    }
    let uri = request.uri();
    let Some(page) = keeper::parse_page_path(uri.path(), uri.query().unwrap_or_default()) else {
        return refuse(StatusCode::NOT_FOUND, "There is no page with this address.");
    };
    match pages.render(page).await {
        Ok(Ok(page)) => Html(page).into_response(),
        Ok(Err(refusal)) => refuse(StatusCode::NOT_FOUND, &refusal),
        Err(fault) => refuse(StatusCode::INTERNAL_SERVER_ERROR, &fault),
    }
}

fn refuse(status: StatusCode, why: &str) -> Response {
    let title = status.canonical_reason().unwrap_or("Error");
    (status, Html(keeper::render_refusal_page(title, why))).into_response()
}
