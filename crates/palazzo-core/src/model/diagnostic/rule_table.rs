//! The table of codes, in the order of [`Code`].

use crate::model::Code;
use crate::model::diagnostic::error_rules::ERROR_RULES;
use crate::model::diagnostic::rule::{Rule, info_rule, warning_rule};

/// All rules, in the order of the codes.
pub(crate) const ALL: &[Rule] =
    &join_rules::<{ ERROR_RULES.len() + OTHER_RULES.len() }>(ERROR_RULES, OTHER_RULES);

/// The rules of warnings and notes, in the order of the codes.
const OTHER_RULES: &[Rule] = &[
    warning_rule(
        Code::MergeMarks,
        "merge-marks",
        "A text contains the markers of a merge conflict",
        "The text of a scroll, a drawer or a diary entry may quote them and is read as it is. \
         If they are a real conflict: resolve it, then `git add` the file.",
    ),
    warning_rule(
        Code::UnusedKey,
        "unused-key",
        "A key has no effect in its place",
        "The keys of an action depend on its type: `room` and `workspace` belong to \
         `navigate`, `tool` and `tool_params`, or `entity` alone, to `query`, `content` to `text`.",
    ),
    warning_rule(
        Code::ManyPlaceholders,
        "many-placeholders",
        "The parameters of an action contain `{params}` very often",
        "The visitor's words replace every `{params}`. If the parameters then have more than 64 \
         KiB, the action is refused. Remove what is not needed.",
    ),
    warning_rule(
        Code::IdMismatch,
        "id-mismatch",
        "The file name and the content have different ids",
        "The id in the file name is used.",
    ),
    warning_rule(
        Code::NotYet,
        "not-yet",
        "A setting has no effect in this version",
        "The setting is ignored.",
    ),
    warning_rule(
        Code::BadModel,
        "bad-model",
        "Search cannot use the configured model",
        "Search uses words alone. `[search] model` is the path of a folder with the \
         `model.safetensors` and the `vocab.txt` of a BERT model, for example \
         all-MiniLM-L6-v2, and its `config.json`; nothing is ever downloaded.",
    ),
    warning_rule(
        Code::NoConsent,
        "no-consent",
        "The palace needs a consent that has not been given on this machine",
        "A palace may come from another person. `palazzo trust DIR` shows which tools its \
         actions would call, or where its repository is, and asks you for consent.",
    ),
    warning_rule(
        Code::SameId,
        "same-id",
        "Two files have the same id",
        "Most often one is a copy of the other. An id identifies the same thing under another \
         name: remove it from the copy. If the history shows which one is the copy, `palazzo check \
         --fix` gives it an id of its own.",
    ),
    warning_rule(
        Code::CaseTwins,
        "case-twins",
        "Two names differ only in case",
        "Files: where the file system ignores case, as on most Macs and on Windows, one \
         would overwrite the other. Entities: a lookup of one name finds only half of the \
         facts.",
    ),
    warning_rule(
        Code::ReservedName,
        "reserved-name",
        "Windows cannot hold a file or folder of this name",
        "Git cannot check it out there: the name is that of a device, such as `nul`, contains a \
         character such as `:`, or ends with a dot or a space. Rename it.",
    ),
    warning_rule(
        Code::LostScroll,
        "lost-scroll",
        "Scrolls are in a room that does not exist",
        "No visitor comes by to read them, though search finds them. Build the room, or \
         move them to the folder of the room that replaced it.",
    ),
    warning_rule(
        Code::UnknownScroll,
        "unknown-scroll",
        "A scroll replaces one that does not exist, is in another room or is newer",
        "`replaces` lists the ids of older scrolls of the same room, which then stand below the current ones. The id \
         of one that is gone keeps still older ones with the same title there. Remove the id, or \
         correct it.",
    ),
    warning_rule(
        Code::OldName,
        "old-name",
        "A reference uses the old name of a room or an entity",
        "The file of the room, or the name of the entity, was changed by hand, and its id shows \
         what it is called now. `palazzo check --fix` changes the doors and other actions \
         of rooms, relations, tasks and processes; `palazzo mv` would have changed them at once.",
    ),
    warning_rule(
        Code::UnknownWorkspace,
        "unknown-workspace",
        "A door leads to a workspace that does not exist",
        "Choosing the door gives an error. The `workspace` of an action is the directory or the \
         name of another palace of the same home. Correct it, or create that workspace.",
    ),
    warning_rule(
        Code::DuplicateLabel,
        "duplicate-label",
        "Two actions of a room have the same label",
        "A visitor cannot tell them apart, and build_room with `merge` changes only the first: it \
         finds an action by its label. Change one of the labels, or remove one action.",
    ),
    warning_rule(
        Code::SwallowedActions,
        "swallowed-actions",
        "The description contains the list of actions",
        "Indented lines below `description: |` belong to the description, so the room has no \
         actions. Remove the indentation in front of `actions:`.",
    ),
    warning_rule(
        Code::DuplicateTitle,
        "duplicate-title",
        "Two open tasks have the same title",
        "complete_task finds a task by its title. Complete one of them, or change its title.",
    ),
    warning_rule(
        Code::Unreachable,
        "unreachable",
        "The room cannot be reached from the entry",
        "Doors work from both sides, so one action or portal, here or elsewhere, connects \
         it to the others. It can still be entered by name.",
    ),
    warning_rule(
        Code::LooseEnd,
        "loose-end",
        "Relations start from a name that no file defines as an entity",
        "The reference memory server allows that, and its tools keep it so. Add a `genus` to \
         the file to make it an entity.",
    ),
    warning_rule(
        Code::UnknownStatus,
        "unknown-status",
        "The genus has no such status",
        "A genus that lists statuses in `genera/` allows no others. Add the status there, or \
         choose one of the list.",
    ),
    warning_rule(
        Code::MissingAttribute,
        "missing-attribute",
        "A required attribute is missing",
        "Every entity needs the attributes that its genus in `genera/` marks `required: true`.",
    ),
    warning_rule(
        Code::WrongAttribute,
        "wrong-attribute",
        "An attribute does not fit its definition in the genus",
        "The genus in `genera/` defines what the attribute may contain: a number, a date, one \
         of a list of words, a link to an entity.",
    ),
    warning_rule(
        Code::Contradiction,
        "contradiction",
        "Two values hold at one time where the genus allows one",
        "A relation marked `single` holds for one entity at a time: set `until` of the former \
         one to the date on which it ended.",
    ),
    warning_rule(
        Code::EmptyPeriod,
        "empty-period",
        "A relation ends before it begins",
        "A relation whose `until` is not later than its `since` holds at no time, because the end \
         is exclusive: swap the two dates, or remove the wrong one.",
    ),
    warning_rule(
        Code::GitLock,
        "git-lock",
        "There is a git lock file that no living process is known to hold",
        "Git, or Palazzo, was killed while it held the lock. Until it is removed, writes may be \
         refused, or git does no maintenance. Check that no git process is running there, and \
         remove it with `palazzo doctor --remove-lock PATH`.",
    ),
    warning_rule(
        Code::Secret,
        "secret",
        "A file contains a secret: a private key, a token or a password",
        "Everybody who can read the palace or its history has it. Withdraw it where it was issued, \
         replace it in the file by `REDACTED`, and find the commits that hold it with `palazzo \
         locate -`, which prints how to remove it. A value that only looks like a secret can stay.",
    ),
    warning_rule(
        Code::InvisibleCharacter,
        "invisible-character",
        "A file contains characters that show nothing where they are",
        "Models read such characters and people do not see them: tags, zero-width characters, \
         fillers, variation selectors. Palazzo shows them as escapes. Joiners and marks where a \
         script or an emoji is spelled with them are not reported. Remove the others.",
    ),
    warning_rule(
        Code::LookAlikeName,
        "look-alike-name",
        "Two names look alike and are not the same",
        "They differ in invisible characters or in letters of another script, so a person takes \
         one for the other. Rename one, or merge the two; nothing is merged by itself.",
    ),
    info_rule(
        Code::LongText,
        "long-text",
        "A name or a text is too long to be shown whole",
        "Of a name, 200 characters are shown. An answer of a tool has at most 24,000; the visitor \
         calls again to read on. Shorten the name, or divide the text.",
    ),
    info_rule(
        Code::UnfinishedRoom,
        "unfinished-room",
        "A door leads to a room that is not built yet",
        "This is how palaces grow: a visitor who goes through is asked to build the room.",
    ),
    info_rule(
        Code::OneWayDoor,
        "one-way-door",
        "The room behind an action has no action back",
        "Doors work in both directions, so visitors of that room see a plain door back: \"Go to \
         Great Hall\". Add an action there if the way back deserves a description.",
    ),
    info_rule(
        Code::EmptyRoom,
        "empty-room",
        "A room has neither description nor actions",
        "A vivid room is easy to remember: add a description.",
    ),
    info_rule(
        Code::PathMismatch,
        "path-mismatch",
        "The file's name or folder does not fit its content",
        "This has no effect: the content counts. But a person who looks for the other thing \
         will open this file.",
    ),
    info_rule(
        Code::UndefinedEntity,
        "undefined-entity",
        "A reference names an entity that no file defines",
        "Relations, tasks and actions may name entities that do not exist yet. If the name is \
         misspelt, the reference and its entity will not be found together.",
    ),
    info_rule(
        Code::UnresolvedLink,
        "unresolved-link",
        "A link in a text names no entity",
        "The text shows it as it is written: `[[Cuvier]]`. Check the spelling, or create the \
         entity. Brackets that are no link can stand between backticks.",
    ),
    info_rule(
        Code::UndefinedGenus,
        "undefined-genus",
        "A room shows or queries a genus that has no entities",
        "No entity has the genus and no file in `genera/` defines it, so the room shows \
         nothing of the graph until the first one is created. Check the spelling.",
    ),
    info_rule(
        Code::UnknownAttribute,
        "unknown-attribute",
        "The genus does not define an attribute",
        "The genus in `genera/` defines other attributes; this one is not checked. If it is \
         misspelt, a query for the right name will not find it; else add it to the genus.",
    ),
    info_rule(
        Code::UndefinedAttribute,
        "undefined-attribute",
        "A room is grouped by an attribute that no entity has",
        "No entity of the genus has it, and the genus does not define it, so all entities are in \
         one group. Check the spelling.",
    ),
    info_rule(
        Code::NoDate,
        "no-date",
        "A text is in the place of a date",
        "It is kept as written, but queries by date cannot use it. Dates are `1972`, \
         `1972-05`, `1972-05-01`, `44 BC`.",
    ),
    info_rule(
        Code::DuplicateItem,
        "duplicate-item",
        "A list has the same item twice",
        "The second one says nothing new; most often a merge of texts has left it. `palazzo check \
         --fix` removes it.",
    ),
    info_rule(
        Code::OpenConflict,
        "open-conflict",
        "Two machines or branches wrote different values into a field",
        "One value stands in the file, the other is kept in `conflicts/`. Write the field to \
         settle it, or `palazzo resolve ID stands|other`; `palazzo resolve` lists the ids.",
    ),
    info_rule(
        Code::SettledConflict,
        "settled-conflict",
        "The file of a conflict is left although the conflict is settled",
        "The field has another value now, or its item is gone. `palazzo check --fix` deletes the \
         file; you can delete it yourself.",
    ),
    info_rule(
        Code::StaleFile,
        "stale-file",
        "A scroll or an entity names a file that is gone or much changed since",
        "The file was in the repository around the palace when the text was written, and since \
         then it was deleted or at least half of its lines changed. What is said about it may be \
         out of date: leave a newer scroll, or change the observation.",
    ),
    info_rule(
        Code::StaleFact,
        "stale-fact",
        "A fact was not touched for long, while others of its entity changed",
        "A relation marked `single` has had one value for `stale_fact_days`, and the entity has \
         changed since. If it has ended, set `until`; if it still holds, say so with a `source`. \
         The setting is in `[check]` of palace.toml; without it, such facts are not reported.",
    ),
];

/// Joins two lists of rules; `N` is their total length.
const fn join_rules<const N: usize>(first: &[Rule], second: &[Rule]) -> [Rule; N] {
    let mut all = [first[0]; N];
    let mut place = 1;
    while place < N {
        all[place] = if place < first.len() { first[place] } else { second[place - first.len()] };
        place += 1;
    }
    all
}
