//! Reads and replaces the configuration files of clients.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use palazzo_keeper as keeper;

/// The largest configuration that is read. Parsing a usual one takes ten times its size in memory.
const MAX_BYTES: u64 = 64 << 20;

/// Reads a configuration; `None` if there is no file. The error says why it cannot be read.
pub(in crate::cli) fn read_config(file: &Path) -> Result<Option<String>, String> {
    let metadata = match fs::metadata(file) {
        Ok(metadata) => metadata,
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(err) => return Err(err.to_string()),
    };
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return Err("it is not a file of at most 64 MiB".to_owned());
    }
    let bytes = fs::read(file).map_err(|it| it.to_string())?;
    String::from_utf8(bytes).map(Some).map_err(|it| {
        let valid = &it.as_bytes()[..it.utf8_error().valid_up_to()];
        let line = valid.split(|it| *it == b'\n').count();
        format!("line {line}: it is not UTF-8")
    })
}

/// Returns the file that a path leads to through symbolic links, which may not exist yet.
pub(in crate::cli) fn resolve_links(file: &Path) -> PathBuf {
    // A chain of links that leads to no file; a circle ends here too.
    const MAX_LINKS: usize = 32;
    let mut file = file.to_owned();
    for _ in 0..MAX_LINKS {
        match (fs::read_link(&file), file.parent()) {
            (Ok(target), Some(folder)) => file = folder.join(target),
            _ => break,
        }
    }
    // The folders that exist may be links too.
    let real = file.ancestors().find_map(|it| Some((it, dunce::canonicalize(it).ok()?)));
    match real.and_then(|(above, real)| Some((real, file.strip_prefix(above).ok()?))) {
        Some((real, rest)) if rest.as_os_str().is_empty() => real,
        Some((real, rest)) => real.join(rest),
        None => file,
    }
}

/// Replaces a file, unless it is no longer what it was: writes another file in the same folder and
/// renames it. `None` stands for no file.
pub(in crate::cli) fn replace_config(
    file: &Path,
    was: Option<&str>,
    new: Option<&str>,
) -> Result<(), String> {
    let Some(new) = new else {
        require_unchanged(file, was)?;
        return fs::remove_file(file).map_err(|it| it.to_string());
    };
    let folder = file.parent().ok_or("it is in no folder")?;
    let mut temporary = tempfile::NamedTempFile::new_in(folder).map_err(|it| it.to_string())?;
    let write = |temporary: &mut tempfile::NamedTempFile| -> io::Result<()> {
        temporary.write_all(new.as_bytes())?;
        if was.is_some() {
            let metadata = fs::metadata(file)?;
            keep_owner(temporary.as_file(), &metadata)?;
            temporary.as_file().set_permissions(metadata.permissions())?;
        }
        temporary.as_file().sync_all()
    };
    write(&mut temporary).map_err(|it| it.to_string())?;
    require_unchanged(file, was)?;
    if was.is_none() {
        return temporary.persist_noclobber(file).map(drop).map_err(|it| it.error.to_string());
    }
    let temporary = temporary.into_temp_path().keep().map_err(|it| it.error.to_string())?;
    keeper::rename_file(&temporary, file).map_err(|err| {
        drop(fs::remove_file(&temporary));
        err.to_string()
    })
}

/// Gives a new file the owner and group of the one that it replaces, for `sudo palazzo setup`.
#[cfg(unix)]
fn keep_owner(new: &fs::File, old: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let metadata = new.metadata()?;
    if metadata.uid() != old.uid() {
        let kept = fchown(new, Some(old.uid()), Some(old.gid()));
        return kept.map_err(|_| io::Error::other("it belongs to another user"));
    }
    if metadata.gid() != old.gid() {
        // The user may not be in that group; the file then gets one of theirs, as from an editor.
        fchown(new, None, Some(old.gid())).unwrap_or_default();
    }
    Ok(())
}

/// Windows gives a file the permissions of its folder.
#[cfg(not(unix))]
fn keep_owner(_: &fs::File, _: &fs::Metadata) -> io::Result<()> {
    Ok(())
}

