//! The page of an entity, with its relations in both directions and what mentions it.

use std::collections::BTreeSet;

use maud::{Markup, html};

use crate::model::{CommitSummary, Graph, ItemId};
use crate::render::{
    EntityView, HitView, date_with_age, entity_subtitle, join_names, json_value_text, one_line,
    printable_text_for_html, truncate, validity_note, whole_line,
};
use crate::view::Links;
use crate::view::list_pages::commit_list;
use crate::view::markdown_html::markdown_to_html;

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
        p class="kind" { (entity_subtitle(entity, view.history, *now)) }
        @if !entity.former_names.is_empty() {
            p { "Called before: " (join_names(&entity.former_names)) }
        }
        div class="room" {
            div class="inside" {
                (attributes(page))
                (observations(page))
                (relations(page))
                @if !view.notes.is_empty() { p class="notices" { (printable_text_for_html(&view.notes)) } }
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
            false => truncate(&whole_line(&text), MAX_VALUE),
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
                    li { (markdown_to_html(it, MAX_VALUE, page.graph, page.links)) }
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
    truncate(&whole_line(text), MAX_NAME)
}

/// An entity that is one relation away from another.
struct Neighbour<'a> {
    name: &'a str,
    /// The type of the relation.
    kind: &'a str,
    /// Whether the relation leads from this entity to the other one.
    is_incoming: bool,
}

/// Returns the neighbours of an entity, each once, without those in `known`.
fn neighbours<'a>(graph: &'a Graph, of: &str, known: &BTreeSet<&str>) -> Vec<Neighbour<'a>> {
    let outgoing = graph.get(of).into_iter().flat_map(|it| &it.relations);
    let outgoing = outgoing.filter_map(|it| {
        let name = graph.get(&it.to)?.name.as_str();
        Some(Neighbour { name, kind: &it.kind, is_incoming: false })
    });
    let incoming = graph.incoming_relations(of).filter(|it| it.from.is_defined);
    let incoming = incoming.map(|it| Neighbour {
        name: &it.from.name,
        kind: &it.relation.kind,
        is_incoming: true,
    });
    let mut seen = BTreeSet::new();
    let new =
        |it: &Neighbour<'a>| it.name != of && !known.contains(it.name) && seen.insert(it.name);
    outgoing.chain(incoming).filter(new).take(MAX_NEIGHBOURS).collect()
}

/// Renders the entities that are one or two relations away, as a tree.
fn neighbourhood(page: &EntityPage<'_>) -> Markup {
    let (graph, name) = (page.graph, page.view.entity.name.as_str());
    let near = neighbours(graph, name, &BTreeSet::new());
    let known = near.iter().map(|it| it.name).chain([name]).collect();
    let further = |of: &str| neighbours(graph, of, &known).into_iter().take(MAX_NEIGHBOURS_OF_EACH);
    html! {
        @if !near.is_empty() {
            section {
                h2 { "Related, in two steps" }
                ul class="steps" {
                    @for it in &near {
                        li {
                            (neighbour(page, it))
                            @let further: Vec<_> = further(it.name).collect();
                            @if !further.is_empty() {
                                ul { @for it in &further { li { (neighbour(page, it)) } } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn neighbour(page: &EntityPage<'_>, it: &Neighbour<'_>) -> Markup {
    let arrow = if it.is_incoming { "←" } else { "→" };
    html! { span class="by" { (short(it.kind)) " " (arrow) } " " (name_link(page, it.name)) }
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
                            " " span class="by" { (short(&hit.note)) }
                        }
                    }
                }
            }
        }
    }
}
