//! The loop that handles messages of the client and events of the palaces, and opens palaces.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use gen_lsp_types::{self as lsp, Uri};
use lsp_server::{Connection, ErrorCode, Message, Request, Response};
use serde_json::{Value, json};

use crate::lsp::capabilities::{ClientSupport, server_capabilities};
use crate::lsp::dispatch;
use crate::lsp::documents::Documents;
use crate::lsp::palaces::{Event, LspSettings, OpenedPalace, Palaces};
use crate::lsp::server::Server;
use crate::lsp::uri::path_of_uri;
use palazzo_core::model::path_text;
use palazzo_keeper::Refusal;

/// How long the editor rests before files that are not being edited are checked again.
const REST: Duration = Duration::from_millis(300);

/// The same before large palaces are checked as a whole, so that the user rarely types meanwhile.
const LONG_REST: Duration = Duration::from_secs(2);

/// The shortest wait for a file that may have been half written.
const MIN_WAIT: Duration = Duration::from_millis(20);

/// The error of a language server.
#[derive(Debug, thiserror::Error)]
pub enum LspError {
    /// The client does not follow the protocol.
    #[error("the editor does not follow the Language Server Protocol")]
    Protocol(#[from] lsp_server::ProtocolError),
}

/// Serves an editor until it closes the connection. Returns whether it has announced that with
/// `shutdown`.
pub fn serve(connection: &Connection, settings: LspSettings) -> Result<bool, LspError> {
    let (id, params) = connection.initialize_start()?;
    let client = ClientSupport::from_initialize(&params);
    let result = lsp::InitializeResult {
        capabilities: server_capabilities(client),
        server_info: Some(lsp::ServerInfo {
            name: "palazzo".to_owned(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        }),
    };
    // The notification `initialized` needs no answer, and comes like all others.
    drop(connection.sender.send(Response::new_ok(id, result).into()));
    let (events, received) = mpsc::channel();
    let sender = connection.sender.clone();
    let mut server = Server {
        sender: Box::new(move |message| drop(sender.send(message))),
        client,
        clock: settings.clock,
        documents: Documents::default(),
        palaces: Palaces::new(settings, events.clone()),
        published: BTreeSet::new(),
        changed: BTreeSet::new(),
        is_shut_down: false,
        is_check_due: false,
        is_palace_check_due: false,
        next_request: 0,
    };
    forward_messages(connection, events);
    for folder in workspace_folders(&params) {
        for root in server.palaces.unopened_in_folder(&folder) {
            server.start_opening(&root);
        }
    }
    server.run(&received);
    Ok(server.is_shut_down)
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
            if self.time_until_deferred_file() == Some(Duration::ZERO) {
                self.catch_up();
            }
            // Later messages may cancel earlier ones.
            queue.extend(received.try_iter());
            cancel_queued(&mut queue, &*self.sender);
            let Some(event) = queue.pop_front() else { continue };
            match event {
                Event::Message(Message::Notification(it)) if it.method == "exit" => return,
                Event::Message(message) => self.handle_message(message),
                Event::Disconnected => return,
                Event::PalaceOpened(root, opened) => {
                    let waiting = self.add_palace(&root, opened);
                    for request in waiting {
                        self.handle_request(request);
                    }
                }
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
        if self.is_shut_down {
            let message = "the server is shut down".to_owned();
            return self.respond_with_error(request.id, ErrorCode::InvalidRequest, message);
        }
        if request.method == "shutdown" {
            self.is_shut_down = true;
            return (self.sender)(Response::new_ok(request.id, ()).into());
        }
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

    /// Applies what others have saved.
    fn catch_up(&mut self) {
        // A palace that cannot be read now is read at the next change.
        self.palaces.open_palaces().for_each(|it| drop(it.catch_up()));
        (self.is_check_due, self.is_palace_check_due) = (true, true);
    }

    /// Returns how long to wait for the next event; `None`: until it comes.
    fn longest_wait(&mut self) -> Option<Duration> {
        let rest = self.is_check_due.then_some(REST);
        let long_rest = self.is_palace_check_due.then(|| {
            let is_quick = self.palaces.open_palaces().all(|it| it.is_quickly_checked());
            if is_quick { REST } else { LONG_REST }
        });
        // A palace that cannot be read now would be asked without a pause.
        let deferred = self.time_until_deferred_file().map(|it| it.max(MIN_WAIT));
        rest.into_iter().chain(long_rest).chain(deferred).min()
    }

    /// Returns the time until a file of a palace can be read that may have been half written.
    fn time_until_deferred_file(&mut self) -> Option<Duration> {
        self.palaces.open_palaces().filter_map(|it| it.time_until_deferred_file()).min()
    }

    /// Does what was put off until nothing happens for a while.
    fn handle_rest(&mut self) {
        if self.time_until_deferred_file() == Some(Duration::ZERO) {
            self.catch_up();
        } else if std::mem::take(&mut self.is_check_due) {
            self.recheck_after_rest();
        } else if std::mem::take(&mut self.is_palace_check_due) {
            self.publish_palace_findings();
        }
    }

    /// Starts to open a palace, and shows that.
    pub(super) fn start_opening(&mut self, root: &Path) {
        if self.client.progress {
            let token = progress_token(root);
            self.send_request::<lsp::WorkDoneProgressCreateRequest>(
                lsp::WorkDoneProgressCreateParams { token: token.clone() },
            );
            let name = root.file_name().unwrap_or_default().to_string_lossy();
            let value = json!({ "kind": "begin", "title": format!("Reading the palace {name}") });
            self.send_notification::<lsp::ProgressNotification>(lsp::ProgressParams {
                token,
                value,
            });
        }
        self.palaces.start_opening(root);
    }

    /// Adds a palace that was opened; returns the requests that waited for it.
    fn add_palace(
        &mut self,
        root: &Path,
        opened: Result<Box<OpenedPalace>, Refusal>,
    ) -> Vec<Request> {
        if self.client.progress {
            let (token, value) = (progress_token(root), json!({ "kind": "end" }));
            self.send_notification::<lsp::ProgressNotification>(lsp::ProgressParams {
                token,
                value,
            });
        }
        let (palace, findings) = match opened {
            Ok(it) => (Some(it.palace), it.findings),
            Err(refusal) => {
                self.show_message(&format!("palazzo: {}: {refusal}", path_text(root)));
                (None, BTreeMap::default())
            }
        };
        let waiting = self.palaces.set_opened(root, palace);
        self.apply_documents_below(root);
        self.publish_closed_files(root, findings);
        waiting
    }

    /// Applies the open documents of a palace that was just opened.
    fn apply_documents_below(&mut self, root: &Path) {
        let uris: Vec<_> = self.documents.uris().collect();
        for uri in uris {
            if path_of_uri(&uri).is_some_and(|it| it.starts_with(root)) {
                self.changed.insert(uri.0);
            }
        }
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

/// Returns the token of the progress of opening a palace.
fn progress_token(root: &Path) -> lsp::ProgressToken {
    lsp::ProgressToken::String(format!("palazzo/open/{}", root.display()))
}
