//! The state of the server, and its answers.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use chrono::{DateTime, Utc};
use gen_lsp_types::{self as lsp, Uri};
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};

use crate::lsp::capabilities::ClientSupport;
use crate::lsp::documents::Documents;
use crate::lsp::palaces::Palaces;
use crate::lsp::uri::path_of_uri;
use palazzo_keeper::{EditorPalace, Refusal};

/// The state of the server.
pub(super) struct Server {
    pub(super) sender: Box<dyn Fn(Message)>,
    pub(super) client: ClientSupport,
    pub(super) clock: fn() -> DateTime<Utc>,
    pub(super) documents: Documents,
    pub(super) palaces: Palaces,
    /// The files with findings that the client shows.
    pub(super) published: BTreeSet<String>,
    /// The documents that changed since they were checked.
    pub(super) changed: BTreeSet<String>,
    /// Whether the client has sent `shutdown`.
    pub(super) is_shut_down: bool,
    /// Whether files that are not being edited must be checked after a rest.
    pub(super) is_check_due: bool,
    /// Whether then the palaces must be checked as a whole too: files on disk have changed.
    pub(super) is_palace_check_due: bool,
    pub(super) next_request: i32,
}

impl Server {
    /// Applies the documents that changed, before a request is answered.
    pub(super) fn apply_changed_documents(&mut self) {
        for uri in self.changed.clone() {
            self.apply_document(&Uri(uri));
        }
    }

    pub(super) fn apply_document(&mut self, uri: &Uri) {
        let Some(text) = self.documents.get(uri).map(|it| it.text.clone()) else { return };
        if let Some((palace, path)) = self.palace_of(uri)
            && EditorPalace::is_palace_file(&path)
        {
            palace.set_buffer(&path, &text);
        }
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
