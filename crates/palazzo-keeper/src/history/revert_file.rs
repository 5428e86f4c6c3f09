//! Reverts what commits changed in one file, and keeps what others have changed in it since.

use crate::merge_driver::merge_file_versions;
use palazzo_core::format::{self, PalacePath};
use palazzo_core::model::{FileContent, FileDiff};

/// Reverts the diffs of a file, given newest first, in its current content. Returns `None` if others
/// have changed the same fields or lines since.
pub(crate) fn revert_diffs_of_file(
    current: &FileContent,
    diffs: &[FileDiff],
) -> Option<FileContent> {
    let mut content = current.clone();
    for diff in diffs {
        if content == diff.now {
            content = diff.was.clone();
        } else if content != diff.was {
            content = merge_with_earlier_content(&content, diff)?;
        }
    }
    Some(content)
}

/// Merges the content before a diff with what others have changed since: the content after the diff
/// is the base. Returns `None` if the merge has conflicts.
fn merge_with_earlier_content(content: &FileContent, diff: &FileDiff) -> Option<FileContent> {
    // The merge prefers what is done, and the further step: an earlier state would be lost.
    if matches!(PalacePath::parse(&diff.path), Ok(PalacePath::Task | PalacePath::Process)) {
        return None;
    }
    // An empty file counts as a missing one.
    let base = diff.now.text().filter(|it| !it.is_empty())?;
    let sides = [content.text()?.as_bytes(), diff.was.text()?.as_bytes()];
    let merged = merge_file_versions(&diff.path, base.as_bytes(), sides)?;
    let text = String::from_utf8(merged.bytes).ok().filter(|_| merged.conflicts.is_empty())?;
    (!format::parse_file(&diff.path, &text).has_errors()).then_some(FileContent::Text(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTITY: &str = "entities/claim/stasis.yaml";
    const BEFORE: &str = "name: Stasis\ngenus: Claim\nstatus: open\nobservations:\n- One.\n";

    /// Reverts the change from `was` to `now` in a file that has another content since.
    fn revert(path: &str, [was, now, current]: [&str; 3]) -> Option<String> {
        let content = |it: &str| match it {
            "" => FileContent::Missing,
            text => FileContent::Text(text.to_owned()),
        };
        let diff = FileDiff { path: path.to_owned(), was: content(was), now: content(now) };
        let reverted = revert_diffs_of_file(&content(current), &[diff])?;
        Some(reverted.text().unwrap_or_default().to_owned())
    }

    #[test]
    fn an_observation_that_another_has_added_stays() {
        let now = format!("{BEFORE}- Two.\n");
        let reverted = revert(ENTITY, [BEFORE, &now, &format!("{now}- Three.\n")]);
        assert_eq!(reverted, Some(format!("{BEFORE}- Three.\n")));
    }

    #[test]
    fn another_field_that_a_person_has_edited_stays_with_its_comment() {
        let now = BEFORE.replace("open", "done");
        let current = now.replace("genus: Claim", "genus: Thesis # mine");
        let expected = BEFORE.replace("genus: Claim", "genus: Thesis # mine");
        assert_eq!(revert(ENTITY, [BEFORE, &now, &current]), Some(expected));
        let lines = ["one\ntwo\nthree\nfour\n", "one\n2\nthree\nfour\n", "one\n2\nthree\n4\n"];
        assert_eq!(revert("notes.txt", lines).as_deref(), Some("one\ntwo\nthree\n4\n"));
    }

    #[test]
    fn a_field_that_both_have_changed_is_a_conflict() {
        let now = BEFORE.replace("open", "done");
        assert_eq!(revert(ENTITY, [BEFORE, &now, &BEFORE.replace("open", "new")]), None);
        let added = format!("{BEFORE}- There are two stones in the old hall today.\n");
        assert_eq!(revert(ENTITY, [BEFORE, &added, &added.replace("two", "ten")]), None);
        // The file was created by the change, or others have deleted it.
        assert_eq!(revert(ENTITY, ["", BEFORE, &added]), None);
        assert_eq!(revert(ENTITY, [BEFORE, &added, ""]), None);
    }

    #[test]
    fn the_status_of_a_task_is_never_merged() {
        let task = |status: &str| format!("title: Sweep\nstatus: {status}\n");
        let [open, done] = ["open", "done"].map(task);
        let titled = done.replace("Sweep", "Sweep it");
        assert_eq!(revert("tasks/sweep.yaml", [&open, &done, &titled]), None);
        assert_eq!(revert("tasks/sweep.yaml", [&open, &done, &done]), Some(open));
    }

    #[test]
    fn what_was_reverted_already_stays_so() {
        let now = BEFORE.replace("open", "done");
        assert_eq!(revert(ENTITY, [BEFORE, &now, BEFORE]).as_deref(), Some(BEFORE));
        let diff = |was: &str, now: &str| {
            let [was, now] = [was, now].map(|it| FileContent::Text(it.to_owned()));
            FileDiff { path: ENTITY.to_owned(), was, now }
        };
        // Others changed the file between two changes.
        let [two, three] = [format!("{BEFORE}- Two.\n"), format!("{BEFORE}- Two.\n- Three.\n")];
        let four = format!("{three}- Four.\n");
        let diffs = [diff(&three, &four), diff(BEFORE, &two)];
        let reverted = revert_diffs_of_file(&FileContent::Text(four), &diffs);
        assert_eq!(reverted, Some(FileContent::Text(format!("{BEFORE}- Three.\n"))));
    }
}
