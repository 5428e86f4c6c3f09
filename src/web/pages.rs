//! The pages of palaces, for browsers, and what others do meanwhile, as live events. Pages only read,
//! in turn with the calls of MCP.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::extract::{Query, Request, State};
use axum::http::{Method, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use futures_core::Stream;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::{mpsc, watch};
use tokio::time::sleep;

use crate::mcp::Server;
use palazzo_core::view::{PAGE_SCRIPT, PAGE_STYLE};
use palazzo_keeper as keeper;
use palazzo_keeper::{Caller, Keeper, PageRequest, PalaceEvent, SeenPalace};

/// How long changes are collected before they are sent.
const EVENT_DELAY: Duration = Duration::from_millis(50);

/// How many events wait for a slow reader.
const EVENT_BUFFER: usize = 32;

/// The parameters of a request for events.
#[derive(Deserialize)]
struct EventQuery {
    /// The palace.
    workspace: String,
}

/// Events from a channel.
struct EventStream(mpsc::Receiver<Event>);

impl Stream for EventStream {
    type Item = Result<Event, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(cx).map(|it| it.map(Ok))
    }
}

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

/// Streams the changes of a palace from now on, as server-sent events.
async fn stream_events(
    State(pages): State<PageServer>,
    Query(EventQuery { workspace }): Query<EventQuery>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let (sender, receiver) = mpsc::channel(EVENT_BUFFER);
    tokio::spawn(send_events(pages, workspace, sender));
    Sse::new(EventStream(receiver)).keep_alive(KeepAlive::default())
}

/// Sends events until the reader is gone or the server is stopped.
async fn send_events(pages: PageServer, workspace: String, sender: mpsc::Sender<Event>) {
    let (mut changes, mut stopped) = (pages.server.change_signal(), pages.stopped.clone());
    let mut seen: Option<SeenPalace> = None;
    loop {
        changes.borrow_and_update();
        let (palace, before) = (workspace.clone(), seen.clone());
        let look = move |keeper: &mut Keeper, by: &Caller, _: &[_]| {
            keeper::palace_events(keeper, by, &palace, before.as_ref()).ok()
        };
        // A palace that cannot be read now is read again after the next change.
        if let Ok(Some((now, events))) = pages.server.read((pages.reader)(), look).await {
            seen = Some(now);
            for event in &events {
                if sender.send(to_event(event)).await.is_err() {
                    return;
                }
            }
        }
        tokio::select! {
            changed = changes.changed() => if changed.is_err() { return },
            () = sender.closed() => return,
            _ = stopped.wait_for(|is_stopped| *is_stopped) => return,
        }
        sleep(EVENT_DELAY).await;
    }
}

fn to_event(PalaceEvent { commit, changed_files }: &PalaceEvent) -> Event {
    let data = match commit {
        Some(it) => json!({
            "commit": it.short,
            "by": it.by,
            "at": it.at.to_rfc3339(),
            "subject": it.subject,
            "changed": changed_files,
        }),
        None => json!({ "by": "Somebody", "subject": "saved files", "changed": changed_files }),
    };
    Event::default().data(data.to_string())
}
