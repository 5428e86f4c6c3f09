//! Detects when all earlier file events have been processed.
//!
//! The system queues the events of a save before the save is complete, but the reader of the queue
//! may be behind. So a file of our own is watched too: when a write to it has arrived as an event,
//! all earlier events have arrived.

use std::fs::{self, File};
use std::io::{self, Seek as _, Write as _};
use std::path::Path;

/// Folders for the cookie file, which is temporary.
const COOKIE_FOLDERS: [&str; 2] = ["/dev/shm", "/tmp"];

/// A file without a name, written only by this process.
pub(crate) struct Cookie(File);

impl Cookie {
    /// Creates the file and passes its temporary name to `watch`; `None`: no folder can hold it.
    pub(crate) fn create_and_watch(
        mut watch: impl FnMut(&Path) -> notify::Result<()>,
    ) -> Option<Self> {
        COOKIE_FOLDERS.iter().find_map(|place| {
            // Without a folder, a watch on the surrounding one, in which a palace may be, would
            // report every write twice.
            let folder = tempfile::Builder::new().prefix(".palazzo-").tempdir_in(place).ok()?;
            let place = folder.path().join("echo");
            let cookie = File::create_new(&place).ok().and_then(|file| {
                watch(&place).ok()?;
                fs::remove_file(&place).ok()?;
                Some(Self(file))
            });
            folder.close().ok()?;
            cookie
        })
    }

    /// Writes to the file.
    pub(crate) fn touch(&mut self) -> io::Result<()> {
        self.0.rewind()?;
        self.0.write_all(b".")
    }
}
