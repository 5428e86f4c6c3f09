//! Renders the content that differs between two states of a palace, line by line.

use crate::model::{
    Action, ActionKind, ChangeDetail, ChangeKind, DiffLine, DiffWords, ItemDiff, ItemElement,
    NavigationTarget,
};
use crate::render::palace_diff::{
    MAX_CHARS, MAX_DETAILS, change_summary, item_label, part_label, relation_change_labels,
};
use crate::render::text::{
    count_with_noun, in_quotes, looks_like_single_mark, name_in_sentence, whole_line,
};

/// A line of content, with a sign: `+` is added, `-` removed, `~` changed in some words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContentLine {
    pub(crate) sign: char,
    pub(crate) text: String,
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
        ChangeDetail::TextChanged { text, lines, .. } => text_lines(text, lines),
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
    let label = match action.label.contains(looks_like_single_mark) {
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
