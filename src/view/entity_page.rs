//! The page of an entity, with its relations in both directions and what mentions it.

use std::collections::BTreeSet;

use maud::{Markup, html};

use crate::model::{CommitSummary, Graph, ItemId};
use crate::render::{
    EntityView, HitView, date_with_age, entity_heading, join_names, json_value_text, one_line,
    printable_text, truncate, validity_note,
};
use crate::view::Links;
use crate::view::markdown_html::markdown;
use crate::view::room_page::commit_list;

/// Limit for the relations, observations and attributes on a page.
const MAX_ITEMS: usize = 200;
/// Limit for the characters of a name or a value.
const MAX_NAME: usize = 120;
const MAX_VALUE: usize = 2_000;
/// How many neighbours are shown, and how many of their own neighbours.
const MAX_NEIGHBOURS: usize = 12;
const MAX_NEIGHBOURS_OF_EACH: usize = 3;

/// An entity, and what mentions it.
#[derive(Clone, Debug)]
pub struct EntityPage<'a> {
    /// The graph.
    pub graph: &'a Graph,
    /// The links of the page.
    pub links: &'a Links,
    /// The entity.
    pub view: EntityView<'a>,
    /// The rooms and scrolls that mention it.
    pub mentions: Vec<(ItemId, HitView)>,
    /// The commits that changed it, newest first; not all.
    pub changes: Vec<CommitSummary>,
    /// The current time.
    pub now: chrono::DateTime<chrono::Utc>,
}

/// Renders an entity.
pub fn entity_page(page: &EntityPage<'_>) -> Markup {
    let EntityPage { view, now, .. } = page;
    let entity = view.entity;
    html! {
        p class="kind" { (entity_heading(entity, view.history, *now)) }
        @if !entity.former_names.is_empty() {
            p { "Called before: " (join_names(&entity.former_names)) }
        }
        div class="room" {
            div class="inside" {
                (attributes(page))
                (observations(page))
                (relations(page))
                @if !view.notes.is_empty() { p class="notices" { (printable_text(&view.notes)) } }
            }
            div class="around" {
                (neighbourhood(page))
                (mentions(page))
                @if !page.changes.is_empty() {
                    section { h2 { "Last changes" } (commit_list(&page.changes, page.links, *now)) }
                }
            }
        }
    }
}

fn attributes(page: &EntityPage<'_>) -> Markup {
    let attributes = page.view.entity.attributes.iter();
    let value = |key: &String, value: &serde_json::Value| {
        let text = json_value_text(value);
        match page.view.date_attributes.contains(&key.as_str()) {
            true => date_with_age(&text, page.now),
            false => truncate(&one_line(&text), MAX_VALUE),
        }
    };
    html! {
        @if !page.view.entity.attributes.is_empty() {
            dl {
                @for (key, it) in attributes.take(MAX_ITEMS) {
                    dt { (truncate(&one_line(key), MAX_NAME)) ":" }
                    dd { (value_link(page, it, &value(key, it))) }
                }
            }
        }
    }
}

/// Renders a value, as a link if it is the name of an entity.
fn value_link(page: &EntityPage<'_>, value: &serde_json::Value, shown: &str) -> Markup {
    let entity = value.as_str().and_then(|it| page.graph.get(it));
    match entity {
        Some(entity) => html! { a href=[page.links.entity(&entity.name)] { (shown) } },
        None => html! { (shown) },
    }
}

fn observations(page: &EntityPage<'_>) -> Markup {
    let all = &page.view.entity.observations;
    html! {
        @if !all.is_empty() {
            h2 { "Observations:" }
            ul class="observations" {
                @for it in all.iter().take(MAX_ITEMS) {
                    li { (markdown(it, MAX_VALUE, page.graph, page.links)) }
                }
            }
            (left_out(all.len()))
        }
    }
}

fn relations(page: &EntityPage<'_>) -> Markup {
    let (outgoing, incoming) = (&page.view.entity.relations, &page.view.incoming);
    html! {
        @if !outgoing.is_empty() || !incoming.is_empty() {
            h2 { "Relations:" }
            ul class="relations" {
                @for it in outgoing.iter().take(MAX_ITEMS) {
                    li { (short(&it.kind)) " → " (name_link(page, &it.to)) (validity_note(it, page.now)) }
                }
                @for it in incoming.iter().take(MAX_ITEMS) {
                    li {
                        (short(&it.relation.kind)) " ← " (name_link(page, &it.from.name))
                        (validity_note(it.relation, page.now))
                    }
                }
            }
            (left_out(outgoing.len()))
            (left_out(incoming.len()))
        }
    }
}

fn left_out(count: usize) -> Markup {
    html! {
        @if count > MAX_ITEMS { p class="note" { "and " (count - MAX_ITEMS) " more" } }
    }
}

fn name_link(page: &EntityPage<'_>, name: &str) -> Markup {
    let href = page.graph.get(name).and_then(|it| page.links.entity(&it.name));
    html! { a href=[href] { (short(name)) } }
}

fn short(text: &str) -> String {
    truncate(&one_line(text), MAX_NAME)
}

/// Returns the neighbours of an entity with the types of their relations, each once.
fn neighbours<'a>(graph: &'a Graph, name: &str, limit: usize) -> Vec<(&'a str, &'a str)> {
    let outgoing = graph.get(name).into_iter().flat_map(|it| &it.relations);
    let outgoing = outgoing.map(|it| (it.to.as_str(), it.kind.as_str()));
    let incoming = graph.incoming_relations(name).filter(|it| it.from.is_defined);
    let incoming = incoming.map(|it| (it.from.name.as_str(), it.relation.kind.as_str()));
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for (to, kind) in outgoing.chain(incoming) {
        if to != name && graph.get(to).is_some() && seen.insert(to) {
            found.push((to, kind));
        }
        if found.len() == limit {
            break;
        }
    }
    found
}

/// Renders the entities that are one or two relations away.
fn neighbourhood(page: &EntityPage<'_>) -> Markup {
    let (graph, name) = (page.graph, page.view.entity.name.as_str());
    let near = neighbours(graph, name, MAX_NEIGHBOURS);
    let beyond = |of: &str| -> Vec<_> {
        let all = neighbours(graph, of, MAX_NEIGHBOURS_OF_EACH + 1).into_iter();
        all.filter(|it| it.0 != name).take(MAX_NEIGHBOURS_OF_EACH).collect()
    };
    html! {
        @if !near.is_empty() {
            section {
                h2 { "Two steps around" }
                ul class="steps" {
                    @for (to, kind) in near {
                        li {
                            (name_link(page, to)) " " span class="by" { (short(kind)) }
                            @let further = beyond(to);
                            @if !further.is_empty() {
                                ul {
                                    @for (to, kind) in further {
                                        li { (name_link(page, to)) " " span class="by" { (short(kind)) } }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn mentions(page: &EntityPage<'_>) -> Markup {
    html! {
        @if !page.mentions.is_empty() {
            section {
                h2 { "Mentioned in" }
                ul class="plain" {
                    @for (item, hit) in &page.mentions {
                        li {
                            a href=[page.links.item(item)] { (short(&hit.title)) }
                            " " span class="by" { (short(&hit.place)) }
                        }
                    }
                }
            }
        }
    }
}
