//! What differs, in words.

use crate::model::{
    ChangeDetail, ChangeKind, FileItemKind, ItemDiff, ItemPart, PalaceItem, Relation,
};
use crate::render::{one_line, pluralize, truncate};

/// How many ways in which one thing differs are told.
const MAX_DETAILS: usize = 20;
/// How many characters of a value or a name are shown.
const MAX_CHARS: usize = 80;

/// Renders what differs, one thing a line:
/// `room hall-of-geology: action 'Enter the alcove' added; description changed (3 lines)`.
pub fn palace_diff(differences: &[ItemDiff]) -> String {
    let line =
        |it: &ItemDiff| format!("{}: {}\n", item_label(&it.item), change_summary(&it.change));
    differences.iter().map(line).collect::<Vec<_>>().concat()
}

/// Renders what became of one thing, without saying which.
pub fn change_summary(fate: &ChangeKind) -> String {
    match fate {
        ChangeKind::Added => "added".to_owned(),
        ChangeKind::Removed => "removed".to_owned(),
        ChangeKind::Changed(details) if details.is_empty() => {
            "says the same in other words (comments, blank lines, order)".to_owned()
        }
        ChangeKind::Changed(details) => {
            let mut told: Vec<_> = details.iter().take(MAX_DETAILS).map(change_detail).collect();
            if details.len() > MAX_DETAILS {
                told.push(format!("and {} more", details.len() - MAX_DETAILS));
            }
            told.join("; ")
        }
    }
}

/// Names a thing in a line.
pub fn item_label(thing: &PalaceItem) -> String {
    match thing {
        PalaceItem::Settings => "settings".to_owned(),
        PalaceItem::Room(id) => format!("room {id}"),
        PalaceItem::Scroll { which, title } => {
            format!("scroll {} in {}", quoted_label(title), which.room)
        }
        PalaceItem::Entity(name) => format!("entity {}", short_label(name)),
        PalaceItem::ByFile { what, path } => {
            format!("{} {}", file_kind_name(*what), short_label(path))
        }
        PalaceItem::File(path) => format!("file {}", short_label(path)),
    }
}

fn file_kind_name(what: FileItemKind) -> &'static str {
    match what {
        FileItemKind::Genus => "genus",
        FileItemKind::Task => "task",
        FileItemKind::Process => "process",
        FileItemKind::Drawer => "drawer",
        FileItemKind::DiaryEntry => "diary entry",
    }
}

fn change_detail(detail: &ChangeDetail) -> String {
    match detail {
        ChangeDetail::Moved { from } => format!("moved from {from}"),
        ChangeDetail::Renamed { from, to } => {
            format!("called {}, was {}", quoted_label(to), quoted_label(from))
        }
        ChangeDetail::TextChanged { text: "", count: number } => {
            format!("changed ({})", pluralize(*number, "line"))
        }
        ChangeDetail::TextChanged { text, count: number } => {
            format!("{text} changed ({})", pluralize(*number, "line"))
        }
        ChangeDetail::ValueChanged { of, was, now } => match (was, now) {
            (Some(was), Some(now)) => {
                format!("{} {} → {}", short_label(of), short_label(was), short_label(now))
            }
            (None, Some(now)) => format!("{} {} added", short_label(of), short_label(now)),
            (Some(was), None) => format!("{} {} removed", short_label(of), short_label(was)),
            (None, None) => short_label(of),
        },
        ChangeDetail::PartAdded(it) => format!("{} added", part_label(it)),
        ChangeDetail::PartRemoved(it) => format!("{} removed", part_label(it)),
        ChangeDetail::PartChanged(it) => format!("{} changed", part_label(it)),
        ChangeDetail::RelationChanged { was, now } => {
            let said = |it| relation_validity(it).unwrap_or("no dates".to_owned());
            format!("relation {}: {} → {}", relation_label(now), said(was), said(now))
        }
        ChangeDetail::PartsReordered(all) => format!("{all} in another order"),
        ChangeDetail::Unreadable { before: true, why } => {
            format!("changed; it could not be read before ({})", short_label(why))
        }
        ChangeDetail::Unreadable { before: false, why } => {
            format!("changed; it cannot be read ({})", short_label(why))
        }
    }
}

fn part_label(part: &ItemPart) -> String {
    match part {
        ItemPart::Action(label) => format!("action {}", quoted_label(label)),
        ItemPart::Portal(room) => format!("portal to {room}"),
        ItemPart::Observation(text) => format!("observation {}", quoted_label(text)),
        ItemPart::Relation(it) => match relation_validity(it) {
            Some(terms) => format!("relation {} ({terms})", relation_label(it)),
            None => format!("relation {}", relation_label(it)),
        },
    }
}

/// Names a relation by its type and where it leads: `rules → Pope`.
pub fn relation_label(it: &Relation) -> String {
    format!("{} → {}", short_label(&it.kind), short_label(&it.to))
}

/// Says when a relation held and from where that is known, as it is written:
/// `since 2001, until 2005`.
pub fn relation_validity(it: &Relation) -> Option<String> {
    let terms = [("since", &it.since), ("until", &it.until), ("source", &it.source)];
    let terms = terms.into_iter().filter_map(|(word, it)| Some((word, it.as_ref()?)));
    let said: Vec<_> = terms.map(|(word, it)| format!("{word} {}", short_label(it))).collect();
    (!said.is_empty()).then(|| said.join(", "))
}

fn quoted_label(text: &str) -> String {
    format!("'{}'", short_label(text))
}

fn short_label(text: &str) -> String {
    truncate(&one_line(text), MAX_CHARS)
}
