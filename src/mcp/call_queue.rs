//! The order in which calls run.
//!
//! Calls of one visit run one at a time, in order of arrival. Calls that may change
//! something also run one at a time, in order of arrival, across all visits. Calls that
//! only read run as soon as the keeper is free, or on snapshots while the running call
//! waits for something outside.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use palazzo_keeper::VisitKey;

/// How many calls can read snapshots at the same time.
const MAX_SNAPSHOT_CALLS: usize = 4;

/// The calls that have arrived and are not finished.
#[derive(Clone, Default)]
pub(crate) struct CallQueue(Arc<Mutex<QueueState>>);

/// The access that a call needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallAccess {
    /// Only reads; a snapshot may be enough.
    Read,
    /// May change something; needs the keeper.
    Exclusive,
}

/// Where a call runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExecutionTarget {
    /// On the keeper, alone.
    Keeper,
    /// On snapshots, concurrently with other calls.
    Snapshot,
}

/// A call's entry in the queue, removed when this is dropped.
pub(crate) struct QueueTicket {
    queue: CallQueue,
    number: u64,
}

#[derive(Default)]
struct QueueState {
    calls: BTreeMap<u64, QueuedCall>,
    next_number: u64,
    /// Whether the call on the keeper waits for something outside.
    is_waiting: bool,
    /// Whether the queue starts no more calls.
    is_closed: bool,
}

struct QueuedCall {
    visit: VisitKey,
    access: CallAccess,
    running: Option<ExecutionTarget>,
    /// Whether the snapshots were not enough for it.
    has_missed: bool,
    start_sender: Option<oneshot::Sender<ExecutionTarget>>,
}

impl CallQueue {
    /// Adds a call at the end of the queue: calls are served in the order of this method.
    pub(crate) fn enqueue(&self, visit: &VisitKey, access: CallAccess) -> QueueTicket {
        let mut state = self.lock_state();
        let number = state.next_number;
        state.next_number += 1;
        let visit = visit.clone();
        let call =
            QueuedCall { visit, access, running: None, has_missed: false, start_sender: None };
        state.calls.insert(number, call);
        QueueTicket { queue: self.clone(), number }
    }

    /// Records whether the call on the keeper waits for something outside.
    pub(crate) fn set_keeper_waiting(&self, is_waiting: bool) {
        let mut state = self.lock_state();
        state.is_waiting = is_waiting;
        state.start_ready_calls();
    }

    /// Starts no more calls; waiting calls end without having run.
    pub(crate) fn close(&self) {
        let mut state = self.lock_state();
        state.is_closed = true;
        for call in state.calls.values_mut() {
            drop(call.start_sender.take());
        }
    }

    /// Returns whether every call that has arrived is finished.
    #[cfg(feature = "http")]
    pub(crate) fn is_empty(&self) -> bool {
        self.lock_state().calls.is_empty()
    }

    fn lock_state(&self) -> MutexGuard<'_, QueueState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueueTicket {
    /// Waits until the call may run. Returns `None` if the queue is closed.
    pub(crate) async fn wait_for_start(&self) -> Option<ExecutionTarget> {
        let (start, started) = oneshot::channel();
        {
            let mut state = self.queue.lock_state();
            if state.is_closed {
                return None;
            }
            if let Some(call) = state.calls.get_mut(&self.number) {
                call.start_sender = Some(start);
            }
            state.start_ready_calls();
        }
        started.await.ok()
    }

    /// Requeues the call in its old position, because the snapshots were not enough. The running
    /// call may just have withdrawn them: they are tried once more, before the call waits for the
    /// keeper.
    pub(crate) fn requeue_after_miss(&self) {
        let mut state = self.queue.lock_state();
        if let Some(call) = state.calls.get_mut(&self.number) {
            call.running = None;
            if call.has_missed {
                call.access = CallAccess::Exclusive;
            }
            call.has_missed = true;
        }
    }
}

impl Drop for QueueTicket {
    fn drop(&mut self) {
        let mut state = self.queue.lock_state();
        let call = state.calls.remove(&self.number);
        if call.is_some_and(|it| it.running == Some(ExecutionTarget::Keeper)) {
            state.is_waiting = false;
        }
        state.start_ready_calls();
    }
}

impl QueueState {
    /// Starts every call that can run.
    fn start_ready_calls(&mut self) {
        for (number, target) in self.startable_calls() {
            let Some(call) = self.calls.get_mut(&number) else { continue };
            call.running = Some(target);
            if let Some(start) = call.start_sender.take() {
                // A call whose receiver is gone leaves the queue by itself.
                start.send(target).unwrap_or_default();
            }
        }
    }

