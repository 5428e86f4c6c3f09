//! Copies the files of a memory between the folder of the host and the palace. No file is overwritten
//! that somebody else has changed.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Limits of a folder that is copied.
const MAX_DEPTH: usize = 16;
const MAX_FILES: usize = 10_000;
const MAX_FILE_BYTES: u64 = 64 << 20;

/// What became of the files of a folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CopiedFiles {
    /// The number of files that were copied.
    pub(super) copied: usize,
    /// The files that were there with other content, by their paths below the folder; with the copy
    /// beside them, if one was made.
    pub(super) different: Vec<(String, Option<String>)>,
}

/// Copies the files that are missing, byte for byte and with their times. The others stay.
pub(super) fn copy_missing_files(from: &Path, to: &Path) -> io::Result<CopiedFiles> {
    let mut done = CopiedFiles::default();
    for file in list_files(from)? {
        let bytes = fs::read(from.join(&file))?;
        match read_if_exists(&to.join(&file))? {
            None => {
                write_copy(&from.join(&file), &bytes, &to.join(&file), false)?;
                done.copied += 1;
            }
            Some(other) if other == bytes => {}
            Some(_) => done.different.push((file, None)),
        }
    }
    Ok(done)
}

/// Copies the files that are missing or that differ. A file that differs is replaced if `is_known`
/// returns true for its text: it is an older version. Else the copy is written beside it.
pub(super) fn copy_back_files(
    from: &Path,
    to: &Path,
    is_known: impl Fn(&str, &str) -> bool,
) -> io::Result<CopiedFiles> {
    let mut done = CopiedFiles::default();
    for file in list_files(from)? {
        let (source, target) = (from.join(&file), to.join(&file));
        let bytes = fs::read(&source)?;
        let is_older = |it: &[u8]| std::str::from_utf8(it).is_ok_and(|it| is_known(&file, it));
        match read_if_exists(&target)? {
            Some(other) if other == bytes => continue,
            None => write_copy(&source, &bytes, &target, false)?,
            Some(other) if is_older(&other) => write_copy(&source, &bytes, &target, true)?,
            Some(_) => {
                let Some(beside) = free_name_beside(to, &file, &bytes)? else { continue };
                write_copy(&source, &bytes, &to.join(&beside), false)?;
                done.different.push((file, Some(beside)));
            }
        }
        done.copied += 1;
    }
    Ok(done)
}

/// Lists the regular files below a folder, by their paths with `/`; none if there is no folder. Links
/// are left out.
fn list_files(folder: &Path) -> io::Result<Vec<String>> {
    let (mut found, mut pending) = (Vec::new(), vec![(String::new(), 0)]);
    while let Some((below, depth)) = pending.pop() {
        let entries = match fs::read_dir(folder.join(&below)) {
            Err(err) if err.kind() == io::ErrorKind::NotFound && below.is_empty() => break,
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let path = if below.is_empty() { name } else { format!("{below}/{name}") };
            let kind = entry.file_type()?;
            if kind.is_dir() && depth < MAX_DEPTH {
                pending.push((path, depth + 1));
            } else if kind.is_file() && entry.metadata()?.len() <= MAX_FILE_BYTES {
                found.push(path);
            }
        }
        if found.len() > MAX_FILES {
            return Err(io::Error::other(format!("there are more than {MAX_FILES} files")));
        }
    }
    found.sort();
    Ok(found)
}

fn read_if_exists(file: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(file) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(err) => Err(err),
    }
}

/// Writes a copy, with the time and the permissions of the original.
fn write_copy(original: &Path, bytes: &[u8], target: &Path, replaces: bool) -> io::Result<()> {
    let folder = target.parent().unwrap_or(target);
    fs::create_dir_all(folder)?;
    let metadata = fs::metadata(original)?;
    let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
    temporary.write_all(bytes)?;
    let file: &File = temporary.as_file();
    file.set_permissions(metadata.permissions())?;
    if let Ok(time) = metadata.modified() {
        file.set_times(fs::FileTimes::new().set_modified(time))?;
    }
    file.sync_all()?;
    match replaces {
        true => temporary.persist(target).map(drop).map_err(|it| it.error),
        false => temporary.persist_noclobber(target).map(drop).map_err(|it| it.error),
    }
}

/// Returns a name beside a file that no file has; `None` if the copy is there already.
fn free_name_beside(folder: &Path, file: &str, bytes: &[u8]) -> io::Result<Option<String>> {
    let (stem, ending) = file.rsplit_once('.').unwrap_or((file, "md"));
    for number in 1.. {
        let number = if number == 1 { String::new() } else { format!("-{number}") };
        let name = format!("{stem}-from-palace{number}.{ending}");
        match read_if_exists(&folder.join(&name))? {
            None => return Ok(Some(name)),
            Some(there) if there == bytes => return Ok(None),
            Some(_) => {}
        }
    }
    Ok(None)
}

