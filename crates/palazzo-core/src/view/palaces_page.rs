//! The palaces of a home.

use chrono::{DateTime, Utc};
use maud::{Markup, html};

use crate::render::{ago, one_line, truncate};
use crate::view::{Links, PageKind, VisitRow};

/// Limits for the characters of a name, and of a line about a visit.
const MAX_NAME: usize = 120;
const MAX_LINE: usize = 200;

/// A palace of a home.
#[derive(Clone, Debug, Default)]
pub struct PalaceRow {
    /// The name of its directory.
    pub key: String,
    /// Its name.
    pub name: String,
    /// What is in it, in words.
    pub content: String,
    /// The time of the last change.
    pub changed: Option<DateTime<Utc>>,
    /// The last visit of an MCP client that changed something.
    pub last_visit: Option<VisitRow>,
    /// What needs a person: `2 findings`, each with the page that has it.
    pub needs: Vec<(String, PageKind)>,
    /// Why it cannot be opened.
    pub fault: Option<String>,
}

/// Renders the palaces of a home.
pub fn palaces_page(palaces: &[PalaceRow], now: DateTime<Utc>) -> Markup {
    html! {
        @if palaces.is_empty() { p { "There is no palace here yet." } }
        ul class="palaces" { @for it in palaces { li { (palace_row(it, now)) } } }
    }
}

fn palace_row(palace: &PalaceRow, now: DateTime<Utc>) -> Markup {
    let links = Links::Server { workspace: palace.key.clone(), at: None };
    let short = |it: &str| truncate(&one_line(it), MAX_NAME);
    html! {
        a href=[links.page(PageKind::Entry)] { (short(&palace.name)) }
        " " span class="by" {
            (short(&palace.key))
            @if !palace.content.is_empty() { ": " (palace.content) }
            @if let Some(at) = palace.changed { ", changed " (ago(at, now)) }
        }
        @if let Some(visit) = &palace.last_visit {
            p class="by" {
                "Last conversation: " (short(&visit.client)) ", " (ago(visit.at, now)) ": "
                a href=[links.visit(&visit.id)] { (truncate(&visit.changes, MAX_LINE)) }
                @if let Some(undone) = visit.undone.word() { " (" (undone) ")" }
                @if let Some(left) = &visit.hand_over { "; left " (truncate(left, MAX_LINE)) }
            }
        }
        @if !palace.needs.is_empty() {
            p class="by" {
                "Needs you: "
                @for (place, (what, kind)) in palace.needs.iter().enumerate() {
                    @if place > 0 { ", " }
                    a href=[links.page(*kind)] { (what) }
                }
            }
        }
        @if let Some(fault) = &palace.fault { p class="error" { (truncate(&one_line(fault), MAX_LINE)) } }
    }
}
