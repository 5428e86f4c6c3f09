//! Which function answers which request. Formatting needs no more than a line, which is here.

use gen_lsp_types as lsp;
use gen_lsp_types::{DocumentFormattingParams, TextEdit};
use lsp_server::Request;

use crate::lsp::server::Server;
use crate::lsp::workspace_edit::text_edit;
use crate::lsp::{annotations, code_actions, completion, hover, navigation, rename, symbols};

/// A function that answers a request.
type Handler = fn(&mut Server, Request);

/// Returns the function that answers the requests of a method; `None`: the server has no such
/// method.
pub(super) fn handler(method: &str) -> Option<Handler> {
    match method.strip_prefix("textDocument/") {
        Some(name) => document_handler(name),
        None => palace_handler(method),
    }
}

/// Returns the handler of a request about a document.
fn document_handler(name: &str) -> Option<Handler> {
    Some(match name {
        "completion" => |it, r| it.answer_always::<lsp::CompletionRequest>(r, completion::complete),
        "hover" => |it, r| it.answer_always::<lsp::HoverRequest>(r, hover::hover),
        "documentSymbol" => |it, r| {
            it.answer_always::<lsp::DocumentSymbolRequest>(r, symbols::document_symbols);
        },
        "definition" => {
            |it, r| it.answer_always::<lsp::DefinitionRequest>(r, navigation::definition)
        }
        "references" => {
            |it, r| it.answer_always::<lsp::ReferencesRequest>(r, navigation::references)
        }
        "prepareCallHierarchy" => |it, r| {
            it.answer_always::<lsp::CallHierarchyPrepareRequest>(r, navigation::prepare_doors);
        },
        "prepareRename" => |it, r| {
            it.answer_always::<lsp::PrepareRenameRequest>(r, rename::prepare_rename);
        },
        "rename" => |it, r| it.answer::<lsp::RenameRequest>(r, rename::rename),
        "codeAction" => |it, r| it.answer::<lsp::CodeActionRequest>(r, code_actions::code_actions),
        "formatting" => |it, r| it.answer_always::<lsp::DocumentFormattingRequest>(r, formatting),
        "codeLens" => |it, r| it.answer_always::<lsp::CodeLensRequest>(r, annotations::code_lenses),
        "inlayHint" => {
            |it, r| it.answer_always::<lsp::InlayHintRequest>(r, annotations::inlay_hints)
        }
        "documentLink" => {
            |it, r| it.answer_always::<lsp::DocumentLinkRequest>(r, annotations::document_links)
        }
        _ => return None,
    })
}

/// Returns the handler of a request about a whole palace.
fn palace_handler(method: &str) -> Option<Handler> {
    Some(match method {
        "callHierarchy/incomingCalls" => |it, r| {
            it.answer_always::<lsp::CallHierarchyIncomingCallsRequest>(r, navigation::doors_in);
        },
        "callHierarchy/outgoingCalls" => |it, r| {
            it.answer_always::<lsp::CallHierarchyOutgoingCallsRequest>(r, navigation::doors_out);
        },
        "workspace/symbol" => |it, r| {
            it.answer_always::<lsp::WorkspaceSymbolRequest>(r, symbols::workspace_symbols);
        },
        "workspace/willRenameFiles" => {
            |it, r| it.answer::<lsp::WillRenameFilesRequest>(r, rename::will_rename_files)
        }
        _ => return None,
    })
}

/// Returns the edits that give a document its canonical form.
fn formatting(server: &mut Server, params: &DocumentFormattingParams) -> Option<Vec<TextEdit>> {
    let (palace, path) = server.palace_of(&params.text_document.uri)?;
    palace.formatting(&path).map(|edits| edits.into_iter().map(text_edit).collect())
}
