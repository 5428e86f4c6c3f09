//! Lists and removes the lock files that git leaves in a repository.
//!
//! Git locks `x` by creating `x.lock`; a killed process leaves it behind. The file does not name
//! its creator, so a lock counts as held while a running process has it open, or, if none does,
//! while a git process runs in the repository.

use crate::repo::git_lock::{GitLock, LockOwner};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use walkdir::{DirEntry, WalkDir};

use crate::Error;
use crate::repo::palazzo_file;
use crate::repo::processes;
use crate::repo::repository::Repository;

/// The maximum number of entries of `.git` that are searched, so that a hostile one cannot block.
const MAX_ENTRIES: usize = 200_000;
/// The file in which `git gc` stores its process id.
const GC_PID_FILE: &str = "gc.pid";
/// The maximum size of `gc.pid`, larger than a process id with a host name.
const MAX_GC_PID_BYTES: u64 = 512;
/// Files that block git and do not end in `.lock`.
const OTHER_LOCK_NAMES: [&str; 2] = ["packed-refs.new", GC_PID_FILE];
/// Folders of `.git` that contain no locks of its repository.
const SKIPPED_FOLDERS: [&str; 4] = ["palazzo", "modules", "hooks", "lfs"];

/// Lists git's lock files in `repository`, by path.
pub(crate) fn list_locks(repository: &Repository) -> Vec<GitLock> {
    describe_locks(repository, lock_files(repository))
}

/// Returns the lock file at `path`; `None`: it is not a git lock of `repository`.
pub(crate) fn find_lock(repository: &Repository, path: &Path) -> Option<GitLock> {
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    let folder = dunce::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
    let path = folder.join(path.file_name()?);
    let is_same = |it: &PathBuf| {
        let real = it.parent().and_then(|it| dunce::canonicalize(it).ok());
        real.zip(it.file_name()).is_some_and(|(folder, name)| folder.join(name) == path)
    };
    let file = lock_files(repository).into_iter().find(is_same)?;
    describe_locks(repository, vec![file]).pop()
}

/// Removes the lock file at `path`, unless a running process holds it or an interrupted write of
/// Palazzo needs it; `false`: it is not a git lock of `repository`.
pub(crate) fn remove_lock(repository: &Repository, path: &Path) -> Result<bool, Error> {
    let Some(lock) = find_lock(repository, path) else { return Ok(false) };
    if !lock.is_removable() {
        return Err(Error::GitLockInUse(lock));
    }
    fs::remove_file(&lock.path).map_err(Error::for_file("remove", &lock.path))?;
    Ok(true)
}

/// Describes the lock file at `path` in `repository`.
pub(crate) fn describe_lock(repository: &Repository, path: PathBuf) -> GitLock {
    let (age, owner) = (lock_age(&path), LockOwner::Unknown);
    let described = describe_locks(repository, vec![path.clone()]).pop();
    described.unwrap_or(GitLock { path, age, owner })
}

fn describe_locks(repository: &Repository, files: Vec<PathBuf>) -> Vec<GitLock> {
    let holders = processes::find_lock_file_holders(&files);
    let running_git = if files.is_empty() { None } else { find_running_git(repository) };
    let described = files.into_iter().zip(holders).map(|(path, holder)| {
        let interrupted =
            || is_lock_of_palazzo(repository, &path).then_some(LockOwner::InterruptedWrite);
        let running_hook = || find_git_of_hook(&path, running_git);
        let known = holder.or_else(|| read_gc_lock_owner(&path));
        let owner = match known.or_else(interrupted).or_else(running_hook) {
            Some(owner) => owner,
            None => running_git.map_or(LockOwner::Unknown, |id| LockOwner::RunningGit { id }),
        };
        GitLock { age: lock_age(&path), owner, path }
    });
    described.collect()
}

/// Returns whether Palazzo created the lock file: its second name in `.git/palazzo/locks` is the same
/// file.
fn is_lock_of_palazzo(repository: &Repository, path: &Path) -> bool {
    [&repository.git_dir, &repository.common_dir].into_iter().any(|git_dir| {
        let second = path.strip_prefix(git_dir).map(|it| git_dir.join("palazzo/locks").join(it));
        second.is_ok_and(|it| palazzo_file::is_same_file(&it, path))
    })
}

/// Returns git, if it runs this process in a hook and holds the lock: `git commit -a` names the lock
/// of the index as the index of its hooks.
fn find_git_of_hook(path: &Path, running_git: Option<u32>) -> Option<LockOwner> {
    let index = dunce::canonicalize(std::env::var_os("GIT_INDEX_FILE")?).ok()?;
    let is_same = dunce::canonicalize(path).is_ok_and(|it| it == index);
    let name = "git".to_owned();
    running_git.filter(|_| is_same).map(|id| LockOwner::Process { id, name })
}

