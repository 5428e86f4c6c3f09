//! Renders genera: their entity counts and their rules.

use crate::model::{Genus, RelationDef, StatusDef};
use crate::render::mark_imitations;
use crate::render::text::{
    name_in_sentence, one_line, printable_text, title_after_label, truncate,
};

/// Limit for listed statuses.
const MAX_STATUSES: usize = 8;

/// A genus, the number of its entities, and their numbers by status.
pub type GenusCount<'a> = (&'a str, usize, Vec<(&'a str, usize)>);

/// Renders each genus with its number of entities by status; `ruled` are the genera with
/// rules.
pub fn genus_list(genera: &[GenusCount<'_>], ruled: &[&str]) -> String {
    if genera.is_empty() {
        return "This workspace has no entities yet: create some with create_entities.\n"
            .to_owned();
    }
    let number = if genera.len() == 1 { "genus" } else { "genera" };
    let mut page = format!("{} {number}:\n", genera.len());
    for count in genera {
        page.push_str(&format!("  {}\n", genus_count_line(count)));
    }
    if !ruled.is_empty() {
        let names: Vec<_> = ruled.iter().map(|it| name_in_sentence(&truncate(it, 60))).collect();
        page.push_str(&format!("`genus` shows the rules of {}\n", names.join(", ")));
    }
    page
}

/// Renders the rules of one genus, and its entity counts.
pub fn genus(it: Option<&Genus>, count: &GenusCount<'_>) -> String {
    let Some(genus) = it else {
        return format!(
            "{}\nIt has no rules: any attributes, statuses and relations are allowed.\n",
            genus_count_line(count)
        );
    };
    let mut page = format!("── {} ──\n", one_line(&genus.name));
    page.extend(genus.description.iter().map(|it| format!("{}\n", printable_text(it))));
    page.push_str(&format!("{}\n", genus_count_line(count)));
    let names = [("Plural", &genus.plural), ("In a sentence", &genus.sentence)];
    for (what, name) in names.into_iter().filter_map(|(what, it)| Some((what, it.as_ref()?))) {
        page.push_str(&format!("{what}: {}\n", one_line(name)));
    }
    if !genus.attributes.is_empty() {
        page.push_str("Attributes:\n");
    }
    for (name, about) in &genus.attributes {
        let required = if about.required { "; required" } else { "" };
        let line = format!("{}: {}{required}", one_line(name), one_line(&about.kind.to_string()));
        page.push_str(&format!("  {}\n", mark_imitations(&line)));
    }
    if !genus.statuses.is_empty() {
        page.push_str("Statuses, the initial one first:\n");
    }
    page.extend(genus.statuses.iter().map(status_line));
    if !genus.relations.is_empty() {
        let all: Vec<_> = genus.relations.iter().map(relation_type_label).collect();
        page.push_str(&format!("Relations: {}\n", all.join(", ")));
    }
    page
}

fn genus_count_line((genus, number, statuses): &GenusCount<'_>) -> String {
    let shown = statuses.iter().take(MAX_STATUSES);
    let shown: Vec<_> =
        shown.map(|(it, n)| format!("{n} {}", truncate(&one_line(it), 40))).collect();
    let shown = if shown.is_empty() { String::new() } else { format!(" ({})", shown.join(", ")) };
    mark_imitations(&format!("{}: {number}{shown}", title_after_label(&truncate(genus, 60))))
}

fn status_line(StatusDef { name, next }: &StatusDef) -> String {
    let next = match next.as_deref() {
        None => String::new(),
        Some([]) => " (final)".to_owned(),
        Some(next) => {
            format!(" → {}", next.iter().map(|it| one_line(it)).collect::<Vec<_>>().join(", "))
        }
    };
    format!("  {}\n", mark_imitations(&format!("{}{next}", one_line(name))))
}

fn relation_type_label((name, about): &(String, RelationDef)) -> String {
    let single = if about.single { " (one at a time)" } else { "" };
    format!("{}{single}", one_line(name))
}
