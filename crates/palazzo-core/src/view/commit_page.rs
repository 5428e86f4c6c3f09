//! The page of a commit: what it changed by meaning and side by side, and how to revert it.

use chrono::{DateTime, Utc};
use maud::{Markup, html};

use crate::model::{CommitDetails, ItemDiff, ItemId, ItemOrFile};
use crate::render::{
    ContentLine, ago, change_summary, content_lines, count_with_noun, item_label, one_line,
    printable_text_for_html, truncate, whole_line,
};
use crate::view::{Links, PageKind};

/// Limits for the items and the lines of a change.
const MAX_ITEMS: usize = 200;
const MAX_LINES: usize = 60;
/// Limit for the characters of a line.
const MAX_LINE: usize = 400;

/// A commit, what it changed, and how to revert it.
#[derive(Clone, Debug)]
pub struct CommitPage {
    /// The commit.
    pub commit: CommitDetails,
    /// The items that it changed.
    pub items: Vec<ItemDiff>,
    /// The files that it changed, side by side; not all.
    pub files: Vec<FileComparison>,
    /// How many files are left out.
    pub more_files: usize,
    /// How to revert it.
    pub revert: Revert,
    /// The commits before and after it.
    pub neighbours: (Option<String>, Option<String>),
}

/// How to revert a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Revert {
    /// Each command, and what it does.
    Commands(Vec<(String, String)>),
    /// It was undone by this commit.
    Undone(String),
}

/// Two versions of a file, side by side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileComparison {
    /// The path in the palace.
    pub path: String,
    /// The rows; empty if the file is not a text.
    pub rows: Vec<ComparedRow>,
    /// Whether more rows were left out.
    pub is_cut: bool,
}

/// A row of two versions of a file: the line and its number in each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ComparedRow {
    /// A line of the earlier and one of the later version.
    Lines {
        /// The line of the earlier version.
        was: Option<(usize, String)>,
        /// The line of the later version.
        now: Option<(usize, String)>,
        /// Whether they differ.
        is_changed: bool,
    },
    /// Some equal lines that are left out.
    Omitted(usize),
}

/// Renders a commit.
pub fn commit_page(page: &CommitPage, links: &Links, now: DateTime<Utc>) -> Markup {
    let summary = &page.commit.summary;
    html! {
        p class="kind" {
            (truncate(&one_line(&summary.by), 60)) ", " (ago(summary.at, now)) " ("
            time datetime=(summary.at.to_rfc3339()) { (summary.at.format("%-d %B %Y, %H:%M UTC")) }
            ", " code { (summary.short) } ")"
        }
        (neighbour_links(page, links))
        @let message = message(&page.commit);
        @if !message.is_empty() { p class="message" { (truncate(&printable_text_for_html(&message), 2_000)) } }
        section class="revert" { h2 { "How to revert it" } (revert(&page.revert, links)) }
        section {
            h2 { "What it changed" }
            (item_changes(&page.items, links))
            p class="note" {
                a href=[links.at(Some(&summary.short)).page(PageKind::Entry)] {
                    "The palace as it was after this change"
                }
            }
        }
        @if !page.files.is_empty() {
            section { h2 { "Line by line" } @for it in &page.files { (file_comparison(it)) } }
        }
        @if page.more_files > 0 {
            p class="note" { "and " (count_with_noun(page.more_files, "more file")) }
        }
    }
}

/// Returns the message of a commit without its first line and its trailers.
fn message(commit: &CommitDetails) -> String {
    let is_trailer =
        |line: &&str| commit.trailers.iter().any(|(key, it)| **line == format!("{key}: {it}"));
    let lines: Vec<_> = commit.body.lines().filter(|it| !is_trailer(it)).collect();
    lines.join("\n").trim().to_owned()
}

fn neighbour_links(page: &CommitPage, links: &Links) -> Markup {
    let (older, newer) = &page.neighbours;
    html! {
        nav class="pages" aria-label="Changes" {
            @if let Some(older) = older { a href=[links.commit(older)] { "← the change before" } }
            a href=[links.page(PageKind::Log)] { "All changes" }
            @if let Some(newer) = newer { a href=[links.commit(newer)] { "the change after →" } }
        }
    }
}

fn revert(revert: &Revert, links: &Links) -> Markup {
    match revert {
        Revert::Undone(by) => html! {
            p { "It was undone already, by " a href=[links.commit(by)] { code { (by) } } "." }
        },
        Revert::Commands(commands) if commands.is_empty() => html! {
            p { "It created the palace: there is nothing before it." }
        },
        Revert::Commands(commands) => html! {
            @for (command, effect) in commands {
                p { (effect) ":" }
                pre tabindex="0" class="command" { code { (whole_line(command)) } }
            }
            p class="note" {
                "With " code { "--dry-run" } " palazzo only lists what it would revert. If something "
                "else was changed in the same files later, undo that first. git needs your "
                code { "user.name" } " and " code { "user.email" } "."
            }
        },
    }
}