/// Lists the possible git lock files in the folders of `repository`.
fn lock_files(repository: &Repository) -> Vec<PathBuf> {
    let mut roots = vec![repository.common_dir.as_path()];
    // The git directory of a linked worktree is normally below the common one.
    if !repository.git_dir.starts_with(&repository.common_dir) {
        roots.push(&repository.git_dir);
    }
    let entries = roots.into_iter().flat_map(|root| {
        let walk = WalkDir::new(root).follow_links(false).follow_root_links(true);
        walk.into_iter().filter_entry(|it| !is_skipped(it)).take(MAX_ENTRIES).flatten()
    });
    let locks = entries.filter(|it| !it.file_type().is_dir() && is_lock(it.path()));
    let mut files: Vec<_> = locks.map(DirEntry::into_path).collect();
    files.sort();
    files
}

/// Returns true for folders of loose objects and folders without locks.
fn is_skipped(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_str().unwrap_or_default();
    let is_fan_out = name.len() == 2 && name.bytes().all(|it| it.is_ascii_hexdigit());
    let is_below_objects = entry.path().parent().is_some_and(|it| it.ends_with("objects"));
    let is_skipped = entry.depth() == 1 && SKIPPED_FOLDERS.contains(&name);
    entry.file_type().is_dir() && (is_skipped || (is_fan_out && is_below_objects))
}

fn is_lock(path: &Path) -> bool {
    let is_other =
        path.file_name().is_some_and(|it| OTHER_LOCK_NAMES.iter().any(|other| it == *other));
    is_other || path.extension().is_some_and(|it| it == "lock")
}

/// Returns the process whose id is in `gc.pid`.
fn read_gc_lock_owner(path: &Path) -> Option<LockOwner> {
    let metadata = fs::symlink_metadata(path).ok()?;
    let is_plain = metadata.is_file() && metadata.len() < MAX_GC_PID_BYTES;
    if path.file_name()? != GC_PID_FILE || !is_plain || !processes::IS_SUPPORTED {
        return None;
    }
    let text = fs::read_to_string(path).ok()?;
    let mut words = text.split_whitespace();
    let id = words.next()?.parse().ok()?;
    // A process id means nothing on another machine.
    if words.next().is_some_and(|it| it != processes::host_name()) {
        return None;
    }
    Some(match processes::program_name(id) {
        Some(name) => LockOwner::Process { id, name },
        None => LockOwner::EndedProcess { id },
    })
}

/// Returns a git process that runs in the working directory or in `.git`.
fn find_running_git(repository: &Repository) -> Option<u32> {
    processes::find_process_in("git", &[&repository.work, &repository.common_dir])
}

