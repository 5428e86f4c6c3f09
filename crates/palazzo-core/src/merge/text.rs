//! Merges texts: by lines, and the lines that both sides changed by words.

use std::ops::Range;

use gix_imara_diff::{Algorithm, Diff, Hunk, InternedInput};

/// A part of a three-way merge: ranges of the base and of both sides.
struct Region {
    base: Range<usize>,
    sides: [Range<usize>; 2],
    change: RegionChange,
}

/// Which sides changed a region.
#[derive(Clone, Copy)]
enum RegionChange {
    None,
    OneSide(usize),
    Both,
}

/// Hunks of both sides that overlap.
struct HunkGroup {
    /// Their range in the base.
    base: Range<usize>,
    /// By how much longer each side is; `None` if it has not changed the range.
    growth: [Option<isize>; 2],
}

/// A word, and the white space before it. The last word of a text is empty.
struct Word<'a> {
    space: &'a str,
    word: &'a str,
}

/// Merges two versions of a text by lines; `None` if both changed the same lines.
pub fn merge_lines(base: &str, sides: [&str; 2]) -> Option<String> {
    merge_line_regions(base, sides, |_, _| None)
}

/// Merges two versions of a prose text by lines, and lines that both changed by words; `None` if
/// both changed the same words. The line breaks are those of the side that wrapped the text again.
pub fn merge_prose(base: &str, sides: [&str; 2]) -> Option<String> {
    merge_line_regions(base, sides, merge_words)
}

/// Returns how alike two texts are, from 0 to 1: the share of common words, weighted by length.
pub(super) fn similarity(a: &str, b: &str) -> f64 {
    let (a, b): (Vec<_>, Vec<_>) = (a.split_whitespace().collect(), b.split_whitespace().collect());
    let length = |words: &[&str]| words.iter().map(|it| it.chars().count()).sum::<usize>();
    let changed: usize = diff_hunks(&a, &b)
        .iter()
        .map(|it| length(&a[range_of(&it.before)]) + length(&b[range_of(&it.after)]))
        .sum();
    let total = length(&a) + length(&b);
    match u32::try_from(total).ok().zip(u32::try_from(changed).ok()) {
        Some((total, changed)) if total > 0 => 1.0 - f64::from(changed) / f64::from(total),
        _ => 0.0,
    }
}

fn merge_line_regions(
    base: &str,
    sides: [&str; 2],
    merge_region: impl Fn(&str, [&str; 2]) -> Option<String>,
) -> Option<String> {
    let lines = |text| -> Vec<&str> { str::split_inclusive(text, '\n').collect() };
    let (base, sides) = (lines(base), sides.map(lines));
    let mut merged = String::new();
    for region in merge_sequences(&base, [&sides[0], &sides[1]]) {
        let [a, b] = [0, 1].map(|it| sides[it][region.sides[it].clone()].concat());
        match region.change {
            RegionChange::None => merged.push_str(&a),
            RegionChange::OneSide(side) => merged.push_str([&a, &b][side]),
            RegionChange::Both if a == b => merged.push_str(&a),
            RegionChange::Both => {
                let base = base[region.base].concat();
                merged.push_str(&merge_region(&base, [&a, &b])?);
            }
        }
    }
    Some(merged)
}

fn merge_words(base: &str, sides: [&str; 2]) -> Option<String> {
    let (base, sides) = (split_words(base), sides.map(split_words));
    let [a, b] = [texts_of(&sides[0]), texts_of(&sides[1])];
    let mut merged = String::new();
    for region in merge_sequences(&texts_of(&base), [&a, &b]) {
        let side = match region.change {
            RegionChange::None => 0,
            RegionChange::OneSide(side) => side,
            RegionChange::Both if a[region.sides[0].clone()] == b[region.sides[1].clone()] => 0,
            RegionChange::Both => return None,
        };
        let [own, other] = [side, 1 - side].map(|it| &sides[it][region.sides[it].clone()]);
        let base = &base[region.base];
        for (index, word) in own.iter().enumerate() {
            let others = base.get(index).zip(other.get(index));
            merged.push_str(others.map_or(word.space, |(base, other)| match word.space {
                space if space == base.space => other.space,
                space => space,
            }));
            merged.push_str(word.word);
        }
    }
    Some(merged)
}

fn texts_of<'a>(words: &[Word<'a>]) -> Vec<&'a str> {
    words.iter().map(|it| it.word).collect()
}

fn split_words(text: &str) -> Vec<Word<'_>> {
    let (mut words, mut rest) = (Vec::new(), text);
    loop {
        let start = rest.find(|it: char| !it.is_whitespace()).unwrap_or(rest.len());
        let (space, after) = rest.split_at(start);
        let end = after.find(char::is_whitespace).unwrap_or(after.len());
        let (word, after) = after.split_at(end);
        words.push(Word { space, word });
        if word.is_empty() {
            return words;
        }
        rest = after;
    }
}

