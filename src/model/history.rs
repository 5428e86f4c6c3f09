//! What git knows of a palace's past.

use std::collections::BTreeMap;
use std::fmt;

use chrono::{DateTime, Utc};

/// A commit's name: the hexadecimal digits of its hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitId(pub String);

/// The past of each file of a palace that git has seen, by path inside the palace.
pub type History = BTreeMap<String, Versions>;

/// The past of one file (v2 section 3.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Versions {
    /// How many commits changed it; 1 is the first.
    pub count: u32,
    /// When the first of them was made.
    pub created: DateTime<Utc>,
    /// When the last of them was made.
    pub updated: DateTime<Utc>,
}

/// One commit that touched the palace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The first line of its message.
    pub subject: String,
    /// Who made it.
    pub by: String,
    /// When.
    pub at: DateTime<Utc>,
}

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
