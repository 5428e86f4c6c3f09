//! Renders the places that contain a text.

use serde_json::{Value, json};

use crate::model::{TextInCommit, TextInFile, TextInRepository, TextLocations, path_text, quoted};
use crate::render::text::{count_with_noun, one_line, truncate};

/// Limit for the lines that are listed of a file.
const MAX_LINES: usize = 10;

/// Limit for the commits that are listed of a repository.
const MAX_COMMITS: usize = 200;

/// Limit for the characters of a subject.
const MAX_SUBJECT_CHARS: usize = 60;

/// Where a text can also be, and no search of this machine's palaces finds it.
const NOT_SEARCHED: &str = "\
Not searched: other clones and what was pushed, backups, the memory of running servers, files of
editors, and the sources from which texts were mined or imported. Found is only the text as it was
given, on one line, and not encoded in another way; in names of files also as a slug.
";

/// Where to read on.
const HOW_TO_REMOVE: &str = "
If it is a secret, withdraw it first where it was issued, and replace it in the files. The page on
security of the book tells how to remove it from the history (\"When a secret was committed\").
";

/// Renders the places that contain a text.
pub fn text_locations(found: &TextLocations) -> String {
    let mut page = String::new();
    for repository in &found.repositories {
        page.push_str(&repository_page(repository));
    }
    if !found.state_files.is_empty() {
        page.push_str(&format!("Files of Palazzo:\n{}\n", file_lines(&found.state_files)));
    }
    if found.unread_count > 0 {
        let unread = count_with_noun(found.unread_count, "file or object");
        page.push_str(&format!("Could not be read, and may contain it: {unread}.\n\n"));
    }
    if page.is_empty() {
        page.push_str("Nothing found.\n\n");
    }
    page.push_str(NOT_SEARCHED);
    if !found.repositories.is_empty() {
        page.push_str(HOW_TO_REMOVE);
    }
    page
}

/// Renders the places that contain a text as JSON.
pub fn text_locations_json(found: &TextLocations) -> String {
    let file = |it: &TextInFile| json!({ "path": it.path, "lines": it.lines });
    let files = |all: &[TextInFile]| -> Value { all.iter().map(file).collect() };
    let commit = |it: &TextInCommit| {
        json!({
            "id": it.commit.id.0,
            "subject": it.commit.subject,
            "at": it.commit.at,
            "paths": it.paths,
            "in_message": it.is_in_message,
            "referenced": it.is_referenced,
            "proposals": it.proposals,
        })
    };
    let repository = |it: &TextInRepository| {
        json!({
            "directory": it.work,
            "files": files(&it.files),
            "commits": it.commits.iter().map(commit).collect::<Vec<_>>(),
            "tags": it.tags,
            "objects": it.objects,
            "git_files": files(&it.git_files),
            "remotes": it.remotes,
        })
    };
    let all = json!({
        "repositories": found.repositories.iter().map(repository).collect::<Vec<_>>(),
        "state_files": files(&found.state_files),
        "unread": found.unread_count,
    });
    format!("{all:#}\n")
}

fn repository_page(it: &TextInRepository) -> String {
    let mut page = format!("── {} ──\n\n", path_text(&it.work));
    if !it.files.is_empty() {
        page.push_str(&format!("Files:\n{}\n", file_lines(&it.files)));
    }
    if !it.commits.is_empty() {
        page.push_str("Commits that added it:\n");
        page.extend(it.commits.iter().take(MAX_COMMITS).map(commit_line));
        if let Some(more) = it.commits.len().checked_sub(MAX_COMMITS).filter(|it| *it > 0) {
            page.push_str(&format!("  and {more} more\n"));
        }
        page.push('\n');
    }
    if !it.tags.is_empty() {
        page.push_str("Tags with it in their message:\n");
        page.extend(it.tags.iter().map(|it| format!("  {}\n", path_text(it))));
        page.push('\n');
    }
    if !it.objects.is_empty() {
        page.push_str("Objects that are in no commit:\n");
        page.extend(it.objects.iter().map(|it| format!("  {it}\n")));
        page.push('\n');
    }
    if !it.git_files.is_empty() {
        page.push_str(&format!("Caches, logs and settings:\n{}\n", file_lines(&it.git_files)));
    }
    page
}

fn file_lines(files: &[TextInFile]) -> String {
    let line = |it: &TextInFile| {
        let lines: Vec<_> = it.lines.iter().take(MAX_LINES).map(ToString::to_string).collect();
        let more = if it.lines.len() > MAX_LINES { ", …" } else { "" };
        match lines.is_empty() {
            true => format!("  {} (in its name)\n", path_text(&it.path)),
            false => format!("  {}:{}{more}\n", path_text(&it.path), lines.join(",")),
        }
    };
    files.iter().map(line).collect()
}

fn commit_line(it: &TextInCommit) -> String {
    let TextInCommit { commit, paths, is_in_message, is_referenced, proposals } = it;
    let date = commit.at.format("%Y-%m-%d");
    let subject = truncate(&one_line(&commit.subject), MAX_SUBJECT_CHARS);
    let names: Vec<_> = proposals.iter().map(|it| quoted(it)).collect();
    let place = match (is_referenced, names.as_slice()) {
        (false, _) => " (no branch leads to it)".to_owned(),
        (true, []) => String::new(),
        (true, names) => format!(" (proposed on {})", names.join(", ")),
    };
    let mut page = format!("  {} {date} {subject}{place}\n", commit.short);
    if *is_in_message {
        page.push_str("    in its message\n");
    }
    page.extend(paths.iter().map(|it| format!("    {}\n", path_text(it))));
    page
}
