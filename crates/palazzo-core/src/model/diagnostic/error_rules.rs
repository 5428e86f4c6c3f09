//! The rules of errors, in the order of [`Code`].

use crate::model::Code;
use crate::model::diagnostic::rule::{Rule, error_rule};

/// The rules of errors, in the order of the codes.
pub(crate) const ERROR_RULES: &[Rule] = &[
    error_rule(
        Code::Syntax,
        "syntax",
        "The text is not valid YAML or TOML",
        "The file is not read until this is fixed. Most often a text needs quotes because it \
         contains `: `, or a line has the wrong indentation.",
    ),
    error_rule(
        Code::MergeConflict,
        "merge-conflict",
        "A merge left an unresolved conflict",
        "If git has written both sides into the file, the file is not read: keep the right \
         content, delete the lines that begin with `<<<<<<<`, `=======` and `>>>>>>>`, then \
         `git add` the file. If one side deleted the file, decide with `git add` or `git rm`.",
    ),
    error_rule(
        Code::NotPlainYaml,
        "not-plain-yaml",
        "The file uses an anchor, an alias, a tag, a merge key or two documents",
        "Palaces use plain YAML: write the value out wherever it is needed, and put a text \
         that begins with `&`, `*` or `!` in quotes.",
    ),
    error_rule(
        Code::DuplicateKey,
        "duplicate-key",
        "A key occurs twice in one mapping",
        "YAML parsers differ in which of the two they use. Keep one of them.",
    ),
    error_rule(
        Code::TooDeep,
        "too-deep",
        "Values or folders are nested too deeply",
        "Values may be nested 32 levels deep, folders 5 levels.",
    ),
    error_rule(
        Code::TooLarge,
        "too-large",
        "The file is too large",
        "A file may have at most 1 MiB. Split it: a scroll into several, a room into rooms.",
    ),
    error_rule(
        Code::NotUtf8,
        "not-utf8",
        "The file is not UTF-8",
        "Save the file again as UTF-8; most editors offer this as \"Save with encoding\".",
    ),
    error_rule(
        Code::Link,
        "link",
        "The file is a symbolic link, which is not followed",
        "A palace may come from another person, and a link could point anywhere. Replace the \
         link with the file itself.",
    ),
    error_rule(
        Code::Unreadable,
        "unreadable",
        "The path cannot be read as a file",
        "It is a pipe, a device or a folder, or the system refuses to read it.",
    ),
    error_rule(
        Code::Repository,
        "repository",
        "The git repository cannot be read completely",
        "The files of the palace are read, but without their history, and nothing is written \
         until the repository is repaired. Palazzo does not change the repository itself: only \
         you can know whether a disk is not mounted, a permission is missing or an object is lost.",
    ),
    error_rule(
        Code::UnknownKey,
        "unknown-key",
        "The file has an unknown key",
        "It is probably misspelt. Its value is not read, and no tool changes the file until \
         this is fixed, so that nothing is lost.",
    ),
    error_rule(
        Code::MissingKey,
        "missing-key",
        "A required key is missing or empty",
        "Add it. Without it the item is skipped: a room without a `name` does not exist, an \
         action without a `label` is not shown.",
    ),
    error_rule(
        Code::WrongType,
        "wrong-type",
        "A value has the wrong type, for example a list in place of a text",
        "A text that contains `: ` is a mapping unless it is quoted; a list with one item is \
         written `[it]`.",
    ),
    error_rule(
        Code::BadValue,
        "bad-value",
        "A value is not among the allowed words",
        "The type of an action is `navigate`, `query` or `text`; a menu is `wide` or \
         `classic`; git commits `auto` or `manual`.",
    ),
    error_rule(
        Code::BadSlug,
        "bad-slug",
        "The name of a room is not a slug",
        "A slug is the name of the room's file: `a-z`, `0-9`, `_` and `-`, beginning with a \
         letter or digit, at most 80 characters. `wing/slug` names a room in a wing.",
    ),
    error_rule(
        Code::BadId,
        "bad-id",
        "An id is not a ULID",
        "A file written by hand does not need an `id`: delete the line.",
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
        "The name of the file is not valid for this kind of file",
        "Rooms and wings have slugs, and their files are named after them: \
         `rooms/great-hall.yaml`, `rooms/wing/great-hall.yaml`. YAML files end in `.yaml`, \
         Markdown files in `.md`. Rename the file.",
    ),
    error_rule(
        Code::Misplaced,
        "misplaced",
        "The file is in a folder where it has no meaning",
        "A scroll belongs in the folder of its room: `scrolls/great-hall/`, \
         `scrolls/wing/great-hall/`.",
    ),
    error_rule(
        Code::NameTaken,
        "name-taken",
        "Two files define an entity with the same name",
        "The name identifies an entity. The second file is not read: rename its entity, or \
         merge the two files. A committed file comes first, then one whose name is not that \
         of a copy, as programs make it that synchronize folders.",
    ),
    error_rule(
        Code::IdTaken,
        "id-taken",
        "Two files have the same id, or one is a copy of the other",
        "Most often a program that synchronizes folders has made the copy: `plan 2.md`, \
         `plan (conflicted copy).md`. The second is not read; a committed file comes first. \
         Move what is missing into the original, and delete the copy. Two scrolls that are both \
         meant need two ids: remove the id from the file name and front matter of one.",
    ),
    error_rule(
        Code::FormatVersion,
        "format-version",
        "The palace has another format version",
        "A newer version of Palazzo wrote it. This version does not read it and writes \
         nothing to it.",
    ),
    error_rule(
        Code::LostEntry,
        "lost-entry",
        "The entry room does not exist",
        "Visits begin in the first room instead. Build the room, or set `entry` in \
         palace.toml to another one.",
    ),
    error_rule(
        Code::AmbiguousRoom,
        "ambiguous-room",
        "A slug fits several rooms",
        "A slug alone names a room of the same wing, else the only one with that slug. \
         Write `wing/slug`; until then the way is closed.",
    ),
    error_rule(
        Code::UnknownTool,
        "unknown-tool",
        "An action calls a tool that does not exist",
        "Choosing the action gives an error. An action can call the tools of this server, \
         not those of other servers.",
    ),
    error_rule(
        Code::ForbiddenTool,
        "forbidden-tool",
        "An action calls a tool that changes something",
        "An action may call tools that only read, and the tools listed in `allow` under \
         `[actions]` in palace.toml. No action may call a tool that moves the visitor: use an \
         action of type `navigate` instead.",
    ),
    error_rule(
        Code::ToolParams,
        "tool-params",
        "An action calls a tool with unknown or missing parameters",
        "Choosing the action gives an error. `palazzo serve` sends its client the list of tools \
         and their parameters.",
    ),
];
