//! Finds, opens and checks the repository of one palace, once in a call.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use palazzo_core::model::NoteFolders;

use crate::repo::git_files::LooseHead;
use crate::repo::note_folders::NotesOfRepository;
use crate::repo::repository::Repository;
use crate::repo::{git_files, home, index_file, palace_files, regular_file};
use crate::{ConsentStore, Error, ReadResult};

/// The open repository is checked before each use.
const CHECK_ALWAYS: u8 = 0;
/// It is checked before the next use, and then trusted until the next call begins.
const CHECK_ONCE: u8 = 1;
/// It was checked in this call, and so were the folders of the palace.
const CHECKED: u8 = 2;

/// A palace's folder, and the repository that contains it.
#[derive(Debug)]
pub(crate) struct PalaceRepository {
    /// The folder of the palace.
    pub(crate) palace: PathBuf,
    /// The folder with the palaces, where a repository is created if there is none.
    pub(crate) home: PathBuf,
    /// The user's consents.
    pub(crate) consents: ConsentStore,
    /// The folders of notes.
    note_folders: Mutex<NoteFolders>,
    /// The notes that are synchronized, if this is the whole repository.
    pub(crate) synced_notes: Arc<NotesOfRepository>,
    /// Whether the configuration of the user and the system is ignored.
    pub(crate) isolated: bool,
    open: Mutex<Option<Arc<Repository>>>,
    /// How often the open repository is checked.
    checks: AtomicU8,
    /// Whether the palace folder existed when it was last listed.
    palace_existed: AtomicBool,
    /// Whether the palace ever had a repository while this value existed.
    had_repository: AtomicBool,
}

/// A palace's repository, and what `HEAD` says if that has just been read.
type RepositoryLook = (Option<Arc<Repository>>, Option<LooseHead>);

impl PalaceRepository {
    /// Creates the value for the palace at `palace`; nothing is opened yet.
    pub(crate) fn new(palace: PathBuf, home: PathBuf) -> Self {
        Self {
            palace,
            home,
            consents: ConsentStore::default(),
            note_folders: Mutex::default(),
            synced_notes: Arc::default(),
            isolated: false,
            open: Mutex::new(None),
            checks: AtomicU8::new(CHECK_ALWAYS),
            palace_existed: AtomicBool::new(false),
            had_repository: AtomicBool::new(false),
        }
    }

    /// Creates a value for the same palace, which opens the repository by itself.
    pub(crate) fn clone_unopened(&self) -> Self {
        let (consents, isolated) = (self.consents.clone(), self.isolated);
        let note_folders = Mutex::new(self.note_folders());
        let synced_notes = self.synced_notes.clone();
        let new = Self::new(self.palace.clone(), self.home.clone());
        Self { consents, note_folders, synced_notes, isolated, ..new }
    }

    /// Creates a value for the same palace, which shares the open repository.
    pub(crate) fn clone_opened(&self) -> Self {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Self { open: Mutex::new(open), ..self.clone_unopened() }
    }

