//! Leaves out files of the user's home that git would read and that this process may not.
//!
//! A service, a container or `sudo -u` often runs as one user with the home of another. Git goes on
//! without the settings, the ignored files and the attributes of that home; so does Palazzo.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use gix::bstr::ByteSlice as _;
use gix::config::Source;

use crate::repo::regular_file::is_missing_file_error;
use palazzo_core::model::path_text;

/// The files of the user that rules for paths are read from: their settings, and their names in the
/// folder for git's configuration.
const RULE_FILES: [(&str, &str); 2] =
    [("core.excludesFile", "ignore"), ("core.attributesFile", "attributes")];
/// A file that does not exist: in a file that always does.
const MISSING_FILE: &str = "HEAD/none";

/// Lets `git` read no file of the user that cannot be read; returns a warning if there is one.
pub(crate) fn leave_out_unreadable_files(
    git: &gix::ThreadSafeRepository,
) -> gix::Result<(gix::ThreadSafeRepository, Option<String>)> {
    let mut git = git.to_thread_local();
    let mut env = gix::path::env::var;
    let settings = [Source::Git, Source::User].map(|it| it.storage_location(&mut env));
    let mut unreadable = settings.into_iter().flatten().find_map(|it| read_error(&it));
    let missing = gix::path::into_bstr(git.git_dir().join(MISSING_FILE))?.into_owned();
    for (key, name) in RULE_FILES {
        let chosen = git.config_snapshot().trusted_path(key).ok().flatten();
        let file = chosen.or_else(|| gix::path::env::xdg_config(name, &mut env));
        if let Some(error) = file.as_deref().and_then(read_error) {
            unreadable = unreadable.or(Some(error));
            let mut config = git.config_snapshot_mut();
            config.set_raw_value(key, missing.as_bstr())?;
            config.commit()?;
        }
    }
    let warning = unreadable.map(|(file, error)| {
        format!(
            "git's settings, ignored files and attributes of the user are left out as far as they \
             cannot be read: `{}` ({error}); set HOME to the home of the user who runs Palazzo, or \
             make the file readable",
            path_text(file)
        )
    });
    Ok((git.into_sync(), warning))
}

/// Returns the file with the reason why it cannot be read; `None`: it can be, or does not exist.
fn read_error(file: &Path) -> Option<(PathBuf, io::Error)> {
    // A FIFO would not answer; it is refused where the file is used.
    if std::fs::metadata(file).is_ok_and(|it| !it.is_file()) {
        return None;
    }
    match File::open(file) {
        Err(err) if !is_missing_file_error(&err) => Some((file.to_owned(), err)),
        _ => None,
    }
}
