//! Renders conflicts: two values for one field.

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Value, json};

use crate::model::{
    Audience, Conflict, ConflictAuthor, ConflictChoice, OpenConflict, Reader, quote_for_shell,
    quoted, quoted_unless_plain,
};
use crate::render::text::{count_with_noun, in_quotes, name_in_sentence, truncate};
use crate::render::{ago, mark_imitations};

/// Maximum number of characters of a value in one line.
const MAX_VALUE_CHARS: usize = 60;

/// Maximum number of characters of an author's name.
const MAX_AUTHOR_CHARS: usize = 40;

/// Renders the notice on a conflict in a room or an entity; `writing_tool` is the tool with which an agent
/// writes its fields, if there is one.
pub fn conflict_notice(it: &OpenConflict, writing_tool: Option<&str>, reader: Reader) -> String {
    let sentence = conflict_sentence(&it.conflict, Some(reader.now));
    let remedy = match (reader.audience, writing_tool) {
        (Audience::Person, _) => {
            let id = quote_for_shell(&it.short_id);
            format!("edit the field, or `palazzo resolve {id} stands|other`")
        }
        (Audience::Agent, writing_tool) => {
            let with = writing_tool.map(|it| format!(" with {it}")).unwrap_or_default();
            let id = Value::from(it.short_id.as_str());
            format!(
                "write the field{with}, or resolve {{\"conflict\": {id}, \"take\": \"stands\" \
                 or \"other\"}}"
            )
        }
    };
    format!("Two answers for {sentence}. To settle it, {remedy}")
}

/// Renders the number of conflicts that concern other items.
pub fn conflict_count_line(count: usize, audience: Audience) -> String {
    let count = count_with_noun(count, "conflict");
    let lister = audience.choose("describe_workspace with findings: true", "`palazzo resolve`");
    format!("{count} from merges: {lister} lists what is open")
}

/// Renders both values in one sentence: `status: "settled" stands (ada, 2 hours ago), "overturned"
/// was written meanwhile by claude`.
pub fn conflict_sentence(it: &Conflict, now: Option<DateTime<Utc>>) -> String {
    let field = quoted_unless_plain(it.field_label());
    let name =
        |author: &ConflictAuthor| name_in_sentence(&truncate(&author.author, MAX_AUTHOR_CHARS));
    let by = |author: &ConflictAuthor| {
        let age = author.at.zip(now).map(|(at, now)| format!(", {}", ago(at, now)));
        format!(" ({}{})", name(author), age.unwrap_or_default())
    };
    let stands_by = it.stands_by.as_ref().map(by).unwrap_or_default();
    let stands = match &it.stands {
        Some(value) => format!("{} stands{stands_by}", value_text(value)),
        None => format!("it stays deleted{stands_by}"),
    };
    let other_by = it.other_by.as_ref().map(name);
    let other = match (&it.other, other_by) {
        (Some(value), Some(by)) => {
            format!("{} was written meanwhile by {by}", value_text(value))
        }
        (Some(value), None) => format!("{} was written meanwhile", value_text(value)),
        (None, Some(by)) => format!("{by} deleted it meanwhile"),
        (None, None) => "it was deleted meanwhile".to_owned(),
    };
    format!("{field}: {stands}, {other}")
}

/// Renders open conflicts, each with its id and the file of its item.
pub fn conflict_list(conflicts: &[OpenConflict], now: DateTime<Utc>) -> String {
    if conflicts.is_empty() {
        return "There is no open conflict.\n".to_owned();
    }
    let lines = conflicts.iter().map(|it| {
        let OpenConflict { conflict, short_id, item_file, .. } = it;
        let sentence = mark_imitations(&conflict_sentence(conflict, Some(now)));
        format!("{short_id}  {}\n      {sentence}\n", quoted_unless_plain(item_file))
    });
    lines.collect()
}

