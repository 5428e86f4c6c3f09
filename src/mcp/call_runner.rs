//! Runs calls on the keeper in queue order, outside the thread that talks to the
//! client, and sends their progress.

use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ErrorData, ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::{Interval, MissedTickBehavior, interval_at};

use crate::mcp::call_queue::{CallAccess, CallQueue, ExecutionTarget, QueueTicket};
use palazzo_keeper::{Caller, Keeper, SnapshotReader};

/// The keeper with the queue of its calls.
#[derive(Clone)]
pub(crate) struct CallRunner {
    keeper: Arc<Mutex<Keeper>>,
    snapshot_reader: SnapshotReader,
    queue: CallQueue,
}

impl CallRunner {
    /// Creates the queue for `keeper`.
    pub(crate) fn new(mut keeper: Keeper) -> Self {
        let queue = CallQueue::default();
        let shared = queue.clone();
        keeper.set_wait_callback(Arc::new(move |is_waiting| shared.set_keeper_waiting(is_waiting)));
        let snapshot_reader = keeper.snapshot_reader();
        Self { keeper: Arc::new(Mutex::new(keeper)), snapshot_reader, queue }
    }

    /// Runs `question` on the keeper, or on a snapshot, when it is the call's turn. The
    /// call is queued before the first await. If a snapshot cannot answer, `question`
    /// runs again on the keeper. A panic is answered with an error.
    pub(crate) async fn run_in_turn<T: Send + 'static>(
        &self,
        mut caller: Caller,
        access: CallAccess,
        context: Option<&RequestContext<RoleServer>>,
        question: impl Fn(&mut Keeper, &Caller) -> Result<T, ErrorData> + Send + Sync + 'static,
    ) -> Result<T, ErrorData> {
        let question = Arc::new(question);
        let mut ticket = self.queue.enqueue(&caller.visit, access);
        let mut progress = context.and_then(|it| ProgressSender::start(it, &mut caller));
        loop {
            let target = tokio::select! {
                target = ticket.wait_for_start() => target.ok_or_else(shutdown_error)?,
                () = wait_for_cancel(context) => return Err(cancelled_error()),
            };
            let (calls, by, ask) = (self.clone(), caller.clone(), question.clone());
            let mut work = spawn_blocking(move || calls.run_on_target(target, ticket, &by, &*ask));
            let done = tokio::select! {
                done = &mut work => done,
                () = send_progress(progress.as_mut()) => work.await,
                () = wait_for_cancel(context) => {
                    caller.cancelled.store(true, Ordering::Relaxed);
                    work.await
                }
            };
            let Ok((returned, answer)) = done else { return Err(panic_error()) };
            ticket = returned;
            match answer {
                // The next call starts once this answer is on its way.
                Some(answer) => return answer,
                None => ticket.requeue_after_miss(),
            }
        }
    }

    /// Runs `question` at once, outside the queue; returns `None` if neither the keeper
    /// nor a snapshot is available.
    pub(crate) fn try_run_now<T>(
        &self,
        caller: &Caller,
        question: impl FnOnce(&mut Keeper) -> T,
    ) -> Option<T> {
        match self.keeper.try_lock() {
            Ok(mut keeper) => {
                keeper.start_call(caller);
                Some(question(&mut keeper))
            }
            Err(TryLockError::Poisoned(_)) => None,
            Err(TryLockError::WouldBlock) => {
                self.snapshot_reader.try_answer_from_snapshots(caller, question)
            }
        }
    }

    /// Starts no more calls.
    pub(crate) fn close_queue(&self) {
        self.queue.close();
    }

    /// Returns whether every call that has arrived is finished.
    #[cfg(feature = "http")]
    pub(crate) fn is_idle(&self) -> bool {
        self.queue.is_empty()
    }

    /// Waits until the call on the keeper is finished, even if no client waits for its
    /// answer, closes the palaces, and pushes what waits to be pushed.
    pub(crate) async fn shut_down(&self) {
        let calls = self.clone();
        let close = move || {
            let mut keeper = calls.lock_keeper();
            keeper.close_all_palaces();
            keeper.finish_background_sync();
        };
        drop(spawn_blocking(close).await);
    }

    /// Runs `question` and gives the ticket back; the answer is `None` if a snapshot is
    /// not enough.
    fn run_on_target<T>(
        &self,
        target: ExecutionTarget,
        ticket: QueueTicket,
        caller: &Caller,
        question: &impl Fn(&mut Keeper, &Caller) -> Result<T, ErrorData>,
    ) -> (QueueTicket, Option<Result<T, ErrorData>>) {
        let ask = |keeper: &mut Keeper| {
            let answer = catch_unwind(AssertUnwindSafe(|| question(keeper, caller)));
            answer.unwrap_or_else(|_| {
                keeper.close_all_palaces();
                Err(panic_error())
            })
        };
        let answer = match target {
            ExecutionTarget::Snapshot => {
                self.snapshot_reader.try_answer_from_snapshots(caller, ask)
            }
            ExecutionTarget::Keeper => {
                let mut keeper = self.lock_keeper();
                keeper.start_call(caller);
                keeper.publish_snapshots();
                let answer = ask(&mut keeper);
                keeper.share_visit_after_call(caller);
                Some(answer)
            }
        };
        (ticket, answer)
    }

    fn lock_keeper(&self) -> MutexGuard<'_, Keeper> {
        self.keeper.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The time before the first notification and between two: a short call sends none.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

