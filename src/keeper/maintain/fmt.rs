//! Formats files of palaces: `palazzo fmt`.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::diff;
use crate::format::{self, FmtOutcome};
use crate::keeper::palace::change_plan::missing_schema_edits;
use crate::keeper::palace::findings::Finding;
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{Changeset, Diagnostic, FileEdit, FileKind, Files, MAX_FILE_BYTES};
use crate::render::display_path;
use crate::store::{CommitOutcome, Store};

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
/// writes them if `is_write`. Commits nothing.
pub fn fmt_files(
    keeper: &Keeper,
    caller: &Caller,
    within: Option<&str>,
    is_write: bool,
) -> Result<Vec<FmtReport>, Refusal> {
    let stores = keeper.workspaces()?.into_iter().map(|it| keeper.store_of(&it));
    stores.map(|mut store| fmt_palace(&mut store, caller, within, is_write)).collect()
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
    is_write: bool,
) -> Result<FmtReport, Refusal> {
    for _ in 0..MAX_ATTEMPTS {
        let report = plan_fmt(store, within)?;
        if !is_write || report.edits.is_empty() {
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
