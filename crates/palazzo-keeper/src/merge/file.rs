//! Merges two versions of one file. Bodies of scrolls, drawers and diary entries are never mixed.

use std::collections::BTreeSet;

use serde_json::Value;
use sha1::{Digest, Sha1};
use ulid::Ulid;

use crate::merge::Version;
use crate::merge::items::id_of_file;
use crate::merge::last_changes::OrderedSides;
use palazzo_core::format::{
    FieldsAndBody, add_missing_comments, edit_fields_and_body, file_kind, parse_fields_and_body,
    parse_file, retarget_modeline, serialize_tree,
};
use palazzo_core::merge::{FieldConflict, Fields, LastChange, merge_fields, merge_lines};
use palazzo_core::model::{Code, Severity};

/// Number of characters of an id.
const ID_CHARS: usize = 26;

/// Number of random bytes of an id.
const RANDOM_BYTES: usize = 10;

/// The merged content of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct MergedFile {
    pub(super) bytes: Vec<u8>,
    /// The values that do not stand.
    pub(super) conflicts: Vec<FieldConflict>,
    /// A second file, with the body that does not stand.
    pub(super) second: Option<Version>,
}

/// A file that both sides have changed.
#[derive(Clone, Copy)]
pub(super) struct ChangedFile<'a> {
    /// Its path after the merge.
    pub(super) path: &'a str,
    pub(super) base: Option<&'a Version>,
    /// The versions of both sides; the first precedes.
    pub(super) sides: [&'a Version; 2],
    pub(super) changes: LastFileChanges<'a>,
    /// The side whose layout is kept where the texts cannot be merged.
    pub(super) layout: usize,
}

/// Who last changed a file on each side.
#[derive(Clone, Copy)]
pub(super) enum LastFileChanges<'a> {
    /// The sides of one item.
    Sides(&'a OrderedSides<'a>),
    /// The authors of two items that become one.
    Authors(&'a [LastChange; 2]),
}

/// The texts of the three versions of a file.
struct Texts<'a> {
    base: &'a str,
    sides: [&'a str; 2],
    layout: usize,
}

impl LastFileChanges<'_> {
    fn of_file(&self) -> [LastChange; 2] {
        match self {
            Self::Sides(sides) => sides.last_changes_of_file(),
            Self::Authors(authors) => (*authors).clone(),
        }
    }

    fn of_body(&self, bodies: [Option<&str>; 2]) -> [LastChange; 2] {
        match self {
            Self::Sides(sides) => sides.last_changes_of_body(bodies),
            Self::Authors(authors) => (*authors).clone(),
        }
    }

    fn of_field(&self, base: &Fields, sides: [&Fields; 2], name: &str) -> [LastChange; 2] {
        match self {
            Self::Sides(ordered) => ordered.last_changes_of_field(base, sides, name),
            Self::Authors(authors) => (*authors).clone(),
        }
    }
}

/// The body of a merged file.
#[derive(Default)]
struct MergedBody {
    body: Option<String>,
    /// If both sides have changed it, the conflict.
    conflict: Option<FieldConflict>,
    /// A file of its own for the other body.
    second: Option<Version>,
}

/// Merges two versions of a file, and checks the result: if it has an error that no side had, the
/// whole version of one side stands.
pub(super) fn merge_file(file: ChangedFile<'_>) -> MergedFile {
    let ChangedFile { path, sides, .. } = file;
    if sides[0].bytes == sides[1].bytes {
        return MergedFile { bytes: sides[0].bytes.clone(), ..MergedFile::default() };
    }
    let known: BTreeSet<_> = sides.iter().flat_map(|it| errors(path, &it.bytes)).collect();
    let merged = merge_texts(file).filter(|it| errors(path, &it.bytes).is_subset(&known));
    let merged = merged.unwrap_or_else(|| one_whole_version(path, sides, file.changes.of_file()));
    match std::str::from_utf8(&merged.bytes) {
        Ok(text) if sides.iter().any(|it| it.path != path) => {
            MergedFile { bytes: retarget_modeline(path, text).into_bytes(), ..merged }
        }
        _ => merged,
    }
}

fn merge_texts(file: ChangedFile<'_>) -> Option<MergedFile> {
    let ChangedFile { path, base, sides, layout, .. } = file;
    let base = base.map_or(Some(""), Version::text)?;
    let texts = Texts { base, sides: [sides[0].text()?, sides[1].text()?], layout };
    merge_trees(file, &texts).or_else(|| merge_plain_texts(path, &texts))
}

fn errors(path: &str, bytes: &[u8]) -> BTreeSet<(Code, String)> {
    let Ok(text) = std::str::from_utf8(bytes) else { return BTreeSet::new() };
    let findings = parse_file(path, text).findings.into_iter();
    let errors = findings.filter(|it| it.severity() == Severity::Error);
    errors.map(|it| (it.code, it.message)).collect()
}

/// Lets the whole version of one side stand, and reports the other: that of the first side, unless
/// only the other can be parsed.
fn one_whole_version(path: &str, sides: [&Version; 2], changes: [LastChange; 2]) -> MergedFile {
    let [a, b] = sides.map(|it| it.text().and_then(|it| parse_fields_and_body(path, it)).is_some());
    let standing_side = usize::from(b && !a);
    let values = sides.map(|it| Some(Value::from(it.lossy_text())));
    let conflict = FieldConflict::new("", values, changes, standing_side);
    let bytes = sides[standing_side].bytes.clone();
    MergedFile { bytes, conflicts: vec![conflict], second: None }
}

