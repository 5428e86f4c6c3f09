//! Gives new files and folders the modes that git gives them in a repository that a group shares
//! (`core.sharedRepository`).
//!
//! The files of the palace get them, too: another member of the group is to edit them.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use gix::config::tree::Core;

/// The setting `core.sharedRepository`, which only adds or sets bits of new files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SharedMode {
    /// 0: the umask decides. A positive mode is added; a negative one is the mode.
    bits: i32,
}

impl SharedMode {
    /// Reads the setting of a repository.
    pub(crate) fn of_repository(git: &gix::Repository) -> Self {
        let config = git.config_snapshot();
        let bits = match config.string("core.sharedRepository") {
            Some(value) => Core::SHARED_REPOSITORY.try_into_shared_repository(Some(value)).ok(),
            // The key alone means `true`.
            None => (config.boolean("core.sharedRepository") == Some(true)).then_some(0o660),
        };
        Self { bits: bits.unwrap_or_default() }
    }

    /// Returns the line of the setting in a configuration file; empty if the umask decides.
    pub(crate) fn config_line(self) -> String {
        match self.bits {
            0 => String::new(),
            0o660 => "\tsharedRepository = group\n".to_owned(),
            1.. => "\tsharedRepository = all\n".to_owned(),
            _ => format!("\tsharedRepository = 0{:o}\n", self.bits.unsigned_abs()),
        }
    }

    /// Creates a folder, which must not exist.
    pub(crate) fn create_dir(self, folder: &Path) -> io::Result<()> {
        fs::create_dir(folder)?;
        self.adjust(folder)
    }

    /// Creates a folder and those above it, unless they exist.
    pub(crate) fn create_dir_all(self, folder: &Path) -> io::Result<()> {
        if folder.is_dir() {
            return Ok(());
        }
        let missing: Vec<_> = folder.ancestors().take_while(|it| !it.exists()).collect();
        fs::create_dir_all(folder)?;
        missing.into_iter().rev().try_for_each(|it| self.adjust(it))
    }

    /// Adjusts the mode of a new folder and everything in it.
    pub(crate) fn adjust_all(self, folder: &Path) -> io::Result<()> {
        if self.bits == 0 {
            return Ok(());
        }
        for entry in walkdir::WalkDir::new(folder).follow_links(false) {
            let entry = entry.map_err(io::Error::from)?;
            if !entry.file_type().is_symlink() {
                self.adjust(entry.path())?;
            }
        }
        Ok(())
    }

    /// Adjusts the mode of a new file or folder.
    pub(crate) fn adjust(self, path: &Path) -> io::Result<()> {
        // Windows has no such modes, and opens no folders.
        if self.bits == 0 || cfg!(windows) {
            return Ok(());
        }
        self.adjust_file(&File::open(path)?)
    }

    /// Adjusts the mode of an open file that may be new.
    #[cfg(unix)]
    pub(crate) fn adjust_file(self, file: &File) -> io::Result<()> {
        use std::os::unix::fs::PermissionsExt as _;
        if self.bits == 0 {
            return Ok(());
        }
        let metadata = file.metadata()?;
        let old = metadata.permissions().mode() & 0o7777;
        let new = self.shared_mode(old, metadata.is_dir());
        if new == old {
            return Ok(());
        }
        match file.set_permissions(fs::Permissions::from_mode(new)) {
            // Somebody else made it.
            Err(err) if err.kind() == io::ErrorKind::PermissionDenied => Ok(()),
            set => set,
        }
    }

    /// Does nothing: Windows has no such modes.
    #[cfg(windows)]
    pub(crate) fn adjust_file(self, _: &File) -> io::Result<()> {
        Ok(())
    }

