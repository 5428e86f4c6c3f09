//! Deletes the files of conflicts that are settled: `palazzo check --fix`.

use std::collections::BTreeSet;

use crate::conflicts::findings::settled_finding;
use crate::maintain::fix::FixReport;
use crate::palace::OpenPalace;
use crate::palace::change_plan::{ChangeMode, ChangeOptions, ChangePlan};
use crate::{Caller, Keeper, Refusal, Session};
use palazzo_core::model::{Diagnostic, FileEdit};

/// Deletes the settled conflicts of all palaces of the home, except those whose files were written
/// by the fixes in `earlier`: a person should see them once. Commits nothing.
pub fn fix_settled_conflicts(
    keeper: &mut Keeper,
    caller: &Caller,
    earlier: &[FixReport],
) -> Result<Vec<FixReport>, Refusal> {
    let mut reports = Vec::new();
    for workspace in keeper.workspaces()? {
        let mut session = match keeper.session_in(&workspace.key, caller) {
            Err(Refusal::OtherFormat(_)) => continue,
            session => session?,
        };
        reports.push(fix_palace(&mut session, earlier)?);
    }
    Ok(reports)
}

fn fix_palace(session: &mut Session<'_>, earlier: &[FixReport]) -> Result<FixReport, Refusal> {
    let root = session.palace.store().palace_folder().to_owned();
    let mut report = FixReport { root, ..FixReport::default() };
    let written = earlier.iter().filter(|it| it.root == report.root).flat_map(|it| &it.edits);
    let written: BTreeSet<_> = written.map(|it| it.path.as_str()).collect();
    if session.palace.settled_conflicts().iter().all(|it| written.contains(it)) {
        return Ok(report);
    }
    let mode = ChangeMode::WithoutCommit;
    report.edits =
        session.palace.change_files(session.caller, &ChangeOptions::in_mode(mode), |open| {
            let edits = plan_deletions(open, &written);
            Ok(ChangePlan { edits, subject: "fix".to_owned(), body: String::new() })
        })?;
    let is_conflict = |it: &&FileEdit| it.now.is_none();
    let fixed = report.edits.iter().filter(is_conflict).map(|it| settled_finding(&it.path));
    report.fixed = fixed.collect::<Vec<Diagnostic>>();
    Ok(report)
}

fn plan_deletions(open: &OpenPalace, written: &BTreeSet<&str>) -> Vec<FileEdit> {
    let settled = open.settled_conflicts().into_iter().filter(|it| !written.contains(it));
    let edits = settled.filter_map(|path| {
        let was = open.store().read_file(path).ok()?;
        Some(FileEdit { path: path.to_owned(), was, now: None })
    });
    edits.collect()
}
