//! Knowing that everything told so far has been heard.
//!
//! The system queues the events of a save before the save is over, but whoever
//! reads the queue may be behind. So a file of our own is watched too: when it
//! is written to and the event of that has arrived, all earlier ones have.

use std::fs::{self, File};
use std::io::{self, Seek as _, Write as _};
use std::path::{Path, PathBuf};

/// Where there is room for a file that nobody wants to keep.
const COOKIE_FOLDERS: [&str; 2] = ["/dev/shm", "/tmp"];

/// A file without a name, which only we write to.
pub(crate) struct Cookie(File);

impl Cookie {
    /// Makes the file and has `watch` watch it, by the name it has until then;
    /// `None`: there is no room for one.
    pub(crate) fn new(mut watch: impl FnMut(&Path) -> notify::Result<()>) -> Option<Self> {
        COOKIE_FOLDERS.iter().find_map(|place| {
            let folder = create_folder_in(Path::new(place)).ok()?;
            let place = folder.join("echo");
            let echo = File::create_new(&place).ok().and_then(|file| {
                watch(&place).ok()?;
                fs::remove_file(&place).ok()?;
                Some(Self(file))
            });
            fs::remove_dir(&folder).ok()?;
            echo
        })
    }

    /// Writes to the file.
    pub(crate) fn touch(&mut self) -> io::Result<()> {
        self.0.rewind()?;
        self.0.write_all(b".")
    }
}

/// Creates a folder for the file: whoever watches the one around it, because a
/// palace lies there, would hear every call twice.
fn create_folder_in(folder: &Path) -> io::Result<PathBuf> {
    for n in 0_u32.. {
        let place = folder.join(format!(".palazzo-{}-{n}", std::process::id()));
        match fs::create_dir(&place) {
            Err(err) if err.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| place),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
