//! Renders the differences between two states of a palace.

use crate::model::{ChangeDetail, ChangeKind, ItemDiff, ItemElement, ItemId, PalaceItem, Relation};
use crate::render::text::{
    count_with_noun, has_more_words_than, in_quotes, looks_like_single_mark, one_line,
    title_after_label, truncate,
};

/// Limit for the details of one changed item.
pub(crate) const MAX_DETAILS: usize = 20;
/// Limit for the characters of a value or a name.
pub(crate) const MAX_CHARS: usize = 80;

/// Renders differences, one item per line:
/// `room hall-of-geology: action 'Enter the alcove' added; description changed (3 lines)`.
pub fn palace_diff(differences: &[ItemDiff]) -> String {
    let line =
        |it: &ItemDiff| format!("{}: {}\n", item_label(&it.item), change_summary(&it.change));
    differences.iter().map(line).collect::<Vec<_>>().concat()
}

/// Renders the change of one item, without its name.
pub fn change_summary(change: &ChangeKind) -> String {
    match change {
        ChangeKind::Added(details) => match details.as_slice() {
            [replaced @ ChangeDetail::Replaces { .. }, rest @ ..] => {
                let text = rest.iter().find(|it| matches!(it, ChangeDetail::TextChanged { .. }));
                let parts = std::iter::once(replaced).chain(text).map(change_detail_text);
                format!("added; {}", parts.collect::<Vec<_>>().join("; "))
            }
            _ => "added".to_owned(),
        },
        ChangeKind::Removed(_) => "removed".to_owned(),
        ChangeKind::Changed(details) if details.is_empty() => {
            "same content, other formatting (comments, blank lines, order)".to_owned()
        }
        ChangeKind::Changed(details) => {
            let mut parts: Vec<_> =
                details.iter().take(MAX_DETAILS).map(change_detail_text).collect();
            if details.len() > MAX_DETAILS {
                parts.push(format!("and {} more", details.len() - MAX_DETAILS));
            }
            parts.join("; ")
        }
    }
}

/// Renders the change of one item, as [`change_summary`] does, but only counts observations and relations
/// that were added.
pub fn counted_change_summary(change: &ChangeKind) -> String {
    let ChangeKind::Changed(details) = change else { return change_summary(change) };
    let count = |is: fn(&ItemElement) -> bool| {
        let added = details.iter().filter(|it| matches!(it, ChangeDetail::PartAdded(it) if is(it)));
        added.count()
    };
    let added = [
        (count(|it| matches!(it, ItemElement::Observation(_))), "observation"),
        (count(|it| matches!(it, ItemElement::Relation(_))), "relation"),
    ];
    let is_counted = |it: &&ChangeDetail| {
        use ItemElement::{Observation, Relation};
        matches!(it, ChangeDetail::PartAdded(Observation(_) | Relation(_)))
    };
    let others = details.iter().filter(|it| !is_counted(it)).map(change_detail_text);
    let added = added.into_iter().filter(|(number, _)| *number > 0);
    let added = added.map(|(number, noun)| format!("{} added", count_with_noun(number, noun)));
    others.chain(added).collect::<Vec<_>>().join("; ")
}

/// Renders the kind and the name of an item.
pub fn item_label(item: &PalaceItem) -> String {
    let (id, title) = match item {
        PalaceItem::Settings => return "settings".to_owned(),
        PalaceItem::Item { id, title } => (id, title),
        PalaceItem::File(path) => return format!("file {}", path_label(path)),
    };
    let title_or =
        |path: &str| title.as_ref().map_or_else(|| path_label(path), |it| quoted_label(it));
    match id {
        ItemId::Room(id) => format!("room {id}"),
        ItemId::Scroll(which) => format!("scroll {} in {}", title_or(""), which.room),
        ItemId::Entity(name) => format!("entity {}", short_label(name)),
        ItemId::Genus(name) => format!("genus {}", quoted_label(name)),
        ItemId::Diary(path) => format!("diary entry {}", title_or(path)),
        ItemId::Task(path) | ItemId::Process(path) | ItemId::Drawer(path) => {
            format!("{} {}", id.kind(), title_or(path))
        }
    }
}

/// Renders the change of a status to none, which is a step of its own in the life of an entity.
pub fn cleared_status(detail: &ChangeDetail) -> Option<String> {
    match detail {
        ChangeDetail::ValueChanged { of, was: Some(was), now: None } if of == "status" => {
            Some(format!("status {} → none", value_label(of, was)))
        }
        _ => None,
    }
}

