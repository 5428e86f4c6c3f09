//! Publishes findings.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use gen_lsp_types::{
    Code, Diagnostic, DiagnosticSeverity, DiagnosticTag, Message, PublishDiagnosticsNotification,
    PublishDiagnosticsParams, Uri,
};

use crate::lsp::server::Server;
use crate::lsp::text_positions::TextPositions;
use crate::lsp::uri::{canonical_uri, path_of_uri, uri_of_path};
use palazzo_core::model::{self, Severity};
use palazzo_keeper::{EditorFinding, EditorPalace};

/// The name of the server at its findings.
const SOURCE: &str = "palazzo";
/// Maximum number of files that are checked again after a rest.
const MAX_CHECKED_FILES: usize = 200;

impl Server {
    /// Publishes the findings about an open document.
    pub(super) fn publish_document(&mut self, uri: &Uri) {
        let Some(document) = self.documents.get(uri) else { return };
        let (version, text) = (document.version, document.text.clone());
        let shows_schema_findings = self.client.schema_findings;
        let Some((palace, path)) = self.palace_of(uri) else { return };
        if !EditorPalace::is_palace_file(&path) {
            return;
        }
        // A palace that cannot be read now is checked at the next change.
        let Ok(mut findings) = palace.findings_in_file(&path) else { return };
        if !shows_schema_findings {
            palace.leave_findings_to_schema(&path, &text, &mut findings);
        }
        self.publish(uri, Some(version), &text, &findings);
    }

    /// Publishes the findings about the closed files of a palace.
    pub(super) fn publish_closed_files(
        &mut self,
        root: &Path,
        findings: BTreeMap<String, Vec<EditorFinding>>,
    ) {
        for (path, findings) in findings {
            let uri = uri_of_path(&root.join(&path));
            if self.documents.get(&uri).is_some() || !has_problem(&findings) {
                continue;
            }
            let Some((palace, _)) = self.palace_of(&uri) else { continue };
            let text = palace.text(&path).unwrap_or_default();
            self.publish(&uri, None, &text, &findings);
        }
    }

    /// Checks the open documents, and the files with findings, again.
    pub(super) fn recheck_after_rest(&mut self) {
        self.palaces.open_palaces().for_each(EditorPalace::forget_unfinished_rooms);
        let open: BTreeSet<_> = self.documents.uris().map(|it| it.0).collect();
        for uri in &open {
            self.publish_document(&Uri(uri.clone()));
        }
        let others = self.published.difference(&open).take(MAX_CHECKED_FILES);
        for uri in others.cloned().collect::<Vec<_>>() {
            self.publish_closed_file(&Uri(uri));
        }
    }

    /// Checks the palaces, and publishes their findings. Of a large palace, only those that depend on
    /// several files, where they have changed.
    pub(super) fn publish_palace_findings(&mut self) {
        let roots: Vec<_> = self.palaces.open_palaces().map(|it| it.root()).collect();
        for root in roots {
            let Some(palace) = self.palaces.get_open_palace(&root) else { continue };
            // A palace that cannot be read now is checked at the next change.
            if palace.is_quickly_checked() {
                let Ok(findings) = palace.findings() else { continue };
                self.clear_findings_of_others(&root, &findings);
                self.publish_closed_files(&root, findings);
            } else {
                let files = palace.check_palace_wide().unwrap_or_default();
                for path in files.iter().take(MAX_CHECKED_FILES) {
                    self.publish_closed_file(&uri_of_path(&root.join(path)));
                }
            }
        }
        let open: Vec<_> = self.documents.uris().collect();
        for uri in &open {
            self.publish_document(uri);
        }
    }

    /// Clears the findings about closed files of a palace that have no problem any more.
    fn clear_findings_of_others(
        &mut self,
        root: &Path,
        findings: &BTreeMap<String, Vec<EditorFinding>>,
    ) {
        let problems = findings.iter().filter(|(_, it)| has_problem(it));
        let problems: BTreeSet<_> = problems.map(|(it, _)| uri_of_path(&root.join(it)).0).collect();
        let fixed: Vec<_> = self.published.difference(&problems).cloned().map(Uri).collect();
        for uri in &fixed {
            let is_inside = path_of_uri(uri).is_some_and(|it| it.starts_with(root));
            if is_inside && self.documents.get(uri).is_none() {
                self.publish(uri, None, "", &[]);
            }
        }
    }

    fn publish_closed_file(&mut self, uri: &Uri) {
        if self.documents.get(uri).is_some() {
            return;
        }
        let Some((palace, path)) = self.palace_of(uri) else { return };
        let text = palace.text(&path).unwrap_or_default();
        let Ok(mut findings) = palace.findings_in_file(&path) else { return };
        if !has_problem(&findings) {
            findings.clear();
        }
        if !findings.is_empty() || self.published.contains(&uri.0) {
            self.publish(uri, None, &text, &findings);
        }
    }

    fn publish(&mut self, uri: &Uri, version: Option<i32>, text: &str, found: &[EditorFinding]) {
        let key = canonical_uri(uri).0;
        match found.is_empty() {
            true => drop(self.published.remove(&key)),
            false => drop(self.published.insert(key)),
        }
        let positions = TextPositions::new(text, self.client.unit);
        let diagnostics = found.iter().map(|it| diagnostic(it, &positions)).collect();
        self.send_notification::<PublishDiagnosticsNotification>(PublishDiagnosticsParams {
            uri: self.documents.client_uri(uri.clone()),
            version,
            diagnostics,
        });
    }
}

/// Returns whether findings are more than information.
fn has_problem(findings: &[EditorFinding]) -> bool {
    findings.iter().any(|it| it.diagnostic.severity() < Severity::Info)
}

pub(super) fn diagnostic(finding: &EditorFinding, positions: &TextPositions<'_>) -> Diagnostic {
    let model::Diagnostic { code, at, message, hint, .. } = &finding.diagnostic;
    let severity = match finding.diagnostic.severity() {
        Severity::Error => DiagnosticSeverity::Error,
        Severity::Warning => DiagnosticSeverity::Warning,
        Severity::Info => DiagnosticSeverity::Information,
    };
    let hint = hint.as_ref().map(|it| format!("\n{it}")).unwrap_or_default();
    Diagnostic {
        range: positions.range(*at, finding.end),
        severity: Some(severity),
        code: Some(Code::String(code.to_string())),
        source: Some(SOURCE.to_owned()),
        message: Message::String(format!("{message}{hint}")),
        tags: (*code == model::Code::UnusedKey).then(|| vec![DiagnosticTag::Unnecessary]),
        ..Diagnostic::default()
    }
}
