//! Renders the differences between two states of a palace.

use crate::model::{
    Action, ActionKind, ChangeDetail, ChangeKind, DiffLine, DiffWords, ItemDiff, ItemElement,
    ItemId, ItemOrFile, NavigationTarget, Relation,
};
use crate::render::text::{
    count_with_noun, has_more_words_than, in_quotes, looks_like_single_quote, name_in_sentence,
    one_line, title_after_label, truncate, whole_line,
};

/// Limit for the details of one changed item.
pub(crate) const MAX_DETAILS: usize = 20;
/// Limit for the characters of a value or a name.
const MAX_CHARS: usize = 80;

/// A line of content, with a sign: `+` is added, `-` removed, `~` changed in some words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContentLine {
    pub(crate) sign: char,
    pub(crate) text: String,
}

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
pub fn item_label(item: &ItemOrFile) -> String {
    let (id, title) = match item {
        ItemOrFile::Settings => return "settings".to_owned(),
        ItemOrFile::Item { id, title } => (id, title),
        ItemOrFile::File(path) => return format!("file {}", path_label(path)),
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
        ChangeDetail::TextChanged { of, count: number, .. } => {
            let text = format!("{} changed", one_line(of));
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
fn relation_change_labels(was: &Relation, now: &Relation) -> (String, String, String) {
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
    match text.contains(looks_like_single_quote) {
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

/// Renders differences as [`palace_diff`](crate::render::palace_diff) does, and below each item the
/// content that its line leaves out.
pub fn palace_diff_with_content(differences: &[ItemDiff]) -> String {
    let mut page = String::new();
    for (at, it) in differences.iter().enumerate() {
        page.push_str(&format!("{}: {}\n", item_label(&it.item), change_summary(&it.change)));
        let lines = content_lines(&it.change);
        let is_last = at + 1 == differences.len();
        for ContentLine { sign, text } in &lines {
            page.push_str(format!("  {sign} {text}").trim_end());
            page.push('\n');
        }
        if !lines.is_empty() && !is_last {
            page.push('\n');
        }
    }
    page
}

/// Renders the content of an item as text, without signs; for git's `textconv`.
pub fn item_content(item: &ItemDiff) -> String {
    let lines = content_lines(&item.change);
    lines.iter().map(|it| format!("{}\n", it.text.trim_end())).collect::<Vec<_>>().concat()
}

/// Renders the content of a change that its summary leaves out.
pub(crate) fn content_lines(change: &ChangeKind) -> Vec<ContentLine> {
    match change {
        ChangeKind::Added(details) | ChangeKind::Removed(details) => {
            details.iter().flat_map(detail_lines).collect()
        }
        ChangeKind::Changed(details) => {
            let is_whole = details.len() > MAX_DETAILS;
            let left_out = details.iter().filter(|it| is_whole || !is_in_summary(it));
            left_out.flat_map(detail_lines).collect()
        }
    }
}

/// Returns whether the summary of an item contains the whole detail.
fn is_in_summary(detail: &ChangeDetail) -> bool {
    let is_short = |it: &str| it.chars().count() <= MAX_CHARS && !it.trim().contains('\n');
    match detail {
        ChangeDetail::Moved { .. }
        | ChangeDetail::Replaces { .. }
        | ChangeDetail::RelationChanged { .. }
        | ChangeDetail::PartsReordered(_)
        | ChangeDetail::Unreadable { .. } => true,
        ChangeDetail::Renamed { from, to } => is_short(from) && is_short(to),
        ChangeDetail::ValueChanged { was, now, .. } => {
            [was, now].into_iter().flatten().all(|it| is_short(it))
        }
        ChangeDetail::PartAdded(it) | ChangeDetail::PartRemoved(it) => match it {
            ItemElement::Portal(_) | ItemElement::Relation(_) => true,
            ItemElement::Observation(text) | ItemElement::Step(text) => is_short(text),
            ItemElement::Action(_) => false,
        },
        ChangeDetail::TextChanged { .. } | ChangeDetail::PartChanged { .. } => false,
    }
}

fn detail_lines(detail: &ChangeDetail) -> Vec<ContentLine> {
    match detail {
        ChangeDetail::Moved { from } => vec![line('~', format!("moved from {from}"))],
        ChangeDetail::Renamed { from, to } => value_lines("name", Some(from), Some(to)),
        ChangeDetail::ValueChanged { of, was, now } => {
            value_lines(of, was.as_deref(), now.as_deref())
        }
        ChangeDetail::TextChanged { of, lines, .. } => text_lines(of, lines),
        ChangeDetail::PartAdded(it) => part_lines('+', it),
        ChangeDetail::PartRemoved(it) => part_lines('-', it),
        ChangeDetail::PartChanged { was, now } => {
            [part_lines('-', was), part_lines('+', now)].concat()
        }
        ChangeDetail::RelationChanged { was, now } => {
            let (label, was, now) = relation_change_labels(was, now);
            vec![line('~', format!("relation {label}: [-{was}-]{{+{now}+}}"))]
        }
        ChangeDetail::PartsReordered(all) => vec![line('~', format!("{all} in another order"))],
        // The summary has it.
        ChangeDetail::Replaces { .. } | ChangeDetail::Unreadable { .. } => Vec::new(),
    }
}

fn value_lines(of: &str, was: Option<&str>, now: Option<&str>) -> Vec<ContentLine> {
    let of = whole_line(of);
    match (was.map(whole_line), now.map(whole_line)) {
        (Some(was), Some(now)) => vec![line('~', format!("{of}: [-{was}-]{{+{now}+}}"))],
        (None, Some(now)) => vec![line('+', format!("{of}: {now}"))],
        (Some(was), None) => vec![line('-', format!("{of}: {was}"))],
        (None, None) => Vec::new(),
    }
}

/// Renders the difference of a text below its name; that of a whole file has no name.
fn text_lines(name: &str, lines: &[DiffLine]) -> Vec<ContentLine> {
    let indent = if name.is_empty() { "" } else { "  " };
    let text_line = |it: &DiffLine| match it {
        DiffLine::Kept(text) => line(' ', format!("{indent}{text}")),
        DiffLine::Removed(text) => line('-', format!("{indent}{text}")),
        DiffLine::Added(text) => line('+', format!("{indent}{text}")),
        DiffLine::Changed(words) => {
            line('~', format!("{indent}{}", words.iter().map(marked_words).collect::<String>()))
        }
        DiffLine::Omitted(count) => {
            line(' ', format!("{indent}… {}", count_with_noun(*count, "line")))
        }
    };
    let is_all = |is_it: fn(&DiffLine) -> bool| lines.iter().all(is_it);
    let sign = match () {
        () if is_all(|it| matches!(it, DiffLine::Added(_))) => '+',
        () if is_all(|it| matches!(it, DiffLine::Removed(_))) => '-',
        () => ' ',
    };
    let name = (!name.is_empty()).then(|| line(sign, format!("{}:", whole_line(name))));
    name.into_iter().chain(lines.iter().map(text_line)).collect()
}

/// Renders words as `git diff --word-diff` does: `[-removed-]{+added+}`.
fn marked_words(words: &DiffWords) -> String {
    match words {
        DiffWords::Kept(text) => text.clone(),
        DiffWords::Removed(text) => format!("[-{text}-]"),
        DiffWords::Added(text) => format!("{{+{text}+}}"),
    }
}

fn part_lines(sign: char, part: &ItemElement) -> Vec<ContentLine> {
    match part {
        ItemElement::Action(it) => action_lines(sign, it),
        ItemElement::Observation(text) => {
            vec![line(sign, format!("observation: {}", whole_line(text)))]
        }
        ItemElement::Step(text) => vec![line(sign, format!("step: {}", whole_line(text)))],
        ItemElement::Portal(_) | ItemElement::Relation(_) => vec![line(sign, part_label(part))],
    }
}

fn action_lines(sign: char, action: &Action) -> Vec<ContentLine> {
    let label = match action.label.contains(looks_like_single_quote) {
        true => format!("action {}", in_quotes(&action.label)),
        false => format!("action '{}'", whole_line(&action.label)),
    };
    match &action.kind {
        ActionKind::Navigate(NavigationTarget { room, workspace }) => {
            let place = workspace.as_ref().map(|it| format!(" in {}", name_in_sentence(it)));
            vec![line(sign, format!("{label} leads to {room}{}", place.unwrap_or_default()))]
        }
        ActionKind::Query { tool, params } => {
            let params = match params.is_empty() {
                true => String::new(),
                false => format!(" {}", whole_line(&serde_json::json!(params).to_string())),
            };
            vec![line(sign, format!("{label} calls {}{params}", name_in_sentence(tool)))]
        }
        ActionKind::ShowEntity { entity } => {
            vec![line(sign, format!("{label} shows {}", name_in_sentence(entity)))]
        }
        ActionKind::Text { content } => {
            let lines = content.lines().map(|it| line(sign, format!("  {it}")));
            [line(sign, format!("{label} shows:"))].into_iter().chain(lines).collect()
        }
        ActionKind::EnterHall(_) => vec![line(sign, label)],
    }
}

fn line(sign: char, text: String) -> ContentLine {
    ContentLine { sign, text }
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