    /// Returns the mode that git gives a new file or folder that the umask gave the mode `old`.
    #[cfg(unix)]
    fn shared_mode(self, old: u32, is_folder: bool) -> u32 {
        // Elsewhere new files have the group of their folder without this bit.
        const SET_GROUP: u32 = if cfg!(target_os = "linux") { 0o2000 } else { 0 };
        let mut bits = self.bits.unsigned_abs();
        if old & 0o200 == 0 {
            bits &= !0o222;
        }
        if old & 0o100 != 0 {
            bits |= (bits & 0o444) >> 2;
        }
        let mut new = if self.bits < 0 { old & !0o777 | bits } else { old | bits };
        if is_folder {
            new |= (new & 0o444) >> 2;
            new |= if new & 0o060 == 0 { 0 } else { SET_GROUP };
        }
        new
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::collections::BTreeMap;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::test_repository::{TestHome, change_of_files, change_of_one_file, commit_ok};

    const HALL: &str = "rooms/hall.yaml";
    const SETTINGS: [&str; 8] = ["group", "true", "1", "all", "everybody", "0640", "0660", "0666"];

    /// Returns the modes below `folder`, by path, without those of files that exist in `before`.
    fn modes(folder: &Path) -> BTreeMap<String, u32> {
        let entries = walkdir::WalkDir::new(folder).into_iter().flatten();
        let mode = |it: &walkdir::DirEntry| it.metadata().unwrap().permissions().mode() & 0o7777;
        let name =
            |it: &walkdir::DirEntry| it.path().strip_prefix(folder).unwrap().display().to_string();
        entries.map(|it| (name(&it), mode(&it))).collect()
    }

    /// A repository with the setting, in which git has made a commit.
    fn shared_home(setting: &str) -> TestHome {
        let scene = TestHome::new();
        std::fs::create_dir_all(&scene.home).unwrap();
        scene.git(&["init", "-q", "-b", "main", &format!("--shared={setting}")]);
        scene.git(&["config", "user.name", "Ada"]);
        scene.git(&["config", "user.email", "ada@example.org"]);
        scene.write_file("notes.md", "notes\n");
        scene.git(&["add", "."]);
        scene.git(&["commit", "-qm", "begin"]);
        scene
    }

    #[test]
    fn everything_that_palazzo_makes_in_git_has_the_mode_that_git_gives() {
        for setting in SETTINGS {
            let scene = shared_home(setting);
            let before = modes(&scene.home.join(".git"));
            let object = before.iter().find(|(it, mode)| it.len() == 49 && **mode & 0o111 == 0);
            let object = *object.unwrap().1;
            let (folder, index) = (before["objects"], before["index"]);
            let mut store = scene.palace("keep");
            let files = [(HALL, None, Some("1\n")), ("scrolls/hall/a.md", None, Some("a\n"))];
            commit_ok(&mut store, &change_of_files(&files));
            scene.git(&["switch", "-qc", "feature/new"]);
            commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
            store.write_cache("some/cache", b"content").unwrap();
            drop(store.acquire_drawer_filing_lock().unwrap());
            for (path, mode) in modes(&scene.home.join(".git")) {
                if before.contains_key(&path) && path != "index" {
                    continue;
                }
                let is_folder = scene.home.join(".git").join(&path).is_dir();
                let is_object = path.starts_with("objects/");
                let expected = match (is_folder, is_object) {
                    (true, _) => folder,
                    (false, true) => object,
                    (false, false) => index,
                };
                assert_eq!(format!("{mode:o}"), format!("{expected:o}"), "{setting}: {path}");
            }
            scene.assert_fsck_clean();
        }
    }

    #[test]
    fn the_files_and_folders_of_a_palace_are_shared() {
        for (setting, file, folder) in
            [("group", 0o664, 0o2775), ("all", 0o664, 0o2775), ("0640", 0o640, 0o2750)]
        {
            let scene = shared_home(setting);
            let mut store = scene.palace("keep");
            commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
            let now = modes(&scene.home.join("keep"));
            let shown = |mode: &u32| format!("{mode:o}");
            assert_eq!(shown(&now["rooms/hall.yaml"]), shown(&file), "{setting}");
            assert_eq!(shown(&now["rooms"]), shown(&folder), "{setting}");
            assert_eq!(shown(&now[""]), shown(&folder), "{setting}");
        }
    }

    #[test]
    fn a_replaced_file_keeps_its_mode() {
        for mode in [0o600, 0o640, 0o644, 0o666, 0o755] {
            for setting in ["group", "umask"] {
                let scene = shared_home(setting);
                let mut store = scene.palace("keep");
                commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
                let file = scene.home.join("keep").join(HALL);
                std::fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
                commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("2\n")));
                assert_eq!(file.metadata().unwrap().permissions().mode() & 0o7777, mode);
            }
        }
    }

    #[test]
    fn without_the_setting_the_umask_decides() {
        let scene = shared_home("umask");
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        std::fs::write(scene.home.join("plain"), "").unwrap();
        let now = modes(&scene.home);
        assert_eq!(now["keep/rooms/hall.yaml"], now["plain"]);
        assert_eq!(now[".git/palazzo/lock"], now["plain"]);
    }
}
