//! How far a change has come, for whoever waits for a long one.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Is told how many steps of how many are done.
#[derive(Clone)]
pub struct Listener(Arc<dyn Fn(usize, usize) + Send + Sync>);

/// The steps of one change.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress {
    listener: Option<Listener>,
    done: Arc<AtomicUsize>,
    total: usize,
}

impl Listener {
    /// Calls `tell` with how many steps are done, and of how many.
    pub fn new(tell: impl Fn(usize, usize) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener")
    }
}

impl Progress {
    /// Begins a change of `all` steps.
    pub(crate) fn start(listener: Option<&Listener>, all: usize) -> Self {
        Self { listener: listener.cloned(), done: Arc::default(), total: all }
    }

    /// Takes a step; one too many, because something was done again, does not count.
    pub(crate) fn count_step(&self) {
        if let Some(Listener(tell)) = &self.listener {
            let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
            tell(done.min(self.total), self.total);
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
        let heard = Arc::new(Mutex::new(Vec::new()));
        let notes = heard.clone();
        store.set_progress_listener(Listener::new(move |done, all| {
            notes.lock().unwrap().push((done, all))
        }));
        commit_ok(
            &mut store,
            &change_of_files(&[("a.yaml", None, Some("1\n")), ("b.yaml", None, Some("2\n"))]),
        );
        let expected: Vec<_> = (1..=6).map(|it| (it, 6)).collect();
        assert_eq!(*heard.lock().unwrap(), expected);
    }
}
