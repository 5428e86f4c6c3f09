//! Handles the signals that end the process.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use palazzo_keeper::Keeper;

/// Makes a signal wait for a commit in progress before it ends the process; a second
/// signal ends the process at once.
pub(super) fn finish_writes_on_signal(keeper: &mut Keeper) {
    let busy = Arc::new((Mutex::new(false), Condvar::new()));
    let shared = busy.clone();
    keeper.set_wait_callback(Arc::new(move |is_busy| {
        *shared.0.lock().unwrap_or_else(PoisonError::into_inner) = is_busy;
        shared.1.notify_all();
    }));
    thread::spawn(move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
            return;
        };
        let _runtime = runtime.enter();
        let Ok(signal) = termination_signal() else { return };
        let exit = async {
            let number = signal.await;
            let wait = tokio::task::spawn_blocking(move || {
                let is_busy = busy.0.lock().unwrap_or_else(PoisonError::into_inner);
                // The lock is held until the exit, so that no other commit begins.
                let _idle = busy.1.wait_while(is_busy, |it| *it);
                std::process::exit(128 + number);
            });
            drop(wait.await);
        };
        runtime.block_on(exit);
    });
}

/// Sets `cancelled` when the process receives a signal that ends it, so that the operation under
/// way can clean up; a second signal ends the process at once.
pub(super) fn cancel_on_signal(cancelled: Arc<AtomicBool>) -> PendingSignalExit {
    let handler = PendingSignalExit::default();
    let PendingSignalExit { signal: received, is_done } = handler.clone();
    thread::spawn(move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
            return;
        };
        let wait = async {
            let Ok(signal) = termination_signal() else { return };
            let number = signal.await;
            received.store(number, Ordering::SeqCst);
            cancelled.store(true, Ordering::SeqCst);
            if is_done.load(Ordering::SeqCst) {
                std::process::exit(128 + number);
            }
            std::future::pending::<()>().await;
        };
        runtime.block_on(wait);
    });
    handler
}

/// Handles signals while an operation is under way.
#[derive(Clone, Default)]
pub(super) struct PendingSignalExit {
    /// The number of the signal; 0 if there was none.
    signal: Arc<AtomicI32>,
    is_done: Arc<AtomicBool>,
}

impl PendingSignalExit {
    /// Ends the process if a signal has cancelled the operation. A later signal ends it at once.
    pub(super) fn exit_if_cancelled(self) {
        self.is_done.store(true, Ordering::SeqCst);
        match self.signal.load(Ordering::SeqCst) {
            0 => {}
            number => std::process::exit(128 + number),
        }
    }
}

/// Returns a future that resolves to the signal number when the process receives a
/// termination signal. After the call the first such signal no longer ends the process by
/// itself; a second one does.
pub(super) fn termination_signal() -> io::Result<impl Future<Output = i32> + Send + 'static> {
    termination_signal_with(|| {})
}

/// Returns a future as [`termination_signal`] does; `before_exit` is called at the second signal.
pub(super) fn termination_signal_with(
    before_exit: impl FnOnce() + Send + 'static,
) -> io::Result<impl Future<Output = i32> + Send + 'static> {
    let mut signals = TerminationSignals::listen()?;
    Ok(async move {
        let number = signals.next().await;
        tokio::spawn(async move {
            let again = signals.next().await;
            before_exit();
            std::process::exit(128 + again)
        });
        number
    })
}

/// Receives `SIGTERM` and `SIGINT`.
#[cfg(unix)]
struct TerminationSignals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl TerminationSignals {
    fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let terminate = signal(SignalKind::terminate())?;
        Ok(Self { terminate, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn next(&mut self) -> i32 {
        tokio::select! {
            _ = self.terminate.recv() => SIGTERM,
            _ = self.interrupt.recv() => SIGINT,
        }
    }
}

/// Receives Ctrl-C, Ctrl-Break, the closing of the console and the shutdown of the system. After
/// the last two, Windows ends the process within seconds. A process without a console receives
/// none of them: it ends when its standard input ends, or is terminated.
#[cfg(windows)]
struct TerminationSignals {
    interrupt: tokio::signal::windows::CtrlC,
    terminate: tokio::signal::windows::CtrlBreak,
    close: tokio::signal::windows::CtrlClose,
    shutdown: tokio::signal::windows::CtrlShutdown,
}

#[cfg(windows)]
impl TerminationSignals {
    fn listen() -> io::Result<Self> {
        use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown};
        let (interrupt, terminate) = (ctrl_c()?, ctrl_break()?);
        Ok(Self { interrupt, terminate, close: ctrl_close()?, shutdown: ctrl_shutdown()? })
    }

    async fn next(&mut self) -> i32 {
        tokio::select! {
            _ = self.interrupt.recv() => SIGINT,
            _ = self.terminate.recv() => SIGTERM,
            _ = self.close.recv() => SIGTERM,
            _ = self.shutdown.recv() => SIGTERM,
        }
    }
}

/// Makes Ctrl-C end only the other programs at the terminal, while the returned value exists.
#[cfg(unix)]
pub(super) fn ignore_interrupt() -> io::Result<impl Sized> {
    use tokio::signal::unix::{SignalKind, signal};
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let _runtime = runtime.enter();
    // Nobody waits for the signal, but its handler replaces the default one.
    signal(SignalKind::interrupt())
}

/// Makes Ctrl-C end only the other programs at the terminal, while the returned value exists.
#[cfg(windows)]
pub(super) fn ignore_interrupt() -> io::Result<impl Sized> {
    tokio::signal::windows::ctrl_c()
}

const SIGINT: i32 = 2;
const SIGTERM: i32 = 15;
