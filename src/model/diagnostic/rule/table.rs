//! The table of codes, in their order.

mod aaak;

use crate::model::Code;
use crate::model::diagnostic::rule::{Rule, error_rule, info_rule, warning_rule};

/// The rules, those of AAAK at the end.
pub(crate) const ALL: &[Rule] = &all_rules();

const PALACE_RULES: &[Rule] = &[
    error_rule(
        Code::Syntax,
        "syntax",
        "The text is not YAML, or not TOML",
        "Nothing of the file is read until it is mended. Most often a text needs quotes \
         because it holds `: `, or a line stands too far in or out.",
    ),
    error_rule(
        Code::MergeConflict,
        "merge-conflict",
        "A merge left a conflict that nobody has resolved",
        "Git has written both sides into the file, and nothing of it is read. Keep what \
         is right, take out the lines that begin with `<<<<<<<`, `=======` and \
         `>>>>>>>`, then `git add` the file.",
    ),
    error_rule(
        Code::NotPlainYaml,
        "not-plain-yaml",
        "An anchor, an alias, a tag, a merge key or a second document",
        "Palaces are written in plain YAML: write the value out where it is meant, and \
         put a text that begins with `&`, `*` or `!` in quotes.",
    ),
    error_rule(
        Code::DuplicateKey,
        "duplicate-key",
        "A key stands twice in one mapping",
        "Readers differ in which of the two they take. Keep one of them.",
    ),
    error_rule(
        Code::TooDeep,
        "too-deep",
        "Values or folders lie too deep in each other",
        "Values may lie 32 deep in each other, files in 5 folders.",
    ),
    error_rule(
        Code::TooLarge,
        "too-large",
        "The file has more bytes than are read",
        "A file may have 1 MiB. Split it: a scroll into several, a room into rooms.",
    ),
    error_rule(
        Code::NotUtf8,
        "not-utf8",
        "The file is not UTF-8",
        "Save it anew as UTF-8; most editors can, under \"Save with encoding\".",
    ),
    error_rule(
        Code::Link,
        "link",
        "A symbolic link, which is not followed",
        "A palace may come from somebody else, and a link could lead anywhere. Put the \
         file itself there.",
    ),
    error_rule(
        Code::Unreadable,
        "unreadable",
        "What stands there cannot be read as a file",
        "It is a pipe, a device or a folder, or the system refuses to read it.",
    ),
    error_rule(
        Code::Repository,
        "repository",
        "The git repository cannot be read whole",
        "The files of the palace are read as they are, without their history, and nothing is \
         written until the repository is repaired. Palazzo changes nothing there itself: only \
         a person knows whether a disk is not mounted, a right is missing or an object is lost.",
    ),
    error_rule(
        Code::UnknownKey,
        "unknown-key",
        "A key that nothing of this kind has",
        "It is probably misspelt. What it says is not read, and no tool changes the \
         file before it is mended, so that nothing is lost.",
    ),
    error_rule(
        Code::MissingKey,
        "missing-key",
        "A key that is needed is not there, or says nothing",
        "Add it. What needs it is left out: a room without a `name` is not there, an \
         action without a `label` is not shown.",
    ),
    error_rule(
        Code::WrongType,
        "wrong-type",
        "A list where a text belongs, and the like",
        "A text with `: ` in it is a mapping unless it is quoted; a list of one is \
         written `[it]`.",
    ),
    error_rule(
        Code::BadValue,
        "bad-value",
        "A word that is none of those possible here",
        "An action is of type `navigate`, `query` or `text`; a menu is `wide` or \
         `classic`; git commits `auto` or `manual`.",
    ),
    error_rule(
        Code::BadSlug,
        "bad-slug",
        "A room is named by what is no slug",
        "A slug is the name of the room's file: `a-z`, `0-9`, `_` and `-`, the first a \
         letter or digit, 80 at most. `wing/slug` names a room in a wing.",
    ),
    error_rule(
        Code::BadId,
        "bad-id",
        "An id is no ULID",
        "Whatever is written by hand may do without an `id`: take the line out.",
    ),
    error_rule(
        Code::BadTime,
        "bad-time",
        "A time is neither RFC 3339 nor a day",
        "Write `2026-03-01T12:00:00Z`, or only the day: `2026-03-01`.",
    ),
    error_rule(
        Code::FrontMatter,
        "front-matter",
        "A scroll does not begin with front matter",
        "A scroll begins with a line `---`, then `title`, `written` and `by`, then \
         `---` again. Below that, the text is free.",
    ),
    error_rule(
        Code::FileName,
        "file-name",
        "The name of the file is none such a file may have",
        "Rooms and wings are called by slugs, and their files are named so: \
         `rooms/great-hall.yaml`, `rooms/wing/great-hall.yaml`. YAML ends in `.yaml`, \
         Markdown in `.md`. Rename the file.",
    ),
    error_rule(
        Code::Misplaced,
        "misplaced",
        "The file lies where it means nothing",
        "A scroll lies in the folder of its room: `scrolls/great-hall/`, \
         `scrolls/wing/great-hall/`.",
    ),
    error_rule(
        Code::NameTaken,
        "name-taken",
        "Two files hold an entity of the same name",
        "The name is what an entity is known by. The second file is not read: rename \
         its entity, or join the two.",
    ),
    error_rule(
        Code::IdTaken,
        "id-taken",
        "Two scrolls of one room have the same id",
        "Most often one is a copy of the other. The second is not read: take the id out \
         of its name and front matter.",
    ),
    error_rule(
        Code::FormatVersion,
        "format-version",
        "The palace is of another version",
        "A newer Palazzo wrote it. This one reads nothing of it and writes nothing to \
         it.",
    ),
    error_rule(
        Code::LostEntry,
        "lost-entry",
        "The entry room is not there",
        "Visits begin in the first room instead. Build the room, or name another as \
         `entry` in palace.toml.",
    ),
    error_rule(
        Code::AmbiguousRoom,
        "ambiguous-room",
        "Several rooms answer to the slug",
        "A slug alone names a room of the same wing, else the only one of that name. \
         Say `wing/slug`; until then the way is closed.",
    ),
    error_rule(
        Code::UnknownTool,
        "unknown-tool",
        "No tool has the name that an action asks",
        "Choosing the action gives an error. An action can ask the tools of this \
         server; tools of others it cannot reach.",
    ),
    error_rule(
        Code::ForbiddenTool,
        "forbidden-tool",
        "An action asks a tool that changes things",
        "An action may ask tools that read, and those that `allow` under `[actions]` in \
         palace.toml names. Tools that move the visitor no action may ask: let it be \
         one of type `navigate`.",
    ),
    error_rule(
        Code::ToolParams,
        "tool-params",
        "A tool is told what it does not take, or too little",
        "Choosing the action gives an error. `palazzo serve` lists the tools and what \
         each takes to its client.",
    ),
    warning_rule(
        Code::MergeMarks,
        "merge-marks",
        "The marks of a merge conflict stand in a text",
        "The text of a scroll, a drawer or an entry of a diary may quote them and is \
         read as it is. If it does not: resolve the conflict, then `git add` the file.",
    ),
    warning_rule(
        Code::UnusedKey,
        "unused-key",
        "A key says nothing where it stands",
        "The keys of an action depend on its type: `room` and `workspace` belong to \
         `navigate`, `tool` and `tool_params` to `query`, `content` to `text`.",
    ),
    warning_rule(
        Code::IdMismatch,
        "id-mismatch",
        "File name and content say different ids",
        "The one in the file's name counts.",
    ),
    warning_rule(
        Code::NotYet,
        "not-yet",
        "A setting has no effect in this version",
        "The palace is read as if the setting were not there.",
    ),
    warning_rule(
        Code::BadModel,
        "bad-model",
        "Search cannot use the model it is told to",
        "Things are found by their words alone. `[search] model` is the path of a folder \
         with the `model.safetensors` and the `vocab.txt` of a BERT, all-MiniLM-L6-v2 \
         say, and its `config.json`; nothing is ever downloaded.",
    ),
    warning_rule(
        Code::NoConsent,
        "no-consent",
        "The palace needs a consent that nobody has given on this machine",
        "A palace may come from somebody else. `palazzo trust DIR` shows which tools its \
         actions would call, or where its repository is, and asks you.",
    ),
    warning_rule(
        Code::SameId,
        "same-id",
        "Two files say the same id",
        "Most often one is a copy of the other. An id tells what is the same thing \
         under another name: take it out of the copy.",
    ),
    warning_rule(
        Code::CaseTwins,
        "case-twins",
        "Two names differ in case only",
        "Files: where upper and lower case are the same, as on most Macs and on \
         Windows, one would overwrite the other. Entities: whoever looks for one finds \
         half of what is known.",
    ),
    warning_rule(
        Code::LostScroll,
        "lost-scroll",
        "Scrolls hang in a room that is not there",
        "Nobody comes by to read them, though search finds them. Build the room, or \
         move them to the folder of the room that took its place.",
    ),
    warning_rule(
        Code::Unreachable,
        "unreachable",
        "No way leads to the room from the entry",
        "Doors work from both sides, so one action or portal, here or elsewhere, joins \
         it to the others. By name it can be reached all the same.",
    ),
    warning_rule(
        Code::LooseEnd,
        "loose-end",
        "Relations start from a name nobody has defined",
        "The reference memory server allows that, and its tools keep it so. Give the \
         file a `genus` to make an entity of it.",
    ),
    warning_rule(
        Code::UnknownStatus,
        "unknown-status",
        "The genus has no such status",
        "A genus that lists statuses in `genera/` has those and no others. Add the \
         status there, or choose one of them.",
    ),
    warning_rule(
        Code::MissingAttribute,
        "missing-attribute",
        "The genus requires an attribute",
        "What the genus in `genera/` marks `required: true` each of its entities needs.",
    ),
    warning_rule(
        Code::WrongAttribute,
        "wrong-attribute",
        "An attribute is not what the genus says",
        "The genus in `genera/` says what the attribute may hold: a number, a date, one \
         of some words, a link to an entity.",
    ),
    warning_rule(
        Code::Contradiction,
        "contradiction",
        "Two values hold where the genus allows one",
        "A relation that is `single` holds for one entity at a time: say with `until` \
         when the former ended.",
    ),
    warning_rule(
        Code::EmptyPeriod,
        "empty-period",
        "A relation ends before it begins",
        "What holds `until` a date no later than its `since` holds at no time, for its end is \
         outside: exchange the two, or leave out the one that is wrong.",
    ),
    warning_rule(
        Code::GitLock,
        "git-lock",
        "A lock file of git that no living process is known to hold",
        "Git, or Palazzo, was killed while it held the lock. Until it is removed, writes may be \
         refused, or git does no maintenance. Check that no git is running there, and remove it \
         with `palazzo doctor --remove-lock PATH`.",
    ),
    info_rule(
        Code::UnfinishedRoom,
        "unfinished-room",
        "A doorway leads to a room not built yet",
        "That is how palaces grow: whoever goes through is asked to build it.",
    ),
    info_rule(
        Code::OneWayDoor,
        "one-way-door",
        "The room behind an action has no action back",
        "It shows a plain door back all the same. An action there could say more than \
         \"Go to Great Hall\".",
    ),
    info_rule(
        Code::EmptyRoom,
        "empty-room",
        "A room has neither description nor actions",
        "What can be pictured is remembered: give it a description.",
    ),
    info_rule(
        Code::PathMismatch,
        "path-mismatch",
        "A file is named for something else than it holds",
        "Nothing depends on it: what the file says counts. Whoever looks for the other \
         will open this one, though.",
    ),
    info_rule(
        Code::UndefinedEntity,
        "undefined-entity",
        "Something names an entity that nobody defined",
        "Relations, tasks and actions may name what nobody has written about yet. If it is a \
         slip of the pen, the two will not be found together.",
    ),
    info_rule(
        Code::UndefinedGenus,
        "undefined-genus",
        "A room shows or asks for a genus of which there is nothing",
        "No entity has it and no file in `genera/` tells of it, so that the room shows \
         none of the graph until the first is created. If it is a slip of the pen, it \
         never will.",
    ),
    info_rule(
        Code::UnknownAttribute,
        "unknown-attribute",
        "An attribute that is not laid down for the genus",
        "The genus in `genera/` lays down others, and this one stays free. If it is a slip of \
         the pen, nobody will find it under its name; else lay it down, too.",
    ),
    info_rule(
        Code::UndefinedAttribute,
        "undefined-attribute",
        "A room goes by an attribute that nothing has",
        "No entity of the genus that it shows has it, and it is not laid down: all stand in one \
         place. If it is a slip of the pen, they always will.",
    ),
    info_rule(
        Code::NoDate,
        "no-date",
        "A text stands where a date belongs",
        "It is kept as it is written, but what held at a date is not known of it. Dates \
         are `1972`, `1972-05`, `1972-05-01`, `44 BC`.",
    ),
];

const fn all_rules() -> [Rule; PALACE_RULES.len() + aaak::AAAK_RULES.len()] {
    let mut all = [PALACE_RULES[0]; PALACE_RULES.len() + aaak::AAAK_RULES.len()];
    let mut at = 0;
    while at < all.len() {
        all[at] = match at < PALACE_RULES.len() {
            true => PALACE_RULES[at],
            false => aaak::AAAK_RULES[at - PALACE_RULES.len()],
        };
        at += 1;
    }
    all
}
