//! Settles a conflict: keeps the value that stands, or writes the other one into the field.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::conflicts::find_conflict;
use crate::graph::update::{EntityChange, plan_update};
use crate::merge::file::is_second_name;
use crate::palace::OpenPalace;
use crate::palace::change_plan::{ChangeMode, ChangeOptions, ChangePlan};
use crate::rooms::room_plans::plan_room_moves;
use crate::{Refusal, Session};
use palazzo_core::format::{
    self, FieldsAndBody, PalacePath, edit_fields_and_body, file_kind, is_item_path,
    parse_fields_and_body, serialize_tree,
};
use palazzo_core::merge::{is_same_value, locate_field};
use palazzo_core::model::{
    Conflict, ConflictChoice, FileEdit, OpenConflict, RoomId, Severity, quote_for_shell, quoted,
    quoted_unless_plain,
};
use palazzo_core::render;

/// A conflict that was settled.
#[derive(Clone, Debug)]
pub struct ResolvedConflict {
    /// The conflict.
    pub conflict: OpenConflict,
    /// The value that was taken.
    pub choice: ConflictChoice,
    /// The edits, that of the conflict's own file among them.
    pub edits: Vec<FileEdit>,
}

/// Settles the conflict whose name begins with `id`: keeps the value that stands, or writes the
/// other one. Deletes the file of the conflict in the same commit.
pub fn resolve_conflict(
    session: &mut Session<'_>,
    id: &str,
    choice: ConflictChoice,
    mode: ChangeMode,
) -> Result<ResolvedConflict, Refusal> {
    let mut found = None;
    let edits = session.palace.change_files(
        session.caller,
        &ChangeOptions::exclusive_in_mode(mode),
        |open| {
            let conflict = find_conflict(open.open_conflicts(), id)?;
            let edits = plan_resolution(open, &conflict, choice)?;
            let plan = ChangePlan {
                edits,
                subject: commit_subject(&conflict, choice),
                body: render::conflict_sentence(&conflict.conflict, None),
            };
            found = Some(conflict);
            Ok(plan)
        },
    )?;
    let conflict = found.ok_or(Refusal::Contended)?;
    Ok(ResolvedConflict { conflict, choice, edits })
}

/// Returns the command that finishes the merge which the user has begun with git and not committed;
/// `None`: there is none.
pub fn command_to_finish_merge(session: &Session<'_>) -> Option<String> {
    let merge = session.palace.store().unfinished_merge("conflicts")?;
    let git = format!("git -C {}", quote_for_shell(&merge.work.display().to_string()));
    let files: Vec<_> = merge.files.iter().map(|it| quote_for_shell(it)).collect();
    Some(match files.is_empty() {
        true => format!("{git} commit --no-edit"),
        false => format!("{git} add -- {} && {git} commit --no-edit", files.join(" ")),
    })
}

/// Plans the edits that settle a conflict.
pub(crate) fn plan_resolution(
    open: &mut OpenPalace,
    conflict: &OpenConflict,
    choice: ConflictChoice,
) -> Result<Vec<FileEdit>, Refusal> {
    let mut edits = match choice {
        ConflictChoice::Stands => Vec::new(),
        ConflictChoice::Other => plan_other_value(open, conflict)?,
    };
    if conflict.conflict.field == Conflict::BODY_FIELD {
        edits.extend(plan_deletion_of_second_file(open, conflict)?);
    }
    let was = read_file(open, &conflict.path)?;
    edits.push(FileEdit { path: conflict.path.clone(), was, now: None });
    Ok(edits)
}

fn commit_subject(conflict: &OpenConflict, choice: ConflictChoice) -> String {
    let verb = match choice {
        ConflictChoice::Stands => "keep",
        ConflictChoice::Other => "take the other",
    };
    let field = match conflict.conflict.field.as_str() {
        "" => "version".to_owned(),
        field => render::truncate(&render::one_line(field), 40),
    };
    format!("conflict {}: {verb} {field}", conflict.short_id)
}

