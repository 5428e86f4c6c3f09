//! Signals that end a process.

use std::io;

/// Is ready when the process is asked to end. From the call on, such a signal no
/// longer ends it by itself; a second one does.
#[cfg(unix)]
pub(super) fn ended() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut next = async move || {
        tokio::select! {
            _ = terminate.recv() => SIGTERM,
            _ = interrupt.recv() => SIGINT,
        }
    };
    Ok(async move {
        next().await;
        tokio::spawn(async move {
            let number = next().await;
            std::process::exit(128 + number);
        });
    })
}

/// Is ready when the process is asked to end. From the call on, Ctrl-C no longer ends
/// it by itself.
#[cfg(not(unix))]
pub(super) fn ended() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    Ok(async {
        // Where there are no signals, nothing asks.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}

#[cfg(unix)]
const SIGINT: i32 = 2;
#[cfg(unix)]
const SIGTERM: i32 = 15;
