//! Answers hover requests: describes the symbol under the pointer.

use gen_lsp_types::{Contents, Hover, HoverParams};

use crate::lsp::completion::markdown;
use crate::lsp::server::Server;

/// Describes the symbol at a position.
pub(super) fn hover(server: &mut Server, params: &HoverParams) -> Option<Hover> {
    let (palace, symbol, range) = server.symbol_at(&params.text_document_position_params)?;
    let contents = Contents::MarkupContent(markdown(palace.describe(&symbol)));
    Some(Hover { contents, range: Some(range) })
}
