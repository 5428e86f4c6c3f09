//! Reports the progress of a change to a caller that waits for a long one.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A callback that receives the number of completed steps and the total.
#[derive(Clone)]
pub struct ProgressListener(Arc<dyn Fn(usize, usize) + Send + Sync>);

/// The completed and total steps of a change.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress {
    listener: Option<ProgressListener>,
    done: Arc<AtomicUsize>,
    total: usize,
}

impl ProgressListener {
    /// Creates a listener that calls `report` with the number of completed steps and the total.
    pub fn new(report: impl Fn(usize, usize) + Send + Sync + 'static) -> Self {
        Self(Arc::new(report))
    }
}

impl fmt::Debug for ProgressListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener")
    }
}

impl Progress {
    /// Starts a change with `total` steps.
    pub(crate) fn start(listener: Option<&ProgressListener>, total: usize) -> Self {
        Self { listener: listener.cloned(), done: Arc::default(), total }
    }

    /// Counts a step; repeated steps beyond the total are not counted.
    pub(crate) fn count_step(&self) {
        if let Some(ProgressListener(report)) = &self.listener {
            let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
            report(done.min(self.total), self.total);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::store::test_repository::{TestHome, change_of_files, commit_ok};

    #[test]
    fn the_listener_is_called_for_every_step() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        let calls = Arc::new(Mutex::new(Vec::new()));
        let notes = calls.clone();
        store.set_progress_listener(ProgressListener::new(move |done, total| {
            notes.lock().unwrap().push((done, total));
        }));
        commit_ok(
            &mut store,
            &change_of_files(&[("a.yaml", None, Some("1\n")), ("b.yaml", None, Some("2\n"))]),
        );
        let expected: Vec<_> = (1..=6).map(|it| (it, 6)).collect();
        assert_eq!(*calls.lock().unwrap(), expected);
    }
}