/// Returns the age of the lock file at `path`.
pub(crate) fn lock_age(path: &Path) -> Option<Duration> {
    fs::symlink_metadata(path).and_then(|it| it.modified()).ok()?.elapsed().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;
    use crate::test_repository::TestHome;

    /// The lock files of git 2.47, from its source code.
    const GIT_LOCK_NAMES: [&str; 24] = [
        "HEAD.lock",
        "MERGE_RR.lock",
        "config.lock",
        "config.worktree.lock",
        "gc.pid",
        "gc.pid.lock",
        "index.lock",
        "info/sparse-checkout.lock",
        "logs/HEAD.lock",
        "logs/refs/heads/main.lock",
        "objects/info/alternates.lock",
        "objects/info/commit-graph.lock",
        "objects/info/commit-graphs/commit-graph-chain.lock",
        "objects/maintenance.lock",
        "objects/pack/multi-pack-index.lock",
        "packed-refs.lock",
        "packed-refs.new",
        "refs/heads/a/deep/branch.lock",
        "refs/heads/main.lock",
        "refs/stash.lock",
        "refs/tags/v1.lock",
        "shallow.lock",
        "worktrees/other/HEAD.lock",
        "worktrees/other/index.lock",
    ];

    fn scene_with_locks() -> (TestHome, Store) {
        let scene = TestHome::with_repository();
        scene.write_file("keep/palace.toml", "name = \"Keep\"\n");
        for name in GIT_LOCK_NAMES {
            // A process that another test forks meanwhile has this file open, too, until it runs its
            // program. It would look like the owner of a lock.
            let (file, lock) = (format!(".git/{name}~"), scene.home.join(".git").join(name));
            scene.write_file(&file, "");
            fs::hard_link(scene.home.join(&file), lock).unwrap();
            fs::remove_file(scene.home.join(&file)).unwrap();
        }
        let store = scene.palace("keep");
        (scene, store)
    }

    #[test]
    fn every_lock_that_git_can_leave_is_listed() {
        let (scene, store) = scene_with_locks();
        for name in ["refs/heads/lock", "palazzo/lock", "palazzo/locks/HEAD.lock", "modules/a.lock"]
        {
            scene.write_file(&format!(".git/{name}"), "");
        }
        let git_dir = scene.home.join(".git");
        let found: Vec<_> = store.list_git_locks().unwrap();
        let names: Vec<_> =
            found.iter().map(|it| it.path.strip_prefix(&git_dir).unwrap()).collect();
        assert_eq!(names, GIT_LOCK_NAMES.map(Path::new));
        assert!(found.iter().all(|it| it.age.is_some()), "{found:?}");
        let has_no_owner = |it: &GitLock| it.owner == LockOwner::Unknown;
        // A child that another test forks holds the files too, until it executes its program.
        assert!((0..1_000).any(|_| store.list_git_locks().unwrap().iter().all(has_no_owner)));
    }

    #[test]
    fn every_lock_that_git_can_leave_is_removed_by_its_path() {
        let (scene, store) = scene_with_locks();
        for name in GIT_LOCK_NAMES {
            let path = scene.home.join(".git").join(name);
            // A child that another test forks holds the file too, until it executes its program.
            assert!((0..1_000).any(|_| store.remove_git_lock(&path).unwrap_or_default()));
            assert!(!path.exists(), "{name}");
        }
        assert_eq!(store.list_git_locks().unwrap(), []);
    }

    #[test]
    fn only_git_locks_of_this_repository_are_removed() {
        let (scene, store) = scene_with_locks();
        let other = TestHome::with_repository();
        other.write_file(".git/index.lock", "");
        scene.write_file(".git/palazzo/lock", "1\n");
        scene.write_file("keep/Cargo.lock", "");
        let inside =
            ["notes.md", "keep/Cargo.lock", ".git/HEAD", ".git/index", ".git/palazzo/lock"];
        let mut paths: Vec<_> = inside.iter().map(|it| scene.home.join(it)).collect();
        paths.extend([other.home.join(".git/index.lock"), scene.home.join(".git/gone.lock")]);
        for path in paths {
            let was_there = path.exists();
            assert!(!store.remove_git_lock(&path).unwrap());
            assert_eq!(path.exists(), was_there);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_lock_open_in_a_process_is_kept_and_the_process_named() {
        let (scene, store) = scene_with_locks();
        let path = scene.home.join(".git/index.lock");
        let open = fs::File::open(&path).unwrap();
        let own = std::process::id();
        let is_named = || {
            let locks = store.list_git_locks().unwrap();
            let lock = locks.iter().find(|it| it.path == path).unwrap();
            let refused = store.remove_git_lock(&path).unwrap_err().to_string();
            matches!(&lock.owner, LockOwner::Process { id, .. } if *id == own)
                && refused.contains(&format!("held by process {own}"))
        };
        // A child that another test forks holds the file too, until it executes its program.
        assert!((0..1_000).any(|_| is_named()));
        drop(open);
        assert!((0..1_000).any(|_| store.remove_git_lock(&path).unwrap_or_default()));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_process_in_gc_pid_owns_the_lock_while_it_runs() {
        let (scene, store) = scene_with_locks();
        let path = scene.home.join(".git/gc.pid");
        let own = std::process::id();
        let here = processes::host_name();
        let gone = u32::MAX >> 2;
        for (id, host, is_held) in
            [(own, here.as_str(), true), (gone, &here, false), (own, "elsewhere", false)]
        {
            scene.write_file(".git/gc.pid", &format!("{id} {host}"));
            let locks = store.list_git_locks().unwrap();
            let lock = locks.iter().find(|it| it.path == path).unwrap();
            assert_eq!(lock.is_held_by_process(), is_held, "{lock:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_git_running_in_the_repository_may_own_its_locks() {
        let (scene, store) = scene_with_locks();
        let mut git = std::process::Command::new("git");
        let git = git.arg("-C").arg(&scene.home).args(["cat-file", "--batch"]);
        let mut git = git
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        // When git replies, it has changed to its folder.
        let (mut input, mut output) = (git.stdin.take().unwrap(), git.stdout.take().unwrap());
        std::io::Write::write_all(&mut input, b"HEAD\n").unwrap();
        std::io::Read::read_exact(&mut output, &mut [0]).unwrap();
        let locks = store.list_git_locks().unwrap();
        assert!(
            locks.iter().all(|it| it.owner == LockOwner::RunningGit { id: git.id() }),
            "{locks:?}"
        );
        drop(input);
        git.wait().unwrap();
        assert!(!store.list_git_locks().unwrap().iter().any(GitLock::is_held_by_process));
    }

    #[test]
    fn the_command_that_removes_a_lock_quotes_its_path() {
        let lock = |path: &str| GitLock { path: path.into(), age: None, owner: LockOwner::Unknown };
        assert_eq!(
            lock("/a/.git/x.lock").removal_command(),
            "palazzo doctor --remove-lock /a/.git/x.lock"
        );
        let quoted = r"palazzo doctor --remove-lock '/a b/it'\''s.lock'";
        assert_eq!(lock("/a b/it's.lock").removal_command(), quoted);
    }
}
