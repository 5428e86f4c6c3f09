//! Finds, opens and creates the git repository of a palace.

use crate::repo::paths;
use palazzo_core::model::{Code, Diagnostic, NoteFolders, path_text, quote_for_shell};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use gix::sec::Trust;
use gix::sec::trust::{DefaultForLevel as _, Mapping};

use crate::repo::config;
use crate::repo::fsync;
use crate::repo::git_files::{self, LooseHead, RefFiles};
use crate::repo::note_folders::{
    LocatedNoteFolders, NotesOfRepository, is_outside_palace, path_in_repository,
};
use crate::repo::operation::BlockingGitOperation;
use crate::repo::palace_files::{self, FileStamp};
use crate::repo::regular_file;
use crate::repo::rename;
use crate::repo::repository_location;
use crate::repo::repository_location::RepositoryLocation;
use crate::repo::shared_mode::SharedMode;
use crate::repo::temporary_names::TEMPORARY_SUFFIX;
use crate::{ConsentStore, Error, ReadResult};

/// The size in bytes of the largest object that is read into memory.
pub(crate) const ALLOCATION_LIMIT: &str = "gitoxide.objects.allocLimit=268435456";

/// How many packs an open repository can have. Each fetch adds one until git's maintenance joins
/// them, and gix cannot make room for more than it was opened for.
pub(crate) const PACK_SLOTS: gix::odb::store::init::Slots =
    gix::odb::store::init::Slots::AsNeededByDiskState { multiplier: 2.0, minimum: 4096 };

/// An open repository, with the palace's location in it.
pub(crate) struct Repository {
    git: gix::ThreadSafeRepository,
    /// The palace folder, with symbolic links resolved.
    pub(crate) palace: PathBuf,
    /// The working directory.
    pub(crate) work: PathBuf,
    /// The git directory of this worktree, with `HEAD` and the index.
    pub(crate) git_dir: PathBuf,
    /// The directory shared by all worktrees, with objects, branches and Palazzo's lock.
    pub(crate) common_dir: PathBuf,
    /// The palace's path inside the working directory: empty, or ending in `/`.
    pub(crate) prefix: String,
    /// The folders of notes.
    note_folders: RwLock<Arc<LocatedNoteFolders>>,
    /// The notes that are synchronized with the palaces.
    synced_notes: RwLock<Arc<NotesOfRepository>>,
    /// The modes of new files.
    pub(crate) shared_mode: SharedMode,
    /// The warning that a file of the user's home is left out, because it cannot be read.
    pub(crate) unreadable_user_file_warning: Option<String>,
    /// The inode of `.git` in the working directory: a link in its place has another one.
    git_inode: Option<u64>,
    /// The last commit that `HEAD` pointed to.
    last_head: Mutex<LastHead>,
    /// The folders of objects that this process has written into: they need not be created first.
    pub(crate) object_folders: ObjectFolders,
    /// The files of `HEAD` and the branches.
    pub(crate) ref_files: RefFiles,
    /// Whether a process may have left lock files of git: one that died before the repository was
    /// opened, or this one, which could not remove them.
    pub(crate) may_have_dead_locks: Arc<AtomicBool>,
    /// The files that determine the repository's location, configuration and consent, with their
    /// stamps.
    source_stamps: Vec<(PathBuf, Option<FileStamp>)>,
}

/// Folders of loose objects, by the first byte of the ids in them.
#[derive(Default)]
pub(crate) struct ObjectFolders(Mutex<BTreeSet<u8>>);

impl ObjectFolders {
    /// Adds the folder of the object; returns true if it was not among them.
    pub(crate) fn add(&self, id: gix::ObjectId) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id.first_byte())
    }
}

/// The commit that `HEAD` pointed to when it was last read.
#[derive(Default)]
struct LastHead {
    /// `None`: there was none.
    commit: Option<gix::ObjectId>,
    /// The stamp of its object when it was read.
    stamp: Option<FileStamp>,
    /// Whether it was looked for among the objects in this call.
    is_found: bool,
}

impl Repository {
    /// Finds the repository whose worktree contains `palace`; `None`: there is none. A repository
    /// elsewhere needs the user's consent.
    pub(crate) fn find(
        palace: &Path,
        consents: &ConsentStore,
        isolated: bool,
    ) -> Result<Option<Self>, Error> {
        let real_palace = paths::resolve_links(palace)?;
        if real_palace.iter().any(|name| name.eq_ignore_ascii_case(".git")) {
            return Err(Error::InsideGitFolder { palace: palace.to_owned() });
        }
        let link = locate_checked_repository(&real_palace)?;
        if let Some(it) = &link {
            reject_repository_without_consent(it, consents)?;
            config::scan_config(&it.git_dir, &it.common_dir)?;
        }
        let Some(git) = discover_and_open(&real_palace, link.as_ref(), isolated)? else {
            return Ok(None);
        };
        let (git, unreadable) = match isolated {
            true => (git, None),
            false => config::leave_out_unreadable_files(&git).map_err(|err| Error::Git {
                operation: "read the user's configuration",
                place: real_palace.clone(),
                source: err.into(),
            })?,
        };
        let mut found = Self::from_git_repository(git, real_palace)?;
        found.unreadable_user_file_warning = unreadable;
        let links = link.map(|it| it.location_files()).unwrap_or_default();
        let sources = links.into_iter().chain(consents.file_path());
        found.source_stamps.extend(sources.map(|it| (it.clone(), FileStamp::from_path(&it))));
        Ok(Some(found))
    }

