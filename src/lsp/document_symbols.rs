//! The outline of a document.

use gen_lsp_types::{DocumentSymbol, DocumentSymbolParams, DocumentSymbolResponse, SymbolKind};

use crate::lsp::server::Server;
use crate::lsp::text_positions::TextPositions;
use palazzo_keeper::{OutlineEntry, OutlineKind};

/// Lists the parts of a document.
pub(super) fn document_symbols(
    server: &mut Server,
    params: &DocumentSymbolParams,
) -> Option<DocumentSymbolResponse> {
    let unit = server.client.unit;
    let (palace, path) = server.palace_of(&params.text_document.uri)?;
    let text = palace.text(&path)?;
    let positions = TextPositions::new(&text, unit);
    let symbols = palace.outline(&path).into_iter().map(|it| document_symbol(it, &positions));
    Some(DocumentSymbolResponse::DocumentSymbolList(symbols.collect()))
}

#[expect(deprecated, reason = "the type has no other way to leave it out")]
fn document_symbol(entry: OutlineEntry, positions: &TextPositions<'_>) -> DocumentSymbol {
    let kind = match entry.kind {
        OutlineKind::Item => SymbolKind::Module,
        OutlineKind::Action => SymbolKind::Function,
        OutlineKind::Portal => SymbolKind::Interface,
        OutlineKind::Observation => SymbolKind::String,
        OutlineKind::Relation => SymbolKind::Field,
        OutlineKind::Step => SymbolKind::Event,
        OutlineKind::Heading => SymbolKind::Namespace,
    };
    let range = positions.range(entry.start, entry.end);
    DocumentSymbol {
        name: entry.name,
        detail: (!entry.detail.is_empty()).then_some(entry.detail),
        kind,
        tags: None,
        deprecated: None,
        range,
        selection_range: range,
        children: None,
    }
}
