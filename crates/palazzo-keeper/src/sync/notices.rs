//! What readers see of the synchronization: a line for the workspace, and notices in rooms.

use chrono::{DateTime, Utc};

use crate::Session;
use palazzo_core::model::quoted_unless_plain;
use palazzo_core::render::{
    Notice, ago, count_with_noun, name_in_sentence, time_of_day, truncate,
    truncate_closing_backtick, whole_line,
};
use palazzo_store::{DatedCommit, Store, SyncFailure, SyncFailureKind, SyncStatus, is_far_ahead};

/// The maximum number of characters of a reason.
const MAX_REASON_CHARS: usize = 400;
/// The maximum number of characters of an author.
const MAX_AUTHOR_CHARS: usize = 60;

/// Returns the line about the synchronization of a palace for the description of its workspace;
/// `None`: it is not set up.
pub(crate) fn sync_line(palace: &Store, now: DateTime<Utc>) -> Option<String> {
    let status = allowed_status(palace)?;
    let name = quoted_unless_plain(&status.upstream.short_name());
    let failure = status.record.failure.as_ref();
    let reached = match status.record.last_reached {
        Some(at) if failure.is_some() => format!("Last reached {name} {}", ago(at, now)),
        Some(at) => format!("Synced with {name} {}", ago(at, now)),
        None => format!("Not yet synced with {name}"),
    };
    let line = match status.ahead {
        Some(ahead @ 1..) => format!("{reached}; {}.", waiting(ahead)),
        Some(0) | None => format!("{reached}."),
    };
    Some(match failure {
        Some(failure) => format!("{line} {}", failure_sentence(failure, now)),
        None => line,
    })
}

/// Returns the notices about the synchronization for a room: that it fails, and that a received
/// commit is dated far ahead. That the remote cannot be reached, and such a date, are shown only
/// once in a visit.
pub(crate) fn take_sync_notices(session: &mut Session<'_>) -> Vec<Notice> {
    let (palace, now) = (session.palace.store(), session.caller.now);
    let record = palace.sync_record();
    let is_future = |it: &&DatedCommit| is_far_ahead(it.at, now);
    let future = record.future_commit.as_ref().filter(is_future);
    // The record of a repository that came as an archive is not ours.
    let future = future.filter(|_| allowed_status(palace).is_some()).map(future_commit_sentence);
    // Usually there is none, and then no more is read.
    let failure = record.failure.and_then(|it| failure_notice(palace, &it, now));
    let (key, visit) = (&session.key, &mut *session.visit);
    let failure = failure.filter(|(kind, _)| {
        *kind == SyncFailureKind::Blocked || visit.sync_notices_seen.insert(key.clone())
    });
    let future = future.filter(|_| visit.clock_notices_seen.insert(key.clone()));
    failure.map(|(_, text)| text).into_iter().chain(future).map(Notice).collect()
}

/// Reports a commit whose date is far ahead.
pub(crate) fn future_commit_sentence(it: &DatedCommit) -> String {
    format!(
        "The commit {} by {} is dated {}, more than a day ahead: the clock of that machine, or of this \
         one, is wrong. Here it counts as made now; in merges its date stands.",
        it.short.chars().filter(char::is_ascii_hexdigit).take(40).collect::<String>(),
        name_in_sentence(&truncate(&it.by, MAX_AUTHOR_CHARS)),
        it.at.format("%Y-%m-%d")
    )
}

fn failure_notice(
    palace: &Store,
    failure: &SyncFailure,
    now: DateTime<Utc>,
) -> Option<(SyncFailureKind, String)> {
    let ahead = allowed_status(palace)?.ahead.unwrap_or_default();
    let text = match failure.kind {
        SyncFailureKind::Blocked => failure_sentence(failure, now),
        SyncFailureKind::Unreachable if ahead == 0 => {
            format!("{}.", not_reached(failure, now))
        }
        SyncFailureKind::Unreachable => {
            format!("{}; {}.", not_reached(failure, now), waiting(ahead))
        }
    };
    Some((failure.kind, text))
}

fn failure_sentence(failure: &SyncFailure, now: DateTime<Utc>) -> String {
    match failure.kind {
        SyncFailureKind::Unreachable => format!("{}.", not_reached(failure, now)),
        SyncFailureKind::Blocked => {
            let reason = truncate_closing_backtick(&whole_line(&failure.message), MAX_REASON_CHARS);
            format!("Sync is blocked since {}: {reason}", time_of_day(failure.since, now))
        }
    }
}

fn not_reached(failure: &SyncFailure, now: DateTime<Utc>) -> String {
    format!("The remote was not reached since {}", time_of_day(failure.since, now))
}

fn waiting(count: usize) -> String {
    let verb = if count == 1 { "waits" } else { "wait" };
    format!("{} {verb}", count_with_noun(count, "commit"))
}

/// Returns the state as last fetched, if the user has set the synchronization up.
fn allowed_status(palace: &Store) -> Option<SyncStatus> {
    if palace.as_of_commit().is_some() {
        return None;
    }
    let upstream = palace.upstream().ok()?;
    if !palace.is_sync_allowed(&upstream).ok()? {
        return None;
    }
    palace.sync_status().ok()
}
