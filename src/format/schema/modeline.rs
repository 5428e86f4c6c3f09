//! The first line of a new file, which tells editors its schema.
//!
//! It leads to a copy of the schema inside the palace, by a path from the file:
//! that works without a network, on every machine, and in every clone.

use crate::format::{Place, is_schema};
use crate::model::FileKind;

const BEFORE: &str = "# yaml-language-server: $schema=";

/// Returns where a palace keeps the schema of a kind of file.
pub(in crate::format) fn file(kind: FileKind) -> String {
    format!(".palazzo/schema/{kind}.json")
}

/// Puts the modeline above the text of a file that is to lie at `path`.
pub(in crate::format) fn with_modeline(path: &str, text: &str) -> String {
    modeline(path).unwrap_or_default() + text
}

/// Parts a modeline of ours from the text below it.
pub(in crate::format) fn parted(text: &str) -> (&str, &str) {
    let end = text.find('\n').map_or(text.len(), |it| it + 1);
    let schema = text[..end].trim_end().strip_prefix(BEFORE);
    match schema.is_some_and(|it| is_schema(it.trim_start_matches("../"))) {
        true => text.split_at(end),
        false => ("", text),
    }
}

/// Lets the modeline of a text, if it has one of ours, lead to the schema from
/// `path`.
pub(in crate::format) fn aimed(path: &str, text: &str) -> String {
    match (parted(text), modeline(path)) {
        (("", _), _) | (_, None) => text.to_owned(),
        ((old, rest), Some(line)) => {
            let end = if old.ends_with("\r\n") { "\r\n" } else { "\n" };
            format!("{}{end}{rest}", line.trim_end())
        }
    }
}

/// Lets a new file at `path` begin with the line that leads editors to its schema,
/// if it is of a kind that has one.
pub fn introduced(path: &str, text: &str) -> String {
    match announced(path, text) {
        Some(_) => aimed(path, text),
        None => with_modeline(path, text),
    }
}

/// Returns the kind of file at `path` whose schema the first line of its text
/// leads editors to; `None`: it has no such line.
pub fn announced(path: &str, text: &str) -> Option<FileKind> {
    let (line, _) = parted(text);
    kind(path).filter(|_| !line.is_empty())
}

fn modeline(path: &str) -> Option<String> {
    let up = "../".repeat(path.matches('/').count());
    Some(format!("{BEFORE}{up}{}\n", file(kind(path)?)))
}

/// Returns the kind of file at `path`, if it is all YAML.
fn kind(path: &str) -> Option<FileKind> {
    match Place::of(path).ok()? {
        Place::Room(_) => Some(FileKind::Room),
        Place::Entity => Some(FileKind::Entity),
        Place::Genus => Some(FileKind::Genus),
        Place::Task => Some(FileKind::Task),
        Place::Process => Some(FileKind::Process),
        _ => None,
    }
}
