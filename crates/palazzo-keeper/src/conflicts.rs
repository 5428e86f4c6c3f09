//! Lists and settles conflicts: two values for one field, from a merge. Makes their files, and the
//! findings about them.

pub(crate) mod resolve;

use crate::merge::conflict::MergeConflict;
use crate::palace::OpenPalace;
use crate::palace::open_conflicts::present_field;
use crate::{Refusal, Session};
use palazzo_core::format::serialize_conflict;
use palazzo_core::merge::{FieldPlace, LastChange, LocatedField};
use palazzo_core::model::{
    Code, Conflict, ConflictAuthor, Diagnostic, OpenConflict, ValuePath, quote_for_shell, quoted,
};
use palazzo_core::render;

/// Returns the conflicts that are not settled, by file.
pub fn list_conflicts(session: &Session<'_>) -> Vec<OpenConflict> {
    let mut conflicts = session.palace.open_conflicts();
    conflicts
        .sort_by(|a, b| (&a.item_file, &a.conflict.field).cmp(&(&b.item_file, &b.conflict.field)));
    conflicts
}

/// Returns the only open conflict whose name begins with `id`; `id` may also be its file.
pub(crate) fn find_conflict(open: Vec<OpenConflict>, id: &str) -> Result<OpenConflict, Refusal> {
    let wanted = Conflict::name_from_path(id.trim()).to_lowercase();
    let known: Vec<_> = open.iter().map(|it| quoted(&it.short_id)).collect();
    let is_meant =
        |it: &OpenConflict| Conflict::name_from_path(&it.path).to_lowercase().starts_with(&wanted);
    let mut found = open.into_iter().filter(|it| !wanted.is_empty() && is_meant(it));
    let not_found = |what, hint| Refusal::NotFound { what, name: id.to_owned(), hint };
    Err(match (found.next(), found.next(), known.as_slice()) {
        (Some(only), None, _) => return Ok(only),
        (Some(_), Some(_), _) => {
            let id = quoted(id);
            Refusal::Invalid(format!("several conflicts begin with {id}: give more digits"))
        }
        (None, _, []) => not_found("conflict", ": all are settled".to_owned()),
        (None, _, known) => not_found("open conflict", format!("; open are {}", known.join(", "))),
    })
}

impl From<&MergeConflict> for Conflict {
    fn from(it: &MergeConflict) -> Self {
        let author = |side: &LastChange| ConflictAuthor {
            author: side.author.clone(),
            at: Some(side.at),
            commit: Some(side.commit.clone()),
        };
        Self {
            id: it.id.as_ref().and_then(|it| it.parse().ok()),
            file: it.path.clone(),
            field: it.field.clone(),
            stands: it.stands.clone(),
            stands_by: Some(author(&it.stands_by)),
            other: it.other.clone(),
            other_by: Some(author(&it.other_by)),
        }
    }
}

/// Returns the file of a conflict, as its path and its text: the same on every machine.
pub fn conflict_file(it: &MergeConflict) -> (String, String) {
    (Conflict::path_of_name(&it.name()), serialize_conflict(&it.into()))
}

/// Returns the findings about all conflicts, each with the path of its value.
pub(crate) fn conflict_findings(open: &OpenPalace) -> Vec<(Diagnostic, Option<ValuePath>)> {
    let mut findings: Vec<_> =
        open.open_conflicts().iter().map(|it| open_conflict_finding(open, it)).collect();
    findings.extend(open.settled_conflicts().into_iter().map(|it| (settled_finding(it), None)));
    findings
}

/// Returns the finding about the file of a settled conflict.
pub(crate) fn settled_finding(path: &str) -> Diagnostic {
    let message = "the conflict is settled: its field has another value now, or its item is gone";
    let finding = Diagnostic::for_file(Code::SettledConflict, path, message);
    finding.with_hint("`palazzo check --fix` deletes the file")
}

/// Returns the finding about an open conflict, with the path of its value.
pub(crate) fn open_conflict_finding(
    open: &OpenPalace,
    it: &OpenConflict,
) -> (Diagnostic, Option<ValuePath>) {
    let text = open.store().read_file(&it.item_file).ok().flatten();
    let field = text.as_deref().and_then(|text| present_field(it, text));
    let place = field.as_ref().and_then(LocatedField::place);
    let value_path =
        place.map(FieldPlace::value_path).or(text.is_some().then_some(ValuePath::ROOT));
    // A deleted item has no file for its finding.
    let file = if text.is_some() { &it.item_file } else { &it.path };
    let mut message = format!("two answers for {}", render::conflict_sentence(&it.conflict, None));
    let id = quote_for_shell(&it.short_id);
    let mut hint = format!("write the field, or `palazzo resolve {id} stands|other`");
    if field == Some(LocatedField::ItemGone) {
        message += "; its place is gone: the item was removed, or renamed and changed";
        hint = format!("write the other value if it is right, then `palazzo resolve {id} stands`");
    }
    (Diagnostic::for_file(Code::OpenConflict, file, message).with_hint(hint), value_path)
}
