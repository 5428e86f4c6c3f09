//! Looking at everything again and again, where nobody tells of changes.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use crate::watch::PollCallback;

/// How long lies between two rounds.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Somebody who goes round in the background; stops when this is dropped.
pub struct Poller {
    _stop: Sender<()>,
}

impl Poller {
    /// Begins to go round; what `look` finds goes to `tell`.
    pub fn start(mut look: PollCallback, tell: impl Fn(Vec<String>) + Send + 'static) -> Self {
        let (stay, gone) = channel();
        thread::spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = gone.recv_timeout(POLL_INTERVAL) {
                let found = look();
                if !found.is_empty() {
                    tell(found);
                }
            }
        });
        Self { _stop: stay }
    }
}
