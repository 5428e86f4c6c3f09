//! Completions, descriptions and outlines.

use gen_lsp_types::{
    CompletionItem, CompletionItemKind, CompletionItemTextEdit, CompletionList, CompletionParams,
    CompletionResponse, Contents, DocumentSymbol, DocumentSymbolParams, DocumentSymbolResponse,
    Documentation, Hover, HoverParams, InsertTextFormat, MarkupContent, MarkupKind, Range,
    SymbolKind, TextEdit,
};

use crate::keeper::{Completion, CompletionKind, OutlineEntry, OutlineKind};
use crate::lsp::server::Server;
use crate::lsp::text_positions::TextPositions;

/// Returns what can be written at a position.
pub(super) fn complete(
    server: &mut Server,
    params: &CompletionParams,
) -> Option<CompletionResponse> {
    let place = &params.text_document_position_params;
    let client = server.client;
    let (palace, path) = server.palace_of(&place.text_document.uri)?;
    let text = palace.text(&path)?;
    let positions = TextPositions::new(&text, client.unit);
    let list = palace.complete(&path, positions.to_position(place.position));
    let [start, end] = list.range?;
    let range = positions.range(start, end);
    let items = list.items.into_iter().filter(|it| client.snippets || !it.is_snippet);
    let items = items.enumerate().map(|(order, it)| completion_item(it, order, range));
    Some(CompletionResponse::CompletionList(CompletionList {
        is_incomplete: list.is_incomplete,
        items: items.collect(),
        ..CompletionList::default()
    }))
}

fn completion_item(it: Completion, order: usize, range: Range) -> CompletionItem {
    let kind = match it.kind {
        CompletionKind::Room => CompletionItemKind::Module,
        CompletionKind::UnfinishedRoom => CompletionItemKind::Reference,
        CompletionKind::Entity => CompletionItemKind::Class,
        CompletionKind::Genus => CompletionItemKind::Interface,
        CompletionKind::Tool => CompletionItemKind::Function,
        CompletionKind::Key => CompletionItemKind::Property,
        CompletionKind::Word => CompletionItemKind::EnumMember,
        CompletionKind::Snippet => CompletionItemKind::Snippet,
    };
    let format = match it.is_snippet {
        true => InsertTextFormat::Snippet,
        false => InsertTextFormat::PlainText,
    };
    CompletionItem {
        kind: Some(kind),
        detail: (!it.detail.is_empty()).then_some(it.detail),
        documentation: (!it.documentation.is_empty())
            .then(|| Documentation::MarkupContent(markdown(it.documentation))),
        // Completions of other servers come after these.
        sort_text: Some(format!("0{order:03}")),
        filter_text: Some(it.label.clone()),
        insert_text_format: Some(format),
        text_edit: Some(CompletionItemTextEdit::TextEdit(TextEdit { range, new_text: it.insert })),
        label: it.label,
        ..CompletionItem::default()
    }
}

/// Describes the thing at a position.
pub(super) fn hover(server: &mut Server, params: &HoverParams) -> Option<Hover> {
    let place = &params.text_document_position_params;
    let unit = server.client.unit;
    let (palace, path) = server.palace_of(&place.text_document.uri)?;
    let text = palace.text(&path)?;
    let positions = TextPositions::new(&text, unit);
    let found = palace.symbol_at(&path, positions.to_position(place.position));
    found.map(|(symbol, [start, end])| Hover {
        contents: Contents::MarkupContent(markdown(palace.describe(&symbol))),
        range: Some(positions.range(start, end)),
    })
}

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

fn markdown(value: String) -> MarkupContent {
    MarkupContent { kind: MarkupKind::Markdown, value }
}
