//! Lists the notes of a palace on disk: Markdown files beside it, which Palazzo reads and never
//! changes. Files that git ignores are none, nor is what other repositories and palaces contain.

use std::fs;
use std::path::Path;

use palazzo_core::model::{Code, Diagnostic, NoteFolders, is_markdown_file};

use crate::repo::ignore_rules::IgnoreRules;
use crate::repo::note_folders::{LocatedNoteFolder, LocatedNoteFolders};
use crate::repo::palace_files::{
    FileStamp, FileStamps, LINK, MAX_DRAWER_DEPTH, NOT_UNICODE, SETTINGS_FILE, TOO_DEEP,
};
use crate::repo::paths;

/// The maximum number of notes of a palace.
const MAX_NOTES: usize = 100_000;

/// The notes of a palace on disk.
#[derive(Debug, Default)]
pub(crate) struct NoteListing {
    /// The notes with their stamps, by their paths from the palace.
    pub(crate) stamps: FileStamps,
    /// The entries that cannot be used.
    pub(crate) findings: Vec<Diagnostic>,
    /// The folders that were listed, by their paths from the palace.
    pub(crate) folders: Vec<String>,
}

/// Lists the notes at or below `path`, all of them if it is empty; `work` is the working directory.
pub(crate) fn list_notes(work: &Path, folders: &LocatedNoteFolders, path: &str) -> NoteListing {
    let mut walk = NoteWalk {
        folders: &folders.folders,
        rules: IgnoreRules::default(),
        listing: NoteListing::default(),
    };
    for (refused, why) in &folders.refused {
        if path.is_empty() || path == refused {
            walk.add_finding(refused, why);
        }
    }
    for folder in &folders.located {
        if path.is_empty() {
            walk.add_note_folder(work, folder);
        } else if let Some(below) = folder.path_below(path) {
            walk.add_entry_below(work, folder, below);
        }
    }
    walk.listing
}

struct NoteWalk<'f> {
    folders: &'f NoteFolders,
    rules: IgnoreRules,
    listing: NoteListing,
}

impl NoteWalk<'_> {
    /// Adds all notes of a folder.
    fn add_note_folder(&mut self, work: &Path, folder: &LocatedNoteFolder) {
        match self.enter_parents(work, &folder.path_in_repository) {
            Ok(()) => {
                let place = folder.place(work);
                let names = folder.path.split('/').filter(|it| !matches!(*it, "" | "..")).count();
                // The folder around the palace may have one, but none of those on the way from there.
                if place.ancestors().take(names).any(is_boundary) {
                    let why = "this folder is a palace or a repository of its own";
                    self.add_finding(&folder.path, why);
                } else {
                    self.add_folder(&place, &folder.path, 0);
                }
            }
            Err(why) => self.add_finding(&folder.path, why),
        }
        self.rules.leave(0);
    }

    /// Adds the file, or the notes of the folder, at the path `below` a folder.
    fn add_entry_below(&mut self, work: &Path, folder: &LocatedNoteFolder, below: &str) {
        if below.is_empty() {
            return self.add_note_folder(work, folder);
        }
        let (parent, name) = below.rsplit_once('/').unwrap_or(("", below));
        let in_repository = [folder.path_in_repository.as_str(), parent];
        let in_repository = in_repository.into_iter().filter(|it| !it.is_empty());
        let in_repository = in_repository.collect::<Vec<_>>().join("/");
        let depth = below.matches('/').count();
        let is_hidden = below.split('/').any(|it| it.starts_with('.'));
        let mut above = parent.match_indices('/').map(|(at, _)| &parent[..at]).chain([parent]);
        let is_bounded =
            above.any(|it| !it.is_empty() && is_boundary(&folder.place(work).join(it)));
        let place = work.join(&in_repository).join(name);
        if !is_hidden && !is_bounded && self.enter_parents(work, &in_repository).is_ok() {
            self.rules.enter(&work.join(&in_repository));
            if let Ok(metadata) = fs::symlink_metadata(&place) {
                let path = folder.path_from_palace(below);
                self.add_entry(&place, &path, &metadata, depth);
            }
        }
        self.rules.leave(0);
    }

    /// Takes the rules of the folders above `folder`, a path in the repository. The error says why
    /// the folder has no notes.
    fn enter_parents(&mut self, work: &Path, folder: &str) -> Result<(), &'static str> {
        if !folder.is_empty() && paths::reject_symbolic_links(work, folder).is_err() {
            return Err("part of the path is a symbolic link");
        }
        let mut place = work.to_owned();
        for name in folder.split('/').filter(|it| !it.is_empty()) {
            self.rules.enter(&place);
            place.push(name);
            if self.rules.excludes(&place, true) {
                return Err("git ignores this folder");
            }
        }
        if place.is_dir() { Ok(()) } else { Err("there is no such folder") }
    }

    fn add_folder(&mut self, place: &Path, path: &str, depth: usize) {
        let entries = match fs::read_dir(place) {
            Ok(entries) => entries,
            Err(err) => {
                return self.add_finding(path, &format!("this cannot be listed: {err}"));
            }
        };
        self.listing.folders.push(path.to_owned());
        let outer = self.rules.enter(place);
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let path = if path.is_empty() { name.to_string() } else { format!("{path}/{name}") };
            let Ok(metadata) = entry.metadata() else { continue };
            if entry.file_name().to_str().is_none() {
                if metadata.is_dir() || is_markdown_file(&path) {
                    self.add_finding(&path, NOT_UNICODE.1);
                }
                continue;
            }
            self.add_entry(&entry.path(), &path, &metadata, depth);
        }
        self.rules.leave(outer);
    }

    /// Adds a note, or the notes of a folder. The rules of the folder around it were taken.
    fn add_entry(&mut self, place: &Path, path: &str, metadata: &fs::Metadata, depth: usize) {
        let name = path.rsplit('/').next().unwrap_or(path);
        if name.starts_with('.') || paths::check_path(name).is_err() {
            return;
        }
        if metadata.is_dir() {
            let is_left_out = !self.folders.may_contain(path)
                || self.rules.excludes(place, true)
                || is_boundary(place);
            match depth + 1 < MAX_DRAWER_DEPTH {
                _ if is_left_out => {}
                true => self.add_folder(place, path, depth + 1),
                false => self.add_finding(path, TOO_DEEP.1),
            }
            return;
        }
        if !self.folders.contains(path) || self.rules.excludes(place, false) {
            return;
        }
        if metadata.is_symlink() {
            self.add_finding(path, LINK.1);
        } else if self.listing.stamps.len() >= MAX_NOTES {
            self.add_finding(path, "there are too many notes: at most 100,000 are read");
        } else if metadata.is_file() {
            self.listing.stamps.insert(path.to_owned(), FileStamp::from_metadata(metadata));
        }
    }

    fn add_finding(&mut self, path: &str, message: &str) {
        // The palace itself has no path.
        let path = if path.is_empty() { SETTINGS_FILE } else { path };
        self.listing.findings.push(Diagnostic::for_file(Code::NoteNotRead, path, message));
    }
}

/// Returns whether a folder is a palace, or the root of a repository.
fn is_boundary(place: &Path) -> bool {
    [SETTINGS_FILE, ".git"].iter().any(|it| place.join(it).symlink_metadata().is_ok())
}
