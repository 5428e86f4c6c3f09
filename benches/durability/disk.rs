//! An ext4 file system in a file, for simulated power cuts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const DISK_BYTES: u64 = 512 * 1024 * 1024;

/// An ext4 file system in a file, mounted.
pub(crate) struct LoopDisk {
    image: PathBuf,
    place: PathBuf,
    _folder: tempfile::TempDir,
}

impl LoopDisk {
    /// Creates and mounts the file system; `None` if this machine cannot.
    pub(crate) fn new() -> Option<Self> {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).ok()?;
        let (image, place) = (folder.path().join("image"), folder.path().join("disk"));
        fs::create_dir(&place).ok()?;
        let disk = Self { image, place, _folder: folder };
        let can = run_command("xfs_io", &["-V"]) && disk.format() && disk.mount();
        can.then_some(disk)
    }

    /// Returns the mount point.
    pub(crate) fn mount_point(&self) -> &Path {
        &self.place
    }

    /// Simulates a power cut: unwritten data is lost.
    pub(crate) fn cut_power(&self) {
        let place = self.place.to_string_lossy();
        assert!(run_command("xfs_io", &["-x", "-c", "shutdown", &place]), "the power can be cut");
    }

    /// Mounts the file system again after a power cut.
    pub(crate) fn remount(&self) {
        let place = self.place.to_string_lossy();
        assert!(run_command("umount", &[&place]) && self.mount(), "it can be mounted again");
    }

    /// Formats the file system again.
    pub(crate) fn wipe(&mut self) {
        let place = self.place.to_string_lossy().into_owned();
        assert!(
            run_command("umount", &[&place]) && self.format() && self.mount(),
            "it can be wiped"
        );
    }

    fn format(&self) -> bool {
        let made = fs::File::create(&self.image).and_then(|it| it.set_len(DISK_BYTES));
        made.is_ok() && run_command("mkfs.ext4", &["-qF", &self.image.to_string_lossy()])
    }

    fn mount(&self) -> bool {
        let (image, place) = (self.image.to_string_lossy(), self.place.to_string_lossy());
        run_command("mount", &["-o", "loop", &image, &place])
    }
}

impl Drop for LoopDisk {
    fn drop(&mut self) {
        run_command("umount", &[&self.place.to_string_lossy()]);
    }
}

fn run_command(program: &str, arguments: &[&str]) -> bool {
    let output = Command::new(program).args(arguments).output();
    output.is_ok_and(|it| it.status.success())
}