/// Returns the folder in which Claude Code keeps the memory of a project by itself, below its folder
/// of configuration.
pub(super) fn folder_of_host(config: &Path, project: &Path) -> PathBuf {
    let projects = config.join("projects");
    let name = slug_of_project(&project.display().to_string());
    let folder = match name.len() > MAX_SLUG_BYTES {
        true => find_long_slug(&projects, &name[..MAX_SLUG_BYTES]),
        false => None,
    };
    folder.unwrap_or_else(|| projects.join(name)).join("memory")
}

/// The length of a slug from which on Claude Code cuts it, and adds a hash.
const MAX_SLUG_BYTES: usize = 200;

/// Returns the name that Claude Code gives to the folder of a project.
fn slug_of_project(path: &str) -> String {
    let unit = |it: u16| {
        let it = u8::try_from(it).ok().filter(u8::is_ascii_alphanumeric);
        it.map_or('-', char::from)
    };
    path.encode_utf16().map(unit).collect()
}

fn find_long_slug(projects: &Path, begin: &str) -> Option<PathBuf> {
    let names = fs::read_dir(projects).ok()?.flatten();
    let is_it = |it: &fs::DirEntry| {
        let name = it.file_name().to_string_lossy().into_owned();
        name.strip_prefix(begin).is_some_and(|rest| rest.starts_with('-'))
    };
    names.filter(is_it).map(|it| it.path()).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, files: &[(&str, &str)]) {
        for (file, text) in files {
            fs::create_dir_all(folder.join(file).parent().unwrap()).unwrap();
            fs::write(folder.join(file), text).unwrap();
        }
    }

    fn read(folder: &Path) -> Vec<(String, String)> {
        let files = list_files(folder).unwrap().into_iter();
        files.map(|it| (it.clone(), fs::read_to_string(folder.join(it)).unwrap())).collect()
    }

    #[test]
    fn files_are_copied_with_their_times_and_without_overwriting() {
        let folder = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|it| folder.path().join(it));
        assert_eq!(copy_missing_files(&from, &to).unwrap(), CopiedFiles::default());
        write(&from, &[("a.md", "a\r\n"), ("sub/b.md", "b"), ("same.md", "s")]);
        write(&to, &[("a.md", "mine"), ("same.md", "s")]);
        let done = copy_missing_files(&from, &to).unwrap();
        assert_eq!(done, CopiedFiles { copied: 1, different: vec![("a.md".to_owned(), None)] });
        let modified = |it: &Path| fs::metadata(it.join("sub/b.md")).unwrap().modified().unwrap();
        assert_eq!(modified(&from), modified(&to));
        assert_eq!(fs::read_to_string(to.join("a.md")).unwrap(), "mine");
    }

    #[test]
    fn copying_back_replaces_older_versions_only() {
        let folder = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|it| folder.path().join(it));
        write(&from, &[("new.md", "n"), ("old.md", "2"), ("other.md", "2")]);
        write(&to, &[("old.md", "1"), ("other.md", "x")]);
        let is_known = |_: &str, text: &str| text == "1";
        let done = copy_back_files(&from, &to, is_known).unwrap();
        let beside = Some("other-from-palace.md".to_owned());
        let different = vec![("other.md".to_owned(), beside)];
        assert_eq!(done, CopiedFiles { copied: 3, different });
        let expected =
            [("new.md", "n"), ("old.md", "2"), ("other-from-palace.md", "2"), ("other.md", "x")];
        assert_eq!(read(&to), expected.map(|(file, text)| (file.to_owned(), text.to_owned())));
        assert_eq!(copy_back_files(&from, &to, is_known).unwrap(), CopiedFiles::default());
    }

    #[test]
    fn the_folder_of_the_host_is_named_after_the_project() {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path();
        let found = folder_of_host(config, Path::new("/home/ada/my.pro_ject é"));
        assert_eq!(found, config.join("projects/-home-ada-my-pro-ject--/memory"));
        let long = format!("/{}", "a".repeat(300));
        let cut = format!("-{}-1x2y", "a".repeat(199));
        fs::create_dir_all(config.join("projects").join(&cut)).unwrap();
        assert_eq!(
            folder_of_host(config, Path::new(&long)),
            config.join("projects").join(cut).join("memory")
        );
    }
}
