//! Conflicts as findings: the open ones at their fields, the settled ones at their own files.

use crate::palace::OpenPalace;
use crate::palace::open_conflicts::present_field;
use palazzo_core::merge::{FieldPlace, PresentField};
use palazzo_core::model::{Code, Diagnostic, OpenConflict, ValuePath, quote_for_shell};
use palazzo_core::render;

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
    let place = field.as_ref().and_then(PresentField::place);
    let value_path =
        place.map(FieldPlace::value_path).or(text.is_some().then_some(ValuePath::ROOT));
    // A deleted item has no file for its finding.
    let file = if text.is_some() { &it.item_file } else { &it.path };
    let mut message = format!("two answers for {}", render::conflict_sentence(&it.conflict, None));
    let id = quote_for_shell(&it.short_id);
    let mut hint = format!("write the field, or `palazzo resolve {id} stands|other`");
    if field == Some(PresentField::ItemGone) {
        message += "; its place is gone: the item was removed, or renamed and changed";
        hint = format!("write the other value if it is right, then `palazzo resolve {id} stands`");
    }
    (Diagnostic::for_file(Code::OpenConflict, file, message).with_hint(hint), value_path)
}
