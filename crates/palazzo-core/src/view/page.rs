//! What is around the content of every page: the head, the links of the palace, and the time bar.

use chrono::{DateTime, Utc};
use maud::{DOCTYPE, Markup, html};

use crate::model::{CommitSummary, ItemId};
use crate::render::{ago, one_line, truncate};
use crate::view::{Links, PageKind};

/// Limit for the characters of a name in a heading.
const MAX_TITLE_CHARS: usize = 200;

/// What is around the content of a page of a palace.
#[derive(Clone, Debug)]
pub struct PageFrame<'a> {
    /// The links of the page.
    pub links: &'a Links,
    /// The name of the palace.
    pub palace: String,
    /// The name of the palace's directory, for the events about its changes.
    pub workspace: String,
    /// The kind of the page, if it is not about one item.
    pub kind: Option<PageKind>,
    /// The item that the page is about.
    pub item: Option<ItemId>,
    /// The heading.
    pub title: String,
    /// The place of the room in the palace: `east/hall`.
    pub place: Option<String>,
    /// The number of findings and conflicts, if it is known.
    pub findings: Option<usize>,
    /// The number of open tasks and processes.
    pub tasks: usize,
    /// The number of open proposals.
    pub proposals: usize,
    /// The commits among which the reader can choose.
    pub time: TimeBar,
    /// The current time.
    pub now: DateTime<Utc>,
}

/// The newest commits of a palace, and the one that is shown.
#[derive(Clone, Debug, Default)]
pub struct TimeBar {
    /// The short ids and the times of the newest commits, newest first.
    pub commits: Vec<(String, DateTime<Utc>)>,
    /// The commit as of which the palace is shown; `None`: the present.
    pub at: Option<CommitSummary>,
    /// The commit before the shown one.
    pub older: Option<String>,
    /// The commit after the shown one; `None`: the present is next.
    pub newer: Option<String>,
}

impl PageFrame<'_> {
    /// Returns the link to this page as of a commit, or in the present.
    fn link_at(&self, at: Option<&str>) -> Option<String> {
        let links = self.links.at(at);
        match (&self.item, self.kind) {
            (Some(item), _) => links.item(item),
            (None, kind) => links.page(kind.unwrap_or(PageKind::Entry)),
        }
    }
}

/// Renders a page of a palace as a document.
pub fn page_document(frame: &PageFrame<'_>, content: &Markup) -> String {
    let title = truncate(&one_line(&frame.title), MAX_TITLE_CHARS);
    let palace = truncate(&one_line(&frame.palace), MAX_TITLE_CHARS);
    let body = html! {
        header class="top" {
            (palace_links(frame, &palace))
            (time_bar(frame))
            @if let Some(at) = &frame.time.at { (past_banner(frame, at)) }
        }
        main id="main" tabindex="-1" {
            div class="heading" {
                h1 { (title) }
                @if let Some(place) = &frame.place { p class="place" { (place) } }
            }
            (content)
        }
        p id="live" class="live" role="status" aria-live="polite" {}
    };
    let is_present = frame.time.at.is_none();
    document(&format!("{title} · {palace}"), &body, (&frame.workspace, is_present))
}

/// Renders a page that belongs to no palace.
pub fn unframed_document(title: &str, content: &Markup) -> String {
    let title = truncate(&one_line(title), MAX_TITLE_CHARS);
    let body = html! {
        main id="main" tabindex="-1" {
            div class="heading" { h1 { (title) } }
            (content)
        }
    };
    document(&title, &body, ("", false))
}

fn document(title: &str, body: &Markup, (workspace, is_present): (&str, bool)) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                link rel="icon" href="data:,";
                link rel="stylesheet" href="/page.css";
                script src="/page.js" defer {}
            }
            body data-workspace=(workspace) data-live[is_present] {
                a class="skip" href="#main" { "Skip to the content" }
                (body)
            }
        }
    };
    page.into_string()
}

