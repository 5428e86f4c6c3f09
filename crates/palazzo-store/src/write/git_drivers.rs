//! Installs drivers for palace files in git: attributes in the palace, drivers in the configuration
//! of the repository.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::repo::regular_file;
use crate::repo::rename;
use crate::repo::repository::Repository;
use crate::repo::shared_mode::SharedMode;
use crate::repo::temporary_names::TEMPORARY_SUFFIX;
use crate::write::lock_file::LockFile;
use crate::write::palazzo_lock::{self, WRITE_LOCK};
use crate::write::recovery;
use crate::{Error, Store};

/// The file with the attributes, in the palace folder.
const ATTRIBUTES_FILE: &str = ".gitattributes";

/// Drivers that are to be installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitDrivers {
    /// The first line of an attributes file that did not exist before.
    pub comment: String,
    /// The patterns of the files, each with their attributes: `diff=palazzo merge=palazzo`.
    pub patterns: Vec<(String, String)>,
    /// The sections of the configuration.
    pub sections: Vec<DriverSection>,
}

/// A section of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverSection {
    /// The line with its name: `[diff "palazzo"]`.
    pub header: String,
    /// The key and value of each setting.
    pub settings: Vec<(&'static str, String)>,
    /// The keys of all settings that this version or an earlier one installs, with a text that
    /// such a value contains.
    pub marks: Vec<(&'static str, &'static str)>,
}

/// A file that was changed to install or remove drivers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverFileChange {
    /// The file.
    pub file: PathBuf,
    /// Whether the file existed before.
    pub existed: bool,
    /// Whether the file exists now.
    pub exists: bool,
}

impl Store {
    /// Fails if a file that drivers are installed in, or that git reads with it, cannot be read or
    /// is no regular file: git would wait for a FIFO, and a link may lead anywhere.
    pub fn check_git_driver_files(&self) -> Result<(), Error> {
        let repository = self.require_repository()?;
        let depth = repository.prefix.split('/').filter(|it| !it.is_empty()).count();
        for folder in repository.palace.ancestors().take(depth + 1) {
            regular_file::read_regular_file(&folder.join(ATTRIBUTES_FILE))?;
        }
        regular_file::read_regular_file(&repository.common_dir.join("config")).map(drop)
    }

    /// Installs drivers; returns the files that were changed.
    pub fn install_git_drivers(
        &self,
        drivers: &GitDrivers,
    ) -> Result<Vec<DriverFileChange>, Error> {
        self.edit_driver_files(
            |text| attributes_with(text, drivers),
            |text| configuration_with(text, drivers),
        )
    }

    /// Removes drivers, whatever their settings are; returns the files that were changed.
    pub fn remove_git_drivers(&self, drivers: &GitDrivers) -> Result<Vec<DriverFileChange>, Error> {
        self.edit_driver_files(
            |text| attributes_without(text?, drivers),
            |text| configuration_without(text, drivers),
        )
    }

    /// Edits the attributes file, which may be missing and be removed, and the configuration.
    fn edit_driver_files(
        &self,
        edit_attributes: impl FnOnce(Option<&[u8]>) -> Option<Vec<u8>>,
        edit_configuration: impl FnOnce(&[u8]) -> Vec<u8>,
    ) -> Result<Vec<DriverFileChange>, Error> {
        let repository = self.require_repository()?;
        let _lock = palazzo_lock::acquire_palazzo_lock(
            &repository,
            WRITE_LOCK,
            self.writer.lock_timeouts.palazzo,
        )?;
        recovery::recover_and_open_marker(&repository, &self.writer.lock_timeouts)?;
        let mut changed = Vec::new();
        let attributes = repository.palace.join(ATTRIBUTES_FILE);
        let was = regular_file::read_regular_file(&attributes)?;
        let now = edit_attributes(was.as_deref());
        if was != now {
            write_attributes(&attributes, now.as_deref(), repository.shared_mode)?;
            let (existed, exists) = (was.is_some(), now.is_some());
            changed.push(DriverFileChange { file: attributes, existed, exists });
        }
        let deadline = Instant::now() + self.writer.lock_timeouts.index;
        if write_configuration(&repository, deadline, edit_configuration)? {
            let file = repository.common_dir.join("config");
            changed.push(DriverFileChange { file, existed: true, exists: true });
        }
        Ok(changed)
    }
}

