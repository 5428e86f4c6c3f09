//! Opens the proposal that a server writes to.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gix::ObjectId;

use crate::history::commits::HistoryReader;
use crate::proposal::branches::{
    base_revision, parse_branch_name, reject_conflicting_branch, reject_symbolic_branch,
    update_branch,
};
use crate::proposal::old_worktree::remove_old_worktree;
use crate::repo::git_attributes::{CommittedAttributes, attributes_of_tree};
use crate::repo::palace_files::is_palace_file;
use crate::repo::palazzo_file;
use crate::repo::paths;
use crate::repo::proposal_branch::{
    ProposalBranch, branch_name, proposal_marker_name, reject_checked_out_branch,
};
use crate::repo::proposal_error::ProposalError;
use crate::repo::references::find_ref;
use crate::repo::repository::Repository;
use crate::repo::tree_diff;
use crate::repo::tree_lookup::{find_folder, palaces_in_commit};
use crate::write::write_guard::WriteGuard;
use crate::{Error, Store};
use palazzo_core::model::quoted;

/// A proposal that a server writes to.
#[derive(Debug)]
pub struct ServedProposal {
    /// The branch.
    pub branch: String,
    /// The full name of the branch that is checked out in the home, or its commit.
    pub base_revision: String,
    /// The names of the palaces with changes that are not committed, which the proposal lacks.
    pub palaces_with_uncommitted_changes: Vec<String>,
    /// Whether the branch was there before and was no proposal.
    pub was_other_branch: bool,
    /// A palace of the home, as it is on the branch.
    palace: Store,
    /// The folder with the palaces.
    home: PathBuf,
    /// The servers of a proposal share this lock.
    _use_lock: File,
}

impl ServedProposal {
    /// Lists the folders of the palaces that the home has on the branch. They need not exist on
    /// disk.
    pub fn list_palaces(&self) -> Result<Vec<PathBuf>, Error> {
        let repository = self.palace.require_repository()?;
        let (inside, is_below) = folder_in_repository(&repository, &self.home)?;
        let list = || match self.palace.history_tip(&repository)? {
            Some(tip) => palace_folders(&repository, &inside, tip),
            None => Ok(Vec::new()),
        };
        let folders = self.palace.retry_branch_read(list)?.into_iter();
        Ok(match is_below {
            true => {
                let name = |it: String| self.home.join(it[inside.len()..].trim_start_matches('/'));
                folders.map(name).collect()
            }
            // The palace is the root of its repository, and the home is above.
            false => vec![self.palace.palace_folder().to_owned()],
        })
    }

    /// Returns the store of a palace of the home, which reads from the branch and writes to it.
    pub fn store_on_branch(&self, mut palace: Store) -> Store {
        palace.writer.deleted_object_restorer = self.palace.writer.deleted_object_restorer.share();
        palace.with_branch(self.palace.branch())
    }
}

/// The repository of a home, and what is proposed to it.
struct Opening<'a> {
    repository: Arc<Repository>,
    /// The folder of the home in the repository.
    folder: String,
    head: ObjectId,
    branch_ref: &'a str,
    guard: WriteGuard,
}