    /// Creates a repository at `home`, or at the palace if `home` has one already or does not
    /// contain the palace.
    pub(crate) fn create(palace: &Path, home: &Path, isolated: bool) -> Result<(), Error> {
        let taken = exists(&home.join(".git"));
        let root = if palace.starts_with(home) && !taken { home } else { palace };
        fs::create_dir_all(root).map_err(Error::for_file("create the folder", root))?;
        // It is removed again; anything left over is hidden and harmless.
        let built = tempfile::Builder::new()
            .prefix(".palazzo-")
            .suffix(TEMPORARY_SUFFIX)
            .tempdir_in(root)
            .map_err(Error::for_file("create a folder in", root))?;
        init_repository(built.path(), isolated).and_then(|()| {
            match rename::rename(&built.path().join(".git"), &root.join(".git")) {
                // Another process was faster, and its repository is equivalent.
                Err(_) if exists(&root.join(".git/HEAD")) => Ok(()),
                moved => moved.map_err(Error::for_file("create a repository at", root)),
            }
        })
    }

    /// Returns a handle with the current state of the repository. What is written through it stays in
    /// its memory: only `write::objects` writes objects to disk.
    pub(crate) fn git(&self) -> gix::Repository {
        self.git.to_thread_local().with_object_memory()
    }

    /// Returns the commit that `HEAD` points to; `None`: there is no commit yet.
    pub(crate) fn head(&self) -> Result<Option<gix::ObjectId>, Error> {
        self.find_head(&LooseHead::read(&self.git_dir, &self.common_dir, &self.ref_files)?)
    }

    /// Returns the commit that `HEAD` points to, of which `loose` has just been read.
    pub(crate) fn find_head(&self, loose: &LooseHead) -> Result<Option<gix::ObjectId>, Error> {
        let mut last = self.last_head.lock().unwrap_or_else(PoisonError::into_inner);
        let is_found = loose.commit.is_some_and(|it| {
            Some(it) == last.commit
                && (last.is_found || (last.stamp.is_some() && self.stamp_object(it) == last.stamp))
        });
        if !is_found {
            let head = find_commit_of_head(&self.git(), loose);
            last.commit = head.map_err(|err| self.git_error("read `HEAD`", err))?;
            last.stamp = last.commit.and_then(|it| self.stamp_object(it));
        }
        last.is_found = true;
        Ok(last.commit)
    }

    /// Records the commit that `HEAD` was just moved to, and the stamp of its object.
    pub(crate) fn remember_head(&self, commit: gix::ObjectId, stamp: Option<FileStamp>) {
        let mut last = self.last_head.lock().unwrap_or_else(PoisonError::into_inner);
        *last = LastHead { commit: Some(commit), stamp, is_found: true };
    }

    /// Returns the stamp of the object's file; `None`: it has none of its own.
    fn stamp_object(&self, id: gix::ObjectId) -> Option<FileStamp> {
        FileStamp::from_path(&fsync::loose_object_path(&self.common_dir, id))
    }

    /// Looks at the repository when a call begins: checks the files that every use opens, and reads
    /// `HEAD`. `None`: it is no longer the one of the palace at `palace`, a path that may lead through
    /// links.
    pub(crate) fn begin_call(&self, palace: &Path) -> Result<Option<LooseHead>, Error> {
        self.last_head.lock().unwrap_or_else(PoisonError::into_inner).is_found = false;
        let leads_elsewhere = || paths::resolve_links(palace).is_ok_and(|it| it != self.palace);
        let is_retargeted = palace != self.palace && leads_elsewhere();
        if is_retargeted || !self.is_in_place() {
            return Ok(None);
        }
        let (git_dir, common_dir) = (&self.git_dir, &self.common_dir);
        let (refs, unchanged) = (&self.ref_files, self.source_stamps.as_slice());
        git_files::check_files_of_open_repository(git_dir, common_dir, refs, unchanged)
    }

    /// Returns true if this is still the nearest repository, with the same configuration and
    /// consent.
    pub(crate) fn is_current(&self) -> bool {
        self.is_in_place() && exists(&self.git_dir.join("HEAD"))
    }

    /// Returns true as [`Repository::is_current`] does, also if `HEAD` is gone.
    fn is_in_place(&self) -> bool {
        let place = self.palace.as_path();
        let depth = self.prefix.matches('/').count();
        let nearer = place.ancestors().take(depth).any(|it| exists(&it.join(".git")));
        !nearer
            && inode_of(&self.work.join(".git")) == self.git_inode
            && self.source_stamps.iter().all(|(path, stamp)| FileStamp::from_path(path) == *stamp)
    }

    /// Wraps an error of git.
    pub(crate) fn git_error(
        &self,
        operation: &'static str,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Error {
        let source = source.into();
        if source.to_string().contains("could not be found")
            && config::is_partial_clone(&self.git())
        {
            let command = self.git_command("fetch --refetch --no-filter");
            return Error::PartialClone { operation, place: self.work.clone(), command };
        }
        Error::Git { operation, place: self.work.clone(), source }
    }

    /// Returns whether the history begins later than that of the repository it was cloned from.
    pub(crate) fn is_shallow(&self) -> bool {
        fs::metadata(self.common_dir.join("shallow")).is_ok_and(|it| it.len() > 0)
    }

    /// Returns whether jj keeps the repository: its `HEAD` is always detached.
    pub(crate) fn is_kept_by_jj(&self) -> bool {
        self.work.join(".jj").is_dir()
    }

    /// Sets the folders of notes.
    pub(crate) fn set_note_folders(&self, folders: &NoteFolders) {
        let located = Arc::new(LocatedNoteFolders::new(folders, &self.prefix));
        *self.note_folders.write().unwrap_or_else(PoisonError::into_inner) = located;
    }

