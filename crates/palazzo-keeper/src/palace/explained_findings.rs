//! Explains findings by the history: a missing room or entity may have another name now, and of two
//! files with one id the later one is a copy.

use std::collections::BTreeMap;

use crate::Refusal;
use crate::palace::open_palace::OpenPalace;
use crate::palace::rename_lookup::RenameLookup;
use palazzo_core::check::{CheckFinding, FindingSubject};
use palazzo_core::format::room_path;
use palazzo_core::model::{Code, RoomId, quoted, quoted_unless_plain, side_file};

/// The names that are explained, and the copies.
#[derive(Debug, Default)]
pub(crate) struct Explanations {
    /// The present name of each missing room that was renamed.
    pub(crate) rooms: BTreeMap<RoomId, RoomId>,
    /// The present name of each missing entity that was renamed.
    pub(crate) entities: BTreeMap<String, String>,
    /// The files that are copies of another file.
    pub(crate) copies: Vec<String>,
}

/// Rewords the findings that the history explains. Without missing names and duplicate ids, it does
/// not read the history.
pub(crate) fn explain_findings(
    open: &mut OpenPalace,
    findings: &mut [CheckFinding],
) -> Result<Explanations, Refusal> {
    let mut explanations = Explanations::default();
    if findings.iter().all(|it| it.subject.is_none()) {
        return Ok(explanations);
    }
    let lookup = RenameLookup::new(open)?;
    let (mut rooms, mut entities) = (BTreeMap::new(), BTreeMap::new());
    for finding in findings {
        match finding.subject.clone() {
            Some(FindingSubject::MissingRoom(old)) => {
                let new = rooms.entry(old.clone()).or_insert_with(|| lookup.find_room(&old));
                if let Some(new) = new {
                    explain_missing_room(finding, &old, new);
                }
            }
            Some(FindingSubject::MissingEntity(old)) => {
                let new = entities.entry(old.clone()).or_insert_with(|| lookup.find_entity(&old));
                if let Some(new) = new {
                    let file = lookup.palace().palace.graph.file_of_entity(new).unwrap_or_default();
                    explain_missing_entity(finding, &old, new, file);
                }
            }
            Some(FindingSubject::SameId { other }) => {
                let is_known_copy = side_file(&finding.diagnostic.file).is_some();
                if !is_known_copy {
                    explanations.copies.extend(explain_same_id(finding, &other, &lookup));
                }
            }
            None => {}
        }
    }
    let rooms = rooms.into_iter().filter_map(|(old, new)| Some((old, new?)));
    explanations.rooms = rooms.collect();
    let entities = entities.into_iter().filter_map(|(old, new)| Some((old, new?.to_owned())));
    explanations.entities = entities.collect();
    explanations.copies.dedup();
    Ok(explanations)
}

fn explain_missing_room(finding: &mut CheckFinding, old: &RoomId, new: &RoomId) {
    let (diagnostic, file) = (&mut finding.diagnostic, room_path(new));
    let (message, what) = match diagnostic.code {
        Code::LostScroll => (
            diagnostic.message.replace("does not exist", "has another name now"),
            "moves the scrolls",
        ),
        Code::LostEntry => (diagnostic.message.clone(), "changes the entry"),
        _ => {
            diagnostic.code = Code::OldName;
            (format!("`{old}` is the old name of the room `{new}`"), "changes the references")
        }
    };
    // The place of a scroll does not name the room.
    if diagnostic.code != Code::LostScroll {
        diagnostic.set_certain_word(Some(&new.to_string()));
    }
    diagnostic.message = message;
    diagnostic.hint = Some(format!("{file} has the id of `{old}`; `palazzo check --fix` {what}"));
}

fn explain_missing_entity(finding: &mut CheckFinding, old: &str, new: &str, file: &str) {
    let diagnostic = &mut finding.diagnostic;
    diagnostic.set_certain_word(Some(new));
    let [old, new] = [old, new].map(quoted);
    diagnostic.code = Code::OldName;
    diagnostic.message = format!("{old} is the old name of the entity {new}");
    diagnostic.hint = Some(format!(
        "{} had that name; `palazzo check --fix` changes the references",
        quoted_unless_plain(file)
    ));
}

/// Reports the later of two files with one id as a copy, and returns it; `None` if the history does
/// not say which is later.
fn explain_same_id(
    finding: &mut CheckFinding,
    other: &str,
    lookup: &RenameLookup<'_>,
) -> Option<String> {
    let histories = lookup.palace().file_histories();
    let created = |file: &str| histories.get(file).map(|it| it.created);
    let diagnostic = &mut finding.diagnostic;
    let file = diagnostic.file.clone();
    let (copy, original) = match (created(&file), created(other)) {
        (None, Some(_)) => (file, other),
        (Some(_), None) => (other.to_owned(), file.as_str()),
        (Some(here), Some(there)) if here > there => (file, other),
        (Some(here), Some(there)) if here < there => (other.to_owned(), file.as_str()),
        _ => return None,
    };
    let original = quoted_unless_plain(original);
    diagnostic.message = format!("this file is a copy of {original}: both have the same id");
    diagnostic.hint = Some("`palazzo check --fix` gives it an id of its own".to_owned());
    diagnostic.file.clone_from(&copy);
    Some(copy)
}