fn change_detail_text(detail: &ChangeDetail) -> String {
    if let Some(text) = cleared_status(detail) {
        return text;
    }
    match detail {
        ChangeDetail::Moved { from } => format!("moved from {from}"),
        ChangeDetail::Renamed { from, to } => {
            format!("renamed from {} to {}", quoted_label(from), quoted_label(to))
        }
        ChangeDetail::Replaces { title, written } => {
            format!("replaces {} of {}", quoted_label(title), written.format("%F %R"))
        }
        ChangeDetail::TextChanged { text, count: number, .. } => {
            let text = format!("{} changed", one_line(text));
            format!("{} ({})", text.trim_start(), count_with_noun(*number, "line"))
        }
        ChangeDetail::ValueChanged { of, was, now } => match (was, now) {
            (Some(was), Some(now)) => {
                format!("{} {} → {}", short_label(of), value_label(of, was), value_label(of, now))
            }
            (None, Some(now)) => format!("{} {} added", short_label(of), value_label(of, now)),
            (Some(was), None) => format!("{} {} removed", short_label(of), value_label(of, was)),
            (None, None) => short_label(of),
        },
        ChangeDetail::PartAdded(it) => format!("{} added", part_label(it)),
        ChangeDetail::PartRemoved(it) => format!("{} removed", part_label(it)),
        ChangeDetail::PartChanged { now, .. } => format!("{} changed", part_label(now)),
        ChangeDetail::RelationChanged { was, now } => {
            let (label, was, now) = relation_change_labels(was, now);
            format!("relation {label}: {was} → {now}")
        }
        ChangeDetail::PartsReordered(all) => format!("{all} in another order"),
        ChangeDetail::Unreadable { before: true, why } => {
            format!("changed; it could not be read before ({})", short_line(why))
        }
        ChangeDetail::Unreadable { before: false, why } => {
            format!("changed; it cannot be read ({})", short_line(why))
        }
    }
}

pub(crate) fn part_label(part: &ItemElement) -> String {
    match part {
        ItemElement::Action(it) => format!("action {}", quoted_label(&it.label)),
        ItemElement::Portal(room) => format!("portal to {room}"),
        ItemElement::Observation(text) => format!("observation {}", quoted_label(text)),
        ItemElement::Relation(it) => match relation_validity(it) {
            Some(dates) => format!("relation {} ({dates})", relation_label(it)),
            None => format!("relation {}", relation_label(it)),
        },
        ItemElement::Step(text) => format!("step {}", quoted_label(text)),
    }
}

/// Renders a relation, and its previous and its new dates.
pub(crate) fn relation_change_labels(was: &Relation, now: &Relation) -> (String, String, String) {
    let dates = |it| relation_validity(it).unwrap_or("no dates".to_owned());
    (relation_label(now), dates(was), dates(now))
}

/// Renders the type and the target of a relation: `rules → Pope`.
pub fn relation_label(it: &Relation) -> String {
    format!("{} → {}", short_label(&it.kind), short_label(&it.to))
}

/// Renders the period and the source of a relation as written: `since 2001, until 2005`.
pub fn relation_validity(it: &Relation) -> Option<String> {
    let fields = [("since", &it.since), ("until", &it.until), ("source", &it.source)];
    let fields = fields.into_iter().filter_map(|(word, it)| Some((word, it.as_ref()?)));
    let parts: Vec<_> = fields.map(|(word, it)| format!("{word} {}", short_label(it))).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Quotes a text, so that it cannot end the quotation.
fn quoted_label(text: &str) -> String {
    match text.contains(looks_like_single_mark) {
        true => in_quotes(&truncate(text, MAX_CHARS)),
        false => format!("'{}'", short_line(text)),
    }
}

fn short_line(text: &str) -> String {
    truncate(&one_line(text), MAX_CHARS)
}

fn short_label(text: &str) -> String {
    let short = truncate(text, MAX_CHARS);
    let is_quoted = short.contains(',') || has_more_words_than(2, &short);
    if is_quoted { in_quotes(&short) } else { title_after_label(&short) }
}

/// Renders the path of a file, which is one word.
fn path_label(path: &str) -> String {
    title_after_label(&truncate(path, MAX_CHARS))
}

/// Renders a value of a field. What a room generates is described in words of the program.
pub(crate) fn value_label(field: &str, value: &str) -> String {
    if field == "generate" { title_after_label(value) } else { short_label(value) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Relation;

    #[test]
    fn added_observations_and_relations_are_only_counted() {
        let relation = |to: &str| Relation {
            kind: "knows".to_owned(),
            to: to.to_owned(),
            since: None,
            until: None,
            source: None,
        };
        let status = ChangeDetail::ValueChanged {
            of: "status".to_owned(),
            was: None,
            now: Some("open".to_owned()),
        };
        let added = [
            ItemElement::Observation("One.".to_owned()),
            ItemElement::Relation(relation("Ada")),
            ItemElement::Relation(relation("Bob")),
        ];
        let details = std::iter::once(status).chain(added.map(ChangeDetail::PartAdded)).collect();
        assert_eq!(
            counted_change_summary(&ChangeKind::Changed(details)),
            "status open added; 1 observation added; 2 relations added"
        );
    }
}