    /// Returns the folders of notes.
    pub(crate) fn note_folders(&self) -> Arc<LocatedNoteFolders> {
        self.note_folders.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets the notes that are synchronized with the palaces.
    pub(crate) fn set_synced_notes(&self, notes: Arc<NotesOfRepository>) {
        *self.synced_notes.write().unwrap_or_else(PoisonError::into_inner) = notes;
    }

    /// Returns the notes that are synchronized with the palaces.
    pub(crate) fn synced_notes(&self) -> Arc<NotesOfRepository> {
        self.synced_notes.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the path in the repository of a file of the palace, or of a note outside it.
    pub(crate) fn path_in_repository(&self, path: &str) -> String {
        let outside = Some(path).filter(|it| is_outside_palace(it));
        let outside = outside.and_then(|it| path_in_repository(&self.prefix, it));
        outside.unwrap_or_else(|| format!("{}{path}", self.prefix))
    }

    /// Reads a file of the palace, or a note; `None`: it does not exist.
    pub(crate) fn read_file(&self, path: &str) -> ReadResult {
        let is_note = self.note_folders().folders.contains(path);
        let read = match is_outside_palace(path) {
            false => palace_files::read_file(&self.palace, path),
            true if is_note => palace_files::read_file(&self.work, &self.path_in_repository(path)),
            true => return Ok(None),
        };
        let code = |it: Code| if is_note { Code::NoteNotRead } else { it };
        read.map_err(|it| Diagnostic { file: path.to_owned(), code: code(it.code), ..it })
    }

    /// Returns a git command for this repository.
    pub(crate) fn git_command(&self, arguments: &str) -> String {
        format!("git -C {} {arguments}", quote_for_shell(&self.work.display().to_string()))
    }

    /// Returns the command that checks out the palace in a sparse checkout.
    pub(crate) fn sparse_checkout_command(&self) -> String {
        match self.prefix.trim_end_matches('/') {
            "" => self.git_command("sparse-checkout disable"),
            folder => self.git_command(&format!("sparse-checkout add {}", quote_for_shell(folder))),
        }
    }

    /// Fails if an operation of git is in progress that would drop the write.
    pub(crate) fn reject_operation_in_progress(&self) -> Result<(), Error> {
        self.reject_operation(BlockingGitOperation::in_progress(&self.git_dir))
    }

    /// Fails if `operation` is in progress.
    pub(crate) fn reject_operation(
        &self,
        operation: Option<BlockingGitOperation>,
    ) -> Result<(), Error> {
        match operation {
            Some(operation) => {
                Err(Error::OperationInProgress { operation, place: self.work.clone() })
            }
            None => Ok(()),
        }
    }

    /// Fails if git would not touch the repository either, because it may be other than it looks.
    pub(crate) fn reject_unknown_extensions(&self) -> Result<(), Error> {
        match config::find_unknown_extension(&self.git()) {
            Some(name) => {
                let command = self.git_command("config --get-regexp ^extensions");
                Err(Error::UnknownExtension { place: self.work.clone(), name, command })
            }
            None => Ok(()),
        }
    }

    fn from_git_repository(git: gix::ThreadSafeRepository, palace: PathBuf) -> Result<Self, Error> {
        let local = git.to_thread_local();
        let git_dir = local.git_dir().to_owned();
        let Some(work) = local.workdir() else {
            return Err(Error::BareRepository { place: git_dir });
        };
        let work = paths::resolve_links(work)?;
        let names = palace.strip_prefix(&work).ok().map(Path::iter);
        let name = |it: &std::ffi::OsStr| it.to_str().map(|it| format!("{it}/"));
        let Some(prefix) = names.and_then(|them| them.map(name).collect()) else {
            return Err(Error::NoRepository { palace });
        };
        let common_dir = local.common_dir().to_owned();
        let sources = stamp_config_files(&local);
        let git_inode = inode_of(&work.join(".git"));
        Ok(Self {
            git,
            palace,
            work,
            git_dir,
            common_dir,
            prefix,
            note_folders: RwLock::default(),
            synced_notes: RwLock::default(),
            shared_mode: SharedMode::of_repository(&local),
            unreadable_user_file_warning: None,
            git_inode,
            last_head: Mutex::default(),
            object_folders: ObjectFolders::default(),
            ref_files: RefFiles::default(),
            may_have_dead_locks: Arc::new(AtomicBool::new(true)),
            source_stamps: sources,
        })
    }
}

impl std::fmt::Debug for Repository {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Repository").field("work", &self.work).finish_non_exhaustive()
    }
}

/// Returns the commit that `HEAD` points to; `None`: there is no commit yet.
pub(crate) fn read_head(git: &gix::Repository) -> gix::Result<Option<gix::ObjectId>> {
    let loose = LooseHead::read(git.git_dir(), git.common_dir(), &RefFiles::default());
    find_commit_of_head(git, &loose.map_err(gix::Error::from_error)?)
}

/// Looks for the commit that `HEAD` points to among the objects. Few branches are in `packed-refs`.
fn find_commit_of_head(
    git: &gix::Repository,
    loose: &LooseHead,
) -> gix::Result<Option<gix::ObjectId>> {
    if let Some(commit) = loose.commit
        && git.find_header(commit)?.kind() == gix::objs::Kind::Commit
    {
        return Ok(Some(commit));
    }
    // `git pack-refs` writes `packed-refs` before it removes the file of the branch. `loose` found
    // none, so what gix now finds of the same branch is not older than that.
    let found = match &loose.branch {
        Some(branch) => git.try_find_reference(branch)?,
        None => Some(git.find_reference("HEAD")?),
    };
    found.map(|mut it| it.peel_to_id().map(gix::Id::detach)).transpose()
}

/// Finds the repository that contains `place`, a path without links, and checks its files; `None`:
/// there is none, or only a bare one.
pub(crate) fn locate_checked_repository(place: &Path) -> Result<Option<RepositoryLocation>, Error> {
    repository_location::locate_repository(nearest_existing_folder(place))
}

/// Fails if the repository is elsewhere and the user has not allowed it.
fn reject_repository_without_consent(
    link: &RepositoryLocation,
    consents: &ConsentStore,
) -> Result<(), Error> {
    let Some(consent) = link.needed_consent()? else { return Ok(()) };
    let why = match consents.is_allowed(&consent) {
        Ok(true) => return Ok(()),
        Ok(false) => String::new(),
        Err(err) => format!(" ({})", err.message_with_causes()),
    };
    let folders = [&link.git_dir, &link.common_dir];
    let mut elsewhere: Vec<_> = folders.map(path_text).into();
    elsewhere.dedup();
    Err(Error::RepositoryElsewhere { folder: link.work.clone(), elsewhere, why })
}

fn nearest_existing_folder(place: &Path) -> &Path {
    place.ancestors().find(|it| it.is_dir()).unwrap_or(place)
}

fn discover_and_open(
    place: &Path,
    link: Option<&RepositoryLocation>,
    isolated: bool,
) -> Result<Option<gix::ThreadSafeRepository>, Error> {
    let start = nearest_existing_folder(place);
    // gix would continue to search in parent folders, where nothing was checked.
    if link.is_some_and(|it| gix::discover::is_git(&it.work.join(".git")).is_err()) {
        reject_unreadable(start, None)?;
    }
    let (found, trust) = match gix::discover::upwards(start) {
        Ok((found, trust)) => {
            let (_, work) = found.clone().into_repository_and_work_tree_directories();
            reject_unreadable(start, work.as_deref())?;
            (found, trust)
        }
        Err(err) if err.is_not_found() => return reject_unreadable(start, None).map(|()| None),
        Err(err) => {
            let (operation, place) = ("look for a repository", start.to_owned());
            return Err(Error::Git { operation, place, source: err.into() });
        }
    };
    open_found(start, found, trust, link, isolated).map(Some)
}

/// Opens the repository that gix has found from `start`, if it belongs to the user.
fn open_found(
    start: &Path,
    found: gix::discover::repository::Path,
    trust: Trust,
    link: Option<&RepositoryLocation>,
    isolated: bool,
) -> Result<gix::ThreadSafeRepository, Error> {
    let trusts = Mapping {
        full: open_options(Trust::Full, isolated),
        reduced: open_options(Trust::Reduced, isolated),
    };
    let search = gix::discover::upwards::Options::default();
    let (git_dir, work) = found.into_repository_and_work_tree_directories();
    let common_dir = link.map(|it| it.common_dir.as_path());
    let places = [Some(git_dir.as_path()), work.as_deref(), common_dir];
    let is_own = places.into_iter().flatten().all(is_owned_by_user);
    let opened = match is_own {
        true => gix::ThreadSafeRepository::discover_opts(start, search, trusts),
        // Then `safe.directory` decides.
        false => {
            let place = work.as_deref().unwrap_or(&git_dir);
            gix::ThreadSafeRepository::open_opts(place, trusts.reduced)
        }
    };
    let opened = opened.and_then(|it| config::drop_program_settings(&it));
    opened.map(|it| without_namespace(&it)).map_err(|err| {
        let (place, source) = (work.unwrap_or(git_dir), err.into());
        match trust {
            Trust::Full if is_own => Error::Git { operation: "open the files", place, source },
            _ => Error::UntrustedOwner { place, source },
        }
    })
}

/// Fails if there is an unreadable repository from `start` up to below `found`. Skipping it would
/// create another repository inside it, or add its files to an outer one.
fn reject_unreadable(start: &Path, found: Option<&Path>) -> Result<(), Error> {
    let found = found.map(dunce::canonicalize).and_then(Result::ok);
    for place in start.ancestors().take_while(|it| found.as_deref() != Some(*it)) {
        let git = place.join(".git");
        let is_repository = match fs::metadata(&git) {
            Ok(it) if it.is_file() => true,
            // Without either it is only a folder of that name.
            Ok(_) => ["HEAD", "objects"].iter().any(|it| may_exist(&git.join(it))),
            Err(_) => false,
        };
        if is_repository {
            let head = if git.is_dir() { git.join("HEAD") } else { git.clone() };
            // It may have been replaced by a FIFO since the check.
            return Err(match regular_file::read_regular_file(&head)? {
                Some(_) => repository_location::unreadable_repository_error(place, &git),
                None => {
                    let source = io::ErrorKind::NotFound.into();
                    Error::File { operation: "read the repository at", path: git, source }
                }
            });
        }
    }
    Ok(())
}

/// Returns true if the path exists, or if that cannot be determined.
fn may_exist(place: &Path) -> bool {
    !fs::symlink_metadata(place).is_err_and(|err| err.kind() == io::ErrorKind::NotFound)
}

/// Returns the options for opening a repository; tests ignore the machine's configuration.
fn open_options(trust: Trust, isolated: bool) -> gix::open::Options {
    let mut permissions = match isolated {
        true => gix::open::Permissions::isolated(),
        false => gix::open::Permissions::default_for_level(trust),
    };
    permissions.env.objects = gix::sec::Permission::Deny;
    let options = gix::open::Options::default_for_level(trust).permissions(permissions);
    let options = options.config_overrides([ALLOCATION_LIMIT]).object_store_slots(PACK_SLOTS);
    options.bail_if_untrusted(true).filter_config_section(is_trusted_config_section)
}

/// Returns true if a configuration section may set the locations of a repository's parts. The
/// environment may not, because it may refer to another repository, for example when a git hook
/// started this process.
fn is_trusted_config_section(section: &gix::config::file::Metadata) -> bool {
    let is_environment = section.source == gix::config::Source::EnvOverride;
    !is_environment && gix::config::section::is_trusted(section)
}

/// Returns a handle that sees all references, whatever `GIT_NAMESPACE` is.
fn without_namespace(git: &gix::ThreadSafeRepository) -> gix::ThreadSafeRepository {
    let mut git = git.to_thread_local();
    git.clear_namespace();
    git.into_sync()
}

/// Creates a repository in the folder `place`; it is moved to its final place when complete.
fn init_repository(place: &Path, isolated: bool) -> Result<(), Error> {
    let made = gix::ThreadSafeRepository::init_opts(
        place,
        gix::create::Kind::WithWorktree,
        gix::create::Options::default(),
        open_options(Trust::Full, isolated),
    );
    let made = made.map_err(|err| Error::Git {
        operation: "create a repository",
        place: place.to_owned(),
        source: err.into(),
    })?;
    let shared_mode = SharedMode::of_repository(&made.to_thread_local());
    let tidied = remove_sample_hooks(&place.join(".git/hooks"))
        .and_then(|()| shared_mode.adjust_all(&place.join(".git")));
    tidied.map_err(Error::for_file("tidy", place))
}

fn remove_sample_hooks(hooks: &Path) -> io::Result<()> {
    for entry in fs::read_dir(hooks)? {
        fs::remove_file(entry?.path())?;
    }
    Ok(())
}

/// Lists the files from which the configuration was read, with their stamps.
fn stamp_config_files(git: &gix::Repository) -> Vec<(PathBuf, Option<FileStamp>)> {
    let snapshot = git.config_snapshot();
    let files = snapshot.plumbing().sections().filter_map(|it| it.meta().path.clone());
    let mut paths: Vec<_> = files.chain([git.common_dir().join("config")]).collect();
    paths.sort();
    paths.dedup();
    paths.into_iter().map(|path| (path.clone(), FileStamp::from_path(&path))).collect()
}

fn inode_of(place: &Path) -> Option<u64> {
    FileStamp::from_path(place).map(|it| it.inode())
}

fn exists(place: &Path) -> bool {
    fs::symlink_metadata(place).is_ok()
}

/// Returns false if the file or folder at `place` belongs to another user for git, although gix takes
/// it for the user's own.
///
/// gix takes `SUDO_UID` for the user in every process. git does so only in a process of root: anyone
/// else could set the variable to the id of another user.
#[cfg(unix)]
fn is_owned_by_user(place: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    // Without the variable gix decides as git does.
    let Ok(sudo_user) = std::env::var("SUDO_UID") else { return true };
    let user = rustix::process::geteuid().as_raw();
    let Ok(metadata) = std::fs::symlink_metadata(place) else { return true };
    is_own(metadata.uid(), user, sudo_user.parse().ok())
}

/// Returns true: Windows has no such variable.
#[cfg(windows)]
fn is_owned_by_user(_: &Path) -> bool {
    true
}

/// Returns whether a file of `owner` belongs to a process of `user`; `sudo_user` is the value of
/// `SUDO_UID`.
#[cfg(unix)]
fn is_own(owner: u32, user: u32, sudo_user: Option<u32>) -> bool {
    owner == user || (user == 0 && sudo_user == Some(owner))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CommitOutcome;
    use crate::test_repository::{TestHome, change_of_one_file, commit_ok, git_in};
    use palazzo_core::model::{Changeset, CommitId};

    const HALL: &str = "rooms/hall.yaml";

    /// Runs the test `name` again, in a process with the environment `variables`.
    fn run_test_with_env(name: &str, variables: &[(&str, &Path)]) {
        let mut run = std::process::Command::new(std::env::current_exe().unwrap());
        run.envs(variables.iter().copied()).env("PALAZZO_RUN", "1");
        let name = format!("store::repo::repository::tests::{name}");
        let output = run.args(["--exact", &name]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }

    #[test]
    #[cfg(unix)]
    fn a_link_to_another_home_leads_to_its_repository() {
        let (one, other) = (TestHome::with_repository(), TestHome::with_repository());
        let link = one.home.with_file_name("link");
        std::os::unix::fs::symlink(&one.home, &link).unwrap();
        let mut store = crate::Store::new(link.join("keep"), link.clone());
        store.repository.isolated = true;
        store.begin_call();
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink(&other.home, &link).unwrap();
        store.begin_call();
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("2\n")));
        assert_eq!(one.git(&["show", "HEAD:keep/rooms/hall.yaml"]), "1\n");
        assert_eq!(other.git(&["show", "HEAD:keep/rooms/hall.yaml"]), "2\n");
        assert_eq!((one.status(), other.status()), (String::new(), String::new()));
    }