/// Opens the proposal `branch` for the palaces of `home`: creates the branch at `HEAD` if there is
/// none. A proposal that was merged is brought up to date.
pub fn open_proposal(
    palaces: &[Store],
    home: &Path,
    branch: &str,
) -> Result<ServedProposal, Error> {
    let branch_ref = parse_branch_name(branch)?;
    let (palace, repository) = require_one_repository(palaces, home)?;
    let no_commit = || ProposalError::NoCommit { work: repository.work.clone() };
    let head = repository.head()?.ok_or_else(no_commit)?;
    let guard = WriteGuard::lock(&repository, &[], &palace.writer.lock_timeouts)?;
    let use_lock = open_use_lock(&repository, &branch_ref)?;
    remove_old_worktree(palace, &repository, &branch_ref, &use_lock)?;
    reject_checked_out_branch(&repository, &branch_ref)?;
    let (folder, _) = folder_in_repository(&repository, home)?;
    let opening = Opening { repository, folder, head, branch_ref: &branch_ref, guard };
    reject_symbolic_branch(&opening.repository, &branch_ref)?;
    let found = find_ref(&opening.repository, &branch_ref)?;
    let was_other_branch = found.is_some() && !opening.is_known_proposal();
    match found {
        Some(tip) => opening.advance_merged_branch(tip)?,
        None => opening.create_branch()?,
    }
    opening.write_marker()?;
    let Opening { repository, guard, .. } = opening;
    // Others wait for the write lock before they look at this one. `unlock` fails on Windows if
    // nothing is locked, and under Wine always; `lock_shared` reports what matters.
    drop(use_lock.unlock());
    let locked = use_lock.lock_shared();
    locked.map_err(Error::for_file("lock", &repository.common_dir))?;
    drop(guard);
    let uncommitted = palaces.iter().filter(|it| has_uncommitted_changes(it));
    let names = uncommitted.filter_map(|it| it.palace_folder().file_name());
    Ok(ServedProposal {
        branch: branch_name(&branch_ref).to_owned(),
        base_revision: base_revision(&repository, head),
        palaces_with_uncommitted_changes: names
            .map(|it| it.to_string_lossy().into_owned())
            .collect(),
        was_other_branch,
        palace: palace
            .clone_for_thread()
            .with_branch(Some(Arc::new(ProposalBranch::new(branch_ref)))),
        home: home.to_owned(),
        _use_lock: use_lock,
    })
}

impl Opening<'_> {
    /// Creates the branch at `HEAD`.
    fn create_branch(&self) -> Result<(), Error> {
        let Self { repository, head, branch_ref, .. } = self;
        self.reject_unusable_commit(*head, "`HEAD`")?;
        reject_conflicting_branch(repository, branch_ref)?;
        let reason = "branch: Created from HEAD";
        update_branch(repository, &self.guard, branch_ref, (None, *head), reason)
    }

    /// Moves the branch from `tip` to `HEAD` if it was merged.
    fn advance_merged_branch(&self, tip: ObjectId) -> Result<(), Error> {
        let Self { repository, head, branch_ref, .. } = self;
        self.reject_unusable_commit(tip, &quoted(branch_name(branch_ref)))?;
        let is_merged = tip != *head && HistoryReader::new(repository).is_ancestor(tip, *head);
        if !is_merged || !self.is_known_proposal() {
            return Ok(());
        }
        self.reject_unusable_commit(*head, "`HEAD`")?;
        let reason = "proposal: fast-forward";
        update_branch(repository, &self.guard, branch_ref, (Some(tip), *head), reason)
    }

    /// Fails if a commit has no palace of the home, or one with files that git would filter.
    fn reject_unusable_commit(&self, commit: ObjectId, place: &str) -> Result<(), Error> {
        let folders = palace_folders(&self.repository, &self.folder, commit)?;
        if folders.is_empty() {
            return Err(ProposalError::NoCommittedPalace { place: place.to_owned() }.into());
        }
        let files = palace_files(&self.repository, commit, &folders);
        let files = files.map_err(|err| self.repository.git_error("list the files", err))?;
        reject_filtered_files(&self.repository, commit, &files)
    }

    /// Returns whether the branch was proposed before: other branches are never moved.
    fn is_known_proposal(&self) -> bool {
        let name = proposal_marker_name(self.branch_ref);
        palazzo_file::palazzo_file_path(&self.repository.common_dir, &name).is_file()
    }

    /// Marks the branch as a proposal.
    fn write_marker(&self) -> Result<(), Error> {
        let Repository { common_dir, shared_mode, .. } = &*self.repository;
        let file =
            palazzo_file::palazzo_file_path(common_dir, &proposal_marker_name(self.branch_ref));
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(true);
        let written = palazzo_file::open_regular_file(&file, options).and_then(|(mut it, _)| {
            shared_mode.adjust_file(&it)?;
            writeln!(it, "{}", self.branch_ref)
        });
        written.map_err(Error::for_file("write", &file))
    }
}

/// Lists the palaces of the folder `inside` in a commit, as folders in the repository.
fn palace_folders(
    repository: &Repository,
    inside: &str,
    commit: ObjectId,
) -> Result<Vec<String>, Error> {
    let found = palaces_in_commit(&repository.git(), commit, inside);
    found.map_err(|err| repository.git_error("look for palaces", err))
}

