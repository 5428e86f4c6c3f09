//! Differences between two states of a genus definition.

use crate::diff::text::text_change;
use crate::diff::value_changes::{name_change, optional_text, value_change};
use crate::model::{AttributeDef, ChangeDetail, Genus, Palace};

/// Returns the differences of the genus definition in a file.
pub(super) fn diff_genera_in_file(was: &Palace, now: &Palace, file: &str) -> Vec<ChangeDetail> {
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
        details.extend(value_change(of, optional_text(&list(&was)), optional_text(&list(&now))));
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
