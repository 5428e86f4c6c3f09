//! Checks palaces: `palazzo check`. Lists the findings of one palace for agents.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::conflicts::conflict_findings;
use crate::maintain::dead_note_links::dead_note_link_findings;
use crate::maintain::doctor;
use crate::maintain::memory_consents::memory_consent_findings;
use crate::palace::findings::{
    Finding, explain_findings, prepare_checks, resolve_diagnostic_positions,
};
use crate::palace::{OpenPalace, room_scope};
use crate::semantic::ModelCache;
use crate::{Caller, Keeper, Refusal};
use palazzo_core::format::PalacePath;
use palazzo_core::model::{Code, Diagnostic, Severity, Tool, ValuePath};
use palazzo_core::render::{self, PalaceFindings, ReportedFinding, display_path};

/// The findings in all palaces of a home.
#[derive(Clone, Debug, Default)]
pub struct CheckReport {
    /// One for each palace.
    pub palaces: Vec<PalaceCheckReport>,
    /// What is not read, because it is not checked out or cannot be read, each once.
    pub warnings: Vec<String>,
}

/// The findings in one palace.
#[derive(Clone, Debug)]
pub struct PalaceCheckReport {
    /// The directory of the palace.
    pub root: PathBuf,
    /// The findings, by file and line.
    pub findings: Vec<Finding>,
    /// How many findings `silence` in `palace.toml` leaves out.
    pub silenced_count: usize,
    /// How many rooms, scrolls, entities and drawers were read.
    pub counts: (usize, usize, usize, usize),
}

/// Checks the files of every palace of the home, and each palace as a whole. `tools` are those that
/// actions can call.
pub fn check_palaces(keeper: &mut Keeper, tools: &[Tool]) -> Result<CheckReport, Refusal> {
    let (mut palaces, mut locks, mut warnings) = (Vec::new(), BTreeSet::new(), Vec::new());
    let names = keeper.workspace_keys_and_names()?;
    for workspace in keeper.workspaces()? {
        let models = keeper.models.clone();
        let palace = keeper.open_workspace(&workspace)?;
        palace.check_last_commit_readable()?;
        warnings.extend(palace.store().sparse_checkout_warning());
        let unreadable = palace.store().unreadable_user_file_warning();
        warnings.extend(unreadable.filter(|it| !warnings.contains(it)));
        let stale_locks = doctor::stale_lock_diagnostics(palace, &mut locks);
        palaces.push(check_palace(palace, (tools, &names), &models, stale_locks)?);
    }
    Ok(CheckReport { palaces, warnings })
}

/// Lists, for agents, the findings of one palace and the genera that no room shows. The palace is
/// the one that the caller acts on; `tools` are those that actions can call.
pub fn list_findings(
    keeper: &mut Keeper,
    caller: &Caller,
    tools: &[Tool],
) -> Result<PalaceFindings, Refusal> {
    let key = keeper.session(caller)?.key;
    list_findings_of_palace(keeper, &key, tools)
}

impl PalaceCheckReport {
    /// Returns the path to the file of a finding: relative to `here` if that is above the palace.
    pub fn finding_path(&self, finding: &Finding, here: &Path) -> String {
        display_path(here, &self.root, &finding.diagnostic.file)
    }
}

impl CheckReport {
    /// Returns the report with only the findings of `level` and above. All are counted in the
    /// summary.
    #[must_use]
    pub fn shown_from(&self, level: Severity) -> Self {
        let mut shown = self.clone();
        for palace in &mut shown.palaces {
            palace.findings.retain(|it| it.diagnostic.severity() <= level);
        }
        shown
    }

    /// Renders the findings as JSON, with paths relative to `here`.
    pub fn json(&self, here: &Path) -> String {
        render::findings_json(&self.findings_with_paths(here))
    }

    /// Renders the findings as commands of a GitHub workflow.
    pub fn github_annotations(&self, here: &Path) -> String {
        render::github_annotations(&self.findings_with_paths(here))
    }

    /// Renders the findings as SARIF 2.1.0.
    pub fn sarif(&self, here: &Path) -> String {
        render::sarif_report(&self.findings_with_paths(here))
    }

    /// Counts the findings of a severity.
    pub fn count_with_severity(&self, severity: Severity) -> usize {
        let findings = self.palaces.iter().flat_map(|it| &it.findings);
        findings.filter(|it| it.diagnostic.severity() == severity).count()
    }

