//! The loop that handles messages, and their dispatch.

use std::collections::{BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use chrono::{DateTime, Utc};
use gen_lsp_types::{self as lsp, Uri};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use serde_json::Value;

use crate::keeper::{EditorPalace, Refusal};
use crate::lsp::capabilities::{ClientSupport, server_capabilities};
use crate::lsp::dispatch;
use crate::lsp::documents::Documents;
use crate::lsp::palaces::{OpenedPalace, Palaces};
use crate::lsp::uri::path_of_uri;
use crate::model::Tool;

/// How long the editor rests before files that are not being edited are checked again.
const REST: Duration = Duration::from_millis(300);

/// The error of a language server.
#[derive(Debug, thiserror::Error)]
pub enum LspError {
    /// The client does not follow the protocol.
    #[error("the editor does not follow the Language Server Protocol")]
    Protocol(#[from] lsp_server::ProtocolError),
    /// A message cannot be converted.
    #[error("a message of the language server cannot be written")]
    Json(#[from] serde_json::Error),
}

/// What the loop handles.
pub(super) enum Event {
    /// A message of the client.
    Message(Message),
    /// The client has closed the connection.
    Disconnected,
    /// A palace was opened, or could not be.
    PalaceOpened(PathBuf, Result<Box<OpenedPalace>, Refusal>),
    /// Files of a palace may have changed.
    FilesChanged,
}

/// The state of the server.
pub(super) struct Server {
    sender: Box<dyn Fn(Message)>,
    pub(super) client: ClientSupport,
    pub(super) clock: fn() -> DateTime<Utc>,
    pub(super) documents: Documents,
    pub(super) palaces: Palaces,
    /// The files with findings that the client shows.
    pub(super) published: BTreeSet<String>,
    /// The documents that changed since they were checked.
    pub(super) changed: BTreeSet<String>,
    /// Whether other files must be checked after a rest.
    pub(super) is_check_due: bool,
    /// When files can be read that may have been half written.
    next_catch_up: Option<Duration>,
    next_request: i32,
}

/// Serves an editor until it closes the connection. `tools` are those that actions can call, `clock`
/// returns the current time.
pub fn serve(
    connection: &Connection,
    tools: Vec<Tool>,
    clock: fn() -> DateTime<Utc>,
) -> Result<(), LspError> {
    let (id, params) = connection.initialize_start()?;
    let client = ClientSupport::from_initialize(&params);
    let result = lsp::InitializeResult {
        capabilities: server_capabilities(client),
        server_info: Some(lsp::ServerInfo {
            name: "palazzo".to_owned(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        }),
    };
    connection.initialize_finish(id, serde_json::to_value(result)?)?;
    let (events, received) = mpsc::channel();
    let sender = connection.sender.clone();
    let mut server = Server {
        sender: Box::new(move |message| drop(sender.send(message))),
        client,
        clock,
        documents: Documents::default(),
        palaces: Palaces::new(tools, events.clone()),
        published: BTreeSet::new(),
        changed: BTreeSet::new(),
        is_check_due: false,
        next_catch_up: None,
        next_request: 0,
    };
    forward_messages(connection, events);
    for folder in workspace_folders(&params) {
        for root in server.palaces.new_in_folder(&folder) {
            server.start_opening(&root);
        }
    }
    server.run(&received);
    Ok(())
}

/// Sends the messages of the client to the loop.
fn forward_messages(connection: &Connection, events: Sender<Event>) {
    let receiver = connection.receiver.clone();
    thread::spawn(move || {
        for message in &receiver {
            if events.send(Event::Message(message)).is_err() {
                return;
            }
        }
        drop(events.send(Event::Disconnected));
    });
}

/// Returns the folders that the client has open.
fn workspace_folders(params: &Value) -> Vec<PathBuf> {
    let folders = params["workspaceFolders"].as_array();
    let folders = folders.into_iter().flatten().filter_map(|it| it["uri"].as_str());
    let root = params["rootUri"].as_str();
    let mut uris: Vec<_> = folders.chain(root).collect();
    uris.dedup();
    uris.into_iter().filter_map(|it| path_of_uri(&Uri::from(it))).collect()
}

impl Server {
    /// Handles events until the client ends.
    fn run(&mut self, received: &Receiver<Event>) {
        let mut queue = VecDeque::new();
        loop {
            if queue.is_empty() {
                self.check_changed_documents();
                let event = match self.longest_wait() {
                    Some(wait) => received.recv_timeout(wait),
                    None => received.recv().map_err(|_| RecvTimeoutError::Disconnected),
                };
                match event {
                    Ok(event) => queue.push_back(event),
                    Err(RecvTimeoutError::Timeout) => {
                        self.handle_rest();
                        continue;
                    }
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            }
            // Later messages may cancel earlier ones.
            queue.extend(received.try_iter());
            cancel_queued(&mut queue, &*self.sender);
            let Some(event) = queue.pop_front() else { continue };
            match event {
                Event::Message(Message::Request(it)) if it.method == "shutdown" => {
                    (self.sender)(Response::new_ok(it.id, ()).into());
                }
                Event::Message(Message::Notification(it)) if it.method == "exit" => return,
                Event::Message(message) => self.handle_message(message),
                Event::Disconnected => return,
                Event::PalaceOpened(root, opened) => self.add_palace(&root, opened),
                Event::FilesChanged => self.catch_up(),
            }
        }
    }

    fn handle_message(&mut self, message: Message) {
        match message {
            Message::Request(request) => self.handle_request(request),
            Message::Notification(it) => self.handle_notification(it),
            Message::Response(_) => {}
        }
    }

    pub(super) fn handle_request(&mut self, request: Request) {
        let file = file_of_request(&request.params);
        let is_about_all = request.method == "workspace/symbol";
        let Some(request) = self.palaces.defer(file.as_deref(), is_about_all, request) else {
            return;
        };
        match dispatch::handler(&request.method) {
            Some(handle) => handle(self, request),
            None => {
                let message = format!("this server has no method `{}`", request.method);
                self.respond_with_error(request.id, ErrorCode::MethodNotFound, message);
            }
        }
    }

    /// Applies the documents that changed to their palaces, and publishes their findings.
    fn check_changed_documents(&mut self) {
        for uri in std::mem::take(&mut self.changed) {
            let uri = Uri(uri);
            self.apply_document(&uri);
            self.publish_document(&uri);
            self.is_check_due = true;
        }
    }

    /// Applies the documents that changed, before a request is answered.
    pub(super) fn apply_changed_documents(&mut self) {
        for uri in self.changed.clone() {
            self.apply_document(&Uri(uri));
        }
    }

    fn apply_document(&mut self, uri: &Uri) {
        let Some(text) = self.documents.get(uri).map(|it| it.text.clone()) else { return };
        if let Some((palace, path)) = self.palace_of(uri) {
            palace.set_buffer(&path, &text);
        }
    }

    /// Applies what others have saved.
    fn catch_up(&mut self) {
        // A palace that cannot be read now is read at the next change.
        let palaces = self.palaces.open_palaces();
        self.next_catch_up = palaces.filter_map(|it| it.catch_up().ok().flatten()).min();
        self.is_check_due = true;
    }

    /// Returns how long to wait for the next event; `None`: until it comes.
    fn longest_wait(&self) -> Option<Duration> {
        let rest = self.is_check_due.then_some(REST);
        rest.into_iter().chain(self.next_catch_up).min()
    }

    /// Does what was put off until nothing happens for a while.
    fn handle_rest(&mut self) {
        if self.next_catch_up.take().is_some() {
            self.catch_up();
        } else {
            self.check_after_rest();
        }
    }

    fn check_after_rest(&mut self) {
        self.is_check_due = false;
        self.publish_after_rest();
    }

    /// Returns the open palace of a document, and the path in it.
    pub(super) fn palace_of(&mut self, uri: &Uri) -> Option<(&mut EditorPalace, String)> {
        self.palaces.find(&path_of_uri(uri)?)
    }

    /// Answers a request that is never refused.
    pub(super) fn answer_always<R: lsp::Request>(
        &mut self,
        request: Request,
        handle: fn(&mut Self, &R::Params) -> R::Result,
    ) {
        self.answer::<R>(request, |server, params| Ok(handle(server, params)));
    }

    /// Answers a request. A panic becomes an error.
    pub(super) fn answer<R: lsp::Request>(
        &mut self,
        request: Request,
        handle: impl FnOnce(&mut Self, &R::Params) -> Result<R::Result, Refusal>,
    ) {
        let Request { id, params, .. } = request;
        let params = match serde_json::from_value(params) {
            Ok(params) => params,
            Err(err) => {
                return self.respond_with_error(id, ErrorCode::InvalidParams, err.to_string());
            }
        };
        self.apply_changed_documents();
        match catch_unwind(AssertUnwindSafe(|| handle(self, &params))) {
            Ok(Ok(result)) => (self.sender)(Response::new_ok(id, result).into()),
            Ok(Err(refusal)) => {
                self.respond_with_error(id, ErrorCode::RequestFailed, refusal.to_string());
            }
            Err(_) => {
                let message = "the language server failed; please report this".to_owned();
                self.respond_with_error(id, ErrorCode::InternalError, message);
            }
        }
    }

    pub(super) fn respond_with_error(&self, id: RequestId, code: ErrorCode, message: String) {
        (self.sender)(Response::new_err(id, code as i32, message).into());
    }

    /// Sends a notification.
    pub(super) fn send_notification<N: lsp::Notification>(&self, params: N::Params) {
        let method = N::METHOD.as_str().to_owned();
        (self.sender)(Notification::new(method, params).into());
    }

    /// Sends a request whose response does not matter.
    pub(super) fn send_request<R: lsp::Request>(&mut self, params: R::Params) {
        self.next_request += 1;
        let id = RequestId::from(self.next_request);
        (self.sender)(Request::new(id, R::METHOD.as_str().to_owned(), params).into());
    }

    pub(super) fn show_message(&self, message: &str) {
        self.send_notification::<lsp::ShowMessageNotification>(lsp::ShowMessageParams {
            kind: lsp::MessageType::Warning,
            message: message.to_owned(),
        });
    }
}

/// Answers the queued requests that the client has cancelled.
fn cancel_queued(queue: &mut VecDeque<Event>, send: &dyn Fn(Message)) {
    let cancelled: Vec<Value> = queue
        .iter()
        .filter_map(|it| match it {
            Event::Message(Message::Notification(it)) if it.method == "$/cancelRequest" => {
                Some(it.params["id"].clone())
            }
            _ => None,
        })
        .collect();
    if cancelled.is_empty() {
        return;
    }
    queue.retain(|event| {
        let Event::Message(Message::Request(it)) = event else { return true };
        let is_cancelled = serde_json::to_value(&it.id).is_ok_and(|id| cancelled.contains(&id));
        if is_cancelled {
            let code = ErrorCode::RequestCanceled as i32;
            let message = "the request was cancelled".to_owned();
            send(Response::new_err(it.id.clone(), code, message).into());
        }
        !is_cancelled
    });
}

/// Returns the file that a request is about.
fn file_of_request(params: &Value) -> Option<PathBuf> {
    let uris = ["/textDocument/uri", "/item/uri", "/files/0/oldUri"];
    let uri = uris.iter().find_map(|it| params.pointer(it)?.as_str())?;
    path_of_uri(&Uri::from(uri))
}
