//! Renders the places that contain a text, and the commands that remove it from them.

use std::path::Path;

use serde_json::{Value, json};

use crate::model::{
    TextInCommit, TextInFile, TextInRepository, TextLocations, is_printable, quote_for_shell,
};
use crate::render::text::{count_with_noun, one_line, truncate};

/// Limit for the lines that are listed of a file.
const MAX_LINES: usize = 10;

/// Limit for the commits that are listed of a repository.
const MAX_COMMITS: usize = 200;

/// Limit for the characters of a subject.
const MAX_SUBJECT_CHARS: usize = 60;

/// Where a text can also be, and no search of this machine's palaces finds it.
const NOT_SEARCHED: &str = "\
Not searched: other clones and what was pushed, backups, the memory of running servers, files of \
editors, and the sources from which texts were mined or imported. Found is only the text as it was \
given, on one line, and not encoded in another way.
";

/// Replaces `$TEXT` in the standard input or in files, word for word.
const REPLACE: &str = r#"perl -pe "s/\Q\$ENV{TEXT}\E/[redacted]/g""#;

/// Renders the places that contain a text. `has_filter_repo`: whether `git filter-repo` is
/// installed.
pub fn text_locations(found: &TextLocations, has_filter_repo: bool) -> String {
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
    for repository in &found.repositories {
        page.push_str(&removal_page(repository, has_filter_repo));
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
    let mut page = format!("── {} ──\n\n", it.work.display());
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
        page.extend(it.tags.iter().map(|it| format!("  {it}\n")));
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
            true => format!("  {} (in its name)\n", it.path.display()),
            false => format!("  {}:{}{more}\n", it.path.display(), lines.join(",")),
        }
    };
    files.iter().map(line).collect()
}

fn commit_line(it: &TextInCommit) -> String {
    let TextInCommit { commit, paths, is_in_message, is_referenced } = it;
    let date = commit.at.format("%Y-%m-%d");
    let subject = truncate(&one_line(&commit.subject), MAX_SUBJECT_CHARS);
    let lost = if *is_referenced { "" } else { " (no branch leads to it)" };
    let mut page = format!("  {} {date} {subject}{lost}\n", commit.short);
    if *is_in_message {
        page.push_str("    in its message\n");
    }
    page.extend(paths.iter().map(|it| format!("    {it}\n")));
    page
}

/// Renders the commands that remove a text from a repository. They read it from the terminal, so
/// that it stands in no history of a shell.
fn removal_page(it: &TextInRepository, has_filter_repo: bool) -> String {
    let name = it.work.display();
    let mut page = format!("\n── To remove it from {name} ──\n\n");
    page.push_str("If it is a secret, withdraw it first where it was issued. ");
    if !it.files.is_empty() {
        page.push_str("Replace it in the files, and commit them. ");
    }
    page.push_str("Stop the servers of the palaces, and make a copy of the folder. Then:\n\n");
    page.push_str(&format!("  cd {}\n", shell_path(&it.work)));
    let is_rewritten = it.commits.iter().any(|it| it.is_referenced) || !it.tags.is_empty();
    let commands = match (is_rewritten, has_filter_repo) {
        (false, _) => Vec::new(),
        (true, true) => filter_repo_commands(),
        (true, false) => filter_branch_commands(&it.tags),
    };
    page.extend(commands.iter().map(|it| format!("  {it}\n")));
    if it.is_in_history() || !it.git_files.is_empty() {
        page.push_str("  git reflog expire --expire=now --expire-unreachable=now --all\n");
        page.push_str("  git gc --quiet --prune=now\n");
        page.push_str("  rm -rf \"$(git rev-parse --git-common-dir)/palazzo/cache\"\n");
    }
    if is_rewritten {
        page.push_str(
            "\nThis gives all later commits new ids, and the last commands drop stashes and \
             everything that could be recovered.\n",
        );
        page.push_str(&push_page(&it.remotes));
    }
    page
}

/// Returns the commands of `git filter-repo`; a text file contains the text.
fn filter_repo_commands() -> Vec<String> {
    let filter = "git filter-repo --force --replace-text \"$FILE\" --replace-message \"$FILE\"";
    vec![
        "FILE=$(mktemp) && cat > \"$FILE\"    # type the text, Enter, Ctrl-D".to_owned(),
        filter.to_owned(),
        "rm \"$FILE\"".to_owned(),
    ]
}

/// Returns the commands of git alone; a variable contains the text. The messages of tags are
/// replaced as a whole.
fn filter_branch_commands(tags: &[String]) -> Vec<String> {
    let replace_tag = |it: &String| {
        let (tag, target) = (quote_for_shell(it), quote_for_shell(&format!("{it}^{{}}")));
        format!("git tag -f -a -m '[redacted]' {tag} {target}")
    };
    let in_files = REPLACE.replacen("-pe", "-pi -e", 1);
    let tree_filter = format!("grep -rlF --null -e \"$TEXT\" . | xargs -0 -r {in_files}");
    let mut commands: Vec<_> = tags.iter().map(replace_tag).collect();
    commands.extend([
        "TEXT=$(cat) && export TEXT    # type the text, Enter, Ctrl-D".to_owned(),
        format!(
            "FILTER_BRANCH_SQUELCH_WARNING=1 git filter-branch -f --tree-filter '{tree_filter}' \
             --msg-filter '{REPLACE}' --tag-name-filter cat -- --all"
        ),
        "git for-each-ref --format='delete %(refname)' refs/original | git update-ref --stdin"
            .to_owned(),
        "unset TEXT".to_owned(),
    ]);
    commands
}

/// Renders what to do about remotes.
fn push_page(remotes: &[String]) -> String {
    if remotes.is_empty() {
        return String::new();
    }
    let push = |it: &String| {
        let remote = quote_for_shell(it);
        format!("  git push --force --all {remote} && git push --force --tags {remote}\n")
    };
    let pushes: String = remotes.iter().map(push).collect();
    format!(
        "\nIf it was pushed, replace the commits there too. Everybody with another clone must clone \
         again, else a sync brings it back; a host may keep old commits until you ask it to remove \
         them. `git filter-repo` removes the remote: add it again first.\n\n{pushes}"
    )
}

fn shell_path(path: &Path) -> String {
    quote_for_shell(
        &path.display().to_string().chars().filter(|it| is_printable(*it)).collect::<String>(),
    )
}
