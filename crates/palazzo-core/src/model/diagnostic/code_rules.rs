//! The rule, the name and the severity of each code.

use std::fmt;
use std::str::FromStr;

use crate::model::diagnostic::code::{error_rule, info_rule, warning_rule};
use crate::model::{Code, Rule, Severity, did_you_mean, quoted};

impl Rule {
    /// All rules, in the order of the codes.
    pub const ALL: &[Self] = ALL;
}

impl Code {
    /// Returns the row of the code in the table.
    pub fn rule(self) -> &'static Rule {
        &Rule::ALL[self as usize]
    }

    /// Returns the name of the code: `unknown-key`.
    pub fn name(self) -> &'static str {
        self.rule().name
    }

    /// Returns the severity of its findings.
    pub fn severity(self) -> Severity {
        self.rule().severity
    }
}

impl FromStr for Code {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        if let Some(rule) = Rule::ALL.iter().find(|it| it.name == word) {
            return Ok(rule.code);
        }
        let meant = did_you_mean(word, Rule::ALL.iter().map(|it| it.name));
        let hint = meant.map(|it| format!("; did you mean {}?", quoted(it))).unwrap_or_default();
        Err(format!("there is no code {}{hint}", quoted(word)))
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// All rules, in the order of the codes.
const ALL: &[Rule] =
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
         actions would call, where its repository is, or which memories would be shown to agents \
         after their actions, and asks you for consent.",
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

/// The rules of errors, in the order of the codes.
const ERROR_RULES: &[Rule] = &[
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_code_has_one_rule_and_a_unique_name() {
        for (place, rule) in Rule::ALL.iter().enumerate() {
            assert_eq!(rule.code as usize, place, "{} stands in the wrong place", rule.name);
            assert_eq!(rule.code.rule(), rule);
            assert_eq!(rule.name.parse(), Ok(rule.code));
        }
        let words: BTreeSet<_> = Rule::ALL.iter().map(|it| it.name).collect();
        assert_eq!(words.len(), Rule::ALL.len());
        let kebab = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-';
        assert!(words.iter().all(|it| it.chars().all(kebab)), "{words:?}");
    }

    #[test]
    fn an_unknown_code_suggests_the_nearest() {
        let refusal = "unknown-kye".parse::<Code>().unwrap_err();
        assert_eq!(refusal, "there is no code `unknown-kye`; did you mean `unknown-key`?");
    }
}
