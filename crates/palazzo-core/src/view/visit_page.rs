//! The page of a visit: what one conversation of an MCP client changed, and how to revert it.

use chrono::{DateTime, Utc};
use maud::{Markup, html};

use crate::model::{HandOver, RecordedVisit, VisitDetails};
use crate::render::{
    ago, changes_title, client_name, count_with_noun, one_line, printable_text_for_html,
    repeated_changes, truncate, visit_times, whole_line,
};
use crate::view::commit_page::{file_comparison, item_changes};
use crate::view::{FileComparison, Links, PageKind};

/// Limits for the commits of a visit, and for the characters of a subject and of a hand-over.
const MAX_COMMITS: usize = 100;
const MAX_SUBJECT: usize = 160;
const MAX_HAND_OVER: usize = 4_000;

/// A visit, what it changed, and how to revert it.
#[derive(Clone, Debug)]
pub struct VisitPage {
    /// The visit, and what it changed.
    pub details: VisitDetails,
    /// The files that it changed, side by side; not all.
    pub files: Vec<FileComparison>,
    /// How many files are left out.
    pub more_files: usize,
    /// The command that reverts it, if something is left to revert.
    pub undo_command: Option<String>,
}

/// Renders a visit.
pub fn visit_page(page: &VisitPage, links: &Links, now: DateTime<Utc>) -> Markup {
    let VisitPage { details, files, more_files, undo_command } = page;
    let VisitDetails { visit, items, repeated, hand_over } = details;
    html! {
        p class="kind" {
            "A conversation of " (client_name(visit)) ", " (ago(visit.ended(), now)) " ("
            (visit_times(visit, now)) ", " code { (visit.short_id()) } ")"
        }
        nav class="pages" aria-label="Changes" {
            a href=[links.page(PageKind::Log)] { "All changes" }
        }
        @if let Some(HandOver { title, text }) = hand_over {
            section {
                h2 { "What it left: " (truncate(&one_line(title), MAX_SUBJECT)) }
                p class="message" { (truncate(&printable_text_for_html(text), MAX_HAND_OVER)) }
            }
        }
        section class="revert" { h2 { "How to revert it" } (revert(visit, undo_command.as_deref())) }
        section { h2 { (changes_title(visit)) } (item_changes(items, links)) }
        @if !repeated.is_empty() {
            section {
                h2 { "What it changed more than once" }
                ul class="changes" { @for it in repeated { li { (repeated_changes(it)) } } }
            }
        }
        @if !files.is_empty() {
            section { h2 { "Line by line" } @for it in files { (file_comparison(it)) } }
        }
        @if *more_files > 0 { p class="note" { "and " (count_with_noun(*more_files, "more file")) } }
        (commits(visit, links))
    }
}

fn revert(visit: &RecordedVisit, undo_command: Option<&str>) -> Markup {
    html! {
        @match undo_command {
            Some(command) => {
                @if visit.is_partly_undone() {
                    p { "It was undone in part. Reverts what is left of it, in a new commit:" }
                } @else {
                    p { "Reverts the whole conversation, in a new commit:" }
                }
                pre tabindex="0" class="command" { code { (whole_line(command)) } }
                p class="note" {
                    "With " code { "--dry-run" } " it only lists what it would revert. What others "
                    "changed later stays."
                }
            }
            None if visit.is_undone() => p { "It was undone already." },
            None => p { "It only created the palace: there is nothing before it." },
        }
    }
}

fn commits(visit: &RecordedVisit, links: &Links) -> Markup {
    let commits = &visit.commits;
    html! {
        section {
            h2 { "Its commits" }
            ol class="log" {
                @for it in commits.iter().take(MAX_COMMITS).map(|it| &it.summary) {
                    li {
                        time datetime=(it.at.to_rfc3339()) { (it.at.format("%H:%M")) }
                        " " code { (it.short) } " "
                        a href=[links.commit(&it.short)] { (truncate(&one_line(&it.subject), MAX_SUBJECT)) }
                    }
                }
            }
            @if commits.len() > MAX_COMMITS {
                p class="note" { "and " (count_with_noun(commits.len() - MAX_COMMITS, "more commit")) }
            }
        }
    }
}
