//! Differences between two states of one entity, or of a genus definition.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use crate::diff::text::{name_change, none_if_empty, sort_content, text_change, value_change};
use crate::model::{AttributeDef, ChangeDetail, Entity, Genus, ItemElement, Palace, Relation};

/// Returns the differences between two states of one entity.
pub fn diff_entity(was: &Entity, now: &Entity) -> Vec<ChangeDetail> {
    let id = |it: &Entity| it.id.map(|it| it.to_string());
    let mut details: Vec<_> = name_change(&was.name, &now.name).into_iter().collect();
    let former = |it: &Entity| (!it.former_names.is_empty()).then(|| it.former_names.join(", "));
    details.extend(value_change("former names", former(was).as_deref(), former(now).as_deref()));
    details.extend(value_change("genus", none_if_empty(&was.genus), none_if_empty(&now.genus)));
    details.extend(value_change("status", was.status.as_deref(), now.status.as_deref()));
    details.extend(diff_attributes(was, now));
    let observation = |it: &String| ItemElement::Observation(it.clone());
    details.extend(diff_parts("observations", &was.observations, &now.observations, observation));
    details.extend(diff_relations(&was.relations, &now.relations));
    details.extend(value_change("id", id(was).as_deref(), id(now).as_deref()));
    details
}

/// Returns the differences of an entity, which may be missing in one state.
pub(super) fn diff_entities(was: Option<&Entity>, now: Option<&Entity>) -> Vec<ChangeDetail> {
    let blank = |it: &Entity| Entity { id: it.id, ..Entity::new_loose_end("") };
    match (was, now) {
        (Some(was), Some(now)) => diff_entity(was, now),
        (None, Some(now)) => sort_content(diff_entity(&blank(now), now)),
        (Some(was), None) => sort_content(diff_entity(was, &blank(was))),
        (None, None) => Vec::new(),
    }
}

fn diff_attributes(was: &Entity, now: &Entity) -> Vec<ChangeDetail> {
    let text = |it: &serde_json::Value| it.as_str().map_or_else(|| it.to_string(), str::to_owned);
    let new = now.attributes.keys().filter(|it| !was.attributes.contains_key(*it));
    let keys = was.attributes.keys().chain(new);
    let differing = keys.filter_map(|key| {
        let (old, new) = (was.attributes.get(key), now.attributes.get(key));
        let (old, new) = (old.map(text), new.map(text));
        value_change(key, old.as_deref(), new.as_deref())
    });
    differing.collect()
}

/// Returns the differences of relations. A removed and an added relation of the same type and
/// target are one relation with changed dates if their periods overlap or start at the same date.
fn diff_relations(was: &[Relation], now: &[Relation]) -> Vec<ChangeDetail> {
    let (gained, lost) = added_and_removed(was, now);
    if gained.is_empty() && lost.is_empty() {
        return order_change("relations", was, now);
    }
    let mut left: HashMap<_, Vec<usize>> = HashMap::new();
    for (index, it) in lost.iter().enumerate() {
        left.entry((&it.kind, &it.to)).or_default().push(index);
    }
    let (mut details, mut dated, mut kept) = (Vec::new(), Vec::new(), HashSet::new());
    for now in gained {
        let is_it =
            |index: &usize| lost[*index].since == now.since || lost[*index].overlaps_in_time(now);
        let alike = left.get_mut(&(&now.kind, &now.to));
        match alike.and_then(|them| Some(them.remove(them.iter().position(is_it)?))) {
            Some(index) => {
                kept.insert(index);
                dated.push(ChangeDetail::RelationChanged {
                    was: lost[index].clone(),
                    now: now.clone(),
                });
            }
            None => details.push(ChangeDetail::PartAdded(ItemElement::Relation(now.clone()))),
        }
    }
    let gone = lost.into_iter().enumerate().filter(|(index, _)| !kept.contains(index));
    details
        .extend(gone.map(|(_, it)| ChangeDetail::PartRemoved(ItemElement::Relation(it.clone()))));
    details.extend(dated);
    details
}

