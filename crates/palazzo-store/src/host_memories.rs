//! Reads the folder of a palace in which a host keeps its memories, for a hook: quickly, without the
//! repository, and no more than a bounded amount.

use std::cmp::Reverse;
use std::fs::{self, OpenOptions};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use palazzo_core::model::{
    Consent, HOST_MEMORY_FOLDER, TriggeredMemory, host_memory_name_in_folder,
};

use crate::repo::{memory_consents, palazzo_file, paths, regular_file};
use crate::{Error, Store};

/// How many memories are read: the latest.
const MAX_MEMORIES: usize = 500;
/// A folder with more entries is not read.
const MAX_ENTRIES: usize = 5_000;
/// The size in bytes of a memory that is read; a larger one is left out.
const MAX_BYTES: u64 = 64 * 1024;

/// The file of a memory of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostMemoryFile {
    /// The name of the memory: that of its file, without the ending.
    pub name: String,
    place: PathBuf,
}

impl HostMemoryFile {
    /// Reads the content; `None` if it is no regular file, too large, or no text.
    pub fn read(&self) -> Option<String> {
        let opened =
            palazzo_file::open_checked_file(&self.place, OpenOptions::new().read(true)).ok();
        let (file, size) = opened.filter(|(_, size)| *size <= MAX_BYTES)?;
        let mut text = String::with_capacity(usize::try_from(size).unwrap_or_default() + 64);
        file.take(MAX_BYTES).read_to_string(&mut text).ok()?;
        Some(text)
    }

    /// Returns the time at which the file was changed, by its file system.
    pub fn change_time(&self) -> SystemTime {
        change_time(&self.place)
    }
}

/// Lists the memories of the palace at `palace`: regular files, through no link; of too many the latest.
pub fn list_host_memories(palace: &Path) -> Vec<HostMemoryFile> {
    let Some(folder) = memory_folder(palace) else { return Vec::new() };
    let Ok(entries) = fs::read_dir(&folder) else { return Vec::new() };
    let mut memories = Vec::new();
    for (count, entry) in entries.flatten().enumerate() {
        if count >= MAX_ENTRIES {
            return Vec::new();
        }
        let file = entry.file_name();
        let name = file.to_str().and_then(host_memory_name_in_folder);
        if let Some(name) = name.filter(|_| entry.file_type().is_ok_and(|it| it.is_file())) {
            memories.push(HostMemoryFile { name: name.to_owned(), place: folder.join(&file) });
        }
    }
    if memories.len() > MAX_MEMORIES {
        memories.sort_by_cached_key(|it| Reverse(it.change_time()));
        memories.truncate(MAX_MEMORIES);
    }
    memories
}

/// Returns the name of the memory of the palace at `palace` in the file at `file`, which may be reached
/// through links outside of the palace; `None`: it is none.
pub fn find_host_memory<'f>(palace: &Path, file: &'f Path) -> Option<&'f str> {
    let name = host_memory_name_in_folder(file.file_name()?.to_str()?)?;
    let folder = dunce::canonicalize(file.parent()?).ok()?;
    let expected = dunce::canonicalize(palace).ok()?.join(HOST_MEMORY_FOLDER);
    (folder == expected).then_some(name)
}

/// Reads the memory `name` of the palace at `palace`; `None`: there is none.
pub fn read_host_memory(palace: &Path, name: &str) -> Option<String> {
    let place = memory_folder(palace)?.join(format!("{name}.md"));
    HostMemoryFile { name: name.to_owned(), place }.read()
}

/// Returns the nearest folder at or above `folder` that contains a `.git`.
pub fn find_working_directory(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|it| fs::symlink_metadata(it.join(".git")).is_ok())
}

/// Returns the consent to show a memory of the palace at `palace` at actions.
pub fn memory_consent(
    palace: &Path,
    name: &str,
    memory: &TriggeredMemory,
) -> Result<Consent, Error> {
    Ok(memory_consents::consent(&paths::resolve_links(palace)?, name, memory))
}

impl Store {
    /// Returns the consent that a memory of this palace needs to be shown at actions, unless the user has
    /// given it; `None` also if the memory is never shown.
    pub fn missing_memory_consent(
        &self,
        name: &str,
        memory: &TriggeredMemory,
    ) -> Result<Option<Consent>, Error> {
        if memory.triggers.is_empty() {
            return Ok(None);
        }
        let consent = memory_consent(&self.repository.palace, name, memory)?;
        Ok((!self.repository.consents.is_allowed(&consent)?).then_some(consent))
    }
}

