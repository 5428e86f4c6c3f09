//! Schemas of the front matter of Markdown files.

use schemars::JsonSchema;

use crate::format::schema::scalars::{NonEmptyTextSchema, TextSchema, TimeSchema, UlidSchema};

/// The front matter of a scroll.
#[derive(JsonSchema)]
#[schemars(title = "Scroll", deny_unknown_fields)]
pub(crate) struct ScrollSchema {
    /// The scroll's id, a ULID, as in the file name; optional.
    #[schemars(example = &"01KGSRV28ADXPQGT6T6QX25YS8")]
    id: Option<UlidSchema>,
    /// The title.
    #[schemars(example = &"The ibis and the trilobite")]
    title: NonEmptyTextSchema,
    /// The time of writing: a time in UTC, or a day. Optional only if the file name begins with an
    /// id.
    #[schemars(example = &"2026-02-28T10:15:00Z", example = &"2026-02-28")]
    written: Option<TimeSchema>,
    /// The author.
    #[schemars(example = &"claude", extend("default" = "unknown"))]
    by: Option<TextSchema>,
    /// The ids of older scrolls that it replaces.
    #[schemars(extend("default" = []))]
    replaces: Option<Vec<UlidSchema>>,
}

/// The front matter of a drawer. Keys of other programs are kept.
#[derive(JsonSchema)]
#[schemars(title = "Drawer")]
pub(crate) struct DrawerSchema {
    /// The drawer's id, a ULID, as in the file name; optional.
    #[schemars(example = &"01KGSRV28ADXPQGT6T6QX25YS8")]
    id: Option<UlidSchema>,
    /// The wing it is filed under, if its name is not that of the folder.
    #[schemars(example = &"code")]
    wing: Option<TextSchema>,
    /// The room it is filed under, if its name is not that of the folder.
    #[schemars(example = &"auth")]
    room: Option<TextSchema>,
    /// The title; else the first heading or the first words of the text.
    #[schemars(example = &"Beds of coal › Seams")]
    title: Option<TextSchema>,
    /// The source of the text.
    #[schemars(example = &"meeting-2026-03-12.md")]
    source: Option<TextSchema>,
    /// The client that filed it.
    #[schemars(example = &"claude")]
    by: Option<TextSchema>,
    /// The time of filing: a time in UTC, or a day.
    #[schemars(example = &"2026-03-12T09:30:00Z", example = &"2026-03-12")]
    filed: Option<TimeSchema>,
}

/// The front matter of a diary entry.
#[derive(JsonSchema)]
#[schemars(title = "Diary entry", deny_unknown_fields)]
pub(crate) struct DiaryEntrySchema {
    /// The entry's id, a ULID, as in the file name; optional.
    #[schemars(example = &"01KGSRV28ADXPQGT6T6QX25YS8")]
    id: Option<UlidSchema>,
    /// The agent whose diary it is, if the name is not that of the folder.
    #[schemars(example = &"claude")]
    agent: Option<TextSchema>,
    /// The topic.
    #[schemars(extend("default" = "general"))]
    topic: Option<TextSchema>,
    /// The time of writing: a time in UTC, or a day.
    #[schemars(example = &"2026-03-12T09:30:00Z", example = &"2026-03-12")]
    written: Option<TimeSchema>,
}
