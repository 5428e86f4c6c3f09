//! JSON Schemas of the files, for editors: what may stand where, and what it
//! means.
//!
//! The types below say how each kind of file is spelled. Nothing is read into
//! them: the readers go from node to node, so that each finding knows its line.
//! Tests hold the two together, over every file of the examples and the corpus.
//! The schemas are of draft 7, the newest that editors know whole, and use no
//! `$ref`, so that a wrong key is told in plain words.

#![expect(dead_code, reason = "what is spelled is only described, nothing is read into it")]

mod entity;
pub(crate) mod front_matter;
mod genus;
mod modeline;
mod palace;
mod room;
pub(crate) mod scalars;
mod work;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;

pub(super) use modeline::{aimed, file, parted, with_modeline};
pub use modeline::{announced, introduced};

use crate::model::FileKind;

/// Writes the schema of a kind of file.
pub(super) fn of(kind: FileKind) -> String {
    let schema = match kind {
        FileKind::Palace => spelled::<palace::Palace>(),
        FileKind::Room => spelled::<room::Room>(),
        FileKind::Entity => spelled::<entity::Entity>(),
        FileKind::Genus => spelled::<genus::Genus>(),
        FileKind::Task => spelled::<work::Task>(),
        FileKind::Process => spelled::<work::Process>(),
        FileKind::Scroll => spelled::<front_matter::Scroll>(),
        FileKind::Drawer => spelled::<front_matter::Drawer>(),
        FileKind::Diary => spelled::<front_matter::Entry>(),
    };
    format!("{schema:#}\n")
}

fn spelled<T: JsonSchema>() -> serde_json::Value {
    let settings = SchemaSettings::draft07().with(|it| it.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use jsonschema::Validator;
    use serde_json::{Map, Value};
    use toml_edit::{Document, Item};

    use super::*;
    use crate::format::{Place, front_matter, understand, yaml};
    use crate::model::{Code, Diagnostic, Severity};

    /// One file of every kind that has a schema.
    const PATHS: [&str; 9] = [
        "palace.toml",
        "rooms/a.yaml",
        "entities/a/a.yaml",
        "genera/a.yaml",
        "tasks/a.yaml",
        "processes/a.yaml",
        "scrolls/a/a.md",
        "drawers/a/b/a.md",
        "diary/a/a.md",
    ];

    /// What a schema cannot know: what stands elsewhere in the file, or beside it.
    const BEYOND: [(Code, &str); 3] = [
        (Code::MissingKey, "a scroll says when it was `written`"),
        (Code::BadValue, "`step` is the number of the step it is at"),
        (Code::BadValue, "is none of the statuses"),
    ];

    /// Gathers the files below a folder that have a schema: the path each would
    /// have in a palace, and its text.
    fn gather(folder: &Path, files: &mut Vec<(String, String)>) {
        for place in fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()) {
            if place.is_dir() {
                gather(&place, files);
                continue;
            }
            let Ok(text) = fs::read_to_string(&place) else { continue };
            let names: Vec<_> = place.iter().map(|it| it.to_str().unwrap()).collect();
            let begins = |it: &&str| names.contains(&it.split('/').next().unwrap());
            if let Some(path) = PATHS.into_iter().find(begins) {
                files.push((path.to_owned(), text));
            }
        }
    }

    fn kind(path: &str) -> FileKind {
        match Place::of(path).unwrap() {
            Place::Settings => FileKind::Palace,
            Place::Room(_) => FileKind::Room,
            Place::Entity => FileKind::Entity,
            Place::Genus => FileKind::Genus,
            Place::Task => FileKind::Task,
            Place::Process => FileKind::Process,
            Place::Scroll(_) => FileKind::Scroll,
            Place::Drawer(_) => FileKind::Drawer,
            Place::Diary(_) => FileKind::Diary,
            Place::Other => panic!("{path}"),
        }
    }

    /// Returns what a file says, as an editor understands it.
    fn said(path: &str, text: &str) -> Option<Value> {
        match kind(path) {
            FileKind::Palace => Some(json(Document::parse(text).ok()?.as_item())),
            FileKind::Scroll | FileKind::Drawer | FileKind::Diary => {
                Some(yaml::parse(front_matter::split(text)?.0).ok()?.to_json())
            }
            _ => Some(yaml::parse(text).ok()?.to_json()),
        }
    }

    fn json(item: &Item) -> Value {
        if let Some(table) = item.as_table_like() {
            let pairs = table.iter().map(|(key, it)| (key.to_owned(), json(it)));
            return Value::Object(pairs.collect::<Map<_, _>>());
        }
        if let Some(items) = item.as_array() {
            return items.iter().map(|it| json(&Item::Value(it.clone()))).collect();
        }
        let scalar = item.as_str().map(Value::from).or(item.as_integer().map(Value::from));
        scalar.or(item.as_bool().map(Value::from)).unwrap_or(Value::Null)
    }

    fn validator(kind: FileKind) -> Validator {
        jsonschema::draft7::new(&serde_json::from_str(&of(kind)).unwrap()).unwrap()
    }

    fn is_for_schemas(it: &Diagnostic) -> bool {
        let is_beyond =
            BEYOND.iter().any(|(code, words)| it.code == *code && it.message.contains(words));
        it.severity() == Severity::Error && !is_beyond
    }

    #[test]
    fn schemas_and_readers_find_the_same_wrong() {
        let validators = FileKind::ALL.map(|it| (it, validator(it)));
        let mut files = Vec::new();
        for root in ["example-palaces", "tests/broken-palaces"] {
            gather(Path::new(root), &mut files);
        }
        let (mut right, mut wrong, mut apart) = (0, 0, Vec::new());
        for (path, text) in &files {
            let Some(said) = said(path, text) else { continue };
            let kind = kind(path);
            let (_, validator) = validators.iter().find(|it| it.0 == kind).unwrap();
            let complaint = validator.iter_errors(&said).next().map(|it| it.to_string());
            let findings = understand(path, text).findings;
            let error = findings.iter().find(|it| is_for_schemas(it)).map(ToString::to_string);
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
