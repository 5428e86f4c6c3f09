//! Conflict files, `conflicts/<16 hex digits>.yaml`: two values for one field, from a merge. Other
//! file names are allowed.

use serde_json::Value;

use crate::format::file_parser::{FileParser, MappingFields, parse_text};
use crate::format::front_matter::{parse_time, time_to_yaml};
use crate::format::paths::is_item_path;
use crate::format::yaml::{Node, OutputNode};
use crate::model::{Code, Conflict, ConflictAuthor, quoted};

const CONFLICT_KEYS: &[&str] = &["id", "file", "field", "stands", "stands_by", "other", "other_by"];
const AUTHOR_KEYS: &[&str] = &["author", "at", "commit"];

pub(super) fn parse_conflict(reader: &mut FileParser<'_>, text: &str) -> Option<Conflict> {
    let mut fields = reader.parse_file_as_mapping(text, "a conflict", CONFLICT_KEYS)?;
    let id = fields.take_ulid(reader, "id");
    let at = fields.value_position("file");
    let file = fields.take_required_text(reader, "file");
    if let Some(file) = file.as_ref().filter(|it| !is_item_path(it)) {
        let message = format!("{} is no file of an item", quoted(file));
        reader.report(Code::BadValue, at, message).hint =
            Some("write its path in the palace: `entities/claim/stasis.yaml`".to_owned());
        return None;
    }
    let field = fields.take_text(reader, "field").unwrap_or_default();
    let (stands, other) =
        (take_any_value(&mut fields, "stands"), take_any_value(&mut fields, "other"));
    if stands.is_none() && other.is_none() {
        let message = "a conflict needs `stands` or `other`";
        reader.report(Code::MissingKey, fields.mapping_start(), message);
        return None;
    }
    let stands_by = fields.take_value("stands_by").and_then(|it| parse_author(reader, it));
    let other_by = fields.take_value("other_by").and_then(|it| parse_author(reader, it));
    Some(Conflict { id, file: file?, field, stands, stands_by, other, other_by })
}

pub(super) fn conflict_to_yaml(conflict: &Conflict) -> OutputNode {
    let Conflict { id, file, field, stands, stands_by, other, other_by } = conflict;
    let mut pairs = Vec::new();
    pairs.extend(id.map(|it| ("id", OutputNode::Plain(it.to_string()))));
    pairs.push(("file", OutputNode::Text(file.clone())));
    if !field.is_empty() {
        pairs.push(("field", OutputNode::Text(field.clone())));
    }
    pairs.extend(stands.as_ref().map(|it| ("stands", OutputNode::from_json(it))));
    pairs.extend(stands_by.as_ref().map(|it| ("stands_by", author_to_yaml(it))));
    pairs.extend(other.as_ref().map(|it| ("other", OutputNode::from_json(it))));
    pairs.extend(other_by.as_ref().map(|it| ("other_by", author_to_yaml(it))));
    OutputNode::Map(pairs)
}

/// Takes the value of `key`, also if it is null: only a missing key means that the field is
/// deleted.
fn take_any_value(fields: &mut MappingFields, key: &str) -> Option<Value> {
    fields.take_nullable_value(key).map(|it| it.to_json())
}

fn parse_author(reader: &mut FileParser<'_>, node: Node) -> Option<ConflictAuthor> {
    let mut fields = reader.parse_mapping(node, "an author", AUTHOR_KEYS)?;
    let author = fields.take_required_text(reader, "author");
    let at = fields.take_value("at").and_then(|it| parse_time(reader, it, "at")).map(|it| it.at);
    let commit = fields.take_value("commit").and_then(|it| parse_text(reader, it, "commit"));
    Some(ConflictAuthor { author: author?, at, commit })
}