    fn startable_calls(&self) -> Vec<(u64, ExecutionTarget)> {
        let running = |target| self.calls.values().filter(|it| it.running == Some(target)).count();
        let mut is_free = running(ExecutionTarget::Keeper) == 0;
        let mut readers = running(ExecutionTarget::Snapshot);
        let mut startable = Vec::new();
        if !is_free && !self.is_waiting {
            return startable;
        }
        let (mut visits, mut is_change_ahead) = (HashSet::new(), false);
        for (number, call) in &self.calls {
            let is_first = visits.insert(&call.visit);
            let can_start = is_first && call.running.is_none() && call.start_sender.is_some();
            if can_start && is_free && !is_change_ahead {
                is_free = false;
                startable.push((*number, ExecutionTarget::Keeper));
            } else if can_start
                && call.access == CallAccess::Read
                && self.is_waiting
                && readers < MAX_SNAPSHOT_CALLS
            {
                readers += 1;
                startable.push((*number, ExecutionTarget::Snapshot));
            }
            is_change_ahead |= call.access == CallAccess::Exclusive;
        }
        startable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A queue without tasks: each call asks to start at once.
    #[derive(Default)]
    struct QueueFixture {
        queue: CallQueue,
        tickets: Vec<(Option<QueueTicket>, oneshot::Receiver<ExecutionTarget>)>,
    }

    impl QueueFixture {
        fn enqueue(&mut self, visit: &str, access: CallAccess) -> usize {
            let ticket = self.queue.enqueue(&VisitKey::Client(visit.to_owned()), access);
            let (start, started) = oneshot::channel();
            let mut state = self.queue.lock_state();
            state.calls.get_mut(&ticket.number).unwrap().start_sender = Some(start);
            state.start_ready_calls();
            drop(state);
            self.tickets.push((Some(ticket), started));
            self.tickets.len() - 1
        }

        fn leave(&mut self, call: usize) {
            self.tickets[call].0.take();
        }

        /// Reports that the snapshots were not enough for a call, which asks to start again.
        fn requeue_after_miss(&mut self, call: usize) {
            let ticket = self.tickets[call].0.as_ref().unwrap();
            ticket.requeue_after_miss();
            let (start, started) = oneshot::channel();
            let mut state = self.queue.lock_state();
            state.calls.get_mut(&ticket.number).unwrap().start_sender = Some(start);
            state.start_ready_calls();
            drop(state);
            self.tickets[call].1 = started;
        }

        /// Where a call was started since the last time this was called.
        fn started_on(&mut self, call: usize) -> Option<ExecutionTarget> {
            self.tickets[call].1.try_recv().ok()
        }
    }

    #[test]
    fn changes_run_one_at_a_time_in_order_of_arrival() {
        let mut fixture = QueueFixture::default();
        let calls = ["a", "b", "a", "c"].map(|it| fixture.enqueue(it, CallAccess::Exclusive));
        for (index, call) in calls.into_iter().enumerate() {
            assert_eq!(fixture.started_on(call), Some(ExecutionTarget::Keeper));
            for later in &calls[index + 1..] {
                assert_eq!(fixture.started_on(*later), None);
            }
            fixture.leave(call);
        }
    }

    #[test]
    fn readers_run_on_snapshots_only_while_a_call_waits() {
        let mut fixture = QueueFixture::default();
        let change = fixture.enqueue("a", CallAccess::Exclusive);
        let reader = fixture.enqueue("b", CallAccess::Read);
        assert_eq!(
            (fixture.started_on(change), fixture.started_on(reader)),
            (Some(ExecutionTarget::Keeper), None)
        );
        fixture.queue.set_keeper_waiting(true);
        assert_eq!(fixture.started_on(reader), Some(ExecutionTarget::Snapshot));
        fixture.queue.set_keeper_waiting(false);
        let other = fixture.enqueue("c", CallAccess::Read);
        assert_eq!(fixture.started_on(other), None);
        fixture.leave(change);
        assert_eq!(fixture.started_on(other), Some(ExecutionTarget::Keeper));
    }

    #[test]
    fn a_call_waits_for_the_earlier_calls_of_its_visit() {
        let mut fixture = QueueFixture::default();
        let change = fixture.enqueue("a", CallAccess::Exclusive);
        let reader = fixture.enqueue("a", CallAccess::Read);
        fixture.queue.set_keeper_waiting(true);
        assert_eq!(fixture.started_on(reader), None);
        fixture.leave(change);
        assert_eq!(fixture.started_on(reader), Some(ExecutionTarget::Keeper));
    }

    #[test]
    fn a_reader_whose_snapshot_was_withdrawn_tries_the_next_one() {
        let mut fixture = QueueFixture::default();
        fixture.enqueue("a", CallAccess::Exclusive);
        let reader = fixture.enqueue("b", CallAccess::Read);
        fixture.queue.set_keeper_waiting(true);
        assert_eq!(fixture.started_on(reader), Some(ExecutionTarget::Snapshot));
        fixture.queue.set_keeper_waiting(false);
        fixture.requeue_after_miss(reader);
        assert_eq!(fixture.started_on(reader), None);
        fixture.queue.set_keeper_waiting(true);
        assert_eq!(fixture.started_on(reader), Some(ExecutionTarget::Snapshot));
    }

    #[test]
    fn a_reader_that_needs_the_keeper_runs_before_later_changes() {
        let mut fixture = QueueFixture::default();
        let first = fixture.enqueue("a", CallAccess::Exclusive);
        let reader = fixture.enqueue("b", CallAccess::Read);
        let last = fixture.enqueue("c", CallAccess::Exclusive);
        fixture.queue.set_keeper_waiting(true);
        assert_eq!(fixture.started_on(reader), Some(ExecutionTarget::Snapshot));
        fixture.requeue_after_miss(reader);
        fixture.requeue_after_miss(reader);
        assert_eq!(fixture.started_on(reader), None);
        fixture.leave(first);
        assert_eq!(
            (fixture.started_on(reader), fixture.started_on(last)),
            (Some(ExecutionTarget::Keeper), None)
        );
        fixture.leave(reader);
        assert_eq!(fixture.started_on(last), Some(ExecutionTarget::Keeper));
    }

    #[test]
    fn a_call_cancelled_before_it_starts_blocks_no_other() {
        let mut fixture = QueueFixture::default();
        let calls = ["a", "b", "c"].map(|it| fixture.enqueue(it, CallAccess::Exclusive));
        fixture.leave(calls[1]);
        fixture.leave(calls[0]);
        assert_eq!(fixture.started_on(calls[2]), Some(ExecutionTarget::Keeper));
    }
}
