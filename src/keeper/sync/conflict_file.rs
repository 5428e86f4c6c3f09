//! The file of a conflict. A value in JSON is also one in YAML.

use serde_json::{Value, json};

use crate::keeper::merge::MergeConflict;
use crate::merge::Side;

/// Returns the path in the palace and the text of the file for a conflict.
pub(super) fn conflict_file(conflict: &MergeConflict) -> (String, String) {
    let field = Some(&conflict.field).filter(|it| !it.is_empty());
    let fields = [
        ("id", conflict.id.as_ref().map(|it| json!(it))),
        ("file", Some(json!(conflict.path))),
        ("field", field.map(|it| json!(it))),
        ("stands", conflict.stands.clone()),
        ("stands_by", Some(author(&conflict.stands_by))),
        ("other", conflict.other.clone()),
        ("other_by", Some(author(&conflict.other_by))),
    ];
    let lines = fields.into_iter().filter_map(|(key, value)| Some(format!("{key}: {}\n", value?)));
    let text = lines.collect::<Vec<_>>().concat();
    (format!("conflicts/{}.yaml", conflict.name()), text)
}

fn author(side: &Side) -> Value {
    json!({ "author": side.author, "at": side.at.to_rfc3339(), "commit": side.commit })
}
