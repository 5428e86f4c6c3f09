//! Bringing the files of palaces into canonical form.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::diff;
use crate::format::{self, FmtOutcome};
use crate::keeper::maintain::check::{Finding, display_path};
use crate::keeper::palace::missing_schema_edits;
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{Change, Diagnostic, Edit, FileKind, Files, MAX_FILE_BYTES};
use crate::store::{CommitOutcome, Store};

/// How often files are read anew that somebody else is changing meanwhile.
const MAX_ATTEMPTS: usize = 8;

/// What became of the files of one palace.
#[derive(Clone, Debug, Default)]
pub struct FmtReport {
    /// Where the palace lies.
    pub root: PathBuf,
    /// Where that is in its repository: nothing, or a path that ends in `/`.
    repository_prefix: String,
    /// What was written, or would be.
    pub edits: Vec<Edit>,
    /// What is wrong with the files that were left alone for it.
    pub findings: Vec<Finding>,
    /// The files that cannot be tidied so that they say the same.
    pub unformattable: Vec<String>,
    /// How many files were looked at.
    pub file_count: usize,
}

impl Keeper {
    /// Brings the files of all palaces of the home into canonical form, or those
    /// at or below the path `within` alone. If not to `write`, only tells what
    /// would become of them. Nothing is committed.
    pub fn fmt_files(
        &self,
        by: &Caller,
        within: Option<&str>,
        write: bool,
    ) -> Result<Vec<FmtReport>, Refusal> {
        let stores = self.workspaces()?.into_iter().map(|it| self.store_of(&it));
        stores.map(|mut store| fmt_palace(&mut store, by, within, write)).collect()
    }
}

impl FmtReport {
    /// Returns the path to one of the files: from `here`, if that is above.
    pub fn path_from(&self, file: &str, here: &Path) -> String {
        display_path(here, &self.root, file)
    }

    /// Renders what was done as a patch for `git apply`, with paths from the root of
    /// the repository; where there is none, from the palace.
    pub fn diff(&self) -> String {
        let diff = |it: &Edit| {
            let path = format!("{}{}", self.repository_prefix, it.path);
            diff::unified_diff(&path, it.was.as_deref(), it.now.as_deref())
        };
        self.edits.iter().map(diff).collect()
    }
}

fn fmt_palace(
    store: &mut Store,
    by: &Caller,
    within: Option<&str>,
    write: bool,
) -> Result<FmtReport, Refusal> {
    for _ in 0..MAX_ATTEMPTS {
        let tidying = plan_fmt(store, within)?;
        if !write || tidying.edits.is_empty() {
            return Ok(tidying);
        }
        let change = Change::uncommitted("tidy", tidying.edits.clone(), by.author.clone(), by.now);
        if let CommitOutcome::Done(_) = store.commit(&change)? {
            return Ok(tidying);
        }
    }
    Err(Refusal::Contended)
}

fn plan_fmt(store: &Store, within: Option<&str>) -> Result<FmtReport, Refusal> {
    let (mut files, unreadable) = read_palace_files(store, within)?;
    let texts = files.iter().map(|(path, text)| (path.as_str(), text.as_str()));
    let missing = missing_schema_edits(store, texts);
    files.extend(read_schemas(store, within));
    let tidied: Vec<_> = files
        .into_par_iter()
        .filter_map(|(path, read_for_change)| {
            Some((format::fmt_file(&path, &read_for_change)?, path, read_for_change))
        })
        .collect();
    let (root, place) = (store.root().to_owned(), store.prefix_in_repository()?);
    let mut tidying = FmtReport { root, repository_prefix: place, ..FmtReport::default() };
    tidying.findings.extend(unreadable.into_iter().map(|it| Finding::from_diagnostic(it, "")));
    tidying.file_count = tidied.len() + missing.len();
    tidying.edits = missing;
    for (tidied, path, was) in tidied {
        match tidied {
            FmtOutcome::Unchanged => {}
            FmtOutcome::Formatted(now) if now.len() <= MAX_FILE_BYTES => {
                tidying.edits.push(Edit { path, was: Some(was), now: Some(now) });
            }
            FmtOutcome::Formatted(_) | FmtOutcome::CannotFormat => tidying.unformattable.push(path),
            FmtOutcome::HasErrors(found) => {
                tidying
                    .findings
                    .extend(found.into_iter().map(|it| Finding::from_diagnostic(it, &was)));
            }
        }
    }
    Ok(tidying)
}

/// Reads the schemas that a palace keeps for editors, or those at or below one path.
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
