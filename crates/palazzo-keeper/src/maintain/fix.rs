//! Fixes errors in files of palaces that have only one possible fix: `palazzo check --fix`. Splits
//! files of conflicts that a merge has mixed, and deletes those of conflicts that are settled.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde_json::Value;

use crate::conflicts::settled_finding;
use crate::maintain::fmt::read_palace_files;
use crate::merge::conflict::{merge_conflict_files, path_of_conflict};
use crate::merge_driver::merge_file_versions;
use crate::palace::OpenPalace;
use crate::palace::change_plan::{ChangeMode, ChangeOptions, ChangePlan};
use crate::palace::findings::other_format_finding;
use crate::{Caller, Keeper, Refusal, Session};
use palazzo_core::format::{
    self, FileTree, FixedFile, MarkedSides, PalacePath, RoomNameIndex, parse_conflict, parse_tree,
    serialize_conflict, serialize_tree,
};
use palazzo_core::merge::Fields;
use palazzo_core::model::{
    Changeset, Code, Conflict, Diagnostic, FileEdit, Files, MAX_FILE_BYTES, SideFile, side_file,
};
use palazzo_core::render::display_path;
use palazzo_store::{CommitOutcome, Store};

/// Maximum number of attempts if others change the same files.
const MAX_ATTEMPTS: usize = 8;

/// The folder of the files of conflicts.
const CONFLICT_FOLDER: &str = "conflicts/";

/// The fixes in one palace.
#[derive(Clone, Debug, Default)]
pub struct FixReport {
    /// The directory of the palace.
    pub(in crate::maintain) root: PathBuf,
    /// The diagnostics that were fixed.
    pub(in crate::maintain) fixed: Vec<Diagnostic>,
    pub(in crate::maintain) edits: Vec<FileEdit>,
}

/// A record of a merge about one field of a mixed file.
struct Record {
    /// The path of the record.
    path: String,
    /// The field of the mixed file: `stands`, `other_by.author`, `path`; empty for the whole file.
    field: String,
    /// Both values, each with the commit that it comes from.
    values: [(String, Option<Value>); 2],
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

/// Returns the edits that split all mixed files and delete the records about them, and a finding
/// for each record.
///
/// The merge rules of version 1 took two conflicts about one item for two versions of one file.
/// They merged them field by field, and recorded what did not stand as conflicts about that file.
/// Each of these records has two values and the commits that they come from, so that both files
/// can be written again.
fn split_mixed_conflicts(files: &Files) -> (Vec<FileEdit>, Vec<Diagnostic>) {
    let (mut edits, mut fixed) = (Vec::new(), Vec::new());
    for (mixed, records) in find_records(files) {
        let records = records_of_merge(files.get(&mixed), &mixed, records);
        let versions = files.get(&mixed).and_then(|text| split_file(&mixed, text, &records));
        let Some(versions) = versions else { continue };
        for (path, text) in versions {
            let was = files.get(&path).cloned();
            let text = match was.as_deref().filter(|_| path != mixed) {
                Some(known) => join_files(&path, known, &text),
                None => text,
            };
            if was.as_ref() != Some(&text) {
                edits.push(FileEdit { path, was, now: Some(text) });
            }
        }
        for Record { path, .. } in records {
            let message = format!("the values of two conflicts were mixed in `{mixed}`");
            fixed.push(Diagnostic::for_file(Code::BadValue, &path, message));
            let was = files.get(&path).cloned();
            edits.push(FileEdit { path, was, now: None });
        }
    }
    (edits, fixed)
}

/// Returns the records about each mixed file, by its path.
fn find_records(files: &Files) -> BTreeMap<String, Vec<Record>> {
    let mut records: BTreeMap<String, Vec<Record>> = BTreeMap::new();
    for (path, text) in files.iter().filter(|(path, _)| path.starts_with(CONFLICT_FOLDER)) {
        if let Some((mixed, record)) = parse_record(path, text) {
            records.entry(mixed).or_default().push(record);
        }
    }
    records
}

/// Parses a record, and returns the path of its mixed file; `None` for other files of conflicts.
fn parse_record(path: &str, text: &str) -> Option<(String, Record)> {
    let fields = parse_tree(path, text)?.fields;
    let mixed =
        fields.get("file")?.as_str().filter(|it| it.starts_with(CONFLICT_FOLDER))?.to_owned();
    let field = fields.get("field").and_then(Value::as_str).unwrap_or_default().to_owned();
    let values = ["stands", "other"].map(|key| {
        let commit = fields.get(&format!("{key}_by")).and_then(|it| it.get("commit"));
        let commit = commit.and_then(Value::as_str).unwrap_or(key);
        (commit.to_owned(), fields.get(key).cloned())
    });
    Some((mixed, Record { path: path.to_owned(), field, values }))
}

/// Keeps the records that a merge can have made: of two values, one of which stands in the mixed file.
/// Others may be written by hand, to replace the values of an honest conflict.
fn records_of_merge(text: Option<&String>, mixed: &str, records: Vec<Record>) -> Vec<Record> {
    let fields = text.and_then(|it| parse_tree(mixed, it)).map(|it| it.fields);
    let Some(fields) = fields else { return Vec::new() };
    let stands = |field: &str, value: &Option<Value>| match (field, value) {
        ("", Some(Value::String(text))) => {
            parse_tree(mixed, text).is_some_and(|it| it.fields == fields)
        }
        ("", _) => false,
        (Conflict::PATH_FIELD, value) => value.as_ref().is_some_and(|it| it == mixed),
        (field, value) => field_value(&fields, field) == value.as_ref(),
    };
    let is_of_merge = |it: &Record| {
        let [(_, a), (_, b)] = &it.values;
        a != b && (stands(&it.field, a) || stands(&it.field, b))
    };
    records.into_iter().filter(is_of_merge).collect()
}

/// Returns the value of a field, or of a field of a mapping in it.
fn field_value<'f>(fields: &'f Fields, name: &str) -> Option<&'f Value> {
    match name.split_once('.') {
        Some((outer, inner)) => fields.get(outer)?.as_object()?.get(inner),
        None => fields.get(name),
    }
}

