//! Selects the commits of a log, or of an undo, by their client and their time.

use chrono::{DateTime, Utc};

use crate::{Caller, Refusal};
use palazzo_core::model::{CommitDetails, quoted};

/// The commits that a log lists.
#[derive(Clone, Debug, Default)]
pub struct LogFilter {
    /// The name of the client, or of the author, in any case.
    pub client: Option<String>,
    /// The moment since which they were made: a day, a time or an age.
    pub since: Option<String>,
}

/// A filter whose texts are parsed.
#[derive(Default)]
pub(crate) struct CommitSelection {
    client: Option<String>,
    pub(crate) since: Option<DateTime<Utc>>,
}

impl CommitSelection {
    pub(crate) fn parse(filter: &LogFilter, caller: &Caller) -> Result<Self, Refusal> {
        let since = filter.since.as_deref().map(|it| parse_since(it, caller)).transpose()?;
        Ok(Self { client: filter.client.clone(), since })
    }

    /// Returns whether a commit was made by the client, and not before the moment.
    pub(crate) fn selects(&self, commit: &CommitDetails) -> bool {
        self.client.as_ref().is_none_or(|it| is_made_by(commit, it))
            && self.since.is_none_or(|it| commit.summary.at >= it)
    }
}

/// Parses a day, a time or an age.
pub(crate) fn parse_since(since: &str, caller: &Caller) -> Result<DateTime<Utc>, Refusal> {
    caller.start_time(since).ok_or_else(|| {
        Refusal::Invalid(format!(
            "{} is not a time: use a day (2026-03-01), a time (2026-03-01T12:00:00Z) or an age \
             (3 hours)",
            quoted(since)
        ))
    })
}

/// Returns whether the client or the author of a commit has this name, in any case.
pub(crate) fn is_made_by(commit: &CommitDetails, name: &str) -> bool {
    let client = commit.trailer(Caller::CLIENT_TRAILER).unwrap_or_default();
    let names = [client, &commit.summary.by].map(str::to_lowercase);
    names.contains(&name.trim().to_lowercase())
}
