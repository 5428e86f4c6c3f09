//! The documents that are open in the editor.

use std::collections::BTreeMap;

use gen_lsp_types::{TextDocumentContentChangeEvent, Uri};

use crate::lsp::text_positions::{ColumnUnit, byte_of_lsp};
use crate::lsp::uri::canonical_uri;

/// A document that is open in the editor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Document {
    /// The URI as the editor writes it.
    uri: Uri,
    /// The version that the editor gives it.
    pub(super) version: i32,
    pub(super) text: String,
}

/// The open documents, by canonical URI.
#[derive(Debug, Default)]
pub(super) struct Documents(BTreeMap<String, Document>);

impl Documents {
    pub(super) fn open(&mut self, uri: &Uri, version: i32, text: String) {
        self.0.insert(canonical_uri(uri).0, Document { uri: uri.clone(), version, text });
    }

    pub(super) fn close(&mut self, uri: &Uri) {
        self.0.remove(&canonical_uri(uri).0);
    }

    pub(super) fn get(&self, uri: &Uri) -> Option<&Document> {
        self.0.get(&canonical_uri(uri).0)
    }

    /// Returns a URI as the editor writes it, if its document is open.
    pub(super) fn client_uri(&self, uri: Uri) -> Uri {
        self.get(&uri).map_or(uri, |it| it.uri.clone())
    }

    /// Yields the URIs of all open documents.
    pub(super) fn uris(&self) -> impl Iterator<Item = Uri> {
        self.0.keys().map(|it| Uri(it.clone()))
    }

    /// Applies changes, each to the text that the one before left.
    pub(super) fn change(
        &mut self,
        uri: &Uri,
        version: i32,
        changes: Vec<TextDocumentContentChangeEvent>,
        unit: ColumnUnit,
    ) {
        let Some(document) = self.0.get_mut(&canonical_uri(uri).0) else { return };
        document.version = version;
        for change in changes {
            apply_change(&mut document.text, change, unit);
        }
    }
}

fn apply_change(text: &mut String, change: TextDocumentContentChangeEvent, unit: ColumnUnit) {
    match change {
        TextDocumentContentChangeEvent::TextDocumentContentChangePartial(change) => {
            let start = byte_of_lsp(text, change.range.start, unit);
            let end = byte_of_lsp(text, change.range.end, unit).max(start);
            text.replace_range(start..end, &change.text);
        }
        TextDocumentContentChangeEvent::TextDocumentContentChangeWholeDocument(change) => {
            *text = change.text;
        }
    }
}

#[cfg(test)]
mod tests {
    use gen_lsp_types::{Position, Range, TextDocumentContentChangePartial};
    use proptest::prelude::*;

    use super::*;

    /// The text as its client has it: characters.
    struct ClientText(Vec<char>);

    impl ClientText {
        /// Returns the position of a place between two characters.
        fn position(&self, place: usize, unit: ColumnUnit) -> Position {
            let before: String = self.0[..place].iter().collect();
            let line = before.matches('\n').count();
            let column = before.rsplit('\n').next().unwrap_or_default();
            let character = match unit {
                ColumnUnit::Utf8 => column.len(),
                ColumnUnit::Utf16 => column.encode_utf16().count(),
            };
            Position { line: line.try_into().unwrap(), character: character.try_into().unwrap() }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        /// 200 texts with 500 edits each.
        #[test]
        fn after_random_edits_the_text_is_that_of_the_client(
            edits in prop::collection::vec((any::<(u16, u8)>(), "[aé\u{1F600}e\u{301} \n]{0,6}"), 500),
            is_utf8 in any::<bool>(),
        ) {
            let unit = if is_utf8 { ColumnUnit::Utf8 } else { ColumnUnit::Utf16 };
            let uri = Uri::from("file:///a.yaml");
            let mut documents = Documents::default();
            documents.open(&uri, 0, String::new());
            let mut client = ClientText(Vec::new());
            for (version, ((start, length), text)) in edits.into_iter().enumerate() {
                let start = usize::from(start) % (client.0.len() + 1);
                let end = (start + usize::from(length % 8)).min(client.0.len());
                let range = Range {
                    start: client.position(start, unit),
                    end: client.position(end, unit),
                };
                client.0.splice(start..end, text.chars());
                #[expect(deprecated, reason = "the type has no other way to leave it out")]
                let change = TextDocumentContentChangePartial { range, range_length: None, text };
                let change =
                    TextDocumentContentChangeEvent::TextDocumentContentChangePartial(change);
                documents.change(&uri, version.try_into().unwrap(), vec![change], unit);
            }
            let expected: String = client.0.iter().collect();
            prop_assert_eq!(&documents.get(&uri).unwrap().text, &expected);
        }
    }
}
