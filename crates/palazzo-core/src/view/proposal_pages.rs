//! The pages of proposals: branches with changes that a person has not merged yet.

use chrono::{DateTime, Utc};
use maud::{Markup, html};

use crate::model::{ItemDiff, Proposal};
use crate::render::{
    END_SERVERS_FIRST, chain_commands, count_with_noun, one_line, proposal_summary, truncate,
    whole_line,
};
use crate::view::commit_page::{file_comparison, item_changes};
use crate::view::{FileComparison, Links, PageKind};

/// Limit for the commits of a proposal.
const MAX_COMMITS: usize = 100;
/// Limit for the characters of a name or a subject.
const MAX_CHARS: usize = 160;

/// A proposal, what it changes, and how to merge and drop it.
#[derive(Clone, Debug)]
pub struct ProposalPage {
    /// The proposal.
    pub proposal: Proposal,
    /// The items that it changes.
    pub items: Vec<ItemDiff>,
    /// The files that it changes, side by side; not all.
    pub files: Vec<FileComparison>,
    /// How many files are left out.
    pub more_files: usize,
    /// The commands that merge it.
    pub merge: Vec<String>,
    /// The commands that drop it.
    pub drop: Vec<String>,
}

/// Renders the list of the open proposals.
pub fn proposals_page(proposals: &[Proposal], links: &Links, now: DateTime<Utc>) -> Markup {
    html! {
        p class="lead" {
            "Branches with changes that are not merged. An agent makes them when its server was "
            "started with " code { "palazzo serve --propose BRANCH" } "."
        }
        @if proposals.is_empty() { p { "There is no open proposal." } }
        ul class="proposals" {
            @for it in proposals {
                li {
                    a href=[links.proposal(&it.branch)] { (truncate(&one_line(&it.branch), MAX_CHARS)) }
                    " " span class="by" { (proposal_summary(it, now)) }
                }
            }
        }
    }
}

/// Renders a proposal.
pub fn proposal_page(page: &ProposalPage, links: &Links, now: DateTime<Utc>) -> Markup {
    let newest = page.proposal.commits.first().map(|it| it.summary.short.clone());
    // Its rooms and entities may not exist in the palace.
    let proposed = links.at(newest.as_deref());
    html! {
        p class="kind" { (proposal_summary(&page.proposal, now)) }
        nav class="pages" aria-label="Proposals" {
            a href=[links.page(PageKind::Proposals)] { "All proposals" }
        }
        section {
            h2 { "What it proposes" }
            (item_changes(&page.items, &proposed))
            p class="note" {
                a href=[proposed.page(PageKind::Entry)] { "The palace as it would be without later changes" }
            }
        }
        section {
            h2 { "How to merge it" }
            @if page.proposal.is_served { p class="note" { "First " (END_SERVERS_FIRST) "." } }
            (commands(&page.merge))
        }
        @if !page.files.is_empty() {
            section { h2 { "Line by line" } @for it in &page.files { (file_comparison(it)) } }
        }
        @if page.more_files > 0 {
            p class="note" { "and " (count_with_noun(page.more_files, "more file")) }
        }
        (commits(&page.proposal))
        section { h2 { "How to drop it" } (commands(&page.drop)) }
    }
}

fn commands(commands: &[String]) -> Markup {
    let lines: Vec<_> = chain_commands(commands).iter().map(|it| whole_line(it)).collect();
    html! { pre tabindex="0" class="command" { code { (lines.join("\n")) } } }
}

fn commits(proposal: &Proposal) -> Markup {
    let commits = &proposal.commits;
    html! {
        section {
            h2 { "Its commits" }
            ol class="log" {
                @for it in commits.iter().take(MAX_COMMITS).map(|it| &it.summary) {
                    li {
                        time datetime=(it.at.to_rfc3339()) { (it.at.format("%-d %B %Y, %H:%M")) }
                        " " span class="who" { (truncate(&one_line(&it.by), 40)) } " "
                        (truncate(&one_line(&it.subject), MAX_CHARS))
                    }
                }
            }
            @if commits.len() > MAX_COMMITS {
                p class="note" { "and " (count_with_noun(commits.len() - MAX_COMMITS, "more commit")) }
            }
        }
    }
}
