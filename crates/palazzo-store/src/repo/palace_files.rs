//! Decides which files belong to a palace. Lists and reads them, and reports those that cannot be used.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::time::{Duration, SystemTime};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use walkdir::{DirEntry, WalkDir};

use palazzo_core::model::{
    Code, Diagnostic, MAX_FILE_BYTES, PALACE_FOLDERS, Position, Slug, is_markdown_file,
    max_file_bytes, quoted,
};

use crate::Error;
use crate::repo::paths;
use crate::repo::regular_file::is_missing_file_error;
use crate::repo::temporary_names;

/// The file that makes a folder a palace: the one palace file outside the palace folders.
pub(crate) const SETTINGS_FILE: &str = "palace.toml";
/// The folder with the conflicts of a palace.
pub(crate) const CONFLICTS_FOLDER: &str = "conflicts";
/// The folder with the files that Palazzo makes for editors.
pub(crate) const GENERATED_FOLDER: &str = ".palazzo";
/// Files of git that may be in the folder of a palace.
const GIT_FILES: [&str; 2] = [".gitattributes", ".gitignore"];

/// A file's metadata, which changes when the file changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileStamp {
    modified: Option<SystemTime>,
    size: u64,
    inode: u64,
    changed: (i64, i64),
}

/// The stamps of a palace's files, by path.
pub type FileStamps = BTreeMap<String, FileStamp>;

/// The content of a file; `None`: it does not exist.
pub type ReadResult = Result<Option<String>, Diagnostic>;

/// The time within which two writes may get the same timestamps: file system clocks tick every few
/// milliseconds.
const CLOCK_TICK: Duration = Duration::from_millis(20);
/// The same on a file system that stores whole seconds, such as ext4 with small inodes, or every
/// second one, such as FAT.
const COARSE_CLOCK_TICK: Duration = Duration::from_secs(2);
/// The maximum size of a file in bytes.
const MAX_BYTES: u64 = MAX_FILE_BYTES as u64;
/// The maximum folder depth of a file.
const MAX_DEPTH: usize = 6;
/// The maximum folder depth of a drawer: vaults of other programs have deeper folders.
pub(crate) const MAX_DRAWER_DEPTH: usize = 32;
/// The folder of drawers.
const DRAWERS_FOLDER: &str = "drawers/";

/// The code and message of a finding, for files on disk and in commits.
type CodeAndMessage = (Code, &'static str);
pub(crate) const LINK: CodeAndMessage = (Code::Link, "symbolic links are not followed");
pub(crate) const NOT_UNICODE: CodeAndMessage = (Code::FileName, "the name is not Unicode");
pub(crate) const TOO_DEEP: CodeAndMessage = (Code::TooDeep, "folders are nested too deep here");

/// The result of listing a palace.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct PalaceListing {
    /// The palace files with their stamps.
    pub(crate) stamps: FileStamps,
    /// The entries that cannot be used.
    pub(crate) findings: Vec<Diagnostic>,
    /// Temporary files of a write that is in progress or was interrupted.
    pub(crate) temporaries: Vec<PathBuf>,
}

/// The paths found in a palace.
#[derive(Debug, Default)]
struct PathList {
    paths: Vec<String>,
    findings: Vec<Diagnostic>,
    temporaries: Vec<PathBuf>,
    /// A folder that could not be listed, perhaps only temporarily: its files are unknown.
    list_error: Option<(PathBuf, io::Error)>,
}

/// The result of opening a file.
enum OpenedFile {
    /// The entry at the path, which may also be a folder or a device.
    Opened(File),
    /// There is nothing at the path.
    Missing,
    /// A part of the path below the palace is a symbolic link.
    BehindLink,
    /// The entry cannot be read as a file: a pipe, a socket or a device.
    NotRegular,
}

