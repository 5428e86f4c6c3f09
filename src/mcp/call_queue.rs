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
const READERS: usize = 4;

/// The calls that have arrived and are not done.
#[derive(Clone, Default)]
pub(crate) struct Queue(Arc<Mutex<State>>);

/// What a call needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// It reads; a snapshot may be enough.
    Read,
    /// It may change something, and needs the keeper.
    Keeper,
}

/// Where a call runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// It has the keeper for itself.
    Keeper,
    /// It reads snapshots, beside others.
    Snapshot,
}

/// The place of a call in the queue; it leaves the queue when this is dropped.
pub(crate) struct Turn {
    queue: Queue,
    number: u64,
}

#[derive(Default)]
struct State {
    calls: BTreeMap<u64, Call>,
    next: u64,
    /// Whether the call that has the keeper waits for something outside.
    is_waiting: bool,
    /// Whether no call is begun any more.
    is_closed: bool,
}

struct Call {
    visit: String,
    need: Need,
    running: Option<Place>,
    start: Option<oneshot::Sender<Place>>,
}

impl Queue {
    /// Adds a call at the end. Whoever calls this in the order of arrival is served in
    /// that order.
    pub(crate) fn enter(&self, visit: &str, need: Need) -> Turn {
        let mut state = self.state();
        let number = state.next;
        state.next += 1;
        let call = Call { visit: visit.to_owned(), need, running: None, start: None };
        state.calls.insert(number, call);
        Turn { queue: self.clone(), number }
    }

    /// Notes whether the call that has the keeper waits for something outside.
    pub(crate) fn set_waiting(&self, is_waiting: bool) {
        let mut state = self.state();
        state.is_waiting = is_waiting;
        state.start_calls();
    }

