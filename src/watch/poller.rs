//! Looking at everything again and again, where nobody tells of changes.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use crate::watch::Look;

/// How long lies between two rounds.
const PAUSE: Duration = Duration::from_secs(2);

/// Somebody who goes round in the background; stops when this is dropped.
pub struct Rounds {
    _stay: Sender<()>,
}

impl Rounds {
    /// Begins to go round; what `look` finds goes to `tell`.
    pub fn begin(mut look: Look, tell: impl Fn(Vec<String>) + Send + 'static) -> Self {
        let (stay, gone) = channel();
        thread::spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = gone.recv_timeout(PAUSE) {
                let found = look();
                if !found.is_empty() {
                    tell(found);
                }
            }
        });
        Self { _stay: stay }
    }
}
