//! The kinds of findings there are, each with a word that never changes.

use std::fmt;
use std::str::FromStr;

use crate::model::{Rule, Severity, did_you_mean};

/// What kind of thing a [`Diagnostic`](crate::model::Diagnostic) tells of.
///
/// Its word is what people filter by, look up with `check --explain` and find
/// in the reports of other programs: it is never given to something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// A text that is no YAML or TOML.
    Syntax,
    /// A merge conflict for which a file cannot be read.
    MergeConflict,
    /// Anchors, aliases, tags, merge keys, several documents.
    NotPlainYaml,
    /// A key that stands twice in one mapping.
    DuplicateKey,
    /// Values or folders that lie too deep in each other.
    TooDeep,
    /// A file of more bytes than are read.
    TooLarge,
    /// A file that is not UTF-8.
    NotUtf8,
    /// A symbolic link.
    Link,
    /// What is no ordinary file, or what the system refuses to read.
    Unreadable,
    /// A git repository that cannot be read whole.
    Repository,
    /// A key nobody knows.
    UnknownKey,
    /// A key that must be there, and is not or says nothing.
    MissingKey,
    /// A list where a text belongs, and the like.
    WrongType,
    /// A word that is none of those possible here.
    BadValue,
    /// A text that is no slug.
    BadSlug,
    /// A text that is no ULID.
    BadId,
    /// A text that is no time.
    BadTime,
    /// A scroll without front matter.
    FrontMatter,
    /// A file whose name no such file may have.
    FileName,
    /// A file that lies where it means nothing.
    Misplaced,
    /// An entity whose name another file holds.
    NameTaken,
    /// A scroll whose id another of the room has.
    IdTaken,
    /// A palace made for another version of this program.
    FormatVersion,
    /// An entry room that is not there.
    LostEntry,
    /// A slug that several rooms answer to.
    AmbiguousRoom,
    /// An action that asks a tool nobody has.
    UnknownTool,
    /// An action that asks a tool no action may ask.
    ForbiddenTool,
    /// Parameters that a tool does not take, or lacks.
    ToolParams,
    /// The marks of a merge conflict in a text that is read all the same.
    MergeMarks,
    /// A key that says nothing where it stands.
    UnusedKey,
    /// A file name and a content that say different ids.
    IdMismatch,
    /// A setting that has no effect in this version.
    NotYet,
    /// A model that search cannot use.
    BadModel,
    /// Something that the user of this machine has not allowed the palace.
    NoConsent,
    /// One id in two files.
    SameId,
    /// Names that differ in case only.
    CaseTwins,
    /// Scrolls in a room that is not there.
    LostScroll,
    /// A room no way leads to.
    Unreachable,
    /// A name that relations start from and nobody has defined.
    LooseEnd,
    /// A status that the genus does not have.
    UnknownStatus,
    /// An attribute that the genus requires, and that is not there.
    MissingAttribute,
    /// An attribute that is not what the genus says.
    WrongAttribute,
    /// Two values at once where the genus allows one.
    Contradiction,
    /// A relation that ends before it begins.
    EmptyPeriod,
    /// A lock file of git that no living process holds.
    GitLock,
    /// A doorway to a room that is not built yet.
    UnfinishedRoom,
    /// A way to a room that has none back.
    OneWayDoor,
    /// A room with nothing to see.
    EmptyRoom,
    /// A file that is named or lies as if it held something else.
    PathMismatch,
    /// A relation to an entity nobody has defined.
    UndefinedEntity,
    /// A room that shows a genus of which there is nothing.
    UndefinedGenus,
    /// An attribute of which the genus does not speak.
    UnknownAttribute,
    /// A room that goes by an attribute that nothing has.
    UndefinedAttribute,
    /// A text where a date belongs.
    NoDate,
    /// A field or the end of an arrow that says nothing, in AAAK.
    AaakEmpty,
    /// An asterisk or a quotation mark that has no second, in AAAK.
    AaakUnclosed,
    /// Something between asterisks that is not one word, in AAAK.
    AaakMark,
    /// Too many stars, or stars in company, in AAAK.
    AaakWeight,
    /// A date that is none, in AAAK.
    AaakDate,
    /// A code that is none or means two things, in AAAK.
    AaakCode,
    /// What a line is about, not written in capitals, in AAAK.
    AaakHead,
}

impl Code {
    /// Returns its line of the table.
    pub fn rule(self) -> &'static Rule {
        &Rule::ALL[self as usize]
    }

    /// Returns the word that stands for it: `unknown-key`.
    pub fn name(self) -> &'static str {
        self.rule().name
    }

    /// Tells whether its findings are about a file as a whole, or about what no
    /// line of it says.
    pub fn is_file_level(self) -> bool {
        matches!(
            self,
            Self::TooLarge
                | Self::Link
                | Self::Unreadable
                | Self::Repository
                | Self::FileName
                | Self::Misplaced
                | Self::LostScroll
                | Self::Unreachable
                | Self::GitLock
                | Self::EmptyRoom
                | Self::MissingAttribute
        )
    }

    /// Returns how grave its findings are.
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
        let hint = meant.map(|it| format!("; did you mean `{it}`?")).unwrap_or_default();
        Err(format!("there is no code `{}`{hint}", word.escape_debug()))
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

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
