//! Differences between two versions of a text: its lines, and the words of a changed line.

use gix_imara_diff::sources::words;
use gix_imara_diff::{Algorithm, Diff, InternedInput};

use crate::diff::lines::{diff_hunks, group_hunks, group_lines};
use crate::model::{ChangeDetail, DiffLine, DiffWords};

/// Returns the change of prose; the final line break does not count. `None` if the text is the
/// same.
pub(super) fn text_change(text: &str, was: &str, now: &str) -> Option<ChangeDetail> {
    if was == now {
        return None;
    }
    let with_line_break = |it: &str| match it {
        it if it.is_empty() || it.ends_with('\n') => it.to_owned(),
        it => format!("{it}\n"),
    };
    let (count, lines) = diff_texts(&with_line_break(was), &with_line_break(now));
    Some(ChangeDetail::TextChanged { text: text.to_owned(), count: count.max(1), lines })
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

#[cfg(test)]
mod tests {
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
}
