//! How far something has come.

use std::io::IsTerminal as _;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How far something has come, on a terminal whose owner waits.
#[derive(Default)]
pub(crate) struct ProgressBar {
    percent: AtomicUsize,
}

impl ProgressBar {
    const WIDTH: usize = 40;

    /// Shows it anew for each percent; takes it away at the end.
    pub(crate) fn show(&self, done: usize, all: usize) {
        let percent = done * 100 / all.max(1);
        if self.percent.swap(percent, Ordering::Relaxed) == percent
            || !std::io::stderr().is_terminal()
        {
            return;
        }
        if done == all {
            anstream::eprint!("\r{:1$}\r", "", Self::WIDTH + 8);
            return;
        }
        let full = percent * Self::WIDTH / 100;
        anstream::eprint!(
            "\r[{:#<full$}{:rest$}] {percent:>3} %",
            "",
            "",
            rest = Self::WIDTH - full
        );
    }
}
