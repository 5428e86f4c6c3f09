//! The findings about one file, as the editor shows them.

use std::collections::{BTreeMap, BTreeSet};

use crate::Refusal;
use crate::conflicts::{open_conflict_finding, settled_finding};
use crate::editor::{EditorPalace, PalaceWideFindings};
use crate::maintain::check::{check_palace, findings_outside_items};
use crate::palace::file_states::FileState;
use crate::palace::findings::{explain_findings, prepare_checks, resolve_diagnostic_positions};
use palazzo_core::check::CheckFinding;
use palazzo_core::format::{
    self, PalacePath, file_kind, has_right_modeline, is_reported_by_schema, placed_values,
    schema_path,
};
use palazzo_core::model::{Diagnostic, OpenConflict, Position, entity_links, split_lines};

/// The maximum number of rooms, scrolls and entities of a palace that is checked completely after
/// each save: that takes less than 0.1 s.
const MAX_QUICK_ITEMS: usize = 5_000;

/// A finding with its range in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditorFinding {
    /// The finding.
    pub diagnostic: Diagnostic,
    /// The end of the value, the key or the word that it is about.
    pub end: Position,
}

impl EditorPalace {
    /// Returns the findings about one file: those of its parser, those about its item and, as of the
    /// last [`Self::check_palace_wide`], those that depend on the whole palace. The cost depends on
    /// the file and not on the palace.
    pub fn findings_in_file(&mut self, path: &str) -> Result<Vec<EditorFinding>, Refusal> {
        if self.has_other_format() && path != PalacePath::SETTINGS_FILE {
            return Ok(Vec::new());
        }
        let mut of_item = self.item_findings(path);
        explain_findings(&mut self.open, &mut of_item)?;
        let open = &self.open;
        let of_item = of_item.into_iter().map(|it| (it.diagnostic, Some(it.value_path)));
        let text = self.text(path).unwrap_or_default();
        let warnings = format::text_warnings(path, &text, open.file_error(path).is_some());
        let parsed = open.findings_in(path).cloned().chain(warnings).map(|it| (it, None));
        let conflicts = self.conflicts_shown_in(path);
        let conflicts = conflicts.iter().map(|it| open_conflict_finding(open, it));
        let settled = open.is_settled_conflict(path).then(|| (settled_finding(path), None));
        // The positions in a text that cannot be parsed are not known.
        let is_stale = open.file_states.state(path) == FileState::Stale;
        let palace_wide = self.palace_wide.get(path).into_iter().flatten();
        let palace_wide = palace_wide.filter(|(_, it)| it.is_none() || !is_stale).cloned();
        let silenced = &open.palace.settings.silenced_codes;
        let all = parsed.chain(of_item).chain(conflicts).chain(settled).chain(palace_wide);
        let all = all.filter(|(it, _)| it.file == path && !silenced.contains(&it.code));
        let found = resolve_diagnostic_positions(open, path, all.collect());
        Ok(with_ranges(path, &text, found.into_iter().map(|it| it.diagnostic)))
    }

    /// Returns the findings about all files, by file. The cost depends on the palace.
    pub fn findings(&mut self) -> Result<BTreeMap<String, Vec<EditorFinding>>, Refusal> {
        self.check_palace_wide()?;
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

    /// Returns whether the palace is so small that a user does not notice how long a check takes.
    pub fn is_quickly_checked(&self) -> bool {
        let palace = &self.open.palace;
        palace.rooms().len() + palace.scrolls().count() + palace.graph.len() <= MAX_QUICK_ITEMS
    }

    /// Removes the findings that yaml-language-server reports too, if the text of the file names its
    /// schema.
    pub fn leave_findings_to_schema(
        &self,
        path: &str,
        text: &str,
        findings: &mut Vec<EditorFinding>,
    ) {
        if self.has_schema(path, text) {
            findings.retain(|it| !is_reported_by_schema(&it.diagnostic));
        }
    }

    /// Returns whether a file with this text names its schema, and that schema is there.
    fn has_schema(&self, path: &str, text: &str) -> bool {
        let kind = file_kind(path).filter(|_| has_right_modeline(path, text));
        kind.is_some_and(|it| self.text(&schema_path(it)).is_some())
    }

    /// Searches again for the findings that depend on the whole palace: between items, about the
    /// model, the consent and the repository. Returns the files for which they have changed. The
    /// cost depends on the palace.
    pub fn check_palace_wide(&mut self) -> Result<Vec<String>, Refusal> {
        self.open.find_renamed_rooms()?;
        let check = prepare_checks(&self.open, &self.tools, &self.workspaces);
        let mut between_items = check.findings_between_items();
        explain_findings(&mut self.open, &mut between_items)?;
        let between_items =
            between_items.into_iter().map(|it| (it.diagnostic, Some(it.value_path)));
        let all = between_items.chain(findings_outside_items(&self.open, &self.models));
        let mut now = PalaceWideFindings::new();
        for (diagnostic, value_path) in all {
            now.entry(diagnostic.file.clone()).or_default().push((diagnostic, value_path));
        }
        let before = std::mem::take(&mut self.palace_wide);
        let files: BTreeSet<_> = before.keys().chain(now.keys()).collect();
        let changed = files.into_iter().filter(|it| before.get(*it) != now.get(*it));
        let changed = changed.cloned().collect();
        self.palace_wide = now;
        Ok(changed)
    }

    /// Returns the open conflicts whose findings are in a file: those about its item, or its own.
    pub(super) fn conflicts_shown_in(&self, path: &str) -> Vec<OpenConflict> {
        let about_item = self.open.open_conflicts_about(|it| it == path).into_iter();
        about_item.chain(self.open.open_conflict(path)).collect()
    }

    fn item_findings(&self, path: &str) -> Vec<CheckFinding> {
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
    let values = placed_values(path, text).into_iter();
    let ends: BTreeMap<_, _> = values.map(|it| (it.start, it.end)).collect();
    let lines: Vec<_> = split_lines(text).collect();
    let end_of = |it: &Diagnostic| {
        let value_end = ends.get(&it.at).filter(|end| end.line == it.at.line);
        match value_end.filter(|_| !it.code.is_file_level()) {
            Some(end) => *end,
            None => end_of_text(&lines, it.at),
        }
    };
    diagnostics.map(|it| EditorFinding { end: end_of(&it), diagnostic: it }).collect()
}

/// Returns the end of the link at a position, else of its line without blanks and comments.
fn end_of_text(lines: &[&str], at: Position) -> Position {
    let line = lines.get(at.line - 1).copied().unwrap_or_default();
    let rest: String = line.chars().skip(at.column - 1).collect();
    let link = entity_links(&rest).into_iter().next().filter(|it| it.range.start == 0);
    let content = match link {
        Some(link) => &rest[link.range],
        None => rest.split(" #").next().unwrap_or_default().trim_end(),
    };
    Position { column: at.column + content.chars().count().max(1), ..at }
}