    #[test]
    fn the_environment_does_not_lead_to_another_repository() {
        if std::env::var_os("PALAZZO_RUN").is_none() {
            let other = TestHome::with_repository();
            let git = other.home.join(".git");
            let before = (other.status(), fs::read(git.join("index")).unwrap(), other.log());
            let variables = [
                ("GIT_DIR", git.as_path()),
                ("GIT_COMMON_DIR", &git),
                ("GIT_WORK_TREE", &other.home),
                ("GIT_INDEX_FILE", &git.join("index")),
                ("GIT_OBJECT_DIRECTORY", &git.join("objects")),
                ("GIT_SHALLOW_FILE", &git.join("HEAD")),
                ("GIT_CEILING_DIRECTORIES", Path::new("/")),
                ("GIT_NAMESPACE", Path::new("elsewhere")),
                ("GIT_AUTHOR_NAME", Path::new("Eve")),
                ("GIT_AUTHOR_EMAIL", Path::new("eve@example.org")),
                ("GIT_COMMITTER_NAME", Path::new("Grace")),
                ("GIT_COMMITTER_EMAIL", Path::new("grace@example.org")),
                ("GIT_CONFIG_GLOBAL", Path::new("/dev/null")),
                ("GIT_CONFIG_NOSYSTEM", Path::new("1")),
            ];
            run_test_with_env("the_environment_does_not_lead_to_another_repository", &variables);
            let after = (other.status(), fs::read(git.join("index")).unwrap(), other.log());
            return assert_eq!(after, before);
        }
        for scene in [TestHome::with_repository(), TestHome::new()] {
            let mut store = scene.palace("keep");
            store.repository.isolated = false;
            scene.write_file("keep/rooms/hall.yaml", "by hand\n");
            commit_ok(&mut store, &change_of_one_file(HALL, Some("by hand\n"), Some("2\n")));
            assert_eq!(scene.status(), "");
            let log = scene.git(&["log", "-2", "--format=%an, %cn"]);
            assert_eq!(log, "Claude Desktop, Grace\nEve, Grace\n");
            let references = scene.git(&["for-each-ref", "--format=%(refname)"]);
            assert_eq!(references, "refs/heads/main\n");
            assert_eq!(store.recent_commits(1).unwrap().len(), 1);
            scene.assert_fsck_clean();
        }
    }

