//! Saying what is wrong with palaces.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::check::PalaceCheck;
use crate::format::{PalacePath, ValuePositions, room_path};
use crate::keeper::maintain::doctor;
use crate::keeper::palace::OpenPalace;
use crate::keeper::semantic::models::ModelCache;
use crate::keeper::{Keeper, Refusal};
use crate::model::{Code, Diagnostic, RoomId, Severity, Tool, ValuePath, split_lines};
use crate::render::{self, ReportedFinding};

/// How many findings a room's builder is told of.
const MAX_ROOM_FINDINGS: usize = 5;

/// What was found in all palaces of a home.
#[derive(Clone, Debug, Default)]
pub struct CheckReport {
    /// One for each palace.
    pub palaces: Vec<PalaceReport>,
}

/// What was found in one palace.
#[derive(Clone, Debug)]
pub struct PalaceReport {
    /// Where it lies.
    pub root: PathBuf,
    /// What is wrong or worth knowing, by file and line.
    pub findings: Vec<Finding>,
    /// How many rooms, scrolls and entities were read.
    pub counts: (usize, usize, usize),
}

/// A diagnostic, and what is shown of its file.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What is wrong or worth knowing.
    pub diagnostic: Diagnostic,
    /// The line it is about with a caret below, and the hint; for below it.
    pub source_excerpt: String,
}

impl Keeper {
    /// Reads every palace of the home and says what is wrong with its files,
    /// and with the palace as a whole. `tools` are those that actions can ask.
    pub fn check(&mut self, tools: &[Tool]) -> Result<CheckReport, Refusal> {
        let (mut palaces, mut locks) = (Vec::new(), BTreeSet::new());
        for workspace in self.workspaces()? {
            let models = self.models.clone();
            let held = self.open_workspace(&workspace)?;
            held.check_repository()?;
            let abandoned = doctor::stale_lock_diagnostics(held, &mut locks);
            palaces.push(check_palace(held, tools, &models, abandoned));
        }
        Ok(CheckReport { palaces })
    }
}

impl Finding {
    /// Shows the line of `text` that a finding is about.
    pub fn from_diagnostic(told: Diagnostic, text: &str) -> Self {
        let line = split_lines(text).nth(told.at.line - 1);
        let line = line.filter(|_| !text.is_empty() && !told.code.is_file_level());
        Self { source_excerpt: render::source_excerpt(&told, line), diagnostic: told }
    }
}

impl PalaceReport {
    /// Returns the path to what a finding is about: from `here`, if that is above.
    pub fn finding_path(&self, finding: &Finding, here: &Path) -> String {
        display_path(here, &self.root, &finding.diagnostic.file)
    }
}

impl CheckReport {
    /// Renders what was found as JSON, with paths from `here`.
    pub fn json(&self, here: &Path) -> String {
        render::findings_json(&self.findings_with_paths(here))
    }

    /// Renders what was found as commands to a workflow of GitHub.
    pub fn github_annotations(&self, here: &Path) -> String {
        render::github_annotations(&self.findings_with_paths(here))
    }

    /// Renders what was found as SARIF 2.1.0.
    pub fn sarif(&self, here: &Path) -> String {
        render::sarif_report(&self.findings_with_paths(here))
    }

    /// Counts the findings that are as grave as this.
    pub fn count_with_severity(&self, severity: Severity) -> usize {
        let findings = self.palaces.iter().flat_map(|it| &it.findings);
        findings.filter(|it| it.diagnostic.severity() == severity).count()
    }

    /// Says in one line what was read and how much was found.
    pub fn summary(&self) -> String {
        let total = |of: fn(&(usize, usize, usize)) -> usize| -> usize {
            self.palaces.iter().map(|it| of(&it.counts)).sum()
        };
        let counts = [
            (self.palaces.len(), "palace"),
            (total(|it| it.0), "room"),
            (total(|it| it.1), "scroll"),
            (total(|it| it.2), "entity"),
        ];
        let read = counts.map(|(number, noun)| render::pluralize(number, noun)).join(", ");
        let others = [(Severity::Warning, "warning"), (Severity::Info, "note")];
        let others = others.map(|(severity, noun)| (self.count_with_severity(severity), noun));
        let others = others.into_iter().filter(|(number, _)| *number > 0);
        let found =
            std::iter::once((self.count_with_severity(Severity::Error), "error")).chain(others);
        let found = found.map(|(number, noun)| render::pluralize(number, noun));
        format!("{read}: {}", found.collect::<Vec<_>>().join(", "))
    }

    fn findings_with_paths(&self, here: &Path) -> Vec<ReportedFinding<'_>> {
        let findings = self.palaces.iter().flat_map(|it| it.findings.iter().map(move |f| (it, f)));
        let reported = findings.map(|(palace, finding)| ReportedFinding {
            path: palace.finding_path(finding, here).replace('\\', "/"),
            finding: &finding.diagnostic,
        });
        reported.collect()
    }
}

