//! Places in the write path where a test lets the process die or an operation fail.
//!
//! Without the cargo feature `failpoints` every call is empty and compiles to
//! nothing. With it, `PALAZZO_FAILPOINT` chooses what happens:
//! `kill:7` kills the process at the seventh place it reaches, `EIO:7` (or
//! `ENOSPC`, `EMFILE`, `EACCES`) makes the operation at that place fail once.
//! `PALAZZO_FAILPOINT_LOG` names a file to which each place is appended, so that
//! a test knows how many there are.

/// Does what a test asks for at this place; else nothing.
#[cfg(not(feature = "failpoints"))]
#[expect(clippy::unnecessary_wraps, reason = "it can fail with the feature `failpoints`")]
#[inline(always)]
#[expect(clippy::inline_always, reason = "it is empty")]
pub(crate) fn fail_point(_: &str) -> std::io::Result<()> {
    Ok(())
}

/// Lets a test kill the process after an operation; an error cannot be asked for here.
pub(crate) fn kill_point(name: &str) {
    drop(fail_point(name));
}

#[cfg(feature = "failpoints")]
pub(crate) use active::fail_point;
#[cfg(all(test, feature = "failpoints"))]
pub(crate) use active::reached_count;

#[cfg(feature = "failpoints")]
mod active {
    use std::fs::OpenOptions;
    use std::io::{self, Write as _};
    use std::sync::atomic::{AtomicUsize, Ordering};

    static REACHED_COUNT: AtomicUsize = AtomicUsize::new(0);

    /// Returns how many places were reached so far.
    #[cfg(test)]
    pub(crate) fn reached_count() -> usize {
        REACHED_COUNT.load(Ordering::SeqCst)
    }

    /// Does what `PALAZZO_FAILPOINT` asks for at this place.
    pub(crate) fn fail_point(name: &str) -> io::Result<()> {
        let number = REACHED_COUNT.fetch_add(1, Ordering::SeqCst) + 1;
        if let Some(log) = std::env::var_os("PALAZZO_FAILPOINT_LOG") {
            let mut log = OpenOptions::new().append(true).create(true).open(log)?;
            log.write_all(format!("{number} {name}\n").as_bytes())?;
        }
        let Ok(asked) = std::env::var("PALAZZO_FAILPOINT") else { return Ok(()) };
        match asked.split_once(':') {
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
            // The kernel ends it as it would for `kill -9`: nothing is dropped, nothing is flushed.
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