/// Returns the added and removed parts; if there are none, whether the order changed.
fn diff_parts<T: Eq + Hash>(
    all: &'static str,
    was: &[T],
    now: &[T],
    part: impl Fn(&T) -> ItemElement,
) -> Vec<ChangeDetail> {
    let (gained, lost) = added_and_removed(was, now);
    if gained.is_empty() && lost.is_empty() {
        return order_change(all, was, now);
    }
    let gained = gained.into_iter().map(|it| ChangeDetail::PartAdded(part(it)));
    gained.chain(lost.into_iter().map(|it| ChangeDetail::PartRemoved(part(it)))).collect()
}

/// Returns the added and the removed items, duplicates included.
fn added_and_removed<'a, T: Eq + Hash>(was: &'a [T], now: &'a [T]) -> (Vec<&'a T>, Vec<&'a T>) {
    let mut left: HashMap<&T, usize> = HashMap::new();
    for it in was {
        *left.entry(it).or_default() += 1;
    }
    let mut take = |it: &T| left.get_mut(it).filter(|it| **it > 0).map(|it| *it -= 1).is_some();
    let gained = now.iter().filter(|it| !take(it)).collect();
    (gained, was.iter().filter(|it| take(it)).collect())
}

fn order_change<T: Eq>(all: &'static str, was: &[T], now: &[T]) -> Vec<ChangeDetail> {
    if was == now { Vec::new() } else { vec![ChangeDetail::PartsReordered(all)] }
}

/// Returns the differences of the genus definition in a file.
pub(super) fn diff_genus_in_file(was: &Palace, now: &Palace, file: &str) -> Vec<ChangeDetail> {
    let genus = |palace: &Palace| palace.graph.genus_definition_in_file(file).cloned();
    let (was, now) = (genus(was).unwrap_or_default(), genus(now).unwrap_or_default());
    let mut details = Vec::from_iter(name_change(&was.name, &now.name));
    for (of, was, now) in
        [("plural", &was.plural, &now.plural), ("sentence", &was.sentence, &now.sentence)]
    {
        details.extend(value_change(of, was.as_deref(), now.as_deref()));
    }
    let description = |it: &Genus| it.description.clone().unwrap_or_default();
    details.extend(text_change("description", &description(&was), &description(&now)));
    details.extend(diff_attribute_definitions(&was, &now));
    for (of, list) in
        [("statuses", status_list as fn(&Genus) -> String), ("relations", relation_list)]
    {
        details.extend(value_change(of, none_if_empty(&list(&was)), none_if_empty(&list(&now))));
    }
    details
}

fn diff_attribute_definitions(was: &Genus, now: &Genus) -> Vec<ChangeDetail> {
    let text = |it: &AttributeDef| {
        let required = if it.required { ", required" } else { "" };
        format!("{}{required}", it.kind)
    };
    let new = now.attributes.iter().filter(|(it, _)| was.attribute_def(it).is_none());
    let names = was.attributes.iter().chain(new).map(|(name, _)| name);
    let differing = names.filter_map(|name| {
        let (old, new) = (was.attribute_def(name).map(text), now.attribute_def(name).map(text));
        value_change(&format!("attribute {name}"), old.as_deref(), new.as_deref())
    });
    differing.collect()
}

/// Lists the statuses, each with those that may follow it.
fn status_list(genus: &Genus) -> String {
    let statuses = genus.statuses.iter().map(|it| match it.next.as_deref() {
        None => it.name.clone(),
        Some([]) => format!("{} (final)", it.name),
        Some(next) => format!("{} (then {})", it.name, next.join(" or ")),
    });
    statuses.collect::<Vec<_>>().join(", ")
}

fn relation_list(genus: &Genus) -> String {
    let relations = genus.relations.iter().map(|(name, it)| match it.single {
        true => format!("{name} (one at a time)"),
        false => name.clone(),
    });
    relations.collect::<Vec<_>>().join(", ")
}
