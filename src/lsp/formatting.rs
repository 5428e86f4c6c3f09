//! Formatting.

use gen_lsp_types::{DocumentFormattingParams, TextEdit};

use crate::lsp::server::Server;
use crate::lsp::workspace_edit::text_edit;

/// Returns the edits that give a document its canonical form.
pub(super) fn formatting(
    server: &mut Server,
    params: &DocumentFormattingParams,
) -> Option<Vec<TextEdit>> {
    let (palace, path) = server.palace_of(&params.text_document.uri)?;
    palace.formatting(&path).map(|edits| edits.into_iter().map(text_edit).collect())
}