/// Lists the files at or below `path`, all files if it is empty. A missing palace has none.
pub(crate) fn list_files(root: &Path, path: &str) -> Result<PalaceListing, Error> {
    let mut names = PathList::default();
    if path.is_empty() {
        let entries = match fs::read_dir(root) {
            Err(err) if err.kind() == io::ErrorKind::NotFound => {
                return Ok(PalaceListing::default());
            }
            entries => entries.map_err(Error::for_file("list", root))?,
        };
        names = collect_all_paths(root);
        let is_temporary =
            |it: &fs::DirEntry| temporary_names::is_temporary(&it.file_name().to_string_lossy());
        names.temporaries.extend(entries.flatten().filter(is_temporary).map(|it| it.path()));
    } else if path == SETTINGS_FILE {
        names.paths.push(SETTINGS_FILE.to_owned());
    } else if is_in_palace_folder(root, path) {
        names.add_below(root, path);
    }
    let PathList { paths, mut findings, temporaries, list_error: failed } = names;
    if let Some((place, err)) = failed {
        return Err(Error::for_file("list", &place)(err));
    }
    findings.sort_by(|a, b| a.file.cmp(&b.file));
    // A file that was deleted since is left out.
    let stamp = |path: String| Some((FileStamp::from_path(&root.join(&path))?, path));
    let stamps = paths.into_par_iter().filter_map(stamp).map(|(stamp, path)| (path, stamp));
    Ok(PalaceListing { stamps: stamps.collect(), findings, temporaries })
}

/// Lists the paths of all palace files.
pub(crate) fn list_paths(root: &Path) -> Vec<String> {
    collect_all_paths(root).paths
}

/// Returns true if `path` is in one of the palace folders and not behind a link.
fn is_in_palace_folder(root: &Path, path: &str) -> bool {
    let above = path.rsplit_once('/').map(|(above, _)| above);
    PALACE_FOLDERS.contains(&path.split('/').next().unwrap_or_default())
        && paths::check_path(path).is_ok()
        && above.is_none_or(|it| paths::reject_symbolic_links(root, it).is_ok())
}

/// Returns whether the file at `path` in the folder of a palace belongs to the palace.
pub(crate) fn is_palace_file(path: &str) -> bool {
    match path.split_once('/') {
        Some((folder, _)) => PALACE_FOLDERS.contains(&folder) || folder == GENERATED_FOLDER,
        None => path == SETTINGS_FILE || GIT_FILES.contains(&path),
    }
}

/// Returns the palace folders that exist and are no links.
pub(crate) fn existing_folders(root: &Path) -> impl Iterator<Item = &'static str> {
    let is_folder = |it: &&str| fs::symlink_metadata(root.join(it)).is_ok_and(|it| it.is_dir());
    PALACE_FOLDERS.into_iter().filter(is_folder)
}

/// Reads one file; `None`: it does not exist.
pub(crate) fn read_file(root: &Path, path: &str) -> ReadResult {
    paths::check_path(path).map_err(|err| invalid_path_finding(Code::FileName, path, &err))?;
    let read = match open_through_no_link(root, path) {
        Ok(OpenedFile::Opened(file)) => read_opened(file, max_file_bytes(path) as u64),
        Ok(OpenedFile::Missing) => return Ok(None),
        Ok(OpenedFile::BehindLink) => {
            let why = "part of the path is a symbolic link".to_owned();
            return Err(Diagnostic::for_file(Code::Link, path, why));
        }
        Ok(OpenedFile::NotRegular) => Err(FileReadError::NotRegularFile),
        Err(err) => Err(err.into()),
    };
    decode_utf8(path, read.map_err(|unread| unread.to_diagnostic(path))?).map(Some)
}

/// Reads a text file anywhere on disk, by the same rules as a palace file.
pub fn read_text_file(place: &Path) -> Result<String, Diagnostic> {
    let file = place.display().to_string();
    let refuse =
        |unread: FileReadError| Diagnostic::for_file(unread.code(), &file, unread.to_string());
    // A path given by the user may be a link.
    let place = dunce::canonicalize(place).map_err(|err| refuse(err.into()))?;
    let bytes = read_bytes(&place, MAX_BYTES).map_err(refuse)?.unwrap_or_default();
    decode_utf8(&file, bytes)
}