/// Divides three sequences into regions. A region is changed by both sides if their changes overlap,
/// or one of them inserts where the other changes something.
fn merge_sequences(base: &[&str], sides: [&[&str]; 2]) -> Vec<Region> {
    let mut regions = Vec::new();
    let mut at = 0;
    for HunkGroup { base: range, growth } in group_hunks(sides.map(|it| diff_hunks(base, it))) {
        let change = match growth {
            [Some(_), Some(_)] => RegionChange::Both,
            [Some(_), None] => RegionChange::OneSide(0),
            _ => RegionChange::OneSide(1),
        };
        push_region(&mut regions, at..range.start, [0, 0], RegionChange::None);
        at = range.end;
        push_region(&mut regions, range, growth.map(Option::unwrap_or_default), change);
    }
    push_region(&mut regions, at..base.len(), [0, 0], RegionChange::None);
    regions
}

/// Appends a region, in which each side is longer than the base by `growth`.
fn push_region(
    regions: &mut Vec<Region>,
    base: Range<usize>,
    growth: [isize; 2],
    change: RegionChange,
) {
    let sides = [0, 1].map(|side: usize| {
        let start = regions.last().map_or(0, |it| it.sides[side].end);
        start..(start + base.len()).saturating_add_signed(growth[side])
    });
    regions.push(Region { base, sides, change });
}

fn group_hunks(sides: [Vec<Hunk>; 2]) -> Vec<HunkGroup> {
    let mut hunks: Vec<_> =
        (0..2).zip(sides).flat_map(|(side, it)| it.into_iter().map(move |it| (side, it))).collect();
    hunks.sort_by_key(|(_, it)| (it.before.start, it.before.end));
    let mut groups: Vec<HunkGroup> = Vec::new();
    for (side, hunk) in hunks {
        let base = range_of(&hunk.before);
        let [before, after] = [&hunk.before, &hunk.after].map(|it| it.len().cast_signed());
        if groups.last().is_none_or(|it| !overlaps(&it.base, &base)) {
            groups.push(HunkGroup { base: base.clone(), growth: [None, None] });
        }
        if let Some(group) = groups.last_mut() {
            group.base.end = group.base.end.max(base.end);
            *group.growth[side].get_or_insert(0) += after - before;
        }
    }
    groups
}

/// Returns whether a hunk belongs to a region before it: they share lines, or one of them only
/// inserts where they meet.
fn overlaps(region: &Range<usize>, hunk: &Range<usize>) -> bool {
    hunk.start < region.end || hunk.start == region.end && (hunk.is_empty() || region.is_empty())
}

fn diff_hunks(was: &[&str], now: &[&str]) -> Vec<Hunk> {
    let mut input = InternedInput::default();
    input.update_before(was.iter().copied());
    input.update_after(now.iter().copied());
    Diff::compute(Algorithm::Histogram, &input).hunks().collect()
}

fn range_of(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_different_lines_are_merged() {
        let base = "one\ntwo\nthree\nfour\n";
        let [a, b] = ["ONE\ntwo\nthree\nfour\n", "one\ntwo\nthree\nfour\nfive\n"];
        assert_eq!(merge_lines(base, [a, b]).unwrap(), "ONE\ntwo\nthree\nfour\nfive\n");
        assert_eq!(merge_lines(base, [b, a]), merge_lines(base, [a, b]));
    }

    #[test]
    fn changes_of_one_line_conflict_unless_they_are_equal() {
        assert_eq!(merge_lines("one\n", ["two\n", "three\n"]), None);
        assert_eq!(merge_lines("one\n", ["two\n", "two\n"]).unwrap(), "two\n");
        assert_eq!(merge_lines("", ["two\n", "three\n"]), None);
    }

    #[test]
    fn changes_of_different_words_of_a_line_are_merged() {
        let base = "The old clock ticks in the hall.";
        let sides = ["The old clock strikes in the hall.", "The clock ticks in the great hall."];
        let merged = merge_prose(base, sides).unwrap();
        assert_eq!(merged, "The clock strikes in the great hall.");
        assert_eq!(merge_prose(base, ["The clock.", "The old bell ticks in the hall."]), None);
    }

    #[test]
    fn a_changed_word_gets_the_line_breaks_of_the_side_that_wrapped_the_text() {
        let base = "sawn off level, and\nred sandstone lies\nacross them.\n";
        let wrapped = "sawn off\nlevel, and red sandstone lies\nacross them.\n";
        let changed = "sawn off level, and\nred sand lies\nacross them.\n";
        let merged = "sawn off\nlevel, and red sand lies\nacross them.\n";
        assert_eq!(merge_prose(base, [wrapped, changed]).unwrap(), merged);
        assert_eq!(merge_prose(base, [changed, wrapped]).unwrap(), merged);
    }

    #[test]
    fn a_text_without_changes_on_one_side_is_that_of_the_other() {
        for (base, now) in [("", "a b\nc"), ("a\n\nb", "a"), ("a b c", "c b a\n")] {
            assert_eq!(merge_prose(base, [base, now]).unwrap(), now);
            assert_eq!(merge_prose(base, [now, base]).unwrap(), now);
            assert_eq!(merge_prose(base, [now, now]).unwrap(), now);
        }
    }

    #[test]
    fn texts_with_most_words_in_common_are_similar() {
        assert!(similarity("the old red clock ticks", "the red clock ticks") > 0.8);
        assert!(similarity("one two", "three four") < 0.1);
        assert!(similarity("", "") < 0.1);
    }
}