/// Merges the fields of a file; `None` if a side cannot be parsed.
fn merge_trees(file: ChangedFile<'_>, texts: &Texts<'_>) -> Option<MergedFile> {
    let ChangedFile { path, sides, changes, .. } = file;
    let kind = file_kind(path)?;
    let [a, b] = [
        parse_fields_and_body(path, texts.sides[0])?,
        parse_fields_and_body(path, texts.sides[1])?,
    ];
    let base = parse_fields_and_body(path, texts.base);
    let (no_fields, base_fields) = (Fields::new(), base.as_ref().map(|it| &it.fields));
    let base_fields = base_fields.unwrap_or(&no_fields);
    let both_fields = [&a.fields, &b.fields];
    let last_changes = |name: &str| changes.of_field(base_fields, both_fields, name);
    let merged = merge_fields(kind, base_fields, both_fields, &last_changes);
    let mut conflicts = merged.conflicts;
    let base_body = base.as_ref().and_then(|it| it.body.as_deref());
    let bodies = [a.body.as_deref(), b.body.as_deref()];
    let MergedBody { body, conflict, second } =
        merge_bodies(path, base_body, bodies, sides, || changes.of_body(bodies));
    conflicts.extend(conflict);
    let tree = FieldsAndBody { fields: merged.fields, body };
    let bytes = write_merged_tree(path, texts, &tree)?.into_bytes();
    Some(MergedFile { bytes, conflicts, second })
}

/// Writes the merged content with the layout and the comments of both sides: the merged text, if it
/// has exactly this content, else the text of one side with the changes of the other.
fn write_merged_tree(path: &str, texts: &Texts<'_>, tree: &FieldsAndBody) -> Option<String> {
    let merged = merge_lines(texts.base, texts.sides);
    if let Some(text) = merged.filter(|it| parse_fields_and_body(path, it).as_ref() == Some(tree)) {
        return Some(text);
    }
    let [own, other] = [texts.layout, 1 - texts.layout].map(|it| texts.sides[it]);
    let edited =
        edit_fields_and_body(path, own, tree).or_else(|| edit_fields_and_body(path, other, tree));
    let written = edited.or_else(|| serialize_tree(path, tree))?;
    // The editing of one text also removes its new comments in what the other side has deleted.
    let with_own = add_missing_comments(path, &written, texts.base, own);
    Some(add_missing_comments(path, &with_own, texts.base, other))
}

/// Merges the lines of two texts; `None` if that is impossible, or the result cannot be parsed.
fn merge_plain_texts(path: &str, texts: &Texts<'_>) -> Option<MergedFile> {
    let text = merge_lines(texts.base, texts.sides)?;
    let is_parsed = file_kind(path).is_none() || parse_fields_and_body(path, &text).is_some();
    is_parsed.then(|| MergedFile { bytes: text.into_bytes(), ..MergedFile::default() })
}

/// Merges the bodies of two versions of a file.
fn merge_bodies(
    path: &str,
    base: Option<&str>,
    [a, b]: [Option<&str>; 2],
    sides: [&Version; 2],
    last_changes: impl FnOnce() -> [LastChange; 2],
) -> MergedBody {
    match (a, b) {
        (Some(a), Some(b)) if a != b && base != Some(a) && base != Some(b) => {
            let changes = last_changes();
            let standing_side = changes[0].preceding_side(&changes[1]);
            let body = Some([a, b][standing_side].to_owned());
            let values = [a, b].map(|it| Some(Value::from(it)));
            let conflict = FieldConflict::new("body", values, changes, standing_side);
            let second = second_file(path, sides[1 - standing_side]);
            MergedBody { body, conflict: Some(conflict), second }
        }
        (a, b) => {
            let body = if a == base { b } else { a }.map(str::to_owned);
            MergedBody { body, ..MergedBody::default() }
        }
    }
}

/// Returns a version as a file of its own, with an id that follows from its content.
fn second_file(path: &str, version: &Version) -> Option<Version> {
    let old_id = id_of_file(path, &version.bytes);
    let id = derive_id(old_id.as_deref(), &version.bytes);
    let (folder, name) = path.rsplit_once('/')?;
    let rest = old_id.as_deref().and_then(|it| name.strip_prefix(it));
    let name = rest.map_or_else(|| format!("{id}-{name}"), |it| format!("{id}{it}"));
    let path = format!("{folder}/{name}");
    let mut tree: FieldsAndBody = parse_fields_and_body(&path, version.text()?)?;
    if let Some(field) = tree.fields.get_mut("id") {
        *field = Value::from(id.to_string());
    }
    let text = edit_fields_and_body(&path, version.text()?, &tree)?;
    Some(Version { path, bytes: text.into_bytes() })
}

/// Returns whether a file may be the one that a merge has made for the other body of `file`: its id
/// has the same time, and the rest of the name is the same.
pub(crate) fn is_second_name(file: &str, second: &str) -> bool {
    let [name, second] = [file, second].map(|it| it.rsplit('/').next().unwrap_or(it));
    let split = |it: &'_ str| -> Option<(Ulid, String)> {
        Some((it.get(..ID_CHARS)?.parse().ok()?, it[ID_CHARS..].to_owned()))
    };
    match (split(name), split(second)) {
        (Some((id, rest)), Some((second_id, second_rest))) => {
            id.timestamp_ms() == second_id.timestamp_ms() && rest == second_rest
        }
        (None, Some((_, rest))) => rest.strip_prefix('-') == Some(name),
        _ => false,
    }
}

/// Returns an id with the time of the old one and a hash of the content.
fn derive_id(old: Option<&str>, content: &[u8]) -> Ulid {
    let time = old.and_then(|it| it.parse::<Ulid>().ok()).map(|it| it.timestamp_ms());
    let hash = Sha1::digest(content);
    let random = hash.iter().take(RANDOM_BYTES).fold(0, |sum, it| sum << 8 | u128::from(*it));
    Ulid::from_parts(time.unwrap_or_default(), random)
}