/// Fails if a file may not be changed. Root could write it anyway, and does not.
pub(in crate::cli) fn require_writable(file: &Path) -> Result<(), String> {
    match fs::metadata(file).is_ok_and(|it| it.permissions().readonly()) {
        true => Err("it is read-only".to_owned()),
        false => Ok(()),
    }
}

/// Fails if a file may not be replaced, or is no longer what it was.
fn require_unchanged(file: &Path, was: Option<&str>) -> Result<(), String> {
    require_writable(file)?;
    match read_config(file)?.as_deref() == was {
        true => Ok(()),
        false => Err("another program has just changed it; run the command again".to_owned()),
    }
}

/// Creates the folder of a file. Returns the folders that did not exist, the outermost first.
pub(in crate::cli) fn create_folders(file: &Path) -> io::Result<Vec<PathBuf>> {
    let folder = file.parent().unwrap_or(file);
    let mut missing: Vec<_> =
        folder.ancestors().take_while(|it| !it.exists()).map(Path::to_owned).collect();
    fs::create_dir_all(folder)?;
    missing.reverse();
    Ok(missing)
}

/// Removes those of the folders that are empty, the innermost first.
pub(in crate::cli) fn remove_empty_folders(folders: &[PathBuf]) {
    // A folder with other files stays.
    folders.iter().rev().take_while(|it| fs::remove_dir(it).is_ok()).for_each(drop);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_only_if_it_is_what_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.json");
        replace_config(&file, None, Some("1")).unwrap();
        assert!(replace_config(&file, None, Some("2")).unwrap_err().contains("just changed"));
        assert!(replace_config(&file, Some("0"), Some("2")).unwrap_err().contains("just changed"));
        assert!(replace_config(&file, Some("0"), None).is_err());
        replace_config(&file, Some("1"), Some("2")).unwrap();
        assert_eq!(read_config(&file), Ok(Some("2".to_owned())));
        replace_config(&file, Some("2"), None).unwrap();
        assert_eq!(read_config(&file), Ok(None));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_is_no_file_or_read_only_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read_config(folder.path()).is_err());
        assert!(replace_config(folder.path(), None, Some("1")).is_err());
        let file = folder.path().join("a.json");
        fs::write(&file, "1").unwrap();
        let mut permissions = fs::metadata(&file).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&file, permissions).unwrap();
        assert_eq!(replace_config(&file, Some("1"), Some("2")), Err("it is read-only".to_owned()));
        fs::write(folder.path().join("b.json"), b"{\n\xff").unwrap();
        assert_eq!(
            read_config(&folder.path().join("b.json")),
            Err("line 2: it is not UTF-8".to_owned())
        );
    }

    #[test]
    #[cfg(unix)]
    fn links_and_permissions_are_kept() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let folder = dunce::canonicalize(folder.path()).unwrap();
        let (file, link, dangling) = (folder.join("a"), folder.join("b"), folder.join("c"));
        fs::write(&file, "1").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("a", &link).unwrap();
        symlink("new/d", &dangling).unwrap();
        assert_eq!(resolve_links(&link), file);
        assert_eq!(resolve_links(&dangling), folder.join("new/d"));
        fs::create_dir(folder.join("e")).unwrap();
        symlink("e", folder.join("f")).unwrap();
        assert_eq!(resolve_links(&folder.join("f/g/h")), folder.join("e/g/h"));
        replace_config(&resolve_links(&link), Some("1"), Some("2")).unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn created_folders_are_removed_if_they_are_empty() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a/b/c.json");
        let created = create_folders(&file).unwrap();
        assert_eq!(created, [folder.path().join("a"), folder.path().join("a/b")]);
        assert_eq!(create_folders(&file).unwrap(), Vec::<PathBuf>::new());
        fs::write(folder.path().join("a/other"), "").unwrap();
        remove_empty_folders(&created);
        assert!(!folder.path().join("a/b").exists() && folder.path().join("a/other").exists());
    }
}
