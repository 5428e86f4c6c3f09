//! The order in which calls are run.
//!
//! Calls of one visit run one after the other, as they arrived. Calls that may change
//! something run one after the other too, as they arrived, whoever makes them. Calls
//! that read run as soon as the keeper is free, and beside a call that waits for
//! something outside, on snapshots.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// How many calls read snapshots at the same time.
const MAX_SNAPSHOT_CALLS: usize = 4;

/// The calls that have arrived and are not done.
#[derive(Clone, Default)]
pub(crate) struct CallQueue(Arc<Mutex<QueueState>>);

/// What a call needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallAccess {
    /// It reads; a snapshot may be enough.
    Read,
    /// It may change something, and needs the keeper.
    Exclusive,
}

/// Where a call runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallTarget {
    /// It has the keeper for itself.
    Keeper,
    /// It reads snapshots, beside others.
    Snapshot,
}

/// The place of a call in the queue; it leaves the queue when this is dropped.
pub(crate) struct QueueTicket {
    queue: CallQueue,
    number: u64,
}

#[derive(Default)]
struct QueueState {
    calls: BTreeMap<u64, QueuedCall>,
    next_number: u64,
    /// Whether the call that has the keeper waits for something outside.
    is_waiting: bool,
    /// Whether no call is begun any more.
    is_closed: bool,
}

struct QueuedCall {
    visit: String,
    access: CallAccess,
    running: Option<CallTarget>,
    start_sender: Option<oneshot::Sender<CallTarget>>,
}

impl CallQueue {
    /// Adds a call at the end. Whoever calls this in the order of arrival is served in
    /// that order.
    pub(crate) fn enqueue(&self, visit: &str, need: CallAccess) -> QueueTicket {
        let mut state = self.lock_state();
        let number = state.next_number;
        state.next_number += 1;
        let call =
            QueuedCall { visit: visit.to_owned(), access: need, running: None, start_sender: None };
        state.calls.insert(number, call);
        QueueTicket { queue: self.clone(), number }
    }

    /// Notes whether the call that has the keeper waits for something outside.
    pub(crate) fn set_waiting(&self, is_waiting: bool) {
        let mut state = self.lock_state();
        state.is_waiting = is_waiting;
        state.start_calls();
    }

    /// Begins no more calls: those that have not begun are told so.
    pub(crate) fn close(&self) {
        let mut state = self.lock_state();
        state.is_closed = true;
        for call in state.calls.values_mut() {
            drop(call.start_sender.take());
        }
    }

    fn lock_state(&self) -> MutexGuard<'_, QueueState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueueTicket {
    /// Waits until the call may run; `None`: no more calls are begun.
    pub(crate) async fn wait_for_start(&self) -> Option<CallTarget> {
        let (start, started) = oneshot::channel();
        {
            let mut state = self.queue.lock_state();
            if state.is_closed {
                return None;
            }
            if let Some(call) = state.calls.get_mut(&self.number) {
                call.start_sender = Some(start);
            }
            state.start_calls();
        }
        started.await.ok()
    }

    /// Goes back to its place in the queue, because a snapshot is not enough.
    pub(crate) fn require_exclusive(&self) {
        let mut state = self.queue.lock_state();
        if let Some(call) = state.calls.get_mut(&self.number) {
            (call.access, call.running) = (CallAccess::Exclusive, None);
        }
    }
}

impl Drop for QueueTicket {
    fn drop(&mut self) {
        let mut state = self.queue.lock_state();
        let call = state.calls.remove(&self.number);
        if call.is_some_and(|it| it.running == Some(CallTarget::Keeper)) {
            state.is_waiting = false;
        }
        state.start_calls();
    }
}

impl QueueState {
    /// Lets every call run that can.
    fn start_calls(&mut self) {
        for (number, place) in self.startable_calls() {
            let Some(call) = self.calls.get_mut(&number) else { continue };
            call.running = Some(place);
            if let Some(start) = call.start_sender.take() {
                // Whoever is gone leaves the queue by itself.
                start.send(place).unwrap_or_default();
            }
        }
    }

