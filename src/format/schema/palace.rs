//! `palace.toml`.

use schemars::JsonSchema;

use crate::format::schema::scalars::RoomName;

/// A palace: its name, the room where visits begin, and settings.
#[derive(JsonSchema)]
#[schemars(title = "Palace", deny_unknown_fields)]
pub(super) struct Palace {
    /// The version of the files.
    #[schemars(extend("const" = 1, "default" = 1))]
    format: Option<i64>,
    /// What the palace is called.
    #[schemars(regex(pattern = r"\S"), example = &"Paradigm Survey")]
    name: String,
    /// The room where visits begin.
    #[schemars(example = &"great-hall", example = &"code/auth-migration")]
    entry: Option<RoomName>,
    /// How rooms are shown.
    menu: Option<Menu>,
    /// What becomes of changes.
    git: Option<Git>,
    /// What actions may do.
    actions: Option<Actions>,
    /// How things are found.
    search: Option<Search>,
}

/// How rooms are shown.
#[derive(JsonSchema)]
#[schemars(title = "Menu", deny_unknown_fields)]
struct Menu {
    /// How many actions a room shows: twelve, or seven and then 8, 9 and 0.
    #[schemars(extend("default" = "wide"))]
    layout: Option<Layout>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum Layout {
    Wide,
    Classic,
}

/// What becomes of changes.
#[derive(JsonSchema)]
#[schemars(title = "Git", deny_unknown_fields)]
struct Git {
    /// Whether each call of a tool is a commit, or its files are left to you.
    #[schemars(extend("default" = "auto"))]
    commit: Option<Commit>,
    /// What becomes of what you edit yourself: it is left to you, or committed
    /// in your name.
    #[schemars(extend("default" = "leave"))]
    hand_edits: Option<HandEdits>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum Commit {
    Auto,
    Manual,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum HandEdits {
    Leave,
    Commit,
}

/// What the actions of rooms may do.
#[derive(JsonSchema)]
#[schemars(title = "Actions", deny_unknown_fields)]
struct Actions {
    /// The tools that change things and that a query action may run.
    #[schemars(example = ["update_entity"], extend("default" = []))]
    allow: Option<Vec<String>>,
}

/// How things are found.
#[derive(JsonSchema)]
#[schemars(title = "Search", deny_unknown_fields)]
struct Search {
    /// The folder of an embedding model, with model.safetensors and vocab.txt, for
    /// finding by meaning too; from this folder, if it does not begin at the root.
    #[schemars(regex(pattern = r"\S"), example = &"/usr/share/models/all-MiniLM-L6-v2")]
    model: Option<String>,
}
