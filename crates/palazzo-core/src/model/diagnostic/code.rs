//! The codes of findings, and what the rule of a code consists of. The name of a code never changes.

use std::fmt;

/// The kind of a finding ([`Diagnostic`](crate::model::Diagnostic)).
///
/// Users filter by its name, look it up with `check --explain` and find it in the reports of other
/// programs, so a name is never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// A text that is not valid YAML or TOML.
    Syntax,
    /// A merge conflict that makes a file unreadable.
    MergeConflict,
    /// Anchors, aliases, tags, merge keys or several documents.
    NotPlainYaml,
    /// A key that occurs twice in one mapping.
    DuplicateKey,
    /// Values or folders that are nested too deeply.
    TooDeep,
    /// A file that is larger than the limit.
    TooLarge,
    /// A file that is not UTF-8.
    NotUtf8,
    /// A symbolic link.
    Link,
    /// Something that is not a regular file, or that the system refuses to read.
    Unreadable,
    /// A git repository that cannot be read completely.
    Repository,
    /// An unknown key.
    UnknownKey,
    /// A required key that is missing or empty.
    MissingKey,
    /// A value of the wrong type, such as a list in place of a text.
    WrongType,
    /// A word that is not among the allowed values.
    BadValue,
    /// A text that is not a slug.
    BadSlug,
    /// A text that is not a ULID.
    BadId,
    /// A text that is not a time.
    BadTime,
    /// A scroll without front matter.
    FrontMatter,
    /// A file name that is not valid for this kind of file.
    FileName,
    /// A file in a folder where it has no meaning.
    Misplaced,
    /// An entity whose name is already used in another file.
    NameTaken,
    /// A scroll whose id is already used in the same room.
    IdTaken,
    /// A palace of another format version.
    FormatVersion,
    /// An entry room that does not exist.
    LostEntry,
    /// A slug that fits several rooms.
    AmbiguousRoom,
    /// An action that calls a tool that does not exist.
    UnknownTool,
    /// An action that calls a tool that actions may not call.
    ForbiddenTool,
    /// Unknown or missing parameters of a tool.
    ToolParams,
    /// Merge conflict markers in a text that is read nevertheless.
    MergeMarks,
    /// A key that has no effect in its place.
    UnusedKey,
    /// An action whose parameters contain `{params}` too often.
    ManyPlaceholders,
    /// Different ids in a file's name and in its content.
    IdMismatch,
    /// A setting that has no effect in this version.
    NotYet,
    /// A model that search cannot use.
    BadModel,
    /// Something that needs a consent the user of this machine has not given.
    NoConsent,
    /// One id in two files.
    SameId,
    /// Names that differ only in case.
    CaseTwins,
    /// A file or folder with a name that Windows cannot hold.
    ReservedName,
    /// Scrolls in a room that does not exist.
    LostScroll,
    /// A scroll that replaces one that does not exist, or that replaces it.
    UnknownScroll,
    /// A reference by the old name of a room or an entity that was renamed by hand.
    OldName,
    /// A door to a workspace that the home does not have.
    UnknownWorkspace,
    /// An action label that occurs twice in a room.
    DuplicateLabel,
    /// An indented list of actions that is part of the description above it.
    SwallowedActions,
    /// A title that two open tasks have.
    DuplicateTitle,
    /// A room without a path from the entry.
    Unreachable,
    /// A name with outgoing relations that no file defines.
    LooseEnd,
    /// A status that the genus does not list.
    UnknownStatus,
    /// A missing attribute that the genus requires.
    MissingAttribute,
    /// An attribute that does not fit its definition in the genus.
    WrongAttribute,
    /// Two values at one time where the genus allows one.
    Contradiction,
    /// A relation that ends before it begins.
    EmptyPeriod,
    /// A git lock file that no living process owns.
    GitLock,
    /// A private key, a token or a password.
    Secret,
    /// A character that shows nothing where it is.
    InvisibleCharacter,
    /// A name that looks like another one.
    LookAlikeName,
    /// A name or a text that is shown in part.
    LongText,
    /// A door to a room that is not built yet.
    UnfinishedRoom,
    /// A room that has no action back to the room that leads to it.
    OneWayDoor,
    /// A room without description and actions.
    EmptyRoom,
    /// A file whose name or folder does not fit its content.
    PathMismatch,
    /// A reference to an entity that no file defines.
    UndefinedEntity,
    /// A link in a text that names no entity.
    UnresolvedLink,
    /// A note, or a folder of notes, that cannot be read.
    NoteNotRead,
    /// A room that shows a genus without entities.
    UndefinedGenus,
    /// An attribute that the genus does not define.
    UnknownAttribute,
    /// A room grouped by an attribute that no entity has.
    UndefinedAttribute,
    /// A text in place of a date.
    NoDate,
    /// A list that has the same item twice.
    DuplicateItem,
    /// A field with two values from a merge.
    OpenConflict,
    /// The file of a conflict that is settled.
    SettledConflict,
    /// A text that names a file of the repository that is gone or much changed since.
    StaleFile,
    /// A fact of a single-valued relation that was not touched for long, beside active ones.
    StaleFact,
    /// A file of a host's memory that its index does not name.
    MemoryWithoutPointer,
    /// A line in the index of a host's memory that leads to no file.
    PointerWithoutMemory,
}

impl Code {
    /// Returns whether its findings are about a whole file, or about something that has no line.
    pub fn is_file_level(self) -> bool {
        matches!(
            self,
            Self::TooLarge
                | Self::Link
                | Self::Unreadable
                | Self::Repository
                | Self::FileName
                | Self::Misplaced
                | Self::ReservedName
                | Self::LostScroll
                | Self::Unreachable
                | Self::GitLock
                | Self::EmptyRoom
                | Self::MissingAttribute
                | Self::SettledConflict
                | Self::StaleFile
                | Self::MemoryWithoutPointer
                | Self::PointerWithoutMemory
        )
    }
}

/// One row of the table of codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The code.
    pub code: Code,
    /// The name of the code, as it is printed.
    pub name: &'static str,
    /// The severity of its findings.
    pub severity: Severity,
    /// The meaning: one sentence without a full stop.
    pub meaning: &'static str,
    /// The consequence, and how to fix it.
    pub advice: &'static str,
}

/// The severity of a `Diagnostic`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The file, or the affected part of it, was skipped.
    Error,
    /// Everything was read, but something looks wrong.
    Warning,
    /// Nothing is wrong; for information only.
    Info,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        })
    }
}

pub(crate) const fn error_rule(
    code: Code,
    name: &'static str,
    meaning: &'static str,
    advice: &'static str,
) -> Rule {
    Rule { code, name, severity: Severity::Error, meaning, advice }
}

pub(crate) const fn warning_rule(
    code: Code,
    name: &'static str,
    meaning: &'static str,
    advice: &'static str,
) -> Rule {
    Rule { code, name, severity: Severity::Warning, meaning, advice }
}

pub(crate) const fn info_rule(
    code: Code,
    name: &'static str,
    meaning: &'static str,
    advice: &'static str,
) -> Rule {
    Rule { code, name, severity: Severity::Info, meaning, advice }
}