/// Returns the path to a file of a palace: from `here`, if that is above.
pub(crate) fn display_path(here: &Path, root: &Path, file: &str) -> String {
    root.strip_prefix(here).unwrap_or(root).join(file).display().to_string()
}

/// Tells in a few lines what a check would find wrong with a room that was just
/// built, and which of the rooms that were `beside` it cannot be reached any more;
/// nothing where it would find nothing.
pub(crate) fn summarize_room_findings(
    held: &OpenPalace,
    room: &RoomId,
    beside: &[RoomId],
    tools: &[Tool],
) -> String {
    let (survey, file) = (prepare_checks(held, tools), room_path(room));
    let read = held.findings_in(&file).map(|it| (it.clone(), None));
    let seen =
        survey.room_findings(room).into_iter().map(|it| (it.diagnostic, Some(it.value_path)));
    // Who builds a room that shows what is not there may have meant something else.
    let is_told = |it: &Diagnostic| {
        it.severity() < Severity::Info
            || matches!(
                it.code,
                Code::UndefinedEntity | Code::UndefinedGenus | Code::UndefinedAttribute
            )
    };
    let about = read.chain(seen).filter(|(it, _)| is_told(it)).collect();
    let mut told = locate_findings(held, &file, about);
    for cut_off in beside.iter().filter_map(|it| survey.check_reachable(it)) {
        let (file, about) = (cut_off.diagnostic.file.clone(), Some(cut_off.value_path));
        told.extend(locate_findings(held, &file, vec![(cut_off.diagnostic, about)]));
    }
    told.sort_by_key(|it| it.diagnostic.severity());
    let lines: Vec<_> =
        told.iter().take(MAX_ROOM_FINDINGS).map(|it| format!("\n  {}", it.diagnostic)).collect();
    let is_grave = told.iter().any(|it| it.diagnostic.severity() < Severity::Info);
    let head = if is_grave { "Something is wrong there" } else { "Worth knowing" };
    match told.len().saturating_sub(MAX_ROOM_FINDINGS) {
        _ if told.is_empty() => String::new(),
        0 => format!("{head}:{}\n", lines.concat()),
        left => format!("{head}:{}\n  and {left} more\n", lines.concat()),
    }
}

fn prepare_checks<'a>(held: &'a OpenPalace, tools: &'a [Tool]) -> PalaceCheck<'a> {
    let errors = held.findings().filter(|it| it.severity() == Severity::Error);
    let broken: BTreeSet<_> = errors.map(|it| it.file.as_str()).collect();
    PalaceCheck { palace: &held.palace, tools, unreadable_files: broken, room_file: room_path }
}

fn check_palace(
    held: &OpenPalace,
    tools: &[Tool],
    models: &ModelCache,
    locks: Vec<Diagnostic>,
) -> PalaceReport {
    let palace = &held.palace;
    let remarks = prepare_checks(held, tools)
        .findings()
        .into_iter()
        .map(|it| (it.diagnostic, Some(it.value_path)));
    let found = held.findings().map(|it| (it.clone(), None));
    let fault = held.model_error(models).map(|why| {
        let finding = Diagnostic::for_file(Code::BadModel, PalacePath::SETTINGS_FILE, why);
        (finding, Some(ValuePath::ROOT.then_value("search").then_value("model")))
    });
    let consent =
        held.store().tools_consent_finding(PalacePath::SETTINGS_FILE, &palace.settings.allow);
    let consent =
        consent.map(|it| (it, Some(ValuePath::ROOT.then_value("actions").then_value("allow"))));
    let repository = held.store().repository_findings().into_iter().chain(locks);
    let repository = repository.map(|it| (it, None));
    let mut files: BTreeMap<String, Vec<(Diagnostic, Option<ValuePath>)>> = BTreeMap::new();
    for (finding, about) in found.chain(remarks).chain(fault).chain(consent).chain(repository) {
        files.entry(finding.file.clone()).or_default().push((finding, about));
    }
    let placed =
        files.into_iter().flat_map(|(file, findings)| locate_findings(held, &file, findings));
    let counts = (palace.rooms().len(), palace.scrolls().count(), palace.graph.len());
    PalaceReport { root: held.store().root().to_owned(), findings: placed.collect(), counts }
}

/// Finds the places of what is said about one file, and shows the lines there.
fn locate_findings(
    held: &OpenPalace,
    file: &str,
    findings: Vec<(Diagnostic, Option<ValuePath>)>,
) -> Vec<Finding> {
    let text = held.store().read_file(file).ok().flatten().unwrap_or_default();
    let spots = ValuePositions::parse(file, &text);
    let mut placed = Vec::new();
    for (mut told, about) in findings {
        if let Some(about) = about {
            told.at = spots.position_of(&about);
        }
        placed.push(Finding::from_diagnostic(told, &text));
    }
    placed.sort_by(|a, b| {
        (a.diagnostic.at, &a.diagnostic.message).cmp(&(b.diagnostic.at, &b.diagnostic.message))
    });
    placed
}
