//! Who calls an operation, and when.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chrono::{DateTime, NaiveDate, Utc};
use ulid::Ulid;

use palazzo_core::model::{Audience, Author, PointInTime, Reader, TimeZone, commit_trailers};
use palazzo_core::render;
use palazzo_core::visit::VisitKey;
use palazzo_store::{self as store, ProgressListener};

/// The caller of an operation, and the time of the call.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The name, under which its scrolls are written.
    pub name: String,
    /// The visit that the call acts on.
    pub visit: VisitKey,
    /// The author of its changes in git.
    pub author: Author,
    /// The called tool or command, for the commit message.
    pub tool: &'static str,
    /// The time of the call.
    pub now: DateTime<Utc>,
    /// The time zone in which the caller lives: its days are those of a call.
    pub zone: TimeZone,
    /// The id of the visit, for the commit message: one for each conversation and each command.
    pub visit_id: Ulid,
    /// Whether the client no longer waits for the answer.
    pub cancelled: Arc<AtomicBool>,
    /// Receives the progress of the call.
    pub progress: Option<ProgressListener>,
}

impl Caller {
    /// Creates the caller for a client in UTC, with the id of a new visit. Its name is shortened to one
    /// line; without a name it is `agent`.
    pub fn for_client(name: &str, now: DateTime<Utc>) -> Self {
        let name = render::truncate(&render::storable_line(name), 60);
        let name = if name.is_empty() { "agent".to_owned() } else { name };
        let (visit_id, cancelled) = (Ulid::from_datetime(now.into()), Arc::default());
        let (author, visit) = (Author::Client(name.clone()), VisitKey::Client(name.clone()));
        let zone = TimeZone::UTC;
        Self { author, name, visit, tool: "", now, zone, visit_id, cancelled, progress: None }
    }

    /// Creates the caller for the person who ran `command` in a terminal.
    pub fn for_person(name: &str, command: &'static str, now: DateTime<Utc>) -> Self {
        let client = Self::for_client(name, now);
        Self { author: Author::Person(client.name.clone()), tool: command, ..client }
    }

    /// Returns the day on which the caller calls.
    pub fn today(&self) -> NaiveDate {
        self.zone.day_at(self.now)
    }

    /// Returns the point in time of the call, with which dates are compared.
    pub fn point_in_time(&self) -> PointInTime {
        PointInTime::new(self.now, &self.zone)
    }

    /// Parses the time from which on something counts: a time, a day (its first second), or an age.
    pub(super) fn parse_start_time(&self, text: &str) -> Option<DateTime<Utc>> {
        store::parse_start_time(text, self.now, &self.zone)
    }

    /// Returns this caller with a listener to the progress of its calls.
    #[must_use]
    pub fn with_progress(&self, listener: impl Fn(usize, usize) + Send + Sync + 'static) -> Self {
        Self { progress: Some(ProgressListener::new(listener)), ..self.clone() }
    }

    /// Returns whether an agent or a person reads the answer.
    pub fn audience(&self) -> Audience {
        match self.author {
            Author::Client(_) => Audience::Agent,
            Author::Person(_) => Audience::Person,
        }
    }

    /// Returns who reads the answer, and when.
    pub fn reader(&self) -> Reader {
        Reader { audience: self.audience(), now: self.now }
    }

    /// Returns the trailers of a commit of this caller.
    pub(super) fn trailers(&self) -> Vec<(&'static str, String)> {
        vec![
            (commit_trailers::TOOL, self.tool.to_owned()),
            (commit_trailers::CLIENT, self.name.clone()),
            (commit_trailers::VISIT, self.visit_id.to_string()),
        ]
    }

    /// Returns true if the client no longer waits for the answer.
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}