/// Reads any file of at most `limit` bytes; `None`: it does not exist. The error is the reason as
/// text.
pub fn read_file_bytes(place: &Path, limit: u64) -> Result<Option<Vec<u8>>, String> {
    let place = match dunce::canonicalize(place) {
        Err(err) if is_missing_file_error(&err) => return Ok(None),
        other => other.map_err(|err| FileReadError::from(err).to_string())?,
    };
    read_bytes(&place, limit).map_err(|unread| unread.to_string())
}

impl FileStamp {
    /// Returns the stamp of the file at `place`, without following links.
    pub(crate) fn from_path(place: &Path) -> Option<Self> {
        fs::symlink_metadata(place).ok().map(|it| Self::from_metadata(&it))
    }

    /// Returns the stamp of a file in a commit: another blob has another one.
    pub(crate) fn of_blob(id: gix::ObjectId) -> Self {
        let (size, rest) = id.as_slice().split_at(8);
        let (inode, rest) = rest.split_at(8);
        let number = |it: &[u8]| it.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        let rest = i64::try_from(number(&rest[..4])).unwrap_or_default();
        Self { modified: None, size: number(size), inode: number(inode), changed: (rest, 1) }
    }

    /// Returns true if the file changed so recently that another change could leave the same stamp;
    /// then the file must be read.
    pub fn is_too_recent_to_trust(&self) -> bool {
        let mut times = self.modified.into_iter().chain([self.last_changed()]);
        let has_coarse_times = times.any(|it| {
            it.duration_since(SystemTime::UNIX_EPOCH).is_ok_and(|it| it.subsec_nanos() == 0)
        });
        let tick = if has_coarse_times { COARSE_CLOCK_TICK } else { CLOCK_TICK };
        SystemTime::now().duration_since(self.last_changed()).map_or(true, |age| age < tick)
    }

    /// Returns whether the content was saved at least `period` ago. A modification time in the future
    /// says nothing: the clock of another machine may have set it.
    pub fn is_saved_for(&self, period: Duration) -> bool {
        let age = self.modified.and_then(|it| SystemTime::now().duration_since(it).ok());
        age.is_some_and(|it| it >= period)
    }

    /// Returns the time of the file's last change in content, name or permissions. If the system
    /// does not have it, returns the modification time, which any program may set.
    pub fn last_changed(&self) -> SystemTime {
        let positive = |it| u64::try_from(it).unwrap_or_default();
        match self.changed {
            (0, 0) => self.modified.unwrap_or(SystemTime::UNIX_EPOCH),
            (seconds, rest) => {
                let since = Duration::from_secs(positive(seconds));
                SystemTime::UNIX_EPOCH + since + Duration::from_nanos(positive(rest))
            }
        }
    }

    /// Returns the file's inode number; 0 if the system has none.
    pub(crate) fn inode(&self) -> u64 {
        self.inode
    }

    /// Returns the stamp of a file that has this metadata.
    #[cfg(unix)]
    pub(crate) fn from_metadata(it: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        let changed = (it.ctime(), it.ctime_nsec());
        Self { modified: it.modified().ok(), size: it.len(), inode: it.ino(), changed }
    }

    /// Returns the stamp of a file that has this metadata: without an inode and a time of the last
    /// change, which the library does not read on Windows. A change that keeps the size and the
    /// modification time is not noticed.
    #[cfg(windows)]
    pub(crate) fn from_metadata(it: &Metadata) -> Self {
        Self { modified: it.modified().ok(), size: it.len(), inode: 0, changed: (0, 0) }
    }
}

