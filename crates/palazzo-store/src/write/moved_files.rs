//! Finds the files that a change moves: a moved file keeps its mode.

use std::collections::HashMap;

use palazzo_core::model::FileEdit;

/// Returns the old path of each file that `edits` move, by its new path: of a deleted file with the
/// same text or the same name, or of the only file that is deleted where one is created.
pub(crate) fn find_moved_files<'a>(edits: &[&'a FileEdit]) -> HashMap<&'a str, &'a str> {
    let deleted: Vec<_> = edits.iter().filter(|it| it.was.is_some() && it.now.is_none()).collect();
    let created: Vec<_> = edits.iter().filter(|it| it.was.is_none() && it.now.is_some()).collect();
    let mut moved = HashMap::new();
    for new in created.iter().filter(|_| !deleted.is_empty()) {
        let is_near = |it: &&FileEdit| top_folder(&it.path) == top_folder(&new.path);
        let near = || deleted.iter().copied().copied().filter(is_near);
        let is_only =
            || near().count() == 1 && created.iter().copied().copied().filter(is_near).count() == 1;
        let likeness =
            |it: &&FileEdit| (it.was == new.now, file_name(&it.path) == file_name(&new.path));
        let best = near().max_by_key(likeness);
        if let Some(old) = best.filter(|it| likeness(it) != (false, false) || is_only()) {
            moved.insert(new.path.as_str(), old.path.as_str());
        }
    }
    moved
}

fn top_folder(path: &str) -> &str {
    path.split_once('/').map_or("", |it| it.0)
}

fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |it| it.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_repository::change_of_files;

    #[test]
    fn moved_files_are_found_by_text_by_name_and_as_the_only_ones() {
        let change = change_of_files(&[
            ("rooms/a.yaml", Some("a\n"), None),
            ("rooms/w/b.yaml", Some("b\n"), None),
            ("rooms/w/c.yaml", Some("c\n"), None),
            ("rooms/x/b.yaml", None, Some("a\n")),
            ("rooms/x/c.yaml", None, Some("new\n")),
            ("rooms/x/d.yaml", None, Some("new\n")),
            ("entities/p/ada.yaml", Some("name: Ada\n"), None),
            ("entities/p/eve.yaml", None, Some("name: Eve\n")),
            ("scrolls/a/1.md", None, Some("a\n")),
        ]);
        let moved = find_moved_files(&change.edits.iter().collect::<Vec<_>>());
        let mut moved: Vec<_> = moved.into_iter().collect();
        moved.sort_unstable();
        assert_eq!(
            moved,
            [
                ("entities/p/eve.yaml", "entities/p/ada.yaml"),
                ("rooms/x/b.yaml", "rooms/a.yaml"),
                ("rooms/x/c.yaml", "rooms/w/c.yaml"),
            ]
        );
    }
}
