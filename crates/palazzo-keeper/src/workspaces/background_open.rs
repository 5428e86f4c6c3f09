//! Opens a palace in the background while the server starts.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use crate::Refusal;
use crate::palace::OpenPalace;
use crate::palace::watch_config::WatchConfig;
use palazzo_store::{ProgressListener, Store};

type SharedListener = Arc<Mutex<Option<ProgressListener>>>;

/// A palace that a thread opens. The thread writes nothing.
pub(crate) struct BackgroundOpen {
    /// The directory name of the palace.
    pub(crate) key: String,
    is_awaited: Arc<AtomicBool>,
    /// Receives the progress, once a call waits for the palace.
    progress: SharedListener,
    thread: JoinHandle<Result<OpenPalace, Refusal>>,
}

impl BackgroundOpen {
    /// Starts a thread that opens the palace with the directory name `key`.
    pub(crate) fn start(mut store: Store, key: String, name: String, config: &WatchConfig) -> Self {
        let (config, progress) = (config.clone(), SharedListener::default());
        let listener = progress.clone();
        store.set_progress_listener(Some(ProgressListener::new(move |done, total| {
            if let Some(it) = &*listener.lock().unwrap_or_else(PoisonError::into_inner) {
                it.report(done, total);
            }
        })));
        let is_awaited = Arc::new(AtomicBool::new(false));
        let is_palace_needed = is_awaited.clone();
        let open = move || {
            let palace = OpenPalace::open_without_writing(store, &name, &config)?;
            if !is_palace_needed.load(Ordering::Relaxed) {
                palace.warm_caches();
            }
            Ok(palace)
        };
        Self { key, is_awaited, progress, thread: thread::spawn(open) }
    }

    /// Waits for the palace, and reports the progress to `progress`; `None` if it could not be
    /// opened.
    pub(crate) fn wait(self, progress: Option<ProgressListener>) -> Option<OpenPalace> {
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = progress;
        self.is_awaited.store(true, Ordering::Relaxed);
        let mut palace = self.thread.join().ok()?.ok()?;
        palace.finish_open();
        Some(palace)
    }
}
