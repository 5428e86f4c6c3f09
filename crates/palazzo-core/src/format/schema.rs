//! JSON Schemas of the file formats, for editors.
//!
//! The parsers do not use them: they walk the node tree, so that each finding has a line number.
//! Tests check that both agree, on every file of the examples and the corpus. The schemas are of
//! draft 7, the newest that editors support completely, and use no `$ref`, because editors then
//! describe a wrong key in plain words.

use crate::format::paths::PalacePath;
use crate::model::{Code, Diagnostic, FileKind};

/// Rules of parsers that a schema cannot express because they depend on other parts of the file or on
/// other files: the code, and words of the message.
const NOT_IN_SCHEMA: [(Code, &str); 3] = [
    (Code::MissingKey, "a scroll needs `written`"),
    (Code::BadValue, "`step` is the number of the current step"),
    (Code::BadValue, "is none of the statuses"),
];

/// Returns whether a program that reads YAML, and checks the file by its schema, reports a finding
/// too.
pub fn is_reported_by_schema(finding: &Diagnostic) -> bool {
    let is_beyond =
        |(code, words): &(Code, &str)| finding.code == *code && finding.message.contains(words);
    match finding.code {
        Code::Syntax
        | Code::DuplicateKey
        | Code::UnknownKey
        | Code::MissingKey
        | Code::WrongType
        | Code::BadValue
        | Code::BadSlug
        | Code::BadId
        | Code::BadTime => !NOT_IN_SCHEMA.iter().any(is_beyond),
        _ => false,
    }
}

/// Returns the schema of a kind of file.
pub fn json_schema_of_file_kind(kind: FileKind) -> &'static str {
    match kind {
        FileKind::Palace => include_str!("../../schema/palace.json"),
        FileKind::Room => include_str!("../../schema/room.json"),
        FileKind::Entity => include_str!("../../schema/entity.json"),
        FileKind::Genus => include_str!("../../schema/genus.json"),
        FileKind::Task => include_str!("../../schema/task.json"),
        FileKind::Process => include_str!("../../schema/process.json"),
        FileKind::Conflict => include_str!("../../schema/conflict.json"),
        FileKind::Scroll => include_str!("../../schema/scroll.json"),
        FileKind::Drawer => include_str!("../../schema/drawer.json"),
        FileKind::Diary => include_str!("../../schema/diary.json"),
    }
}

/// The path of the file that explains the folder `.palazzo`.
pub const README_PATH: &str = ".palazzo/README.md";
/// The content of that file.
pub const README: &str = "\
Palazzo made this folder. It contains the schemas with which editors check the files of this palace.

It also shows that the palace has a history in git. If the folder `.git` is missing, Palazzo changes
nothing until you bring it back, or start a new history with `palazzo init --repository`.
";

/// The beginning of the modeline: the first line of a file, which points editors to its schema. Its
/// relative path of a copy inside the palace works without a network, on every machine and in every
/// clone.
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
pub fn is_schema_or_readme_path(path: &str) -> bool {
    path == README_PATH || kind_of_schema_file(path).is_some()
}