/// Writes or removes the attributes file.
fn write_attributes(
    file: &Path,
    text: Option<&[u8]>,
    shared_mode: SharedMode,
) -> Result<(), Error> {
    let Some(text) = text else {
        return fs::remove_file(file).map_err(Error::for_file("remove", file));
    };
    let name = format!("{ATTRIBUTES_FILE}.palazzo-{}{TEMPORARY_SUFFIX}", std::process::id());
    let temporary = file.with_file_name(name);
    let write = || {
        let mut new = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
        match fs::metadata(file) {
            Ok(old) => new.set_permissions(old.permissions())?,
            Err(_) => shared_mode.adjust_file(&new)?,
        }
        new.write_all(text)?;
        new.sync_all()?;
        rename::rename(&temporary, file)
    };
    write().map_err(|err| {
        drop(fs::remove_file(&temporary));
        Error::for_file("write", file)(err)
    })
}

/// Edits the configuration under git's lock; returns whether it was changed.
pub(crate) fn write_configuration(
    repository: &Repository,
    deadline: Instant,
    edit: impl FnOnce(&[u8]) -> Vec<u8>,
) -> Result<bool, Error> {
    let file = repository.common_dir.join("config");
    let mut lock =
        LockFile::acquire(repository, &repository.common_dir, "config", deadline, &mut |_, _| {
            Ok(())
        })?;
    let was = regular_file::read_regular_file(&file)?.unwrap_or_default();
    let now = edit(&was);
    if was == now {
        return Ok(false);
    }
    let mut write = || {
        if let Ok(old) = fs::metadata(&file) {
            fs::set_permissions(lock.path(), old.permissions())?;
        }
        lock.write_all(&now)?;
        lock.sync()
    };
    write().and_then(|()| lock.commit()).map_err(Error::for_file("write", &file))?;
    Ok(true)
}

fn attributes_with(text: Option<&[u8]>, drivers: &GitDrivers) -> Option<Vec<u8>> {
    let line = |(pattern, attributes): &(String, String)| format!("{pattern} {attributes}");
    let lines = drivers.patterns.iter().map(line);
    let mut lines: Vec<_> = lines.collect();
    let old = text.unwrap_or_default();
    let present: Vec<_> = own_attribute_lines(old, drivers).collect();
    if present.iter().copied().eq(lines.iter().map(String::as_bytes)) {
        return text.map(<[u8]>::to_vec);
    }
    let rest = attributes_without(old, drivers);
    if text.is_none() || rest.is_none() {
        lines.insert(0, drivers.comment.clone());
    }
    Some(append_lines(&rest.unwrap_or_default(), &lines))
}

/// Removes our attributes; `None` if the file would be empty and did not exist before.
fn attributes_without(text: &[u8], drivers: &GitDrivers) -> Option<Vec<u8>> {
    let mut has_comment = false;
    let left = remove_lines(text, |line| {
        let is_comment = line == drivers.comment.as_bytes();
        has_comment |= is_comment;
        is_comment || is_own_attribute_line(line, drivers)
    });
    (!has_comment || !left.is_empty()).then_some(left)
}

fn own_attribute_lines<'a>(
    text: &'a [u8],
    drivers: &'a GitDrivers,
) -> impl Iterator<Item = &'a [u8]> {
    text.split(|it| *it == b'\n').filter(|it| is_own_attribute_line(it, drivers))
}

/// Returns whether a line gives only our attributes to one of our patterns.
fn is_own_attribute_line(line: &[u8], drivers: &GitDrivers) -> bool {
    let Ok(line) = std::str::from_utf8(line) else { return false };
    let mut words = line.split_whitespace();
    let pattern = words.next();
    let own = drivers.patterns.iter().find(|(own, _)| Some(own.as_str()) == pattern);
    let mut attributes = words.peekable();
    own.is_some_and(|(_, own)| {
        attributes.peek().is_some()
            && attributes.all(|it| own.split_whitespace().any(|own| own == it))
    })
}

fn configuration_with(text: &[u8], drivers: &GitDrivers) -> Vec<u8> {
    let mut text = text.to_vec();
    for section in &drivers.sections {
        let lines: Vec<_> = section.settings.iter().map(setting_line).collect();
        let present: Vec<_> = text.split(|it| *it == b'\n').collect();
        let own = present.iter().filter(|it| is_setting_of_section(it, section));
        if own.copied().eq(lines.iter().map(String::as_bytes)) {
            continue;
        }
        let left =
            remove_section_lines(&text, &section.header, |it| is_setting_of_section(it, section));
        let lines = [vec![section.header.clone()], lines].concat();
        text = append_lines(&left, &lines);
    }
    text
}

fn configuration_without(text: &[u8], drivers: &GitDrivers) -> Vec<u8> {
    let remove = |text: Vec<u8>, section: &DriverSection| {
        remove_section_lines(&text, &section.header, |it| is_setting_of_section(it, section))
    };
    drivers.sections.iter().fold(text.to_vec(), remove)
}

