//! The vocabulary of a BERT model, and its tokenizer (`WordPiece`): converts a text to lower
//! case without accents, splits it into words and punctuation, and each word into the longest
//! pieces in the vocabulary.

use std::collections::HashMap;

use unicode_general_category::{GeneralCategory as Category, get_general_category as category};
use unicode_normalization::UnicodeNormalization as _;

use crate::embedding::Error;

/// Limit for the length of a word; a longer one is unknown.
const MAX_WORD_CHARS: usize = 100;

/// The prefix of the pieces of a word after its first.
const CONTINUATION_PREFIX: &str = "##";

/// All pieces, each with its token id.
pub(super) struct Vocabulary {
    token_ids: HashMap<String, usize>,
    size: usize,
    unknown_id: usize,
    start_id: usize,
    end_id: usize,
}

impl Vocabulary {
    /// Parses a list of pieces, one per line, numbered from 0.
    pub(super) fn parse(list: &str) -> Result<Self, Error> {
        let mut numbers = HashMap::new();
        for (number, piece) in list.lines().enumerate() {
            numbers.entry(piece.trim_end().to_owned()).or_insert(number);
        }
        let number = |name: &str| {
            let missing =
                || Error::Vocabulary(format!("it has no `{name}`: it is not a BERT vocabulary"));
            numbers.get(name).copied().ok_or_else(missing)
        };
        let (unknown, beginning, end) = (number("[UNK]")?, number("[CLS]")?, number("[SEP]")?);
        Ok(Self {
            size: list.lines().count(),
            unknown_id: unknown,
            start_id: beginning,
            end_id: end,
            token_ids: numbers,
        })
    }

    /// Returns the number of pieces.
    pub(super) fn len(&self) -> usize {
        self.size
    }

    /// Splits a text into at most `limit` tokens, including `[CLS]` and `[SEP]`.
    pub(super) fn tokenize(&self, text: &str, limit: usize) -> Vec<usize> {
        let room = limit.saturating_sub(1);
        let mut tokens = vec![self.start_id];
        for word in normalize_and_split_words(text) {
            if tokens.len() >= room {
                break;
            }
            self.tokenize_word(&word, &mut tokens);
        }
        tokens.truncate(room.max(1));
        tokens.push(self.end_id);
        tokens
    }

    fn tokenize_word(&self, word: &str, tokens: &mut Vec<usize>) {
        let before = tokens.len();
        let mut rest = word;
        while !rest.is_empty() && word.chars().count() <= MAX_WORD_CHARS {
            let prefix = if rest.len() < word.len() { CONTINUATION_PREFIX } else { "" };
            let ends = rest.char_indices().map(|(at, it)| at + it.len_utf8());
            let longest = ends.rev().find_map(|end| {
                let number = self.token_ids.get(&format!("{prefix}{}", &rest[..end]))?;
                Some((*number, end))
            });
            let Some((number, end)) = longest else { break };
            tokens.push(number);
            rest = &rest[end..];
        }
        if !rest.is_empty() {
            tokens.truncate(before);
            tokens.push(self.unknown_id);
        }
    }
}

/// Yields the words and punctuation characters of a text.
fn normalize_and_split_words(text: &str) -> impl Iterator<Item = String> {
    let decomposed = text.chars().filter(|it| !is_ignored_char(*it)).nfd();
    let bare = decomposed.filter(|it| category(*it) != Category::NonspacingMark);
    let mut letters = bare.flat_map(char::to_lowercase).peekable();
    std::iter::from_fn(move || {
        while letters.next_if(|it| it.is_whitespace()).is_some() {}
        let first = letters.next()?;
        let mut word = String::from(first);
        if !is_single_char_word(first) {
            let belongs = |it: &char| !it.is_whitespace() && !is_single_char_word(*it);
            while let Some(next) = letters.next_if(belongs) {
                word.push(next);
            }
        }
        Some(word)
    })
}

/// Returns true for characters that the tokenizer drops, such as control characters.
fn is_ignored_char(sign: char) -> bool {
    use Category::{Control, Format, PrivateUse, Surrogate, Unassigned};
    let nothing = [Control, Format, PrivateUse, Surrogate, Unassigned];
    sign == '\u{fffd}' || !sign.is_whitespace() && nothing.contains(&category(sign))
}

/// Returns true if a character is a word by itself: a Han character, punctuation, or an ASCII
/// symbol.
fn is_single_char_word(sign: char) -> bool {
    use Category::{
        ClosePunctuation, ConnectorPunctuation, DashPunctuation, FinalPunctuation,
        InitialPunctuation, OpenPunctuation, OtherPunctuation,
    };
    let punctuation = [
        ClosePunctuation,
        ConnectorPunctuation,
        DashPunctuation,
        FinalPunctuation,
        InitialPunctuation,
        OpenPunctuation,
        OtherPunctuation,
    ];
    let is_han = matches!(sign,
        '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{2a6df}' | '\u{2a700}'..='\u{2ceaf}' | '\u{2f800}'..='\u{2fa1f}');
    is_han || sign.is_ascii_punctuation() || punctuation.contains(&category(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> String {
        normalize_and_split_words(text).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn words_are_lowercased_without_accents_and_split_from_punctuation() {
        assert_eq!(split("Déjà-vu, at 5 o'clock!"), "deja|-|vu|,|at|5|o|'|clock|!");
        assert_eq!(split("東京 is «big»…"), "東|京|is|«|big|»|…");
        assert_eq!(split("a\u{0}b\u{200b}c\td\u{fffd}"), "abc|d");
        assert_eq!(split("한국"), "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}");
        assert_eq!(split(" \n"), "");
    }

    #[test]
    fn a_word_is_split_into_the_longest_known_pieces() {
        let list = "[UNK]\n[CLS]\n[SEP]\nun\n##aff\n##able\n##a\nu\n,\n";
        let vocabulary = Vocabulary::parse(list).unwrap();
        assert_eq!(vocabulary.tokenize("Unaffable, unx", 256), [1, 3, 4, 5, 8, 0, 2]);
        assert_eq!(vocabulary.tokenize(&"u".repeat(101), 256), [1, 0, 2]);
        assert_eq!(vocabulary.tokenize("unaffable un", 4), [1, 3, 4, 2]);
        assert_eq!(vocabulary.tokenize("", 256), [1, 2]);
    }

    #[test]
    fn a_vocabulary_without_the_unknown_token_is_refused() {
        let error = Vocabulary::parse("the\nof\n").err().map(|it| it.to_string());
        let expected = "`vocab.txt`: it has no `[UNK]`: it is not a BERT vocabulary";
        assert_eq!(error.as_deref(), Some(expected));
    }
}
