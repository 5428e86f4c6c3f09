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

const BASE_MARK: &str = "|||||||";

/// The versions of a text with the markers of a merge conflict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkedSides {
    /// The text of our and of their side.
    pub sides: [String; 2],
    /// The text of the base, if the markers contain it.
    pub base: Option<String>,
}

/// The part of a conflict that a line belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MarkedPart {
    Ours,
    Base,
    Theirs,
}

/// Splits a text with markers into its versions; `None` if the markers are incomplete.
pub fn split_marked_sides(text: &str) -> Option<MarkedSides> {
    let (mut sides, mut base) = ([String::new(), String::new()], String::new());
    let (mut part, mut conflicts, mut bases) = (None, 0, 0);
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end_matches(['\n', '\r']);
        let bare = strip_byte_order_mark(bare);
        let next = match part {
            None if is_mark(bare, OURS_MARK) => Some(MarkedPart::Ours),
            Some(MarkedPart::Ours) if is_mark(bare, BASE_MARK) => Some(MarkedPart::Base),
            Some(MarkedPart::Ours | MarkedPart::Base) if is_mark(bare, SEPARATOR_MARK) => {
                Some(MarkedPart::Theirs)
            }
            Some(MarkedPart::Theirs) if is_mark(bare, THEIRS_MARK) => None,
            part => {
                let ours = matches!(part, None | Some(MarkedPart::Ours));
                let theirs = matches!(part, None | Some(MarkedPart::Theirs));
                sides[0].push_str(if ours { line } else { "" });
                sides[1].push_str(if theirs { line } else { "" });
                base.push_str(if ours == theirs { line } else { "" });
                continue;
            }
        };
        conflicts += usize::from(next == Some(MarkedPart::Ours));
        bases += usize::from(next == Some(MarkedPart::Base));
        part = next;
    }
    let is_complete = part.is_none() && conflicts > 0;
    let base = (bases == conflicts).then_some(base);
    is_complete.then_some(MarkedSides { sides, base })
}

fn is_mark(line: &str, mark: &str) -> bool {
    line.strip_prefix(mark).is_some_and(|label| label.is_empty() || label.starts_with(' '))
}

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
    use super::*;
    use crate::format::parse_file;
    use crate::model::Code;

    const CONFLICT: &str = "<<<<<<< HEAD\na: b\n=======\nc: d\n>>>>>>> branch\n";

    #[test]
    fn a_text_with_markers_has_both_sides_and_perhaps_the_base() {
        let text = "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> other\nd\n";
        let sides = ["a\nb\nd\n".to_owned(), "a\nc\nd\n".to_owned()];
        let expected = MarkedSides { sides: sides.clone(), base: None };
        assert_eq!(split_marked_sides(text), Some(expected));
        let text = text.replace("=======", "||||||| 1a2b3c\nx\n=======");
        let base = Some("a\nx\nd\n".to_owned());
        assert_eq!(split_marked_sides(&text), Some(MarkedSides { sides, base }));
        assert_eq!(split_marked_sides("<<<<<<< a\nb\n=======\nc\n"), None);
        assert_eq!(split_marked_sides("a\n"), None);
    }

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
