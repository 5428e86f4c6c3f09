//! The path by which other programs start Palazzo.

use std::env;
use std::path::PathBuf;

/// Returns the path of this program for a configuration. It is the one by which the user has started
/// it, so that a link of a package manager stays a link: its target changes with each version.
pub(super) fn program_path() -> PathBuf {
    let Ok(own) = env::current_exe() else { return PathBuf::from("palazzo") };
    let is_own = |it: &PathBuf| matches!((dunce::canonicalize(it), dunce::canonicalize(&own)), (Ok(a), Ok(b)) if a == b);
    started_path().filter(is_own).unwrap_or(own)
}

/// Returns the path by which this process was started, as far as its arguments and `PATH` tell it.
fn started_path() -> Option<PathBuf> {
    let name = PathBuf::from(env::args_os().next()?);
    if name.components().count() > 1 {
        return std::path::absolute(name).ok();
    }
    let folders = env::var_os("PATH")?;
    let found = env::split_paths(&folders).map(|it| it.join(&name)).find(|it| it.is_file())?;
    std::path::absolute(found).ok()
}
