//! Opens the proposal that a server writes to.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gix::ObjectId;

use crate::model::quoted;
use crate::store::history::commits::HistoryReader;
use crate::store::proposal::branches::{
    base_revision, find_checkout, parse_branch_name, reject_conflicting_branch, update_branch,
};
use crate::store::proposal::checkout::{
    check_out_palace, create_worktree, has_worktree, reject_filtered_palace, remove_worktree,
    repair_git_file,
};
use crate::store::proposal::moved_branch::bring_files_to_branch;
use crate::store::repo::damage;
use crate::store::repo::palace_trees::{find_folder, find_palaces};
use crate::store::repo::palazzo_file;
use crate::store::repo::paths;
use crate::store::repo::proposal_branch::{last_commit_of_worktree, reject_other_branch};
use crate::store::repo::proposal_error::ProposalError;
use crate::store::repo::proposal_place::{ProposalPlace, branch_name};
use crate::store::repo::repository::Repository;
use crate::store::write::head_move::find_ref;
use crate::store::write::recovery;
use crate::store::write::write_guard::WriteGuard;
use crate::store::{Error, Store};

/// A proposal that a server writes to. As long as this value exists, no other process replaces the
/// worktree.
#[derive(Debug)]
pub struct ProposalCheckout {
    /// The home in the worktree.
    pub home: PathBuf,
    /// The branch.
    pub branch: String,
    /// The full name of the branch that is checked out in the home, or its commit.
    pub base_revision: String,
    /// The names of the palaces with changes that are not committed, which the proposal lacks.
    pub palaces_with_uncommitted_changes: Vec<String>,
    _use_lock: File,
}

/// The repository of a home, and what is proposed to it.
struct Opening<'a> {
    repository: Arc<Repository>,
    /// A palace of the home.
    palace: &'a Store,
    home: PathBuf,
    head: ObjectId,
    place: ProposalPlace,
    guard: WriteGuard,
    use_lock: File,
    /// Whether no other process serves this proposal.
    is_alone: bool,
}

/// Opens the proposal `branch` for the palaces of `home`: creates the branch at `HEAD` if there is
/// none, and its worktree in `state_folder`. A proposal that was merged is brought up to date.
pub fn open_proposal(
    palaces: &[Store],
    home: &Path,
    state_folder: Option<&Path>,
    branch: &str,
) -> Result<ProposalCheckout, Error> {
    let state_folder = state_folder.ok_or(ProposalError::NoStateFolder)?;
    let branch_ref = parse_branch_name(branch)?;
    let (palace, repository) = require_one_repository(palaces, home)?;
    let no_commit = || ProposalError::NoCommit { work: repository.work.clone() };
    let head = repository.head()?.ok_or_else(no_commit)?;
    let place = ProposalPlace::new(&repository, state_folder, &branch_ref)?;
    // A worktree of the proposal that is elsewhere was made with another state folder.
    if let Some((work, git_dir)) = find_checkout(&repository, &place.common_dir, &branch_ref)?
        && (git_dir != place.git_dir || (work != place.worktree && work.exists()))
    {
        let branch = branch_name(&branch_ref).to_owned();
        return Err(ProposalError::CheckedOutElsewhere { branch, place: work }.into());
    }
    let guard = WriteGuard::lock(&repository, &[], &palace.lock_timeouts)?;
    let (use_lock, is_alone) = open_use_lock(&place)?;
    let home = paths::resolve_links(home)?;
    let opening = Opening { repository, palace, home, head, place, guard, use_lock, is_alone };
    repair_git_file(&opening.place)?;
    opening.check_worktree()?;
    let tip = opening.find_or_create_branch()?;
    opening.bring_worktree_up_to_date()?;
    let tip = opening.advance_merged_branch(tip)?;
    opening.check_out(tip)?;
    opening.write_marker()?;
    opening.finish(palaces)
}

