//! What the client and the server can do.

use gen_lsp_types::{
    CallHierarchyProvider, CodeActionKind, CodeActionOptions, CodeActionProvider, CodeLensOptions,
    CompletionOptions, DefinitionProvider, DocumentFormattingProvider, DocumentLinkOptions,
    DocumentSymbolProvider, FileOperationFilter, FileOperationOptions, FileOperationPattern,
    FileOperationRegistrationOptions, HoverProvider, InlayHintProvider, ReferencesProvider,
    RenameOptions, RenameProvider, Save, ServerCapabilities, TextDocumentSync,
    TextDocumentSyncKind, TextDocumentSyncOptions, WorkspaceOptions, WorkspaceSymbolProvider,
};
use serde_json::Value;

use crate::lsp::text_positions::ColumnUnit;

/// The kind of the action that fixes everything in a file.
const FIX_ALL: &str = "source.fixAll.palazzo";

/// What the client can do, as far as answers depend on it.
#[expect(clippy::struct_excessive_bools, reason = "each is a capability of its own")]
#[derive(Clone, Copy, Debug)]
pub(super) struct ClientSupport {
    /// The unit of columns.
    pub(super) unit: ColumnUnit,
    /// Whether edits may create, rename and delete files.
    pub(super) file_operations: bool,
    /// Whether completions may be snippets.
    pub(super) snippets: bool,
    /// Whether it shows the progress of work.
    pub(super) progress: bool,
    /// Whether it wants the findings that yaml-language-server reports too.
    pub(super) schema_findings: bool,
    /// Whether the user wants to see the names of rooms and the genera of entities in the text.
    pub(super) inlay_hints: bool,
}

impl ClientSupport {
    /// Reads the parameters of `initialize`. Anything may be missing or null.
    pub(super) fn from_initialize(params: &Value) -> Self {
        let capabilities = &params["capabilities"];
        let workspace_edit = &capabilities["workspace"]["workspaceEdit"];
        let has = |list: &Value, word: &str| {
            list.as_array().is_some_and(|it| it.iter().any(|it| it == word))
        };
        let item = &capabilities["textDocument"]["completion"]["completionItem"];
        let is_utf8 = has(&capabilities["general"]["positionEncodings"], "utf-8");
        Self {
            unit: if is_utf8 { ColumnUnit::Utf8 } else { ColumnUnit::Utf16 },
            // Neovim 0.11 names the operations only.
            file_operations: has(&workspace_edit["resourceOperations"], "rename"),
            snippets: item["snippetSupport"] == true,
            progress: capabilities["window"]["workDoneProgress"] == true,
            schema_findings: params["initializationOptions"]["schemaFindings"] != false,
            inlay_hints: params["initializationOptions"]["inlayHints"] == true,
        }
    }
}

/// Returns what the server offers to a client.
pub(super) fn server_capabilities(client: ClientSupport) -> ServerCapabilities {
    let triggers = [" ", "-", "/", "[", "{"].map(str::to_owned).to_vec();
    ServerCapabilities {
        position_encoding: Some(client.unit.encoding_kind()),
        text_document_sync: Some(TextDocumentSync::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::Incremental),
            save: Some(Save::Bool(true)),
            ..TextDocumentSyncOptions::default()
        })),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(triggers),
            ..CompletionOptions::default()
        }),
        definition_provider: Some(DefinitionProvider::Bool(true)),
        references_provider: Some(ReferencesProvider::Bool(true)),
        hover_provider: Some(HoverProvider::Bool(true)),
        document_symbol_provider: Some(DocumentSymbolProvider::Bool(true)),
        workspace_symbol_provider: Some(WorkspaceSymbolProvider::Bool(true)),
        call_hierarchy_provider: Some(CallHierarchyProvider::Bool(true)),
        code_action_provider: Some(CodeActionProvider::CodeActionOptions(CodeActionOptions {
            code_action_kinds: Some(code_action_kinds()),
            ..CodeActionOptions::default()
        })),
        document_formatting_provider: Some(DocumentFormattingProvider::Bool(true)),
        code_lens_provider: Some(CodeLensOptions::default()),
        inlay_hint_provider: Some(InlayHintProvider::Bool(client.inlay_hints)),
        document_link_provider: Some(DocumentLinkOptions::default()),
        rename_provider: Some(RenameProvider::RenameOptions(RenameOptions {
            prepare_provider: Some(true),
            ..RenameOptions::default()
        })),
        workspace: Some(WorkspaceOptions {
            file_operations: Some(FileOperationOptions {
                will_rename: Some(renamed_files()),
                ..FileOperationOptions::default()
            }),
            ..WorkspaceOptions::default()
        }),
        ..ServerCapabilities::default()
    }
}

/// Returns the kinds of actions that the server offers.
fn code_action_kinds() -> Vec<CodeActionKind> {
    vec![CodeActionKind::QuickFix, CodeActionKind::Refactor, fix_all_kind()]
}

/// Returns the kind of the action that fixes everything in a file.
pub(super) fn fix_all_kind() -> CodeActionKind {
    CodeActionKind::from(FIX_ALL.to_owned())
}

/// Returns the files and folders whose renames the server follows.
fn renamed_files() -> FileOperationRegistrationOptions {
    let glob = "**/{rooms,entities,scrolls}/**".to_owned();
    let pattern = FileOperationPattern { glob, matches: None, options: None };
    let scheme = Some("file".to_owned());
    FileOperationRegistrationOptions { filters: vec![FileOperationFilter { scheme, pattern }] }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_client_that_says_nothing_gets_the_defaults_of_the_protocol() {
        for params in [json!(null), json!({ "capabilities": null, "initializationOptions": null })]
        {
            let client = ClientSupport::from_initialize(&params);
            assert_eq!(client.unit, ColumnUnit::Utf16);
            assert!(client.schema_findings);
            assert!(!client.file_operations && !client.snippets && !client.progress);
        }
    }
}
