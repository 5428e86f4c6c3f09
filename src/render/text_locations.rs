//! Renders the places that contain a text, and the commands that remove it from them.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::model::{
    SoughtText, TextInCommit, TextInFile, TextInRepository, TextLocations, is_printable, path_text,
    quote_for_shell,
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
given, on one line, and not encoded in another way; in names of files also as a slug.
";

/// Reads the text into a variable.
const READ_TEXT: &str = "  TEXT=$(cat)    # type the text, Enter, Ctrl-D\n";

/// What replaces the text. YAML reads a text with brackets or stars otherwise.
const REPLACEMENT: &str = "REDACTED";

/// Replaces `$TEXT` in the standard input or in files, word for word.
const REPLACE: &str = r#"perl -pe "s/\Q\$ENV{TEXT}\E/REDACTED/g""#;

/// Renders the places that contain `text`. `has_filter_repo`: whether `git filter-repo` is
/// installed.
pub fn text_locations(found: &TextLocations, text: &str, has_filter_repo: bool) -> String {
    let (mut page, sought) = (String::new(), SoughtText::new(text));
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
        page.push_str(&removal_page(repository, &sought, has_filter_repo));
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
    let TextInCommit { commit, paths, is_in_message, is_referenced } = it;
    let date = commit.at.format("%Y-%m-%d");
    let subject = truncate(&one_line(&commit.subject), MAX_SUBJECT_CHARS);
    let lost = if *is_referenced { "" } else { " (no branch leads to it)" };
    let mut page = format!("  {} {date} {subject}{lost}\n", commit.short);
    if *is_in_message {
        page.push_str("    in its message\n");
    }
    page.extend(paths.iter().map(|it| format!("    {}\n", path_text(it))));
    page
}

/// Renders the commands that remove a text from a repository. They read it from the terminal, so
/// that it stands in no history of a shell, and each runs only if the one before it succeeded.
fn removal_page(it: &TextInRepository, sought: &SoughtText, has_filter_repo: bool) -> String {
    let name = path_text(&it.work);
    let mut page = format!("\n── To remove it from {name} ──\n\n");
    let Some(work) = exact_shell_path(&it.work) else {
        page.push_str("The path of the folder cannot be printed: rename it, and search again.\n");
        return page;
    };
    page.push_str("If it is a secret, withdraw it first where it was issued. ");
    if !it.files.is_empty() {
        page.push_str("Replace it in the files by REDACTED, and commit them. ");
    }
    let is_rewritten = it.commits.iter().any(|it| it.is_referenced) || !it.tags.is_empty();
    let git = format!("git -C {work}");
    let mut commands = match (is_rewritten, has_filter_repo) {
        (false, _) => Vec::new(),
        (true, true) => filter_repo_commands(&git, &path_renames(it, sought)),
        (true, false) => filter_branch_commands(&git, &path_renames(it, sought), &it.tags),
    };
    commands.extend(cleaning_commands(it, &git));
    if !commands.is_empty() {
        page.push_str("Stop the servers of the palaces, and make a copy of the folder. Then:\n\n");
        let (first, last) = match (is_rewritten, has_filter_repo) {
            (false, _) => ("", ""),
            (true, true) => (READ_TEXT, "  unset TEXT; rm -f \"$FILE\"\n"),
            (true, false) => (READ_TEXT, "  unset TEXT\n"),
        };
        page.push_str(&format!("{first}  {}\n{last}", commands.join(" &&\n  ")));
    }
    page.push_str(&manual_removal_page(it));
    if is_rewritten {
        page.push_str(
            "\nThis gives all later commits new ids, and the last commands drop stashes and \
             everything that could be recovered.\n",
        );
        page.push_str(&push_page(&it.remotes));
    }
    page
}

/// Returns the commands that remove what the history does not need any more.
fn cleaning_commands(it: &TextInRepository, git: &str) -> Vec<String> {
    // The index of a proposal would keep the old files, and its next commit bring them back.
    let reset = |it: String| format!("git -C {it} reset --quiet --hard");
    let worktrees = it.proposals.iter().filter_map(|it| exact_shell_path(it));
    let mut commands: Vec<_> = worktrees.map(reset).collect();
    if it.is_in_history() || !it.git_files.is_empty() {
        commands.extend([
            format!("{git} reflog expire --expire=now --expire-unreachable=now --all"),
            format!("{git} gc --quiet --prune=now"),
            format!("GIT=$({git} rev-parse --path-format=absolute --git-common-dir)"),
            "rm -rf \"$GIT/palazzo/cache\" \"$GIT/COMMIT_EDITMSG\"".to_owned(),
        ]);
    }
    commands
}

