//! Completion.

use gen_lsp_types::{
    CompletionItem, CompletionItemKind, CompletionItemTextEdit, CompletionList, CompletionParams,
    CompletionResponse, Documentation, InsertTextFormat, MarkupContent, MarkupKind, Range,
    TextEdit,
};

use crate::lsp::server::Server;
use crate::lsp::text_positions::TextPositions;
use palazzo_keeper::{Completion, CompletionKind};

/// Returns the completions at a position.
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
    let quote = list.quote.map(String::from).unwrap_or_default();
    let items = items.enumerate().map(|(order, it)| CompletionItem {
        // Editors compare it with the text in the range.
        filter_text: Some(format!("{quote}{}", it.label)),
        ..completion_item(it, order, range)
    });
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
        insert_text_format: Some(format),
        text_edit: Some(CompletionItemTextEdit::TextEdit(TextEdit { range, new_text: it.insert })),
        label: it.label,
        ..CompletionItem::default()
    }
}

/// Returns a text as Markdown for the editor.
pub(super) fn markdown(value: String) -> MarkupContent {
    MarkupContent { kind: MarkupKind::Markdown, value }
}