fn author_to_yaml(it: &ConflictAuthor) -> OutputNode {
    let mut pairs = vec![("author", OutputNode::Text(it.author.clone()))];
    pairs.extend(it.at.map(|it| ("at", time_to_yaml(it))));
    pairs.extend(it.commit.as_ref().map(|it| ("commit", OutputNode::Text(it.clone()))));
    OutputNode::Map(pairs)
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::json;

    use super::*;
    use crate::format::{FmtOutcome, fmt_file, parse_file, parse_palace, serialize_conflict};
    use crate::model::Files;

    const PATH: &str = "conflicts/0123456789abcdef.yaml";

    fn conflict(stands: Option<Value>, other: Option<Value>) -> Conflict {
        let author = |name: &str| ConflictAuthor {
            author: name.to_owned(),
            at: "2026-03-01T12:00:00Z".parse().ok(),
            commit: Some("9f01d7e3a1b2c3d4e5f60718293a4b5c6d7e8f90".to_owned()),
        };
        Conflict {
            id: "01KGSRV28ADXPQGT6T6QX25YS8".parse().ok(),
            file: "entities/claim/stasis.yaml".to_owned(),
            field: "status".to_owned(),
            stands,
            stands_by: Some(author("ada")),
            other,
            other_by: Some(author("claude")),
        }
    }

    fn parsed(text: &str) -> Option<Conflict> {
        let files = Files::from([(PATH.to_owned(), text.to_owned())]);
        parse_palace("Keep", &files).0.conflicts.remove(PATH)
    }

    fn findings(text: &str) -> String {
        let findings = parse_file(PATH, text).findings;
        findings.iter().map(|it| it.to_string() + "\n").collect()
    }

    #[test]
    fn a_conflict_is_written_with_both_values_and_authors() {
        let text =
            serialize_conflict(&conflict(Some("settled".into()), Some("over\nturned\n".into())));
        assert_snapshot!(text, @"
        id: 01KGSRV28ADXPQGT6T6QX25YS8
        file: entities/claim/stasis.yaml
        field: status
        stands: settled
        stands_by:
          author: ada
          at: 2026-03-01T12:00:00Z
          commit: 9f01d7e3a1b2c3d4e5f60718293a4b5c6d7e8f90
        other: |
          over
          turned
        other_by:
          author: claude
          at: 2026-03-01T12:00:00Z
          commit: 9f01d7e3a1b2c3d4e5f60718293a4b5c6d7e8f90
        ");
    }

    #[test]
    fn every_value_is_read_as_it_was_written() {
        let values = [
            json!("true"),
            json!(true),
            json!("12"),
            json!(12.5),
            json!(null),
            json!(["a", "b: c"]),
            json!({ "type": "text", "content": "Tick.\nTock.\n" }),
            json!("\u{feff} a\r\nb\t"),
            json!("  - a\n\n\n"),
            json!(""),
            json!([]),
            json!({}),
        ];
        for value in values {
            for it in [conflict(Some(value.clone()), None), conflict(None, Some(value.clone()))] {
                let text = serialize_conflict(&it);
                assert_eq!(parsed(&text).as_ref(), Some(&it), "{text}");
                assert_eq!(fmt_file(PATH, &text), Some(FmtOutcome::Unchanged), "{text}");
            }
        }
    }

    #[test]
    fn a_file_that_is_wrong_has_findings_with_lines() {
        assert_snapshot!(findings("file: rooms/a.yaml\nstans: a\n"), @"
        conflicts/0123456789abcdef.yaml:2:1: error[unknown-key]: a conflict has no key `stans` (did you mean `stands`?)
        conflicts/0123456789abcdef.yaml:1:1: error[missing-key]: a conflict needs `stands` or `other`
        ");
        assert_snapshot!(findings("stands: a\nother_by: { name: ada }\n"), @"
        conflicts/0123456789abcdef.yaml:1:1: error[missing-key]: a conflict needs a `file`
        conflicts/0123456789abcdef.yaml:2:13: error[unknown-key]: an author has no key `name` (it may have author, at, commit)
        conflicts/0123456789abcdef.yaml:2:11: error[missing-key]: an author needs a `author`
        ");
    }

    #[test]
    fn the_file_of_an_item_is_inside_the_palace() {
        for path in ["entities/../../x.yaml", "/etc/passwd", ".git/config", "rooms/a/../b.yaml"] {
            let text = format!("file: {path}\nstands: a\n");
            assert!(findings(&text).contains("is no file of an item"), "{path}");
            assert_eq!(parsed(&text), None, "{path}");
        }
        for path in
            ["palace.toml", "rooms/west/a.yaml", "scrolls/hall/01KGSRV28ADXPQGT6T6QX25YS8-a.md"]
        {
            assert!(is_item_path(path), "{path}");
        }
    }
}
