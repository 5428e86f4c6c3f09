//! Rules out by their first letters most words that a query cannot match: an index for this query
//! alone needs no others.

use crate::search::language::{Language, strip_accents, words_with_other_beginnings};
use crate::search::query_parser::{QueryWord, QueryWords};
use crate::search::similar_words;
use crate::search::words::Script;

/// A set of beginnings of words, of three letters each. It may contain more than were added: other
/// characters count as some letter, and letters that stemming exchanges (`y` and `i`, `v` and `f`, `z`
/// and `s`) as the same. Pairs of characters of a script without spaces are contained if one of the
/// characters was added.
#[derive(Clone, Debug)]
pub(super) struct WordBeginnings {
    /// The third letters, one bit each, by the first two letters.
    third_letters: [u32; LETTERS * LETTERS],
    /// The characters of scripts without spaces, one bit each, by the lower 16 bits of their code.
    unspaced: Box<[u64; 1 << 10]>,
}

/// The number of letters that are told apart.
const LETTERS: usize = 32;

/// The number of bytes outside ASCII: the first behind those of letters.
const OTHER_BYTE: u8 = 32;

/// The number of each byte as a letter.
const LETTER_NUMBERS: [u8; 256] = {
    let mut numbers = [OTHER_BYTE; 256];
    let mut byte = 0;
    while byte < 128 {
        numbers[byte as usize] = match byte {
            b'y' => b'i',
            b'v' => b'f',
            b'z' => b's',
            other => other,
        } % OTHER_BYTE;
        byte += 1;
    }
    numbers
};

/// A letter of a beginning; `None` stands for any, and for the end of the word.
type Letter = Option<u8>;

impl WordBeginnings {
    /// Returns the beginnings of the words that a query can match: those of its words and stems,
    /// of similar ones, and of words with the stem of a similar one.
    pub(super) fn of_query(question: &str) -> Self {
        let query = QueryWords::parse(question);
        let words: Vec<QueryWord> = query.words.into_iter().chain(query.context).collect();
        let mut beginnings =
            Self { third_letters: [0; LETTERS * LETTERS], unspaced: Box::new([0; 1 << 10]) };
        for (word, script) in words.iter().flat_map(QueryWord::spellings) {
            if script == Script::Unspaced {
                word.chars().map(unspaced_bit).for_each(|(at, bit)| beginnings.unspaced[at] |= bit);
                continue;
            }
            let stems = Language::all().map(|it| it.stem(&word));
            // A word with other letters matches only such words, which are always contained.
            stems.filter(|it| it.is_ascii()).for_each(|it| beginnings.add_stem(&it));
            let bare = strip_accents(&word);
            if bare.is_ascii() && similar_words::may_have_similar_words(&word) {
                beginnings.add_similar(&bare);
            }
        }
        words_with_other_beginnings().for_each(|it| beginnings.add_word(&it));
        beginnings
    }

    /// Returns false only if no word with the beginning of `word` was added, and it has only letters of
    /// ASCII or is of a script without spaces.
    pub(super) fn may_contain(&self, word: &str, script: Script) -> bool {
        if script == Script::Unspaced {
            return word.chars().map(unspaced_bit).any(|(at, bit)| self.unspaced[at] & bit != 0);
        }
        let number =
            |it: Option<&u8>| it.map_or(0, |it| usize::from(LETTER_NUMBERS[usize::from(*it)]));
        let mut bytes = word.as_bytes().iter();
        let [a, b, c] = [number(bytes.next()), number(bytes.next()), number(bytes.next())];
        a.max(b).max(c) == usize::from(OTHER_BYTE)
            || self.third_letters[a * LETTERS + b] >> c & 1 == 1
    }

    /// Adds the beginning of a word.
    fn add_word(&mut self, word: &str) {
        let [a, b, c, _] = first_letters(word);
        self.add([a, b, c]);
    }

    /// Adds the beginnings of the words whose stem is `stem`, or differs from it by one edit behind
    /// the first letter. Stemming keeps the first two letters of a word, but may take out the second
    /// one: `ae` is `ä`.
    fn add_stem(&mut self, stem: &str) {
        let [a, b, c, d] = first_letters(stem);
        self.add([a, b, None]);
        self.add([a, None, b]);
        self.add([a, None, c]);
        self.add([a, c, d]);
    }

    /// Adds the beginnings of the words that are one edit away from `word`, or begin with it.
    fn add_similar(&mut self, word: &str) {
        self.add_stem(word);
        let [a, b, c, d] = first_letters(word);
        self.add([None, a, b]);
        self.add([None, b, c]);
        self.add([b, a, c]);
        self.add([b, c, d]);
    }

    fn add(&mut self, [a, b, c]: [Letter; 3]) {
        let all = |it: Letter| match it {
            Some(letter) => usize::from(letter)..usize::from(letter) + 1,
            None => 0..LETTERS,
        };
        for first in all(a) {
            for second in all(b) {
                self.third_letters[first * LETTERS + second] |= c.map_or(u32::MAX, |it| 1 << it);
            }
        }
    }
}

/// Returns where the bit of a character of a script without spaces is, and the bit.
fn unspaced_bit(it: char) -> (usize, u64) {
    let code = u32::from(it) & 0xffff;
    (code as usize >> 6, 1 << (code & 63))
}

/// Returns the first four letters of a word as numbers below [`LETTERS`]; `None` behind its end.
fn first_letters(word: &str) -> [Letter; 4] {
    let number = |it: &u8| LETTER_NUMBERS[usize::from(*it)] % OTHER_BYTE;
    [0, 1, 2, 3].map(|at| word.as_bytes().get(at).map(number))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn similar_words_begin_as_expected_and_most_others_do_not() {
        let beginnings = WordBeginnings::of_query("river Ägypten");
        let admits = |word| beginnings.may_contain(word, Script::Latin);
        for word in
            ["river", "rivers", "iver", "xriver", "xiver", "irver", "rver", "rxiver", "rvier"]
        {
            assert!(admits(word), "{word}");
        }
        for word in ["aegypten", "ägypten", "agypt", "été", "ryver"] {
            assert!(admits(word), "{word}");
        }
        for word in ["quartz", "castle", "r", "water"] {
            assert!(!admits(word), "{word}");
        }
    }

    #[test]
    fn words_too_short_to_be_misspelt_admit_only_their_own_forms() {
        let beginnings = WordBeginnings::of_query("ox");
        let admits = |word| beginnings.may_contain(word, Script::Latin);
        assert!(admits("ox") && admits("oxen"));
        assert!(!admits("box") && !admits("tomato"));
    }

    #[test]
    fn pairs_of_a_script_without_spaces_are_admitted_by_their_characters() {
        let beginnings = WordBeginnings::of_query("東京 river");
        let admits = |word| beginnings.may_contain(word, Script::Unspaced);
        assert!(admits("東京") && admits("京都"));
        assert!(!admits("大阪"));
    }

    proptest! {
        #[test]
        fn a_word_is_admitted_by_its_stem(
            word in "([a-z]{0,3}ge|ae|oe|ue)?[a-z][a-zäéñøß]{0,5}(s|ing|ed|ies|ied|ly|ations?|ungen|lich|eren|heid|tje|aient|ement|ando|iamo|mente|ações|heten|erne|issa|ssä)?",
        ) {
            for language in Language::all() {
                let mut beginnings = WordBeginnings::of_query("");
                beginnings.add_stem(&language.stem(&word));
                prop_assert!(beginnings.may_contain(&word, Script::Latin), "{} {:?}", word, language);
            }
        }
    }
}
