//! Differences between two versions of a text: its lines, and the words of a changed line; and the
//! changes of single values.

use std::ops::Range;

use gix_imara_diff::sources::words;
use gix_imara_diff::{Algorithm, Diff, Hunk, InternedInput};

use crate::model::{ChangeDetail, DiffLine, DiffWords, RoomId, split_lines};

/// Number of context lines around a change.
const CONTEXT_LINES: usize = 3;

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

/// Returns the change of prose; the final line break does not count. `None` if the text is the
/// same.
pub(super) fn text_change(of: &str, was: &str, now: &str) -> Option<ChangeDetail> {
    if was == now {
        return None;
    }
    let with_line_break = |it: &str| match it {
        it if it.is_empty() || it.ends_with('\n') => it.to_owned(),
        it => format!("{it}\n"),
    };
    let (count, lines) = diff_texts(&with_line_break(was), &with_line_break(now));
    Some(ChangeDetail::TextChanged { of: of.to_owned(), count: count.max(1), lines })
}

/// Returns the number of changed lines, of which a replaced line counts once, and the difference of
/// two texts: the changed lines and some lines around them.
pub fn diff_texts(was: &str, now: &str) -> (usize, Vec<DiffLine>) {
    let input = InternedInput::new(was, now);
    let hunks = diff_hunks(&input);
    let count = hunks.iter().map(|it| it.before.len().max(it.after.len())).sum();
    let (old, new): (Vec<_>, Vec<_>) = (was.lines().collect(), now.lines().collect());
    let kept = |range: std::ops::Range<usize>| {
        old.get(range).unwrap_or_default().iter().map(|it| DiffLine::Kept((*it).to_owned()))
    };
    let (mut lines, mut at) = (Vec::new(), 0);
    for group in group_hunks(&hunks) {
        let Some(context) = group_lines(group, old.len()) else { continue };
        lines.extend((context.start > at).then_some(DiffLine::Omitted(context.start - at)));
        at = context.start;
        for hunk in group {
            let before = hunk.before.start as usize..hunk.before.end as usize;
            let after = hunk.after.start as usize..hunk.after.end as usize;
            lines.extend(kept(at..before.start));
            at = before.end;
            lines.extend(replaced_lines(
                old.get(before).unwrap_or_default(),
                new.get(after).unwrap_or_default(),
            ));
        }
        lines.extend(kept(at..context.end));
        at = context.end;
    }
    lines.extend((old.len() > at && at > 0).then(|| DiffLine::Omitted(old.len() - at)));
    (count, lines)
}

/// Returns the difference of lines that replace others. If there are as many, they are compared
/// one by one, by words.
fn replaced_lines(old: &[&str], new: &[&str]) -> Vec<DiffLine> {
    let pairs = || old.iter().zip(new);
    if old.len() == new.len() {
        let lines: Option<Vec<_>> = pairs().map(|(old, new)| diff_words(old, new)).collect();
        if let Some(lines) = lines {
            return lines;
        }
    }
    let removed = old.iter().map(|it| DiffLine::Removed((*it).to_owned()));
    removed.chain(new.iter().map(|it| DiffLine::Added((*it).to_owned()))).collect()
}

/// Returns the difference of two lines by words; `None` if they have less than half of their text in
/// common.
fn diff_words(was: &str, now: &str) -> Option<DiffLine> {
    let input = InternedInput::new(words(was), words(now));
    let diff = Diff::compute(Algorithm::Histogram, &input);
    let (old, new): (Vec<_>, Vec<_>) = (words(was).collect(), words(now).collect());
    let (mut parts, mut at, mut common) = (Vec::new(), 0, 0);
    let join = |words: &[&str], from: u32, to: u32| {
        words.get(from as usize..to as usize).unwrap_or_default().concat()
    };
    for hunk in diff.hunks() {
        let kept = join(&old, at, hunk.before.start);
        common += kept.chars().filter(|it| it.is_alphanumeric()).count();
        push_words(
            &mut parts,
            &kept,
            &join(&old, hunk.before.start, hunk.before.end),
            &join(&new, hunk.after.start, hunk.after.end),
        );
        at = hunk.before.end;
    }
    let rest = old.get(at as usize..).unwrap_or_default().concat();
    common += rest.chars().filter(|it| it.is_alphanumeric()).count();
    parts.extend((!rest.is_empty()).then_some(DiffWords::Kept(rest)));
    let length = |it: &str| it.chars().filter(|it| it.is_alphanumeric()).count();
    (common > 0 && 2 * common >= length(was).max(length(now))).then_some(DiffLine::Changed(parts))
}

