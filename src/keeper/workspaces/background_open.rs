//! Opens a palace in the background while the server starts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use crate::keeper::Refusal;
use crate::keeper::palace::OpenPalace;
use crate::keeper::palace::watch_config::WatchConfig;
use crate::store::Store;

/// A palace that a thread opens. The thread writes nothing.
pub(crate) struct BackgroundOpen {
    /// The directory name of the palace.
    pub(crate) key: String,
    is_awaited: Arc<AtomicBool>,
    thread: JoinHandle<Result<OpenPalace, Refusal>>,
}

impl BackgroundOpen {
    /// Starts a thread that opens the palace with the directory name `key`.
    pub(crate) fn start(store: Store, key: String, name: String, config: &WatchConfig) -> Self {
        let config = config.clone();
        let is_awaited = Arc::new(AtomicBool::new(false));
        let is_palace_needed = is_awaited.clone();
        let open = move || {
            let palace = OpenPalace::open_without_writing(store, &name, &config)?;
            if !is_palace_needed.load(Ordering::Relaxed) {
                palace.warm_caches();
            }
            Ok(palace)
        };
        Self { key, is_awaited, thread: thread::spawn(open) }
    }

    /// Waits for the palace; `None` if it could not be opened.
    pub(crate) fn wait(self) -> Option<OpenPalace> {
        self.is_awaited.store(true, Ordering::Relaxed);
        let mut palace = self.thread.join().ok()?.ok()?;
        palace.finish_open();
        Some(palace)
    }
}
