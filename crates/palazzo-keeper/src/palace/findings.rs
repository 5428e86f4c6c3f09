//! The findings of a check, each with the line that it is about.

use std::collections::BTreeSet;

use crate::palace::OpenPalace;
use palazzo_core::check::PalaceCheck;
use palazzo_core::format::{self, PalacePath, ValuePositions, room_path};
use palazzo_core::model::{Code, Diagnostic, Severity, Tool, ValuePath, split_lines};
use palazzo_core::render;
use palazzo_store::Store;

/// A diagnostic, and an excerpt of its file.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The diagnostic.
    pub diagnostic: Diagnostic,
    /// The line it is about with a caret below, and the hint; shown below the diagnostic.
    pub source_excerpt: String,
}

impl Finding {
    /// Adds the line of `text` that a diagnostic is about.
    pub fn from_diagnostic(diagnostic: Diagnostic, text: &str) -> Self {
        let line = split_lines(text).nth(diagnostic.at.line - 1);
        let is_shown = !diagnostic.code.is_file_level() && diagnostic.code != Code::Secret;
        let line = line.filter(|_| !text.is_empty() && is_shown);
        Self { source_excerpt: render::source_excerpt(&diagnostic, line), diagnostic }
    }
}

/// Returns the finding about a palace with files of another format than this program reads, which
/// must not be changed.
pub(crate) fn other_format_finding(store: &Store) -> Option<Finding> {
    let text = store.read_file(PalacePath::SETTINGS_FILE).ok().flatten()?;
    Some(Finding::from_diagnostic(format::find_other_format(&text)?, &text))
}

/// Prepares the checks of a palace as a whole. `tools` are those that actions can call,
/// `workspaces` the directories and names of the palaces that doors can lead to.
pub(crate) fn prepare_checks<'a>(
    palace: &'a OpenPalace,
    tools: &'a [Tool],
    workspaces: &'a [String],
) -> PalaceCheck<'a> {
    let errors = palace.findings().filter(|it| it.severity() == Severity::Error);
    let unreadable_files: BTreeSet<_> = errors.map(|it| it.file.as_str()).collect();
    let palace = &palace.palace;
    PalaceCheck { palace, tools, workspaces, unreadable_files, room_file: room_path }
}

/// Resolves the positions of diagnostics about one file, and sorts them by position.
pub(crate) fn resolve_diagnostic_positions(
    palace: &OpenPalace,
    file: &str,
    diagnostics: Vec<(Diagnostic, Option<ValuePath>)>,
) -> Vec<Finding> {
    let text = palace.store().read_file(file).ok().flatten().unwrap_or_default();
    resolve_positions_in_text(file, &text, diagnostics)
}

/// Resolves the positions of diagnostics about a file with this text, and sorts them by position.
pub(crate) fn resolve_positions_in_text(
    file: &str,
    text: &str,
    diagnostics: Vec<(Diagnostic, Option<ValuePath>)>,
) -> Vec<Finding> {
    let positions = ValuePositions::parse(file, text);
    let mut findings = Vec::new();
    for (mut diagnostic, value_path) in diagnostics {
        if let Some(value_path) = value_path {
            diagnostic.at = positions.position_of(&value_path);
        }
        findings.push(Finding::from_diagnostic(diagnostic, text));
    }
    findings.sort_by(|a, b| {
        (a.diagnostic.at, &a.diagnostic.message).cmp(&(b.diagnostic.at, &b.diagnostic.message))
    });
    findings
}
