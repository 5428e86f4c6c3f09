//! The way to a value inside a file.

/// A way from the top of a file down to one of its values or keys:
/// `actions`, `2`, `room`.
///
/// Items are counted as the palace counts them: those that could not be read
/// are not there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trail(Vec<Step>);

/// One step of a [`Trail`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// To the value of a key.
    Value(String),
    /// To the key itself: the trail ends here.
    Key(String),
    /// To an item of a list, counted from zero.
    Item(usize),
}

impl Trail {
    /// The file as a whole.
    pub const TOP: Self = Self(Vec::new());

    /// Goes on to the value of `key`.
    #[must_use]
    pub fn value(self, key: &str) -> Self {
        self.and(Step::Value(key.to_owned()))
    }

    /// Goes on to `key` itself.
    #[must_use]
    pub fn key(self, key: &str) -> Self {
        self.and(Step::Key(key.to_owned()))
    }

    /// Goes on to an item of a list.
    #[must_use]
    pub fn item(self, place: usize) -> Self {
        self.and(Step::Item(place))
    }

    /// Yields its steps from the top.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    fn and(mut self, step: Step) -> Self {
        self.0.push(step);
        self
    }
}
