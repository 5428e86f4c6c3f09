//! The modeline: the first line of a file, which points editors to its schema.
//!
//! It contains the relative path of a copy of the schema inside the palace, which works without a
//! network, on every machine and in every clone.

use crate::format::paths::PalacePath;
use crate::model::FileKind;

/// The path of the file that explains the folder `.palazzo`.
pub const README_PATH: &str = ".palazzo/README.md";
/// The content of that file.
pub const README: &str = "\
Palazzo made this folder. It contains the schemas with which editors check the files of this palace.

It also shows that the palace has a history in git. If the folder `.git` is missing, Palazzo changes
nothing until you bring it back, or start a new history with `palazzo init --repository`.
";

const MODELINE_PREFIX: &str = "# yaml-language-server: $schema=";

/// Returns the path at which a palace keeps the schema of a kind of file.
pub(in crate::format) fn schema_path(kind: FileKind) -> String {
    format!(".palazzo/schema/{kind}.json")
}

/// Prepends the modeline to the text of a file at `path`.
pub(in crate::format) fn prepend_modeline(path: &str, text: &str) -> String {
    modeline_for_path(path).unwrap_or_default() + text
}

/// Splits a text into our modeline, if it has one, and the rest.
pub(in crate::format) fn split_modeline(text: &str) -> (&str, &str) {
    let end = text.find('\n').map_or(text.len(), |it| it + 1);
    let schema = text[..end].trim_end().strip_prefix(MODELINE_PREFIX);
    match schema.is_some_and(|it| kind_of_schema_file(it.trim_start_matches("../")).is_some()) {
        true => text.split_at(end),
        false => ("", text),
    }
}

/// Updates our modeline, if the text has one, to the relative path from `path`.
pub(in crate::format) fn retarget_modeline(path: &str, text: &str) -> String {
    match (split_modeline(text), modeline_for_path(path)) {
        (("", _), _) | (_, None) => text.to_owned(),
        ((old, rest), Some(line)) => {
            let end = if old.ends_with("\r\n") { "\r\n" } else { "\n" };
            format!("{}{end}{rest}", line.trim_end())
        }
    }
}

/// Prepends or updates the modeline of a file at `path`, if its kind has a schema.
pub fn ensure_modeline(path: &str, text: &str) -> String {
    match kind_of_file_with_modeline(path, text) {
        Some(_) => retarget_modeline(path, text),
        None => prepend_modeline(path, text),
    }
}

/// Returns the kind of the file at `path` if its text has a modeline, else `None`.
pub fn kind_of_file_with_modeline(path: &str, text: &str) -> Option<FileKind> {
    let (line, _) = split_modeline(text);
    yaml_file_kind(path).filter(|_| !line.is_empty())
}

/// Returns whether the text of the file at `path` begins with the modeline that points to its schema.
pub fn has_right_modeline(path: &str, text: &str) -> bool {
    let (line, _) = split_modeline(text);
    modeline_for_path(path).is_some_and(|it| it.trim_end() == line.trim_end())
}

fn modeline_for_path(path: &str) -> Option<String> {
    let up = "../".repeat(path.matches('/').count());
    Some(format!("{MODELINE_PREFIX}{up}{}\n", schema_path(yaml_file_kind(path)?)))
}

/// Returns the kind of the file at `path`, if it is a YAML file.
fn yaml_file_kind(path: &str) -> Option<FileKind> {
    match PalacePath::parse(path).ok()? {
        PalacePath::Room(_) => Some(FileKind::Room),
        PalacePath::Entity => Some(FileKind::Entity),
        PalacePath::Genus => Some(FileKind::Genus),
        PalacePath::Task => Some(FileKind::Task),
        PalacePath::Process => Some(FileKind::Process),
        PalacePath::Conflict => Some(FileKind::Conflict),
        _ => None,
    }
}

/// Returns whether a path is that of a file in the folder `.palazzo`: of a schema, or of the file
/// that explains the folder.
pub fn is_palazzo_path(path: &str) -> bool {
    path == README_PATH || kind_of_schema_file(path).is_some()
}

pub(in crate::format) fn kind_of_schema_file(path: &str) -> Option<FileKind> {
    FileKind::ALL.into_iter().find(|kind| schema_path(*kind) == path)
}
