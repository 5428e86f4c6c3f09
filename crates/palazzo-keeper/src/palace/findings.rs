//! The findings of a check, each with the line that it is about.
//!
//! The history explains some: a missing room or entity may have another name now, and of two files
//! with one id the later one is a copy. Visitors get notices of errors in files.

use std::collections::{BTreeMap, BTreeSet};

use crate::Refusal;
use crate::palace::OpenPalace;
use crate::palace::file_states::FileState;
use crate::palace::rename_lookup::RenameLookup;
use palazzo_core::check::{CheckFinding, FindingSubject, PalaceCheck};
use palazzo_core::format::{self, PalacePath, ValuePositions, room_path};
use palazzo_core::model::{
    Code, Diagnostic, RoomId, Severity, Tool, ValuePath, quoted, quoted_unless_plain, side_file,
    split_lines,
};
use palazzo_core::render;
use palazzo_store::Store;

/// The most files with errors that are listed.
const MAX_FILES: usize = 3;

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

/// The names that are explained, and the copies.
#[derive(Debug, Default)]
pub(crate) struct Explanations {
    /// The present name of each missing room that was renamed.
    pub(crate) rooms: BTreeMap<RoomId, RoomId>,
    /// The present name of each missing entity that was renamed.
    pub(crate) entities: BTreeMap<String, String>,
    /// The files that are copies of another file.
    pub(crate) copies: Vec<String>,
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

/// Rewords the findings that the history explains. Without missing names and duplicate ids, it does
/// not read the history.
pub(crate) fn explain_findings(
    open: &mut OpenPalace,
    findings: &mut [CheckFinding],
) -> Result<Explanations, Refusal> {
    let mut explanations = Explanations::default();
    if findings.iter().all(|it| it.subject.is_none()) {
        return Ok(explanations);
    }
    let lookup = RenameLookup::new(open)?;
    let (mut rooms, mut entities) = (BTreeMap::new(), BTreeMap::new());
    for finding in findings {
        match finding.subject.clone() {
            Some(FindingSubject::MissingRoom(old)) => {
                let new = rooms.entry(old.clone()).or_insert_with(|| lookup.find_room(&old));
                if let Some(new) = new {
                    explain_missing_room(finding, &old, new);
                }
            }
            Some(FindingSubject::MissingEntity(old)) => {
                let new = entities.entry(old.clone()).or_insert_with(|| lookup.find_entity(&old));
                if let Some(new) = new {
                    let file = lookup.palace().palace.graph.file_of_entity(new).unwrap_or_default();
                    explain_missing_entity(finding, &old, new, file);
                }
            }
            Some(FindingSubject::SameId { other }) => {
                let is_known_copy = side_file(&finding.diagnostic.file).is_some();
                if !is_known_copy {
                    explanations.copies.extend(explain_same_id(finding, &other, &lookup));
                }
            }
            None => {}
        }
    }
    let rooms = rooms.into_iter().filter_map(|(old, new)| Some((old, new?)));
    explanations.rooms = rooms.collect();
    let entities = entities.into_iter().filter_map(|(old, new)| Some((old, new?.to_owned())));
    explanations.entities = entities.collect();
    explanations.copies.dedup();
    Ok(explanations)
}

fn explain_missing_room(finding: &mut CheckFinding, old: &RoomId, new: &RoomId) {
    let (diagnostic, file) = (&mut finding.diagnostic, room_path(new));
    let (message, what) = match diagnostic.code {
        Code::LostScroll => (
            diagnostic.message.replace("does not exist", "has another name now"),
            "moves the scrolls",
        ),
        Code::LostEntry => (diagnostic.message.clone(), "changes the entry"),
        _ => {
            diagnostic.code = Code::OldName;
            (format!("`{old}` is the old name of the room `{new}`"), "changes the references")
        }
    };
    // The place of a scroll does not name the room.
    if diagnostic.code != Code::LostScroll {
        diagnostic.set_certain_word(Some(&new.to_string()));
    }
    diagnostic.message = message;
    diagnostic.hint = Some(format!("{file} has the id of `{old}`; `palazzo check --fix` {what}"));
}

fn explain_missing_entity(finding: &mut CheckFinding, old: &str, new: &str, file: &str) {
    let diagnostic = &mut finding.diagnostic;
    diagnostic.set_certain_word(Some(new));
    let [old, new] = [old, new].map(quoted);
    diagnostic.code = Code::OldName;
    diagnostic.message = format!("{old} is the old name of the entity {new}");
    diagnostic.hint = Some(format!(
        "{} had that name; `palazzo check --fix` changes the references",
        quoted_unless_plain(file)
    ));
}

/// Reports the later of two files with one id as a copy, and returns it; `None` if the history does
/// not say which is later.
fn explain_same_id(
    finding: &mut CheckFinding,
    other: &str,
    lookup: &RenameLookup<'_>,
) -> Option<String> {
    let histories = lookup.palace().file_histories();
    let created = |file: &str| histories.get(file).map(|it| it.created);
    let diagnostic = &mut finding.diagnostic;
    let file = diagnostic.file.clone();
    let (copy, original) = match (created(&file), created(other)) {
        (None, Some(_)) => (file, other),
        (Some(_), None) => (other.to_owned(), file.as_str()),
        (Some(here), Some(there)) if here > there => (file, other),
        (Some(here), Some(there)) if here < there => (other.to_owned(), file.as_str()),
        _ => return None,
    };
    let original = quoted_unless_plain(original);
    diagnostic.message = format!("this file is a copy of {original}: both have the same id");
    diagnostic.hint = Some("`palazzo check --fix` gives it an id of its own".to_owned());
    diagnostic.file.clone_from(&copy);
    Some(copy)
}

impl OpenPalace {
    /// Returns a line for each file that cannot be read: the error, and what is shown instead.
    pub(crate) fn file_error_notices(&self) -> Vec<String> {
        let errors: Vec<_> =
            self.findings().filter(|it| it.severity() == Severity::Error).collect();
        let mut notices: Vec<_> = errors
            .iter()
            .take(MAX_FILES)
            .map(|it| render_diagnostic_in_one_line(it) + self.fallback_note(it))
            .collect();
        if errors.len() > MAX_FILES {
            let others = errors.len() - MAX_FILES;
            notices.push(format!("and {others} more that `palazzo check` lists"));
        }
        notices
    }

    /// Returns a note on what is shown instead of a file that cannot be read.
    fn fallback_note(&self, error: &Diagnostic) -> &'static str {
        if error.code == Code::Repository {
            return "";
        }
        match self.file_states.state(&error.file) {
            FileState::Stale => " (its last valid content is shown)",
            FileState::Absent => " (none of its content is shown)",
            // Only a part of the file has errors.
            FileState::Present => "",
        }
    }
}

/// Renders a diagnostic in one line that begins with file, line and column.
pub(crate) fn render_diagnostic_in_one_line(
    Diagnostic { file, at, message, .. }: &Diagnostic,
) -> String {
    let (file, message) = (quoted_unless_plain(file), render::whole_line(message));
    format!("{file}:{}:{}: {message}", at.line, at.column)
}
