//! Renames of symbols and of files.

use gen_lsp_types::{
    PrepareRenameParams, PrepareRenamePlaceholder, PrepareRenameResult, RenameFilesParams,
    RenameParams, WorkspaceEdit,
};

use crate::keeper::{EditorPalace, FileChange, Refusal, RenameTarget, Symbol};
use crate::lsp::server::Server;
use crate::lsp::uri::uri_of_path;

/// Returns the range and the text of the name at a position, if it can be renamed.
pub(super) fn prepare_rename(
    server: &mut Server,
    params: &PrepareRenameParams,
) -> Option<PrepareRenameResult> {
    let (_, symbol, range) = server.symbol_at(&params.text_document_position_params)?;
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
    let Some((palace, symbol, _)) = server.symbol_at(place) else { return Ok(None) };
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
        let Some((target, new)) = renamed_target(palace, &from, &to) else { continue };
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
fn renamed_target(palace: &EditorPalace, from: &str, to: &str) -> Option<(RenameTarget, String)> {
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
