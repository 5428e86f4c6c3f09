//! Renames of symbols and of files.

use std::collections::BTreeMap;
use std::path::PathBuf;

use gen_lsp_types::{
    PrepareRenameParams, PrepareRenamePlaceholder, PrepareRenameResult, RenameFilesParams,
    RenameParams, WorkspaceEdit,
};

use crate::lsp::server::Server;
use palazzo_keeper::{FileChange, Refusal, Symbol};

/// Returns the range and the text of the name at a position, if it can be renamed.
pub(super) fn prepare_rename(
    server: &mut Server,
    params: &PrepareRenameParams,
) -> Option<PrepareRenameResult> {
    let (_, symbol, range) = server.name_at(&params.text_document_position_params)?;
    let placeholder = present_name(&symbol)?;
    let placeholder = PrepareRenamePlaceholder { range, placeholder };
    Some(PrepareRenameResult::PrepareRenamePlaceholder(placeholder))
}

/// Returns the name of a symbol, as a user writes the new one; `None` if it cannot be renamed.
fn present_name(symbol: &Symbol) -> Option<String> {
    match symbol {
        Symbol::Room(id) => Some(id.to_string()),
        Symbol::Entity(name) | Symbol::Genus(name) | Symbol::RelationType(name) => {
            Some(name.clone())
        }
        Symbol::Tool(_) => None,
    }
}

/// Renames the symbol at a position, with everything that mentions it.
pub(super) fn rename(
    server: &mut Server,
    params: &RenameParams,
) -> Result<Option<WorkspaceEdit>, Refusal> {
    let (place, new_name) = (&params.text_document_position_params, &params.new_name);
    let Some((palace, symbol, _)) = server.name_at(place) else { return Ok(None) };
    let changes = palace.plan_rename(&symbol, new_name)?;
    let root = palace.root();
    Ok(Some(server.workspace_edit(vec![(root, changes)])))
}

/// Returns the edits that follow files and folders which the editor is about to rename.
pub(super) fn will_rename_files(
    server: &mut Server,
    params: &RenameFilesParams,
) -> Result<Option<WorkspaceEdit>, Refusal> {
    let mut moves = BTreeMap::<PathBuf, Vec<(String, String)>>::new();
    for file in &params.files {
        let [from, to] = [&file.old_uri, &file.new_uri].map(|it| {
            let (palace, path) = server.palace_of(it)?;
            Some((palace.root(), path))
        });
        // A file that moves to another palace is deleted here.
        let (Some((root, from)), Some((to_root, to))) = (from, to) else { continue };
        if root == to_root {
            moves.entry(root).or_default().push((from, to));
        }
    }
    let mut changes = Vec::new();
    for (root, files) in moves {
        let Some(palace) = server.palaces.get_open_palace(&root) else { continue };
        let mut planned = palace.plan_file_moves(&files)?;
        // The editor moves these files itself.
        planned.retain(|it| {
            let is_moved = |path: &str| {
                let holds =
                    |folder: &str| path.strip_prefix(folder).is_some_and(|it| it.starts_with('/'));
                files.iter().any(|(from, _)| path == from || holds(from))
            };
            !matches!(it, FileChange::Rename { from, .. } if is_moved(from))
        });
        changes.push((root, planned));
    }
    Ok((!changes.is_empty()).then(|| server.workspace_edit(changes)))
}
