//! The findings about one file, as the editor shows them.

use std::collections::BTreeMap;

use crate::check::CheckFinding;
use crate::format::{PalacePath, placed_values};
use crate::keeper::Refusal;
use crate::keeper::conflicts::findings::conflict_findings;
use crate::keeper::editor::EditorPalace;
use crate::keeper::maintain::check::check_palace;
use crate::keeper::palace::explained_findings::explain_findings;
use crate::keeper::palace::file_states::FileState;
use crate::keeper::palace::findings::{prepare_checks, resolve_diagnostic_positions};
use crate::model::{Diagnostic, Position, split_lines};

/// A finding with its range in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditorFinding {
    /// The finding.
    pub diagnostic: Diagnostic,
    /// The end of the value, the key or the word that it is about.
    pub end: Position,
}

impl EditorPalace {
    /// Returns the findings about one file: those of its parser, and those about its item. The cost
    /// depends on the file and not on the palace.
    pub fn findings_in_file(&mut self, path: &str) -> Result<Vec<EditorFinding>, Refusal> {
        let mut found = self.item_findings(path);
        explain_findings(&mut self.open, &mut found)?;
        let open = &self.open;
        let found = found.into_iter().map(|it| (it.diagnostic, Some(it.value_path)));
        let parsed = open.findings_in(path).map(|it| (it.clone(), None));
        let conflicts = conflict_findings(open);
        let silenced = &open.palace.settings.silenced_codes;
        let all = parsed.chain(found).chain(conflicts);
        let all = all.filter(|(it, _)| it.file == path && !silenced.contains(&it.code));
        let found = resolve_diagnostic_positions(open, path, all.collect());
        let text = self.text(path).unwrap_or_default();
        Ok(with_ranges(path, &text, found.into_iter().map(|it| it.diagnostic)))
    }

    /// Returns the findings about all files, by file. The cost depends on the palace.
    pub fn findings(&mut self) -> Result<BTreeMap<String, Vec<EditorFinding>>, Refusal> {
        let (tools, workspaces) = (self.tools.as_slice(), self.workspaces.as_slice());
        let report = check_palace(&mut self.open, (tools, workspaces), &self.models, Vec::new())?;
        let mut by_file = BTreeMap::<String, Vec<Diagnostic>>::new();
        for finding in report.findings {
            let file = finding.diagnostic.file.clone();
            by_file.entry(file).or_default().push(finding.diagnostic);
        }
        let with_ranges = |(path, found): (String, Vec<Diagnostic>)| {
            let text = self.text(&path).unwrap_or_default();
            let found = with_ranges(&path, &text, found.into_iter());
            (path, found)
        };
        Ok(by_file.into_iter().map(with_ranges).collect())
    }

    fn item_findings(&self, path: &str) -> Vec<CheckFinding> {
        // The positions in a text that cannot be parsed are not known.
        if self.open.file_states.state(path) == FileState::Stale {
            return Vec::new();
        }
        let check = prepare_checks(&self.open, &self.tools, &self.workspaces);
        if path == PalacePath::SETTINGS_FILE {
            return check.settings_findings();
        }
        let item = self.open.item_in_file(path);
        item.map(|it| check.item_findings(path, &it)).unwrap_or_default()
    }
}

/// Adds the end of what each diagnostic is about.
fn with_ranges(
    path: &str,
    text: &str,
    diagnostics: impl Iterator<Item = Diagnostic>,
) -> Vec<EditorFinding> {
    let values = placed_values(path, text);
    let end_of = |it: &Diagnostic| {
        if it.code.is_file_level() {
            return end_of_line(text, it.at);
        }
        let value = values.iter().find(|value| value.start == it.at);
        match value.filter(|value| value.end.line == it.at.line) {
            Some(value) => value.end,
            None => end_of_line(text, it.at),
        }
    };
    diagnostics.map(|it| EditorFinding { end: end_of(&it), diagnostic: it }).collect()
}

/// Returns the end of the line of a position, without blanks and comments.
fn end_of_line(text: &str, at: Position) -> Position {
    let line = split_lines(text).nth(at.line - 1).unwrap_or_default();
    let rest: String = line.chars().skip(at.column - 1).collect();
    let content = rest.split(" #").next().unwrap_or_default().trim_end();
    Position { column: at.column + content.chars().count().max(1), ..at }
}
