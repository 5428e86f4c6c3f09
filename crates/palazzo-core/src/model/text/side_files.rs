//! Names of files that other programs make beside a file: copies of programs that synchronize
//! folders, and files that an open editor locks or saves to.

/// The kind of a file that a program has put beside another one, by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SideFile {
    /// A copy of the file at this path, which may not exist.
    CopyOf(String),
    /// A lock file, or the unsaved text of an editor.
    EditorFile,
}

/// Returns what the file at `path` is if its name is one that other programs give.
pub fn side_file(path: &str) -> Option<SideFile> {
    if is_editor_file(path) {
        return Some(SideFile::EditorFile);
    }
    let (start, ending) = path.rsplit_once('.')?;
    let stem = start.rsplit('/').next()?;
    let original = original_stem(stem).filter(|it| !it.is_empty())?;
    let folder = &start[..start.len() - stem.len()];
    Some(SideFile::CopyOf(format!("{folder}{original}.{ending}")))
}

/// Returns whether the file at `path` is a lock file or the unsaved text of an editor, by its name.
pub fn is_editor_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.starts_with("~$")
        || name.starts_with(['.', '#'])
        || name.ends_with(['~', '#'])
        || [".swp", ".swo", ".swx"].iter().any(|it| name.ends_with(it))
}

/// Returns the name without what marks a copy.
fn original_stem(stem: &str) -> Option<&str> {
    // The names of most files are such.
    if stem.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-') {
        return without_host(stem);
    }
    stem.split_once(".sync-conflict-")
        .or_else(|| stem.split_once("_conflict-"))
        .map(|it| it.0)
        .or_else(|| without_remark(stem))
        .or_else(|| without_word(stem))
        .or_else(|| without_host(stem))
}

/// Removes `(1)`, `(conflicted copy 2025-01-01)`, `(Ada's conflicted copy)` and the like.
fn without_remark(stem: &str) -> Option<&str> {
    let (before, remark) = stem.strip_suffix(')')?.rsplit_once('(')?;
    let is_number = !remark.is_empty() && remark.chars().all(|it| it.is_ascii_digit());
    let remark = remark.to_lowercase();
    if !is_number && !remark.contains("conflict") && remark != "copy" {
        return None;
    }
    // `plan - Copy (2)` has both.
    let before = before.trim_end();
    Some(without_word(before).filter(|_| is_number).unwrap_or(before))
}

/// Removes ` 2`, ` copy`, ` copy 2` and ` - Copy`.
fn without_word(stem: &str) -> Option<&str> {
    let (before, last) = stem.rsplit_once(' ')?;
    if last.to_lowercase() == "copy" {
        return Some(before.strip_suffix(" -").unwrap_or(before).trim_end());
    }
    // Copies are counted from 2.
    last.parse::<u8>().ok().filter(|it| *it > 1 && !last.starts_with('0'))?;
    Some(before.strip_suffix(" copy").unwrap_or(before).trim_end())
}

/// Removes the name of a computer: `-DESKTOP-A1B2C3`, `-ADAS-PC`.
fn without_host(stem: &str) -> Option<&str> {
    let is_host = |it: &str| {
        it.len() > 2
            && it.chars().any(|it| it.is_ascii_uppercase())
            && it.chars().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit() || it == '-')
    };
    let mut parts = stem.match_indices('-').map(|(at, _)| (&stem[..at], &stem[at + 1..]));
    let (before, host) = parts.find(|(_, it)| is_host(it))?;
    let is_known = ["DESKTOP-", "LAPTOP-", "WIN-"].iter().any(|it| host.starts_with(it));
    (is_known || before.contains(char::is_lowercase)).then_some(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_copies_name_their_original() {
        for copy in [
            "plan 2",
            "plan 11",
            "plan copy",
            "plan copy 3",
            "plan - Copy",
            "plan - Copy (2)",
            "plan (1)",
            "plan(1)",
            "plan (copy)",
            "plan (conflicted copy 2025-06-01 120000)",
            "plan (Ada's conflicted copy 2025-06-01)",
            "plan (Case Conflict)",
            "plan.sync-conflict-20250601-120000-ABCDEFG",
            "plan_conflict-20250601-120000",
            "plan-DESKTOP-A1B2C3D",
            "plan-ADAS-PC",
        ] {
            let original = SideFile::CopyOf("tasks/plan.yaml".to_owned());
            assert_eq!(side_file(&format!("tasks/{copy}.yaml")), Some(original), "{copy}");
        }
        let scroll = "scrolls/hall/01KJMPXF9069S44V81ASY1KY37";
        for copy in ["-plan 2", "-plan-LAPTOP-X1"] {
            let original = SideFile::CopyOf(format!("{scroll}-plan.md"));
            assert_eq!(side_file(&format!("{scroll}{copy}.md")), Some(original));
        }
    }

    #[test]
    fn names_of_editor_files_are_known() {
        for name in ["~$x.yaml", ".x.yaml.swp", ".~lock.x.yaml#", "#x.yaml#", "x.yaml~", ".#x.yaml"]
        {
            assert_eq!(side_file(&format!("rooms/{name}")), Some(SideFile::EditorFile), "{name}");
        }
    }

    #[test]
    fn other_names_are_those_of_a_person() {
        for name in [
            "great-hall.yaml",
            "Great Hall.yaml",
            "01KJMPXF9069S44V81ASY1KY37.md",
            "01KJMPXF9069S44V81ASY1KY37-plan.md",
            "GREAT-HALL.yaml",
            "Henry (VIII).yaml",
            "2026-03-01.md",
            "room 1.yaml",
            "year 2026.md",
            "copy.yaml",
            "adr-001.md",
        ] {
            assert_eq!(side_file(&format!("rooms/{name}")), None, "{name}");
        }
    }
}
