//! Finds running processes, on Linux, and tells how many files this process can have open. On other
//! systems the owner of a lock file stays unknown, and a person decides whether it may be removed.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::repo::git_lock::LockOwner;

/// Whether processes can be listed on this system.
pub(crate) const IS_SUPPORTED: bool = cfg!(target_os = "linux");

/// Returns the id of this process; the system is asked only once.
pub(crate) fn own_process_id() -> u32 {
    static ID: LazyLock<u32> = LazyLock::new(std::process::id);
    *ID
}

/// Returns for each of `files` a running process that has it open: the one with the lowest id, since
/// others may have inherited the file from it.
#[cfg(target_os = "linux")]
pub(crate) fn find_lock_file_holders(files: &[PathBuf]) -> Vec<Option<LockOwner>> {
    use std::fs;
    use std::os::unix::fs::MetadataExt as _;

    let identity = |path: &Path| fs::symlink_metadata(path).map(|it| (it.dev(), it.ino())).ok();
    let identities: Vec<_> = files.iter().map(|it| identity(it)).collect();
    let mut holders = vec![None; files.len()];
    if files.is_empty() {
        return holders;
    }
    for id in process_ids() {
        let open = fs::read_dir(format!("/proc/{id}/fd")).into_iter().flatten().flatten();
        for entry in open {
            // Files with other extensions are no locks, and reading their metadata may be slow.
            let target = fs::read_link(entry.path()).unwrap_or_default();
            if !target.extension().is_some_and(|it| it == "lock" || it == "new" || it == "pid") {
                continue;
            }
            let found = fs::metadata(entry.path()).map(|it| (it.dev(), it.ino())).ok();
            let index = identities.iter().position(|it| it.is_some() && *it == found);
            let index = index.filter(|it| holders[*it].is_none());
            if let (Some(index), Some(name)) = (index, program_name(id)) {
                holders[index] = Some(LockOwner::Process { id, name });
            }
        }
    }
    holders
}

/// Returns a running process of the program `program` whose working directory is in one of
/// `folders`.
pub(crate) fn find_process_in(program: &str, folders: &[&Path]) -> Option<u32> {
    let is_inside = |id: u32| {
        let here = std::fs::read_link(format!("/proc/{id}/cwd")).unwrap_or_default();
        folders.iter().any(|it| here.starts_with(it))
    };
    process_ids().find(|id| program_name(*id).is_some_and(|it| it == program) && is_inside(*id))
}

/// Returns the name of the program that a running process executes.
pub(crate) fn program_name(id: u32) -> Option<String> {
    let name = std::fs::read_to_string(format!("/proc/{id}/comm")).ok()?;
    Some(name.trim().to_owned())
}

fn process_ids() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|it| it.file_name().to_str()?.parse().ok())
}

/// On other systems, processes are not listed.
#[cfg(not(target_os = "linux"))]
pub(crate) fn find_lock_file_holders(files: &[PathBuf]) -> Vec<Option<LockOwner>> {
    vec![None; files.len()]
}

/// Returns this machine's name, as `git gc` writes it into `gc.pid`.
#[cfg(unix)]
pub(crate) fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Returns an empty name: nothing is known about the processes on Windows, whatever their host.
#[cfg(windows)]
pub(crate) fn host_name() -> String {
    String::new()
}

/// Returns how many files this process can have open at a time; `None` if there is no such limit.
#[cfg(unix)]
pub fn max_open_files() -> Option<usize> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current?;
    usize::try_from(limit).ok()
}

/// Returns nothing: Windows has no such limit.
#[cfg(windows)]
pub fn max_open_files() -> Option<usize> {
    None
}
