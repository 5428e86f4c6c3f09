//! The front matter of Markdown files.

use schemars::JsonSchema;

use crate::format::schema::scalars::{NonEmptyTextSchema, TextSchema, TimeSchema, UlidSchema};

/// What a scroll says of itself before its text.
#[derive(JsonSchema)]
#[schemars(title = "Scroll", deny_unknown_fields)]
pub(crate) struct ScrollSchema {
    /// The scroll's id, a ULID, as in the file's name; may be left out.
    #[schemars(example = &"01KGSRV28ADXPQGT6T6QX25YS8")]
    id: Option<UlidSchema>,
    /// What stands above it.
    #[schemars(example = &"The ibis and the trilobite")]
    title: NonEmptyTextSchema,
    /// When it was written: a time in UTC, or a day. Only a file whose name
    /// begins with an id may do without.
    #[schemars(example = &"2026-02-28T10:15:00Z", example = &"2026-02-28")]
    written: Option<TimeSchema>,
    /// Who wrote it.
    #[schemars(example = &"claude", extend("default" = "unknown"))]
    by: Option<TextSchema>,
}

/// What a drawer says of itself before its text.
#[derive(JsonSchema)]
#[schemars(title = "Drawer", deny_unknown_fields)]
pub(crate) struct DrawerSchema {
    /// The drawer's id, a ULID, as in the file's name; may be left out.
    #[schemars(example = &"01KGSRV28ADXPQGT6T6QX25YS8")]
    id: Option<UlidSchema>,
    /// The wing it is filed under, if it is not called as its folder is.
    #[schemars(example = &"code")]
    wing: Option<TextSchema>,
    /// The room it is filed under, if it is not called as its folder is.
    #[schemars(example = &"auth")]
    room: Option<TextSchema>,
    /// Where the text comes from.
    #[schemars(example = &"meeting-2026-03-12.md")]
    source: Option<TextSchema>,
    /// Who filed it.
    #[schemars(example = &"claude")]
    by: Option<TextSchema>,
    /// When it was filed: a time in UTC, or a day.
    #[schemars(example = &"2026-03-12T09:30:00Z", example = &"2026-03-12")]
    filed: Option<TimeSchema>,
}

/// What an entry of a diary says of itself before its text.
#[derive(JsonSchema)]
#[schemars(title = "Diary entry", deny_unknown_fields)]
pub(crate) struct DiaryEntrySchema {
    /// The entry's id, a ULID, as in the file's name; may be left out.
    #[schemars(example = &"01KGSRV28ADXPQGT6T6QX25YS8")]
    id: Option<UlidSchema>,
    /// Whose diary it is in, if not of whom its folder is called for.
    #[schemars(example = &"claude")]
    agent: Option<TextSchema>,
    /// What it is about.
    #[schemars(extend("default" = "general"))]
    topic: Option<TextSchema>,
    /// When it was written: a time in UTC, or a day.
    #[schemars(example = &"2026-03-12T09:30:00Z", example = &"2026-03-12")]
    written: Option<TimeSchema>,
}
