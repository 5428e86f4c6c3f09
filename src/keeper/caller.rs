//! Who calls an operation, and when.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chrono::{DateTime, Utc};

use crate::model::Author;
use crate::render;

/// The caller of an operation, and the time of the call.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The name, under which its visit is kept and its scrolls are written.
    pub name: String,
    /// The author of its changes in git.
    pub author: Author,
    /// The called tool or command, for the commit message.
    pub tool: &'static str,
    /// The time of the call.
    pub now: DateTime<Utc>,
    /// Whether the client no longer waits for the answer.
    pub cancelled: Arc<AtomicBool>,
}

impl Caller {
    /// Creates the caller for a client. Its name is shortened to one line; without a name it is
    /// `agent`.
    pub fn for_client(name: &str, now: DateTime<Utc>) -> Self {
        let name = render::truncate(&render::one_line(name), 60);
        let name = if name.is_empty() { "agent".to_owned() } else { name };
        let cancelled = Arc::default();
        Self { author: Author::Client(name.clone()), name, tool: "", now, cancelled }
    }

    /// Creates the caller for the person who ran `command` in a terminal.
    pub fn for_person(name: &str, command: &'static str, now: DateTime<Utc>) -> Self {
        let client = Self::for_client(name, now);
        Self { author: Author::Person(client.name.clone()), tool: command, ..client }
    }

    /// Returns true if the client no longer waits for the answer.
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}