/// Returns the folder of the home in the repository, and whether the home is in it; if it is not, the
/// home is above the only palace, which is the root.
fn folder_in_repository(repository: &Repository, home: &Path) -> Result<(String, bool), Error> {
    let home = paths::resolve_links(home)?;
    Ok(match home.strip_prefix(&repository.work) {
        Ok(inside) => (inside.to_string_lossy().replace('\\', "/"), true),
        Err(_) => (String::new(), false),
    })
}

/// Lists the files of palaces in a commit, by path in the repository.
fn palace_files(
    repository: &Repository,
    commit: ObjectId,
    folders: &[String],
) -> gix::Result<Vec<String>> {
    let history = HistoryReader::new(repository);
    let (root, mut files) = (history.root_tree(commit)?, Vec::new());
    for folder in folders {
        let tree = find_folder(&history.git, root, folder)?;
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let all = tree_diff::compare(&history.git, None, tree)?.into_iter();
        let own = all.filter(|it| is_palace_file(&it.path));
        files.extend(own.map(|it| format!("{prefix}{}", it.path)));
    }
    Ok(files)
}

/// Fails if git would run a filter on a file in a commit, or convert it in another unsupported way.
fn reject_filtered_files(
    repository: &Repository,
    commit: ObjectId,
    paths: &[String],
) -> Result<(), Error> {
    let (mut files, mut attribute) = (Vec::new(), None);
    let mut look = || -> gix::Result<()> {
        let history = HistoryReader::new(repository);
        let tree = history.root_tree(commit)?;
        let index = attributes_of_tree(&history.git, tree, paths.iter())?;
        let mut attributes = CommittedAttributes::new(&history.git, &index)?;
        for path in paths {
            if let Some(found) = attributes.converting_attribute(path)? {
                attribute.get_or_insert(found);
                files.push(path.clone());
            }
        }
        Ok(())
    };
    look().map_err(|err| repository.git_error("read attributes", err))?;
    let filtered = |attribute| Err(ProposalError::FilteredFiles { files, attribute }.into());
    attribute.map_or(Ok(()), filtered)
}

/// Opens the lock that the servers of a proposal share.
fn open_use_lock(repository: &Repository, branch_ref: &str) -> Result<File, Error> {
    let (common_dir, shared_mode) = (&repository.common_dir, repository.shared_mode);
    let name = format!("{}.lock", proposal_marker_name(branch_ref));
    let path = palazzo_file::palazzo_file_path(common_dir, &name);
    let open = || {
        palazzo_file::create_parent_folders(common_dir, &name, shared_mode)?;
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let (file, _) = palazzo_file::open_regular_file(&path, options)?;
        shared_mode.adjust_file(&file).map(|()| file)
    };
    open().map_err(Error::for_file("open", &path))
}

/// Returns the repository that has all palaces of the home, and one of the palaces.
fn require_one_repository<'s>(
    palaces: &'s [Store],
    home: &Path,
) -> Result<(&'s Store, Arc<Repository>), Error> {
    let mut found: Option<(&Store, Arc<Repository>)> = None;
    for palace in palaces {
        let folder = palace.palace_folder().to_owned();
        let repository = palace.repository.find_or_reject_forbidden()?;
        let repository = repository.ok_or(ProposalError::NoRepository { palace: folder })?;
        match &found {
            None => found = Some((palace, repository)),
            Some((_, known)) if known.work != repository.work => {
                let works = [known.work.clone(), repository.work.clone()];
                return Err(ProposalError::SeveralRepositories { works }.into());
            }
            Some(_) => {}
        }
    }
    Ok(found.ok_or_else(|| ProposalError::NoPalace { home: home.to_owned() })?)
}

