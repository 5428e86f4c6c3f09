//! Formats files of palaces: `palazzo fmt`.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::palace::accompanying_edits::missing_schema_edits;
use crate::palace::change_plan::ChangeMode;
use crate::palace::findings::{Finding, other_format_finding};
use crate::{Caller, Keeper, Refusal};
use palazzo_core::diff;
use palazzo_core::format::{self, FmtOutcome};
use palazzo_core::model::{Changeset, Diagnostic, FileEdit, FileKind, Files, MAX_FILE_BYTES};
use palazzo_core::render::display_path;
use palazzo_store::{CommitOutcome, Store};

/// Maximum number of attempts if others change the same files.
const MAX_ATTEMPTS: usize = 8;

/// The files of one palace that were formatted, or would be.
#[derive(Clone, Debug, Default)]
pub struct FmtReport {
    /// The directory of the palace.
    pub root: PathBuf,
    /// The path of that directory in its repository: empty, or ending in `/`.
    repository_prefix: String,
    /// The edits that were written, or would be.
    pub edits: Vec<FileEdit>,
    /// The errors because of which files were not formatted.
    pub findings: Vec<Finding>,
    /// The files that cannot be formatted without changing their meaning.
    pub unformattable: Vec<String>,
    /// The number of files that were read.
    pub file_count: usize,
}

/// Formats the files of all palaces of the home, or only those at or below the path `within`;
/// in a dry run writes none. Commits nothing.
pub fn fmt_files(
    keeper: &Keeper,
    caller: &Caller,
    within: Option<&str>,
    mode: ChangeMode,
) -> Result<Vec<FmtReport>, Refusal> {
    let stores = keeper.workspaces()?.into_iter().map(|it| keeper.store_of(&it));
    stores.map(|mut store| fmt_palace(&mut store, caller, within, mode)).collect()
}

impl FmtReport {
    /// Returns the path to a file: relative to `here` if that is above the palace.
    pub fn path_relative_to(&self, file: &str, here: &Path) -> String {
        display_path(here, &self.root, file)
    }

    /// Renders the edits as a patch for `git apply`, with paths from the root of the repository, or
    /// from the palace where there is none.
    pub fn diff(&self) -> String {
        let diff = |it: &FileEdit| {
            let path = format!("{}{}", self.repository_prefix, it.path);
            diff::unified_diff(&path, it.was.as_deref(), it.now.as_deref())
        };
        self.edits.iter().map(diff).collect()
    }
}

fn fmt_palace(
    store: &mut Store,
    caller: &Caller,
    within: Option<&str>,
    mode: ChangeMode,
) -> Result<FmtReport, Refusal> {
    for _ in 0..MAX_ATTEMPTS {
        let report = plan_fmt(store, within)?;
        if mode.is_dry_run() || report.edits.is_empty() {
            return Ok(report);
        }
        let change = Changeset::without_commit(
            "fmt",
            report.edits.clone(),
            caller.author.clone(),
            caller.now,
        );
        if let CommitOutcome::Done(_) = store.commit(&change)? {
            return Ok(report);
        }
    }
    Err(Refusal::Contended)
}

fn plan_fmt(store: &Store, within: Option<&str>) -> Result<FmtReport, Refusal> {
    if let Some(finding) = other_format_finding(store) {
        let root = store.palace_folder().to_owned();
        return Ok(FmtReport { root, findings: vec![finding], ..FmtReport::default() });
    }
    let (mut files, unreadable) = read_palace_files(store, within)?;
    let texts = files.iter().map(|(path, text)| (path.as_str(), text.as_str()));
    let missing = missing_schema_edits(store, texts);
    files.extend(read_schemas(store, within));
    let formatted: Vec<_> = files
        .into_par_iter()
        .filter_map(|(path, text)| Some((format::fmt_file(&path, &text)?, path, text)))
        .collect();
    let (root, repository_prefix) =
        (store.palace_folder().to_owned(), store.prefix_in_repository()?);
    let mut report = FmtReport { root, repository_prefix, ..FmtReport::default() };
    report.findings.extend(unreadable.into_iter().map(|it| Finding::from_diagnostic(it, "")));
    report.file_count = formatted.len() + missing.len();
    report.edits = missing;
    for (outcome, path, was) in formatted {
        match outcome {
            FmtOutcome::Unchanged => {}
            FmtOutcome::Formatted(now) if now.len() <= MAX_FILE_BYTES => {
                report.edits.push(FileEdit { path, was: Some(was), now: Some(now) });
            }
            FmtOutcome::Formatted(_) | FmtOutcome::CannotFormat => report.unformattable.push(path),
            FmtOutcome::HasErrors(errors) => {
                report
                    .findings
                    .extend(errors.into_iter().map(|it| Finding::from_diagnostic(it, &was)));
            }
        }
    }
    Ok(report)
}

/// Reads the copies of schemas in a palace, or those at or below one path.
fn read_schemas(store: &Store, within: Option<&str>) -> Files {
    let is_within = |it: &String| Path::new(it).starts_with(within.unwrap_or_default());
    let paths = FileKind::ALL.map(format::schema_path).into_iter().filter(is_within);
    let read = |path: String| store.read_file(&path).ok().flatten().map(|text| (path, text));
    paths.filter_map(read).collect()
}

