//! Renders the history of files: commits and blame.

use chrono::{DateTime, Utc};

use crate::model::{BlamedLine, CommitSummary, FileHistory};
use crate::render::text::{name_in_sentence, one_line, truncate};
use crate::render::{ago, escape_unprintable_in_lines};

/// Renders commits, one per line with its mark, such as `undone` or the id of an undo, each followed by its details.
pub fn log(commits: &[(&CommitSummary, Option<String>, String)], now: DateTime<Utc>) -> String {
    let width = commits.iter().map(|(it, ..)| it.short.len()).max().unwrap_or_default();
    let names = commits.iter().map(|(it, ..)| author_name(&it.by).chars().count());
    let name_width = names.max().unwrap_or_default();
    let mut page = String::new();
    for (CommitSummary { short, subject, by, at, .. }, mark, details) in commits {
        let mark = mark.as_ref().map(|it| format!("  ({it})")).unwrap_or_default();
        let (age, by, subject) =
            (ago(*at, now), author_name(by), truncate(&one_line(subject), 120));
        page.push_str(&format!("{short:width$}  {age:<14}  {by:name_width$}  {subject}{mark}\n"));
        for detail in details.lines() {
            page.push_str(&format!("{:width$}    {}\n", "", escape_unprintable_in_lines(detail)));
        }
    }
    page
}

/// Renders the age, the date and the id of a commit.
pub fn commit_age_and_id(it: &CommitSummary, now: DateTime<Utc>) -> String {
    format!("{} ({}, {})", ago(it.at, now), it.at.format("%Y-%m-%d %H:%M UTC"), it.short)
}

/// Renders the notice that the palace `name` is shown as of a past commit.
pub fn as_of_notice(name: &str, commit: &CommitSummary, now: DateTime<Utc>) -> String {
    format!(
        "This is {} as it was {}: look around, but nothing can be changed. \
         set_workspace without `as_of` returns to the present.\n\n",
        name_in_sentence(name),
        commit_age_and_id(commit, now)
    )
}

/// Renders the number of versions of a file, and when it was changed and created; and the
/// commit `then`, if an older version is shown.
pub fn version_summary(
    versions: Option<FileHistory>,
    then: Option<&CommitSummary>,
    now: DateTime<Utc>,
) -> String {
    let mut parts = Vec::new();
    if let Some(it) = then {
        parts.push(format!("as it was {}", commit_age_and_id(it, now)));
    }
    if let Some(FileHistory { count, created, updated, .. }) = versions {
        parts.push(format!("v{count}, changed {}", ago(updated, now)));
        if created != updated {
            parts.push(format!("created {}", ago(created, now)));
        }
    }
    if parts.is_empty() { String::new() } else { format!("\n{}\n", parts.join(", ")) }
}

/// Renders the lines of a file, each after the commit that introduced it.
pub fn blame(lines: &[BlamedLine], now: DateTime<Utc>) -> String {
    let heads: Vec<_> = lines.iter().map(|it| blame_columns(it, now)).collect();
    let width = |of: fn(&BlameColumns) -> &str| -> usize {
        heads.iter().map(|it| of(it).chars().count()).max().unwrap_or_default()
    };
    let (commit, by, age) = (width(|it| &it.commit), width(|it| &it.by), width(|it| &it.age));
    let mut page = String::new();
    for (head, line) in heads.iter().zip(lines) {
        let BlameColumns { commit: c, by: b, age: a } = head;
        page.push_str(&format!(
            "{c:commit$}  {b:by$}  {a:age$}  {}\n",
            escape_unprintable_in_lines(&line.text)
        ));
    }
    page
}

struct BlameColumns {
    commit: String,
    by: String,
    age: String,
}

fn blame_columns(line: &BlamedLine, now: DateTime<Utc>) -> BlameColumns {
    match &line.commit {
        Some(CommitSummary { short, by, at, .. }) => {
            BlameColumns { commit: short.clone(), by: author_name(by), age: ago(*at, now) }
        }
        None => BlameColumns {
            commit: String::new(),
            by: "not committed".to_owned(),
            age: String::new(),
        },
    }
}

fn author_name(by: &str) -> String {
    truncate(&one_line(by), 30)
}
