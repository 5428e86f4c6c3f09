//! Schemas of the scalar values that several files share.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// A text. A number or a boolean is accepted as written.
pub(crate) struct TextSchema;

/// A text that is not empty.
pub(crate) struct NonEmptyTextSchema;

/// The name of something else: of an entity, a genus, a tool. It has no examples and only one type,
/// because editors offer both as completions; the parser also accepts a number.
pub(crate) struct ReferenceSchema;

/// The slug of a room: `great-hall`, `code/auth-migration`. It is a reference too.
pub(crate) struct RoomNameSchema;

/// The path of the file of an item.
pub(crate) struct ItemPathSchema;

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
described!(ReferenceSchema, { "type": "string", "pattern": r"\S" });
described!(RoomNameSchema, {
    "type": "string",
    "pattern": "^([a-z0-9][a-z0-9_-]{0,79}/)?[a-z0-9][a-z0-9_-]{0,79}$"
});
described!(ItemPathSchema, {
    "type": "string",
    "pattern": r"^(palace\.toml|(rooms|scrolls|drawers|diary|entities|genera|tasks|processes)/.+)$"
});
described!(UlidSchema, {
    "type": "string",
    "pattern": "^[0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{26}$"
});
described!(TimeSchema, { "type": "string", "pattern": r"^\s*[+-]?\d+\s*-\s*\d+\s*-\s*\d" });