    /// Returns the folders of notes.
    pub(crate) fn note_folders(&self) -> NoteFolders {
        self.note_folders.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets the folders of notes. They are read in the repository of the palace only.
    pub(crate) fn set_note_folders(&self, folders: &NoteFolders) {
        *self.note_folders.lock().unwrap_or_else(PoisonError::into_inner) = folders.clone();
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(repository) = open.as_ref() {
            repository.set_note_folders(folders);
        }
    }

    /// Reads a file of the palace, or a note; `None`: it does not exist.
    pub(crate) fn read_file(&self, path: &str) -> ReadResult {
        let folders = self.note_folders();
        if !folders.contains(path) {
            return palace_files::read_file(&self.palace, path);
        }
        // Many notes are read one after the other: the repository need not be checked for each.
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match open.map_or_else(|| self.find(), |it| Ok(Some(it))) {
            Ok(Some(repository)) => repository.read_file(path),
            Ok(None) => Ok(None),
            Err(err) => Err(err.to_diagnostic(path)),
        }
    }

    /// Returns the repository that contains the palace; `None`: there is none, or the user has not
    /// allowed its use, so there is no history.
    pub(crate) fn find(&self) -> Result<Option<Arc<Repository>>, Error> {
        self.find_and_look().map(|(repository, _)| repository)
    }

    /// Returns the repository as [`PalaceRepository::find`] does, and what `HEAD` says if this was
    /// the first look at the repository in this call.
    pub(crate) fn find_and_look(&self) -> Result<RepositoryLook, Error> {
        match self.open_and_look() {
            Err(Error::RepositoryElsewhere { .. }) => Ok((None, None)),
            found => found,
        }
    }

    /// Returns the repository, or an error if there is none.
    pub(crate) fn require(&self) -> Result<Arc<Repository>, Error> {
        self.find()?.ok_or_else(|| Error::NoRepository { palace: self.palace.clone() })
    }

    /// Returns the repository as [`PalaceRepository::find`] does, but fails if the user has not
    /// allowed its use.
    pub(crate) fn find_or_reject_forbidden(&self) -> Result<Option<Arc<Repository>>, Error> {
        self.open_and_look().map(|(repository, _)| repository)
    }

    /// Fails if the repository may not be used, or has files that may not be opened. The others that
    /// a change opens are checked under the lock.
    pub(crate) fn reject_forbidden(&self) -> Result<(), Error> {
        match self.open_and_look() {
            Err(err @ (Error::RepositoryElsewhere { .. } | Error::NotRegularFile { .. })) => {
                Err(err)
            }
            // A repository that cannot be opened is not needed if nothing is committed.
            _ => Ok(()),
        }
    }

    /// Returns the repository that contains the palace; creates one if there is none.
    pub(crate) fn find_or_create(&self) -> Result<Arc<Repository>, Error> {
        let had_repository = self.had_repository.load(Ordering::Relaxed);
        if let Some(found) = self.find_or_reject_forbidden()? {
            return Ok(found);
        }
        self.reject_moved_palace()?;
        if had_repository || home::had_history(&self.palace, &self.home)? {
            return Err(self.history_lost_error());
        }
        self.create()?;
        self.require()
    }

    /// Creates a repository, unless another process has just created it.
    pub(crate) fn create(&self) -> Result<(), Error> {
        // A repository at the home either ignores the palace, or was created meanwhile.
        let is_taken = self.home.join(".git").symlink_metadata().is_ok();
        if is_taken && self.discover()?.is_some() {
            return Ok(());
        }
        Repository::create(&self.palace, &self.home, self.isolated)
    }

    fn discover(&self) -> Result<Option<Repository>, Error> {
        find_repository(&self.palace, &self.consents, self.isolated)
    }

    /// Begins a call: its first use of the repository checks whether the repository is still the
    /// same, and whether its files can be opened; later uses do not. Without calls, each use checks.
    pub(crate) fn begin_call(&self) {
        self.checks.store(CHECK_ONCE, Ordering::Relaxed);
    }

    /// Lets the next use in this call check the repository again.
    pub(crate) fn recheck_on_next_use(&self) {
        if self.is_checked() {
            self.begin_call();
        }
    }

    fn is_checked(&self) -> bool {
        self.checks.load(Ordering::Relaxed) == CHECKED
    }

    /// Opens the repository if the open one is out of date.
    fn open_and_look(&self) -> Result<RepositoryLook, Error> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.is_some() && self.is_checked() {
            return Ok((open.clone(), None));
        }
        self.reject_symlinked_palace()?;
        let head = open.as_ref().map(|it| it.begin_call(&self.palace)).transpose()?.flatten();
        if head.is_none() {
            *open = self.discover()?.map(Arc::new);
            if let Some(repository) = open.as_ref() {
                repository.set_note_folders(&self.note_folders());
                repository.set_synced_notes(self.synced_notes.clone());
            }
        }
        self.had_repository.fetch_or(open.is_some(), Ordering::Relaxed);
        if self.checks.load(Ordering::Relaxed) == CHECK_ONCE {
            self.checks.store(CHECKED, Ordering::Relaxed);
        }
        Ok((open.clone(), head))
    }

    /// Fails if the palace, or a folder between it and the home, has become a symbolic link. The
    /// home itself may be one. Looks once in a call.
    pub(crate) fn reject_symlinked_palace(&self) -> Result<(), Error> {
        if self.is_checked() { Ok(()) } else { self.look_for_symlinked_palace().map(drop) }
    }

    /// Returns the metadata of the palace's folder, if it is there and below the home.
    fn look_for_symlinked_palace(&self) -> Result<Option<Metadata>, Error> {
        let Ok(inside) = self.palace.strip_prefix(&self.home) else { return Ok(None) };
        let (mut place, mut found) = (self.home.clone(), None);
        for name in inside {
            place.push(name);
            found = fs::symlink_metadata(&place).ok();
            if found.as_ref().is_some_and(Metadata::is_symlink) {
                return Err(Error::SymbolicLink { place });
            }
        }
        Ok(found)
    }

    /// Notes whether the palace folder exists, before it is listed.
    pub(crate) fn note_palace_existence(&self) {
        self.palace_existed.fetch_or(self.palace.is_dir(), Ordering::Relaxed);
    }

    /// Fails if the palace has become a symbolic link, or was moved or removed since it was last
    /// listed, because a write would create another palace at the old path.
    pub(crate) fn reject_moved_palace(&self) -> Result<(), Error> {
        let found = self.look_for_symlinked_palace()?;
        let is_folder = || found.map_or_else(|| self.palace.is_dir(), |it| it.is_dir());
        if self.palace_existed.load(Ordering::Relaxed) && !is_folder() {
            return Err(Error::PalaceMoved { palace: self.palace.clone() });
        }
        Ok(())
    }

    /// Creates the error for a lost history; for a palace inside the home, the whole home needs a
    /// new repository.
    pub(crate) fn history_lost_error(&self) -> Error {
        let is_inside = self.palace.starts_with(&self.home) && self.home.is_dir();
        let place: &Path = if is_inside { &self.home } else { &self.palace };
        Error::HistoryLost { place: place.to_owned() }
    }
}

