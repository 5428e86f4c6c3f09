//! Compares words: finds those that a misspelt or unfinished word of a query may mean.

use crate::search::words::{Script, byte_prefix};

/// Minimum lengths of a word whose spelling is corrected, of its stem, and of a word that is
/// completed.
const MIN_CORRECTED_WORD: usize = 4;
const MIN_CORRECTED_STEM: usize = 5;
const MIN_COMPLETED_WORD: usize = 3;

/// The words that are similar to a word: those one edit (insertion, deletion, substitution,
/// transposition) away; those that begin with it; and, for a single character of a script without
/// spaces, the pairs that contain it.
#[derive(Clone, Debug)]
pub(super) struct SimilarWords {
    word: String,
    may_be_unfinished: bool,
    may_be_misspelt: bool,
    is_single_character: bool,
}

impl SimilarWords {
    pub(super) fn new(word: &str, script: Script) -> Self {
        let letters = word.chars().count();
        Self {
            word: word.to_owned(),
            may_be_unfinished: letters >= MIN_COMPLETED_WORD,
            may_be_misspelt: letters >= MIN_CORRECTED_WORD && !has_digits(word),
            is_single_character: script == Script::Unspaced && letters == 1,
        }
    }

    /// Returns true if the word is long enough, and has no digits: its stem may be compared too.
    pub(super) fn may_be_misspelt(&self) -> bool {
        self.may_be_misspelt
    }

    /// Returns true if `spelling` is similar to the word, or the same.
    pub(super) fn contains(&self, spelling: &str) -> bool {
        self.may_be_unfinished && spelling.starts_with(&self.word)
            || self.may_be_misspelt
                && is_within_one_edit(&self.word, spelling)
                && !has_digits(spelling)
            || self.is_single_character && spelling.contains(&self.word)
    }
}

/// Returns false if a word, one of a script with spaces, is too short to have similar words.
pub(super) fn may_have_similar_words(word: &str) -> bool {
    word.chars().count() >= MIN_COMPLETED_WORD.min(MIN_CORRECTED_WORD)
}

/// Returns true if two stems differ by one inserted, deleted or transposed letter inside. A stem with
/// another first or last letter, or with a substituted letter (`recover`, `remove`), is usually
/// another word, not a typing error.
pub(super) fn is_similar_stem(stem: &str, other: &str) -> bool {
    let ends = |it: &str| (it.chars().next(), it.chars().next_back());
    let is_long = |it: &str| it.chars().count() >= MIN_CORRECTED_STEM;
    is_within_one_edit(stem, other)
        && ends(stem) == ends(other)
        && (stem.len() != other.len() || sorted_letters(stem) == sorted_letters(other))
        && is_long(stem)
        && is_long(other)
        && !has_digits(other)
}

/// Returns true if two words are equal or differ by one letter or one transposition.
fn is_within_one_edit(a: &str, b: &str) -> bool {
    if a.len().abs_diff(b.len()) > 4 {
        return false;
    }
    let same = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let begin = byte_prefix(a, same(a, b)).len();
    let (a, b) = (&a[begin..], &b[begin..]);
    let common = a.chars().rev().zip(b.chars().rev()).take_while(|(a, b)| a == b);
    let end: usize = common.map(|(it, _)| it.len_utf8()).sum();
    let (mut a, mut b) = (a[..a.len() - end].chars(), b[..b.len() - end].chars());
    match [a.next(), a.next(), a.next(), b.next(), b.next(), b.next()] {
        [_, None, None, _, None, None] => true,
        [Some(first), Some(second), None, third, fourth, None] => {
            (third, fourth) == (Some(second), Some(first))
        }
        _ => false,
    }
}

/// Returns the letters of a word, sorted.
fn sorted_letters(word: &str) -> Vec<char> {
    let mut letters: Vec<_> = word.chars().collect();
    letters.sort_unstable();
    letters
}

fn has_digits(word: &str) -> bool {
    word.bytes().any(|it| it.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_one_edit_apart_are_close() {
        for typed in ["fossl", "fossiil", "fosril", "fossli", "fössil", "fossil", "ossil"] {
            assert!(is_within_one_edit(typed, "fossil"), "{typed}");
        }
        for typed in ["fosl", "fossilss", "fsosli", "possul"] {
            assert!(!is_within_one_edit(typed, "fossil"), "{typed}");
        }
    }
}
