//! Detects file systems that do not report all changes.

use std::path::Path;

/// Returns the name of the file system at `place` if it may not report every change.
///
/// Changes made on this machine are always reported. Changes that other machines make to a network
/// file system, or the host to a file system shared with its guest, are not.
#[cfg(target_os = "linux")]
pub(crate) fn network_file_system(place: &Path) -> Option<&'static str> {
    // The numbers are from statfs(2) and the kernel's linux/magic.h.
    const NETWORK_FILE_SYSTEMS: [(u32, &str); 13] = [
        (0x0000_6969, "NFS"),
        (0x0000_517b, "SMB"),
        (0xff53_4d42, "SMB"),
        (0xfe53_4d42, "SMB"),
        (0x6573_5546, "FUSE"),
        (0x0102_1997, "9P"),
        (0x00c3_6400, "Ceph"),
        (0x5346_414f, "AFS"),
        (0x6b41_4653, "AFS"),
        (0x7375_7245, "Coda"),
        (0x786f_4256, "a shared folder of VirtualBox"),
        (0x0bd0_0bd0, "Lustre"),
        (0x0116_1970, "GFS2"),
    ];
    let there = place.ancestors().find_map(|it| rustix::fs::statfs(it).ok())?;
    let kind = u32::try_from(there.f_type).ok()?;
    NETWORK_FILE_SYSTEMS.into_iter().find(|(magic, _)| *magic == kind).map(|(_, name)| name)
}

/// Returns the name of the file system at `place` if it may not report every change.
#[cfg(target_os = "macos")]
pub(crate) fn network_file_system(place: &Path) -> Option<&'static str> {
    // The names are those that `mount` shows.
    const NETWORK_FILE_SYSTEMS: [(&[u8], &str); 6] = [
        (b"afpfs", "AFP"),
        (b"macfuse", "FUSE"),
        (b"nfs", "NFS"),
        (b"osxfuse", "FUSE"),
        (b"smbfs", "SMB"),
        (b"webdav", "WebDAV"),
    ];
    let there = place.ancestors().find_map(|it| rustix::fs::statfs(it).ok())?;
    let name = there.f_fstypename.map(i8::cast_unsigned);
    let name = name.split(|it| *it == 0).next()?;
    NETWORK_FILE_SYSTEMS.into_iter().find(|(kind, _)| *kind == name).map(|(_, name)| name)
}

/// Returns a name if `place` is on a network share, also under the letter of a drive.
#[cfg(windows)]
pub(crate) fn network_file_system(place: &Path) -> Option<&'static str> {
    use std::path::{Component, Prefix};

    let there = place.ancestors().find_map(|it| std::fs::canonicalize(it).ok())?;
    match there.components().next() {
        Some(Component::Prefix(it)) if matches!(it.kind(), Prefix::VerbatimUNC(..)) => {
            Some("a network share")
        }
        _ => None,
    }
}

/// Returns `None`, because the file system is not detected on other systems.
#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
pub(crate) fn network_file_system(_: &Path) -> Option<&'static str> {
    None
}
