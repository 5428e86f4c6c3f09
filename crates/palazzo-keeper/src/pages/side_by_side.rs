//! Compares two versions of files side by side.

use crate::LineEdit;
use palazzo_core::diff::line_edits;
use palazzo_core::model::FileDiff;
use palazzo_core::view::{ComparedRow, FileComparison};

/// The number of equal lines around a change.
const CONTEXT: usize = 3;
/// Limit for the rows of a file.
const MAX_ROWS: usize = 200;

/// Compares the two versions of a file; a file that is not a text has no rows.
pub(super) fn compare_file_side_by_side(diff: &FileDiff) -> FileComparison {
    let was = diff.was.text().unwrap_or_default();
    let now = diff.now.text().unwrap_or_default();
    let mut rows = compared_rows(was, now);
    let is_cut = rows.len() > MAX_ROWS;
    rows.truncate(MAX_ROWS);
    FileComparison { path: diff.path.clone(), rows, is_cut }
}

fn compared_rows(was: &str, now: &str) -> Vec<ComparedRow> {
    let (old, new): (Vec<_>, Vec<_>) = (was.lines().collect(), now.lines().collect());
    let mut rows = Vec::new();
    // The next line of each version.
    let (mut old_at, mut new_at) = (0, 0);
    for LineEdit { start, end, text } in line_edits(was, now) {
        let (start, end) = (start.min(old.len()), end.min(old.len()));
        push_equal(&mut rows, &old, (old_at, new_at), start - old_at, old_at > 0);
        new_at += start - old_at;
        let added = text.lines().count();
        for line in 0..(end - start).max(added) {
            let side = |lines: &[&str], at: usize, count: usize| {
                let text = lines.get(at + line).filter(|_| line < count)?;
                Some((at + line + 1, (*text).to_owned()))
            };
            rows.push(ComparedRow::Lines {
                was: side(&old, start, end - start),
                now: side(&new, new_at, added),
                is_changed: true,
            });
        }
        (old_at, new_at) = (end, new_at + added);
        if rows.len() > MAX_ROWS {
            return rows;
        }
    }
    let left = old.len() - old_at;
    push_equal_lines(&mut rows, &old, (old_at, new_at), left.min(CONTEXT));
    if left > CONTEXT {
        rows.push(ComparedRow::Omitted(left - CONTEXT));
    }
    rows
}

/// Adds equal lines before a change, without those that are far from it and from the change before.
fn push_equal(
    rows: &mut Vec<ComparedRow>,
    old: &[&str],
    (old_at, new_at): (usize, usize),
    count: usize,
    is_after_change: bool,
) {
    let before = if is_after_change { CONTEXT } else { 0 };
    if count <= before + CONTEXT + 1 {
        return push_equal_lines(rows, old, (old_at, new_at), count);
    }
    push_equal_lines(rows, old, (old_at, new_at), before);
    rows.push(ComparedRow::Omitted(count - before - CONTEXT));
    let skipped = count - CONTEXT;
    push_equal_lines(rows, old, (old_at + skipped, new_at + skipped), CONTEXT);
}

fn push_equal_lines(
    rows: &mut Vec<ComparedRow>,
    old: &[&str],
    (old_at, new_at): (usize, usize),
    count: usize,
) {
    rows.extend((0..count).map(|it| {
        let text = old.get(old_at + it).copied().unwrap_or_default().to_owned();
        ComparedRow::Lines {
            was: Some((old_at + it + 1, text.clone())),
            now: Some((new_at + it + 1, text)),
            is_changed: false,
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Renders rows as `1 a | 1 a`, with a sign for changes.
    fn rows(was: &str, now: &str) -> String {
        let side = |it: &Option<(usize, String)>| {
            it.as_ref().map(|(number, text)| format!("{number} {text}")).unwrap_or_default()
        };
        let row = |it: &ComparedRow| match it {
            ComparedRow::Omitted(count) => format!("… {count}\n"),
            ComparedRow::Lines { was, now, is_changed } => {
                let sign = if *is_changed { "!" } else { " " };
                format!("{sign}{} | {}\n", side(was), side(now))
            }
        };
        compared_rows(was, now).iter().map(row).collect()
    }

    #[test]
    fn changed_lines_are_beside_each_other() {
        let was = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn\no\np\n";
        let now = "a\nB\nB2\nc\nd\ne\nf\ng\nh\ni\nj\nl\nm\nn\no\np\n";
        let expected = " 1 a | 1 a\n!2 b | 2 B\n! | 3 B2\n 3 c | 4 c\n 4 d | 5 d\n 5 e | 6 e\n… 2\n \
            8 h | 9 h\n 9 i | 10 i\n 10 j | 11 j\n!11 k | \n 12 l | 12 l\n 13 m | 13 m\n \
            14 n | 14 n\n… 2\n";
        assert_eq!(rows(was, now), expected);
    }

    #[test]
    fn a_new_and_a_deleted_file_have_one_side() {
        assert_eq!(rows("", "a\nb\n"), "! | 1 a\n! | 2 b\n");
        assert_eq!(rows("a\n", ""), "!1 a | \n");
        assert_eq!(rows("same\n", "same\n"), " 1 same | 1 same\n");
    }
}