impl Opening<'_> {
    /// Fails if the worktree is there and a person has checked out another branch in it.
    fn check_worktree(&self) -> Result<(), Error> {
        if !has_worktree(&self.place)? {
            return Ok(());
        }
        let repository = self.open_worktree()?;
        repository.reject_operation_in_progress()?;
        let checked = reject_other_branch(&repository, &self.place.branch_ref);
        checked.map_err(|err| damage::explain_head_error(&repository, err))
    }

    /// Recovers from a server of this proposal that was killed, and brings the files to the branch if
    /// that was moved elsewhere. The marker of such a server and the proofs of its lock files are in
    /// the git directory of the worktree, which the lock of the repository does not look at.
    /// Recovery must precede every use of the index, which would replace the proofs.
    fn bring_worktree_up_to_date(&self) -> Result<(), Error> {
        if !has_worktree(&self.place)? {
            return Ok(());
        }
        let repository = self.open_worktree()?;
        let timeouts = &self.palace.lock_timeouts;
        recovery::recover_under_lock(&repository, timeouts)?;
        bring_files_to_branch(&repository, &self.guard, timeouts).map(drop)
    }

    /// Opens the worktree; fails if git finds another repository there.
    fn open_worktree(&self) -> Result<Arc<Repository>, Error> {
        let found = self.store_in_worktree("").repository()?;
        let found = found.filter(|it| {
            paths::resolve_links(&it.git_dir).is_ok_and(|it| it == self.place.git_dir)
        });
        let place = || self.place.worktree.clone();
        Ok(found.ok_or_else(|| ProposalError::NotAWorktree { place: place() })?)
    }

    /// Returns the commit of the branch, which is created at `HEAD` if there is none. One that was
    /// deleted while its worktree is there is restored at its last commit.
    fn find_or_create_branch(&self) -> Result<ObjectId, Error> {
        let Self { repository, head, place, .. } = self;
        let branch_ref = &place.branch_ref;
        if let Some(tip) = find_ref(repository, branch_ref)? {
            return Ok(tip);
        }
        reject_conflicting_branch(repository, branch_ref)?;
        let last =
            if has_worktree(place)? { last_commit_of_worktree(&place.git_dir) } else { None };
        let last = last.filter(|it| repository.git().find_commit(*it).is_ok());
        let (start, name, reason) = match last {
            Some(last) => (last, place.branch(), "proposal: restore the deleted branch"),
            None => (*head, "HEAD", "branch: Created from HEAD"),
        };
        for folder in self.palace_folders(start, &quoted(name))? {
            let work = repository.work.clone();
            let palace = Store::new(work.join(folder), work);
            let palace = palace.with_consents(self.palace.consents.clone());
            let isolated = self.palace.isolated;
            reject_filtered_palace(&Store { isolated, ..palace }, start)?;
        }
        update_branch(repository, &self.guard, branch_ref, (None, start), reason)?;
        Ok(start)
    }

    /// Moves the branch to `HEAD` if it was merged and nobody uses its worktree; returns its commit.
    fn advance_merged_branch(&self, tip: ObjectId) -> Result<ObjectId, Error> {
        let Self { repository, head, place, .. } = self;
        let branch_ref = &place.branch_ref;
        let is_merged = tip != *head && HistoryReader::new(repository).is_ancestor(tip, *head);
        if !is_merged || !self.is_known_proposal() || !self.is_replaceable()? {
            return Ok(tip);
        }
        self.palace_folders(*head, "`HEAD`")?;
        if has_worktree(place)? {
            remove_worktree(place)?;
        }
        let reason = "proposal: fast-forward";
        update_branch(repository, &self.guard, branch_ref, (Some(tip), *head), reason)?;
        Ok(*head)
    }

    /// Makes the worktree unless it is there, and checks out the palaces of the home.
    fn check_out(&self, tip: ObjectId) -> Result<(), Error> {
        let Self { repository, place, .. } = self;
        let folders = self.palace_folders(tip, &quoted(place.branch()))?;
        if !has_worktree(place)? {
            create_worktree(repository, place, tip)?;
        }
        self.open_worktree()?;
        for folder in folders {
            check_out_palace(&self.store_in_worktree(&folder), tip, &self.guard)?;
        }
        Ok(())
    }

    /// Lists the palaces of the home in a commit, by folder; fails if there is none.
    fn palace_folders(&self, commit: ObjectId, place: &str) -> Result<Vec<String>, Error> {
        let history = HistoryReader::new(&self.repository);
        let inside = self.home.strip_prefix(&self.repository.work).unwrap_or(Path::new(""));
        let folder = inside.to_string_lossy().replace('\\', "/");
        let list = || -> gix::Result<_> {
            let root = history.root_tree(commit)?;
            let tree = match folder.as_str() {
                "" => Some(root),
                folder => find_folder(&history.git, root, folder)?,
            };
            tree.map_or(Ok(Vec::new()), |it| find_palaces(&history.git, it, &folder))
        };
        let found = list().map_err(|err| self.repository.git_error("look for palaces", err))?;
        match found.is_empty() {
            true => Err(ProposalError::NoCommittedPalace { place: place.to_owned() }.into()),
            false => Ok(found),
        }
    }

    /// Returns whether the branch was proposed before: other branches are never moved.
    fn is_known_proposal(&self) -> bool {
        self.place.palazzo_file(&self.place.marker).is_file()
    }

    /// Returns whether nobody uses the worktree, and nothing in it is uncommitted.
    fn is_replaceable(&self) -> Result<bool, Error> {
        if !has_worktree(&self.place)? {
            return Ok(true);
        }
        let worktree = self.store_in_worktree("");
        let repository = self.open_worktree()?;
        if !self.is_alone || recovery::is_recovery_needed(&repository) {
            return Ok(false);
        }
        let Some(head) = worktree.head()? else { return Ok(false) };
        let tip = ObjectId::from_hex(head.0.as_bytes());
        let tip = tip.map_err(|err| repository.git_error("read `HEAD`", err))?;
        for folder in self.palace_folders(tip, "the proposal")? {
            if !self.store_in_worktree(&folder).diff_since(Some(&head))?.is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn store_in_worktree(&self, folder: &str) -> Store {
        let worktree = self.place.worktree.clone();
        let store = Store::new(worktree.join(folder), worktree);
        let store = store.with_consents(self.palace.consents.clone());
        Store { isolated: self.palace.isolated, ..store }
    }

    /// Marks the branch as a proposal.
    fn write_marker(&self) -> Result<(), Error> {
        let file = self.place.palazzo_file(&self.place.marker);
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(true);
        let written = palazzo_file::open_regular_file(&file, options).and_then(|mut it| {
            self.place.shared_mode.adjust_file(&it)?;
            writeln!(it, "{}", self.place.branch_ref)
        });
        written.map_err(Error::for_file("write", &file))
    }

    fn finish(self, palaces: &[Store]) -> Result<ProposalCheckout, Error> {
        let Self { repository, home, head, place, use_lock, guard, .. } = self;
        // Others wait for the write lock before they look at this one. `unlock` fails on Windows if
        // nothing is locked, and under Wine always; `lock_shared` reports what matters.
        drop(use_lock.unlock());
        let locked = use_lock.lock_shared();
        locked.map_err(Error::for_file("lock", &place.worktree))?;
        drop(guard);
        let uncommitted = palaces.iter().filter(|it| has_uncommitted_changes(it));
        let names = uncommitted.filter_map(|it| it.palace_folder().file_name());
        Ok(ProposalCheckout {
            home: place.folder_in_worktree(&repository, &home),
            branch: place.branch().to_owned(),
            base_revision: base_revision(&repository, head),
            palaces_with_uncommitted_changes: names
                .map(|it| it.to_string_lossy().into_owned())
                .collect(),
            _use_lock: use_lock,
        })
    }
}

/// Opens the lock that the servers of a proposal share; returns whether no other one has it.
fn open_use_lock(place: &ProposalPlace) -> Result<(File, bool), Error> {
    let path = place.palazzo_file(&place.use_lock);
    let open = || {
        let (name, shared_mode) = (&place.use_lock, place.shared_mode);
        palazzo_file::create_parent_folders(&place.common_dir, name, shared_mode)?;
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let file = palazzo_file::open_regular_file(&path, options)?;
        shared_mode.adjust_file(&file).map(|()| file)
    };
    let file = open().map_err(Error::for_file("open", &path))?;
    match file.try_lock() {
        Ok(()) => Ok((file, true)),
        Err(TryLockError::WouldBlock) => Ok((file, false)),
        Err(TryLockError::Error(err)) => Err(Error::for_file("lock", &path)(err)),
    }
}

/// Returns the repository that has all palaces of the home, and one of the palaces.
fn require_one_repository<'s>(
    palaces: &'s [Store],
    home: &Path,
) -> Result<(&'s Store, Arc<Repository>), Error> {
    let mut found: Option<(&Store, Arc<Repository>)> = None;
    for palace in palaces {
        let folder = palace.palace_folder().to_owned();
        let repository = palace.open_allowed_repository()?;
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
    use crate::store::CommitOutcome;
    use crate::store::test_repository::{TestHome, change_of_one_file, commit_ok, git_in};

    const HALL: &str = "rooms/hall.yaml";

    /// Opens the proposal `ideas` of the palace `keep`.
    fn open(scene: &TestHome) -> Result<ProposalCheckout, Error> {
        let state = scene.home.with_file_name("state");
        open_proposal(&[scene.palace("keep")], &scene.home, Some(&state), "ideas")
    }

    fn scene_with_palace() -> TestHome {
        let scene = TestHome::with_repository();
        scene.write_file("keep/palace.toml", "name = \"K\"\n");
        scene.write_file("keep/rooms/hall.yaml", "1\n");
        scene.git(&["add", "."]);
        scene.git(&["commit", "-qm", "palace"]);
        scene
    }

    /// Returns the store of the palace in the worktree.
    fn store_of(scene: &TestHome, proposal: &ProposalCheckout) -> Store {
        let mut store = scene.store(&proposal.home.join("keep"));
        store.home.clone_from(&proposal.home);
        store
    }

    #[test]
    fn the_next_start_cleans_up_after_a_killed_server() {
        let scene = scene_with_palace();
        let proposal = open(&scene).unwrap();
        let git_dir = git_in(&proposal.home, &["rev-parse", "--absolute-git-dir"]);
        let git_dir = PathBuf::from(git_dir.trim());
        let worktree = proposal.home.clone();
        drop(proposal);

        // What a server leaves that is killed after it has replaced the file.
        let (common, new) = (scene.home.join(".git"), worktree.join("keep/rooms/hall.yaml"));
        for (folder, lock) in
            [(&git_dir, "index.lock"), (&git_dir, "HEAD.lock"), (&common, "refs/heads/ideas.lock")]
        {
            let proof = folder.join("palazzo/locks").join(lock);
            fs::create_dir_all(proof.parent().unwrap()).unwrap();
            fs::write(&proof, "half").unwrap();
            fs::hard_link(proof, folder.join(lock)).unwrap();
        }
        let marker = "pid 1\nproofs\nbranch refs/heads/ideas\npath keep/rooms/hall.yaml\n";
        fs::write(git_dir.join("palazzo/writing"), marker).unwrap();
        fs::write(worktree.join("keep/rooms/.hall.yaml.palazzo-1-0.tmp"), "half").unwrap();
        fs::write(new, "1\n").unwrap();

        for _ in 0..2 {
            let proposal = open(&scene).unwrap();
            assert!(!git_dir.join("index.lock").exists() && !git_dir.join("HEAD.lock").exists());
            assert_eq!(fs::read_to_string(git_dir.join("palazzo/writing")).unwrap(), "");
            let mut store = store_of(&scene, &proposal);
            let was = store.read_file(HALL).unwrap();
            let now = was.clone().unwrap() + "2\n";
            commit_ok(&mut store, &change_of_one_file(HALL, was.as_deref(), Some(&now))).unwrap();
            assert_eq!(git_in(&worktree, &["status", "--porcelain", "-uall"]), "");
        }
        let log = git_in(&worktree, &["log", "--format=%an", "main..ideas"]);
        assert_eq!(log, "Claude Desktop\nClaude Desktop\n");
    }
    #[test]
    fn nothing_is_written_while_another_branch_is_checked_out() {
        let scene = scene_with_palace();
        scene.git(&["checkout", "-qb", "dev"]);
        let proposal = open(&scene).unwrap();
        let worktree = proposal.home.clone();
        let before = scene.git(&["rev-parse", "main", "dev", "ideas"]);
        let expected = |found: &str| {
            format!(
                "the files of the proposal `ideas` in `{0}` are on {found}, so nothing was \
                 written: run `git -C {0} checkout ideas` first",
                worktree.display()
            )
        };
        for (checkout, found) in [
            (["checkout", "-q", "main"], "the branch `main`"),
            (["checkout", "-q", "--detach"], "no branch"),
        ] {
            git_in(&worktree, &checkout);
            let change = change_of_one_file("rooms/new.yaml", None, Some("1\n"));
            let refused = store_of(&scene, &proposal).commit(&change).unwrap_err();
            assert_eq!(refused.to_string(), expected(found));
            assert_eq!(open(&scene).unwrap_err().to_string(), expected(found));
        }
        assert_eq!(scene.git(&["rev-parse", "main", "dev", "ideas"]), before);
        assert!(!worktree.join("keep/rooms/new.yaml").exists());
        git_in(&worktree, &["checkout", "-q", "ideas"]);
        let change = change_of_one_file("rooms/new.yaml", None, Some("1\n"));
        commit_ok(&mut store_of(&scene, &proposal), &change).unwrap();
        open(&scene).unwrap();
    }

    #[test]
    fn a_deleted_branch_is_restored_by_the_next_start() {
        let scene = scene_with_palace();
        let proposal = open(&scene).unwrap();
        let mut store = store_of(&scene, &proposal);
        commit_ok(&mut store, &change_of_one_file("rooms/new.yaml", None, Some("1\n")));
        let last = scene.git(&["rev-parse", "--short=10", "ideas"]);
        scene.git(&["update-ref", "-d", "refs/heads/ideas"]);
        let change = change_of_one_file("rooms/more.yaml", None, Some("1\n"));
        let refused = store.commit(&change).unwrap_err().to_string();
        assert!(
            refused.contains(&format!("restores it at its last commit {};", last.trim())),
            "{refused}"
        );
        assert_eq!(scene.git(&["branch", "--list", "ideas"]), "");

        drop(proposal);
        let proposal = open(&scene).unwrap();
        assert_eq!(scene.git(&["rev-parse", "--short=10", "ideas"]), last);
        assert_eq!(git_in(&proposal.home, &["status", "--porcelain", "-uall"]), "");
        commit_ok(&mut store, &change);
        assert_eq!(scene.git(&["rev-list", "--count", "main..ideas"]), "2\n");
    }

    #[test]
    fn the_git_file_of_a_worktree_is_written_again() {
        let scene = scene_with_palace();
        let worktree = open(&scene).unwrap().home;
        let file = worktree.join(".git");
        let text = fs::read_to_string(&file).unwrap();
        for damage in [None, Some(""), Some(&text[..20])] {
            match damage {
                None => fs::remove_file(&file).unwrap(),
                Some(text) => fs::write(&file, text).unwrap(),
            }
            open(&scene).unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
        fs::write(&file, "gitdir: /elsewhere\n").unwrap();
        assert!(open(&scene).unwrap_err().to_string().contains("move it away"));
        assert_eq!(fs::read_to_string(&file).unwrap(), "gitdir: /elsewhere\n");
    }

    /// Commits `text` as a file on the branch of the proposal, outside its worktree.
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
    fn a_commit_on_the_branch_is_not_reverted_by_the_next_write() {
        let scene = scene_with_palace();
        let proposal = open(&scene).unwrap();
        let mut store = store_of(&scene, &proposal);
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
        commit_ok(&mut store, &change_of_one_file("rooms/attic.yaml", None, Some("1\n")));

        commit_elsewhere(&scene, "keep/rooms/hall.yaml", Some("3\n"));
        commit_elsewhere(&scene, "keep/rooms/cellar.yaml", Some("new\n"));
        commit_elsewhere(&scene, "keep/rooms/attic.yaml", None);
        commit_elsewhere(&scene, "notes.md", Some("other\n"));
        let change = change_of_one_file(HALL, Some("2\n"), Some("4\n"));
        let CommitOutcome::Stale(paths) = store.commit(&change).unwrap() else { panic!() };
        assert_eq!(paths, ["rooms/attic.yaml", "rooms/cellar.yaml", "rooms/hall.yaml"]);
        assert_eq!(store.read_file(HALL).unwrap().as_deref(), Some("3\n"));
        assert_eq!(store.read_file("rooms/cellar.yaml").unwrap().as_deref(), Some("new\n"));
        assert_eq!(store.read_file("rooms/attic.yaml").unwrap(), None);
        commit_ok(&mut store, &change_of_one_file(HALL, Some("3\n"), Some("4\n")));
        let log = scene.git(&["log", "-2", "--format=%an: %s", "ideas"]);
        assert_eq!(log, "Claude Desktop: room hall: build\nAda: by a person\n");
        assert_eq!(git_in(&proposal.home, &["status", "--porcelain", "-uall"]), "");
        assert!(!proposal.home.join("notes.md").exists());

        // The branch is moved back, and the next server starts with the older files.
        scene.git(&["update-ref", "refs/heads/ideas", "ideas~5"]);
        drop(proposal);
        let proposal = open(&scene).unwrap();
        assert_eq!(store.read_file(HALL).unwrap().as_deref(), Some("2\n"));
        assert_eq!(git_in(&proposal.home, &["status", "--porcelain", "-uall"]), "");
        commit_ok(&mut store, &change_of_one_file(HALL, Some("2\n"), Some("5\n")));
        assert_eq!(
            scene.git(&["diff", "--stat", "--format=", "ideas~", "ideas"]).lines().count(),
            2
        );
    }

    #[test]
    fn an_edit_by_hand_is_kept_when_the_branch_is_moved() {
        let scene = scene_with_palace();
        let proposal = open(&scene).unwrap();
        let mut store = store_of(&scene, &proposal);
        commit_ok(&mut store, &change_of_one_file("rooms/attic.yaml", None, Some("1\n")));
        fs::write(proposal.home.join("keep/rooms/hall.yaml"), "by hand\n").unwrap();
        commit_elsewhere(&scene, "keep/rooms/hall.yaml", Some("3\n"));
        assert_eq!(store.follow_moved_branch().unwrap(), [HALL]);
        assert_eq!(store.read_file(HALL).unwrap().as_deref(), Some("by hand\n"));
        commit_ok(&mut store, &change_of_one_file(HALL, Some("by hand\n"), Some("4\n")));
        let log = scene.git(&["log", "-3", "--format=%an: %s", "ideas"]);
        assert_eq!(
            log,
            "Claude Desktop: room hall: build\nAda: hand edit: rooms/hall.yaml\nAda: by a person\n"
        );
    }

    #[test]
    fn a_palace_whose_files_have_a_filter_is_refused() {
        let scene = scene_with_palace();
        scene.write_file(".gitattributes", "*.yaml filter=evil\n");
        scene.git(&["add", "."]);
        scene.git(&["commit", "-qm", "filter"]);
        let expected = "`keep/rooms/hall.yaml` has the git attribute `filter`, and Palazzo runs no \
                        filters, so the palace cannot be proposed to: remove the attribute for the \
                        palace in `.gitattributes` and commit that";
        assert_eq!(open(&scene).unwrap_err().to_string(), expected);
        assert_eq!(scene.git(&["branch", "--list", "ideas"]), "");
        // A branch that exists is not a reason to leave the files out.
        scene.git(&["branch", "ideas"]);
        assert_eq!(open(&scene).unwrap_err().to_string(), expected);
    }

    #[test]
    fn errors_of_a_server_whose_worktree_is_gone_name_the_proposal() {
        let scene = scene_with_palace();
        let proposal = open(&scene).unwrap();
        let worktree = proposal.home.clone();
        let mut store = store_of(&scene, &proposal).with_proposal_branch(Some("ideas".to_owned()));
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
        store.list_files_with_temporaries().unwrap();
        let change = change_of_one_file(HALL, Some("2\n"), Some("3\n"));
        fs::remove_file(worktree.join(".git")).unwrap();
        let refused = store.commit(&change).unwrap_err().to_string();
        assert!(
            refused.ends_with("so nothing was written: restart the server, which repairs that")
        );
        open(&scene).unwrap();
        commit_ok(&mut store, &change);
        scene.git(&["worktree", "remove", "--force", worktree.to_str().unwrap()]);
        let refused = store.commit(&change).unwrap_err().to_string();
        let expected = "it was merged or dropped, or they were moved; restart the server, which \
                        continues the branch or begins it again";
        assert!(refused.ends_with(expected), "{refused}");
        assert!(!worktree.exists());
    }
}
