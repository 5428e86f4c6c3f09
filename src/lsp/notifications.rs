//! Notifications of the client: documents that are opened, changed and closed, and cancelled requests.

use gen_lsp_types as lsp;
use lsp_server::{ErrorCode, Notification, RequestId};
use serde::de::DeserializeOwned;

use crate::lsp::server::Server;
use crate::lsp::uri::path_of_uri;

impl Server {
    /// Handles a notification of the client.
    pub(super) fn handle_notification(&mut self, it: Notification) {
        match it.method.as_str() {
            "textDocument/didOpen" => self.with_params(it, Self::open_document),
            "textDocument/didChange" => self.with_params(it, Self::change_document),
            "textDocument/didClose" => self.with_params(it, Self::close_document),
            "textDocument/didSave" => self.with_params(it, Self::save_document),
            "$/cancelRequest" => self.with_params(it, Self::cancel),
            // Everything else needs no answer.
            _ => {}
        }
    }

    fn with_params<P: DeserializeOwned>(&mut self, it: Notification, handle: fn(&mut Self, P)) {
        // A notification that cannot be read has no answer.
        if let Ok(params) = serde_json::from_value(it.params) {
            handle(self, params);
        }
    }

    fn open_document(&mut self, params: lsp::DidOpenTextDocumentParams) {
        let document = params.text_document;
        self.open_palace_around(&document.uri);
        self.documents.open(&document.uri, document.version, document.text);
        self.changed.insert(document.uri.0);
    }

    fn save_document(&mut self, params: lsp::DidSaveTextDocumentParams) {
        let uri = params.text_document.uri;
        // The settings of a new palace may have been saved.
        self.open_palace_around(&uri);
        (self.is_check_due, self.is_palace_check_due) = (true, true);
    }

    /// Starts to open the palace around a document, unless it is open.
    fn open_palace_around(&mut self, uri: &lsp::Uri) {
        if let Some(file) = path_of_uri(uri)
            && let Some(root) = self.palaces.unopened_around(&file)
        {
            self.start_opening(&root);
        }
    }

    fn change_document(&mut self, params: lsp::DidChangeTextDocumentParams) {
        let document = params.text_document;
        let uri = document.text_document_identifier.uri;
        let (version, unit) = (document.version, self.client.unit);
        self.documents.change(&uri, version, params.content_changes, unit);
        self.changed.insert(uri.0);
    }

    fn close_document(&mut self, params: lsp::DidCloseTextDocumentParams) {
        let uri = params.text_document.uri;
        self.documents.close(&uri);
        self.changed.remove(&uri.0);
        if let Some((palace, path)) = self.palace_of(&uri) {
            palace.close_buffer(&path);
        }
        (self.is_check_due, self.is_palace_check_due) = (true, true);
    }

    fn cancel(&mut self, params: lsp::CancelParams) {
        let id = match params.id {
            lsp::Id::Int(id) => RequestId::from(id),
            lsp::Id::String(id) => RequestId::from(id),
        };
        if let Some(request) = self.palaces.take_deferred(&id) {
            let message = "the request was cancelled".to_owned();
            self.respond_with_error(request.id, ErrorCode::RequestCanceled, message);
        }
    }
}