/// Renders what changed in each item, with links to those that exist.
pub(super) fn item_changes(items: &[ItemDiff], links: &Links) -> Markup {
    html! {
        @if items.is_empty() { p { "Nothing differs." } }
        ul class="changes" {
            @for it in items.iter().take(MAX_ITEMS) {
                li {
                    a href=[item_link(it, links)] { (item_label(&it.item)) }
                    ": " (change_summary(&it.change))
                    (changed_lines(&content_lines(&it.change)))
                }
            }
        }
        @if items.len() > MAX_ITEMS {
            p class="note" { "and " (count_with_noun(items.len() - MAX_ITEMS, "more item")) }
        }
    }
}

fn item_link(it: &ItemDiff, links: &Links) -> Option<String> {
    match &it.item {
        // A genus has no page, so its file is shown.
        ItemOrFile::Item { id: ItemId::Genus(_), .. } => links.file(it.files.last()?),
        ItemOrFile::Item { id, .. } => links.item(id),
        ItemOrFile::Settings | ItemOrFile::File(_) => None,
    }
}

fn changed_lines(lines: &[ContentLine]) -> Markup {
    let class = |sign: char| match sign {
        '+' => "added",
        '-' => "removed",
        '~' => "changed",
        _ => "kept",
    };
    html! {
        @if !lines.is_empty() {
            div class="lines" {
                @for it in lines.iter().take(MAX_LINES) {
                    p class=(class(it.sign)) {
                        span class="sign" { (it.sign) } " "
                        (marked_words(&truncate(&printable_text_for_html(&it.text), MAX_LINE)))
                    }
                }
                @if lines.len() > MAX_LINES {
                    p class="note" { "… " (count_with_noun(lines.len() - MAX_LINES, "more line")) }
                }
            }
        }
    }
}

/// Renders the marks of changed words, `[-before-]{+after+}`, as deletions and insertions.
fn marked_words(text: &str) -> Markup {
    let marks = [("[-", "-]"), ("{+", "+}")];
    let next = marks.iter().filter_map(|(open, close)| {
        let start = text.find(open)?;
        let length = text[start + open.len()..].find(close)?;
        Some((start, start + open.len(), start + open.len() + length, *open == "[-"))
    });
    let Some((start, from, to, is_deletion)) = next.min() else { return html! { (text) } };
    html! {
        (text[..start])
        @if is_deletion { del { (text[from..to]) } } @else { ins { (text[from..to]) } }
        (marked_words(&text[to + 2..]))
    }
}

/// Renders two versions of a file side by side.
pub(super) fn file_comparison(file: &FileComparison) -> Markup {
    html! {
        details open {
            summary { code { (truncate(&one_line(&file.path), MAX_LINE)) } }
            div class="wide" tabindex="0" role="region" aria-label=(one_line(&file.path)) {
                table class="sides" {
                    colgroup { col class="line"; col; col class="line"; col; }
                    thead { tr { th scope="col" colspan="2" { "Before" } th scope="col" colspan="2" { "After" } } }
                    tbody { @for row in &file.rows { (compared_row(row)) } }
                }
            }
            @if file.is_cut { p class="note" { "… more lines are left out here." } }
        }
    }
}

fn compared_row(row: &ComparedRow) -> Markup {
    let (was, now, is_changed) = match row {
        ComparedRow::Omitted(count) => {
            return html! { tr class="omitted" { td colspan="4" { "… " (count_with_noun(*count, "line")) } } };
        }
        ComparedRow::Lines { was, now, is_changed } => (was, now, *is_changed),
    };
    let side = |line: &Option<(usize, String)>, class: &'static str| {
        let class = (is_changed && line.is_some()).then_some(class);
        let (number, text) = match line {
            Some((number, text)) => {
                (number.to_string(), truncate(&printable_text_for_html(text), MAX_LINE))
            }
            None => (String::new(), String::new()),
        };
        html! { td class="line" { (number) } td class=[class] { (text) } }
    };
    html! { tr { (side(was, "removed")) (side(now, "added")) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_words_are_deletions_and_insertions() {
        let page = marked_words("a [-b-]{+<c>+} d [-e").into_string();
        assert_eq!(page, "a <del>b</del><ins>&lt;c&gt;</ins> d [-e");
    }
}
