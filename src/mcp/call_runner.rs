//! Asking the keeper for a caller: in turn, off the thread that talks to the client.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use rmcp::RoleServer;
use rmcp::model::ErrorData;
use rmcp::service::RequestContext;
use tokio::task::spawn_blocking;

use crate::keeper::{Caller, Keeper, SnapshotReader};
use crate::mcp::call_queue::{CallAccess, CallQueue, CallTarget, QueueTicket};

/// The keeper, and the calls that want it.
#[derive(Clone)]
pub(crate) struct CallRunner {
    keeper: Arc<Mutex<Keeper>>,
    readers: SnapshotReader,
    queue: CallQueue,
}

impl CallRunner {
    /// Lets calls ask `keeper`.
    pub(crate) fn new(mut keeper: Keeper) -> Self {
        let queue = CallQueue::default();
        let shared = queue.clone();
        keeper.set_wait_callback(Arc::new(move |is_waiting| shared.set_waiting(is_waiting)));
        let readers = keeper.snapshot_reader();
        Self { keeper: Arc::new(Mutex::new(keeper)), readers, queue }
    }

    /// Asks the keeper, or a snapshot, in the caller's turn. The turn is taken before
    /// this awaits anything. The question may be asked twice if the first time, of a
    /// snapshot, got no answer. A fault is an answer too.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        by: Caller,
        need: CallAccess,
        context: Option<&RequestContext<RoleServer>>,
        question: impl Fn(&mut Keeper, &Caller) -> Result<T, ErrorData> + Send + Sync + 'static,
    ) -> Result<T, ErrorData> {
        let question = Arc::new(question);
        let mut turn = self.queue.enqueue(&by.name, need);
        loop {
            let place = tokio::select! {
                place = turn.wait_for_start() => place.ok_or_else(shutdown_error)?,
                () = wait_for_cancel(context) => return Err(cancelled_error()),
            };
            let (calls, caller, asked) = (self.clone(), by.clone(), question.clone());
            let mut work = spawn_blocking(move || calls.run_on(place, turn, &caller, &*asked));
            let done = tokio::select! {
                done = &mut work => done,
                () = wait_for_cancel(context) => {
                    by.cancelled.store(true, Ordering::Relaxed);
                    work.await
                }
            };
            let Ok((back, answer)) = done else { return Err(panic_error()) };
            turn = back;
            match answer {
                // The next call begins when this answer is on its way.
                Some(answer) => return answer,
                None => turn.require_exclusive(),
            }
        }
    }

    /// Asks what is at hand at once, without a turn; `None`: nothing is.
    pub(crate) fn try_run_now<T>(
        &self,
        by: &Caller,
        question: impl FnOnce(&mut Keeper) -> T,
    ) -> Option<T> {
        match self.keeper.try_lock() {
            Ok(mut keeper) => {
                keeper.begin_call();
                Some(question(&mut keeper))
            }
            Err(TryLockError::Poisoned(_)) => None,
            Err(TryLockError::WouldBlock) => self.readers.try_ask(by, question),
        }
    }

    /// Begins no more calls.
    pub(crate) fn close(&self) {
        self.queue.close();
    }

    /// Waits until the call that has the keeper is done, although nobody waits for its
    /// answer, and closes the palaces.
    pub(crate) async fn shut_down(&self) {
        let calls = self.clone();
        drop(spawn_blocking(move || calls.lock_keeper().close_all_palaces()).await);
    }

    /// Asks in a turn, which is given back; `None`: the keeper has to be asked.
    fn run_on<T>(
        &self,
        place: CallTarget,
        turn: QueueTicket,
        by: &Caller,
        question: &impl Fn(&mut Keeper, &Caller) -> Result<T, ErrorData>,
    ) -> (QueueTicket, Option<Result<T, ErrorData>>) {
        let ask = |keeper: &mut Keeper| {
            let answer = catch_unwind(AssertUnwindSafe(|| question(keeper, by)));
            answer.unwrap_or_else(|_| {
                keeper.close_all_palaces();
                Err(panic_error())
            })
        };
        let answer = match place {
            CallTarget::Snapshot => self.readers.try_ask(by, ask),
            CallTarget::Keeper => {
                let mut keeper = self.lock_keeper();
                keeper.begin_call();
                keeper.publish_snapshots();
                let answer = ask(&mut keeper);
                keeper.end_call(by);
                Some(answer)
            }
        };
        (turn, answer)
    }

    fn lock_keeper(&self) -> MutexGuard<'_, Keeper> {
        self.keeper.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is answered after a panic.
pub(crate) fn panic_error() -> ErrorData {
    ErrorData::internal_error("Palazzo itself met a fault; other requests work", None)
}

/// Never ends for what no client has asked for.
async fn wait_for_cancel(context: Option<&RequestContext<RoleServer>>) {
    match context {
        Some(context) => context.ct.cancelled().await,
        None => std::future::pending().await,
    }
}

/// Nobody gets this answer.
fn cancelled_error() -> ErrorData {
    ErrorData::internal_error("the request was cancelled", None)
}

fn shutdown_error() -> ErrorData {
    ErrorData::internal_error("the server is ending: nothing was done", None)
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;

    #[tokio::test]
    async fn a_panicking_request_is_answered_and_later_ones_work() {
        let calls = CallRunner::new(Keeper::new("nowhere".into(), None));
        let by = || Caller::for_client("claude", DateTime::UNIX_EPOCH);
        for _ in 0..2 {
            let panics = |_: &mut Keeper, _: &Caller| -> Result<(), ErrorData> { panic!("a test") };
            let answer = calls.run(by(), CallAccess::Exclusive, None, panics).await;
            assert_eq!(answer.unwrap_err().message, panic_error().message);
            assert_eq!(calls.run(by(), CallAccess::Read, None, |_, _| Ok(7)).await, Ok(7));
        }
    }

    #[tokio::test]
    async fn no_call_starts_while_the_server_shuts_down() {
        let calls = CallRunner::new(Keeper::new("nowhere".into(), None));
        calls.close();
        let by = Caller::for_client("claude", DateTime::UNIX_EPOCH);
        let answer = calls.run(by, CallAccess::Exclusive, None, |_, _| Ok(7)).await;
        assert_eq!(answer, Err(shutdown_error()));
    }
}