    /// Begins no more calls: those that have not begun are told so.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        for call in state.calls.values_mut() {
            drop(call.start.take());
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn {
    /// Waits until the call may run; `None`: no more calls are begun.
    pub(crate) async fn begin(&self) -> Option<Place> {
        let (start, started) = oneshot::channel();
        {
            let mut state = self.queue.state();
            if state.is_closed {
                return None;
            }
            if let Some(call) = state.calls.get_mut(&self.number) {
                call.start = Some(start);
            }
            state.start_calls();
        }
        started.await.ok()
    }

    /// Goes back to its place in the queue, because a snapshot is not enough.
    pub(crate) fn need_keeper(&self) {
        let mut state = self.queue.state();
        if let Some(call) = state.calls.get_mut(&self.number) {
            (call.need, call.running) = (Need::Keeper, None);
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut state = self.queue.state();
        let call = state.calls.remove(&self.number);
        if call.is_some_and(|it| it.running == Some(Place::Keeper)) {
            state.is_waiting = false;
        }
        state.start_calls();
    }
}

impl State {
    /// Lets every call run that can.
    fn start_calls(&mut self) {
        for (number, place) in self.startable() {
            let Some(call) = self.calls.get_mut(&number) else { continue };
            call.running = Some(place);
            if let Some(start) = call.start.take() {
                // Whoever is gone leaves the queue by itself.
                start.send(place).unwrap_or_default();
            }
        }
    }

    fn startable(&self) -> Vec<(u64, Place)> {
        let running = |place| self.calls.values().filter(|it| it.running == Some(place)).count();
        let mut is_free = running(Place::Keeper) == 0;
        let mut readers = running(Place::Snapshot);
        let mut startable = Vec::new();
        if !is_free && !self.is_waiting {
            return startable;
        }
        let (mut visits, mut is_change_ahead) = (HashSet::new(), false);
        for (number, call) in &self.calls {
            let is_first = visits.insert(call.visit.as_str());
            let can_start = is_first && call.running.is_none() && call.start.is_some();
            if can_start && is_free && !is_change_ahead {
                is_free = false;
                startable.push((*number, Place::Keeper));
            } else if can_start && call.need == Need::Read && self.is_waiting && readers < READERS {
                readers += 1;
                startable.push((*number, Place::Snapshot));
            }
            is_change_ahead |= call.need == Need::Keeper;
        }
        startable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A queue without tasks: each call in it asks at once to be begun.
    #[derive(Default)]
    struct Scene {
        queue: Queue,
        turns: Vec<(Option<Turn>, oneshot::Receiver<Place>)>,
    }

    impl Scene {
        fn enter(&mut self, visit: &str, need: Need) -> usize {
            let turn = self.queue.enter(visit, need);
            let (start, started) = oneshot::channel();
            let mut state = self.queue.state();
            state.calls.get_mut(&turn.number).unwrap().start = Some(start);
            state.start_calls();
            drop(state);
            self.turns.push((Some(turn), started));
            self.turns.len() - 1
        }

        fn end(&mut self, call: usize) {
            self.turns[call].0.take();
        }

        /// Where a call was begun since the last time somebody asked.
        fn begun(&mut self, call: usize) -> Option<Place> {
            self.turns[call].1.try_recv().ok()
        }
    }

    #[test]
    fn changes_run_one_after_the_other_as_they_arrived() {
        let mut scene = Scene::default();
        let calls = ["a", "b", "a", "c"].map(|it| scene.enter(it, Need::Keeper));
        for (place, call) in calls.into_iter().enumerate() {
            assert_eq!(scene.begun(call), Some(Place::Keeper));
            for later in &calls[place + 1..] {
                assert_eq!(scene.begun(*later), None);
            }
            scene.end(call);
        }
    }

    #[test]
    fn readers_run_on_snapshots_only_while_a_call_waits() {
        let mut scene = Scene::default();
        let change = scene.enter("a", Need::Keeper);
        let reader = scene.enter("b", Need::Read);
        assert_eq!((scene.begun(change), scene.begun(reader)), (Some(Place::Keeper), None));
        scene.queue.set_waiting(true);
        assert_eq!(scene.begun(reader), Some(Place::Snapshot));
        scene.queue.set_waiting(false);
        let other = scene.enter("c", Need::Read);
        assert_eq!(scene.begun(other), None);
        scene.end(change);
        assert_eq!(scene.begun(other), Some(Place::Keeper));
    }

    #[test]
    fn a_call_waits_for_the_earlier_calls_of_its_visit() {
        let mut scene = Scene::default();
        let change = scene.enter("a", Need::Keeper);
        let reader = scene.enter("a", Need::Read);
        scene.queue.set_waiting(true);
        assert_eq!(scene.begun(reader), None);
        scene.end(change);
        assert_eq!(scene.begun(reader), Some(Place::Keeper));
    }

    #[test]
    fn a_reader_that_needs_the_keeper_goes_before_later_changes() {
        let mut scene = Scene::default();
        let first = scene.enter("a", Need::Keeper);
        let reader = scene.enter("b", Need::Read);
        let last = scene.enter("c", Need::Keeper);
        scene.queue.set_waiting(true);
        assert_eq!(scene.begun(reader), Some(Place::Snapshot));
        let (start, started) = oneshot::channel();
        scene.turns[reader].0.as_ref().unwrap().need_keeper();
        scene.queue.state().calls.get_mut(&1).unwrap().start = Some(start);
        scene.turns[reader].1 = started;
        scene.end(first);
        assert_eq!((scene.begun(reader), scene.begun(last)), (Some(Place::Keeper), None));
        scene.end(reader);
        assert_eq!(scene.begun(last), Some(Place::Keeper));
    }

    #[test]
    fn a_call_that_leaves_before_it_began_is_in_nobodys_way() {
        let mut scene = Scene::default();
        let calls = ["a", "b", "c"].map(|it| scene.enter(it, Need::Keeper));
        scene.end(calls[1]);
        scene.end(calls[0]);
        assert_eq!(scene.begun(calls[2]), Some(Place::Keeper));
    }
}
