//! What is wrong with a file, said so that its author can mend it.

pub(crate) mod code;
pub(crate) mod rule;
pub(crate) mod value_path;
use std::fmt;

use crate::model::Code;

/// One finding, at one place of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What kind of thing it tells of, and so how grave it is.
    pub code: Code,
    /// The file, relative to the palace.
    pub file: String,
    /// Where in the file.
    pub at: Position,
    /// What is wrong: one sentence without a full stop.
    pub message: String,
    /// What to do about it, if we know.
    pub hint: Option<String>,
    /// The word that is meant in place of the one that stands there, if that is
    /// beyond doubt.
    pub replacement: Option<Box<str>>,
}

/// A place in a text. Line and column count from one, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// How grave a [`Diagnostic`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The file, or this part of it, was left out.
    Error,
    /// Everything was read, but something looks wrong.
    Warning,
    /// Nothing is wrong; worth knowing.
    Info,
}

impl Position {
    /// The beginning of a file.
    pub const START: Self = Self { line: 1, column: 1 };
}

impl Diagnostic {
    /// Makes a finding about `file` as a whole.
    pub fn for_file(code: Code, file: &str, message: impl Into<String>) -> Self {
        let (file, message) = (file.to_owned(), message.into());
        Self { code, file, at: Position::START, message, hint: None, replacement: None }
    }

    /// Returns how grave it is.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Returns the known word that `word` was probably meant to be.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // What is longer than any name was no slip of the pen, and dear to compare.
    const MAX_WORD_CHARS: usize = 200;
    if word.chars().nth(MAX_WORD_CHARS).is_some() {
        return None;
    }
    let lower = word.to_lowercase();
    let likeness = |it: &str| strsim::jaro_winkler(&lower, &it.to_lowercase());
    let known = known.into_iter().filter(|it| it.chars().nth(MAX_WORD_CHARS).is_none());
    // Of those as near as each other the one in the case of the word, then the first:
    // the same whatever order they come in.
    let in_case = |it: &str| strsim::jaro_winkler(word, it);
    let nearer = |a: &(f64, &str), b: &(f64, &str)| {
        let in_case = || in_case(a.1).total_cmp(&in_case(b.1));
        a.0.total_cmp(&b.0).then_with(in_case).then(b.1.cmp(a.1))
    };
    let best = known.map(|it| (likeness(it), it)).max_by(nearer)?;
    (best.0 > 0.8).then_some(best.1)
}

/// Returns the known word of which `word` is one slip of the pen away, if there is
/// but one: a letter left out, put in, mistaken, or two in the wrong order.
pub fn typo_correction<'a>(
    word: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let mut near = known
        .into_iter()
        .filter(|it| it.len().abs_diff(word.len()) <= 4 && strsim::osa_distance(word, it) == 1);
    near.next().filter(|_| near.next().is_none())
}

/// Returns for each of the keys of one mapping which of those known it is a slip of,
/// as [`typo_correction`] tells it; for none of two that are slips of the same.
pub fn typo_corrections<'a>(keys: &[&str], known: &[&'a str]) -> Vec<Option<&'a str>> {
    let slips: Vec<_> = keys.iter().map(|it| typo_correction(it, known.iter().copied())).collect();
    let is_alone = |slip: &&str| slips.iter().flatten().filter(|it| *it == slip).count() == 1;
    slips.iter().map(|it| it.filter(is_alone)).collect()
}

/// Prints as `file:line:column: severity[code]: message`, so that an editor can jump to it.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, file, at, message, hint, .. } = self;
        let severity = code.severity();
        write!(f, "{file}:{}:{}: {severity}[{code}]: {message}", at.line, at.column)?;
        match hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
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
