//! Who reads a page, and when.

use chrono::{DateTime, Utc};

/// Who reads a page: a page names tools for an agent, and words to type for a person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Audience {
    /// A language model that calls tools.
    #[default]
    Agent,
    /// A person at a terminal.
    Person,
}

/// Who reads a page, and when.
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    /// Who reads it.
    pub audience: Audience,
    /// The current time.
    pub now: DateTime<Utc>,
}

impl Audience {
    /// Returns the text for this audience.
    pub fn choose<T>(self, for_agent: T, for_person: T) -> T {
        match self {
            Self::Agent => for_agent,
            Self::Person => for_person,
        }
    }
}
