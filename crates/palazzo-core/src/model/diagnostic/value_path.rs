//! Paths to values inside a file.

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
