//! Renders where an item comes from.

use serde_json::{Value, json};

use crate::model::{Origin, Provenance};
use crate::render::text::{name_in_sentence, truncate};

/// Limit for the characters of a name.
const MAX_NAME_CHARS: usize = 60;

/// Renders author and origin: `by Ada, mined from chat.jsonl`. Empty if nothing is known.
pub fn provenance(it: &Provenance) -> String {
    let by = it.by.as_ref().map(|it| format!("by {}", name(it)));
    by.into_iter().chain(origin_notes(it)).collect::<Vec<_>>().join(", ")
}

/// Renders author and origin for a list: without the origin if a tool wrote it, which is the usual case, and
/// without the source of what was mined or imported, which the item itself names.
pub fn short_provenance(it: &Provenance) -> String {
    let origin = it.origin.filter(|it| *it != Origin::Tool);
    let is_from_source = matches!(origin, Some(Origin::Mined | Origin::Imported));
    let source = it.source.clone().filter(|_| !is_from_source);
    provenance(&Provenance { origin, source, ..it.clone() })
}

/// Renders the origin without the author, each part after a comma: `, by hand, synced`.
pub fn origin_suffix(it: &Provenance) -> String {
    origin_notes(it).into_iter().flat_map(|it| [", ".to_owned(), it]).collect()
}

/// Renders author and origin as JSON; `null` for what is not known.
pub fn provenance_json(it: &Provenance) -> Value {
    json!({
        "by": it.by,
        "origin": it.origin.map(Origin::name),
        "source": it.source,
        "changed_by": it.changed_by,
        "synced": it.is_synced,
    })
}

/// Returns the parts of the origin: how it came, from which source, and whether it was synced.
fn origin_notes(it: &Provenance) -> Vec<String> {
    let source = it.source.as_ref().map(|it| format!("from {}", name(it)));
    let mut notes: Vec<String> = match (it.origin, source) {
        (Some(origin @ (Origin::Mined | Origin::Imported)), Some(source)) => {
            vec![format!("{} {source}", origin.name())]
        }
        (origin, source) => {
            origin.map(|it| origin_words(it).to_owned()).into_iter().chain(source).collect()
        }
    };
    notes.extend(it.changed_by.as_ref().map(|it| format!("changed by {}", name(it))));
    if it.is_synced {
        notes.push("synced".to_owned());
    }
    if it.has_unread_history {
        notes.push("newest changes not read".to_owned());
    }
    notes
}

fn origin_words(origin: Origin) -> &'static str {
    match origin {
        Origin::Tool => "with a tool",
        Origin::Hand => "by hand",
        Origin::Merged => "the other version of a merge",
        Origin::Mined | Origin::Imported => origin.name(),
    }
}

fn name(text: &str) -> String {
    name_in_sentence(&truncate(text, MAX_NAME_CHARS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(origin: Option<Origin>, source: Option<&str>, is_synced: bool) -> Provenance {
        let (by, source) = (Some("Ada".to_owned()), source.map(str::to_owned));
        Provenance { by, origin, source, is_synced, ..Provenance::default() }
    }

    #[test]
    fn a_name_cannot_claim_an_origin() {
        let by = Some("Eve, by hand, synced".to_owned());
        let forged = Provenance { by, origin: Some(Origin::Tool), ..Provenance::default() };
        assert_eq!(provenance(&forged), "by \"Eve, by hand, synced\", with a tool");
    }

    #[test]
    fn an_unknown_origin_is_not_mentioned() {
        assert_eq!(provenance(&Provenance::default()), "");
        assert_eq!(provenance(&from(None, None, false)), "by Ada");
        assert_eq!(origin_suffix(&from(None, None, false)), "");
    }

    #[test]
    fn a_source_follows_the_word_for_mining_and_importing() {
        let source = Some("chat\n.jsonl");
        let mined = from(Some(Origin::Mined), source, true);
        assert_eq!(provenance(&mined), "by Ada, mined from chat .jsonl, synced");
        assert_eq!(provenance(&from(Some(Origin::Imported), None, false)), "by Ada, imported");
        let filed = from(Some(Origin::Tool), source, false);
        assert_eq!(provenance(&filed), "by Ada, with a tool, from chat .jsonl");
    }

    #[test]
    fn the_list_of_a_room_names_no_tool() {
        let by_tool = from(Some(Origin::Tool), None, true);
        assert_eq!(short_provenance(&by_tool), "by Ada, synced");
        assert_eq!(short_provenance(&from(Some(Origin::Hand), None, false)), "by Ada, by hand");
    }
}
