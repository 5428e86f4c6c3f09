//! Reads what a process writes, also if a process that it has started keeps the stream open.

use std::io::Read;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The maximum number of bytes of output that are kept.
const MAX_OUTPUT_BYTES: u64 = 1 << 20;
/// The time for the last output of a process that has ended. A process that ssh has left in the
/// background may keep the stream open.
const LAST_OUTPUT_TIME: Duration = Duration::from_millis(500);

/// Reads a stream of a process in a thread, up to a limit.
pub(crate) struct OutputReader {
    bytes: Arc<Mutex<Vec<u8>>>,
    end: Receiver<()>,
}

impl OutputReader {
    /// Starts to read `stream`.
    pub(crate) fn start(mut stream: impl Read + Send + 'static) -> Self {
        let (bytes, (sender, end)) = (Arc::<Mutex<Vec<u8>>>::default(), mpsc::channel());
        let shared = bytes.clone();
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = stream.read(&mut buffer) {
                let mut bytes = shared.lock().unwrap_or_else(PoisonError::into_inner);
                if (bytes.len() as u64) < MAX_OUTPUT_BYTES {
                    bytes.extend_from_slice(&buffer[..count]);
                }
            }
            drop(sender);
        });
        Self { bytes, end }
    }

    /// Returns what was read.
    pub(crate) fn finish(self) -> String {
        self.end.recv_timeout(LAST_OUTPUT_TIME).unwrap_or_default();
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
