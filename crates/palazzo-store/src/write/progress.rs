//! Reports the progress of long work, such as a change of many files, to the caller that waits.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A callback that receives the number of completed steps and the total. Work of several parts
/// begins each part with 0 completed steps.
#[derive(Clone)]
pub struct ProgressListener(Arc<dyn Fn(usize, usize) + Send + Sync>);

/// The completed and total steps of a part of the work.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    listener: Option<ProgressListener>,
    done: Arc<AtomicUsize>,
    total: usize,
}

impl ProgressListener {
    /// Creates a listener that calls `report` with the number of completed steps and the total.
    pub fn new(report: impl Fn(usize, usize) + Send + Sync + 'static) -> Self {
        Self(Arc::new(report))
    }

    /// Reports that `done` of `total` steps are completed.
    pub fn report(&self, done: usize, total: usize) {
        (self.0)(done, total);
    }
}

impl fmt::Debug for ProgressListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener")
    }
}

impl Progress {
    /// Starts a part with `total` steps.
    pub(crate) fn start(listener: Option<&ProgressListener>, total: usize) -> Self {
        if let Some(listener) = listener {
            listener.report(0, total);
        }
        Self { listener: listener.cloned(), done: Arc::default(), total }
    }

    /// Counts a step; repeated steps beyond the total are not counted.
    pub fn count_step(&self) {
        if let Some(listener) = &self.listener {
            let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
            listener.report(done.min(self.total), self.total);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::test_repository::{TestHome, change_of_files, commit_ok};

    #[test]
    fn the_listener_is_called_for_every_step() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        let calls = Arc::new(Mutex::new(Vec::new()));
        let notes = calls.clone();
        store.set_progress_listener(Some(ProgressListener::new(move |done, total| {
            notes.lock().unwrap().push((done, total));
        })));
        commit_ok(
            &mut store,
            &change_of_files(&[("a.yaml", None, Some("1\n")), ("b.yaml", None, Some("2\n"))]),
        );
        let expected: Vec<_> = (0..=6).map(|it| (it, 6)).collect();
        assert_eq!(*calls.lock().unwrap(), expected);
    }
}
