//! Why the keeper does not do as asked, said so that the caller knows what to
//! do next.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::PathBuf;

use chrono::{DateTime, Utc};
use ulid::Ulid;

use crate::model::{AmbiguousRoom, CommitSummary, Diagnostic, MAX_FILE_BYTES, RoomId, SlugError};
use crate::store;

/// A refusal is an answer: who reads it can do better. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// No workspace of that name.
    #[error("{}", no_such_workspace_message(asked, meant.as_deref(), known, *choose))]
    NoSuchWorkspace {
        /// What was asked for.
        asked: String,
        /// What was probably meant.
        meant: Option<String>,
        /// The names of those there are.
        known: Vec<String>,
        /// Whether a tool is offered that sets one.
        choose: bool,
    },
    /// A workspace name that cannot be made into a directory of the home.
    #[error("`{}` cannot be the name of a workspace: {why}", name.escape_debug())]
    InvalidWorkspaceName {
        /// What was asked for.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// No workspace was set, and none can be guessed.
    #[error("{}", no_workspace_set_message(known, *choose))]
    NoWorkspaceSet {
        /// The names of those there are.
        known: Vec<String>,
        /// The home that was looked in.
        home: PathBuf,
        /// Whether a tool is offered that sets one.
        choose: bool,
    },
    /// The visitor stands in no room.
    #[error("this workspace has no rooms yet: build an entry room with build_room first")]
    NoRooms,
    /// A room that nobody has built cannot be written in.
    #[error(
        "the room `{room}` is not built yet: build it with build_room first, or name another `room`"
    )]
    RoomNotBuilt {
        /// The room.
        room: RoomId,
    },
    /// No room is called that.
    #[error("no room is called `{}`{}", asked.escape_debug(), similar_rooms_hint(meant.as_deref(), rooms))]
    NoSuchRoom {
        /// What was asked for.
        asked: String,
        /// What was probably meant.
        meant: Option<String>,
        /// Some rooms there are.
        rooms: Vec<String>,
    },
    /// No scroll of that id hangs there.
    #[error("no scroll `{asked}` hangs in `{room}`{}", newest_scrolls_hint(scrolls))]
    NoSuchScroll {
        /// What was asked for.
        asked: Ulid,
        /// The room.
        room: RoomId,
        /// Some scrolls that hang there, newest first.
        scrolls: Vec<Ulid>,
    },
    /// No action has that number here.
    #[error("there is no action {number} here")]
    NoSuchAction {
        /// What was chosen.
        number: i64,
    },
    /// No entity is called that.
    #[error("no entity is called `{}`{} (search_entities finds entities by what they are about)",
        asked.escape_debug(), meant.as_ref().map(|it| format!("; did you mean `{it}`?")).unwrap_or_default())]
    NoSuchEntity {
        /// What was asked for.
        asked: String,
        /// What was probably meant.
        meant: Option<String>,
    },
    /// Entities that cannot be as they are told.
    #[error("{}", violations_message(.0))]
    Violations(Vec<EntityViolations>),
    /// A name that another entity has.
    #[error("`{}` is in {file} already; to make one of two entities, give the other as `merge`",
        name.escape_debug())]
    NameTaken {
        /// The name.
        name: String,
        /// The file of the entity that has it.
        file: String,
    },
    /// No entity has that exact name, said as the reference memory server says it.
    #[error("Entity with name {name} not found")]
    MemoryEntityNotFound {
        /// The name.
        name: String,
    },
    /// No drawer has that id.
    #[error("no drawer has the id `{}`: nothing was deleted", asked.escape_debug())]
    NoSuchDrawer {
        /// What was asked for.
        asked: String,
    },
    /// A file that has to be changed cannot be understood as it is.
    #[error("{}:{}:{}: {}. The file was edited by hand and is left as it is: \
        it must be mended before a tool changes it", .0.file, .0.at.line, .0.at.column, .0.message)]
    BrokenFile(Box<Diagnostic>),
    /// A file that cannot be understood at all.
    #[error("{}:{}:{}: {}", .0.file, .0.at.line, .0.at.column, .0.message)]
    UnreadableFile(Box<Diagnostic>),
    /// A file a person wrote cannot be changed without disturbing it.
    #[error(
        "`{file}` is written in a way that a tool cannot change without disturbing it; \
        change it in an editor, or bring it into the usual form first"
    )]
    UneditableFormatting {
        /// The file.
        file: String,
    },
    /// What is seen is a palace as it was.
    #[error(
        "this is the palace as it was on {} ({}), and the past cannot be changed; call \
        set_workspace without `as_of` to return to the present",
        .0.at.format("%Y-%m-%d %H:%M UTC"), .0.short
    )]
    ReadOnlyPast(CommitSummary),
    /// The same file was changed from outside again and again.
    #[error("somebody else keeps changing the same files; nothing was written: try again")]
    Contended,
    /// The clock shows a year that no date of a file or of git can have.
    #[error(
        "the clock of this machine shows {}, and nothing is written with a date outside of 1970 to \
         9999: set the clock right; reading works",
        _0.format("%Y-%m-%d %H:%M UTC")
    )]
    InvalidClock(DateTime<Utc>),
    /// The call was cancelled before anything was written.
    #[error("the call was cancelled, and nothing was changed")]
    Cancelled,
    /// A file that would not be read as it was meant.
    #[error(
        "`{file}` cannot hold this so that it reads the same: a key may have 1,000 \
        characters, and values may lie 28 deep in each other; nothing was changed"
    )]
    Unrepresentable {
        /// The file.
        file: String,
    },
    /// More than a file may hold.
    #[error("`{file}` would have {size} bytes, and {} are the most; split it up", MAX_FILE_BYTES)]
    FileTooLarge {
        /// The file.
        file: String,
        /// How large it would be.
        size: usize,
    },
    /// What was asked makes no sense as it is.
    #[error("{0}")]
    Invalid(String),
    /// A bare slug that several rooms answer to.
    #[error(transparent)]
    AmbiguousRoom(#[from] AmbiguousRoom),
    /// A text that is no slug.
    #[error(transparent)]
    InvalidSlug(#[from] SlugError),
    /// The store could not do it.
    #[error("{}", error_chain(.0))]
    Store(#[from] store::Error),
}

/// Says what went wrong and, after a colon each, why.
pub(crate) fn error_chain(err: &dyn Error) -> String {
    let mut text = err.to_string();
    let mut cause = err.source();
    while let Some(err) = cause {
        let why = err.to_string();
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
    known: &[String],
    choose: bool,
) -> String {
    let asked = asked.escape_debug();
    let hint = meant.map_or(".".to_owned(), |it| format!("; did you mean `{it}`?"));
    let known = list_workspaces(known);
    let advice = match choose {
        true => " To make a new one, call set_workspace with `create: true`.",
        false => "",
    };
    format!("there is no workspace `{asked}`{hint} {known}{advice}")
}

/// An entity that what is laid down for its genus does not allow, or that
/// contradicts itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityViolations {
    /// The entity.
    pub name: String,
    /// Its genus, if that is what does not allow it.
    pub genus: Option<String>,
    /// What is against it, and what would be allowed.
    pub reasons: Vec<String>,
}

fn violations_message(all: &[EntityViolations]) -> String {
    const MAX_SHOWN: usize = 20;
    let told = all
        .iter()
        .take(MAX_SHOWN)
        .map(|it| format!("`{}` cannot be so: {}", it.name.escape_debug(), it.reasons.join("; ")));
    let mut told = told.collect::<Vec<_>>().join(". ");
    if all.len() > MAX_SHOWN {
        told.push_str(&format!(". And so it is with {} more", all.len() - MAX_SHOWN));
    }
    let genera: BTreeSet<_> = all.iter().filter_map(|it| it.genus.as_deref()).collect();
    let genera: Vec<_> = genera.into_iter().map(|it| format!("`{}`", it.escape_debug())).collect();
    match genera.len() {
        0 => format!("{told}; nothing was changed"),
        _ => format!(
            "{told}. list_genera with the genus {} tells what is laid down; nothing was changed",
            genera.join(" or ")
        ),
    }
}

fn no_workspace_set_message(known: &[String], choose: bool) -> String {
    if !choose {
        return match known.len() {
            0 => "there is no workspace yet: the first thing that is written makes one".to_owned(),
            _ => format!(
                "there are several workspaces, and none is chosen: the server has to be started \
                 with `--workspace NAME`. {}",
                list_workspaces(known)
            ),
        };
    }
    let several = match known.len() {
        0 | 1 => "",
        _ => " (or start the server with `--workspace NAME`)",
    };
    format!("no workspace is set: call set_workspace first{several}. {}", list_workspaces(known))
}

fn list_workspaces(known: &[String]) -> String {
    match known.len() {
        0 => "There are no workspaces yet.".to_owned(),
        _ => format!("Workspaces: {}.", quote_names(known)),
    }
}

/// Names some workspaces: `` `code`, `survey` ``.
pub(crate) fn quote_names(known: &[String]) -> String {
    let shown: Vec<_> = known.iter().take(20).map(|it| format!("`{it}`")).collect();
    let more =
        if known.len() > 20 { format!(" and {} more", known.len() - 20) } else { String::new() };
    shown.join(", ") + &more
}

fn newest_scrolls_hint(scrolls: &[Ulid]) -> String {
    let scrolls: Vec<_> = scrolls.iter().map(|it| format!("`{it}`")).collect();
    match scrolls.len() {
        0 => "; no scroll does".to_owned(),
        _ => format!("; the newest there are {}", scrolls.join(", ")),
    }
}

fn similar_rooms_hint(meant: Option<&str>, rooms: &[String]) -> String {
    match (meant, rooms) {
        (Some(meant), _) => format!("; did you mean `{meant}`?"),
        (None, []) => String::new(),
        (None, rooms) => {
            let rooms: Vec<_> = rooms.iter().map(|it| format!("`{it}`")).collect();
            format!("; there are, among others, {}", rooms.join(", "))
        }
    }
}