/// Plans the edits that write the other value.
fn plan_other_value(open: &mut OpenPalace, found: &OpenConflict) -> Result<Vec<FileEdit>, Refusal> {
    let OpenConflict { conflict, item_file, .. } = found;
    let other = conflict.other.as_ref();
    let is_entity = PalacePath::parse(item_file) == Ok(PalacePath::Entity);
    match (conflict.field.as_str(), other.and_then(Value::as_str)) {
        ("", text) => Ok(vec![plan_whole_file(open, found, text)?]),
        (Conflict::PATH_FIELD, Some(path)) => plan_move(open, item_file, path),
        ("name", Some(new_name)) if is_entity => {
            let entity = open.palace.graph.entity_in_file(item_file).map(|it| it.name.clone());
            let name = entity.ok_or_else(|| no_place_refusal(found))?;
            let new_name = Some(new_name.to_owned());
            let (plan, _) =
                plan_update(open, &EntityChange { name, new_name, ..Default::default() })?;
            Ok(plan.edits)
        }
        _ => Ok(vec![plan_field(open, found)?]),
    }
}

/// Plans to replace, delete or restore a whole file.
fn plan_whole_file(
    open: &OpenPalace,
    found: &OpenConflict,
    text: Option<&str>,
) -> Result<FileEdit, Refusal> {
    let path = found.item_file.clone();
    let was = read_file(open, &path)?;
    if was.is_some() && found.conflict.stands.is_none() {
        let why = format!("{} contains another item now; move that file first", quoted(&path));
        return Err(Refusal::Invalid(why));
    }
    let now = text.map(|it| open.store().convert_to_disk_line_endings(&path, it)).transpose()?;
    Ok(FileEdit { path, was, now })
}

/// Plans to delete the second file that a merge has made for the other body. If it was edited since,
/// it stays, as an item of its own.
fn plan_deletion_of_second_file(
    open: &OpenPalace,
    found: &OpenConflict,
) -> Result<Vec<FileEdit>, Refusal> {
    let OpenConflict { conflict, item_file, .. } = found;
    let folder = item_file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let palace = &open.palace;
    let scrolls = palace.scroll_files().map(|(file, _)| file);
    let drawers = palace.drawers.iter().map(|(file, _, _)| file);
    let diaries = palace.diaries.iter().map(|(file, _)| file);
    let is_candidate = |file: &&str| {
        *file != item_file.as_str()
            && file.rsplit_once('/').is_some_and(|(it, _)| it == folder)
            && is_second_name(item_file, file)
    };
    for file in scrolls.chain(drawers).chain(diaries).filter(is_candidate) {
        let was = read_file(open, file)?;
        let body =
            was.as_deref().and_then(|it| parse_fields_and_body(file, it)).and_then(|it| it.body);
        if is_same_value(body.map(Value::from).as_ref(), conflict.other.as_ref()) {
            return Ok(vec![FileEdit { path: file.to_owned(), was, now: None }]);
        }
    }
    Ok(Vec::new())
}

/// Plans to move the file of an item.
fn plan_move(open: &mut OpenPalace, from: &str, to: &str) -> Result<Vec<FileEdit>, Refusal> {
    let room = |path: &str| match PalacePath::parse(path) {
        Ok(PalacePath::Room(id)) => Some(id),
        _ => None,
    };
    if let (Some(from), Some(to)) = (room(from), room(to)) {
        let moves: BTreeMap<RoomId, RoomId> = BTreeMap::from([(from, to)]);
        return Ok(plan_room_moves(open, &moves)?.0);
    }
    if !is_item_path(to) || file_kind(from) != file_kind(to) {
        let [from, to] = [from, to].map(quoted);
        return Err(Refusal::Invalid(format!("{from} cannot be moved to {to}")));
    }
    if read_file(open, to)?.is_some() {
        return Err(Refusal::FileExists { file: to.to_owned(), advice: "; move it first" });
    }
    let was = open.read_file_for_change(from)?;
    let now = was.as_deref().map(|it| format::retarget_modeline(to, it));
    let new = FileEdit { path: to.to_owned(), was: None, now };
    Ok(vec![new, FileEdit { path: from.to_owned(), was, now: None }])
}