    #[test]
    #[cfg(unix)]
    fn an_unreadable_repository_is_not_skipped() {
        let outer = TestHome::with_repository();
        let inner = outer.home.join("inner");
        git_in(&outer.home, &["init", "-q", "inner"]);
        let mut store = crate::Store::new(inner.join("keep"), inner.clone());
        store.repository.isolated = true;
        let head = inner.join(".git/HEAD");
        fs::remove_file(&head).unwrap();
        // Permissions do not stop a privileged user, but a link to itself does.
        std::os::unix::fs::symlink("HEAD", &head).unwrap();
        let git = inner.join(".git");
        let is_link = format!(
            "`{}` is a symbolic link, and Palazzo opens only regular files of at most 16 MiB; put a \
             regular file there, or remove it",
            head.display()
        );
        let is_damaged = format!("cannot read the repository at `{}`", git.display());
        let mut try_again = |refused: &str| {
            let err = store.commit(&change_of_one_file(HALL, None, Some("1\n"))).unwrap_err();
            assert_eq!(err.to_string(), refused);
            assert!(store.head().is_err());
            assert!(!inner.join("keep").exists());
        };
        try_again(&is_link);
        fs::remove_file(&head).unwrap();
        try_again(&is_damaged);
        fs::write(&head, "ref: refs/heads/main\n").unwrap();
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        assert_eq!(git_in(&inner, &["status", "--porcelain"]), "");
        assert_eq!(outer.log(), "Ada: begin\n");
    }

