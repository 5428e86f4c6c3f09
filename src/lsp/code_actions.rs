//! Changes that the editor offers at a place.

use std::path::Path;

use gen_lsp_types::{
    CodeAction, CodeActionKind, CodeActionParams, CodeActionResponse, Position, Range,
};

use crate::lsp::capabilities::fix_all_kind;
use crate::lsp::diagnostics::diagnostic;
use crate::lsp::server::Server;
use crate::lsp::text_positions::TextPositions;
use palazzo_keeper::{EditorFinding, FileChange, Fix, Refusal};

/// Returns the changes that are possible in a range.
pub(super) fn code_actions(
    server: &mut Server,
    params: &CodeActionParams,
) -> Result<Option<Vec<CodeActionResponse>>, Refusal> {
    let (unit, now) = (server.client.unit, (server.clock)());
    let Some((palace, path)) = server.palace_of(&params.text_document.uri) else { return Ok(None) };
    let Some(text) = palace.text(&path) else { return Ok(None) };
    let positions = TextPositions::new(&text, unit);
    let mut findings = palace.findings_in_file(&path)?;
    findings.retain(|it| touches(&positions.range(it.diagnostic.at, it.end), &params.range));
    let only = params.context.only.as_ref();
    let is_wanted = |kind: &CodeActionKind| {
        let kind = String::from(kind.clone());
        only.is_none_or(|it| {
            it.iter().any(|it| {
                let wanted = String::from(it.clone());
                kind == wanted || kind.starts_with(&format!("{wanted}."))
            })
        })
    };
    let root = palace.root();
    let fixes = palace.fixes(&path, &findings, now);
    let everything = match is_wanted(&fix_all_kind()) {
        true => palace.fix_everything(&path),
        false => None,
    };
    let mut actions = Vec::new();
    for fix in fixes {
        let kind = match fix.finding {
            Some(_) => CodeActionKind::QuickFix,
            None => CodeActionKind::Refactor,
        };
        if is_wanted(&kind) && server.can_apply(&fix.changes) {
            let found = fix.finding.and_then(|it| findings.get(it));
            actions.push(code_action(server, &root, fix, kind, found, &positions));
        }
    }
    if let Some(changes) = everything {
        let title = "Fix everything that has only one possible fix".to_owned();
        let fix = Fix { title, finding: None, is_preferred: false, changes };
        actions.push(code_action(server, &root, fix, fix_all_kind(), None, &positions));
    }
    Ok(Some(actions))
}

fn code_action(
    server: &mut Server,
    root: &Path,
    fix: Fix,
    kind: CodeActionKind,
    finding: Option<&EditorFinding>,
    positions: &TextPositions<'_>,
) -> CodeActionResponse {
    CodeActionResponse::CodeAction(CodeAction {
        title: fix.title,
        kind: Some(kind),
        diagnostics: finding.map(|it| vec![diagnostic(it, positions)]),
        is_preferred: fix.is_preferred.then_some(true),
        edit: Some(server.workspace_edit(vec![(root.to_owned(), fix.changes)])),
        ..CodeAction::default()
    })
}

impl Server {
    /// Returns whether the client can apply changes.
    fn can_apply(&self, changes: &[FileChange]) -> bool {
        let is_edit = |it: &FileChange| matches!(it, FileChange::Edit { .. });
        self.client.file_operations || changes.iter().all(is_edit)
    }
}

/// Returns whether two ranges have a place in common.
fn touches(a: &Range, b: &Range) -> bool {
    let at = |it: Position| (it.line, it.character);
    at(a.start) <= at(b.end) && at(b.start) <= at(a.end)
}
