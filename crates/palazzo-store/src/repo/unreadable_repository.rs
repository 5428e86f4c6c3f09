//! Explains why git does not accept a folder as a repository.

use palazzo_core::model::{path_text, quote_for_shell, quoted};
use std::path::Path;

use crate::Error;

/// Explains why git does not accept `git_dir` as a repository; usually `HEAD` is damaged.
pub(crate) fn unreadable_repository_error(work: &Path, git_dir: &Path) -> Error {
    // Without a current folder, gix opens no repository, also at a whole path.
    if let Err(err) = std::env::current_dir() {
        return Error::for_file("find the current folder", Path::new("."))(err);
    }
    if git_dir.is_file() {
        return Error::DamagedRepository {
            place: work.to_owned(),
            what: format!("`{}` points to no repository", path_text(git_dir)),
            remedy: "restore the folder that this file names, or run `git worktree repair`"
                .to_owned(),
        };
    }
    let mut branches = Vec::new();
    let heads = git_dir.join("logs/refs/heads");
    for entry in walkdir::WalkDir::new(&heads).into_iter().flatten() {
        let name = entry.path().strip_prefix(&heads).ok().and_then(Path::to_str);
        branches.extend(name.filter(|_| entry.file_type().is_file()).map(str::to_owned));
    }
    branches.sort();
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "/._-".contains(it);
    let branch = match branches.as_slice() {
        [only] if only.chars().all(is_plain) => only,
        _ => "BRANCH",
    };
    let choices = match branches.as_slice() {
        [] | [_] => String::new(),
        several => {
            let names: Vec<_> = several.iter().map(|it| quoted(it)).collect();
            format!(" (existing branches: {})", names.join(", "))
        }
    };
    let head = git_dir.join("HEAD");
    let (head, word) = (path_text(&head), quote_for_shell(&head.display().to_string()));
    Error::DamagedRepository {
        place: work.to_owned(),
        what: format!("`HEAD` in `{}` is invalid", path_text(git_dir)),
        remedy: format!(
            "if `{head}` is empty or damaged, `printf 'ref: refs/heads/{branch}\\n' > {word}` \
             restores it{choices}; `git fsck` reports what else is wrong"
        ),
    }
}
