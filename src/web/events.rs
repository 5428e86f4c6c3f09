//! Live events: what others do in a palace while somebody looks at its page.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::{Query, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_core::Stream;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::sleep;

use crate::web::page_server::PageServer;
use palazzo_keeper::{self as keeper, Caller, Keeper, PalaceEvent, SeenPalace};

/// How long changes are collected before they are sent.
const DELAY: Duration = Duration::from_millis(50);

/// How many events wait for a slow reader.
const EVENT_BUFFER: usize = 32;

/// The parameters of a request for events.
#[derive(Deserialize)]
pub(super) struct EventQuery {
    /// The palace.
    workspace: String,
}

/// Events from a channel.
pub(super) struct EventStream(mpsc::Receiver<Event>);

impl Stream for EventStream {
    type Item = Result<Event, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(cx).map(|it| it.map(Ok))
    }
}

/// Streams the changes of a palace from now on, as server-sent events.
pub(super) async fn stream_events(
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
        sleep(DELAY).await;
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
