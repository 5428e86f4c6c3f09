//! Detects unresolved merge conflicts by the markers that git writes around the two sides
//! (git-merge(1), "How conflicts are presented").

use std::ops::RangeInclusive;

use crate::format::PalacePath;
use crate::format::file_parser::FileParser;
use crate::format::front_matter;
use crate::model::{Code, Position, split_lines};

const OURS_MARK: &str = "<<<<<<<";
const SEPARATOR_MARK: &str = "=======";
const THEIRS_MARK: &str = ">>>>>>>";

/// Returns whether a text contains the three markers of a merge conflict in order, each at the
/// beginning of a line.
pub fn has_merge_conflict(text: &str) -> bool {
    conflict_line_range(text).is_some()
}

/// Reports a conflict in a file, and returns whether the file can be read nevertheless: the text
/// after front matter may quote one.
pub(crate) fn is_readable_despite_conflict(
    reader: &mut FileParser<'_>,
    place: &PalacePath,
    text: &str,
) -> bool {
    let Some(marked) = conflict_line_range(text) else { return true };
    let at = Position { line: *marked.start(), column: 1 };
    let lines = marked.clone().count();
    let is_readable = is_markdown_path(place) && is_below_front_matter(text, at.line);
    let finding = if is_readable {
        let message =
            format!("the text contains the markers of a merge conflict, {lines} lines in all");
        reader.report(Code::MergeMarks, at, message)
    } else {
        let message = format!("an unresolved merge conflict, {lines} lines in all");
        reader.report(Code::MergeConflict, at, message)
    };
    let hint = "keep what is right, delete the lines of `<<<<<<<`, `=======` and `>>>>>>>`, \
        then `git add` it";
    finding.hint = Some(match is_readable {
        true => format!("if the text does not quote them: {hint}"),
        false => hint.to_owned(),
    });
    is_readable
}

/// Returns the lines, counted from one, from the first marker to the last.
fn conflict_line_range(text: &str) -> Option<RangeInclusive<usize>> {
    // This suffices for nearly all files.
    if !text.contains(OURS_MARK) {
        return None;
    }
    let is_mark = |line: &str, mark: &str| {
        line.strip_prefix(mark).is_some_and(|label| label.is_empty() || label.starts_with(' '))
    };
    let mut numbered = (1..).zip(split_lines(text));
    let (start, _) = numbered.find(|(_, line)| is_mark(strip_byte_order_mark(line), OURS_MARK))?;
    numbered.find(|(_, line)| is_mark(line, SEPARATOR_MARK))?;
    let (end, _) = numbered.find(|(_, line)| is_mark(line, THEIRS_MARK))?;
    Some(start..=end)
}

fn is_markdown_path(place: &PalacePath) -> bool {
    matches!(place, PalacePath::Scroll(_) | PalacePath::Drawer(_) | PalacePath::Diary(_))
}

/// Returns whether a line is in the text of a Markdown file, after its front matter.
fn is_below_front_matter(file: &str, line: usize) -> bool {
    match (front_matter::text_after_opening_fence(file), front_matter::split_front_matter(file)) {
        (Some(_), None) => false,
        (Some(_), Some((matter, _))) => line > split_lines(matter).count() + 1,
        // The two sides may differ from the first line on.
        (None, _) => {
            let sides = file.split_once('\n').map(|(_, rest)| rest);
            line > 1 || sides.and_then(front_matter::text_after_opening_fence).is_none()
        }
    }
}

/// Returns a line without a byte order mark.
fn strip_byte_order_mark(line: &str) -> &str {
    line.strip_prefix('\u{feff}').unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use crate::format::parse_file;
    use crate::model::Code;

    const CONFLICT: &str = "<<<<<<< HEAD\na: b\n=======\nc: d\n>>>>>>> branch\n";

    /// Returns the findings of a file, and whether it has an item.
    fn findings_and_readability(path: &str, text: &str) -> (Vec<(Code, usize)>, bool) {
        let read = parse_file(path, text);
        (read.findings.iter().map(|it| (it.code, it.at.line)).collect(), !read.has_no_item())
    }

    #[test]
    fn a_file_broken_by_a_merge_conflict_has_one_finding() {
        let matter = "title: T\nwritten: 2026-03-01\n";
        for (path, text, line) in [
            ("rooms/a.yaml", format!("name: Hall\n{CONFLICT}"), 2),
            ("rooms/a.yaml", format!("\u{feff}{CONFLICT}"), 1),
            ("rooms/a.yaml", format!("name: Hall\n{CONFLICT}").replace('\n', "\r\n"), 2),
            ("palace.toml", CONFLICT.to_owned(), 1),
            ("scrolls/a/a.md", format!("---\n{matter}{CONFLICT}---\n\nDust.\n"), 4),
            ("scrolls/a/a.md", format!("---\n{matter}{CONFLICT}"), 4),
            ("drawers/a/a/a.md", CONFLICT.replace("a: b", "---\na: b\n---"), 1),
            ("diary/a/a.md", CONFLICT.replace("a: b", "---\na: b\n---"), 1),
            (
                "scrolls/a/a.md",
                format!("---\n{}", CONFLICT.replace("a: b", "a: b\n---\n\nDust.")),
                2,
            ),
        ] {
            assert_eq!(
                findings_and_readability(path, &text),
                (vec![(Code::MergeConflict, line)], false),
                "{text}"
            );
        }
    }

    #[test]
    fn conflict_markers_in_a_body_do_not_hide_the_text() {
        let scroll = format!("---\ntitle: T\nwritten: 2026-03-01\n---\n{CONFLICT}");
        assert_eq!(
            findings_and_readability("scrolls/a/a.md", &scroll),
            (vec![(Code::MergeMarks, 5)], true)
        );
        for path in ["drawers/a/a/a.md", "diary/a/a.md"] {
            assert_eq!(
                findings_and_readability(path, CONFLICT),
                (vec![(Code::MergeMarks, 1)], true)
            );
        }
    }

    #[test]
    fn only_three_markers_in_order_at_line_starts_are_a_conflict() {
        for text in [
            "<<<<<<< HEAD\n>>>>>>> branch\n=======\n",
            "=======\n<<<<<<< HEAD\n>>>>>>> branch\n",
            " <<<<<<< HEAD\n=======\n>>>>>>> branch\n",
            "<<<<<<<< HEAD\n=======\n>>>>>>> branch\n",
            "<<<<<<< HEAD\n======= =\n",
        ] {
            assert_eq!(
                findings_and_readability("drawers/a/a/a.md", text),
                (Vec::new(), true),
                "{text}"
            );
        }
    }
}