    fn startable_calls(&self) -> Vec<(u64, CallTarget)> {
        let running = |place| self.calls.values().filter(|it| it.running == Some(place)).count();
        let mut is_free = running(CallTarget::Keeper) == 0;
        let mut readers = running(CallTarget::Snapshot);
        let mut startable = Vec::new();
        if !is_free && !self.is_waiting {
            return startable;
        }
        let (mut visits, mut is_change_ahead) = (HashSet::new(), false);
        for (number, call) in &self.calls {
            let is_first = visits.insert(call.visit.as_str());
            let can_start = is_first && call.running.is_none() && call.start_sender.is_some();
            if can_start && is_free && !is_change_ahead {
                is_free = false;
                startable.push((*number, CallTarget::Keeper));
            } else if can_start
                && call.access == CallAccess::Read
                && self.is_waiting
                && readers < MAX_SNAPSHOT_CALLS
            {
                readers += 1;
                startable.push((*number, CallTarget::Snapshot));
            }
            is_change_ahead |= call.access == CallAccess::Exclusive;
        }
        startable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A queue without tasks: each call in it asks at once to be begun.
    #[derive(Default)]
    struct QueueFixture {
        queue: CallQueue,
        tickets: Vec<(Option<QueueTicket>, oneshot::Receiver<CallTarget>)>,
    }

    impl QueueFixture {
        fn enqueue(&mut self, visit: &str, need: CallAccess) -> usize {
            let turn = self.queue.enqueue(visit, need);
            let (start, started) = oneshot::channel();
            let mut state = self.queue.lock_state();
            state.calls.get_mut(&turn.number).unwrap().start_sender = Some(start);
            state.start_calls();
            drop(state);
            self.tickets.push((Some(turn), started));
            self.tickets.len() - 1
        }

        fn leave(&mut self, call: usize) {
            self.tickets[call].0.take();
        }

        /// Where a call was begun since the last time somebody asked.
        fn started_on(&mut self, call: usize) -> Option<CallTarget> {
            self.tickets[call].1.try_recv().ok()
        }
    }

    #[test]
    fn changes_run_one_at_a_time_in_order_of_arrival() {
        let mut scene = QueueFixture::default();
        let calls = ["a", "b", "a", "c"].map(|it| scene.enqueue(it, CallAccess::Exclusive));
        for (place, call) in calls.into_iter().enumerate() {
            assert_eq!(scene.started_on(call), Some(CallTarget::Keeper));
            for later in &calls[place + 1..] {
                assert_eq!(scene.started_on(*later), None);
            }
            scene.leave(call);
        }
    }

    #[test]
    fn readers_run_on_snapshots_only_while_a_call_waits() {
        let mut scene = QueueFixture::default();
        let change = scene.enqueue("a", CallAccess::Exclusive);
        let reader = scene.enqueue("b", CallAccess::Read);
        assert_eq!(
            (scene.started_on(change), scene.started_on(reader)),
            (Some(CallTarget::Keeper), None)
        );
        scene.queue.set_waiting(true);
        assert_eq!(scene.started_on(reader), Some(CallTarget::Snapshot));
        scene.queue.set_waiting(false);
        let other = scene.enqueue("c", CallAccess::Read);
        assert_eq!(scene.started_on(other), None);
        scene.leave(change);
        assert_eq!(scene.started_on(other), Some(CallTarget::Keeper));
    }

    #[test]
    fn a_call_waits_for_the_earlier_calls_of_its_visit() {
        let mut scene = QueueFixture::default();
        let change = scene.enqueue("a", CallAccess::Exclusive);
        let reader = scene.enqueue("a", CallAccess::Read);
        scene.queue.set_waiting(true);
        assert_eq!(scene.started_on(reader), None);
        scene.leave(change);
        assert_eq!(scene.started_on(reader), Some(CallTarget::Keeper));
    }

    #[test]
    fn a_reader_that_needs_the_keeper_runs_before_later_changes() {
        let mut scene = QueueFixture::default();
        let first = scene.enqueue("a", CallAccess::Exclusive);
        let reader = scene.enqueue("b", CallAccess::Read);
        let last = scene.enqueue("c", CallAccess::Exclusive);
        scene.queue.set_waiting(true);
        assert_eq!(scene.started_on(reader), Some(CallTarget::Snapshot));
        let (start, started) = oneshot::channel();
        scene.tickets[reader].0.as_ref().unwrap().require_exclusive();
        scene.queue.lock_state().calls.get_mut(&1).unwrap().start_sender = Some(start);
        scene.tickets[reader].1 = started;
        scene.leave(first);
        assert_eq!(
            (scene.started_on(reader), scene.started_on(last)),
            (Some(CallTarget::Keeper), None)
        );
        scene.leave(reader);
        assert_eq!(scene.started_on(last), Some(CallTarget::Keeper));
    }

    #[test]
    fn a_call_cancelled_before_it_starts_blocks_no_other() {
        let mut scene = QueueFixture::default();
        let calls = ["a", "b", "c"].map(|it| scene.enqueue(it, CallAccess::Exclusive));
        scene.leave(calls[1]);
        scene.leave(calls[0]);
        assert_eq!(scene.started_on(calls[2]), Some(CallTarget::Keeper));
    }
}