/// Creates a finding for an invalid path, without repeating the path.
pub(crate) fn invalid_path_finding(code: Code, path: &str, err: &Error) -> Diagnostic {
    let why =
        if let Error::InvalidPath { why, .. } = err { (*why).to_owned() } else { err.to_string() };
    Diagnostic::for_file(code, path, why)
}

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileReadError {
    #[error("the file is too large: {size} bytes, and at most {most} are read")]
    TooLarge { size: u64, most: u64 },
    #[error("this is not an ordinary file")]
    NotRegularFile,
    #[error("the file cannot be read: {0}")]
    Io(#[from] io::Error),
}

impl FileReadError {
    /// Converts the error into a finding about the file at `path`.
    pub(crate) fn to_diagnostic(&self, path: &str) -> Diagnostic {
        Diagnostic::for_file(self.code(), path, self.to_string())
    }

    fn code(&self) -> Code {
        match self {
            Self::TooLarge { .. } => Code::TooLarge,
            Self::NotRegularFile | Self::Io(_) => Code::Unreadable,
        }
    }
}

fn read_bytes(place: &Path, most: u64) -> Result<Option<Vec<u8>>, FileReadError> {
    let metadata = match fs::symlink_metadata(place) {
        Err(err) if is_missing_file_error(&err) => return Ok(None),
        other => other?,
    };
    // Opening a FIFO would wait for a writer.
    if !metadata.is_file() {
        return Err(FileReadError::NotRegularFile);
    }
    match fs::File::open(place) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(None),
        file => read_opened(file?, most).map(Some),
    }
}

fn read_opened(file: fs::File, most: u64) -> Result<Vec<u8>, FileReadError> {
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(FileReadError::NotRegularFile);
    }
    if metadata.len() > most {
        return Err(FileReadError::TooLarge { size: metadata.len(), most });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default() + 1);
    file.take(most + 1).read_to_end(&mut bytes)?;
    let size = bytes.len() as u64;
    if size > most { Err(FileReadError::TooLarge { size, most }) } else { Ok(bytes) }
}

/// Decodes the content of the file at `path` as UTF-8.
pub(crate) fn decode_utf8(path: &str, bytes: Vec<u8>) -> Result<String, Diagnostic> {
    String::from_utf8(bytes).map_err(|err| {
        let good = &err.as_bytes()[..err.utf8_error().valid_up_to()];
        let good = String::from_utf8_lossy(good);
        let line = good.matches('\n').count() + 1;
        let column = good.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let message = format!("line {line} is not UTF-8");
        let mut finding = Diagnostic::for_file(Code::NotUtf8, path, message);
        finding.at = Position { line, column };
        finding.with_hint("save the file as UTF-8")
    })
}

fn collect_all_paths(root: &Path) -> PathList {
    let mut names = PathList { paths: vec![SETTINGS_FILE.to_owned()], ..PathList::default() };
    for folder in PALACE_FOLDERS {
        names.add_below(root, folder);
    }
    names
}

impl PathList {
    /// Adds the files at or below `path`.
    fn add_below(&mut self, root: &Path, path: &str) {
        let depth = path.matches('/').count();
        let mut walk = WalkDir::new(root.join(path)).follow_root_links(false).into_iter();
        while let Some(entry) = walk.next() {
            match entry {
                Ok(entry) => {
                    if self.add_entry(root, depth, &entry) {
                        walk.skip_current_dir();
                    }
                }
                Err(err) => self.add_walk_error(root, err),
            }
        }
    }

