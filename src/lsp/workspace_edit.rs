//! Changes of files as edits that the editor applies.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use gen_lsp_types::{
    CreateFile, DeleteFile, DocumentChange, Edit, OptionalVersionedTextDocumentIdentifier,
    Position, Range, RenameFile, TextDocumentEdit, TextDocumentIdentifier, TextEdit, Uri,
    WorkspaceEdit,
};

use crate::lsp::server::Server;
use crate::lsp::uri::uri_of_path;
use palazzo_keeper::{FileChange, LineEdit};

impl Server {
    /// Converts changes of files in palaces to edits that this client can apply.
    pub(super) fn workspace_edit(&self, changes: Vec<(PathBuf, Vec<FileChange>)>) -> WorkspaceEdit {
        let changes = changes.into_iter();
        let changes =
            changes.flat_map(|(root, it)| it.into_iter().map(move |it| (root.clone(), it)));
        if self.client.file_operations {
            let changes = changes.flat_map(|(root, it)| self.document_changes(&root, it));
            return WorkspaceEdit {
                document_changes: Some(changes.collect()),
                ..WorkspaceEdit::default()
            };
        }
        let edits = changes.filter_map(|(root, it)| match it {
            FileChange::Edit { path, edits } => {
                let uri = self.documents.client_uri(uri_of_path(&root.join(path)));
                let edits = edits.into_iter().map(text_edit).collect();
                Some((uri, edits))
            }
            // Files keep their names, and `palazzo check` reports them.
            _ => None,
        });
        WorkspaceEdit {
            changes: Some(edits.collect::<HashMap<_, _>>()),
            ..WorkspaceEdit::default()
        }
    }

    fn document_changes(&self, root: &Path, change: FileChange) -> Vec<DocumentChange> {
        let uri = |path: &str| self.documents.client_uri(uri_of_path(&root.join(path)));
        match change {
            FileChange::Edit { path, edits } => {
                let uri = uri(&path);
                let version = self.documents.get(&uri).map(|it| it.version);
                vec![edit_of_document(uri, version, edits.into_iter().map(text_edit))]
            }
            FileChange::Rename { from, to } => {
                let rename = RenameFile::new(uri(&from), uri(&to), None, None);
                vec![DocumentChange::RenameFile(rename)]
            }
            FileChange::Create { path, text } => {
                let uri = uri(&path);
                let create = CreateFile::new(uri.clone(), None, None);
                // Neovim would keep the empty line of the new buffer after a range within it.
                let range =
                    Range { start: Position::default(), end: Position { line: 1, character: 0 } };
                let edit = edit_of_document(uri, None, [TextEdit { range, new_text: text }]);
                vec![DocumentChange::CreateFile(create), edit]
            }
            FileChange::Delete { path } => {
                vec![DocumentChange::DeleteFile(DeleteFile::new(uri(&path), None, None))]
            }
        }
    }
}

fn edit_of_document(
    uri: Uri,
    version: Option<i32>,
    edits: impl IntoIterator<Item = TextEdit>,
) -> DocumentChange {
    let text_document_identifier = TextDocumentIdentifier { uri };
    DocumentChange::TextDocumentEdit(TextDocumentEdit {
        text_document: OptionalVersionedTextDocumentIdentifier {
            version,
            text_document_identifier,
        },
        edits: edits.into_iter().map(Edit::TextEdit).collect(),
    })
}

pub(super) fn text_edit(edit: LineEdit) -> TextEdit {
    let at = |line: usize| Position { line: u32::try_from(line).unwrap_or(u32::MAX), character: 0 };
    TextEdit { range: Range { start: at(edit.start), end: at(edit.end) }, new_text: edit.text }
}
