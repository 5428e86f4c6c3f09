//! The front matter of Markdown files.

use schemars::JsonSchema;

use crate::format::schema::scalars::{Id, Moment, Text, Words};

/// What a scroll says of itself before its text.
#[derive(JsonSchema)]
#[schemars(title = "Scroll", deny_unknown_fields)]
pub(crate) struct Scroll {
    /// The scroll's id, a ULID, as in the file's name; may be left out.
    #[schemars(example = &"01KGSRV28ADXPQGT6T6QX25YS8")]
    id: Option<Id>,
    /// What stands above it.
    #[schemars(example = &"The ibis and the trilobite")]
    title: Words,
    /// When it was written: a time in UTC, or a day. Only a file whose name
    /// begins with an id may do without.
    #[schemars(example = &"2026-02-28T10:15:00Z", example = &"2026-02-28")]
    written: Option<Moment>,
    /// Who wrote it.
    #[schemars(example = &"claude", extend("default" = "unknown"))]
    by: Option<Text>,
}

/// What a drawer says of itself before its text.
#[derive(JsonSchema)]
#[schemars(title = "Drawer", deny_unknown_fields)]
pub(crate) struct Drawer {
    /// The drawer's id, a ULID, as in the file's name; may be left out.
    #[schemars(example = &"01KGSRV28ADXPQGT6T6QX25YS8")]
    id: Option<Id>,
    /// The wing it is filed under, if it is not called as its folder is.
    #[schemars(example = &"code")]
    wing: Option<Text>,
    /// The room it is filed under, if it is not called as its folder is.
    #[schemars(example = &"auth")]
    room: Option<Text>,
    /// Where the text comes from.
    #[schemars(example = &"meeting-2026-03-12.md")]
    source: Option<Text>,
    /// Who filed it.
    #[schemars(example = &"claude")]
    by: Option<Text>,
    /// When it was filed: a time in UTC, or a day.
    #[schemars(example = &"2026-03-12T09:30:00Z", example = &"2026-03-12")]
    filed: Option<Moment>,
}

/// What an entry of a diary says of itself before its text.
#[derive(JsonSchema)]
#[schemars(title = "Diary entry", deny_unknown_fields)]
pub(crate) struct Entry {
    /// The entry's id, a ULID, as in the file's name; may be left out.
    #[schemars(example = &"01KGSRV28ADXPQGT6T6QX25YS8")]
    id: Option<Id>,
    /// Whose diary it is in, if not of whom its folder is called for.
    #[schemars(example = &"claude")]
    agent: Option<Text>,
    /// What it is about.
    #[schemars(extend("default" = "general"))]
    topic: Option<Text>,
    /// When it was written: a time in UTC, or a day.
    #[schemars(example = &"2026-03-12T09:30:00Z", example = &"2026-03-12")]
    written: Option<Moment>,
}