    /// Adds an entry; returns true if it is a folder whose entries are left out.
    fn add_entry(&mut self, root: &Path, depth: usize, entry: &DirEntry) -> bool {
        let name = entry.file_name().to_string_lossy();
        let is_folder = entry.file_type().is_dir();
        if !is_folder && temporary_names::is_temporary(&name) {
            self.temporaries.push(entry.path().to_owned());
            return false;
        }
        if name.starts_with('.') || (!is_folder && name.ends_with('~')) {
            return is_folder;
        }
        let path = path_in_palace(root, entry.path());
        let is_text = is_text_file(&path);
        if entry.path_is_symlink() {
            if is_text || entry.path().is_dir() {
                self.add_finding(LINK, &path);
            }
            return false;
        }
        if entry.file_name().to_str().is_none() {
            if is_text || is_folder {
                self.add_finding(NOT_UNICODE, &path);
            }
            return is_folder;
        }
        if is_folder {
            let is_too_deep = depth + entry.depth() >= max_depth(&path);
            if is_too_deep {
                self.add_finding(TOO_DEEP, &path);
            }
            return is_too_deep;
        }
        match is_text {
            true => self.paths.push(path),
            false => self.findings.extend(extension_typo(&path)),
        }
        false
    }

    fn add_finding(&mut self, (code, message): CodeAndMessage, path: &str) {
        self.findings.push(Diagnostic::for_file(code, path, message));
    }

    fn add_walk_error(&mut self, root: &Path, err: walkdir::Error) {
        if err.io_error().is_some_and(is_missing_file_error) {
            return;
        }
        let is_refused = |it: &io::Error| it.kind() == io::ErrorKind::PermissionDenied;
        if err.io_error().is_some_and(|it| !is_refused(it)) {
            let place = err.path().unwrap_or(root).to_owned();
            self.list_error = err.into_io_error().map(|it| (place, it));
            return;
        }
        let path = err.path().map(|it| path_in_palace(root, it)).unwrap_or_default();
        let why = err.io_error().map_or_else(|| err.to_string(), ToString::to_string);
        let message = format!("this cannot be listed: {why}");
        self.findings.push(Diagnostic::for_file(Code::Unreadable, &path, message));
    }
}

/// Reports a file that is not read because of a wrong extension.
fn extension_typo(path: &str) -> Option<Diagnostic> {
    let (start, ending) = path.rsplit_once('.')?;
    let meant = match ending.to_lowercase().as_str() {
        "yml" | "yaml" => "yaml",
        "md" | "markdown" => "md",
        _ => return None,
    };
    let message = format!("a file that ends in {} is not read", quoted(&format!(".{ending}")));
    let name = start.rsplit('/').next().unwrap_or(start);
    // The name of a file below `rooms` must be a slug.
    let slug = Slug::from_text(name).filter(|_| start.starts_with("rooms/"));
    let name = slug.map_or_else(|| name.to_owned(), |it| it.to_string());
    let finding = Diagnostic::for_file(Code::FileName, path, message);
    Some(finding.with_hint(format!("rename it to {}", quoted(&format!("{name}.{meant}")))))
}

/// Returns true if the file at `path` is read, by its ending.
pub(crate) fn is_text_file(path: &str) -> bool {
    [".yaml", ".md"].iter().any(|it| path.ends_with(it))
        || path.starts_with(DRAWERS_FOLDER) && is_markdown_file(path)
}

/// Returns the maximum folder depth of the file at `path`, or of the files below it.
pub(crate) fn max_depth(path: &str) -> usize {
    if path.starts_with(DRAWERS_FOLDER) { MAX_DRAWER_DEPTH } else { MAX_DEPTH }
}

/// Converts `place` to a path inside the palace, always with `/`.
fn path_in_palace(root: &Path, place: &Path) -> String {
    let inside = place.strip_prefix(root).unwrap_or(place).to_string_lossy();
    inside.replace(MAIN_SEPARATOR, "/")
}

/// Opens the file at `path` below `root` for reading. The path must be [checked](paths::check_path).
fn open_through_no_link(root: &Path, path: &str) -> io::Result<OpenedFile> {
    #[cfg(target_os = "linux")]
    if let Some(opened) = open_in_one_call(root, path) {
        return opened;
    }
    open_after_looking(root, path)
}

