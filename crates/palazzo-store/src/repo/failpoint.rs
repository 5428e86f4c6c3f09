//! Points in the write path where a test can kill the process or make an operation fail.
//!
//! Outside of unit tests every call is empty and compiles to nothing. In a unit test,
//! `PALAZZO_FAILPOINT` selects the action: `kill:7` kills the process at the seventh point that it
//! reaches, `EIO:7` (or `ENOSPC`, `EMFILE`, `EACCES`) makes the operation at that point fail once.
//! `PALAZZO_FAILPOINT_LOG` names a file to which each point is appended, so that a test can count
//! them.

/// Does nothing outside of unit tests.
#[cfg(not(test))]
#[expect(clippy::unnecessary_wraps, reason = "it can fail in unit tests")]
#[inline(always)]
#[expect(clippy::inline_always, reason = "it is empty")]
pub(crate) fn fail_point(_: &str) -> std::io::Result<()> {
    Ok(())
}

/// Lets a test kill the process after an operation; errors are not supported here.
pub(crate) fn kill_point(name: &str) {
    drop(fail_point(name));
}

#[cfg(test)]
pub(crate) use active::fail_point;
#[cfg(all(test, unix))]
pub(crate) use active::reached_count;

#[cfg(test)]
mod active {
    use std::fs::OpenOptions;
    use std::io::{self, Write as _};
    use std::sync::atomic::{AtomicUsize, Ordering};

    static REACHED_COUNT: AtomicUsize = AtomicUsize::new(0);

    /// Returns the number of points reached so far.
    #[cfg(unix)]
    pub(crate) fn reached_count() -> usize {
        REACHED_COUNT.load(Ordering::SeqCst)
    }

    /// Performs the action of `PALAZZO_FAILPOINT` if it is for this point.
    pub(crate) fn fail_point(name: &str) -> io::Result<()> {
        let number = REACHED_COUNT.fetch_add(1, Ordering::SeqCst) + 1;
        if let Some(log) = std::env::var_os("PALAZZO_FAILPOINT_LOG") {
            let mut log = OpenOptions::new().append(true).create(true).open(log)?;
            log.write_all(format!("{number} {name}\n").as_bytes())?;
        }
        let Ok(setting) = std::env::var("PALAZZO_FAILPOINT") else { return Ok(()) };
        match setting.split_once(':') {
            Some((what, at)) if at.parse() == Ok(number) => trigger(what),
            _ => Ok(()),
        }
    }

    fn trigger(what: &str) -> io::Result<()> {
        let code = match what {
            "EIO" => 5,
            "EACCES" => 13,
            "EMFILE" => 24,
            "ENOSPC" => 28,
            // The kernel ends the process as with `kill -9`: nothing is dropped or flushed.
            _ => {
                let kill = std::process::Command::new("kill")
                    .args(["-9", &std::process::id().to_string()])
                    .status();
                drop(kill);
                std::process::abort();
            }
        };
        Err(io::Error::from_raw_os_error(code))
    }
}
