//! Schema of `conflicts/<16 hex digits>.yaml`.

use schemars::JsonSchema;
use serde_json::Value;

use crate::format::schema::scalars::{
    ItemPathSchema, NonEmptyTextSchema, TextSchema, TimeSchema, UlidSchema,
};

/// A conflict: two values for one field, from a merge. Delete the file to keep the value that
/// stands.
#[derive(JsonSchema)]
#[schemars(
    title = "Conflict",
    deny_unknown_fields,
    extend("anyOf" = [{ "required": ["stands"] }, { "required": ["other"] }])
)]
pub(super) struct ConflictSchema {
    /// The id of the item, a ULID; without one it is known by its file.
    #[schemars(example = &"01KGSRV28ADXPQGT6T6QX25YS8")]
    id: Option<UlidSchema>,
    /// The file of the item.
    #[schemars(example = &"entities/claim/stasis-is-data.yaml")]
    file: ItemPathSchema,
    /// The field: a key, an item of a list, `path` or `body`; without it, the whole file.
    #[schemars(example = &"status", example = &"actions[\"Listen to the clock\"].content")]
    field: Option<TextSchema>,
    /// The value that the field has; missing if it is deleted.
    stands: Option<Value>,
    /// The author of the value that stands.
    stands_by: Option<AuthorSchema>,
    /// The other value; missing if its author deleted the field.
    other: Option<Value>,
    /// The author of the other value.
    other_by: Option<AuthorSchema>,
}

/// The author of a value, and the time.
#[derive(JsonSchema)]
#[schemars(title = "Author", deny_unknown_fields)]
struct AuthorSchema {
    /// The name.
    author: NonEmptyTextSchema,
    /// When: a time in UTC, or a day.
    #[schemars(example = &"2026-03-01T12:00:00Z")]
    at: Option<TimeSchema>,
    /// The commit.
    commit: Option<TextSchema>,
}
