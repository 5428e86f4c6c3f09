//! Replaces the words of a text in the notation in which a person wrote it.

use std::ops::Range;

use gix_imara_diff::{Algorithm, Diff, Hunk, InternedInput};

/// Returns whether at least half of the letters of the longer text are in words of both.
pub(super) fn have_half_in_common(a: &str, b: &str) -> bool {
    let (old, new) = (words_of(a), words_of(b));
    let removed: usize =
        diff_words(&old, &new).iter().map(|it| count_letters(&old[range_of(&it.before)])).sum();
    let common = count_letters(&old) - removed;
    common > 0 && 2 * common >= count_letters(&old).max(count_letters(&new))
}

/// Replaces in `raw`, the notation of the text `was`, the words that `now` has others for. Blanks
/// and line breaks between the other words stay. `None` if that is impossible; the caller must
/// parse and compare the result.
pub(super) fn replace_words(raw: &str, was: &str, now: &str) -> Option<String> {
    let (old, new) = (words_of(was), words_of(now));
    let (mut replaced, mut copied) = (String::new(), 0);
    for hunk in diff_words(&old, &new) {
        let (before, after) = with_neighbour(range_of(&hunk.before), range_of(&hunk.after), &old);
        let place = find_words(raw, &old, before)?;
        replaced.push_str(raw.get(copied..place.start)?);
        let words = new.get(after)?.join(" ");
        replaced.push_str(&in_notation(raw, &words));
        copied = place.end;
    }
    Some(replaced + &raw[copied..])
}

/// Extends an insertion by the word before it, or after it: an empty place cannot be found.
fn with_neighbour(
    before: Range<usize>,
    after: Range<usize>,
    old: &[&str],
) -> (Range<usize>, Range<usize>) {
    match before.start {
        _ if !before.is_empty() && !after.is_empty() => (before, after),
        0 if before.end < old.len() => (0..before.end + 1, after.start..after.end + 1),
        0 => (before, after),
        _ => (before.start - 1..before.end, after.start - 1..after.end),
    }
}

/// Finds the place of some words of a text in its notation: the occurrence with as many others
/// before it as in the text.
fn find_words(raw: &str, words: &[&str], wanted: Range<usize>) -> Option<Range<usize>> {
    let needle = words.get(wanted.clone()).filter(|it| !it.is_empty())?;
    let needle_in_notation: Vec<_> = needle.iter().map(|it| in_notation(raw, it)).collect();
    let is_match_at = |from: usize| words[from..].starts_with(needle);
    let before = (0..wanted.start).filter(|it| is_match_at(*it)).count();
    let after = (wanted.start + 1..words.len()).filter(|it| is_match_at(*it)).count();
    let first = needle_in_notation.first()?;
    let places: Vec<_> = raw
        .match_indices(first.as_str())
        .filter_map(|(start, _)| Some(start..start + words_at(&raw[start..], &needle_in_notation)?))
        .filter(|it| is_word(raw, it))
        .collect();
    (places.len() == before + 1 + after).then(|| places[before].clone())
}

/// Returns the length of `words` at the beginning of a text, with any blanks between them.
fn words_at(text: &str, words: &[String]) -> Option<usize> {
    let mut rest = text;
    for (index, word) in words.iter().enumerate() {
        let blanks = rest.trim_start();
        if index > 0 && blanks.len() == rest.len() {
            return None;
        }
        rest = if index > 0 { blanks } else { rest }.strip_prefix(word.as_str())?;
    }
    Some(text.len() - rest.len())
}

/// Returns whether blanks, the escape of a line break, or quotes are around a place.
fn is_word(raw: &str, place: &Range<usize>) -> bool {
    let (before, after) = (&raw[..place.start], &raw[place.end..]);
    let is_quoted = raw.starts_with('"');
    let is_start = before.is_empty()
        || before.ends_with(char::is_whitespace)
        || matches!(before, "\"" | "'")
        || is_quoted && before.ends_with("\\n");
    let is_end = after.is_empty()
        || after.starts_with(char::is_whitespace)
        || matches!(after, "\"" | "'")
        || is_quoted && after.starts_with("\\n");
    is_start && is_end
}

/// Writes words as they are written in the notation of `raw`.
fn in_notation(raw: &str, words: &str) -> String {
    match raw.chars().next() {
        Some('\'') => words.replace('\'', "''"),
        Some('"') => words.replace('\\', "\\\\").replace('"', "\\\""),
        _ => words.to_owned(),
    }
}

fn words_of(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

fn diff_words(was: &[&str], now: &[&str]) -> Vec<Hunk> {
    let mut input = InternedInput::default();
    input.update_before(was.iter().copied());
    input.update_after(now.iter().copied());
    Diff::compute(Algorithm::Histogram, &input).hunks().collect()
}

fn range_of(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

fn count_letters(words: &[&str]) -> usize {
    words.iter().map(|it| it.chars().filter(|it| it.is_alphanumeric()).count()).sum()
}
