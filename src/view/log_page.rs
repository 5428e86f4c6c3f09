//! The commits of a palace, by day.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use maud::{Markup, html};

use crate::model::{CommitDetails, CommitId};
use crate::render::{count_with_noun, one_line, truncate, whole_line};
use crate::view::list_pages::page_links;
use crate::view::{Links, PageKind};

/// Limit for the characters of a subject.
const MAX_SUBJECT: usize = 160;

/// One page of the log.
#[derive(Clone, Debug)]
pub struct LogPage<'a> {
    /// The commits, newest first.
    pub commits: &'a [CommitDetails],
    /// The number of the page, from 1, and of all pages that are known.
    pub page: (usize, usize),
    /// The clients that changed something, by day, each with the command that reverts what it did
    /// since that day.
    pub reverts: BTreeMap<NaiveDate, Vec<(String, String)>>,
    /// The commits that were undone later.
    pub undone: BTreeSet<CommitId>,
}

/// Renders one page of the log.
pub fn log_page(log: &LogPage<'_>, links: &Links, now: DateTime<Utc>) -> Markup {
    let commits = log.commits;
    let days = commits.chunk_by(|a, b| a.summary.at.date_naive() == b.summary.at.date_naive());
    html! {
        @if commits.is_empty() { p { "No change is committed yet." } } @else {
            p class="lead" {
                "Who did what, and when. Each line leads to the change itself: what is different "
                "since, and the command that reverts it. Times are UTC."
            }
        }
        @for day in days { (day_section(log, day, links, now)) }
        (page_links(links, PageKind::Log, None, log.page))
    }
}

fn day_section(
    log: &LogPage<'_>,
    commits: &[CommitDetails],
    links: &Links,
    now: DateTime<Utc>,
) -> Markup {
    let day = commits.first().map(|it| it.summary.at.date_naive()).unwrap_or_default();
    html! {
        section class="day" {
            h2 { (day_name(day, now.date_naive())) }
            p class="by" { (authors(commits)) }
            ol class="log" {
                @for it in commits {
                    li {
                        time datetime=(it.summary.at.to_rfc3339()) { (it.summary.at.format("%H:%M")) }
                        " " span class="who" { (truncate(&one_line(&it.summary.by), 40)) } " "
                        a href=[links.commit(&it.summary.short)] {
                            (truncate(&one_line(&it.summary.subject), MAX_SUBJECT))
                        }
                        @if log.undone.contains(&it.summary.id) { " (undone)" }
                    }
                }
            }
            @for (client, command) in log.reverts.get(&day).into_iter().flatten() {
                details {
                    summary class="by" { "Revert everything that " (one_line(client)) " did since this day" }
                    pre tabindex="0" class="command" { code { (whole_line(command)) } }
                    p class="note" { "With " code { "--dry-run" } " it only lists what it would revert." }
                }
            }
        }
    }
}

/// Names a day: `Yesterday, Saturday 28 February 2026`.
fn day_name(day: NaiveDate, today: NaiveDate) -> String {
    let date = day.format("%A %-d %B %Y");
    match today - day {
        it if it == TimeDelta::zero() => format!("Today, {date}"),
        it if it == TimeDelta::days(1) => format!("Yesterday, {date}"),
        _ => date.to_string(),
    }
}

/// Counts the commits of each author: `claude: 3 changes, Ada: 1 change`.
fn authors(commits: &[CommitDetails]) -> String {
    let mut counts = Vec::<(&str, usize)>::new();
    for it in commits {
        let by = it.summary.by.as_str();
        match counts.iter_mut().find(|(known, _)| *known == by) {
            Some((_, count)) => *count += 1,
            None => counts.push((by, 1)),
        }
    }
    let text = counts.iter().take(6).map(|(by, count)| {
        format!("{}: {}", truncate(&one_line(by), 40), count_with_noun(*count, "change"))
    });
    text.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn today_and_yesterday_are_named() {
        let day = |day| NaiveDate::from_ymd_opt(2026, 3, day).unwrap();
        assert_eq!(day_name(day(2), day(2)), "Today, Monday 2 March 2026");
        assert_eq!(day_name(day(1), day(2)), "Yesterday, Sunday 1 March 2026");
        assert_eq!(day_name(day(1), day(3)), "Sunday 1 March 2026");
    }
}
