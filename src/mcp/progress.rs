//! Sends the progress of a call to a client that asked for it.

use std::future::pending;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::sync::watch;
use tokio::time::{Interval, MissedTickBehavior, interval_at};

use palazzo_keeper::Caller;

/// The time before the first notification and between two: a short call sends none.
const INTERVAL: Duration = Duration::from_millis(200);

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
pub(super) struct ProgressSender {
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
    pub(super) fn start(context: &RequestContext<RoleServer>, caller: &mut Caller) -> Option<Self> {
        let token = context.meta.get_progress_token()?;
        let (sender, steps) = watch::channel(Steps::default());
        *caller = caller.with_progress(move |done, total| {
            sender.send_modify(|it| it.count_report(done, total));
        });
        let mut interval = interval_at(tokio::time::Instant::now() + INTERVAL, INTERVAL);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Some(Self { token, peer: context.peer.clone(), steps, interval, sent: 0 })
    }

    /// Sends the progress at intervals, whenever it has grown, until this is dropped.
    pub(super) async fn send_all(&mut self) {
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

#[expect(clippy::cast_precision_loss, reason = "no call has that many steps")]
fn as_float(steps: usize) -> f64 {
    steps as f64
}

#[cfg(test)]
mod tests {
    use super::*;

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