/// Returns the old and the new path of each file of the history that has the text in its path.
fn path_renames(it: &TextInRepository, sought: &SoughtText) -> BTreeMap<String, String> {
    let paths = it.commits.iter().flat_map(|it| &it.paths);
    paths.filter_map(|it| Some((it.clone(), sought.redact_path(it)?))).collect()
}

/// Returns the commands of `git filter-repo`; the variable contains the text.
fn filter_repo_commands(git: &str, renames: &BTreeMap<String, String>) -> Vec<String> {
    let rename = |(old, new): (&String, &String)| {
        format!(" --path-rename {}", quote_for_shell(&format!("{old}:{new}")))
    };
    let renames: String = renames.iter().map(rename).collect();
    vec![
        "FILE=$(mktemp)".to_owned(),
        format!("printf 'literal:%s==>{REPLACEMENT}\\n' \"$TEXT\" > \"$FILE\""),
        format!(
            "{git} filter-repo --force --replace-text \"$FILE\" --replace-message \"$FILE\"{renames}"
        ),
    ]
}

/// Returns the commands of git alone; the variable contains the text. The messages of tags are
/// replaced as a whole.
fn filter_branch_commands(
    git: &str,
    renames: &BTreeMap<String, String>,
    tags: &[String],
) -> Vec<String> {
    let replace_tag = |it: &String| {
        let (tag, target) = (quote_for_shell(it), quote_for_shell(&format!("{it}^{{}}")));
        format!("{git} tag -f -a -m {REPLACEMENT} -- {tag} {target}")
    };
    let rename = |(old, new): (&String, &String)| {
        let folder = Path::new(new).parent().unwrap_or(Path::new("")).join(".");
        let folder = quote_for_shell(&folder.display().to_string());
        let (old, new) = (quote_for_shell(old), quote_for_shell(new));
        format!("; if [ -e {old} ]; then mkdir -p -- {folder}; mv -- {old} {new}; fi")
    };
    let in_files = REPLACE.replacen("-pe", "-pi -e", 1);
    let renames: String = renames.iter().map(rename).collect();
    let tree_filter = format!("grep -rlF --null -e \"$TEXT\" . | xargs -0 -r {in_files}{renames}");
    let (tree_filter, message_filter) = (quote_for_shell(&tree_filter), quote_for_shell(REPLACE));
    let mut commands: Vec<_> = tags.iter().map(replace_tag).collect();
    commands.extend([
        "export TEXT".to_owned(),
        format!(
            "FILTER_BRANCH_SQUELCH_WARNING=1 {git} filter-branch -f --tree-filter {tree_filter} \
             --msg-filter {message_filter} --tag-name-filter cat -- --all"
        ),
        format!(
            "{git} for-each-ref --format='delete %(refname)' refs/original | {git} update-ref --stdin"
        ),
    ]);
    commands
}

/// Renders which files of git no command changes: settings, hooks, and references by their names.
fn manual_removal_page(it: &TextInRepository) -> String {
    let is_removed = |it: &&TextInFile| {
        let path = it.path.to_string_lossy();
        let is_cleaned = ["/logs/", "/palazzo/cache/"].iter().any(|it| path.contains(it));
        let cleaned = ["/index", "/packed-refs", "/COMMIT_EDITMSG"];
        is_cleaned || cleaned.iter().any(|it| path.ends_with(it))
    };
    let left: Vec<_> = it.git_files.iter().filter(|it| !is_removed(it)).cloned().collect();
    if left.is_empty() {
        return String::new();
    }
    format!(
        "\nEdit or remove these by hand; a branch or tag is renamed by `git branch -m` or `git tag`:\n{}",
        file_lines(&left)
    )
}

/// Renders what to do about remotes.
fn push_page(remotes: &[String]) -> String {
    // Git would take another name for an option, or for a URL.
    let is_plain = |it: &&String| {
        let has_plain_chars = it.chars().all(|it| it.is_ascii_alphanumeric() || "-_.".contains(it));
        it.starts_with(|it: char| it.is_ascii_alphanumeric()) && has_plain_chars
    };
    let remotes: Vec<_> = remotes.iter().filter(is_plain).collect();
    if remotes.is_empty() {
        return String::new();
    }
    let push = |it: &&String| {
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

/// Returns a path for a shell; `None`: it cannot be printed as it is.
fn exact_shell_path(path: &Path) -> Option<String> {
    let path = path.to_str().filter(|it| it.chars().all(is_printable))?;
    Some(quote_for_shell(path))
}
