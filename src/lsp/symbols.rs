//! Symbols: the outline of a document, and those of all palaces.

use gen_lsp_types::{
    BaseSymbolInformation, DocumentSymbol, DocumentSymbolParams, DocumentSymbolResponse, Location,
    Range, SymbolKind, Uri, WorkspaceSymbol, WorkspaceSymbolParams, WorkspaceSymbolResponse,
};

use crate::lsp::server::Server;
use crate::lsp::text_positions::TextPositions;
use crate::lsp::uri::uri_of_path;
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

/// Finds rooms, entities and scrolls by words of their names.
#[expect(clippy::unnecessary_wraps, reason = "the protocol allows no answer")]
pub(super) fn workspace_symbols(
    server: &mut Server,
    params: &WorkspaceSymbolParams,
) -> Option<WorkspaceSymbolResponse> {
    let mut symbols = Vec::new();
    for palace in server.palaces.open_palaces() {
        let root = palace.root();
        for item in palace.find_items(&params.query) {
            let kind = match item.place.path.split('/').next() {
                Some("rooms") => SymbolKind::Module,
                Some("genera") => SymbolKind::Interface,
                Some("scrolls") => SymbolKind::File,
                _ => SymbolKind::Class,
            };
            let uri = uri_of_path(&root.join(&item.place.path));
            symbols.push(symbol(item.name, item.detail, kind, uri));
        }
    }
    Some(WorkspaceSymbolResponse::WorkspaceSymbolList(symbols))
}

fn symbol(name: String, container: String, kind: SymbolKind, uri: Uri) -> WorkspaceSymbol {
    WorkspaceSymbol {
        location: Location { uri, range: Range::default() }.into(),
        data: None,
        base_symbol_information: BaseSymbolInformation {
            name,
            kind,
            tags: None,
            container_name: Some(container),
        },
    }
}
