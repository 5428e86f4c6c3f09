//! The symbols of all palaces.

use gen_lsp_types::{
    BaseSymbolInformation, Location, Range, SymbolKind, Uri, WorkspaceSymbol,
    WorkspaceSymbolParams, WorkspaceSymbolResponse,
};

use crate::lsp::server::Server;
use crate::lsp::uri::uri_of_path;

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