/// Returns the folder of memories; `None` if a part of its path is missing or a link.
fn memory_folder(palace: &Path) -> Option<PathBuf> {
    let folder = Path::new(HOST_MEMORY_FOLDER);
    regular_file::reject_linked_folders(palace, folder).ok()?;
    Some(palace.join(folder))
}

fn change_time(place: &Path) -> SystemTime {
    let modified = fs::symlink_metadata(place).and_then(|it| it.modified());
    modified.unwrap_or(SystemTime::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Creates a palace with memories; each has its name as text.
    fn palace_with(names: &[&str]) -> tempfile::TempDir {
        let palace = tempfile::tempdir().unwrap();
        fs::create_dir_all(palace.path().join(HOST_MEMORY_FOLDER)).unwrap();
        for name in names {
            fs::write(palace.path().join(HOST_MEMORY_FOLDER).join(name), name).unwrap();
        }
        palace
    }

    fn names(palace: &Path) -> Vec<String> {
        let read = list_host_memories(palace).into_iter().filter(|it| it.read().is_some());
        let mut names: Vec<_> = read.map(|it| it.name).collect();
        names.sort();
        names
    }

    #[test]
    fn memories_are_read_and_nothing_else() {
        let palace = palace_with(&["a.md", "MEMORY.md", ".b.md", "c.txt"]);
        let folder = palace.path().join(HOST_MEMORY_FOLDER);
        fs::create_dir(folder.join("folder.md")).unwrap();
        fs::write(folder.join("large.md"), "x".repeat(64 * 1024 + 1)).unwrap();
        fs::write(folder.join("latin.md"), b"\xf6").unwrap();
        assert_eq!(names(palace.path()), ["a"]);
        assert_eq!(read_host_memory(palace.path(), "a").as_deref(), Some("a.md"));
        assert_eq!(names(&palace.path().join("nowhere")), [""; 0]);
    }

    #[test]
    fn of_too_many_memories_the_latest_are_read() {
        let all: Vec<_> = (0..MAX_MEMORIES + 2).map(|it| format!("m{it:03}.md")).collect();
        let palace = palace_with(&all.iter().map(String::as_str).collect::<Vec<_>>());
        for old in ["m007.md", "m300.md"] {
            let file = palace.path().join(HOST_MEMORY_FOLDER).join(old);
            let file = fs::File::options().write(true).open(file).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(1_000)).unwrap();
        }
        let names = names(palace.path());
        assert_eq!(names.len(), MAX_MEMORIES);
        assert!(!names.contains(&"m007".to_owned()) && !names.contains(&"m300".to_owned()));
    }

    #[test]
    fn only_a_file_in_the_folder_of_memories_is_a_memory() {
        let palace = palace_with(&["a.md"]);
        let find = |path: &str| {
            let file = palace.path().join(path);
            find_host_memory(palace.path(), &file).map(str::to_owned)
        };
        assert_eq!(find("drawers/claude/memory/a.md").as_deref(), Some("a"));
        assert_eq!(find("drawers/claude/memory/../memory/new.md").as_deref(), Some("new"));
        for other in ["drawers/claude/a.md", "a.md", "drawers/claude/memory/MEMORY.md", ""] {
            assert_eq!(find(other), None, "{other}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn nothing_is_read_through_links_or_from_pipes() {
        use std::os::unix::fs::symlink;
        let (palace, other) = (palace_with(&["a.md"]), palace_with(&["b.md"]));
        let folder = palace.path().join(HOST_MEMORY_FOLDER);
        symlink(other.path().join(HOST_MEMORY_FOLDER).join("b.md"), folder.join("b.md")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, folder.join("c.md"), 0o600.into()).unwrap();
        assert_eq!(names(palace.path()), ["a"]);
        assert_eq!(read_host_memory(palace.path(), "b"), None);
        assert_eq!(read_host_memory(palace.path(), "c"), None);
        for linked in ["drawers/claude/memory", "drawers/claude", "drawers"] {
            let (palace, place) = (palace_with(&[]), other.path().join(linked));
            fs::remove_dir_all(palace.path().join(linked)).unwrap();
            symlink(place, palace.path().join(linked)).unwrap();
            assert_eq!(names(palace.path()), [""; 0], "{linked}");
            let file = palace.path().join(HOST_MEMORY_FOLDER).join("b.md");
            assert_eq!(find_host_memory(palace.path(), &file), None, "{linked}");
            assert_eq!(read_host_memory(palace.path(), "b"), None, "{linked}");
        }
    }
}