    #[test]
    fn a_git_folder_without_a_repository_is_ignored() {
        let scene = TestHome::with_repository();
        fs::create_dir_all(scene.home.join("sub/.git/palazzo")).unwrap();
        commit_ok(&mut scene.palace("sub/keep"), &change_of_one_file(HALL, None, Some("1\n")));
        assert_eq!(scene.log().lines().count(), 2);
    }

    #[test]
    fn without_a_repository_there_is_no_head_and_no_history() {
        let scene = TestHome::new();
        let store = scene.palace("keep");
        assert_eq!(store.head().unwrap(), None);
        assert_eq!(store.recent_commits(5).unwrap(), []);
        assert_eq!(store.changed_paths_between(None, None).unwrap(), Vec::<String>::new());
        scene.init_repository();
        assert_eq!(store.head().unwrap(), None);
    }

    #[test]
    fn head_follows_commits_of_others_and_packed_refs() {
        let scene = TestHome::with_repository();
        let store = scene.palace("keep");
        let head = || CommitId(scene.git(&["rev-parse", "HEAD"]).trim().to_owned());
        assert_eq!(store.head().unwrap(), Some(head()));
        for round in 0..3 {
            scene.git(&["commit", "-q", "--allow-empty", "-m", "by hand"]);
            assert_eq!(store.head().unwrap(), Some(head()));
            scene.git(if round == 1 {
                &["gc", "-q", "--prune=now"]
            } else {
                &["pack-refs", "--all"]
            });
            assert_eq!(store.head().unwrap(), Some(head()));
            let mut other = scene.palace("other");
            let now = format!("{round}\n");
            let was = (round > 0).then(|| format!("{}\n", round - 1));
            let made = commit_ok(&mut other, &change_of_one_file(HALL, was.as_deref(), Some(&now)));
            assert_eq!(store.head().unwrap(), made);
        }
        scene.git(&["checkout", "-qb", "side", "HEAD~2"]);
        assert_eq!(store.head().unwrap(), Some(head()));
    }

    #[test]
    fn a_store_keeps_writing_after_git_gc() {
        let scene = TestHome::new();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        scene.git(&["gc", "-q", "--prune=now"]);
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
        scene.git(&["pack-refs", "--all"]);
        commit_ok(&mut store, &change_of_one_file(HALL, Some("2\n"), Some("3\n")));
        assert_eq!(scene.log().lines().count(), 3);
        assert_eq!(scene.status(), "");
        scene.assert_fsck_clean();
    }

