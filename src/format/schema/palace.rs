//! `palace.toml`.

use schemars::JsonSchema;

use crate::format::schema::scalars::RoomNameSchema;

/// A palace: its name, the room where visits begin, and settings.
#[derive(JsonSchema)]
#[schemars(title = "Palace", deny_unknown_fields)]
pub(super) struct PalaceSchema {
    /// The version of the files.
    #[schemars(extend("const" = 1, "default" = 1))]
    format: Option<i64>,
    /// What the palace is called.
    #[schemars(regex(pattern = r"\S"), example = &"Paradigm Survey")]
    name: String,
    /// The room where visits begin.
    #[schemars(example = &"great-hall", example = &"code/auth-migration")]
    entry: Option<RoomNameSchema>,
    /// How rooms are shown.
    menu: Option<MenuSchema>,
    /// What becomes of changes.
    git: Option<GitSchema>,
    /// What actions may do.
    actions: Option<ActionSettingsSchema>,
    /// How things are found.
    search: Option<SearchSettingsSchema>,
}

/// How rooms are shown.
#[derive(JsonSchema)]
#[schemars(title = "Menu", deny_unknown_fields)]
struct MenuSchema {
    /// How many actions a room shows: twelve, or seven and then 8, 9 and 0.
    #[schemars(extend("default" = "wide"))]
    layout: Option<LayoutSchema>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum LayoutSchema {
    Wide,
    Classic,
}

/// What becomes of changes.
#[derive(JsonSchema)]
#[schemars(title = "Git", deny_unknown_fields)]
struct GitSchema {
    /// Whether each call of a tool is a commit, or its files are left to you.
    #[schemars(extend("default" = "auto"))]
    commit: Option<CommitModeSchema>,
    /// What becomes of what you edit yourself: it is left to you, or committed
    /// in your name.
    #[schemars(extend("default" = "leave"))]
    hand_edits: Option<HandEditModeSchema>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum CommitModeSchema {
    Auto,
    Manual,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum HandEditModeSchema {
    Leave,
    Commit,
}

/// What the actions of rooms may do.
#[derive(JsonSchema)]
#[schemars(title = "Actions", deny_unknown_fields)]
struct ActionSettingsSchema {
    /// The tools that change things and that a query action may run.
    #[schemars(example = ["update_entity"], extend("default" = []))]
    allow: Option<Vec<String>>,
}

/// How things are found.
#[derive(JsonSchema)]
#[schemars(title = "Search", deny_unknown_fields)]
struct SearchSettingsSchema {
    /// The folder of an embedding model, with model.safetensors and vocab.txt, for
    /// finding by meaning too; from this folder, if it does not begin at the root.
    #[schemars(regex(pattern = r"\S"), example = &"/usr/share/models/all-MiniLM-L6-v2")]
    model: Option<String>,
}
