//! The patterns of `.gitignore` files, in any folder: it need not be in a repository.

use std::path::{Path, PathBuf};

use gix::bstr::ByteSlice as _;
use gix::glob::pattern::Case;
use gix::ignore::Search;
use gix::ignore::search::Ignore;

const IGNORE_FILE: &str = ".gitignore";

/// The rules that apply in a folder: those of its repository, and of each folder down to it.
#[derive(Debug, Default)]
pub struct IgnoreRules(Vec<(PathBuf, Search)>);

impl IgnoreRules {
    /// Reads the rules of the folders above `folder`, if it is in a repository that does not ignore
    /// the folder itself.
    pub fn above(folder: &Path) -> Self {
        let mut rules = Self::default();
        let is_repository = |it: &&Path| it.join(".git").symlink_metadata().is_ok();
        // The rules above a repository do not apply in it.
        let Some(root) = folder.ancestors().find(is_repository).filter(|it| *it != folder) else {
            return rules;
        };
        let mut above: Vec<_> = folder.ancestors().take_while(|it| *it != root).collect();
        let mut parent = root;
        while let Some(child) = above.pop() {
            rules.enter(parent);
            if rules.excludes(child, true) {
                return Self::default();
            }
            parent = child;
        }
        rules
    }

    /// Adds the rules in `folder`, and returns a number for [`leave`](Self::leave).
    pub fn enter(&mut self, folder: &Path) -> usize {
        let outer = self.0.len();
        for file in [folder.join(".git/info/exclude"), folder.join(IGNORE_FILE)] {
            // Reading a FIFO would wait for another process.
            let Some(text) = file.is_file().then(|| std::fs::read(&file)).and_then(Result::ok)
            else {
                continue;
            };
            let mut search = Search::default();
            let parsed = search.add_patterns_buffer(&text, &file, None, Ignore::default());
            if parsed.is_ok() {
                self.0.push((folder.to_owned(), search));
            }
        }
        outer
    }

    /// Removes the rules of a folder; `outer` is what [`enter`](Self::enter) returned for it.
    pub fn leave(&mut self, outer: usize) {
        self.0.truncate(outer);
    }

    /// Returns true if the rules exclude `path`. Its folder must not be excluded.
    pub fn excludes(&self, path: &Path, is_folder: bool) -> bool {
        let found = self.0.iter().rev().find_map(|(folder, search)| {
            let path = gix::path::into_bstr(path.strip_prefix(folder).ok()?).ok()?;
            let path = gix::path::to_unix_separators_on_windows(path);
            let path = path.as_ref().as_bstr();
            search.pattern_matching_relative_path(path, Some(is_folder), Case::Sensitive)
        });
        found.is_some_and(|it| !it.pattern.is_negative())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates files in a folder.
    fn folder_with(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    #[test]
    fn patterns_are_relative_to_their_file_and_the_innermost_decides() {
        let rules = [
            (".gitignore", "/build/\n*.tmp.md\n!keep.tmp.md\ndocs/api/\n"),
            ("docs/.gitignore", "!b.tmp.md\nsecret.md\n"),
        ];
        let folder = folder_with(&rules);
        let mut rules = IgnoreRules::default();
        rules.enter(folder.path());
        let outer = rules.enter(&folder.path().join("docs"));
        let is_ignored = |rules: &IgnoreRules, it: &str| {
            rules.excludes(&folder.path().join(it), it.ends_with('/'))
        };
        for it in ["build/", "a.tmp.md", "docs/a.tmp.md", "docs/api/", "docs/secret.md"] {
            assert!(is_ignored(&rules, it), "{it}");
        }
        for it in ["build", "docs/build/", "keep.tmp.md", "docs/b.tmp.md", "secret.md"] {
            assert!(!is_ignored(&rules, it), "{it}");
        }
        rules.leave(outer);
        assert!(!is_ignored(&rules, "docs/secret.md") && is_ignored(&rules, "docs/b.tmp.md"));
    }

    #[test]
    fn the_rules_above_a_folder_end_at_its_repository() {
        let folder = folder_with(&[
            (".gitignore", "*.md\n"),
            ("project/.git/info/exclude", "private.md\n"),
            ("project/.gitignore", "draft.md\n/dist/\n"),
            ("project/docs/a.md", ""),
            ("project/dist/docs/a.md", ""),
            ("loose/docs/a.md", ""),
        ]);
        let excluded = |folder: &Path| {
            let rules = IgnoreRules::above(folder);
            let names = ["a.md", "draft.md", "private.md"].into_iter();
            names.filter(|it| rules.excludes(&folder.join(it), false)).collect::<Vec<_>>()
        };
        let project = folder.path().join("project");
        assert_eq!(excluded(&project.join("docs")), ["draft.md", "private.md"]);
        let none: [&str; 0] = [];
        assert_eq!(excluded(&project), none, "its own rules are read when it is entered");
        assert_eq!(excluded(&project.join("dist/docs")), none, "a named folder is not ignored");
        assert_eq!(excluded(&folder.path().join("loose/docs")), none);
    }
}