/// Finds the repository that contains `palace`; `None`: there is none, or it ignores the palace.
fn find_repository(
    palace: &Path,
    consents: &ConsentStore,
    isolated: bool,
) -> Result<Option<Repository>, Error> {
    let Some(found) = Repository::find(palace, consents, isolated)? else { return Ok(None) };
    Ok(if ignores_palace(&found)? { None } else { Some(found) })
}

/// Returns true if `.gitignore` excludes the palace and none of its files are in the index.
fn ignores_palace(repository: &Repository) -> Result<bool, Error> {
    if repository.prefix.is_empty() {
        return Ok(false);
    }
    let git = repository.git();
    git_files::check_gitignores(&repository.work, &repository.prefix)?;
    if let Ok(Some(file)) = git.config_snapshot().trusted_path("core.excludesFile") {
        regular_file::check_link_target(&file)?;
    }
    let ignored = || -> gix::Result<bool> {
        let index = index_file::load_or_rebuild_index(&git)?;
        let source = gix::worktree::stack::state::ignore::Source::WorktreeThenIdMappingIfNotSkipped;
        let mut excludes = git.excludes(&index, None, source)?;
        let folder = repository.prefix.trim_end_matches('/');
        let is_ignored =
            excludes.at_path(folder, Some(gix::index::entry::Mode::DIR))?.is_excluded();
        Ok(is_ignored && index.prefixed_entries(repository.prefix.as_str().into()).is_none())
    };
    ignored().map_err(|err| repository.git_error("read what is ignored", err))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_repository::{TestHome, change_of_one_file, commit_ok, git_in};

    const HALL: &str = "rooms/hall.yaml";

    /// Returns the folder of the repository of `palace`, and the palace's path in it; both begin at
    /// the folder above the home.
    fn repository_of(scene: &TestHome, palace: &str) -> Option<[String; 2]> {
        let palace = scene.home.join(palace);
        let found = find_repository(&palace, &ConsentStore::default(), true).unwrap()?;
        let work = found.work.strip_prefix(scene.home.parent().unwrap()).unwrap();
        Some([work.display().to_string(), found.prefix.clone()])
    }

    fn place(work: &str, prefix: &str) -> [String; 2] {
        [work, prefix].map(str::to_owned)
    }

    #[test]
    fn a_palace_belongs_to_the_nearest_repository() {
        let scene = TestHome::with_repository();
        assert_eq!(repository_of(&scene, ""), Some(place("home", "")));
        assert_eq!(repository_of(&scene, "docs/keep"), Some(place("home", "docs/keep/")));
        git_in(&scene.home, &["init", "-q", "project"]);
        assert_eq!(repository_of(&scene, "project/keep"), Some(place("home/project", "keep/")));
        git_in(&scene.home, &["init", "-q", "project/keep"]);
        assert_eq!(repository_of(&scene, "project/keep"), Some(place("home/project/keep", "")));
        assert_eq!(repository_of(&TestHome::new(), "keep"), None);
    }

    #[test]
    fn a_linked_worktree_and_a_submodule_are_repositories_of_their_own() {
        let scene = TestHome::with_repository();
        scene.git(&["worktree", "add", "-q", "../tree"]);
        let url = scene.home.display().to_string();
        let file = "protocol.file.allow=always";
        scene.git(&["-c", file, "submodule", "--quiet", "add", &url, "module"]);
        assert_eq!(repository_of(&scene, "../tree/keep"), Some(place("tree", "keep/")));
        assert_eq!(repository_of(&scene, "module/keep"), Some(place("home/module", "keep/")));
        scene.git(&["commit", "-qm", "module"]);
        commit_ok(&mut scene.palace("module/keep"), &change_of_one_file(HALL, None, Some("x\n")));
        // The repository around the submodule sees a new commit, which its owner adds.
        assert_eq!(scene.status(), " M module\n");
        assert_eq!(scene.log(), "Ada: module\nAda: begin\n");
    }

    #[test]
    fn a_repository_inside_a_palace_is_not_used() {
        let scene = TestHome::with_repository();
        git_in(&scene.home, &["init", "-q", "keep/rooms/wing"]);
        assert_eq!(repository_of(&scene, "keep"), Some(place("home", "keep/")));
        let change = change_of_one_file("rooms/wing/hall.yaml", None, Some("x\n"));
        commit_ok(&mut scene.palace("keep"), &change);
        assert_eq!(scene.git(&["show", "HEAD:keep/rooms/wing/hall.yaml"]), "x\n");
        assert_eq!(scene.status(), "");
        scene.assert_fsck_clean();
    }

    #[test]
    fn a_repository_that_ignores_the_home_is_not_used() {
        let scene = TestHome::with_repository();
        scene.write_file(".gitignore", "/homes\n");
        assert_eq!(repository_of(&scene, "homes/keep"), None);
        // What is in the index is not ignored.
        scene.write_file("homes/keep/palace.toml", "");
        scene.git(&["add", "-f", "homes/keep"]);
        assert_eq!(repository_of(&scene, "homes/keep"), Some(place("home", "homes/keep/")));
        assert_eq!(repository_of(&scene, "homes/other"), None);
    }
}
