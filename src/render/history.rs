//! The past in lines: commits, and who wrote what.

use chrono::{DateTime, Utc};

use crate::model::{BlamedLine, CommitSummary, FileHistory};
use crate::render::{ago, one_line, strip_unprintable, truncate};

/// Renders commits, one a line, each with what else there is to be told of it in lines below.
pub fn log(moments: &[(&CommitSummary, String)], now: DateTime<Utc>) -> String {
    let width = moments.iter().map(|(it, _)| it.short.len()).max().unwrap_or_default();
    let mut page = String::new();
    for (CommitSummary { short, subject, by, at, .. }, told) in moments {
        let (age, by, subject) =
            (ago(*at, now), author_name(by), truncate(&one_line(subject), 120));
        page.push_str(&format!("{short:width$}  {age:<14}  {by}  {subject}\n"));
        for more in told.lines() {
            page.push_str(&format!("{:width$}    {}\n", "", strip_unprintable(more)));
        }
    }
    page
}

/// Says in a line which moment is shown: its age, its date, its commit.
pub fn commit_description(it: &CommitSummary, now: DateTime<Utc>) -> String {
    format!("{} ({}, {})", ago(it.at, now), it.at.format("%Y-%m-%d %H:%M UTC"), it.short)
}

/// Renders the notice that the palace `name` is shown as of a past commit.
pub fn as_of_notice(name: &str, commit: &CommitSummary, now: DateTime<Utc>) -> String {
    format!(
        "This is {} as it was {}: look around, but nothing can be changed. \
         set_workspace without `as_of` returns to the present.\n\n",
        one_line(name),
        commit_description(commit, now)
    )
}

/// Renders how often something was changed, and when; and what moment is shown, if not now.
pub fn version_summary(
    versions: Option<FileHistory>,
    then: Option<&CommitSummary>,
    now: DateTime<Utc>,
) -> String {
    let mut said = Vec::new();
    if let Some(it) = then {
        said.push(format!("as it was {}", commit_description(it, now)));
    }
    if let Some(FileHistory { count, created, updated }) = versions {
        said.push(format!("v{count}, changed {}", ago(updated, now)));
        if created != updated {
            said.push(format!("created {}", ago(created, now)));
        }
    }
    if said.is_empty() { String::new() } else { format!("\n{}\n", said.join(", ")) }
}

/// Renders the lines of a file, each behind the commit it came with.
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
            strip_unprintable(&line.text)
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