/// Reads the files of a palace, or those at or below one path.
pub(crate) fn read_palace_files(
    store: &Store,
    within: Option<&str>,
) -> Result<(Files, Vec<Diagnostic>), Refusal> {
    let (stamps, mut findings) = store.list_files(within.unwrap_or_default())?;
    let mut files = Files::new();
    for (path, read) in store.read_files(stamps.into_keys().collect()) {
        match read {
            Ok(text) => files.extend(text.map(|text| (path, text))),
            Err(finding) => findings.push(finding),
        }
    }
    Ok((files, findings))
}

#[cfg(test)]
mod tests {
    use std::path::MAIN_SEPARATOR_STR;

    use super::*;
    use crate::test_home::{TestHome, ada};
    use palazzo_core::model::Code;

    const HALL: (&str, &str) = ("rooms/hall.yaml", "name:   'Hall'\n");
    const CRYPT: (&str, &str) = ("rooms/crypt.yaml", "portals:\n- hall # up\nname: Grüft\n");

    /// Formats the only palace.
    fn fmt(home: &TestHome, within: Option<&str>, mode: ChangeMode) -> FmtReport {
        fmt_files(&home.keeper, &ada(), within, mode).unwrap().remove(0)
    }

    fn edited_paths(report: &FmtReport) -> Vec<&str> {
        let mut paths: Vec<_> = report.edits.iter().map(|it| it.path.as_str()).collect();
        paths.sort_unstable();
        paths
    }

    #[test]
    fn a_check_lists_edits_and_writes_nothing() {
        let home = TestHome::new(&[HALL, CRYPT]);
        let report = fmt(&home, None, ChangeMode::DryRun);
        assert_eq!(edited_paths(&report), ["rooms/crypt.yaml", "rooms/hall.yaml"]);
        assert_eq!(report.file_count, 3);
        assert_eq!(home.read("rooms/hall.yaml").unwrap(), HALL.1);
    }

    #[test]
    fn formatted_files_need_no_second_formatting() {
        let home = TestHome::new(&[HALL, CRYPT]);
        assert_eq!(fmt(&home, None, ChangeMode::WithoutCommit).edits.len(), 2);
        assert_eq!(home.read("rooms/hall.yaml").unwrap(), "name: Hall\n");
        let crypt = "name: Grüft\nportals:\n  - hall # up\n";
        assert_eq!(home.read("rooms/crypt.yaml").unwrap(), crypt);
        assert_eq!(fmt(&home, None, ChangeMode::WithoutCommit).edits, []);
    }

    #[test]
    fn only_files_at_or_below_a_path_are_formatted() {
        let home = TestHome::new(&[HALL, CRYPT, ("scrolls/hall/a.md", "---\n---\nA.\n")]);
        let report = fmt(&home, Some("rooms/hall.yaml"), ChangeMode::WithoutCommit);
        assert_eq!((edited_paths(&report), report.file_count), (vec!["rooms/hall.yaml"], 1));
        assert_eq!(home.read("rooms/crypt.yaml").unwrap(), CRYPT.1);
        assert_eq!(fmt(&home, Some("rooms"), ChangeMode::DryRun).file_count, 2);
    }

    #[test]
    fn a_broken_file_is_reported_and_the_others_are_formatted() {
        let home = TestHome::new(&[HALL, ("rooms/well.yaml", "name: [Well\n")]);
        let report = fmt(&home, None, ChangeMode::WithoutCommit);
        let files: Vec<_> = report.findings.iter().map(|it| it.diagnostic.file.as_str()).collect();
        assert_eq!(
            (files, edited_paths(&report)),
            (vec!["rooms/well.yaml"], vec!["rooms/hall.yaml"])
        );
        assert_eq!(home.read("rooms/well.yaml").unwrap(), "name: [Well\n");
    }

    #[test]
    fn a_palace_with_another_format_is_left_alone() {
        let home = TestHome::new(&[HALL, ("palace.toml", "format = 2\nname = \"Keep\"\n")]);
        for within in [None, Some("rooms")] {
            let report = fmt(&home, within, ChangeMode::WithoutCommit);
            assert_eq!(report.findings[0].diagnostic.code, Code::FormatVersion);
            assert_eq!(report.edits, []);
        }
        assert_eq!(home.read("rooms/hall.yaml").unwrap(), HALL.1);
    }

    #[test]
    fn the_diff_is_a_patch() {
        let home = TestHome::new(&[HALL]);
        let diff = fmt(&home, None, ChangeMode::DryRun).diff();
        assert!(diff.contains("--- a/rooms/hall.yaml\n+++ b/rooms/hall.yaml\n"), "{diff}");
        assert!(diff.ends_with("-name:   'Hall'\n+name: Hall\n"), "{diff}");
        assert_eq!(FmtReport::default().diff(), "");
    }

    #[test]
    fn paths_are_relative_to_a_folder_above_the_palace() {
        let home = TestHome::new(&[HALL]);
        let report = fmt(&home, None, ChangeMode::DryRun);
        let path = report.path_relative_to("palace.toml", &home.keeper.home);
        assert_eq!(path, ["keep", "palace.toml"].join(MAIN_SEPARATOR_STR));
        let path = report.path_relative_to("palace.toml", Path::new("/elsewhere"));
        assert_eq!(Path::new(&path), report.root.join("palace.toml"));
        let path = report.path_relative_to("rooms/hall.yaml", &report.root);
        assert_eq!(path, ["rooms", "hall.yaml"].join(MAIN_SEPARATOR_STR));
    }
}
