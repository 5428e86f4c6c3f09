//! The visits of all callers, shared between the keeper and the readers of snapshots.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};
use ulid::Ulid;

use crate::caller::Caller;
use palazzo_core::visit::{Visit, VisitHandle, VisitKey};

/// How long a visit with a handle is kept without a call.
const IDLE_LIFETIME: TimeDelta = TimeDelta::days(1);

/// Maximum number of visits with a handle; those without a call for the longest time are removed.
const MAX_VISITS: usize = 1_000;

/// Maximum size in bytes of the ends of long answers that all visits keep together; the oldest are dropped.
const MAX_UNREAD_BYTES: usize = 64 << 20;

/// The visits of all callers. A keeper takes the visit of its caller from here during a call, and
/// puts it back. Clones share the same visits.
#[derive(Clone, Default)]
pub struct VisitStore(Arc<Mutex<BTreeMap<VisitKey, StoredVisit>>>);

struct StoredVisit {
    visit: Visit,
    id: Ulid,
    last_call: DateTime<Utc>,
}

impl VisitStore {
    /// Begins the visit with a handle, whose commits get the id `id`. Removes idle visits if there
    /// are too many.
    pub fn begin(&self, handle: &VisitHandle, id: Ulid, now: DateTime<Utc>) {
        let mut visits = self.lock();
        if visits.len() >= MAX_VISITS {
            remove_idle_visits(&mut visits, now);
        }
        let begun = StoredVisit { visit: Visit::default(), id, last_call: now };
        visits.insert(VisitKey::Handle(handle.clone()), begun);
    }

    /// Returns the id of the visit with a handle; `None` if it never began, or has ended.
    pub fn visit_id(&self, handle: &VisitHandle, now: DateTime<Utc>) -> Option<Ulid> {
        let mut visits = self.lock();
        let key = VisitKey::Handle(handle.clone());
        let stored = visits.get(&key)?;
        if now - stored.last_call > IDLE_LIFETIME {
            visits.remove(&key);
            return None;
        }
        Some(stored.id)
    }

    /// Returns the visit of a caller; an empty one if it has none.
    pub(super) fn get(&self, by: &Caller) -> Visit {
        self.lock().get(&by.visit).map(|it| it.visit.clone()).unwrap_or_default()
    }

    /// Stores the visit of a caller after a call; that with a handle only if it has begun.
    pub(super) fn store(&self, by: &Caller, visit: Visit) {
        let mut visits = self.lock();
        let has_unread = visit.unread_answer.is_some();
        let (id, last_call) = (by.visit_id, by.now);
        match visits.get_mut(&by.visit) {
            Some(stored) => (stored.visit, stored.last_call) = (visit, last_call),
            None if matches!(by.visit, VisitKey::Client(_)) => {
                visits.insert(by.visit.clone(), StoredVisit { visit, id, last_call });
            }
            None => {}
        }
        if has_unread {
            drop_oldest_unread_answers(&mut visits);
        }
    }

    /// Changes every visit.
    pub(super) fn for_each(&self, mut change: impl FnMut(&mut Visit)) {
        self.lock().values_mut().for_each(|it| change(&mut it.visit));
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<VisitKey, StoredVisit>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Drops the ends of long answers that were kept first, until the others are within the limit.
fn drop_oldest_unread_answers(visits: &mut BTreeMap<VisitKey, StoredVisit>) {
    let size = |it: &StoredVisit| it.visit.unread_answer.as_ref().map_or(0, |it| it.len());
    let mut total: usize = visits.values().map(size).sum();
    while total > MAX_UNREAD_BYTES {
        let with_unread = visits.values_mut().filter(|it| it.visit.unread_answer.is_some());
        let Some(oldest) = with_unread.min_by_key(|it| it.last_call) else { return };
        total -= size(oldest);
        oldest.visit.unread_answer = None;
    }
}

/// Removes the visits without a call for a day, else the tenth that had none for the longest time.
fn remove_idle_visits(visits: &mut BTreeMap<VisitKey, StoredVisit>, now: DateTime<Utc>) {
    let is_idle = |it: &StoredVisit, since| it.last_call < since;
    let is_client = |key: &VisitKey| matches!(key, VisitKey::Client(_));
    visits.retain(|key, it| is_client(key) || !is_idle(it, now - IDLE_LIFETIME));
    if visits.len() >= MAX_VISITS {
        let mut calls: Vec<_> = visits.values().map(|it| it.last_call).collect();
        let (_, oldest_kept, _) = calls.select_nth_unstable(MAX_VISITS / 10);
        let oldest_kept = *oldest_kept;
        visits.retain(|key, it| is_client(key) || it.last_call > oldest_kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::ada;

    fn caller(number: u128, now: DateTime<Utc>) -> Caller {
        let visit = VisitKey::Handle(VisitHandle::from_random(number));
        Caller { visit, now, ..ada() }
    }

    fn on_page_3() -> Visit {
        let mut visit = Visit::default();
        visit.page = 3;
        visit
    }

    fn begin(visits: &VisitStore, number: u128, now: DateTime<Utc>) -> VisitHandle {
        let handle = VisitHandle::from_random(number);
        visits.begin(&handle, Ulid(number), now);
        handle
    }

    #[test]
    fn a_visit_with_a_handle_ends_after_a_day_without_a_call() {
        let (visits, now) = (VisitStore::default(), ada().now);
        let handle = begin(&visits, 7, now);
        let later = now + TimeDelta::hours(23);
        assert_eq!(visits.visit_id(&handle, later), Some(Ulid(7)));
        visits.store(&caller(7, later), on_page_3());
        assert_eq!(visits.visit_id(&handle, later + TimeDelta::hours(23)), Some(Ulid(7)));
        assert_eq!(visits.get(&caller(7, later)).page, 3);
        assert_eq!(visits.visit_id(&handle, later + TimeDelta::hours(25)), None);
        assert_eq!(visits.get(&caller(7, later)).page, 0);
    }

    #[test]
    fn the_ends_of_long_answers_have_a_limit_together() {
        let (visits, now) = (VisitStore::default(), ada().now);
        let answer: std::sync::Arc<str> = "x".repeat(MAX_UNREAD_BYTES / 3).into();
        for number in 0..5_u8 {
            let at = now + TimeDelta::seconds(number.into());
            begin(&visits, number.into(), at);
            let mut visit = Visit::default();
            visit.unread_answer = Some(answer.clone());
            visits.store(&caller(number.into(), at), visit);
        }
        let has_unread = |number| visits.get(&caller(number, now)).unread_answer.is_some();
        assert_eq!([0, 1, 2, 3, 4].map(has_unread), [false, false, true, true, true]);
    }

    #[test]
    fn a_visit_that_has_not_begun_is_not_stored() {
        let (visits, now) = (VisitStore::default(), ada().now);
        visits.store(&caller(7, now), on_page_3());
        assert_eq!(visits.visit_id(&VisitHandle::from_random(7), now), None);
    }

    #[test]
    fn the_visits_without_a_call_for_the_longest_time_make_room() {
        let (visits, now) = (VisitStore::default(), ada().now);
        visits.store(&ada(), on_page_3());
        for number in 0..=MAX_VISITS as u128 {
            let seconds = i64::try_from(number).unwrap();
            begin(&visits, number, now + TimeDelta::seconds(seconds));
        }
        let is_kept = |number| visits.visit_id(&VisitHandle::from_random(number), now).is_some();
        assert!(!is_kept(0) && !is_kept(90) && is_kept(110));
        assert_eq!(visits.get(&ada()).page, 3, "the visit of a process is always kept");
    }
}
