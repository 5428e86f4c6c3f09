//! Splits files of conflicts that a merge by the rules of version 1 has mixed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::merge::conflict::{merge_conflict_files, path_of_conflict};
use palazzo_core::format::{
    FieldsAndBody, PalacePath, parse_conflict, parse_fields_and_body, serialize_conflict,
    serialize_tree,
};
use palazzo_core::merge::Fields;
use palazzo_core::model::{Code, Conflict, Diagnostic, FileEdit, Files};

/// The folder of the files of conflicts.
const CONFLICT_FOLDER: &str = "conflicts/";

/// A record of a merge about one field of a mixed file.
struct Record {
    /// The path of the record.
    path: String,
    /// The field of the mixed file: `stands`, `other_by.author`, `path`; empty for the whole file.
    field: String,
    /// Both values, each with the commit that it comes from.
    values: [(String, Option<Value>); 2],
}

/// Returns the edits that split all mixed files and delete the records about them, and a finding
/// for each record.
///
/// The merge rules of version 1 took two conflicts about one item for two versions of one file.
/// They merged them field by field, and recorded what did not stand as conflicts about that file.
/// Each of these records has two values and the commits that they come from, so that both files
/// can be written again.
pub(in crate::maintain) fn split_mixed_conflicts(
    files: &Files,
) -> (Vec<FileEdit>, Vec<Diagnostic>) {
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
    let fields = parse_fields_and_body(path, text)?.fields;
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
    let fields = text.and_then(|it| parse_fields_and_body(mixed, it)).map(|it| it.fields);
    let Some(fields) = fields else { return Vec::new() };
    let stands = |field: &str, value: &Option<Value>| match (field, value) {
        ("", Some(Value::String(text))) => {
            parse_fields_and_body(mixed, text).is_some_and(|it| it.fields == fields)
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
    let fields = parse_fields_and_body(mixed, text)?.fields;
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
            "" => fields = parse_fields_and_body(mixed, value?.as_str()?)?.fields,
            Conflict::PATH_FIELD => path = value.and_then(|it| it.as_str().map(str::to_owned)),
            _ => set_field(&mut fields, field, value),
        }
    }
    let text = serialize_tree(mixed, &FieldsAndBody { fields, body: None })?;
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
