//! Opens palaces, and shows the progress.

use std::collections::BTreeMap;
use std::path::Path;

use gen_lsp_types as lsp;
use lsp_server::Request;
use serde_json::json;

use crate::lsp::event::OpenedPalace;
use crate::lsp::server::Server;
use crate::lsp::uri::path_of_uri;
use palazzo_core::model::path_text;
use palazzo_keeper::Refusal;

impl Server {
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
    pub(super) fn add_palace(
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
        self.publish_all(root, findings);
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

/// Returns the token of the progress of opening a palace.
fn progress_token(root: &Path) -> lsp::ProgressToken {
    lsp::ProgressToken::String(format!("palazzo/open/{}", root.display()))
}