/// Renders what `resolve` did or, with `is_dry_run`, would do.
pub fn resolved_conflict(it: &OpenConflict, choice: ConflictChoice, is_dry_run: bool) -> String {
    let Conflict { stands, other, .. } = &it.conflict;
    let (verb, value) = match (choice, is_dry_run) {
        (ConflictChoice::Stands, false) => ("Kept", stands),
        (ConflictChoice::Stands, true) => ("Would keep", stands),
        (ConflictChoice::Other, false) => ("Took the other value of", other),
        (ConflictChoice::Other, true) => ("Would take the other value of", other),
    };
    let field = quoted_unless_plain(it.conflict.field_label());
    let value = value.as_ref().map_or_else(|| "deleted".to_owned(), value_text);
    format!("{verb} {field} in {}: {value}.\n", quoted_unless_plain(&it.item_file))
}

/// Renders an open conflict as JSON.
pub fn conflict_json(it: &OpenConflict) -> Value {
    let author = |it: &ConflictAuthor| {
        let at = it.at.map(|it| it.to_rfc3339_opts(SecondsFormat::Secs, true));
        json!({ "author": it.author, "at": at, "commit": it.commit })
    };
    let Conflict { id, field, stands, stands_by, other, other_by, .. } = &it.conflict;
    let mut value = json!({
        "conflict": Conflict::name_from_path(&it.path),
        "short": it.short_id,
        "id": id.map(|it| it.to_string()),
        "file": it.item_file,
        "field": field,
    });
    for (key, side, by_key, by) in
        [("stands", stands, "stands_by", stands_by), ("other", other, "other_by", other_by)]
    {
        // A deleted value has no key, because `null` is a value.
        if let Some(side) = side {
            value[key] = side.clone();
        }
        value[by_key] = by.as_ref().map(author).into();
    }
    value
}

fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => in_quotes(&truncate(text, MAX_VALUE_CHARS)),
        Value::Array(_) | Value::Object(_) => {
            quoted(&truncate(&value.to_string(), MAX_VALUE_CHARS))
        }
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn conflict(stands: Option<Value>, other: Option<Value>) -> Conflict {
        let author = |name: &str, at: &str| ConflictAuthor {
            author: name.to_owned(),
            at: at.parse().ok(),
            commit: None,
        };
        Conflict {
            id: None,
            file: "entities/claim/stasis.yaml".to_owned(),
            field: "status".to_owned(),
            stands,
            stands_by: Some(author("ada", "2026-03-01T10:00:00Z")),
            other,
            other_by: Some(author("claude", "2026-03-01T09:00:00Z")),
        }
    }

    fn sentence(stands: Option<Value>, other: Option<Value>) -> String {
        conflict_sentence(&conflict(stands, other), "2026-03-01T12:00:00Z".parse().ok())
    }

    #[test]
    fn a_conflict_names_both_values_and_authors() {
        assert_snapshot!(
            sentence(Some("settled".into()), Some("overturned".into())),
            @r#"status: "settled" stands (ada, 2 hours ago), "overturned" was written meanwhile by claude"#
        );
        assert_snapshot!(
            sentence(Some(json!(["a"])), None),
            @r#"status: `["a"]` stands (ada, 2 hours ago), claude deleted it meanwhile"#
        );
        assert_snapshot!(
            sentence(None, Some("a\nb".into())),
            @r#"status: it stays deleted (ada, 2 hours ago), "a b" was written meanwhile by claude"#
        );
    }

    #[test]
    fn a_deleted_value_is_missing_in_json() {
        let value = conflict_json(&OpenConflict {
            path: "conflicts/0123456789abcdef.yaml".to_owned(),
            conflict: conflict(Some(Value::Null), None),
            short_id: "0123".to_owned(),
            item_file: "entities/claim/stasis.yaml".to_owned(),
        });
        assert!(value.get("stands").is_some() && value.get("other").is_none());
        assert_eq!(value["other_by"]["author"], "claude");
    }
}