pub(in crate::format) fn kind_of_schema_file(path: &str) -> Option<FileKind> {
    FileKind::ALL.into_iter().find(|kind| schema_path(*kind) == path)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use jsonschema::Validator;
    use serde_json::{Map, Value};
    use toml_edit::{Document, Item};

    use super::*;
    use crate::format::{PalacePath, front_matter, parse_file, yaml};
    use crate::model::{Rule, Severity};

    /// One file of every kind that has a schema.
    const SAMPLE_PATHS: [&str; 10] = [
        "palace.toml",
        "rooms/a.yaml",
        "entities/a/a.yaml",
        "genera/a.yaml",
        "tasks/a.yaml",
        "processes/a.yaml",
        "conflicts/a.yaml",
        "scrolls/a/a.md",
        "drawers/a/b/a.md",
        "diary/a/a.md",
    ];

    /// Collects the files below a folder that have a schema, with their paths in a palace and their
    /// texts.
    fn collect_files(folder: &Path, files: &mut Vec<(String, String)>) {
        for place in fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()) {
            if place.is_dir() {
                collect_files(&place, files);
                continue;
            }
            let Ok(text) = fs::read_to_string(&place) else { continue };
            let names: Vec<_> = place.iter().map(|it| it.to_str().unwrap()).collect();
            let begins = |it: &&str| names.contains(&it.split('/').next().unwrap());
            if let Some(path) = SAMPLE_PATHS.into_iter().find(begins) {
                files.push((path.to_owned(), text));
            }
        }
    }

    fn file_kind(path: &str) -> FileKind {
        match PalacePath::parse(path).unwrap() {
            PalacePath::Settings => FileKind::Palace,
            PalacePath::Room(_) => FileKind::Room,
            PalacePath::Entity => FileKind::Entity,
            PalacePath::Genus => FileKind::Genus,
            PalacePath::Task => FileKind::Task,
            PalacePath::Process => FileKind::Process,
            PalacePath::Conflict => FileKind::Conflict,
            PalacePath::Scroll(_) => FileKind::Scroll,
            PalacePath::Drawer(_) => FileKind::Drawer,
            PalacePath::Diary(_) => FileKind::Diary,
            PalacePath::Other => panic!("{path}"),
        }
    }

    /// Parses a file as an editor does.
    fn file_as_json(path: &str, text: &str) -> Option<Value> {
        match file_kind(path) {
            FileKind::Palace => Some(toml_to_json(Document::parse(text).ok()?.as_item())),
            FileKind::Scroll | FileKind::Drawer | FileKind::Diary => {
                Some(yaml::parse_yaml(front_matter::split_front_matter(text)?.0).ok()?.to_json())
            }
            _ => Some(yaml::parse_yaml(text).ok()?.to_json()),
        }
    }

    fn toml_to_json(item: &Item) -> Value {
        if let Some(table) = item.as_table_like() {
            let pairs = table.iter().map(|(key, it)| (key.to_owned(), toml_to_json(it)));
            return Value::Object(pairs.collect::<Map<_, _>>());
        }
        if let Some(items) = item.as_array() {
            return items.iter().map(|it| toml_to_json(&Item::Value(it.clone()))).collect();
        }
        let scalar = item.as_str().map(Value::from).or(item.as_integer().map(Value::from));
        scalar.or(item.as_bool().map(Value::from)).unwrap_or(Value::Null)
    }

    fn validator(kind: FileKind) -> Validator {
        jsonschema::draft7::new(&serde_json::from_str(json_schema_of_file_kind(kind)).unwrap())
            .unwrap()
    }

    fn is_error_schemas_find(it: &Diagnostic) -> bool {
        let is_beyond = NOT_IN_SCHEMA
            .iter()
            .any(|(code, words)| it.code == *code && it.message.contains(words));
        it.severity() == Severity::Error && !is_beyond
    }

    #[test]
    fn the_schema_of_settings_lists_the_rules_that_can_be_silenced() {
        let schema: Value =
            serde_json::from_str(json_schema_of_file_kind(FileKind::Palace)).unwrap();
        let listed = &schema["properties"]["check"]["properties"]["silence"]["items"]["enum"];
        let rules = Rule::ALL.iter().filter(|it| it.severity != Severity::Error);
        assert_eq!(listed, &rules.map(|it| it.name).collect::<Value>());
    }

    #[test]
    fn schemas_and_readers_reject_the_same_files() {
        let validators = FileKind::ALL.map(|it| (it, validator(it)));
        let mut files = Vec::new();
        for root in ["../../example-palaces", "../../tests/broken-palaces"] {
            collect_files(Path::new(root), &mut files);
        }
        let (mut right, mut wrong, mut apart) = (0, 0, Vec::new());
        for (path, text) in &files {
            let Some(said) = file_as_json(path, text) else { continue };
            let kind = file_kind(path);
            let (_, validator) = validators.iter().find(|it| it.0 == kind).unwrap();
            let complaint = validator.iter_errors(&said).next().map(|it| it.to_string());
            let findings = parse_file(path, text).findings;
            let error =
                findings.iter().find(|it| is_error_schemas_find(it)).map(ToString::to_string);
            match (&complaint, &error) {
                (None, None) => right += 1,
                (Some(_), Some(_)) => wrong += 1,
                _ => {
                    apart.push(format!("{text}\n-- schema: {complaint:?}\n-- reader: {error:?}\n"));
                }
            }
        }
        assert!(apart.is_empty(), "{}", apart.join("\n"));
        assert!(right > 40 && wrong > 20, "{right} right, {wrong} wrong");
    }
}
