//! Fixes errors in files of palaces that have only one possible fix: `palazzo check --fix`. Deletes
//! the files of conflicts that are settled.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::conflicts::settled_finding;
use crate::maintain::fmt::read_palace_files;
use crate::maintain::split_conflicts::split_mixed_conflicts;
use crate::merge_driver::merge_file_versions;
use crate::palace::OpenPalace;
use crate::palace::change_plan::{ChangeMode, ChangeOptions, ChangePlan};
use crate::palace::findings::other_format_finding;
use crate::{Caller, Keeper, Refusal, Session};
use palazzo_core::format::{self, FixedFile, MarkedSides, PalacePath, RoomNameIndex};
use palazzo_core::model::{
    Changeset, Code, Diagnostic, FileEdit, Files, MAX_FILE_BYTES, SideFile, side_file,
};
use palazzo_core::render::display_path;
use palazzo_store::{CommitOutcome, Store};

/// Maximum number of attempts if others change the same files.
const MAX_ATTEMPTS: usize = 8;

/// The fixes in one palace.
#[derive(Clone, Debug, Default)]
pub struct FixReport {
    /// The directory of the palace.
    pub(in crate::maintain) root: PathBuf,
    /// The diagnostics that were fixed.
    pub(in crate::maintain) fixed: Vec<Diagnostic>,
    pub(in crate::maintain) edits: Vec<FileEdit>,
}

/// Fixes the errors in all palaces of the home that have only one possible fix. Commits nothing.
pub fn fix_files(keeper: &Keeper, caller: &Caller) -> Result<Vec<FixReport>, Refusal> {
    let stores = keeper.workspaces()?.into_iter().map(|it| keeper.store_of(&it));
    stores.map(|mut store| fix_palace(&mut store, caller)).collect()
}

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
        reports.push(delete_settled_of_palace(&mut session, earlier)?);
    }
    Ok(reports)
}

impl FixReport {
    /// Renders the fixes, a line each, with paths relative to `here`.
    pub fn report_lines(&self, here: &Path) -> Vec<String> {
        let line = |it: &Diagnostic| {
            let Diagnostic { file, at, code, message, .. } = it;
            let path = display_path(here, &self.root, file);
            format!("{path}:{}:{}: fixed[{code}]: {message}", at.line, at.column)
        };
        self.fixed.iter().map(line).collect()
    }
}

