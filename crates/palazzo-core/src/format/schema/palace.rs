//! Schema of `palace.toml`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::json;

use crate::format::schema::scalars::RoomNameSchema;
use crate::model::{Rule, Severity};

/// A palace: its name, the entry room, and settings.
#[derive(JsonSchema)]
#[schemars(title = "Palace", deny_unknown_fields)]
pub(super) struct PalaceSchema {
    /// The version of the file format.
    #[schemars(extend("const" = 1, "default" = 1))]
    format: Option<i64>,
    /// The name of the palace.
    #[schemars(regex(pattern = r"\S"), example = &"Paradigm Survey")]
    name: String,
    /// The room in which visits begin.
    entry: Option<RoomNameSchema>,
    /// The menus of rooms.
    menu: Option<MenuSchema>,
    /// Commits.
    git: Option<GitSchema>,
    /// Synchronization by `palazzo serve`.
    sync: Option<SyncSettingsSchema>,
    /// The permissions of actions.
    actions: Option<ActionSettingsSchema>,
    /// The findings of `palazzo check`.
    check: Option<CheckSettingsSchema>,
    /// The search.
    search: Option<SearchSettingsSchema>,
    /// The times in files.
    time: Option<TimeSettingsSchema>,
    /// The palace as a template for new palaces.
    template: Option<TemplateSchema>,
}

/// The menus of rooms.
#[derive(JsonSchema)]
#[schemars(title = "Menu", deny_unknown_fields)]
struct MenuSchema {
    /// The numbering of actions: twelve per page, or seven and then 8, 9 and 0.
    #[schemars(extend("default" = "wide"))]
    layout: Option<LayoutSchema>,
    /// How many characters of the contents of scrolls and entities an answer has.
    #[schemars(extend("default" = 2500), range(max = 20_000))]
    contents: Option<u32>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
enum LayoutSchema {
    Wide,
    Classic,
}

/// Commits.
#[derive(JsonSchema)]
#[schemars(title = "Git", deny_unknown_fields)]
struct GitSchema {
    /// Whether each change by a tool is committed, or its files are left for you to commit.
    #[schemars(extend("default" = "auto"))]
    commit: Option<CommitModeSchema>,
    /// Whether your own edits are left for you to commit, or committed in your name.
    #[schemars(extend("default" = "leave"))]
    hand_edits: Option<HandEditModeSchema>,
    /// What happens when your git configuration asks for signed commits and one cannot be signed:
    /// it is made without a signature, or nothing is written (true). With false, commits are never
    /// signed.
    sign: Option<SigningModeSchema>,
}

/// The mode of signing.
struct SigningModeSchema;

impl JsonSchema for SigningModeSchema {
    fn schema_name() -> Cow<'static, str> {
        "SigningMode".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "enum": ["auto", true, false], "default": "auto" })
    }
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

/// Synchronization by `palazzo serve`.
#[derive(JsonSchema)]
#[schemars(title = "Sync", deny_unknown_fields)]
struct SyncSettingsSchema {
    /// The shortest time in seconds between two pushes of one machine. Ten seconds for each machine
    /// keep a team at six pushes a minute.
    #[schemars(range(min = 1, max = 3600), example = 100)]
    push_interval: Option<u32>,
}

/// The permissions of room actions.
#[derive(JsonSchema)]
#[schemars(title = "Actions", deny_unknown_fields)]
struct ActionSettingsSchema {
    /// The tools that change something and that a query action may call nevertheless.
    #[schemars(example = json!(["update_entity"]), extend("default" = []))]
    allow: Option<Vec<String>>,
}

/// The findings of `palazzo check`.
#[derive(JsonSchema)]
#[schemars(title = "Check", deny_unknown_fields)]
struct CheckSettingsSchema {
    /// The codes of warnings and notes that are not reported; `palazzo check --explain` lists all.
    #[schemars(example = json!(["one-way-door"]), extend("default" = []))]
    silence: Option<Vec<SilencedCodeSchema>>,
    /// The days for which a fact of a `single` relation may stay untouched while others of its
    /// entity change, before it is reported as `stale-fact`.
    #[schemars(range(min = 1, max = 36500), example = 365)]
    stale_fact_days: Option<u32>,
}

/// The code of a warning or a note.
struct SilencedCodeSchema;

impl JsonSchema for SilencedCodeSchema {
    fn schema_name() -> Cow<'static, str> {
        "SilencedCode".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let rules = Rule::ALL.iter().filter(|it| it.severity != Severity::Error);
        json_schema!({ "enum": rules.map(|it| it.name).collect::<Vec<_>>() })
    }
}

/// The search.
#[derive(JsonSchema)]
#[schemars(title = "Search", deny_unknown_fields)]
struct SearchSettingsSchema {
    /// The folder of an embedding model, with model.safetensors and vocab.txt, for semantic search;
    /// a relative path starts at the palace.
    #[schemars(regex(pattern = r"\S"), example = &"/usr/share/models/all-MiniLM-L6-v2")]
    model: Option<String>,
}

/// The times in files.
#[derive(JsonSchema)]
#[schemars(title = "Time", deny_unknown_fields)]
struct TimeSettingsSchema {
    /// The time zone of times and days in files that name none, by its IANA name.
    #[schemars(example = &"Europe/Berlin", extend("default" = "UTC"))]
    zone: Option<String>,
}

/// The palace as a template for new palaces.
#[derive(JsonSchema)]
#[schemars(title = "Template", deny_unknown_fields)]
struct TemplateSchema {
    /// The purpose of the template, in one line.
    description: Option<String>,
    /// The variables: `{{project}}` in the files is replaced by the value of `project`.
    #[schemars(extend("propertyNames" = { "pattern": "^[a-z0-9][a-z0-9_-]{0,79}$" }))]
    variables: Option<BTreeMap<String, TemplateVariableSchema>>,
}

/// A variable of the template.
#[derive(JsonSchema)]
#[schemars(title = "Variable", deny_unknown_fields)]
struct TemplateVariableSchema {
    /// The meaning of the value, for the person who is asked for it.
    #[schemars(example = &"The name of the project")]
    description: String,
    /// The value if none is given.
    default: Option<String>,
}