/// The steps of a call, over all its parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Steps {
    /// The steps of the parts that are finished.
    before: usize,
    /// The completed and total steps of the current part.
    done: usize,
    total: usize,
}

/// Sends the progress of one call.
struct ProgressSender {
    token: ProgressToken,
    peer: Peer<RoleServer>,
    steps: watch::Receiver<Steps>,
    interval: Interval,
    sent: usize,
}

impl Steps {
    /// Counts a report. A part of the work begins with no completed step; reports of parallel
    /// steps may arrive in any order.
    fn count_report(&mut self, done: usize, total: usize) {
        if done == 0 {
            self.before += self.done;
            (self.done, self.total) = (0, total);
        }
        self.done = self.done.max(done);
    }
}

impl ProgressSender {
    /// Creates the sender for a call, and makes its caller report to it; `None` if the client
    /// did not ask for progress.
    fn start(context: &RequestContext<RoleServer>, caller: &mut Caller) -> Option<Self> {
        let token = context.meta.get_progress_token()?;
        let (sender, steps) = watch::channel(Steps::default());
        *caller = caller.with_progress(move |done, total| {
            sender.send_modify(|it| it.count_report(done, total));
        });
        let mut interval =
            interval_at(tokio::time::Instant::now() + PROGRESS_INTERVAL, PROGRESS_INTERVAL);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Some(Self { token, peer: context.peer.clone(), steps, interval, sent: 0 })
    }

    /// Sends the progress at intervals, whenever it has grown, until this is dropped.
    async fn send_all(&mut self) {
        loop {
            self.interval.tick().await;
            let Steps { before, done, total } = *self.steps.borrow_and_update();
            if before + done <= self.sent {
                continue;
            }
            self.sent = before + done;
            let progress = ProgressNotificationParam::new(self.token.clone(), as_float(self.sent))
                .with_total(as_float(before + total));
            if self.peer.notify_progress(progress).await.is_err() {
                pending::<()>().await;
            }
        }
    }
}

/// The answer to a request whose handler panicked.
pub(crate) fn panic_error() -> ErrorData {
    let message = "the request failed because of a bug in Palazzo; other requests work";
    ErrorData::internal_error(message, None)
}

/// Waits until the client cancels the request; forever if no client sent it.
async fn wait_for_cancel(context: Option<&RequestContext<RoleServer>>) {
    match context {
        Some(context) => context.ct.cancelled().await,
        None => std::future::pending().await,
    }
}

/// Sends the progress of a call, forever.
async fn send_progress(progress: Option<&mut ProgressSender>) {
    match progress {
        Some(progress) => progress.send_all().await,
        None => std::future::pending().await,
    }
}

/// The client does not receive this answer.
fn cancelled_error() -> ErrorData {
    ErrorData::internal_error("the request was cancelled", None)
}

fn shutdown_error() -> ErrorData {
    ErrorData::internal_error("the server is shutting down: nothing was done", None)
}

#[expect(clippy::cast_precision_loss, reason = "no call has that many steps")]
fn as_float(steps: usize) -> f64 {
    steps as f64
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;

    #[tokio::test]
    async fn a_panicking_request_is_answered_and_later_ones_work() {
        let calls = CallRunner::new(Keeper::new("nowhere".into(), None));
        let caller = || Caller::for_client("claude", DateTime::UNIX_EPOCH);
        for _ in 0..2 {
            let panics = |_: &mut Keeper, _: &Caller| -> Result<(), ErrorData> { panic!("a test") };
            let answer = calls.run_in_turn(caller(), CallAccess::Exclusive, None, panics).await;
            assert_eq!(answer.unwrap_err().message, panic_error().message);
            assert_eq!(
                calls.run_in_turn(caller(), CallAccess::Read, None, |_, _| Ok(7)).await,
                Ok(7)
            );
        }
    }

    #[tokio::test]
    async fn no_call_starts_while_the_server_shuts_down() {
        let calls = CallRunner::new(Keeper::new("nowhere".into(), None));
        calls.close_queue();
        let caller = Caller::for_client("claude", DateTime::UNIX_EPOCH);
        let answer = calls.run_in_turn(caller, CallAccess::Exclusive, None, |_, _| Ok(7)).await;
        assert_eq!(answer, Err(shutdown_error()));
    }

    #[test]
    fn progress_grows_over_the_parts_of_a_call_in_any_order_of_reports() {
        let mut steps = Steps::default();
        let reports = [(0, 3), (2, 3), (1, 3), (3, 3), (0, 2), (1, 2), (2, 2)];
        let counted = reports.map(|(done, total)| {
            steps.count_report(done, total);
            (steps.before + steps.done, steps.before + steps.total)
        });
        assert_eq!(counted, [(0, 3), (2, 3), (2, 3), (3, 3), (3, 5), (4, 5), (5, 5)]);
    }
}
