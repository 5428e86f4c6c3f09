//! Repeats an operation that fails while another program is busy.

use std::time::{Duration, Instant};

/// The pause between two attempts.
pub(crate) const RETRY_PAUSE: Duration = Duration::from_millis(40);

/// How long to retry while `git gc` is running.
pub(crate) const GC_RETRY_TIMEOUT: Duration = Duration::from_secs(5);

/// How long to retry a commit that failed because git moved objects or references meanwhile.
pub(crate) const RETRY_TIMEOUT: Duration = Duration::from_millis(500);

/// Repeats `attempt` while it fails with a temporary error, until `timeout`. The pauses are short,
/// so that a lock taken again and again is acquired in between.
pub(crate) fn retry_until_timeout<T, E>(
    timeout: Duration,
    is_temporary: impl Fn(&E) -> bool,
    mut attempt: impl FnMut() -> Result<T, E>,
) -> Result<T, E> {
    let (started, mut pause) = (Instant::now(), Duration::from_micros(200));
    loop {
        match attempt() {
            Err(err) if is_temporary(&err) && started.elapsed() < timeout => {
                std::thread::sleep(pause);
            }
            outcome => return outcome,
        }
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}