/// Returns whether a palace has changes that `HEAD` lacks.
fn has_uncommitted_changes(palace: &Store) -> bool {
    let head = palace.head().ok().flatten();
    palace.diff_since(head.as_ref()).is_ok_and(|it| !it.is_empty())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::CommitOutcome;
    use crate::test_repository::{TestHome, change_of_one_file, commit_ok, git_in, try_git};

    const HALL: &str = "rooms/hall.yaml";

    /// Opens the proposal `ideas` of the palace `keep`.
    fn open(scene: &TestHome) -> Result<ServedProposal, Error> {
        open_proposal(&[scene.palace("keep")], &scene.home, "ideas")
    }

    fn scene_with_palace() -> TestHome {
        let scene = TestHome::with_repository();
        scene.write_file("keep/palace.toml", "name = \"K\"\n");
        scene.write_file("keep/rooms/hall.yaml", "1\n");
        scene.git(&["add", "."]);
        scene.git(&["commit", "-qm", "palace"]);
        scene
    }

    /// Returns the store of the palace on the branch.
    fn store_of(scene: &TestHome, proposal: &ServedProposal) -> Store {
        proposal.store_on_branch(scene.palace("keep"))
    }

    /// Commits `text` as a file on the branch of the proposal, in another working directory.
    fn commit_elsewhere(scene: &TestHome, file: &str, text: Option<&str>) {
        let other = scene.home.with_file_name("other");
        scene.git(&["worktree", "add", "-q", "--detach", other.to_str().unwrap(), "ideas"]);
        match text {
            Some(text) => fs::write(other.join(file), text).unwrap(),
            None => fs::remove_file(other.join(file)).unwrap(),
        }
        git_in(&other, &["add", "."]);
        git_in(&other, &["commit", "-qm", "by a person"]);
        let new = git_in(&other, &["rev-parse", "HEAD"]);
        scene.git(&["update-ref", "refs/heads/ideas", new.trim()]);
        scene.git(&["worktree", "remove", other.to_str().unwrap()]);
    }

    #[test]
    fn a_proposal_is_commits_and_nothing_on_disk() {
        let scene = scene_with_palace();
        scene.write_file("keep/rooms/hall.yaml", "by hand\n");
        scene.write_file("keep/rooms/mine.yaml", "mine\n");
        let before = scene.status();
        let proposal = open(&scene).unwrap();
        assert_eq!(proposal.palaces_with_uncommitted_changes, ["keep"]);
        assert_eq!(proposal.list_palaces().unwrap(), [scene.home.join("keep")]);
        let mut store = store_of(&scene, &proposal);
        assert_eq!(store.read_file(HALL).unwrap().as_deref(), Some("1\n"));
        assert_eq!(store.read_file("rooms/mine.yaml").unwrap(), None);
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
        commit_ok(&mut store, &change_of_one_file("rooms/a/b.yaml", None, Some("b\n")));
        let (files, _) = store.list_files("rooms").unwrap();
        assert_eq!(files.into_keys().collect::<Vec<_>>(), ["rooms/a/b.yaml", HALL]);
        commit_ok(&mut store, &change_of_one_file("rooms/a/b.yaml", Some("b\n"), None));
        assert_eq!(
            scene.git(&["log", "--format=%an: %s", "main..ideas"]),
            "Claude Desktop: room hall: build\n".repeat(3)
        );
        assert_eq!(scene.git(&["diff", "--name-only", "main", "ideas"]), "keep/rooms/hall.yaml\n");
        assert_eq!(
            scene.git(&["reflog", "-1", "--format=%gs", "ideas"]),
            "commit: room hall: build\n"
        );
        assert_eq!((scene.status(), scene.log()), (before, "Ada: palace\nAda: begin\n".into()));
        assert!(!scene.home.join(".git/worktrees").exists());
        scene.assert_fsck_clean();
    }

    #[test]
    fn a_stale_change_and_one_with_something_in_its_place_are_not_made() {
        let scene = scene_with_palace();
        let proposal = open(&scene).unwrap();
        let mut store = store_of(&scene, &proposal);
        for (path, was) in [(HALL, Some("0\n")), (HALL, None), ("rooms/no.yaml", Some("1\n"))] {
            let change = change_of_one_file(path, was, Some("2\n"));
            assert_eq!(store.commit(&change).unwrap(), CommitOutcome::Stale(vec![path.to_owned()]));
        }
        for path in ["rooms/hall.yaml/deep.yaml", "rooms"] {
            let refused = store.commit(&change_of_one_file(path, None, Some("2\n"))).unwrap_err();
            assert!(matches!(refused, Error::InvalidPath { .. }), "{path}: {refused}");
        }
        assert_eq!(scene.git(&["rev-parse", "main"]), scene.git(&["rev-parse", "ideas"]));
    }

    #[test]
    fn a_commit_of_a_person_on_the_branch_is_read_and_built_upon() {
        let scene = scene_with_palace();
        let proposal = open(&scene).unwrap();
        let mut store = store_of(&scene, &proposal);
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
        commit_elsewhere(&scene, "keep/rooms/hall.yaml", Some("3\n"));
        commit_elsewhere(&scene, "notes.md", Some("other\n"));
        let change = change_of_one_file(HALL, Some("2\n"), Some("4\n"));
        assert_eq!(store.commit(&change).unwrap(), CommitOutcome::Stale(vec![HALL.to_owned()]));
        assert_eq!(store.read_file(HALL).unwrap().as_deref(), Some("3\n"));
        commit_ok(&mut store, &change_of_one_file(HALL, Some("3\n"), Some("4\n")));
        let log = scene.git(&["log", "-2", "--format=%an: %s", "ideas"]);
        assert_eq!(log, "Claude Desktop: room hall: build\nAda: by a person\n");
        assert_eq!(scene.git(&["show", "ideas:notes.md"]), "other\n");

        scene.git(&["update-ref", "refs/heads/ideas", "main"]);
        assert_eq!(store.read_file(HALL).unwrap().as_deref(), Some("1\n"));
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("5\n")));
    }

    #[test]
    fn a_merged_branch_is_brought_up_to_date_and_another_branch_is_not_moved() {
        let scene = scene_with_palace();
        let mut store = store_of(&scene, &open(&scene).unwrap());
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
        scene.git(&["branch", "other"]);
        scene.git(&["merge", "-q", "--no-ff", "--no-edit", "ideas"]);
        open(&scene).unwrap();
        assert_eq!(scene.git(&["rev-parse", "main"]), scene.git(&["rev-parse", "ideas"]));

        let opened = open_proposal(&[scene.palace("keep")], &scene.home, "other").unwrap();
        assert_eq!(scene.git(&["rev-parse", "other"]), scene.git(&["rev-parse", "main~^{}"]));
        drop(opened);
    }

    #[test]
    fn nothing_is_written_to_a_branch_that_is_checked_out_or_gone() {
        let scene = scene_with_palace();
        let proposal = open(&scene).unwrap();
        let mut store = store_of(&scene, &proposal);
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
        let last = scene.git(&["rev-parse", "ideas"]);
        let change = change_of_one_file(HALL, Some("2\n"), Some("3\n"));
        scene.git(&["checkout", "-q", "ideas"]);
        let refused = store.commit(&change).unwrap_err().to_string();
        let expected = format!(
            "the branch `ideas` is checked out at `{}`, so nothing is written to it as a proposal: check out \
             another branch there (`git switch`), or start the server with another name",
            scene.home.display()
        );
        assert_eq!(refused, expected);
        assert_eq!(open(&scene).unwrap_err().to_string(), expected);
        scene.git(&["checkout", "-q", "main"]);
        let other = scene.home.with_file_name("other");
        scene.git(&["worktree", "add", "-q", other.to_str().unwrap(), "ideas"]);
        assert!(
            store
                .commit(&change)
                .unwrap_err()
                .to_string()
                .contains("other`, so nothing is written")
        );
        scene.git(&["worktree", "remove", other.to_str().unwrap()]);
        assert_eq!(scene.git(&["rev-parse", "ideas"]), last);

        scene.git(&["branch", "-qD", "ideas"]);
        let refused = store.commit(&change).unwrap_err().to_string();
        let expected = format!(
            "the branch `ideas` of this proposal is gone: it was merged or dropped. A person can restart this \
             server, which begins the branch again without these changes, or run `git -C {} branch ideas \
             {}`, and the server goes on with them",
            scene.home.display(),
            &last[..10]
        );
        assert_eq!(refused, expected);
        assert!(store.read_file(HALL).is_err());
        scene.git(&["branch", "ideas", last.trim()]);
        commit_ok(&mut store, &change);
    }

    #[test]
    fn a_commit_is_taken_back_if_the_branch_was_checked_out_without_it() {
        let scene = scene_with_palace();
        let mut store = store_of(&scene, &open(&scene).unwrap());
        let git_dir = scene.home.join(".git");
        let (branch, lock) = (git_dir.join("refs/heads/ideas"), git_dir.join("index.lock"));
        let tip = fs::read_to_string(&branch).unwrap();
        // A checkout that has read the branch, and moves `HEAD` after the branch was moved.
        fs::write(&lock, "").unwrap();
        let checkout = std::thread::spawn({
            let (tip, branch) = (tip.clone(), branch.clone());
            move || {
                while fs::read_to_string(&branch).is_ok_and(|it| it == tip) {
                    std::thread::yield_now();
                }
                let line = format!("{0} {0} Ada <a@b> 1 +0000\tcheckout\n", tip.trim());
                fs::write(git_dir.join("logs/HEAD"), line).unwrap();
                fs::write(git_dir.join("HEAD"), "ref: refs/heads/ideas\n").unwrap();
                fs::remove_file(lock).unwrap();
            }
        });
        let refused = store.commit(&change_of_one_file(HALL, Some("1\n"), Some("2\n")));
        checkout.join().unwrap();
        assert!(refused.unwrap_err().to_string().contains("is checked out at"));
        assert_eq!(fs::read_to_string(&branch).unwrap(), tip);
        let log = scene.git(&["reflog", "-1", "--format=%gs", "ideas"]);
        assert_eq!(log, "proposal: take back, the branch was checked out\n");
    }

    #[test]
    fn objects_that_a_garbage_collection_deletes_are_restored_for_readers() {
        let scene = scene_with_palace();
        let proposal = open(&scene).unwrap();
        let mut store = store_of(&scene, &proposal);
        let gc = scene.home.join(".git/gc.pid");
        let host = crate::repo::processes::host_name();
        fs::write(&gc, format!("{} {host}", std::process::id())).unwrap();
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
        let reads: [fn(&Store, &ServedProposal) -> bool; 3] = [
            |store, _| store.read_file(HALL).is_ok_and(|it| it.as_deref() == Some("2\n")),
            |store, _| store.list_files("rooms").is_ok_and(|(files, _)| files.contains_key(HALL)),
            |_, proposal| proposal.list_palaces().is_ok_and(|it| it.len() == 1),
        ];
        for read in reads {
            for id in scene.git(&["rev-parse", "ideas", "ideas^{tree}"]).lines() {
                let object = scene.home.join(".git/objects").join(&id[..2]).join(&id[2..]);
                fs::remove_file(object).unwrap_or_default();
            }
            assert!(read(&store, &proposal));
        }
        fs::remove_file(gc).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_fifo_in_place_of_the_branch_is_not_opened() {
        let scene = scene_with_palace();
        let mut store = store_of(&scene, &open(&scene).unwrap());
        let branch = scene.home.join(".git/refs/heads/ideas");
        fs::remove_file(&branch).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&branch).status().unwrap().success());
        let change = change_of_one_file(HALL, Some("1\n"), Some("2\n"));
        assert!(matches!(store.commit(&change), Err(Error::NotRegularFile { .. })));
        assert!(store.read_file(HALL).unwrap_err().message.contains("is a FIFO"));
    }

    #[test]
    fn a_palace_whose_files_have_a_filter_is_refused() {
        let scene = scene_with_palace();
        let proposal = open(&scene).unwrap();
        let mut store = store_of(&scene, &proposal);
        commit_elsewhere(&scene, ".gitattributes", Some("*.md filter=evil\n"));
        let change = change_of_one_file("scrolls/hall/a.md", None, Some("1\n"));
        let refused = store.commit(&change).unwrap_err();
        assert!(matches!(refused, Error::FilteredFile { .. }), "{refused}");
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));

        scene.write_file(".gitattributes", "*.yaml filter=evil\n");
        scene.git(&["add", "."]);
        scene.git(&["commit", "-qm", "filter"]);
        let refused = open_proposal(&[scene.palace("keep")], &scene.home, "more").unwrap_err();
        let expected = "`keep/rooms/hall.yaml` has the git attribute `filter`, and Palazzo runs no \
                        filters, so the palace cannot be proposed to: remove the attribute for the \
                        palace in `.gitattributes` and commit that";
        assert_eq!(refused.to_string(), expected);
        assert_eq!(scene.git(&["branch", "--list", "more"]), "");
    }

    #[test]
    fn line_ends_are_those_that_git_stores() {
        let scene = scene_with_palace();
        scene.write_file(".gitattributes", "*.yaml text eol=crlf\n");
        scene.git(&["add", "."]);
        scene.git(&["commit", "-qm", "line ends"]);
        let proposal = open(&scene).unwrap();
        let mut store = store_of(&scene, &proposal);
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("1\r\n2\r\n")));
        assert_eq!(scene.git(&["show", "ideas:keep/rooms/hall.yaml"]), "1\n2\n");
    }

    /// Makes the worktree of the proposal as earlier versions did: a sparse one.
    fn add_old_worktree(scene: &TestHome) -> PathBuf {
        let name = crate::repo::proposal_branch::folder_name_of_branch("refs/heads/ideas");
        let first = scene.home.with_file_name(&name);
        let work = scene.home.with_file_name("proposals").join("01234567").join(name).join("home");
        let [from, to] = [&first, &work].map(|it| it.to_str().unwrap());
        scene.git(&["worktree", "add", "-q", "--no-checkout", "-b", "ideas", from]);
        fs::create_dir_all(work.parent().unwrap()).unwrap();
        scene.git(&["worktree", "move", from, to]);
        git_in(&work, &["read-tree", "HEAD"]);
        git_in(&work, &["checkout", "-q", "--", "keep"]);
        for file in git_in(&work, &["ls-files", "--deleted"]).lines() {
            git_in(&work, &["update-index", "--skip-worktree", file]);
        }
        work
    }

    fn git_dir_of(work: &Path) -> PathBuf {
        PathBuf::from(git_in(work, &["rev-parse", "--absolute-git-dir"]).trim())
    }

    #[test]
    fn the_worktree_of_an_earlier_version_is_removed_if_all_in_it_is_committed() {
        let scene = scene_with_palace();
        let work = add_old_worktree(&scene);
        let (git_dir, hall) = (git_dir_of(&work), work.join("keep/rooms/hall.yaml"));
        fs::write(&hall, "by hand\n").unwrap();
        fs::write(work.join("notes.md"), "mine\n").unwrap();
        let refused = |text: &str| {
            let refused = open(&scene).unwrap_err().to_string();
            assert!(refused.contains(text), "{refused}");
            assert!(work.join("keep/palace.toml").is_file());
        };
        refused("there, `keep/rooms/hall.yaml`, `notes.md` are not committed: commit that first");
        git_in(&work, &["add", "keep"]);
        git_in(&work, &["commit", "-qm", "by hand"]);
        refused("there, `notes.md` is not committed");
        fs::remove_file(work.join("notes.md")).unwrap();
        fs::remove_file(&hall).unwrap();
        refused("there, `keep/rooms/hall.yaml` is not committed");
        git_in(&work, &["checkout", "-q", "--", "keep"]);
        fs::write(&hall, "staged\n").unwrap();
        git_in(&work, &["add", "keep"]);
        git_in(&work, &["update-index", "--skip-worktree", "keep/rooms/hall.yaml"]);
        fs::remove_file(&hall).unwrap();
        refused("there, `keep/rooms/hall.yaml` is not committed");
        git_in(&work, &["update-index", "--no-skip-worktree", "keep/rooms/hall.yaml"]);
        git_in(&work, &["reset", "-q", "--hard"]);
        fs::remove_file(work.join("notes.md")).unwrap_or_default();

        // The branch was moved elsewhere meanwhile.
        scene.git(&["update-ref", "refs/heads/ideas", "main"]);
        let proposal = open(&scene).unwrap();
        assert!(!work.exists() && !git_dir.exists());
        commit_ok(
            &mut store_of(&scene, &proposal),
            &change_of_one_file(HALL, Some("1\n"), Some("2\n")),
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_worktree_in_which_a_person_works_is_not_removed() {
        use std::os::unix::fs::PermissionsExt as _;
        let scene = scene_with_palace();
        let work = add_old_worktree(&scene);
        let (git_dir, hall) = (git_dir_of(&work), work.join("keep/rooms/hall.yaml"));
        let refused = |text: &str| {
            let refused = open(&scene).unwrap_err().to_string();
            assert!(refused.contains(text), "{refused}");
            assert!(hall.symlink_metadata().is_ok());
        };
        fs::set_permissions(&hall, fs::Permissions::from_mode(0o755)).unwrap();
        refused("`keep/rooms/hall.yaml` is not committed");
        fs::rename(&hall, work.with_file_name("elsewhere")).unwrap();
        std::os::unix::fs::symlink("../../../elsewhere", &hall).unwrap();
        refused("`keep/rooms/hall.yaml` is not committed");
        git_in(&work, &["checkout", "-q", "--", "keep"]);

        for file in ["locked", "MERGE_HEAD", "refs/worktree/mine"] {
            fs::create_dir_all(git_dir.join(file).parent().unwrap()).unwrap();
            fs::write(git_dir.join(file), "x").unwrap();
            refused("is checked out at");
            fs::remove_file(git_dir.join(file)).unwrap();
        }
        fs::remove_dir(git_dir.join("refs/worktree")).unwrap();
        git_in(&work, &["checkout", "-q", "--detach"]);
        fs::write(work.join("keep/rooms/hall.yaml"), "mine\n").unwrap();
        git_in(&work, &["commit", "-qam", "mine"]);
        let proposal = open(&scene).unwrap();
        assert!(hall.is_file(), "its commit is in no branch");
        drop(proposal);
        git_in(&work, &["checkout", "-q", "ideas"]);
        refused("is checked out at");
    }

    #[test]
    fn a_branch_in_a_rebase_or_a_bisect_is_checked_out() {
        let scene = scene_with_palace();
        let mut store = store_of(&scene, &open(&scene).unwrap());
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
        let other = scene.home.with_file_name("other");
        let change = change_of_one_file(HALL, Some("2\n"), Some("3\n"));
        let mut refused = || {
            let refused = store.commit(&change).unwrap_err().to_string();
            assert!(refused.contains("other`, so nothing is written"), "{refused}");
        };
        scene.git(&["worktree", "add", "-q", other.to_str().unwrap(), "ideas"]);
        git_in(&other, &["bisect", "start", "ideas", "main"]);
        git_in(&other, &["checkout", "-q", "--detach"]);
        refused();
        git_in(&other, &["bisect", "reset"]);
        assert!(!try_git(&other, &["rebase", "-q", "--exec", "false", "main~1"]).status.success());
        refused();
    }

    #[test]
    fn a_branch_that_only_stands_for_another_is_refused() {
        let scene = scene_with_palace();
        for other in ["main", "nowhere"] {
            scene.git(&["symbolic-ref", "refs/heads/ideas", &format!("refs/heads/{other}")]);
            let why = format!("it is a symbolic reference to `refs/heads/{other}`");
            let refused = open(&scene).unwrap_err().to_string();
            assert_eq!(refused, format!("`ideas` cannot be the name of a branch: {why}"));
        }
    }

    #[test]
    fn head_is_the_newest_commit_of_the_branch() {
        let scene = scene_with_palace();
        let mut store = store_of(&scene, &open(&scene).unwrap());
        let (now, zone) = (chrono::Utc::now(), palazzo_core::model::TimeZone::default());
        for (was, new) in [("1\n", "2\n"), ("2\n", "3\n")] {
            commit_ok(&mut store, &change_of_one_file(HALL, Some(was), Some(new)));
        }
        for (said, expected) in [
            ("HEAD", "ideas"),
            ("HEAD~1", "ideas~1"),
            ("@^", "ideas~1"),
            ("@{1}", "ideas~1"),
            ("HEAD@{1}", "ideas~1"),
            ("main", "main"),
        ] {
            let found = store.resolve_revision(said, now, &zone).unwrap();
            assert_eq!(found.0, scene.git(&["rev-parse", expected]).trim(), "{said}");
        }
    }

    #[test]
    fn a_worktree_that_was_deleted_or_damaged_is_no_obstacle_unless_it_has_files() {
        let scene = scene_with_palace();
        let work = add_old_worktree(&scene);
        fs::write(work.join(".git"), "gitdir: /nowhere\n").unwrap();
        assert!(open(&scene).unwrap_err().to_string().contains("`keep/palace.toml`"));
        fs::remove_dir_all(&work).unwrap();
        open(&scene).unwrap();
        assert_eq!(scene.git(&["worktree", "list"]).lines().count(), 1);
    }

    #[test]
    fn servers_of_a_proposal_share_its_lock() {
        let scene = scene_with_palace();
        let one = open(&scene).unwrap();
        let mut store = store_of(&scene, &one);
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
        let two = open(&scene).unwrap();
        let is_served = || scene.palace("keep").list_proposals().unwrap()[0].is_served;
        drop(one);
        assert!(is_served());
        drop(two);
    }
}
