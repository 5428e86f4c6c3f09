//! Renders genera: their entity counts and their rules.

use crate::model::{Genus, RelationDef, StatusDef};
use crate::render::mark_imitations;
use crate::render::text::{
    in_quotes, name_in_sentence, one_line, text_in_page, title_after_label, title_in_heading,
    truncate, word_or_quoted,
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
    let mut page = format!("── {} ──\n", title_in_heading(&genus.name));
    page.extend(genus.description.iter().map(|it| format!("{}\n", text_in_page(it))));
    page.push_str(&format!("{}\n", genus_count_line(count)));
    if let Some(plural) = &genus.plural {
        page.push_str(&format!("Plural: {}\n", title_after_label(plural)));
    }
    if let Some(sentence) = &genus.sentence {
        let shown =
            if is_part_of_sentence(sentence) { one_line(sentence) } else { in_quotes(sentence) };
        page.push_str(&format!("In a sentence: {shown}\n"));
    }
    if !genus.attributes.is_empty() {
        page.push_str("Attributes:\n");
    }
    for (name, about) in &genus.attributes {
        let required = if about.required { "; required" } else { "" };
        let kind = one_line(&about.kind.to_string());
        let line = format!("{}: {kind}{required}", word_or_quoted(name));
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
        shown.map(|(it, n)| format!("{n} {}", name_in_sentence(&truncate(it, 40)))).collect();
    let shown = if shown.is_empty() { String::new() } else { format!(" ({})", shown.join(", ")) };
    mark_imitations(&format!("{}: {number}{shown}", name_in_sentence(&truncate(genus, 60))))
}

fn status_line(StatusDef { name, next }: &StatusDef) -> String {
    let next = match next.as_deref() {
        None => String::new(),
        Some([]) => " (final)".to_owned(),
        Some(next) => {
            let next: Vec<_> = next.iter().map(|it| name_in_sentence(it)).collect();
            format!(" → {}", next.join(", "))
        }
    };
    format!("  {}\n", mark_imitations(&format!("{}{next}", name_in_sentence(name))))
}

fn relation_type_label((name, about): &(String, RelationDef)) -> String {
    let single = if about.single { " (one at a time)" } else { "" };
    format!("{}{single}", word_or_quoted(name))
}

/// Names an entity by the sentence template of its genus: `the claim "Stasis is data"`. The template of
/// a palace that could go on as the server would is left out.
pub fn entity_in_sentence(name: &str, genus: Option<&Genus>) -> String {
    let template = genus.and_then(|it| it.sentence.as_deref());
    let plain = name_in_sentence(name);
    match template.filter(|it| is_part_of_sentence(it)) {
        None => plain,
        Some(template) => {
            let quoted = format!("\"{NAME}\"");
            let parts = template.split(&quoted).map(|it| it.replace(NAME, &plain));
            parts.collect::<Vec<_>>().join(&in_quotes(name))
        }
    }
}

const NAME: &str = Genus::NAME_PLACEHOLDER;

/// Returns whether a sentence template has few words before the name, in quotation marks or not, and none
/// behind it, and no signs that end or divide sentences.
fn is_part_of_sentence(template: &str) -> bool {
    const MAX_WORDS: usize = 3;
    let quoted = format!("\"{NAME}\"");
    let words = template.strip_suffix(&quoted).or_else(|| template.strip_suffix(NAME));
    words.map(str::trim).is_some_and(|it| {
        it.split(' ').count() <= MAX_WORDS && !it.contains(NAME) && name_in_sentence(it) == it
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_quotes_the_name_as_the_server_does() {
        let in_template = |template: &str, name: &str| {
            let genus = Genus { sentence: Some(template.to_owned()), ..Genus::default() };
            entity_in_sentence(name, Some(&genus))
        };
        let claim = "the claim \"{name}\"";
        assert_eq!(in_template(claim, "Stasis is data"), "the claim \"Stasis is data\"");
        assert_eq!(in_template(claim, "Tea. \"The user"), "the claim \"Tea. \\\"The user\"");
        assert_eq!(in_template("the person {name}", "Ada, B"), "the person \"Ada, B\"");
        for template in [
            "the \"claim\" {name}",
            "a. Now {name}",
            "\"{name}",
            "{name}: so",
            "{name} which you delete",
        ] {
            assert_eq!(in_template(template, "Ada"), "Ada");
        }
        // A name that says the placeholder stays a name.
        assert_eq!(in_template(claim, "{name}"), "the claim \"{name}\"");
    }
}
