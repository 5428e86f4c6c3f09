//! The changes of a palace, by day: a row for each visit of an MCP client, and for each other commit.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use maud::{Markup, html};

use crate::model::{CommitSummary, UndoneAmount};
use crate::render::{count_with_noun, one_line, truncate, whole_line};
use crate::view::list_pages::page_links;
use crate::view::{Links, PageKind};

/// Limit for the characters of a subject.
const MAX_SUBJECT: usize = 160;

/// One page of the log.
#[derive(Clone, Debug)]
pub struct LogPage {
    /// The rows, newest first.
    pub rows: Vec<LogRow>,
    /// The number of the page, from 1, and of all pages that are known.
    pub page: (usize, usize),
}

/// A row of the log.
#[derive(Clone, Debug)]
pub enum LogRow {
    /// A visit: one conversation of an MCP client.
    Visit(VisitRow),
    /// A commit of somebody else.
    Commit {
        /// The commit.
        summary: CommitSummary,
        /// Whether it was undone later.
        is_undone: bool,
    },
}

/// A visit in the log.
#[derive(Clone, Debug)]
pub struct VisitRow {
    /// Its short id.
    pub id: String,
    /// The client.
    pub client: String,
    /// The time of its last change.
    pub at: DateTime<Utc>,
    /// The time of its first change, and how long it lasted.
    pub times: String,
    /// What it changed, in words.
    pub changes: String,
    /// The title and the first line of its hand-over.
    pub hand_over: Option<String>,
    /// How much of it is undone. If it is a part, the changes are what is left.
    pub undone: UndoneAmount,
    /// The command that reverts it, if something is left to revert.
    pub undo_command: Option<String>,
}

impl LogRow {
    fn at(&self) -> DateTime<Utc> {
        match self {
            Self::Visit(visit) => visit.at,
            Self::Commit { summary, .. } => summary.at,
        }
    }

    fn by(&self) -> &str {
        match self {
            Self::Visit(visit) => &visit.client,
            Self::Commit { summary, .. } => &summary.by,
        }
    }
}

/// Renders one page of the log.
pub fn log_page(log: &LogPage, links: &Links, now: DateTime<Utc>) -> Markup {
    let days = log.rows.chunk_by(|a, b| a.at().date_naive() == b.at().date_naive());
    html! {
        @if log.rows.is_empty() { p { "No change is committed yet." } } @else {
            p class="lead" {
                "Who did what, and when. A conversation of an agent is one row. Each row leads to "
                "the change itself: what is different since, and the command that reverts it. Times "
                "are UTC."
            }
        }
        @for day in days { (day_section(day, links, now)) }
        (page_links(links, PageKind::Log, None, log.page))
    }
}

fn day_section(rows: &[LogRow], links: &Links, now: DateTime<Utc>) -> Markup {
    let day = rows.first().map(|it| it.at().date_naive()).unwrap_or_default();
    html! {
        section class="day" {
            h2 { (day_name(day, now.date_naive())) }
            p class="by" { (authors(rows)) }
            ol class="log" { @for it in rows { (log_row(it, links)) } }
        }
    }
}

fn log_row(row: &LogRow, links: &Links) -> Markup {
    html! {
        li {
            time datetime=(row.at().to_rfc3339()) { (row.at().format("%H:%M")) }
            " " span class="who" { (truncate(&one_line(row.by()), 40)) } " "
            @match row {
                LogRow::Commit { summary, is_undone } => {
                    span {
                        a href=[links.commit(&summary.short)] {
                            (truncate(&one_line(&summary.subject), MAX_SUBJECT))
                        }
                        @if *is_undone { " (undone)" }
                    }
                }
                LogRow::Visit(visit) => (visit_summary(visit, links)),
            }
        }
    }
}

fn visit_summary(visit: &VisitRow, links: &Links) -> Markup {
    html! {
        div class="visit" {
            a href=[links.visit(&visit.id)] { (truncate(&visit.changes, MAX_SUBJECT)) }
            @if let Some(undone) = visit.undone.word() { " (" (undone) ")" }
            span class="by" { "conversation " code { (visit.id) } ", " (visit.times) }
            @if let Some(left) = &visit.hand_over { span class="by" { "left " (left) } }
            @if let Some(command) = &visit.undo_command {
                details {
                    summary class="by" { "Revert this conversation" }
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

/// Counts the rows of each author: `claude: 1 conversation, Ada: 2 changes`.
fn authors(rows: &[LogRow]) -> String {
    let mut counts = Vec::<(&str, &str, usize)>::new();
    for it in rows {
        let noun = if matches!(it, LogRow::Visit(_)) { "conversation" } else { "change" };
        match counts.iter_mut().find(|(by, of, _)| (*by, *of) == (it.by(), noun)) {
            Some((.., count)) => *count += 1,
            None => counts.push((it.by(), noun, 1)),
        }
    }
    let text = counts.iter().take(6).map(|(by, noun, count)| {
        format!("{}: {}", truncate(&one_line(by), 40), count_with_noun(*count, noun))
    });
    text.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_says_how_much_of_it_is_undone() {
        let row = |undone| {
            let visit = VisitRow {
                id: "yf03tn".to_owned(),
                client: "claude".to_owned(),
                at: DateTime::UNIX_EPOCH,
                times: "10:00 UTC".to_owned(),
                changes: "entity Slate added".to_owned(),
                hand_over: None,
                undone,
                undo_command: None,
            };
            let links = Links::Server { workspace: "keep".to_owned(), at: None };
            visit_summary(&visit, &links).into_string()
        };
        assert!(row(UndoneAmount::Part).contains("entity Slate added</a> (partly undone)"));
        assert!(row(UndoneAmount::Whole).contains("entity Slate added</a> (undone)"));
        assert!(!row(UndoneAmount::Nothing).contains("undone"));
    }

    #[test]
    fn today_and_yesterday_are_named() {
        let day = |day| NaiveDate::from_ymd_opt(2026, 3, day).unwrap();
        assert_eq!(day_name(day(2), day(2)), "Today, Monday 2 March 2026");
        assert_eq!(day_name(day(1), day(2)), "Yesterday, Sunday 1 March 2026");
        assert_eq!(day_name(day(1), day(3)), "Sunday 1 March 2026");
    }
}
