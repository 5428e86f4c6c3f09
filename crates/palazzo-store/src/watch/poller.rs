//! Polls all files where the system does not report changes.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// Compares all files with the previous call, and returns the paths that changed.
pub type PollCallback = Box<dyn FnMut() -> Vec<String> + Send>;

/// The time between two polls.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// A background thread that polls; it stops when this is dropped.
pub struct Poller {
    _stop: Sender<()>,
}

impl Poller {
    /// Starts to poll; calls `report` with the paths that `poll` returns.
    pub fn start(mut poll: PollCallback, report: impl Fn(Vec<String>) + Send + 'static) -> Self {
        let (stop, stopped) = channel();
        thread::spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(POLL_INTERVAL) {
                let found = poll();
                if !found.is_empty() {
                    report(found);
                }
            }
        });
        Self { _stop: stop }
    }
}
