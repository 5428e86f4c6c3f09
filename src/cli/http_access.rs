//! Where clients reach a server over HTTP, and the token that they need.

use crate::cli::outcome::Failure;
use crate::cli::user_folders::state_dir;
use palazzo_keeper::HttpAccess;

/// The address on which a server listens, and clients expect it.
#[cfg(feature = "http")]
pub(super) const DEFAULT_ADDRESS: &str = "127.0.0.1:7227";

/// The same address, as clients write it.
pub(super) const DEFAULT_URL: &str = "http://127.0.0.1:7227";

/// Returns the files that a server and its clients share.
pub(super) fn http_access() -> Result<HttpAccess, Failure> {
    let missing = "no folder for the token is known: set XDG_STATE_HOME or HOME";
    state_dir().map(HttpAccess::new).ok_or_else(|| Failure::Message(missing.to_owned()))
}
