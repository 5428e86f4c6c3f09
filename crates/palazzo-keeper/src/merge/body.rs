//! Merges the bodies of scrolls, drawers and diary entries: they are never mixed.

use serde_json::Value;
use sha1::{Digest, Sha1};
use ulid::Ulid;

use crate::merge::changes::Version;
use crate::merge::items::id_of_file;
use palazzo_core::format::{FileTree, edit_tree, parse_tree};
use palazzo_core::merge::{FieldConflict, Side};

/// Number of characters of an id.
const ID_CHARS: usize = 26;
/// Number of random bytes of an id.
const RANDOM_BYTES: usize = 10;

/// The body of a merged file.
#[derive(Default)]
pub(super) struct MergedBody {
    pub(super) body: Option<String>,
    /// If both sides have changed it, the conflict.
    pub(super) conflict: Option<FieldConflict>,
    /// A file of its own for the other body.
    pub(super) second: Option<Version>,
}

/// Merges the bodies of two versions of a file.
pub(super) fn merge_bodies(
    path: &str,
    base: Option<&str>,
    [a, b]: [Option<&str>; 2],
    sides: [&Version; 2],
    last_changes: impl FnOnce() -> [Side; 2],
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
    let mut tree: FileTree = parse_tree(&path, version.text()?)?;
    if let Some(field) = tree.fields.get_mut("id") {
        *field = Value::from(id.to_string());
    }
    let text = edit_tree(&path, version.text()?, &tree)?;
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
