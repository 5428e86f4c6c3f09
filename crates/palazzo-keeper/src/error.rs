//! The refusals of the keeper. Each says why it refuses a call, and what the caller can do instead.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::PathBuf;

use chrono::{DateTime, Utc};
use ulid::Ulid;

use palazzo_core::model::{
    AmbiguousRoomError, CommitSummary, DateError, Diagnostic, Layout, MAX_FILE_BYTES, RoomId, Slot,
    SlugError, TemplateVariable, foreign_message, quote_for_shell, quoted, quoted_unless_plain,
};
use palazzo_store::{self as store, SyncError, SyncFailureKind};

/// The reason why the keeper refuses a call. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// Nothing may be changed.
    #[error("this server only reads: it was started with --read-only")]
    ReadOnly,
    /// No workspace has that name.
    #[error("{}", no_such_workspace_message(asked, meant.as_deref(), known, *choose))]
    NoSuchWorkspace {
        /// The name in the call.
        asked: String,
        /// The most similar name.
        meant: Option<String>,
        /// The names of the existing workspaces.
        known: Vec<String>,
        /// Whether the caller has a tool that sets a workspace.
        choose: bool,
    },
    /// A name that no workspace, wing or room can have.
    #[error("{} cannot be the name of {what}: {why}", quoted(name))]
    InvalidName {
        /// The kind of thing that cannot have the name, with an article: `a workspace`.
        what: String,
        /// The name in the call.
        name: String,
        /// The reason.
        why: String,
    },
    /// No template has that name.
    #[error(
        "there is no template {}{} Templates: {}",
        quoted(asked),
        meant.as_ref().map_or(".".to_owned(), |it| format!("; did you mean {}?", quoted(it))),
        quote_names(known)
    )]
    NoSuchTemplate {
        /// The name in the call.
        asked: String,
        /// The most similar name.
        meant: Option<String>,
        /// The names of the templates.
        known: Vec<String>,
    },
    /// A template with variables for which no value was given.
    #[error("{}", missing_variables_message(template, missing))]
    MissingVariables {
        /// The name of the template.
        template: String,
        /// The variables.
        missing: Vec<TemplateVariable>,
    },
    /// No workspace was set, and there is no default one.
    #[error("{}", no_workspace_set_message(known, *choose))]
    NoWorkspaceSet {
        /// The names of the existing workspaces.
        known: Vec<String>,
        /// The home.
        home: PathBuf,
        /// Whether the caller has a tool that sets a workspace.
        choose: bool,
    },
    /// The palace has no rooms.
    #[error("this workspace has no rooms yet: build an entry room with build_room first")]
    NoRooms,
    /// The room for a scroll is not built.
    #[error(
        "the room `{room}` is not built yet: build it with build_room first, or name another `room`"
    )]
    RoomNotBuilt {
        /// The room.
        room: RoomId,
    },
    /// A deletion of the entry room.
    #[error(
        "`{room}` is the entry room: make another room the entry first, with `entry` in \
         palace.toml or `entry: true` of build_room"
    )]
    EntryRoomDeletion {
        /// The room.
        room: RoomId,
    },
    /// No room has that name.
    #[error(
        "no room is called {}{}",
        quoted(asked),
        similar_rooms_hint(meant.as_deref(), rooms)
    )]
    NoSuchRoom {
        /// The name in the call.
        asked: String,
        /// The most similar name.
        meant: Option<String>,
        /// Some existing rooms.
        rooms: Vec<String>,
    },
    /// The room has no scroll with that id.
    #[error("there is no scroll `{asked}` in `{room}`{}", newest_scrolls_hint(scrolls))]
    NoSuchScroll {
        /// The id in the call.
        asked: Ulid,
        /// The room.
        room: RoomId,
        /// Some scrolls of the room, newest first.
        scrolls: Vec<Ulid>,
    },
    /// No action of the room has that number.
    #[error("there is no action {number} here{}", numbers_hint(*number))]
    NoSuchAction {
        /// The number in the call.
        number: i64,
    },
    /// No entity has that name.
    #[error(
        "no entity is called {}{} (use search_entities to search by words)",
        quoted(asked),
        meant.as_ref().map(|it| format!("; did you mean {}?", quoted(it))).unwrap_or_default()
    )]
    NoSuchEntity {
        /// The name in the call.
        asked: String,
        /// The most similar name.
        meant: Option<String>,
    },
    /// A new name without a character.
    #[error("the `new_name` is empty")]
    EmptyEntityName,
    /// No entity has that name any more.
    #[error(
        "no entity is called {} any more: it was renamed or merged; use {}",
        quoted(asked),
        current.iter().map(|it| quoted(it)).collect::<Vec<_>>().join(" or ")
    )]
    FormerEntityName {
        /// The name in the call.
        asked: String,
        /// The names now of the entities that had it.
        current: Vec<String>,
    },
    /// Entities that break the rules of their genus or contradict themselves.
    #[error("{}", violations_message(.0))]
    Violations(Vec<EntityViolations>),
    /// Another entity has the new name already.
    #[error(
        "an entity named {} already exists in {}; to merge the two, name that one in `merge`",
        quoted(name),
        quoted_unless_plain(file)
    )]
    NameTaken {
        /// The name.
        name: String,
        /// The file of the entity that has it.
        file: String,
    },
    /// No entity has that exact name, in the words of the reference memory server, which repeats the
    /// client's name as it is.
    #[error("Entity with name {name} not found")]
    MemoryEntityNotFound {
        /// The name.
        name: String,
    },
    /// No drawer has that id.
    #[error("no drawer has the id {}: nothing was deleted", quoted(asked))]
    NoSuchDrawer {
        /// The id in the call.
        asked: String,
    },
    /// The files of the palace have another format than this program reads.
    #[error(
        "{}: {}. Nothing was read or changed: {}",
        quoted_unless_plain(&.0.file), .0.message, .0.hint.as_deref().unwrap_or("write another `format`")
    )]
    OtherFormat(Box<Diagnostic>),
    /// A file to change has an error.
    #[error(
        "{}:{}:{}: {}. The file was edited by hand and was not changed: fix it, then try again",
        quoted_unless_plain(&.0.file), .0.at.line, .0.at.column, .0.message
    )]
    BrokenFile(Box<Diagnostic>),
    /// A file to read has an error.
    #[error(
        "{}:{}:{}: {}",
        quoted_unless_plain(&.0.file), .0.at.line, .0.at.column, .0.message
    )]
    UnreadableFile(Box<Diagnostic>),
    /// A file that a tool cannot change without changing other parts of it.
    #[error(
        "{} has a format that a tool cannot edit without changing other parts of the file; \
        edit it by hand, or rewrite it in the usual format first",
        quoted(file)
    )]
    UneditableFormatting {
        /// The file.
        file: String,
    },
    /// A change of a palace as of a past commit.
    #[error(
        "this is the palace as it was on {} ({}), and the past cannot be changed; call \
        set_workspace without `as_of` to return to the present",
        .0.at.format("%Y-%m-%d %H:%M UTC"), .0.short
    )]
    ReadOnlyPast(CommitSummary),
    /// Another program changed the same files at every attempt to write them.
    #[error("another program keeps changing the same files; nothing was written: try again")]
    Contended,
    /// The clock of the machine is outside of the years that files and git can store.
    #[error(
        "the clock of this machine shows {}, and Palazzo writes only dates from 1970 to 9999: \
         correct the clock; reading works",
        _0.format("%Y-%m-%d %H:%M UTC")
    )]
    InvalidClock(DateTime<Utc>),
    /// The call was cancelled before anything was written.
    #[error("the call was cancelled, and nothing was changed")]
    Cancelled,
    /// A value that cannot be written to a file and read back unchanged.
    #[error(
        "{} cannot store this exactly: a key may have at most 1,000 characters, and values \
        may be nested at most 28 levels deep; nothing was changed",
        quoted(file)
    )]
    Unrepresentable {
        /// The file.
        file: String,
    },
    /// A file that would be too large.
    #[error(
        "{} would have {size} bytes, and the limit is {}; split it up",
        quoted(file),
        MAX_FILE_BYTES
    )]
    FileTooLarge {
        /// The file.
        file: String,
        /// The size that it would have, in bytes.
        size: usize,
    },
    /// There is no conflict, visit, branch or wing of that name.
    #[error("there is no {what} {}{hint}", quoted(name))]
    NotFound {
        /// The kind of thing, without an article: `visit`.
        what: &'static str,
        /// The name in the call.
        name: String,
        /// The sign after the name, and what there is; may be empty.
        hint: String,
    },
    /// Several items have that name.
    #[error("{sentence} {}{advice}{}", quoted(name), candidates.join(", "))]
    AmbiguousName {
        /// The beginning of the sentence: `several rooms are called`.
        sentence: &'static str,
        /// The name in the call.
        name: String,
        /// The sign after the name, and what to write instead.
        advice: &'static str,
        /// The names that are not ambiguous.
        candidates: Vec<String>,
    },
    /// A list without items.
    #[error("`{argument}` is empty: {advice}")]
    EmptyList {
        /// The argument.
        argument: &'static str,
        /// The consequence, or the values to give.
        advice: &'static str,
    },
    /// A text without characters.
    #[error("the `{argument}` is empty{advice}")]
    EmptyText {
        /// The argument.
        argument: String,
        /// The sign after the argument, and the value to give; may be empty.
        advice: &'static str,
    },
    /// A name with a character that nobody sees.
    #[error(
        "the `{argument}` {} contains U+{:04X}, which nobody sees: leave it out",
        quoted(name), u32::from(*character)
    )]
    HiddenCharacter {
        /// The argument.
        argument: String,
        /// The name in the call.
        name: String,
        /// The first such character.
        character: char,
    },
    /// A text that is no date.
    #[error("`{argument}`: {why}")]
    InvalidDate {
        /// The argument.
        argument: String,
        /// The reason.
        why: DateError,
    },
    /// A file is in the way.
    #[error("there is a file {} already{advice}", quoted(file))]
    FileExists {
        /// The file.
        file: String,
        /// What to do; may be empty.
        advice: &'static str,
    },
    /// An item to show that was deleted.
    #[error(
        "{item} was deleted; `palazzo log {}` lists its commits{advice}",
        quote_for_shell(file)
    )]
    ItemDeleted {
        /// The kind and the name of the item.
        item: String,
        /// Its file.
        file: String,
        /// How to see it; may be empty.
        advice: &'static str,
    },
    /// No change is left to undo.
    #[error("there is nothing to undo: {why}")]
    NothingToUndo {
        /// The reason.
        why: String,
    },
    /// Only the change that created the palace is left to undo.
    #[error(
        "there is nothing more to undo: {title} created the palace; to remove it, delete its \
         directory"
    )]
    UndoOfCreation {
        /// The commit or the visit that created it.
        title: String,
    },
    /// Another reason, in words.
    #[error("{0}")]
    Invalid(String),
    /// A slug without a wing that several rooms have.
    #[error(transparent)]
    AmbiguousRoom(#[from] AmbiguousRoomError),
    /// A text that is not a slug.
    #[error(transparent)]
    InvalidSlug(#[from] SlugError),
    /// An error of the store.
    #[error("{}", format_error_chain(.0))]
    Store(#[from] store::Error),
}

/// Renders an error and its causes, separated by colons.
pub(crate) fn format_error_chain(err: &dyn Error) -> String {
    let mut text = err.to_string();
    let mut cause = err.source();
    while let Some(err) = cause {
        let why = foreign_message(&err.to_string());
        if !text.ends_with(&why) {
            text.push_str(": ");
            text.push_str(&why);
        }
        cause = err.source();
    }
    text
}

fn no_such_workspace_message(
    asked: &str,
    meant: Option<&str>,
    names: &[String],
    choose: bool,
) -> String {
    let asked = quoted(asked);
    let hint = meant.map_or(".".to_owned(), |it| format!("; did you mean {}?", quoted(it)));
    let workspaces = workspaces_sentence(names);
    let advice = match choose {
        true => " To make a new one, call set_workspace with `create: true`.",
        false => "",
    };
    format!("there is no workspace {asked}{hint} {workspaces}{advice}")
}

/// An entity that breaks the rules of its genus or contradicts itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityViolations {
    /// The entity.
    pub name: String,
    /// Its genus, if it breaks a rule of the genus.
    pub genus: Option<String>,
    /// The violated rules, each with the values that it allows.
    pub reasons: Vec<String>,
}

fn violations_message(entities: &[EntityViolations]) -> String {
    const MAX_SHOWN: usize = 20;
    let sentences = entities
        .iter()
        .take(MAX_SHOWN)
        .map(|it| format!("{} is not valid: {}", quoted(&it.name), it.reasons.join("; ")));
    let mut message = sentences.collect::<Vec<_>>().join(". ");
    if entities.len() > MAX_SHOWN {
        message.push_str(&format!(". Not valid either: {} more", entities.len() - MAX_SHOWN));
    }
    let genera: BTreeSet<_> = entities.iter().filter_map(|it| it.genus.as_deref()).collect();
    let genera: Vec<_> = genera.into_iter().map(quoted).collect();
    match genera.len() {
        0 => format!("{message}; nothing was changed"),
        _ => format!(
            "{message}. list_genera with the genus {} lists its rules; nothing was changed",
            genera.join(" or ")
        ),
    }
}

fn no_workspace_set_message(names: &[String], choose: bool) -> String {
    if !choose {
        return match names.len() {
            0 => "there is no workspace yet: the first write creates one".to_owned(),
            _ => format!(
                "there are several workspaces, and none is selected: start the server with \
                 `--workspace NAME`. {}",
                workspaces_sentence(names)
            ),
        };
    }
    let alternative = match names.len() {
        0 | 1 => "",
        _ => " (or start the server with `--workspace NAME`)",
    };
    let workspaces = workspaces_sentence(names);
    format!("no workspace is set: call set_workspace first{alternative}. {workspaces}")
}

fn workspaces_sentence(names: &[String]) -> String {
    match names.len() {
        0 => "There are no workspaces yet.".to_owned(),
        _ => format!("Workspaces: {}.", quote_names(names)),
    }
}

impl Refusal {
    /// Returns whether another process is synchronizing the repository.
    pub fn is_busy_with_sync(&self) -> bool {
        matches!(self, Self::Store(store::Error::Sync(SyncError::Busy)))
    }

    /// Returns what can end the failure of a synchronization; `None`: it passes by itself.
    pub(crate) fn sync_failure_kind(&self) -> Option<SyncFailureKind> {
        match self {
            Self::Store(err) => err.sync_failure_kind(),
            _ => Some(SyncFailureKind::Blocked),
        }
    }
}

/// Lists the first twenty names, and counts the others: `` `code`, `survey` ``.
pub(crate) fn quote_names(names: &[String]) -> String {
    let quoted: Vec<_> = names.iter().take(20).map(|it| quoted(it)).collect();
    let more =
        if names.len() > 20 { format!(" and {} more", names.len() - 20) } else { String::new() };
    quoted.join(", ") + &more
}

fn missing_variables_message(template: &str, missing: &[TemplateVariable]) -> String {
    let describe =
        |it: &TemplateVariable| format!("{} ({})", quoted(&it.name), quoted(&it.description));
    let listed: Vec<_> = missing.iter().map(describe).collect();
    let options: Vec<_> = missing.iter().map(|it| format!(" --set {}=VALUE", it.name)).collect();
    let name = quoted(template);
    format!(
        "the template {name} needs values: {}. Give them on the command line: \
         `palazzo init NAME --template {}`",
        listed.join(", "),
        quote_for_shell(template) + &options.concat()
    )
}

/// Explains why a number of a list opens nothing: the list is gone.
fn numbers_hint(number: i64) -> &'static str {
    let first = Layout::Wide.number_of_slot(Slot::Result(0));
    let is_of_list = |it: usize| (first..first + Layout::MAX_RESULTS).contains(&it);
    match usize::try_from(number).is_ok_and(is_of_list) {
        true => ": the numbers of a list end with a move to another room",
        false => "",
    }
}

fn newest_scrolls_hint(scrolls: &[Ulid]) -> String {
    let scrolls: Vec<_> = scrolls.iter().map(|it| format!("`{it}`")).collect();
    match scrolls.len() {
        0 => "; the room has no scrolls".to_owned(),
        _ => format!("; its newest scrolls are {}", scrolls.join(", ")),
    }
}

fn similar_rooms_hint(meant: Option<&str>, rooms: &[String]) -> String {
    match (meant, rooms) {
        (Some(meant), _) => format!("; did you mean {}?", quoted(meant)),
        (None, []) => String::new(),
        (None, rooms) => {
            let rooms: Vec<_> = rooms.iter().map(|it| quoted(it)).collect();
            format!("; existing rooms include {}", rooms.join(", "))
        }
    }
}