    #[test]
    fn a_created_removed_or_nested_repository_is_noticed() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        let keep = scene.home.join("keep");
        git_in(&keep, &["init", "-q"]);
        assert_eq!(store.head().unwrap(), None);
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
        assert!(git_in(&keep, &["log", "--format=%s"]).starts_with("room hall: build\n"));
        fs::remove_dir_all(keep.join(".git")).unwrap();
        assert!(store.head().unwrap().is_some());
        fs::remove_dir_all(scene.home.join(".git")).unwrap();
        assert_eq!(store.head().unwrap(), None);
        let lost = change_of_one_file(HALL, Some("2\n"), Some("3\n"));
        assert!(matches!(store.commit(&lost), Err(Error::HistoryLost { .. })));
        // A process that has not read the palace detects it by Palazzo's folder.
        scene.write_file("keep/.palazzo/schema/room.json", "{}");
        scene.write_file("keep/palace.toml", "");
        for name in ["keep", "other"] {
            let refused =
                scene.palace(name).commit(&change_of_one_file("rooms/new.yaml", None, Some("1\n")));
            assert!(matches!(refused, Err(Error::HistoryLost { .. })), "{name}");
        }
        let unchanged = change_of_one_file(HALL, Some("2\n"), Some("2\n"));
        assert!(!store.has_repository().unwrap());
        assert!(matches!(store.start_new_history(&unchanged), Ok(CommitOutcome::Done(_))));
        assert!(store.has_repository().unwrap());
        commit_ok(&mut store, &lost);
        assert_eq!(
            scene.status(),
            "?? keep/.palazzo/schema/room.json\n?? keep/palace.toml\n?? notes.md\n"
        );
        assert_eq!(scene.log().lines().count(), 2);
    }

    #[test]
    fn a_write_to_a_moved_palace_is_refused() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        store.list_files_with_temporaries().unwrap();
        fs::rename(scene.home.join("keep"), scene.home.join("moved")).unwrap();
        for commit in [true, false] {
            let new =
                Changeset { commit, ..change_of_one_file("rooms/new.yaml", None, Some("1\n")) };
            assert!(matches!(store.commit(&new), Err(Error::PalaceMoved { .. })));
            assert!(!scene.home.join("keep").exists());
        }
    }

    #[test]
    fn a_changed_git_identity_is_noticed() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        scene.git(&["config", "user.name", "Grace"]);
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
        assert_eq!(scene.git(&["log", "-2", "--format=%cn"]), "Grace\nAda\n");
    }

    #[test]
    fn bare_repositories_and_git_folders_are_refused() {
        let scene = TestHome::new();
        fs::create_dir_all(&scene.home).unwrap();
        scene.git(&["init", "-q", "--bare"]);
        let refused =
            scene.palace("keep").commit(&change_of_one_file(HALL, None, Some("x\n"))).unwrap_err();
        assert!(matches!(refused, Error::BareRepository { .. }), "{refused}");
        let scene = TestHome::with_repository();
        let refused = scene
            .palace(".git/keep")
            .commit(&change_of_one_file(HALL, None, Some("x\n")))
            .unwrap_err();
        assert!(matches!(refused, Error::InsideGitFolder { .. }), "{refused}");
    }

    #[test]
    fn a_repository_that_ignores_the_palace_is_not_used() {
        let scene = TestHome::with_repository();
        scene.write_file(".gitignore", "homes/\n");
        scene.git(&["add", ".gitignore"]);
        scene.git(&["commit", "-qm", "ignore"]);
        let home = scene.home.join("homes");
        let mut store = crate::Store::new(home.join("keep"), home.clone());
        store.repository.isolated = true;
        assert_eq!(store.head().unwrap(), None);
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("x\n")));
        assert_eq!(git_in(&home, &["status", "--porcelain"]), "");
        assert_eq!(git_in(&home, &["log", "--format=%s"]), "room hall: build\n");
        assert_eq!(scene.log(), "Ada: ignore\nAda: begin\n");
        assert_eq!(scene.status(), "");
    }

    #[test]
    fn a_palace_ignored_by_its_home_gets_its_own_repository() {
        let scene = TestHome::with_repository();
        scene.write_file(".gitignore", "/keep\n");
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("x\n")));
        assert_eq!(git_in(&scene.home.join("keep"), &["status", "--porcelain"]), "");
        assert_eq!(scene.log(), "Ada: begin\n");
    }

    #[test]
    fn a_palace_tracked_despite_an_ignore_rule_is_used() {
        let scene = TestHome::with_repository();
        scene.write_file("keep/palace.toml", "");
        scene.git(&["add", "keep"]);
        scene.git(&["commit", "-qm", "keep"]);
        scene.write_file(".gitignore", "/keep\n");
        commit_ok(&mut scene.palace("keep"), &change_of_one_file(HALL, None, Some("x\n")));
        assert_eq!(scene.log().lines().count(), 3);
    }

    #[test]
    fn a_repository_elsewhere_is_used_only_with_consent() {
        let scene = TestHome::new();
        fs::create_dir_all(&scene.home).unwrap();
        scene.git(&["init", "-q", "--separate-git-dir", "../elsewhere"]);
        let state = scene.home.with_file_name("state");
        let consents = ConsentStore::new(Some(state.clone()));
        let mut store = scene.palace("sub/keep").with_consents(consents.clone());
        let refused =
            store.commit(&change_of_one_file(HALL, None, Some("x\n"))).unwrap_err().to_string();
        let home = scene.home.display();
        let elsewhere = scene.home.with_file_name("elsewhere");
        assert_eq!(
            refused,
            format!(
                "the repository of `{home}` is elsewhere, in `{}`, and is not used without your \
                 consent: run `palazzo trust {home}` in a terminal",
                elsewhere.display()
            )
        );
        assert_eq!(store.head().unwrap(), None);
        assert!(!scene.home.join("sub").exists());
        let wanted = locate_checked_repository(&scene.home)
            .unwrap()
            .unwrap()
            .needed_consent()
            .unwrap()
            .unwrap();
        consents.add(&wanted).unwrap();
        let made = commit_ok(&mut store, &change_of_one_file(HALL, None, Some("x\n")));
        assert_eq!(scene.git(&["rev-parse", "HEAD"]).trim(), made.unwrap().0);
        assert_eq!(scene.status(), "");
        scene.assert_fsck_clean();
        consents.remove_at_or_below(&scene.home).unwrap();
        assert!(store.commit(&change_of_one_file(HALL, Some("x\n"), Some("y\n"))).is_err());
        consents.add(&wanted).unwrap();
        git_in(&scene.home, &["init", "-q", "--separate-git-dir", "../third"]);
        assert!(store.commit(&change_of_one_file(HALL, Some("x\n"), Some("y\n"))).is_err());
    }

    #[test]
    fn linked_worktrees_and_submodules_need_no_consent() {
        let scene = TestHome::with_repository();
        scene.git(&["worktree", "add", "-q", "../tree"]);
        let module = scene.home.display().to_string();
        let file = "protocol.file.allow=always";
        scene.git(&["-c", file, "submodule", "--quiet", "add", &module, "module"]);
        for place in [scene.home.with_file_name("tree"), scene.home.join("module")] {
            let mut store = scene.store(&place.join("keep"));
            let made = commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
            assert_eq!(git_in(&place, &["rev-parse", "HEAD"]).trim(), made.unwrap().0);
        }
    }

    #[test]
    fn a_git_file_that_points_to_a_foreign_repository_needs_consent() {
        let scene = TestHome::with_repository();
        scene.git(&["worktree", "add", "-q", "../tree"]);
        let module = scene.home.display().to_string();
        let file = "protocol.file.allow=always";
        scene.git(&["-c", file, "submodule", "--quiet", "add", &module, "module"]);
        let evil = scene.home.with_file_name("evil");
        for git in [".git", ".git/worktrees/tree", ".git/modules/module"] {
            drop(fs::remove_dir_all(&evil));
            fs::create_dir(&evil).unwrap();
            let target = scene.home.join(git);
            fs::write(evil.join(".git"), format!("gitdir: {}\n", target.display())).unwrap();
            let refused = scene
                .store(&evil)
                .commit(&change_of_one_file(HALL, None, Some("1\n")))
                .unwrap_err();
            assert!(matches!(refused, Error::RepositoryElsewhere { .. }), "{refused}");
        }
        fs::remove_dir_all(&evil).unwrap();
        git_in(&scene.home, &["init", "-q", "../evil"]);
        let target = scene.home.join(".git");
        fs::write(evil.join(".git/commondir"), format!("{}\n", target.display())).unwrap();
        let refused =
            scene.store(&evil).commit(&change_of_one_file(HALL, None, Some("1\n"))).unwrap_err();
        assert!(matches!(refused, Error::RepositoryElsewhere { .. }), "{refused}");
        #[cfg(unix)]
        {
            fs::remove_dir_all(evil.join(".git")).unwrap();
            std::os::unix::fs::symlink(target, evil.join(".git")).unwrap();
            let refused = scene
                .store(&evil)
                .commit(&change_of_one_file(HALL, None, Some("1\n")))
                .unwrap_err();
            assert!(matches!(refused, Error::RepositoryElsewhere { .. }), "{refused}");
        }
        assert_eq!(scene.log(), "Ada: begin\n");
    }

    #[test]
    fn programs_named_by_the_repository_are_dropped_from_its_config() {
        let scene = TestHome::with_repository();
        scene.write_file(
            ".git/more",
            "[gpg]\n\tprogram = evil\n[Gpg \"ssh\"]\n\tdefaultKeyCommand = evil\n\
             [user]\n\tsigningKey = evil\n\temail = more@example.org\n",
        );
        let config = scene.read_file(".git/config");
        let added = "[commit]\n\tGPGSIGN\n\tgpgsign = true\n[core]\n\thookspath = evil\n\
                     [filter \"x\"]\n\tclean = evil\n[include]\n\tpath = more\n";
        scene.write_file(".git/config", &(config + added));
        let mut store = scene.palace("keep");
        // Includes are only followed when the machine's configuration is used.
        store.repository.isolated = false;
        let repository = store.repository().unwrap().unwrap();
        let git = repository.git();
        let config = git.config_snapshot();
        assert_eq!(config.string("user.email").unwrap(), "more@example.org");
        assert!(!config.plumbing().to_string().contains("evil"));
        assert_eq!(config.boolean("commit.gpgSign"), None);
    }

    #[test]
    #[cfg(unix)]
    fn a_home_may_be_a_symbolic_link() {
        let scene = TestHome::with_repository();
        let link = scene.home.with_file_name("link");
        std::os::unix::fs::symlink(&scene.home, &link).unwrap();
        let mut store = scene.store(&link.join("keep"));
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
        assert_eq!(scene.git(&["show", "HEAD:keep/rooms/hall.yaml"]), "2\n");
        assert_eq!(scene.status(), "");
    }

    #[test]
    fn a_palace_may_be_the_repository_root() {
        let scene = TestHome::with_repository();
        let mut store = scene.store(&scene.home);
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        assert_eq!(scene.git(&["show", "HEAD:rooms/hall.yaml"]), "1\n");
        let mut cache = crate::FileHistoryCache::default();
        store.update_file_history_cache(&mut cache).unwrap();
        assert_eq!(cache.history[HALL].count, 1);
        assert_eq!(scene.status(), "");
    }

    #[cfg(unix)]
    #[test]
    fn gitattributes_are_checked_in_folders_of_any_name() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("ke`ep\u{200b}");
        scene.write_file("ke`ep\u{200b}/notes.md", "1\n");
        std::os::unix::fs::symlink("/dev/zero", scene.home.join("ke`ep\u{200b}/.gitattributes"))
            .unwrap();
        let refused =
            store.commit(&change_of_one_file("palace.md", None, Some("1\n"))).unwrap_err();
        assert!(refused.to_string().contains("opens only regular files"), "{refused}");
    }
}

#[cfg(all(test, unix))]
mod unix_tests {
    use super::*;

    #[test]
    fn the_user_of_sudo_counts_only_in_a_process_of_root() {
        assert!(is_own(1000, 1000, None));
        assert!(is_own(1000, 0, Some(1000)));
        assert!(is_own(0, 0, Some(1000)));
        assert!(!is_own(1000, 1001, Some(1000)));
        assert!(!is_own(0, 1001, Some(0)));
        assert!(!is_own(1000, 0, None));
        assert!(!is_own(1000, 0, Some(1001)));
    }
}
