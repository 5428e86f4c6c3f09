//! The way to a value inside a file.

/// A way from the top of a file down to one of its values or keys:
/// `actions`, `2`, `room`.
///
/// Items are counted as the palace counts them: those that could not be read
/// are not there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValuePath(Vec<PathStep>);

/// One step of a [`ValuePath`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathStep {
    /// To the value of a key.
    Value(String),
    /// To the key itself: the trail ends here.
    Key(String),
    /// To an item of a list, counted from zero.
    Item(usize),
}

impl ValuePath {
    /// The file as a whole.
    pub const ROOT: Self = Self(Vec::new());

    /// Goes on to the value of `key`.
    #[must_use]
    pub fn then_value(self, key: &str) -> Self {
        self.push_step(PathStep::Value(key.to_owned()))
    }

    /// Goes on to `key` itself.
    #[must_use]
    pub fn then_key(self, key: &str) -> Self {
        self.push_step(PathStep::Key(key.to_owned()))
    }

    /// Goes on to an item of a list.
    #[must_use]
    pub fn then_item(self, place: usize) -> Self {
        self.push_step(PathStep::Item(place))
    }

    /// Yields its steps from the top.
    pub fn steps(&self) -> &[PathStep] {
        &self.0
    }

    fn push_step(mut self, step: PathStep) -> Self {
        self.0.push(step);
        self
    }
}
