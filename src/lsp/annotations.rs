//! Code lenses, inlay hints and links of a document.

use gen_lsp_types::{
    CodeLens, CodeLensParams, Command, DocumentLink, DocumentLinkParams, InlayHint,
    InlayHintParams, Label,
};

use crate::lsp::server::Server;
use crate::lsp::text_positions::TextPositions;
use crate::lsp::uri::uri_of_path;
use palazzo_keeper::OutlineKind;

/// Counts, above the name in a room or an entity, what leads to it.
pub(super) fn code_lenses(server: &mut Server, params: &CodeLensParams) -> Option<Vec<CodeLens>> {
    let unit = server.client.unit;
    let (palace, path) = server.palace_of(&params.text_document.uri)?;
    let (Some(text), Some(counts)) = (palace.text(&path), palace.counts_of_file(&path)) else {
        return None;
    };
    let outline = palace.outline(&path);
    let name = outline.iter().find(|it| it.kind == OutlineKind::Item)?;
    let range = TextPositions::new(&text, unit).range(name.start, name.end);
    // A lens without a command shows only its title.
    let command = Command { title: counts, ..Command::default() };
    Some(vec![CodeLens { range, command: Some(command), data: None }])
}

/// Returns the names behind slugs, and the genera behind entities.
pub(super) fn inlay_hints(server: &mut Server, params: &InlayHintParams) -> Option<Vec<InlayHint>> {
    let client = server.client;
    let (palace, path) = server.palace_of(&params.text_document.uri)?;
    let text = palace.text(&path).filter(|_| client.inlay_hints)?;
    let positions = TextPositions::new(&text, client.unit);
    let hints = palace.name_hints(&path).into_iter().map(|(end, name)| InlayHint {
        position: positions.to_lsp(end),
        label: Label::String(name),
        kind: None,
        text_edits: None,
        tooltip: None,
        padding_left: Some(true),
        padding_right: None,
        data: None,
    });
    let lines = params.range.start.line..=params.range.end.line;
    Some(hints.filter(|it| lines.contains(&it.position.line)).collect())
}

/// Returns the links from what a document mentions to the files.
pub(super) fn document_links(
    server: &mut Server,
    params: &DocumentLinkParams,
) -> Option<Vec<DocumentLink>> {
    let unit = server.client.unit;
    let (palace, path) = server.palace_of(&params.text_document.uri)?;
    let text = palace.text(&path)?;
    let (positions, root) = (TextPositions::new(&text, unit), palace.root());
    let links = palace.file_links(&path).into_iter().map(|([start, end], file)| DocumentLink {
        range: positions.range(start, end),
        target: Some(uri_of_path(&root.join(file))),
        ..DocumentLink::default()
    });
    Some(links.collect())
}