/// Has the kernel refuse links; `None`: it does not know how (Linux before 5.6, some containers), or
/// the entry needs a closer look.
#[cfg(target_os = "linux")]
fn open_in_one_call(root: &Path, path: &str) -> Option<io::Result<OpenedFile>> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
    use rustix::io::Errno;

    // Opening a pipe would wait for a writer.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let folder_flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = openat(CWD, root, folder_flags, Mode::empty())
        .and_then(|folder| openat2(folder, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS));
    match opened {
        Ok(file) => Some(Ok(OpenedFile::Opened(file.into()))),
        Err(Errno::NOENT | Errno::NOTDIR) => Some(Ok(OpenedFile::Missing)),
        Err(Errno::LOOP) => Some(Ok(OpenedFile::BehindLink)),
        Err(Errno::NOSYS | Errno::PERM | Errno::NXIO) => None,
        Err(err) => Some(Err(err.into())),
    }
}

/// Looks for links at each part of the path before it opens the file.
fn open_after_looking(root: &Path, path: &str) -> io::Result<OpenedFile> {
    if paths::reject_symbolic_links(root, path).is_err() {
        return Ok(OpenedFile::BehindLink);
    }
    let place = root.join(path);
    let opened = fs::symlink_metadata(&place).and_then(|it| match it.is_file() {
        true => File::open(&place).map(OpenedFile::Opened),
        false => Ok(OpenedFile::NotRegular),
    });
    match opened {
        Err(err) if is_missing_file_error(&err) => Ok(OpenedFile::Missing),
        opened => opened,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_repository::{TestHome, read_all};

    #[test]
    fn a_missing_palace_has_no_files() {
        let scene = TestHome::new();
        assert_eq!(list_files(&scene.home.join("keep"), "").unwrap(), PalaceListing::default());
    }

    #[test]
    fn a_time_in_whole_seconds_is_trusted_after_two() {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
        let stamp = |age: u64, nanoseconds| {
            let seconds = i64::try_from(now - age).unwrap();
            FileStamp { modified: None, size: 1, inode: 1, changed: (seconds, nanoseconds) }
        };
        assert!(stamp(1, 0).is_too_recent_to_trust());
        assert!(!stamp(1, 1).is_too_recent_to_trust());
        assert!(!stamp(3, 0).is_too_recent_to_trust());
    }

    #[test]
    fn all_palace_files_are_read_and_no_others() {
        let scene = TestHome::new();
        for path in [
            "palace.toml",
            "rooms/a.yaml",
            "rooms/w/b.yaml",
            "scrolls/a/1.md",
            "entities/x/y.yaml",
            "genera/g.yaml",
            "drawers/d/1.md",
            "diary/me/1.md",
            "tasks/1.yaml",
            "processes/1.yaml",
            "conflicts/1.yaml",
            "rooms/1/2/3/4/5/six.yaml",
        ] {
            scene.write_file(&format!("keep/{path}"), path);
        }
        let read = read_all(&scene.palace("keep"));
        for path in [
            "README.md",
            "other/a.yaml",
            "rooms/.a.yaml",
            "rooms/a.yaml~",
            "rooms/a.txt",
            "rooms/.git/a.yaml",
            "rooms/.a.yaml.palazzo-1-0.tmp",
            "rooms/4913",
        ] {
            scene.write_file(&format!("keep/{path}"), "x");
        }
        assert_eq!(read_all(&scene.palace("keep")), read);
        assert_eq!(read.0.len(), 12);
        assert!(read.0.iter().all(|(path, text)| path == text));
        assert_eq!(read.1, []);
    }

    #[test]
    #[cfg(unix)]
    fn unreadable_files_are_reported_and_left_out() {
        let scene = TestHome::new();
        scene.write_file("keep/rooms/good.yaml", "good\n");
        scene.write_file("keep/rooms/1/2/3/4/5/6/deep.yaml", "deep");
        scene.write_file("keep/rooms/slip.yml", "slip");
        scene.write_file("keep/rooms/My Slip.yml", "slip");
        fs::write(scene.home.join("keep/rooms/latin.yaml"), b"one\ntw\xf6\n").unwrap();
        fs::write(scene.home.join("keep/rooms/large.yaml"), vec![b'x'; 1024 * 1024 + 1]).unwrap();
        fs::create_dir(scene.home.join("keep/rooms/folder.yaml")).unwrap();
        let link = |to: &str, from| {
            std::os::unix::fs::symlink(to, scene.home.join("keep").join(from)).unwrap();
        };
        link("../..", "scrolls");
        link("good.yaml", "rooms/link.yaml");
        link("/etc", "rooms/etc");
        let (files, findings) = read_all(&scene.palace("keep"));
        assert_eq!(files.into_keys().collect::<Vec<_>>(), ["rooms/good.yaml"]);
        let findings: Vec<_> = findings.iter().map(ToString::to_string).collect();
        insta::assert_snapshot!(findings.join("\n"), @"
        rooms/1/2/3/4/5/6:1:1: error[too-deep]: folders are nested too deep here
        rooms/My Slip.yml:1:1: error[file-name]: a file that ends in `.yml` is not read (rename it to `my-slip.yaml`)
        rooms/etc:1:1: error[link]: symbolic links are not followed
        rooms/large.yaml:1:1: error[too-large]: the file is too large: 1048577 bytes, and at most 1048576 are read
        rooms/latin.yaml:2:3: error[not-utf8]: line 2 is not UTF-8 (save the file as UTF-8)
        rooms/link.yaml:1:1: error[link]: symbolic links are not followed
        rooms/slip.yml:1:1: error[file-name]: a file that ends in `.yml` is not read (rename it to `slip.yaml`)
        scrolls:1:1: error[link]: symbolic links are not followed
        ");
    }

    #[test]
    fn listing_a_part_of_the_palace_follows_the_same_rules() {
        let scene = TestHome::new();
        for path in ["palace.toml", "rooms/a.yaml", "rooms/w/b.yaml", "rooms/1/2/3/4/5/6/7.yaml"] {
            scene.write_file(&format!("keep/{path}"), path);
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink("w", scene.home.join("keep/rooms/link")).unwrap();
        let store = scene.palace("keep");
        let listed = |path: &str| {
            let (stamps, wrong) = store.list_files(path).unwrap();
            let wrong = wrong.into_iter().map(|it| format!("! {}", it.file));
            stamps.into_keys().chain(wrong).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(listed("palace.toml"), "palace.toml");
        assert_eq!(listed("rooms/w"), "rooms/w/b.yaml");
        assert_eq!(listed("rooms/w/b.yaml"), "rooms/w/b.yaml");
        assert_eq!(listed("rooms/1/2/3"), "! rooms/1/2/3/4/5/6");
        for nothing in ["rooms/c.yaml", "rooms/a.yaml/b.yaml", "scrolls", "other", "..", "/"] {
            assert_eq!(listed(nothing), "", "{nothing}");
        }
        if cfg!(unix) {
            assert_eq!(listed("rooms/link"), "! rooms/link");
            assert_eq!(listed("rooms/link/b.yaml"), "");
        }
    }

    #[test]
    fn reading_one_file_applies_the_same_refusals() {
        let scene = TestHome::new();
        scene.write_file("keep/rooms/good.yaml", "good\n");
        let store = scene.palace("keep");
        assert_eq!(store.read_file("rooms/good.yaml").unwrap(), Some("good\n".to_owned()));
        assert_eq!(store.read_file("rooms/none.yaml").unwrap(), None);
        assert_eq!(store.read_file("rooms/good.yaml/below.yaml").unwrap(), None);
        for refused in ["../keep/rooms/good.yaml", "/etc/passwd", "rooms"] {
            assert!(store.read_file(refused).is_err(), "{refused}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("rooms", scene.home.join("keep/scrolls")).unwrap();
            let refused = store.read_file("scrolls/good.yaml").unwrap_err();
            assert_eq!(
                refused.to_string(),
                "scrolls/good.yaml:1:1: error[link]: part of the path is a symbolic link"
            );
        }
    }

    #[test]
    fn a_stamp_changes_with_the_file() {
        let scene = TestHome::new();
        let store = scene.palace("keep");
        assert_eq!(store.file_stamp("rooms/a.yaml"), None);
        scene.write_file("keep/rooms/a.yaml", "1\n");
        let first = store.file_stamp("rooms/a.yaml");
        assert!(first.is_some());
        assert_eq!(store.file_stamp("rooms/a.yaml"), first);
        scene.write_file("keep/rooms/a.yaml", "longer\n");
        assert_ne!(store.file_stamp("rooms/a.yaml"), first);
        assert_eq!(store.file_stamp("../keep/rooms/a.yaml"), None);
    }

    #[test]
    fn a_stamp_is_young_until_the_clock_has_ticked() {
        let scene = TestHome::new();
        let store = scene.palace("keep");
        let write = |it: usize| {
            scene.write_file("keep/rooms/a.yaml", &it.to_string());
            store.file_stamp("rooms/a.yaml").unwrap()
        };
        // On a busy machine a stamp may be taken late.
        assert!((0..100).any(|it| write(it).is_too_recent_to_trust()));
        assert!(!FileStamp::from_path(Path::new("Cargo.toml")).unwrap().is_too_recent_to_trust());
    }
}

#[cfg(all(test, unix))]
mod unix_tests {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;

    type Open = fn(&Path, &str) -> io::Result<OpenedFile>;

    /// Describes what is found at a path: a file, a folder, nothing, a link, or something else.
    fn describe(open: Open, root: &Path, path: &str) -> &'static str {
        match open(root, path).unwrap() {
            OpenedFile::Opened(file) if file.metadata().unwrap().is_file() => "file",
            OpenedFile::Opened(_) | OpenedFile::NotRegular => "no file",
            OpenedFile::Missing => "missing",
            OpenedFile::BehindLink => "link",
        }
    }

    #[test]
    fn both_ways_find_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let (root, outside) = (dir.path().join("palace"), dir.path().join("outside"));
        fs::create_dir_all(root.join("rooms/north")).unwrap();
        fs::create_dir_all(&outside).unwrap();
        fs::write(outside.join("hall.yaml"), "secret").unwrap();
        fs::write(root.join("rooms/hall.yaml"), "name: Hall\n").unwrap();
        symlink(outside.join("hall.yaml"), root.join("rooms/out.yaml")).unwrap();
        symlink("hall.yaml", root.join("rooms/in.yaml")).unwrap();
        symlink(&outside, root.join("scrolls")).unwrap();
        symlink("nowhere", root.join("rooms/broken.yaml")).unwrap();
        let _socket = UnixListener::bind(root.join("rooms/socket.yaml")).unwrap();
        // The folder of the palace itself may be behind a link.
        symlink(&root, dir.path().join("linked")).unwrap();
        for (path, expected) in [
            ("rooms/hall.yaml", "file"),
            ("rooms/north", "no file"),
            ("rooms/socket.yaml", "no file"),
            ("rooms/none.yaml", "missing"),
            ("rooms/hall.yaml/x.yaml", "missing"),
            ("none/x.yaml", "missing"),
            ("rooms/out.yaml", "link"),
            ("rooms/in.yaml", "link"),
            ("rooms/broken.yaml", "link"),
            ("scrolls/hall.yaml", "link"),
        ] {
            for root in [&root, &dir.path().join("linked")] {
                assert_eq!(describe(open_through_no_link, root, path), expected, "{path}");
                assert_eq!(describe(open_after_looking, root, path), expected, "{path}");
            }
        }
        assert_eq!(describe(open_through_no_link, &dir.path().join("none"), "x"), "missing");
    }
}
