//! The path by which other programs start Palazzo.

use std::env;
use std::path::{Path, PathBuf};

use crate::cli::outcome::Failure;
use palazzo_core::model::path_text;

/// Returns the path of this program for a configuration. It is the one by which the user has started
/// it, so that a link of a package manager stays a link: its target changes with each version. Fails
/// if it is not UTF-8.
pub(super) fn program_path() -> Result<String, Failure> {
    let Ok(own) = env::current_exe() else { return Ok("palazzo".to_owned()) };
    let file = dunce::canonicalize(&own).ok();
    let is_own = |it: &PathBuf| file.is_some() && dunce::canonicalize(it).ok() == file;
    to_utf8(&started_path().filter(is_own).unwrap_or(own))
}

/// Returns a path as a text for a configuration; fails if it is not UTF-8.
pub(super) fn to_utf8(path: &Path) -> Result<String, Failure> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        let why = "is not UTF-8, and no configuration can contain it";
        Failure::Message(format!("the path `{}` {why}", path_text(path)))
    })
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