fn fix_palace(store: &mut Store, caller: &Caller) -> Result<FixReport, Refusal> {
    for _ in 0..MAX_ATTEMPTS {
        let report = plan_fixes(store)?;
        if report.edits.is_empty() {
            return Ok(report);
        }
        let change = Changeset::without_commit(
            "fix",
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

fn plan_fixes(store: &Store) -> Result<FixReport, Refusal> {
    let mut report = FixReport { root: store.palace_folder().to_owned(), ..FixReport::default() };
    if other_format_finding(store).is_some() {
        return Ok(report);
    }
    let (files, unread) = read_palace_files(store, None)?;
    (report.edits, report.fixed) = split_mixed_conflicts(&files);
    plan_file_moves(store, &files, unread, &mut report);
    let moved: Vec<_> = report.edits.iter().map(|it| it.path.clone()).collect();
    let new_texts = report.edits.iter().filter_map(|it| Some((&it.path, it.now.as_ref()?)));
    let rooms = RoomNameIndex::from_files(
        files.iter().filter(|(path, _)| !moved.contains(path)).chain(new_texts),
    );
    fix_moved_files(&mut report, &rooms);
    let files = files.into_par_iter().filter(|(path, _)| !moved.contains(path));
    let fixes = files.filter_map(|(path, was)| {
        let base = |path: &str| store.unmerged_base(path);
        let FixedFile { text, fixed } = fix_text(&path, &was, &rooms, base)?;
        let edit = FileEdit { path, was: Some(was), now: Some(text) };
        edit.now.as_ref().is_some_and(|it| it.len() <= MAX_FILE_BYTES).then_some((edit, fixed))
    });
    for (edit, fixed) in fixes.collect::<Vec<_>>() {
        report.edits.push(edit);
        report.fixed.extend(fixed);
    }
    Ok(report)
}

/// Fixes a text: first what a merge of texts has broken, if it can be merged field by field, then
/// all else. `base` returns the base of a merge in progress.
fn fix_text(
    path: &str,
    text: &str,
    rooms: &RoomNameIndex,
    base: impl Fn(&str) -> Option<Vec<u8>>,
) -> Option<FixedFile> {
    let unfixed = || FixedFile { text: text.to_owned(), fixed: Vec::new() };
    let merged = merge_marked_file(path, text, base).unwrap_or_else(unfixed);
    let joined = format::remove_repeated_content(path, &merged.text);
    let joined = then_fixed(merged, joined);
    let fixed = format::fix_file(path, &joined.text, rooms);
    let fixed = then_fixed(joined, fixed);
    (!fixed.fixed.is_empty()).then_some(fixed)
}

/// Returns a file after a further fix, with the findings of both.
fn then_fixed(mut file: FixedFile, next: Option<FixedFile>) -> FixedFile {
    if let Some(next) = next {
        file.text = next.text;
        file.fixed.extend(next.fixed);
    }
    file
}

/// Merges the two sides of a file with the markers of a merge conflict; `None` if their base is not
/// known, they are of different items, or they have different values for one field.
fn merge_marked_file(
    path: &str,
    text: &str,
    base: impl Fn(&str) -> Option<Vec<u8>>,
) -> Option<FixedFile> {
    let finding = format::parse_file(path, text).first_finding(Code::MergeConflict)?;
    let MarkedSides { sides: [ours, theirs], base: marked } = format::split_marked_sides(text)?;
    let base = marked.map(String::into_bytes).or_else(|| base(path))?;
    let merged = merge_file_versions(path, &base, [ours.as_bytes(), theirs.as_bytes()])?;
    let text = String::from_utf8(merged.bytes).ok()?;
    let is_clean = merged.conflicts.is_empty() && !format::parse_file(path, &text).has_errors();
    is_clean.then(|| FixedFile { text, fixed: vec![finding] })
}

/// Fixes the texts of the files that are renamed.
fn fix_moved_files(report: &mut FixReport, rooms: &RoomNameIndex) {
    for edit in &mut report.edits {
        let fixed = edit.now.as_ref().and_then(|it| format::fix_file(&edit.path, it, rooms));
        if let Some(FixedFile { text, fixed }) = fixed.filter(|it| it.text.len() <= MAX_FILE_BYTES)
        {
            edit.now = Some(text);
            report.fixed.extend(fixed);
        }
    }
}

/// Renames files with a wrong name, unless the right name is taken, another file has the same item,
/// or another program has made the file beside one.
fn plan_file_moves(store: &Store, files: &Files, unread: Vec<Diagnostic>, report: &mut FixReport) {
    let misnamed = files.keys().filter_map(|it| PalacePath::parse(it).err());
    let misnamed = misnamed.chain(unread).filter(|it| it.code == Code::FileName);
    let palace = LazyCell::new(|| format::parse_palace("", files).0);
    let mut moves = BTreeMap::new();
    let is_copy = |path: &str| side_file(path).is_some() || is_in_copied_folder(files, path);
    for diagnostic in misnamed.filter(|it| !is_copy(&it.file)) {
        let Some(to) = format::corrected_path(&diagnostic.file) else { continue };
        let is_free = store.read_file(&to) == Ok(None) && !moves.contains_key(&to);
        if let (true, Ok(Some(text))) = (is_free, store.read_file(&diagnostic.file))
            && !format::has_merge_conflict(&text)
            && format::file_with_same_item(&palace, &to, &text).is_none()
        {
            moves.insert(to, (diagnostic, text));
        }
    }
    for (to, (diagnostic, text)) in moves {
        let removed =
            FileEdit { path: diagnostic.file.clone(), was: Some(text.clone()), now: None };
        report.edits.extend([removed, FileEdit { path: to, was: None, now: Some(text) }]);
        report.fixed.push(diagnostic);
    }
}

/// Returns whether the file at `path` is in a copy of a folder that has files, too: `hall 2/`.
fn is_in_copied_folder(files: &Files, path: &str) -> bool {
    let is_copy = |folder: &str| {
        let Some(SideFile::CopyOf(original)) = side_file(&format!("{folder}.d")) else {
            return false;
        };
        let original = format!("{}/", original.trim_end_matches(".d"));
        files.range(original.clone()..).next().is_some_and(|(it, _)| it.starts_with(&original))
    };
    path.match_indices('/').any(|(at, _)| is_copy(&path[..at]))
}

fn delete_settled_of_palace(
    session: &mut Session<'_>,
    earlier: &[FixReport],
) -> Result<FixReport, Refusal> {
    let root = session.palace.store().palace_folder().to_owned();
    let mut report = FixReport { root, ..FixReport::default() };
    let written = earlier.iter().filter(|it| it.root == report.root).flat_map(|it| &it.edits);
    let written: BTreeSet<_> = written.map(|it| it.path.as_str()).collect();
    if session.palace.settled_conflicts().iter().all(|it| written.contains(it)) {
        return Ok(report);
    }
    let mode = ChangeMode::WithoutCommit;
    report.edits = session.palace.change_files(
        session.caller,
        &ChangeOptions::exclusive_in_mode(mode),
        |open| {
            let edits = plan_deletions(open, &written);
            Ok(ChangePlan { edits, subject: "fix".to_owned(), body: String::new() })
        },
    )?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::{TestHome, ada};

    /// Fixes the only palace; returns the fixes, a line each.
    fn fix(home: &TestHome) -> Vec<String> {
        let reports = fix_files(&home.keeper, &ada()).unwrap();
        let lines = reports[0].report_lines(&home.keeper.home);
        lines.into_iter().map(|it| it.replace('\\', "/")).collect()
    }

    #[test]
    fn a_misspelt_key_is_fixed_and_an_unknown_one_is_kept() {
        let hall = "# Mine.\nnmae: Hall\nnotes: none\n";
        let home = TestHome::new(&[("rooms/hall.yaml", hall)]);
        let line = "keep/rooms/hall.yaml:2:1: fixed[unknown-key]: a room has no key `nmae`";
        assert_eq!(fix(&home), [line]);
        assert_eq!(home.read("rooms/hall.yaml").unwrap(), "# Mine.\nname: Hall\nnotes: none\n");
    }

    #[test]
    fn a_fixed_palace_has_nothing_to_fix() {
        let home = TestHome::new(&[("rooms/hall.yaml", "nmae: Hall\n")]);
        assert_eq!(fix(&home).len(), 1);
        assert_eq!(fix(&home), [""; 0]);
    }

    #[test]
    fn a_file_with_a_wrong_name_is_renamed_and_portals_follow() {
        let home = TestHome::new(&[
            ("rooms/Große Halle.yaml", "name: Große Halle\n"),
            ("rooms/crypt.yaml", "name: Crypt\nportals: [Große Halle]\n"),
        ]);
        assert_eq!(fix(&home).len(), 2);
        assert_eq!(home.read("rooms/Große Halle.yaml"), None);
        assert_eq!(home.read("rooms/grosse-halle.yaml").unwrap(), "name: Große Halle\n");
        let crypt = "name: Crypt\nportals: [grosse-halle]\n";
        assert_eq!(home.read("rooms/crypt.yaml").unwrap(), crypt);
    }

    #[test]
    fn a_renamed_file_is_fixed_in_the_same_run() {
        let home = TestHome::new(&[("rooms/hall.yml", "nmae: Hall\n")]);
        assert_eq!(fix(&home).len(), 2);
        assert_eq!(home.read("rooms/hall.yaml").unwrap(), "name: Hall\n");
        assert_eq!(fix(&home), [""; 0]);
    }

    #[test]
    fn a_portal_is_fixed_only_if_a_room_has_that_name() {
        let hall = "name: Hall\nportals: [The Attic, The Cellar]\n";
        let attic = ("rooms/attic.yaml", "name: The Attic\n");
        let home = TestHome::new(&[("rooms/hall.yaml", hall), attic]);
        assert_eq!(fix(&home).len(), 1);
        let hall = "name: Hall\nportals: [attic, The Cellar]\n";
        assert_eq!(home.read("rooms/hall.yaml").unwrap(), hall);
    }

    #[test]
    fn a_file_is_not_renamed_if_the_right_name_is_taken() {
        let home = TestHome::new(&[
            ("rooms/Great Hall.yaml", "name: One\n"),
            ("rooms/great-hall.yaml", "name: Two\n"),
        ]);
        assert_eq!(fix(&home), [""; 0]);
        assert_eq!(home.read("rooms/Great Hall.yaml").unwrap(), "name: One\n");
    }

    #[test]
    fn a_copied_folder_is_not_renamed() {
        let scroll = "---\ntitle: Plan\n---\n\nText.\n";
        let (plan, copy) = ("01KJMPXF9069S44V81ASY1KY37-plan.md", "scrolls/hall 2");
        let home = TestHome::new(&[
            ("rooms/hall.yaml", "name: Hall\n"),
            (&format!("scrolls/hall/{plan}"), scroll),
            (&format!("{copy}/{plan}"), scroll),
            (&format!("{copy}/01KJMPXF9069S44V81ASY1KY38-new.md"), scroll),
            ("rooms/west/attic.yaml", "name: Attic\n"),
            ("rooms/west (1)/attic.yaml", "name: Attic\n"),
        ]);
        assert_eq!(fix(&home), [""; 0]);
        assert_eq!(home.read(&format!("{copy}/{plan}")).unwrap(), scroll);
    }

    // The file systems of other systems ignore case, so there is only one of the names.
    #[cfg(target_os = "linux")]
    #[test]
    fn of_two_files_with_one_right_name_the_first_is_renamed() {
        let home = TestHome::new(&[
            ("rooms/Great Hall.yaml", "name: One\n"),
            ("rooms/Great-Hall.yaml", "name: Two\n"),
        ]);
        assert_eq!(fix(&home).len(), 1);
        assert_eq!(home.read("rooms/great-hall.yaml").unwrap(), "name: One\n");
        assert_eq!(home.read("rooms/Great-Hall.yaml").unwrap(), "name: Two\n");
    }

    #[test]
    fn a_file_with_a_merge_conflict_is_left_as_it_is() {
        let text = "<<<<<<< a\nnmae: Hall\n=======\nname: Porch\n>>>>>>> b\n";
        let home = TestHome::new(&[("rooms/Great Hall.yaml", text), ("rooms/hall.yaml", text)]);
        assert_eq!(fix(&home), [""; 0]);
        assert_eq!(home.read("rooms/Great Hall.yaml").unwrap(), text);
        assert_eq!(home.read("rooms/hall.yaml").unwrap(), text);
    }
}