    /// Counts in one line the items that were read and the findings.
    pub fn summary(&self) -> String {
        let total = |of: fn(&(usize, usize, usize, usize)) -> usize| -> usize {
            self.palaces.iter().map(|it| of(&it.counts)).sum()
        };
        let counts = [
            (self.palaces.len(), "palace"),
            (total(|it| it.0), "room"),
            (total(|it| it.1), "scroll"),
            (total(|it| it.2), "entity"),
            (total(|it| it.3), "drawer"),
        ];
        let counts = counts.into_iter().filter(|it| *it != (0, "drawer"));
        let read = counts.map(|(number, noun)| render::count_with_noun(number, noun));
        let read = read.collect::<Vec<_>>().join(", ");
        let others = [(Severity::Warning, "warning"), (Severity::Info, "note")];
        let others = others.map(|(severity, noun)| (self.count_with_severity(severity), noun));
        let others = others.into_iter().filter(|(number, _)| *number > 0);
        let totals =
            std::iter::once((self.count_with_severity(Severity::Error), "error")).chain(others);
        let totals = totals.map(|(number, noun)| render::count_with_noun(number, noun));
        let silenced: usize = self.palaces.iter().map(|it| it.silenced_count).sum();
        let silenced = (silenced > 0).then(|| format!("{silenced} silenced"));
        format!("{read}: {}", totals.chain(silenced).collect::<Vec<_>>().join(", "))
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

/// Checks the files of one palace, and the palace as a whole. `locks` are findings about its
/// repository that are known already.
pub(crate) fn check_palace(
    open: &mut OpenPalace,
    (tools, workspaces): (&[Tool], &[String]),
    models: &ModelCache,
    locks: Vec<Diagnostic>,
) -> Result<PalaceCheckReport, Refusal> {
    open.find_renamed_rooms()?;
    if open.names_files() || open.palace.settings.stale_fact_days.is_some() {
        open.update_file_history_cache()?;
    }
    let mut item_findings = prepare_checks(open, tools, workspaces).findings();
    explain_findings(open, &mut item_findings)?;
    let (open, palace) = (&*open, &open.palace);
    let item_findings = item_findings.into_iter().map(|it| (it.diagnostic, Some(it.value_path)));
    let file_findings = open.findings().cloned().chain(open.text_warnings()).map(|it| (it, None));
    let locks = locks.into_iter().map(|it| (it, None));
    let mut by_file: BTreeMap<String, Vec<(Diagnostic, Option<ValuePath>)>> = BTreeMap::new();
    let all = file_findings.chain(item_findings).chain(conflict_findings(open));
    let all = all.chain(findings_outside_items(open, models));
    let all = all.chain(open.stale_file_findings().into_iter().map(|it| (it, None)));
    let all = all.chain(open.stale_fact_findings());
    let all = all.chain(dead_note_link_findings(open).into_iter().map(|it| (it, None)));
    // In a palace of another format, other rules hold for all other files.
    let has_own_format = open.check_format_version().is_ok();
    let all = all.filter(|(it, _)| has_own_format || it.file == PalacePath::SETTINGS_FILE);
    let all = all.chain(locks);
    let (mut silenced_count, silenced) = (0, &palace.settings.silenced_codes);
    for (diagnostic, value_path) in all {
        if silenced.contains(&diagnostic.code) {
            silenced_count += 1;
            continue;
        }
        by_file.entry(diagnostic.file.clone()).or_default().push((diagnostic, value_path));
    }
    let findings =
        by_file.into_iter().flat_map(|(file, it)| resolve_diagnostic_positions(open, &file, it));
    let counts =
        (palace.rooms().len(), palace.scrolls().count(), palace.graph.len(), palace.drawers.len());
    let (root, findings) = (open.store().palace_folder().to_owned(), findings.collect());
    Ok(PalaceCheckReport { root, findings, silenced_count, counts })
}

/// Returns the findings about what a palace needs besides its items: the model, the consent to its
/// tools, the repository. Each has the path of its value.
pub(crate) fn findings_outside_items(
    open: &OpenPalace,
    models: &ModelCache,
) -> Vec<(Diagnostic, Option<ValuePath>)> {
    let model_error = open.model_error(models).map(|why| {
        let diagnostic = Diagnostic::for_file(Code::BadModel, PalacePath::SETTINGS_FILE, why);
        (diagnostic, Some(ValuePath::ROOT.then_value("search").then_value("model")))
    });
    let allowed = &open.palace.settings.allowed_tools;
    let consent = open.store().tools_consent_finding(PalacePath::SETTINGS_FILE, allowed);
    let consent =
        consent.map(|it| (it, Some(ValuePath::ROOT.then_value("actions").then_value("allow"))));
    // A file with conflict markers has its own finding.
    let is_marked =
        |it: &Diagnostic| open.findings_in(&it.file).any(|it| it.code == Code::MergeConflict);
    let unmerged = open.store().unmerged_file_findings().into_iter().filter(|it| !is_marked(it));
    let repository = open.store().repository_findings().into_iter().chain(unmerged);
    let repository = repository.chain(memory_consent_findings(open.store()));
    model_error.into_iter().chain(consent).chain(repository.map(|it| (it, None))).collect()
}

/// Lists the findings in the open palace with the key `key`, as it is in memory.
pub(crate) fn list_findings_of_palace(
    keeper: &mut Keeper,
    key: &str,
    tools: &[Tool],
) -> Result<PalaceFindings, Refusal> {
    let names = keeper.workspace_keys_and_names()?;
    let models = keeper.models.clone();
    let open = keeper.open_palace(key)?;
    let report = check_palace(open, (tools, &names), &models, Vec::new())?;
    let unshown_genera = room_scope::unshown_genera(&open.palace);
    Ok(PalaceFindings {
        name: open.palace.settings.name.clone(),
        findings: report.findings.into_iter().map(|it| it.diagnostic).collect(),
        unshown_genera,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::{TestHome, ada};
    use palazzo_core::model::Code;

    const FINE: &str = "name: Hall\ndescription: Stone.\nactions:\n  - label: Listen\n    \
        type: text\n    content: Drip.\n";

    fn check(home: &mut TestHome) -> CheckReport {
        check_palaces(&mut home.keeper, &[]).unwrap()
    }

    /// Returns the findings of the first palace, as `file:line code`.
    fn codes(report: &CheckReport) -> Vec<String> {
        let findings = report.palaces[0].findings.iter().map(|it| &it.diagnostic);
        findings.map(|it| format!("{}:{} {}", it.file, it.at.line, it.code)).collect()
    }

    #[test]
    fn a_palace_without_faults_has_no_findings() {
        let mut home = TestHome::new(&[("rooms/hall.yaml", FINE)]);
        let report = check(&mut home);
        assert_eq!(codes(&report), [""; 0]);
        assert_eq!(report.summary(), "1 palace, 1 room, 0 scrolls, 0 entities: 0 errors");
    }

    #[test]
    fn findings_are_sorted_by_file_and_line() {
        let mut home = TestHome::new(&[
            ("rooms/hall.yaml", "nmae: A\nname: Hall\ndescription: Stone.\nnotes: none\n"),
            ("entities/rock/a.yaml", "name: Granite\ngenus: Rock\ncolour: grey\n"),
        ]);
        let found = codes(&check(&mut home));
        let errors: Vec<_> = found.iter().filter(|it| it.ends_with("unknown-key")).collect();
        let expected = [
            "entities/rock/a.yaml:3 unknown-key",
            "rooms/hall.yaml:1 unknown-key",
            "rooms/hall.yaml:4 unknown-key",
        ];
        assert_eq!(errors, expected);
    }

    #[test]
    fn the_summary_counts_findings_by_severity() {
        let mut home = TestHome::new(&[("rooms/hall.yaml", "name: Hall\n")]);
        let report = check(&mut home);
        assert_eq!(codes(&report), ["rooms/hall.yaml:1 empty-room"]);
        assert_eq!(report.count_with_severity(Severity::Error), 0);
        assert_eq!(report.summary(), "1 palace, 1 room, 0 scrolls, 0 entities: 0 errors, 1 note");
    }

    #[test]
    fn silenced_codes_are_only_counted_and_a_level_hides_the_rest() {
        let mut home = TestHome::new(&[("rooms/hall.yaml", "name: Hall\nportals: [attic]\n")]);
        let settings = |codes: &str| format!("name = \"Keep\"\n[check]\nsilence = [{codes}]\n");
        home.write("palace.toml", &settings("\"empty-room\""));
        let report = check(&mut home);
        assert_eq!(codes(&report), ["rooms/hall.yaml:2 unfinished-room"]);
        let summary = "1 palace, 1 room, 0 scrolls, 0 entities: 0 errors, 1 note, 1 silenced";
        assert_eq!(report.summary(), summary);
        assert_eq!(codes(&report.shown_from(Severity::Warning)), [""; 0]);
        let home = TestHome::new(&[]);
        home.write("palace.toml", &settings("\"empty-rom\", \"syntax\""));
        let report = check(&mut { home }).shown_from(Severity::Error);
        let messages = report.palaces[0].findings.iter().map(|it| it.diagnostic.message.as_str());
        let expected = [
            "`syntax` is an error, and errors are always reported",
            "there is no code `empty-rom`; did you mean `empty-room`?",
        ];
        assert_eq!(messages.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn every_palace_of_the_home_is_checked() {
        let mut home = TestHome::new(&[
            ("rooms/hall.yaml", FINE),
            ("../attic/palace.toml", "name = \"Attic\"\n"),
            ("../attic/rooms/hall.yaml", "nmae: Hall\n"),
        ]);
        let report = check(&mut home);
        let counts: Vec<_> = report.palaces.iter().map(|it| it.findings.is_empty()).collect();
        assert_eq!(counts, [false, true]);
        let here = home.keeper.home.clone();
        assert!(report.json(&here).contains("\"attic/rooms/hall.yaml\""), "{}", report.json(&here));
    }

    #[test]
    fn a_door_leads_to_a_palace_of_the_home_by_directory_or_name() {
        let door = |workspace: &str| {
            format!("{FINE}  - {{ label: Go, type: navigate, room: a, workspace: {workspace} }}\n")
        };
        for (workspace, found) in [("attic", 0), ("roof", 0), ("rooof", 1)] {
            let report = check(&mut TestHome::new(&[
                ("rooms/hall.yaml", &door(workspace)),
                ("../attic/palace.toml", "name = \"Roof\"\n"),
            ]));
            let findings = report.palaces.iter().flat_map(|it| &it.findings);
            assert_eq!(findings.count(), found, "{workspace}");
        }
    }

    #[test]
    fn a_home_without_palaces_is_summarized() {
        assert_eq!(
            CheckReport::default().summary(),
            "0 palaces, 0 rooms, 0 scrolls, 0 entities: 0 errors"
        );
    }

    #[test]
    fn annotations_name_the_file_below_the_current_folder() {
        let mut home = TestHome::new(&[("rooms/hall.yaml", "nmae: Hall\n")]);
        let report = check(&mut home);
        let here = home.keeper.home.clone();
        let annotations = report.github_annotations(&here);
        assert!(annotations.contains("::error file=keep/rooms/hall.yaml,line=1"), "{annotations}");
        let sarif: serde_json::Value = serde_json::from_str(&report.sarif(&here)).unwrap();
        let uri = "/runs/0/results/0/locations/0/physicalLocation/artifactLocation/uri";
        assert_eq!(sarif.pointer(uri).unwrap(), "keep/rooms/hall.yaml");
    }

    const GRANITE: (&str, &str) = ("entities/rock/granite.yaml", "name: Granite\ngenus: Rock\n");
    const EVE: (&str, &str) = ("entities/person/eve.yaml", "name: Eve\ngenus: Person\n");

    fn findings(files: &[(&str, &str)]) -> PalaceFindings {
        list_findings(&mut TestHome::new(files).keeper, &ada(), &[]).unwrap()
    }

    fn room_with_action(tool: &str, params: &str) -> String {
        format!(
            "name: Hall\ndescription: Stone.\nactions:\n- label: Look\n  type: query\n  \
             tool: {tool}\n  tool_params: {params}\n"
        )
    }

    #[test]
    fn the_findings_are_those_of_a_check() {
        let found =
            findings(&[("rooms/hall.yaml", "name: Hall\n"), ("rooms/well.yaml", "nmae: A\n")]);
        let codes: Vec<_> = found.findings.iter().map(|it| it.code).collect();
        assert!(codes.contains(&Code::EmptyRoom) && codes.contains(&Code::UnknownKey), "{codes:?}");
        assert_eq!(found.name, "Keep");
    }

    #[test]
    fn a_genus_is_shown_if_an_action_or_a_grouping_of_a_room_mentions_it() {
        let unshown = |hall: &str| {
            let found = findings(&[GRANITE, EVE, ("rooms/hall.yaml", hall)]).unshown_genera;
            found.into_iter().map(|(genus, count)| format!("{genus} {count}")).collect::<Vec<_>>()
        };
        assert_eq!(unshown("name: Hall\n"), ["Person 1", "Rock 1"]);
        assert_eq!(unshown(&room_with_action("list_entities", "{ genus: rock }")), ["Person 1"]);
        assert_eq!(unshown(&room_with_action("get_entity", "{ name: EVE }")), ["Rock 1"]);
        assert_eq!(unshown(&room_with_action("search_entities", "{}")), ["Person 1", "Rock 1"]);
        assert_eq!(unshown(&room_with_action("list_entities", "{}")), [""; 0]);
        assert_eq!(unshown("name: Hall\ngenerate: { genus: Rock }\n"), ["Person 1"]);
        assert_eq!(unshown("name: Hall\ngenerate: { by: genus }\n"), [""; 0]);
    }
}
