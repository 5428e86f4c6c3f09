//! Corrects what refers to rooms and entities that were renamed by hand, and gives copied files ids
//! of their own: `palazzo check --fix`.

use std::collections::{BTreeMap, BTreeSet};

use crate::graph::entity_file_edits::EntityFileEdits;
use crate::graph::references;
use crate::maintain::fix::FixReport;
use crate::palace::OpenPalace;
use crate::palace::change_plan::{ChangeMode, ChangeOptions, ChangePlan};
use crate::palace::findings::{
    Explanations, explain_findings, prepare_checks, resolve_diagnostic_positions,
};
use crate::rooms::room_plans::{
    RoomRename, plan_drawer_moves, plan_reference_edits, plan_scroll_moves,
};
use crate::{Caller, Keeper, Refusal, Session};
use palazzo_core::check::CheckFinding;
use palazzo_core::format;
use palazzo_core::model::{Code, Diagnostic, Entity, FileEdit, Files, RoomId};

/// Renames doors, scrolls, drawers, tasks, processes, relations and the entry in all palaces of the
/// home, where a room or an entity was renamed by hand. Commits nothing.
pub fn fix_renames_and_copies(
    keeper: &mut Keeper,
    caller: &Caller,
) -> Result<Vec<FixReport>, Refusal> {
    let mut reports = Vec::new();
    for workspace in keeper.workspaces()? {
        let mut session = match keeper.session_in(&workspace.key, caller) {
            Err(Refusal::OtherFormat(_)) => continue,
            session => session?,
        };
        let mut report = fix_palace(&mut session)?;
        // Of several copies of one file, each run finds one.
        while report.fixed.last().is_some_and(|it| it.code == Code::SameId) {
            let more = fix_palace(&mut session)?.fixed;
            if more.is_empty() {
                break;
            }
            report.fixed.extend(more);
        }
        reports.push(report);
    }
    Ok(reports)
}

fn fix_palace(session: &mut Session<'_>) -> Result<FixReport, Refusal> {
    let open = &mut *session.palace;
    let mut findings = prepare_checks(open, &[], &[]).findings();
    let Explanations { rooms, entities, copies } = explain_findings(open, &mut findings)?;
    let root = open.store().palace_folder().to_owned();
    let mut report = FixReport { root, ..FixReport::default() };
    let positioned = position_findings(open, findings, &copies);
    let mut fixed_codes = BTreeSet::new();
    if !rooms.is_empty() && write_unless_broken(session, |it| plan_room_fixes(it, &rooms))? {
        fixed_codes.extend([Code::LostScroll, Code::LostEntry, Code::OldName]);
    }
    for (old, new) in &entities {
        if write_unless_broken(session, |it| plan_entity_fixes(it, old, new))? {
            fixed_codes.insert(Code::OldName);
        }
    }
    for copy in &copies {
        let id = session.new_id();
        let renew = |open: &mut OpenPalace| {
            let was = open.read_file_for_change(copy)?;
            let files = Files::from_iter(was.clone().map(|it| (copy.clone(), it)));
            let renewed = format::renew_ids(&files, || id).into_iter();
            let new = renewed.map(|(path, text)| FileEdit { path, was: None, now: Some(text) });
            let mut edits: Vec<_> = new.collect();
            match edits.iter_mut().find(|it| it.path == *copy) {
                Some(edit) => edit.was = was,
                None => edits.push(FileEdit { path: copy.clone(), was, now: None }),
            }
            Ok(edits)
        };
        if write_unless_broken(session, renew)? {
            fixed_codes.insert(Code::SameId);
        }
    }
    let is_fixed = |it: &Diagnostic| fixed_codes.contains(&it.code);
    report.fixed = positioned.into_iter().filter(is_fixed).collect();
    Ok(report)
}

/// Returns the findings that can be fixed, with their positions.
fn position_findings(
    open: &OpenPalace,
    findings: Vec<CheckFinding>,
    copies: &[String],
) -> Vec<Diagnostic> {
    let is_fixable = |it: &CheckFinding| {
        let is_hinted = it.diagnostic.hint.as_ref().is_some_and(|it| it.contains("check --fix"));
        let is_explained = is_hinted && it.subject.is_some();
        is_explained && (it.diagnostic.code != Code::SameId || copies.contains(&it.diagnostic.file))
    };
    let mut by_file: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for it in findings.into_iter().filter(is_fixable) {
        let of_file = by_file.entry(it.diagnostic.file.clone()).or_default();
        of_file.push((it.diagnostic, Some(it.value_path)));
    }
    let positioned =
        by_file.into_iter().flat_map(|(file, it)| resolve_diagnostic_positions(open, &file, it));
    positioned.map(|it| it.diagnostic).collect()
}

/// Writes the edits, and returns whether there were any. Writes nothing if one of the files has
/// errors: they are reported by the check.
fn write_unless_broken(
    session: &mut Session<'_>,
    plan: impl Fn(&mut OpenPalace) -> Result<Vec<FileEdit>, Refusal>,
) -> Result<bool, Refusal> {
    let mode = ChangeMode::WithoutCommit;
    let written = session.palace.change_files(
        session.caller,
        &ChangeOptions::exclusive_in_mode(mode),
        |open| {
            Ok(ChangePlan { edits: plan(open)?, subject: "fix".to_owned(), body: String::new() })
        },
    );
    match written {
        Ok(edits) => Ok(!edits.is_empty()),
        Err(Refusal::BrokenFile(_) | Refusal::UneditableFormatting { .. }) => Ok(false),
        Err(refusal) => Err(refusal),
    }
}

fn plan_room_fixes(
    open: &mut OpenPalace,
    rooms: &BTreeMap<RoomId, RoomId>,
) -> Result<Vec<FileEdit>, Refusal> {
    let palace = open.palace.clone();
    let rename = RoomRename::new(&palace, rooms);
    let (mut edits, _) = plan_reference_edits(open, &palace, &rename, rooms)?;
    for (old, new) in rooms {
        edits.extend(plan_scroll_moves(open, old, Some(new))?);
        edits.extend(plan_drawer_moves(open, old, new)?);
    }
    Ok(edits)
}

fn plan_entity_fixes(
    open: &mut OpenPalace,
    old: &str,
    new: &str,
) -> Result<Vec<FileEdit>, Refusal> {
    let mut edit = EntityFileEdits::default();
    if let Some(entity) = edit.entity_mut(open, new)? {
        let before = Entity { name: old.to_owned(), ..entity.clone() };
        entity.record_former_names(&[before]);
    }
    references::rename_in_entities(&mut edit, open, old, new, &[])?;
    let mut edits = edit.into_edits()?;
    let old_names = [old.to_owned()];
    let more = references::plan_rename_in_rooms_and_work(open, &old_names, new)?;
    edits.extend(more.into_iter().flatten());
    Ok(edits)
}