/// Returns the two conflicts of a mixed file, by path; one if both have the same values. `None` if
/// the records do not lead to two conflicts.
fn split_file(mixed: &str, text: &str, records: &[Record]) -> Option<BTreeMap<String, String>> {
    let fields = parse_tree(mixed, text)?.fields;
    let commits: BTreeSet<_> = records.iter().flat_map(|it| &it.values).map(|it| &it.0).collect();
    let commits: Vec<_> = commits.into_iter().collect();
    let value_of = |record: &Record, version: usize| {
        let is_of_version = |it: &&(String, _)| commits.len() == 2 && it.0 == *commits[version];
        let found = record.values.iter().find(is_of_version);
        found.unwrap_or(&record.values[version]).1.clone()
    };
    let versions = [0, 1].map(|version| {
        let values = records.iter().map(|it| (it.field.as_str(), value_of(it, version)));
        restore_version(mixed, &fields, values)
    });
    let [Some(a), Some(b)] = versions else { return None };
    let mut split = BTreeMap::from([(a.0, a.1)]);
    let known = split.get(&b.0).map(|it| join_files(&b.0, it, &b.1));
    split.insert(b.0, known.unwrap_or(b.1));
    if !split.contains_key(mixed) {
        let (_, text) = split.pop_first()?;
        split.insert(mixed.to_owned(), text);
    }
    Some(split)
}

/// Returns the path and the text of one of the conflicts that were mixed in a file with `fields`;
/// `values` are those of this conflict.
fn restore_version<'a>(
    mixed: &str,
    fields: &Fields,
    values: impl Iterator<Item = (&'a str, Option<Value>)>,
) -> Option<(String, String)> {
    let (mut fields, mut path) = (fields.clone(), None);
    for (field, value) in values {
        match field {
            "" => fields = parse_tree(mixed, value?.as_str()?)?.fields,
            Conflict::PATH_FIELD => path = value.and_then(|it| it.as_str().map(str::to_owned)),
            _ => set_field(&mut fields, field, value),
        }
    }
    let text = serialize_tree(mixed, &FileTree { fields, body: None })?;
    let conflict = parse_conflict(mixed, &text)?;
    let path = path.filter(|it| PalacePath::parse(it) == Ok(PalacePath::Conflict));
    Some((path.unwrap_or_else(|| path_of_conflict(&conflict)), serialize_conflict(&conflict)))
}

/// Sets a field, or a field of a mapping in it (`other_by.author`).
fn set_field(fields: &mut Fields, name: &str, value: Option<Value>) {
    if let Some((outer, inner)) = name.split_once('.') {
        if let Some(Value::Object(fields)) = fields.get_mut(outer) {
            set_field(fields, inner, value);
        }
        return;
    }
    match value {
        Some(value) => fields.insert(name.to_owned(), value),
        None => fields.remove(name),
    };
}

fn join_files(path: &str, a: &str, b: &str) -> String {
    let joined = merge_conflict_files(path, a.as_bytes(), b.as_bytes());
    String::from_utf8_lossy(&joined).into_owned()
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
    use serde_json::json;

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

    const HONEST: &str = "conflicts/aaaaaaaaaaaaaaaa.yaml";

    #[test]
    fn a_record_that_no_merge_made_changes_nothing() {
        let text = "file: entities/e.yaml\nfield: status\nstands: mine\nother: theirs\n";
        for record in [
            json!({ "file": HONEST, "field": "other", "stands": "x1", "other": "x2" }),
            json!({ "file": HONEST, "field": "other", "stands": "theirs", "other": "theirs" }),
            json!({ "file": HONEST, "field": "stands", "stands": "x1", "other": "x1" }),
            json!({ "file": HONEST, "field": "", "stands": "file: a\n", "other": "file: b\n" }),
            json!({ "file": HONEST, "field": "file", "stands": "rooms/a.yaml", "other": "rooms/b.yaml" }),
            json!({ "file": HONEST, "field": "other" }),
            json!({ "file": HONEST, "field": "path", "stands": "conflicts/c.yaml", "other": "conflicts/d.yaml" }),
        ] {
            let texts = [(HONEST, text.to_owned()), ("conflicts/b.yaml", record.to_string())];
            let files: Files =
                texts.map(|(path, text)| (path.to_owned(), text)).into_iter().collect();
            let (edits, fixed) = split_mixed_conflicts(&files);
            assert!(edits.is_empty() && fixed.is_empty(), "{record}: {edits:?}");
        }
    }
}
