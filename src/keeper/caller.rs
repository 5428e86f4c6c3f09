//! Who calls an operation, and when.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chrono::{DateTime, Utc};

use crate::model::Author;
use crate::render;

/// Who asks, and when.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The name it goes by: whose visit it is, and who writes its scrolls.
    pub name: String,
    /// Who is the author of what it changes.
    pub author: Author,
    /// The tool or command it called, for the commit.
    pub tool: &'static str,
    /// The moment of asking.
    pub now: DateTime<Utc>,
    /// Whether nobody waits for the answer any more.
    pub cancelled: Arc<AtomicBool>,
}

impl Caller {
    /// Names a client by what it calls itself, made fit for one line; a
    /// nameless one is an `agent`.
    pub fn for_client(name: &str, now: DateTime<Utc>) -> Self {
        let name = render::truncate(&render::one_line(name), 60);
        let name = if name.is_empty() { "agent".to_owned() } else { name };
        let cancelled = Arc::default();
        Self { author: Author::Client(name.clone()), name, tool: "", now, cancelled }
    }

    /// Names the person at the terminal, who gave a command.
    pub fn for_person(name: &str, command: &'static str, now: DateTime<Utc>) -> Self {
        let client = Self::for_client(name, now);
        Self { author: Author::Person(client.name.clone()), tool: command, ..client }
    }

    /// Tells whether nobody waits for the answer any more.
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}