/// Returns a line of a section as `git config` writes it.
fn setting_line((key, value): &(&str, String)) -> String {
    format!("\t{key} = \"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

fn is_setting_of_section(line: &[u8], section: &DriverSection) -> bool {
    let Ok(line) = std::str::from_utf8(line) else { return false };
    let Some((key, value)) = line.split_once('=') else { return false };
    section.marks.iter().any(|(own, mark)| key.trim() == *own && value.contains(mark))
}

/// The line behind our lines if the text before them did not end with a line break.
const NO_LINE_BREAK_MARK: &[u8] = b"# palazzo: no line break before these lines";

/// Appends lines to a text. A mark remembers if the text did not end with a line break.
///
/// Bytes are kept as they are: a text to which lines were added, and from which they were removed,
/// is the same as before, also if others added lines meanwhile.
pub(crate) fn append_lines(text: &[u8], lines: &[String]) -> Vec<u8> {
    let lines = lines.join("\n");
    let is_ended = text.is_empty() || text.ends_with(b"\n");
    match is_ended {
        true => [text, lines.as_bytes(), b"\n"].concat(),
        false => [text, b"\n", lines.as_bytes(), b"\n", NO_LINE_BREAK_MARK, b"\n"].concat(),
    }
}

/// Removes the lines for which `is_own` is true, and the mark of [`append_lines`]; `is_own` receives
/// each line without its line break.
fn remove_lines(text: &[u8], mut is_own: impl FnMut(&[u8]) -> bool) -> Vec<u8> {
    let mut kept: Vec<&[u8]> = Vec::new();
    let mut is_marked_at_end = false;
    for line in text.split_inclusive(|it| *it == b'\n') {
        let content = without_line_break(line);
        if content == NO_LINE_BREAK_MARK {
            is_marked_at_end = true;
            is_own(content);
        } else if !is_own(content) {
            is_marked_at_end = false;
            kept.push(line);
        }
    }
    let mut text_left = kept.concat();
    // The line break before our lines was ours.
    if is_marked_at_end && text_left.ends_with(b"\n") {
        text_left.pop();
    }
    text_left
}

/// Removes `lines` from the sections of a git configuration that are called `header`, and the
/// headers of sections that become empty by this. A line is recognised by `is_own`.
fn remove_section_lines(text: &[u8], header: &str, is_own: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let lines: Vec<_> = text.split(|it| *it == b'\n').map(without_line_break).collect();
    let is_header = |line: &[u8]| line.trim_ascii_start().starts_with(b"[");
    let mut owned = vec![false; lines.len()];
    let mut at = 0;
    while at < lines.len() {
        let end = (at + 1..lines.len()).find(|it| is_header(lines[*it])).unwrap_or(lines.len());
        if lines[at].trim_ascii() == header.as_bytes() {
            let is_own = |it: &usize| is_own(lines[*it]) || lines[*it] == NO_LINE_BREAK_MARK;
            let own: Vec<_> = (at + 1..end).filter(is_own).collect();
            let is_rest_blank =
                (at + 1..end).all(|it| own.contains(&it) || lines[it].trim_ascii().is_empty());
            owned[at] = !own.is_empty() && is_rest_blank;
            for it in own {
                owned[it] = true;
            }
        }
        at = end;
    }
    let mut flags = owned.into_iter();
    remove_lines(text, |_| flags.next().unwrap_or_default())
}

fn without_line_break(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_repository::TestHome;

    fn drivers(program: &str) -> GitDrivers {
        GitDrivers {
            comment: "# ours".to_owned(),
            patterns: ["/rooms/**/*.yaml", "/tasks/*.yaml"]
                .map(|it| (it.to_owned(), "diff=palazzo".to_owned()))
                .to_vec(),
            sections: vec![DriverSection {
                header: "[diff \"palazzo\"]".to_owned(),
                settings: vec![("textconv", format!("'{program}' git-textconv"))],
                marks: vec![("textconv", " git-textconv")],
            }],
        }
    }

    /// Returns the attributes, if there are any, and the configuration.
    fn files(scene: &TestHome) -> (Option<String>, String) {
        let attributes = scene.home.join("keep/.gitattributes");
        (fs::read_to_string(attributes).ok(), scene.read_file(".git/config"))
    }

    #[test]
    fn drivers_are_installed_once_and_removed_without_a_trace() {
        for attributes in [None, Some(""), Some("*.md text"), Some("*.md text\n")] {
            let scene = TestHome::with_repository();
            scene.write_file("keep/palace.toml", "");
            if let Some(text) = attributes {
                scene.write_file("keep/.gitattributes", text);
            }
            let (store, before) = (scene.palace("keep"), files(&scene));
            let changed = store.install_git_drivers(&drivers("/usr/bin/pa \"l\" zzo")).unwrap();
            assert_eq!(changed.len(), 2);
            let value = scene.git(&["config", "diff.palazzo.textconv"]);
            assert_eq!(value.trim(), "'/usr/bin/pa \"l\" zzo' git-textconv");
            let checked = scene.git(&["check-attr", "diff", "keep/rooms/w/hall.yaml"]);
            assert!(checked.ends_with("diff: palazzo\n"), "{checked}");
            let installed = files(&scene);
            let again = store.install_git_drivers(&drivers("/usr/bin/pa \"l\" zzo")).unwrap();
            assert!(again.is_empty(), "{again:?}");
            assert_eq!(files(&scene), installed);
            store.remove_git_drivers(&drivers("")).unwrap();
            assert_eq!(files(&scene), before, "{attributes:?}");
        }
    }

    #[test]
    fn the_files_that_are_created_and_deleted_are_named_as_such() {
        let scene = TestHome::with_repository();
        scene.write_file("keep/palace.toml", "");
        let store = scene.palace("keep");
        let states = |changed: Vec<DriverFileChange>| {
            changed.iter().map(|it| (it.existed, it.exists)).collect::<Vec<_>>()
        };
        let installed = store.install_git_drivers(&drivers("p")).unwrap();
        assert_eq!(states(installed), [(false, true), (true, true)]);
        let removed = store.remove_git_drivers(&drivers("")).unwrap();
        assert_eq!(states(removed), [(true, false), (true, true)]);
    }

    #[cfg(unix)]
    #[test]
    fn attributes_that_are_a_link_in_a_folder_above_are_refused() {
        let scene = TestHome::with_repository();
        scene.write_file("keep/palace.toml", "");
        let store = scene.palace("keep");
        assert!(store.check_git_driver_files().is_ok());
        std::os::unix::fs::symlink("/etc/hostname", scene.home.join(ATTRIBUTES_FILE)).unwrap();
        let refused = store.check_git_driver_files().unwrap_err().to_string();
        assert!(refused.contains(ATTRIBUTES_FILE), "{refused}");
    }

    #[test]
    fn entries_of_others_stay_when_drivers_are_removed() {
        let scene = TestHome::with_repository();
        scene.write_file("keep/palace.toml", "");
        let (store, (_, config)) = (scene.palace("keep"), files(&scene));
        store.install_git_drivers(&drivers("old")).unwrap();
        scene.git(&["config", "user.nickname", "Ada"]);
        scene.git(&["config", "diff.palazzo.binary", "false"]);
        let (attributes, _) = files(&scene);
        scene.write_file("keep/.gitattributes", &(attributes.unwrap() + "*.png binary\n"));
        store.install_git_drivers(&drivers("new")).unwrap();
        assert_eq!(scene.git(&["config", "--get-all", "diff.palazzo.textconv"]).lines().count(), 1);
        store.remove_git_drivers(&drivers("")).unwrap();
        let (attributes, left) = files(&scene);
        assert_eq!(attributes.unwrap(), "*.png binary\n");
        assert!(left.starts_with(&config), "{left}");
        assert_eq!(scene.git(&["config", "diff.palazzo.binary"]).trim(), "false");
        assert_eq!(scene.git(&["config", "user.nickname"]).trim(), "Ada");
        assert!(!left.contains("textconv"), "{left}");
    }

    fn lines() -> Vec<String> {
        ["[diff \"palazzo\"]", "\ttextconv = a", "\tcommand = b"].map(str::to_owned).to_vec()
    }

    fn is_own(line: &[u8]) -> bool {
        [&b"\ttextconv = a"[..], b"\tcommand = b"].contains(&line)
    }

    fn remove(text: &[u8]) -> Vec<u8> {
        remove_section_lines(text, "[diff \"palazzo\"]", is_own)
    }

    #[test]
    fn a_text_is_the_same_after_lines_were_added_and_removed() {
        for text in ["", "a", "a\n", "[core]\n\tbare = false\n", "a\r\nb\r\n", "a\n\n", "\n"] {
            let added = append_lines(text.as_bytes(), &lines());
            assert_ne!(added, text.as_bytes());
            assert_eq!(remove(&added), text.as_bytes(), "{text:?}");
        }
    }

    #[test]
    fn lines_of_others_stay() {
        let text = append_lines(b"[core]\n\tbare = false", &lines());
        let text = [&text[..], b"\tbinary = true\n[user]\n\tname = Ada\n"].concat();
        let left = String::from_utf8(remove(&text)).unwrap();
        let expected =
            "[core]\n\tbare = false\n[diff \"palazzo\"]\n\tbinary = true\n[user]\n\tname = Ada\n";
        assert_eq!(left, expected);
        let other = b"[diff \"other\"]\n\ttextconv = a\n[diff \"palazzo\"]\n";
        assert_eq!(remove(other), other);
    }
}