fn palace_links(frame: &PageFrame<'_>, palace: &str) -> Markup {
    let links = [
        (PageKind::Entry, "Entry".to_owned()),
        (PageKind::Map, "Map".to_owned()),
        (PageKind::Index, "Index".to_owned()),
        (PageKind::Log, "Log".to_owned()),
        (PageKind::Findings, with_count("Findings", frame.findings)),
        (PageKind::Tasks, with_count("Tasks", Some(frame.tasks))),
        (PageKind::Proposals, with_count("Proposals", Some(frame.proposals))),
    ];
    // Few palaces have proposals.
    let is_shown = |kind: PageKind| {
        kind != PageKind::Proposals || frame.proposals > 0 || frame.kind == Some(kind)
    };
    let links = links.into_iter().filter(|(kind, _)| is_shown(*kind));
    let search = frame.links.page_with(PageKind::Search, &[("q", "")]);
    html! {
        nav class="palace" aria-label="Palace" {
            a class="palace-name" href=[frame.links.page(PageKind::Entry)] { (palace) }
            ul {
                @for (kind, label) in links {
                    li {
                        a href=[frame.links.page(kind)]
                            aria-current=[(frame.kind == Some(kind)).then_some("page")] { (label) }
                    }
                }
            }
            @if let Some(search) = search {
                noscript { a href=(search) { "Search" } }
                div class="search" role="search" {
                    label class="unseen" for="search" { "Search this palace" }
                    input id="search" type="search" placeholder="Search  /" autocomplete="off"
                        data-search=(search);
                }
            }
        }
    }
}

fn with_count(label: &str, count: Option<usize>) -> String {
    match count {
        Some(count) if count > 0 => format!("{label} ({count})"),
        _ => label.to_owned(),
    }
}

fn time_bar(frame: &PageFrame<'_>) -> Markup {
    let TimeBar { commits, at, older, newer } = &frame.time;
    if commits.is_empty() {
        return html! {};
    }
    let place = at.as_ref().map_or(Some(0), |at| commits.iter().position(|it| it.0 == at.short));
    let last = commits.len() - 1;
    let value = last - place.unwrap_or(last);
    let oldest_first = commits.iter().rev();
    let data: Vec<_> = oldest_first.map(|(id, at)| format!("{id}:{}", at.timestamp())).collect();
    let moment = at.as_ref().map(|at| at.at.format("%Y-%m-%d %H:%M UTC").to_string());
    let moment = moment.as_deref().unwrap_or("present");
    let to = |at: Option<&str>| frame.link_at(at);
    html! {
        nav class="time" aria-label="Time" {
            @if let Some(older) = older {
                a rel="prev" data-at=(older) href=[to(Some(older))] { "← older" }
            } @else { span class="off" { "← older" } }
            @if last > 0 {
                input type="range" id="time" min="0" max=(last) value=(value) autocomplete="off"
                    aria-label="The palace as of a commit" aria-valuetext=(moment)
                    data-commits=(data.join(","));
                output for="time" id="moment" { (moment) }
            }
            @if at.is_some() {
                a rel="next" data-at=(newer.as_deref().unwrap_or_default())
                    href=[to(newer.as_deref())] { "newer →" }
                a data-at="" href=[to(None)] { "present" }
            } @else { span class="off" { "newer →" } }
        }
    }
}

fn past_banner(frame: &PageFrame<'_>, at: &CommitSummary) -> Markup {
    let present = frame.links.at(None);
    html! {
        p class="past" role="note" {
            strong { "This is the palace as it was on " (at.at.format("%-d %B %Y, %H:%M UTC")) "." }
            " It was "
            (ago(at.at, frame.now)) ", after “"
            a href=[present.commit(&at.short)] { (truncate(&one_line(&at.subject), 120)) } "”. "
            a data-at="" href=[frame.link_at(None)] { "Back to the present" }
        }
    }
}
