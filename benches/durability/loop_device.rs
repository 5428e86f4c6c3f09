//! An ext4 file system on a loop device, to simulate power failures.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const IMAGE_BYTES: u64 = 512 * 1024 * 1024;

/// A mounted ext4 file system on a loop device.
pub(crate) struct LoopDevice {
    image: PathBuf,
    mount_point: PathBuf,
    _folder: tempfile::TempDir,
}

impl LoopDevice {
    /// Creates and mounts the file system. Returns `None` if this machine does not support it.
    pub(crate) fn new() -> Option<Self> {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).ok()?;
        let (image, mount_point) = (folder.path().join("image"), folder.path().join("disk"));
        fs::create_dir(&mount_point).ok()?;
        let device = Self { image, mount_point, _folder: folder };
        let is_mounted = run_command("xfs_io", &["-V"]) && device.format() && device.mount();
        is_mounted.then_some(device)
    }

    /// Returns the mount point.
    pub(crate) fn mount_point(&self) -> &Path {
        &self.mount_point
    }

    /// Simulates a power failure: the file system drops all unwritten data.
    pub(crate) fn shut_down(&self) {
        let path = self.mount_point.to_string_lossy();
        assert!(run_command("xfs_io", &["-x", "-c", "shutdown", &path]), "xfs_io succeeds");
    }

    /// Mounts the file system again after a power failure.
    pub(crate) fn remount(&self) {
        let path = self.mount_point.to_string_lossy();
        assert!(run_command("umount", &[&path]) && self.mount(), "the file system mounts again");
    }

    /// Formats the file system again.
    pub(crate) fn reformat(&mut self) {
        let path = self.mount_point.to_string_lossy().into_owned();
        assert!(
            run_command("umount", &[&path]) && self.format() && self.mount(),
            "the file system mounts again"
        );
    }

    fn format(&self) -> bool {
        let created = fs::File::create(&self.image).and_then(|it| it.set_len(IMAGE_BYTES));
        created.is_ok() && run_command("mkfs.ext4", &["-qF", &self.image.to_string_lossy()])
    }

    fn mount(&self) -> bool {
        let (image, path) = (self.image.to_string_lossy(), self.mount_point.to_string_lossy());
        run_command("mount", &["-o", "loop", &image, &path])
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        run_command("umount", &[&self.mount_point.to_string_lossy()]);
    }
}

fn run_command(program: &str, arguments: &[&str]) -> bool {
    let output = Command::new(program).args(arguments).output();
    output.is_ok_and(|it| it.status.success())
}
