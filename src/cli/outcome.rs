//! The result and the error of a command, the current time, and the user at the terminal.

use palazzo_core::model::{TimeZone, path_text, quoted, quoted_unless_plain};
use std::path::Path;
use std::process::ExitCode;
use std::sync::LazyLock;
use std::time::SystemTime;

use chrono::{DateTime, Utc};
use ulid::Ulid;

use palazzo_core::render;
use palazzo_keeper::{self as keeper, Caller, Refusal};

/// The id of the visit of this run of the program.
static VISIT_ID: LazyLock<Ulid> = LazyLock::new(|| Ulid::from_datetime(current_time().into()));

/// The result of a command: exit code 0, or 1 if it found a fault.
pub(super) type Outcome = Result<ExitCode, Failure>;

/// The error of a command that could not run; the process exits with 2.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("{}", refusal_for_terminal(.0))]
    Refused(#[from] Refusal),
    #[error("{0}")]
    Message(String),
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("the connection failed: {0}")]
    Connection(Box<dyn std::error::Error + Send + Sync>),
}

/// Says what to do about a home without a palace.
pub(super) fn no_palace_message(home: &Path) -> String {
    if let Some((palaces, command)) = keeper::palaces_outside_checkout(home) {
        return format!(
            "the sparse checkout in {} leaves out {}; `{command}` checks it out",
            path_text(home),
            render::join_names(&palaces)
        );
    }
    format!(
        "there is no palace in {} yet; `palazzo init NAME` creates one, `palazzo --help` explains \
         how the home is chosen",
        path_text(home)
    )
}

/// Words a refusal for a terminal user, who has commands instead of tools.
fn refusal_for_terminal(refusal: &Refusal) -> String {
    match refusal {
        Refusal::NoWorkspaceSet { known, home, .. } if known.is_empty() => no_palace_message(home),
        Refusal::NoWorkspaceSet { known, .. } => {
            format!(
                "there are several palaces: give --workspace NAME ({})",
                render::join_names(known)
            )
        }
        Refusal::NoSuchWorkspace { asked, known, .. } => {
            format!(
                "there is no palace {} here; there are {}",
                quoted(asked),
                render::join_names(known)
            )
        }
        Refusal::NoRooms => "this palace has no rooms yet: write the file of one, such as \
                             rooms/great-hall.yaml, with an editor, or ask an agent to build it"
            .to_owned(),
        Refusal::RoomNotBuilt { room } => format!(
            "the room `{room}` is not built yet: write the file rooms/{room}.yaml with an editor, \
             or ask an agent to build it"
        ),
        Refusal::EntryRoomDeletion { room } => format!(
            "`{room}` is the entry room: make another room the entry first, with `entry` in \
             palace.toml"
        ),
        Refusal::EmptyEntityName => "the new name is empty".to_owned(),
        Refusal::NameTaken { name, file } => {
            let (name, file) = (render::name_in_sentence(name), quoted_unless_plain(file));
            format!("an entity named {name} already exists in {file}: choose another name")
        }
        Refusal::NoSuchEntity { asked, meant } => {
            let hint = meant.as_ref().map(|it| format!("; did you mean {}?", quoted(it)));
            format!("no entity is called {}{}", quoted(asked), hint.unwrap_or_default())
        }
        refusal => refusal.to_string(),
    }
}

/// Returns the current time, or the time in `PALAZZO_NOW` (RFC 3339), which tests and
/// demonstrations set.
pub(super) fn current_time() -> DateTime<Utc> {
    let fixed = std::env::var("PALAZZO_NOW").ok().and_then(|it| it.parse().ok());
    // `Utc::now` panics if the clock shows a year before 1970.
    fixed.unwrap_or_else(|| SystemTime::now().into())
}

/// Returns the person at the terminal as the caller of `command`.
pub(super) fn terminal_user(command: &'static str) -> Caller {
    let name = std::env::var("USER").or_else(|_| std::env::var("USERNAME"));
    let name = name.unwrap_or_else(|_| "someone".to_owned());
    let person = Caller::for_person(&name, command, current_time());
    Caller { visit_id: *VISIT_ID, zone: TimeZone::of_machine(), ..person }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no_workspace_set(known: &[&str]) -> String {
        let known = known.iter().map(|it| (*it).to_owned()).collect();
        Failure::from(Refusal::NoWorkspaceSet { known, home: "/a".into(), choose: true })
            .to_string()
    }

    #[test]
    fn without_one_palace_the_remedy_is_a_command_or_an_option() {
        insta::assert_snapshot!(
            no_workspace_set(&[]),
            @"there is no palace in /a yet; `palazzo init NAME` creates one, `palazzo --help` explains how the home is chosen"
        );
        insta::assert_snapshot!(
            no_workspace_set(&["Code", "Größe"]),
            @"there are several palaces: give --workspace NAME (Code, Größe)"
        );
    }

    #[test]
    fn an_unknown_workspace_is_refused_with_the_known_ones() {
        let refusal = Refusal::NoSuchWorkspace {
            asked: "three".to_owned(),
            meant: None,
            known: vec!["one".to_owned(), "two".to_owned()],
            choose: true,
        };
        insta::assert_snapshot!(
            Failure::from(refusal),
            @"there is no palace `three` here; there are one, two"
        );
    }

    #[test]
    fn other_refusals_have_the_words_of_the_keeper() {
        let message = Refusal::Contended.to_string();
        assert_eq!(Failure::from(Refusal::Contended).to_string(), message);
    }

    #[test]
    fn a_person_reads_of_no_parameters_of_tools() {
        let (name, file) = ("Ada".to_owned(), "entities/a.yaml".to_owned());
        let refusals = [
            Refusal::EntryRoomDeletion { room: "hall".parse().unwrap() },
            Refusal::EmptyEntityName,
            Refusal::NameTaken { name, file },
        ];
        let messages = refusals.map(|it| Failure::from(it).to_string());
        insta::assert_snapshot!(messages.join("\n"), @"
        `hall` is the entry room: make another room the entry first, with `entry` in palace.toml
        the new name is empty
        an entity named Ada already exists in entities/a.yaml: choose another name
        ");
    }

    #[test]
    fn a_person_is_told_to_build_rooms_with_an_editor() {
        for refusal in [Refusal::NoRooms, Refusal::RoomNotBuilt { room: "hall".parse().unwrap() }] {
            let message = Failure::from(refusal).to_string();
            assert!(message.contains("with an editor") && !message.contains("build_room"));
        }
    }
}
