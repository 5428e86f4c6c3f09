//! The first line of a new file, which tells editors its schema.
//!
//! It leads to a copy of the schema inside the palace, by a path from the file:
//! that works without a network, on every machine, and in every clone.

use crate::format::{PalacePath, is_schema_path};
use crate::model::FileKind;

const MODELINE_PREFIX: &str = "# yaml-language-server: $schema=";

/// Returns where a palace keeps the schema of a kind of file.
pub(in crate::format) fn schema_path(kind: FileKind) -> String {
    format!(".palazzo/schema/{kind}.json")
}

/// Puts the modeline above the text of a file that is to lie at `path`.
pub(in crate::format) fn prepend_modeline(path: &str, text: &str) -> String {
    modeline_for_path(path).unwrap_or_default() + text
}

/// Parts a modeline of ours from the text below it.
pub(in crate::format) fn split_modeline(text: &str) -> (&str, &str) {
    let end = text.find('\n').map_or(text.len(), |it| it + 1);
    let schema = text[..end].trim_end().strip_prefix(MODELINE_PREFIX);
    match schema.is_some_and(|it| is_schema_path(it.trim_start_matches("../"))) {
        true => text.split_at(end),
        false => ("", text),
    }
}

/// Lets the modeline of a text, if it has one of ours, lead to the schema from
/// `path`.
pub(in crate::format) fn retarget_modeline(path: &str, text: &str) -> String {
    match (split_modeline(text), modeline_for_path(path)) {
        (("", _), _) | (_, None) => text.to_owned(),
        ((old, rest), Some(line)) => {
            let end = if old.ends_with("\r\n") { "\r\n" } else { "\n" };
            format!("{}{end}{rest}", line.trim_end())
        }
    }
}

/// Lets a new file at `path` begin with the line that leads editors to its schema,
/// if it is of a kind that has one.
pub fn ensure_modeline(path: &str, text: &str) -> String {
    match modeline_kind(path, text) {
        Some(_) => retarget_modeline(path, text),
        None => prepend_modeline(path, text),
    }
}

/// Returns the kind of file at `path` whose schema the first line of its text
/// leads editors to; `None`: it has no such line.
pub fn modeline_kind(path: &str, text: &str) -> Option<FileKind> {
    let (line, _) = split_modeline(text);
    yaml_file_kind(path).filter(|_| !line.is_empty())
}

fn modeline_for_path(path: &str) -> Option<String> {
    let up = "../".repeat(path.matches('/').count());
    Some(format!("{MODELINE_PREFIX}{up}{}\n", schema_path(yaml_file_kind(path)?)))
}

/// Returns the kind of file at `path`, if it is all YAML.
fn yaml_file_kind(path: &str) -> Option<FileKind> {
    match PalacePath::parse(path).ok()? {
        PalacePath::Room(_) => Some(FileKind::Room),
        PalacePath::Entity => Some(FileKind::Entity),
        PalacePath::Genus => Some(FileKind::Genus),
        PalacePath::Task => Some(FileKind::Task),
        PalacePath::Process => Some(FileKind::Process),
        _ => None,
    }
}
