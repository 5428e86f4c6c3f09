//! A progress bar on the error stream.

use std::io::IsTerminal as _;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A progress bar, shown only on a terminal.
#[derive(Default)]
pub(crate) struct ProgressBar {
    percent: AtomicUsize,
}

impl ProgressBar {
    const WIDTH: usize = 40;

    /// Redraws the bar when the percentage changes; removes it at the end.
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
