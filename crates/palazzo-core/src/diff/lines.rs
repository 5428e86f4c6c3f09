//! Line diffs.

use std::ops::Range;

use gix_imara_diff::{Algorithm, Diff, Hunk, InternedInput};

use crate::model::split_lines;

/// Number of context lines around a change.
const CONTEXT_LINES: usize = 3;

/// Renders the difference of a file's texts in the format of `git diff`, which `git apply` accepts:
/// removed lines begin with `-`, added ones with `+`. `None` means that the file does not exist.
pub fn unified_diff(path: &str, was: Option<&str>, now: Option<&str>) -> String {
    let mut page = format!("diff --git a/{path} b/{path}\n");
    page.push_str(match (was, now) {
        (None, Some(_)) => "new file mode 100644\n",
        (Some(_), None) => "deleted file mode 100644\n",
        _ => "",
    });
    let (old, new) = (was.unwrap_or_default(), now.unwrap_or_default());
    let input = InternedInput::new(old, new);
    let hunks = diff_hunks(&input);
    if !hunks.is_empty() {
        let side = |letter: char, there: Option<&str>| {
            there.map_or("/dev/null".to_owned(), |_| format!("{letter}/{path}"))
        };
        page.push_str(&format!("--- {}\n+++ {}\n", side('a', was), side('b', now)));
    }
    let lines = |text| -> Vec<&str> { str::split_inclusive(text, '\n').collect() };
    let (old, new) = (lines(old), lines(new));
    for group in group_hunks(&hunks) {
        write_hunk_group(&mut page, group, &old, &new);
    }
    page
}

/// Lines of a text and what replaces them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineEdit {
    /// The first replaced line, counted from zero.
    pub start: usize,
    /// The line after the last replaced one.
    pub end: usize,
    /// The new lines, with their line breaks.
    pub text: String,
}

/// Returns the edits that make one text of another, by line, in their order. A text with lone carriage
/// returns, which end a line for editors only, is replaced as a whole.
pub fn line_edits(was: &str, now: &str) -> Vec<LineEdit> {
    let count = split_lines(was).count();
    if was != now && count != was.split('\n').count() {
        return vec![LineEdit { start: 0, end: count, text: now.to_owned() }];
    }
    let input = InternedInput::new(was, now);
    let lines: Vec<_> = now.split_inclusive('\n').collect();
    let edit = |hunk: &Hunk| LineEdit {
        start: hunk.before.start as usize,
        end: hunk.before.end as usize,
        text: lines[hunk.after.start as usize..hunk.after.end as usize].concat(),
    };
    diff_hunks(&input).iter().map(edit).collect()
}

/// Returns the places in which two texts differ.
pub(super) fn diff_hunks(input: &InternedInput<&str>) -> Vec<Hunk> {
    let mut diff = Diff::compute(Algorithm::Histogram, input);
    diff.postprocess_lines(input);
    diff.hunks().collect()
}

/// Groups hunks that are so close that their context lines touch.
pub(super) fn group_hunks(hunks: &[Hunk]) -> impl Iterator<Item = &[Hunk]> {
    hunks.chunk_by(|a, b| (b.before.start - a.before.end) as usize <= 2 * CONTEXT_LINES)
}

/// Returns the lines of the earlier text that a group shows, of `count`: the changed ones and those
/// around them.
pub(super) fn group_lines(group: &[Hunk], count: usize) -> Option<Range<usize>> {
    let (first, last) = (group.first()?, group.last()?);
    let start = (first.before.start as usize).saturating_sub(CONTEXT_LINES);
    Some(start..(last.before.end as usize + CONTEXT_LINES).min(count))
}

fn write_hunk_group(page: &mut String, group: &[Hunk], old: &[&str], new: &[&str]) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
    let Some(Range { start: from, end: to }) = group_lines(group, old.len()) else { return };
    let from_new = first.after.start as usize - (first.before.start as usize - from);
    let to_new = last.after.end as usize + (to - last.before.end as usize);
    let side = |start: usize, length: usize| match length {
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        _ => format!("{},{length}", start + 1),
    };
    let (was, now) = (side(from, to - from), side(from_new, to_new - from_new));
    page.push_str(&format!("@@ -{was} +{now} @@\n"));
    let mut at = from;
    for hunk in group {
        let (start, end) = (hunk.before.start as usize, hunk.before.end as usize);
        let added = &new[hunk.after.start as usize..hunk.after.end as usize];
        write_lines_with_sign(page, ' ', &old[at..start]);
        write_lines_with_sign(page, '-', &old[start..end]);
        write_lines_with_sign(page, '+', added);
        at = end;
    }
    write_lines_with_sign(page, ' ', &old[at..to]);
}

fn write_lines_with_sign(page: &mut String, sign: char, lines: &[&str]) {
    for line in lines {
        let end = if line.ends_with('\n') { "" } else { "\n\\ No newline at end of file\n" };
        page.push_str(&format!("{sign}{line}{end}"));
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn numbered(lines: std::ops::Range<usize>) -> String {
        lines.map(|it| it.to_string() + "\n").collect()
    }

    #[test]
    fn a_unified_diff_looks_like_that_of_git() {
        let was = numbered(1..30);
        let now =
            was.replace("\n5\n", "\nfive\n").replace("\n8\n", "\n").replace("\n29\n", "\nend");
        assert_snapshot!(unified_diff("rooms/hall.yaml", Some(&was), Some(&now)), @r"
        diff --git a/rooms/hall.yaml b/rooms/hall.yaml
        --- a/rooms/hall.yaml
        +++ b/rooms/hall.yaml
        @@ -2,10 +2,9 @@
         2
         3
         4
        -5
        +five
         6
         7
        -8
         9
         10
         11
        @@ -26,4 +25,4 @@
         26
         27
         28
        -29
        +end
        \ No newline at end of file
        ");
    }

    #[test]
    fn an_added_or_removed_file_is_shown_whole() {
        assert_snapshot!(unified_diff("a", None, Some("1\n2\n")), @r"
        diff --git a/a b/a
        new file mode 100644
        --- /dev/null
        +++ b/a
        @@ -0,0 +1,2 @@
        +1
        +2
        ");
        assert_snapshot!(unified_diff("a", Some("1"), None), @r"
        diff --git a/a b/a
        deleted file mode 100644
        --- a/a
        +++ /dev/null
        @@ -1 +0,0 @@
        -1
        \ No newline at end of file
        ");
        assert_eq!(unified_diff("a", None, Some("")), "diff --git a/a b/a\nnew file mode 100644\n");
    }
}