/// Appends kept words, then replaced ones. Blanks between two replaced parts belong to them.
fn push_words(parts: &mut Vec<DiffWords>, kept: &str, removed: &str, added: &str) {
    let is_blank = kept.trim().is_empty();
    if let ([.., DiffWords::Removed(was), DiffWords::Added(now)], true) =
        (parts.as_mut_slice(), is_blank)
    {
        was.push_str(&format!("{kept}{removed}"));
        now.push_str(&format!("{kept}{added}"));
        return;
    }
    parts.extend((!kept.is_empty()).then(|| DiffWords::Kept(kept.to_owned())));
    parts.extend((!removed.is_empty()).then(|| DiffWords::Removed(removed.to_owned())));
    parts.extend((!added.is_empty()).then(|| DiffWords::Added(added.to_owned())));
}

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
fn group_lines(group: &[Hunk], count: usize) -> Option<Range<usize>> {
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

/// Returns the change of a name; an empty name means that the item does not exist.
pub(super) fn name_change(from: &str, to: &str) -> Option<ChangeDetail> {
    if from.is_empty() || to.is_empty() {
        return value_change("name", none_if_empty(from), none_if_empty(to));
    }
    let renamed = || ChangeDetail::Renamed { from: from.to_owned(), to: to.to_owned() };
    (from != to).then(renamed)
}

pub(super) fn value_change(of: &str, was: Option<&str>, now: Option<&str>) -> Option<ChangeDetail> {
    let owned = |it: Option<&str>| it.map(str::to_owned);
    let value =
        || ChangeDetail::ValueChanged { of: of.to_owned(), was: owned(was), now: owned(now) };
    (was != now).then(value)
}

/// Returns `None` for an empty text.
pub(super) fn none_if_empty(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

/// Returns the change of the place of a room, or of the room of a scroll.
pub(super) fn place_change(was: &RoomId, now: &RoomId) -> Option<ChangeDetail> {
    (was != now).then(|| ChangeDetail::Moved { from: was.clone() })
}

/// Moves names, values and texts before the parts of a new or removed item.
pub(super) fn sort_content(mut details: Vec<ChangeDetail>) -> Vec<ChangeDetail> {
    details
        .sort_by_key(|it| matches!(it, ChangeDetail::PartAdded(_) | ChangeDetail::PartRemoved(_)));
    details
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    /// Renders a difference with one character for each kind of line.
    fn diff(was: &str, now: &str) -> String {
        let words = |it: &DiffWords| match it {
            DiffWords::Kept(text) => text.clone(),
            DiffWords::Removed(text) => format!("[-{text}-]"),
            DiffWords::Added(text) => format!("{{+{text}+}}"),
        };
        let line = |it: &DiffLine| match it {
            DiffLine::Kept(text) => format!("  {text}\n"),
            DiffLine::Removed(text) => format!("- {text}\n"),
            DiffLine::Added(text) => format!("+ {text}\n"),
            DiffLine::Changed(parts) => {
                format!("~ {}\n", parts.iter().map(words).collect::<String>())
            }
            DiffLine::Omitted(count) => format!("… {count}\n"),
        };
        let (count, lines) = diff_texts(was, now);
        format!("{count}\n{}", lines.iter().map(line).collect::<String>())
    }

    #[test]
    fn a_similar_line_is_compared_by_words_and_another_one_is_replaced() {
        let was = "The boiler stopped at noon.\nNobody knows why.\nCold.\n";
        let now = "The old boiler stopped at ten.\nNobody knows why.\nA draught.\nDust.\n";
        insta::assert_snapshot!(diff(was, now), @"
        3
        ~ The {+old +}boiler stopped at [-noon-]{+ten+}.
          Nobody knows why.
        - Cold.
        + A draught.
        + Dust.
        ");
        insta::assert_snapshot!(diff("one two three four\n", "one six seven four\n"), @"
        1
        - one two three four
        + one six seven four
        ");
    }

    #[test]
    fn lines_far_from_a_change_are_left_out() {
        let was = (1..30).map(|it| format!("{it}\n")).collect::<Vec<_>>().concat();
        insta::assert_snapshot!(diff(&was, &was.replace("\n15\n", "\nfifteen\n")), @"
        1
        … 11
          12
          13
          14
        - 15
        + fifteen
          16
          17
          18
        … 11
        ");
    }

    #[test]
    fn differing_lines_are_counted_once() {
        for (was, now, count) in [
            ("a\nb\nc\n", "a\nx\nc\n", 1),
            ("a\nb\nc\n", "a\nc\n", 1),
            ("", "a\nb", 2),
            ("a", "a\n", 1),
            ("a\n", "a\n", 0),
        ] {
            assert_eq!(diff_texts(was, now).0, count, "{was:?} {now:?}");
        }
    }

    #[test]
    fn diffing_entirely_different_texts_is_fast() {
        let lines = |sign| (0..200_000).map(move |it| format!("{sign}{}", it % 1000));
        let text = |sign| lines(sign).collect::<Vec<_>>().join("\n");
        assert_eq!(diff_texts(&text('a'), &text('b')).0, 200_000);
    }

    #[test]
    fn a_new_text_has_only_added_lines() {
        insta::assert_snapshot!(diff("", "a\nb"), @"
        2
        + a
        + b
        ");
        assert_eq!(text_change("text", "a", "a"), None);
    }

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