/// Plans to write the other value into a field, and keeps the author's formatting and comments.
fn plan_field(open: &mut OpenPalace, found: &OpenConflict) -> Result<FileEdit, Refusal> {
    let OpenConflict { conflict, item_file: path, .. } = found;
    let was = open.read_file_for_change(path)?;
    let tree = was.as_deref().and_then(|it| parse_fields_and_body(path, it));
    let (Some(text), Some(tree)) = (was.as_deref(), tree) else {
        return Err(no_place_refusal(found));
    };
    let other = conflict.other.as_ref();
    let new = match conflict.field.as_str() {
        Conflict::BODY_FIELD => {
            FieldsAndBody { body: other.and_then(Value::as_str).map(str::to_owned), ..tree }
        }
        field => {
            let kind = file_kind(path).ok_or_else(|| no_place_refusal(found))?;
            let now = locate_field(kind, &tree.fields, field, conflict.stands.as_ref());
            let fields = now.place().and_then(|it| it.with_value(&tree.fields, other));
            FieldsAndBody { fields: fields.ok_or_else(|| no_place_refusal(found))?, ..tree }
        }
    };
    let now = edit_fields_and_body(path, text, &new).or_else(|| serialize_tree(path, &new));
    let now = now.ok_or_else(|| Refusal::UneditableFormatting { file: path.clone() })?;
    let errors = format::parse_file(path, &now).findings.into_iter();
    if let Some(error) = errors.into_iter().find(|it| it.severity() == Severity::Error) {
        let path = quoted_unless_plain(path);
        let why = format!("the other value does not fit in {path}: {}", error.message);
        return Err(Refusal::Invalid(why));
    }
    Ok(FileEdit { path: path.clone(), was, now: Some(now) })
}

fn no_place_refusal(found: &OpenConflict) -> Refusal {
    let (file, field) = (&found.item_file, quoted(found.conflict.field_label()));
    let file = quoted_unless_plain(file);
    Refusal::Invalid(format!("{file} has no place for {field}: edit that file"))
}

fn read_file(open: &OpenPalace, path: &str) -> Result<Option<String>, Refusal> {
    open.store().read_file(path).map_err(|it| Refusal::UnreadableFile(it.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::TestHome;

    const FIRST: &str = "scrolls/hall/01KR0000000000000000000003-t.md";
    const SECOND: &str = "scrolls/hall/01KR0000009A8B7C6D5E4F3G2H-t.md";

    fn scroll(id: &str, body: &str) -> String {
        format!("---\nid: {id}\ntitle: T\nwritten: 2026-03-01T12:00:00Z\nby: ada\n---\n\n{body}\n")
    }

    /// Resolves a conflict about two bodies, and returns both files.
    fn resolve(choice: ConflictChoice, second_body: &str) -> [Option<String>; 2] {
        let first = scroll("01KR0000000000000000000003", "From B.");
        let second = scroll("01KR0000009A8B7C6D5E4F3G2H", second_body);
        let conflict = format!(
            "id: 01KR0000000000000000000003\nfile: {FIRST}\nfield: body\nstands: \"From B.\\n\"\nother: \"From A.\\n\"\n"
        );
        let mut home = TestHome::new(&[
            ("rooms/hall.yaml", "name: Hall\ndescription: Stone.\n"),
            (FIRST, &first),
            (SECOND, &second),
            ("conflicts/0123456789abcdef.yaml", &conflict),
        ]);
        home.run(|it| resolve_conflict(it, "0123", choice, ChangeMode::Commit)).unwrap();
        assert_eq!(home.read("conflicts/0123456789abcdef.yaml"), None);
        [home.read(FIRST), home.read(SECOND)]
    }

    #[test]
    fn the_second_file_of_two_bodies_is_deleted_unless_it_was_edited() {
        let first = |body: &str| Some(scroll("01KR0000000000000000000003", body));
        let [kept, second] = resolve(ConflictChoice::Stands, "From A.");
        assert_eq!((kept, second), (first("From B."), None));
        let [taken, second] = resolve(ConflictChoice::Other, "From A.");
        assert_eq!((taken, second), (first("From A."), None));
        let [taken, second] = resolve(ConflictChoice::Other, "From A, and more.");
        assert_eq!(taken, first("From A."));
        assert!(second.is_some());
    }
}
