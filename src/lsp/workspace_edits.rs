//! Renames, as edits that the editor applies.

use std::collections::HashMap;
use std::path::Path;

use gen_lsp_types::{
    CreateFile, DeleteFile, DocumentChange, Edit, OptionalVersionedTextDocumentIdentifier,
    Position, PrepareRenameParams, PrepareRenamePlaceholder, PrepareRenameResult, Range,
    RenameFile, RenameFilesParams, RenameParams, TextDocumentEdit, TextDocumentIdentifier,
    TextEdit, Uri, WorkspaceEdit,
};

use crate::keeper::{EditorPalace, FileChange, Refusal, RenameTarget, Symbol};
use crate::lsp::server::Server;
use crate::lsp::text_positions::TextPositions;
use crate::lsp::uri::uri_of_path;

/// Returns the range and the text of the name at a position, if it can be renamed.
pub(super) fn prepare_rename(
    server: &mut Server,
    params: &PrepareRenameParams,
) -> Option<PrepareRenameResult> {
    let place = &params.text_document_position_params;
    let unit = server.client.unit;
    let (palace, path) = server.palace_of(&place.text_document.uri)?;
    let text = palace.text(&path)?;
    let positions = TextPositions::new(&text, unit);
    let found = palace.symbol_at(&path, positions.to_position(place.position));
    found.and_then(|(symbol, [start, end])| {
        let placeholder = present_name(&symbol)?;
        let range = positions.range(start, end);
        Some(PrepareRenameResult::PrepareRenamePlaceholder(PrepareRenamePlaceholder {
            range,
            placeholder,
        }))
    })
}

/// Returns the name of a thing, as a user writes the new one; `None` if it cannot be renamed.
fn present_name(symbol: &Symbol) -> Option<String> {
    match symbol {
        Symbol::Room(id) => Some(id.to_string()),
        Symbol::Entity(name) | Symbol::Genus(name) | Symbol::RelationType(name) => {
            Some(name.clone())
        }
        Symbol::Tool(_) => None,
    }
}

/// Renames the thing at a position, with everything that mentions it.
pub(super) fn rename(
    server: &mut Server,
    params: &RenameParams,
) -> Result<Option<WorkspaceEdit>, Refusal> {
    let (place, new_name) = (&params.text_document_position_params, &params.new_name);
    let Some((palace, symbol)) = server.symbol_at(place) else { return Ok(None) };
    let changes = palace.plan_rename(&RenameTarget::Symbol(symbol), new_name)?;
    let root = palace.root();
    Ok(Some(server.workspace_edit(&root, changes)))
}

/// Returns the edits that follow files and folders which the editor is about to rename.
pub(super) fn will_rename_files(
    server: &mut Server,
    params: &RenameFilesParams,
) -> Result<Option<WorkspaceEdit>, Refusal> {
    let mut changes = Vec::new();
    let mut found_root = None;
    for file in &params.files {
        let [from, to] = [file.old_uri.clone(), file.new_uri.clone()];
        let Some((_, to)) = server.palace_of(&to) else { continue };
        let Some((palace, from)) = server.palace_of(&from) else { continue };
        let Some((target, new)) = renamed_thing(palace, &from, &to) else { continue };
        found_root = Some(palace.root());
        changes.extend(palace.plan_rename(&target, &new)?);
    }
    let Some(root) = found_root else { return Ok(None) };
    // The editor renames these files itself.
    let is_renamed = |path: &str| {
        let uri = uri_of_path(&root.join(path));
        params
            .files
            .iter()
            .any(|it| uri == it.old_uri || uri.0.starts_with(&format!("{}/", it.old_uri)))
    };
    changes.retain(|it| !matches!(it, FileChange::Rename { from, .. } if is_renamed(from)));
    Ok(Some(server.workspace_edit(&root, changes)))
}

/// Returns what is renamed with a file or folder, and its new name.
fn renamed_thing(palace: &EditorPalace, from: &str, to: &str) -> Option<(RenameTarget, String)> {
    if let (Some(old), Some(new)) = (wing_folder(from), wing_folder(to)) {
        return Some((RenameTarget::Wing(old.parse().ok()?), new.to_owned()));
    }
    let symbol = palace.symbol_in_file(from)?;
    let new = match &symbol {
        Symbol::Room(_) => to.strip_prefix("rooms/")?.strip_suffix(".yaml")?.to_owned(),
        // The name of an entity is in its file.
        _ => return None,
    };
    Some((RenameTarget::Symbol(symbol), new))
}

/// Returns the wing of a folder `rooms/WING`.
fn wing_folder(path: &str) -> Option<&str> {
    path.strip_prefix("rooms/").filter(|it| !it.contains(['/', '.']))
}

impl Server {
    /// Converts changes to edits that this client can apply.
    pub(super) fn workspace_edit(
        &mut self,
        root: &Path,
        changes: Vec<FileChange>,
    ) -> WorkspaceEdit {
        if self.client.file_operations {
            let changes = changes.into_iter().flat_map(|it| self.document_changes(root, it));
            return WorkspaceEdit {
                document_changes: Some(changes.collect()),
                ..WorkspaceEdit::default()
            };
        }
        let edits = changes.into_iter().filter_map(|it| match it {
            FileChange::Edit { path, edits } => {
                let uri = uri_of_path(&root.join(path));
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

    fn document_changes(&mut self, root: &Path, change: FileChange) -> Vec<DocumentChange> {
        let uri = |path: &str| uri_of_path(&root.join(path));
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
                let range = Range::default();
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

pub(super) fn text_edit(edit: crate::keeper::LineEdit) -> TextEdit {
    let at = |line: usize| Position { line: u32::try_from(line).unwrap_or(u32::MAX), character: 0 };
    TextEdit { range: Range { start: at(edit.start), end: at(edit.end) }, new_text: edit.text }
}
