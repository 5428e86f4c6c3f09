//! What stands behind the keys of many files.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// A text. A number or a date is taken as it is written.
pub(crate) struct TextSchema;

/// A text that says something.
pub(crate) struct NonEmptyTextSchema;

/// What a room is called: `great-hall`, `code/auth-migration`.
pub(crate) struct RoomNameSchema;

/// A ULID.
pub(crate) struct UlidSchema;

/// A time in full, or a day.
pub(crate) struct TimeSchema;

macro_rules! described {
    ($type:ident, $schema:tt) => {
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

described!(TextSchema, { "type": ["string", "number", "boolean"] });
described!(NonEmptyTextSchema, { "type": ["string", "number", "boolean"], "pattern": r"\S" });
described!(RoomNameSchema, {
    "type": ["string", "number", "boolean"],
    "pattern": "^([a-z0-9][a-z0-9_-]{0,79}/)?[a-z0-9][a-z0-9_-]{0,79}$"
});
described!(UlidSchema, {
    "type": "string",
    "pattern": "^[0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{26}$"
});
described!(TimeSchema, { "type": "string", "pattern": r"^\s*[+-]?\d+\s*-\s*\d+\s*-\s*\d" });
