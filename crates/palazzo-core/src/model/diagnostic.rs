//! Findings about the files of a palace, worded so that the author can fix them.

pub(crate) mod code;
pub(crate) mod code_rules;
use crate::model::Severity;
use std::fmt;

use crate::model::{Code, quoted, quoted_unless_plain};

/// One finding at one position of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The code; it determines the severity.
    pub code: Code,
    /// The path of the file, relative to the palace.
    pub file: String,
    /// The position in the file.
    pub at: Position,
    /// The message: one sentence without a full stop.
    pub message: String,
    /// How to fix it, if known.
    pub hint: Option<String>,
    /// The word that was meant in place of the one at `at`, if known.
    pub meant: Option<Box<MeantWord>>,
}

/// The word that was meant in place of another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeantWord {
    /// The word.
    pub word: String,
    /// Whether there is no doubt about it.
    pub is_certain: bool,
}

/// A position in a text. Line and column count from one, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl Position {
    /// The beginning of a file.
    pub const START: Self = Self { line: 1, column: 1 };
}

impl Diagnostic {
    /// Returns a finding about `file` as a whole.
    pub fn for_file(code: Code, file: &str, message: impl Into<String>) -> Self {
        let (file, message) = (file.to_owned(), message.into());
        let (at, hint) = (Position::START, None);
        Self { code, file, at, message, hint, meant: None }
    }

    /// Returns the severity of its code.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }

    /// Sets the word that was probably meant, and the hint that says it; `None` changes nothing.
    pub fn suggest(&mut self, meant: Option<&str>) {
        if let Some(meant) = meant {
            self.hint = Some(format!("did you mean {}?", quoted(meant)));
            self.meant = Some(Box::new(MeantWord { word: meant.to_owned(), is_certain: false }));
        }
    }

    /// Sets the word that was certainly meant; `None` changes nothing.
    pub fn set_certain_word(&mut self, meant: Option<&str>) {
        if let Some(meant) = meant {
            self.meant = Some(Box::new(MeantWord { word: meant.to_owned(), is_certain: true }));
        }
    }

    /// Sets the hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// A path from the top of a file down to one of its values or keys: `actions`, `2`, `room`.
///
/// List items are counted as the parsed palace has them: items that could not be read do not count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValuePath(Vec<PathStep>);

/// One step of a [`ValuePath`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PathStep {
    /// To the value of a key.
    Value(String),
    /// To the key itself; always the last step.
    Key(String),
    /// To a list item, counted from zero.
    Item(usize),
    /// To the first place of a text within the value; always the last step.
    Text(String),
}

impl ValuePath {
    /// The file as a whole.
    pub const ROOT: Self = Self(Vec::new());

    /// Appends a step to the value of `key`.
    #[must_use]
    pub fn then_value(self, key: &str) -> Self {
        self.push_step(PathStep::Value(key.to_owned()))
    }

    /// Appends a step to `key` itself.
    #[must_use]
    pub fn then_key(self, key: &str) -> Self {
        self.push_step(PathStep::Key(key.to_owned()))
    }

    /// Appends a step to a list item.
    #[must_use]
    pub fn then_item(self, index: usize) -> Self {
        self.push_step(PathStep::Item(index))
    }

    /// Appends a step to the first place of `text` within the value.
    #[must_use]
    pub fn then_text(self, text: &str) -> Self {
        self.push_step(PathStep::Text(text.to_owned()))
    }

    /// Returns the steps from the top.
    pub fn steps(&self) -> &[PathStep] {
        &self.0
    }

    /// Returns the steps as words; list items are numbers, counted from zero.
    pub fn words(&self) -> Vec<String> {
        let word = |step: &PathStep| match step {
            PathStep::Value(word) | PathStep::Key(word) | PathStep::Text(word) => word.clone(),
            PathStep::Item(index) => index.to_string(),
        };
        self.0.iter().map(word).collect()
    }

    fn push_step(mut self, step: PathStep) -> Self {
        self.0.push(step);
        self
    }
}

/// Returns the only known word at edit distance 1 from `word` (one letter missing, added, replaced,
/// or two swapped); `None` if there are several.
pub fn typo_correction<'a>(
    word: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let mut near = known
        .into_iter()
        .filter(|it| it.len().abs_diff(word.len()) <= 4 && strsim::osa_distance(word, it) == 1);
    near.next().filter(|_| near.next().is_none())
}

/// Returns the [`typo_correction`] of each key of one mapping; `None` for keys that share one
/// correction.
pub fn typo_corrections<'a>(keys: &[&str], known: &[&'a str]) -> Vec<Option<&'a str>> {
    let slips: Vec<_> = keys.iter().map(|it| typo_correction(it, known.iter().copied())).collect();
    let is_alone = |slip: &&str| slips.iter().flatten().filter(|it| *it == slip).count() == 1;
    slips.iter().map(|it| it.filter(is_alone)).collect()
}

/// Prints as `file:line:column: severity[code]: message`, so that an editor can jump to it.
impl Diagnostic {
    /// Renders the finding for agents: a file name with more than plain signs is quoted.
    pub fn text_for_agents(&self) -> String {
        self.text_with_file(&quoted_unless_plain(&self.file))
    }

    fn text_with_file(&self, file: &str) -> String {
        let Self { code, at, message, hint, .. } = self;
        let severity = code.severity();
        let hint = hint.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
        format!("{file}:{}:{}: {severity}[{code}]: {message}{hint}", at.line, at.column)
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A name can have the form of a whole finding.
        let is_plain = !self.file.contains(": ") && !self.file.contains(['[', ']', '`']);
        let file = if is_plain { self.file.clone() } else { quoted(&self.file) };
        f.write_str(&self.text_with_file(&file))
    }
}
