//! Compares and describes single files that git hands over: by the path in the repository, or
//! without one.

use ulid::Ulid;

use crate::history::item_diffs::{added_item, compare_items_in_files, ids_of_replaced_scrolls};
use palazzo_core::format::PalacePath;
use palazzo_core::model::{FileContent, FileDiff, ItemDiff, ItemOrFile, Settings};
use palazzo_core::render;

/// The folders whose files are recognised by their content, the strictest first.
const FOLDERS: [&str; 8] = [
    "entities",
    "tasks",
    "processes",
    "rooms",
    "genera",
    "scrolls/hall",
    "drawers/w/hall",
    "diary/a",
];

/// Compares two versions of a file of a palace, each with its path in the repository; `None` if it
/// does not exist. The folder of the palace in the repository is not known.
///
/// A new scroll is compared with one that it replaces: `scroll_beside` returns the name and the text of the
/// scroll with an id in the same folder.
pub fn compare_file_versions(
    was: (&str, Option<&str>),
    now: (&str, Option<&str>),
    scroll_beside: impl Fn(Ulid) -> Option<(String, String)>,
) -> Vec<ItemDiff> {
    let diffs = |path_in_palace: &dyn Fn(&str) -> Option<String>| -> Option<Vec<FileDiff>> {
        let (old, new) = (path_in_palace(was.0)?, path_in_palace(now.0)?);
        let content = |text: Option<&str>| match text {
            Some(text) => FileContent::Text(text.to_owned()),
            None => FileContent::Missing,
        };
        let diff = |path: &str, was, now| FileDiff { path: path.to_owned(), was, now };
        Some(match old == new {
            true => vec![diff(&old, content(was.1), content(now.1))],
            false => vec![
                diff(&old, content(was.1), FileContent::Missing),
                diff(&new, FileContent::Missing, content(now.1)),
            ],
        })
    };
    let depths = 0..now.0.split('/').count();
    let compared = depths.filter_map(|depth| diffs(&|path| path_below(path, depth)));
    let compare = |diffs: Vec<FileDiff>| {
        let folder = |it: &FileDiff| Some(it.path.rsplit_once('/')?.0.to_owned());
        let folder = diffs.last().and_then(folder).unwrap_or_default();
        let ids = ids_of_replaced_scrolls(&diffs).into_iter();
        let replaced = ids.filter_map(&scroll_beside);
        let replaced = replaced.map(|(name, text)| (format!("{folder}/{name}"), text));
        compare_items_in_files(&diffs, &replaced.collect(), &Settings::with_name("")).items
    };
    let compared = compared.map(compare);
    let is_palace_file = |items: &Vec<ItemDiff>| {
        !items.is_empty() && !items.iter().any(|it| matches!(it.item, ItemOrFile::File(_)))
    };
    let whole = || diffs(&|path| Some(path.to_owned())).map(compare);
    compared.into_iter().find(is_palace_file).or_else(whole).unwrap_or_default()
}

/// Renders the text of a file of a palace by its meaning; `name` is the name of the file, in a
/// folder that git chooses. A text that is no file of a palace is returned as it is.
pub fn textconv_file(name: &str, text: &str) -> String {
    let file_name = name.rsplit('/').next().unwrap_or(name);
    let mut folders = FOLDERS.iter().map(|it| format!("{it}/{file_name}"));
    let content = folders.find_map(|path| added_item(&path, text, &Settings::with_name("")));
    content.map_or_else(|| text.to_owned(), |it| render::item_content(&it))
}

/// Returns the path below the first `depth` folders.
fn path_below(path: &str, depth: usize) -> Option<String> {
    let below = path.splitn(depth + 1, '/').nth(depth)?;
    let is_palace_path = PalacePath::parse(below).is_ok_and(|it| it != PalacePath::Other);
    is_palace_path.then(|| below.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALL: &str = "name: Hall\ndescription: Stone.\n";

    fn diff(was: (&str, Option<&str>), now: (&str, Option<&str>)) -> String {
        render::palace_diff_with_content(&compare_file_versions(was, now, |_| None))
    }

    #[test]
    fn a_file_is_compared_wherever_the_palace_is_in_the_repository() {
        let new = "name: Hall\ndescription: Stone and moss.\n";
        let paths = ["rooms/hall.yaml", "keep/rooms/hall.yaml", "a/rooms/keep/rooms/hall.yaml"];
        let pages = paths.map(|path| diff((path, Some(HALL)), (path, Some(new))));
        insta::assert_snapshot!(pages.join("---\n"), @"
        room hall: description changed (1 line)
            description:
          -   Stone.
          +   Stone and moss.
        ---
        room hall: description changed (1 line)
            description:
          -   Stone.
          +   Stone and moss.
        ---
        room hall: description changed (1 line)
            description:
          -   Stone.
          +   Stone and moss.
        ");
    }

    #[test]
    fn moved_new_and_foreign_files_are_compared() {
        let moved = ("keep/rooms/east/hall.yaml", Some(HALL));
        let task = "keep/tasks/01JQ8M0000000000000000000B.yaml";
        let pages = [
            diff(("keep/rooms/hall.yaml", Some(HALL)), moved),
            diff((task, None), (task, Some("title: Sweep\n"))),
            diff(("a.txt", Some("1\n")), ("a.txt", Some("2\n"))),
        ];
        insta::assert_snapshot!(pages.join("---\n"), @"
        room east/hall: moved from hall
        ---
        task 'Sweep': added
          + name: Sweep
          + status: open
        ---
        file a.txt: changed (1 line)
          - 1
          + 2
        ");
    }

    #[test]
    fn a_file_without_its_folder_is_recognised_by_its_content() {
        let entity = "name: Stasis\ngenus: Claim\nobservations: [One.]\n";
        let scroll = "---\ntitle: On moss\nwritten: 2026-02-27T12:00:00Z\nby: ada\n---\nGreen.\n";
        let process = "name: Repair\nsteps: [Scaffold, Mortar]\n";
        let texts = [HALL, entity, scroll, process, "title: Sweep\n", "name: [broken\n"];
        let described = texts.map(|it| {
            let ending = if it.starts_with("---") { "md" } else { "yaml" };
            textconv_file(&format!("temporary/01JQ8M0000000000000000000B-x.{ending}"), it)
        });
        insta::assert_snapshot!(described.join("---\n"), @"
        name: Hall
        description:
          Stone.
        ---
        name: Stasis
        genus: Claim
        observation: One.
        ---
        name: On moss
        by: ada
        written: 2026-02-27T12:00:00Z
        text:
          Green.
        ---
        name: Repair
        step: 1/2
        status: running
        step: Scaffold
        step: Mortar
        ---
        name: Sweep
        status: open
        ---
        name: [broken
        ");
    }
}
