//! Tokenizes texts into words, the same way for documents and queries.
//!
//! A word is a run of letters and digits, normalized (NFKC) and in lower case. Identifiers are
//! tokenized into their parts and kept whole: `parseDeviceId`, `parse_device_id` and
//! `parse-device-id` are `parse`, `device`, `id` and `parsedeviceid`. In scripts without
//! spaces between words, each pair of adjacent characters is a word.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// Limit for the length of a word; the rest is ignored.
const MAX_WORD_BYTES: usize = 64;

/// A word of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Word<'a> {
    /// The normalized word.
    pub(super) text: &'a str,
    /// The script of the word.
    pub(super) script: Script,
    /// The range of the word in the text, in bytes.
    pub(super) range: Range<usize>,
    /// True if it is composed of words that came before it.
    pub(super) is_compound: bool,
}

/// The script of a word, which determines its language and its tokenization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Script {
    /// Latin letters, of any language.
    Latin,
    /// Cyrillic letters.
    Cyrillic,
    /// Greek letters.
    Greek,
    /// Arabic letters.
    Arabic,
    /// Two characters of a script without spaces: Han, Kana, Hangul, Thai.
    Unspaced,
    /// Digits, and letters of other scripts.
    Other,
}

/// Calls `each` for every word of `text`, in order.
pub(super) fn for_each_word(text: &str, mut each: impl FnMut(Word<'_>)) {
    let (mut from, mut lower) = (0, String::new());
    while let Some((start, first)) = first_word_char(text, from) {
        if let Some(length) = plain_word_length(&text[start..]) {
            let end = start + length;
            let mut word = &text[start..end];
            if first.is_uppercase() {
                lower.clear();
                lower.extend(first.to_lowercase());
                lower.push_str(&word[first.len_utf8()..]);
                lower.make_ascii_lowercase();
                word = &lower;
            }
            let script = script_of_word(word);
            each(Word { text: word, script, range: start..end, is_compound: false });
            from = end + possessive_length(&text[end..]);
            continue;
        }
        let end = start + letter_run_length(&text[start..], is_unspaced_script(first));
        let chunk = &text[start..end];
        let clean = normalize_nfkc(chunk);
        match is_unspaced_script(first) {
            true => for_each_char_pair(chunk, &clean, start, &mut each),
            false => for_each_identifier_part(&clean, start..end, &mut each),
        }
        from = end + possessive_length(&text[end..]);
    }
}

/// Returns the first character at or behind `from` that is part of a word, and its position.
fn first_word_char(text: &str, from: usize) -> Option<(usize, char)> {
    let from = from + run_length(&text.as_bytes()[from..], SIGN);
    let (start, first) = text[from..].char_indices().find(|(_, it)| is_word_char(*it))?;
    Some((from + start, first))
}

/// The classes of bytes and characters: a capital, a small letter, a digit, any other that is not part
/// of a word.
const CAPITAL: u8 = 1;
const SMALL: u8 = 2;
const DIGIT: u8 = 4;
const SIGN: u8 = 8;

/// The class of each byte; 0 outside ASCII.
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        classes[byte as usize] = match byte {
            b'A'..=b'Z' => CAPITAL,
            b'a'..=b'z' => SMALL,
            b'0'..=b'9' => DIGIT,
            _ => SIGN,
        };
        byte += 1;
    }
    classes
};

/// The class of each character below U+0800, which are those of two bytes in UTF-8; 0 for one that
/// only the general rules know, as one that normalization changes. A letter without cases is small.
static CHAR_CLASSES: LazyLock<[u8; 0x800]> = LazyLock::new(|| {
    let mut classes = [0; 0x800];
    for (code, class) in (0..).zip(&mut classes) {
        *class = char::from_u32(code).map_or(0, char_class);
    }
    classes
});

fn char_class(it: char) -> u8 {
    let is_normal = is_nfkc_quick(std::iter::once(it)) == IsNormalized::Yes;
    let mut lower = it.to_lowercase();
    match (lower.next(), lower.next()) {
        _ if !is_word_char(it) => SIGN,
        _ if !is_normal || it.is_numeric() || is_combining_mark(it) => 0,
        (Some(small), None) if it.is_uppercase() && small != it => CAPITAL,
        (Some(small), None) if !it.is_uppercase() && small == it => SMALL,
        _ => 0,
    }
}

/// Returns the class of the character of two bytes at the beginning of a text; 0 for any other.
fn two_byte_class(bytes: &[u8]) -> u8 {
    match bytes {
        [lead @ 0xc2..=0xdf, trail, ..] => {
            CHAR_CLASSES[usize::from(lead & 0x1f) << 6 | usize::from(trail & 0x3f)]
        }
        _ => 0,
    }
}

/// Returns how many bytes at the beginning are of one of the classes.
fn run_length(bytes: &[u8], classes: u8) -> usize {
    bytes.iter().take_while(|it| CLASSES[usize::from(**it)] & classes != 0).count()
}

/// Returns the length of the word at the beginning of a text if it is plain, as most are: a number,
/// capitals of ASCII, or letters of up to two bytes without a capital behind the first, with nothing
/// behind them that could belong to the word.
fn plain_word_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_digit = |it: Option<&u8>| it.is_some_and(u8::is_ascii_digit);
    let length = match CLASSES[usize::from(*bytes.first()?)] {
        DIGIT => run_length(bytes, DIGIT),
        CAPITAL if bytes.get(1).is_some_and(u8::is_ascii_uppercase) => run_length(bytes, CAPITAL),
        CAPITAL | SMALL => small_run_end(bytes, 1),
        0 if matches!(two_byte_class(bytes), CAPITAL | SMALL) => small_run_end(bytes, 2),
        _ => return None,
    };
    let is_end = match text[length..].chars().next() {
        None => true,
        Some('_' | '-' | '\u{2010}' | '\u{2011}') => false,
        Some('.' | ',' | ':') => {
            !is_digit(bytes.get(length - 1)) || !is_digit(bytes.get(length + 1))
        }
        Some(it) => !is_word_char(it),
    };
    (is_end && length <= MAX_WORD_BYTES).then_some(length)
}

/// Returns where the small letters and the digits that begin at `from` end.
fn small_run_end(bytes: &[u8], from: usize) -> usize {
    let mut end = from + run_length(&bytes[from..], SMALL | DIGIT);
    while two_byte_class(&bytes[end..]) == SMALL {
        end += 2;
        end += run_length(&bytes[end..], SMALL | DIGIT);
    }
    end
}

/// Returns the length of the run of letters at the beginning of `text`, including the
/// characters that join an identifier or a number.
fn letter_run_length(text: &str, unspaced: bool) -> usize {
    let plain = if unspaced { 0 } else { run_length(text.as_bytes(), CAPITAL | SMALL | DIGIT) };
    let mut signs = text[plain..].char_indices().peekable();
    let mut last = text[..plain].chars().next_back().unwrap_or(' ');
    while let Some((at, it)) = signs.next() {
        let goes_on = match signs.peek() {
            _ if is_word_char(it) => is_unspaced_script(it) == unspaced,
            Some((_, next)) if !unspaced && is_word_char(*next) && !is_unspaced_script(*next) => {
                match it {
                    '_' | '-' | '\u{2010}' | '\u{2011}' => true,
                    '.' | ',' | ':' => last.is_ascii_digit() && next.is_ascii_digit(),
                    _ => false,
                }
            }
            _ => false,
        };
        if !goes_on {
            return plain + at;
        }
        last = it;
    }
    text.len()
}

/// Returns the length of the possessive ending: `'s` in `Anna's`.
fn possessive_length(rest: &str) -> usize {
    if !rest.starts_with(['\'', '’']) {
        return 0;
    }
    let ending = ["'s", "’s"].iter().find(|it| rest.starts_with(**it));
    let ends = |it: &&&str| !rest[it.len()..].starts_with(is_word_char);
    ending.filter(ends).map_or(0, |it| it.len())
}

/// Calls `each` for every pair of adjacent characters, or for the only character.
fn for_each_char_pair(chunk: &str, clean: &str, from: usize, each: &mut impl FnMut(Word<'_>)) {
    let starts: Vec<usize> = clean.char_indices().map(|(at, _)| at).chain([clean.len()]).collect();
    let script = Script::Unspaced;
    for pair in starts.windows(3.min(starts.len())) {
        let (start, end) = (pair[0], pair[pair.len() - 1]);
        let at = match chunk == clean {
            true => from + start..from + end,
            false => from..from + chunk.len(),
        };
        each(Word { text: &clean[start..end], script, range: at, is_compound: false });
    }
}

/// Calls `each` for every part of an identifier and then for the whole, or for the one word.
fn for_each_identifier_part(clean: &str, at: Range<usize>, each: &mut impl FnMut(Word<'_>)) {
    let mut whole = String::new();
    let mut number = 0;
    let mut emit = |text: &str, whole: bool| {
        let text = byte_prefix(text, MAX_WORD_BYTES);
        each(Word { text, script: script_of_word(text), range: at.clone(), is_compound: whole });
    };
    for piece in clean.split(|it: char| !is_word_char(it)) {
        let joint = clean[..piece.as_ptr() as usize - clean.as_ptr() as usize].chars().next_back();
        if matches!(joint, Some('.' | ',' | ':')) {
            whole.push('.');
        }
        for part in split_camel_case(piece) {
            let part = lowercase(part);
            let part = strip_ordinal_suffix(&part);
            emit(part, false);
            whole.push_str(part);
            number += 1;
        }
    }
    if number > 1 {
        emit(&whole, true);
    }
}

/// Splits `parseDeviceId` and `HTTPServer` where a new word begins.
fn split_camel_case(piece: &str) -> impl Iterator<Item = &str> {
    let mut rest = piece;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (part, left) = rest.split_at(camel_case_part_length(rest));
        rest = left;
        Some(part)
    })
}

fn camel_case_part_length(piece: &str) -> usize {
    if !piece.bytes().skip(1).any(|it| it.is_ascii_uppercase() || !it.is_ascii()) {
        return piece.len();
    }
    let mut signs = piece.char_indices().peekable();
    let mut last: Option<char> = None;
    while let Some((at, it)) = signs.next() {
        let next = signs.peek().map(|(_, next)| *next);
        let begins = it.is_uppercase()
            && last
                .is_some_and(|last| !last.is_uppercase() || next.is_some_and(char::is_lowercase));
        if begins {
            return at;
        }
        last = Some(it);
    }
    piece.len()
}

/// Removes the suffix of `3rd` and `12th`.
fn strip_ordinal_suffix(part: &str) -> &str {
    if !part.starts_with(|it: char| it.is_ascii_digit()) {
        return part;
    }
    let number = ["st", "nd", "rd", "th"].iter().find_map(|it| part.strip_suffix(it));
    number.filter(|it| it.bytes().all(|it| it.is_ascii_digit())).unwrap_or(part)
}

fn lowercase(text: &str) -> Cow<'_, str> {
    match text.bytes().any(|it| it.is_ascii_uppercase() || !it.is_ascii()) {
        true => Cow::Owned(text.to_lowercase()),
        false => Cow::Borrowed(text),
    }
}

fn normalize_nfkc(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfkc_quick(text.chars()) == IsNormalized::Yes {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.nfkc().collect())
}

/// Returns the first `length` bytes of a text, or fewer, so that no character is split.
pub(super) fn byte_prefix(text: &str, length: usize) -> &str {
    let end = (0..=length.min(text.len())).rev().find(|it| text.is_char_boundary(*it));
    &text[..end.unwrap_or_default()]
}

/// Returns true if a character is part of a word.
pub(super) fn is_word_char(it: char) -> bool {
    if it.is_ascii() {
        return it.is_ascii_alphanumeric();
    }
    is_unspaced_script(it) || it.is_alphanumeric() || is_combining_mark(it)
}

/// Returns true if the script of `it` has no spaces between words.
pub(super) fn is_unspaced_script(it: char) -> bool {
    !it.is_ascii()
        && matches!(u32::from(it),
            0x0e01..=0x0e3a | 0x0e40..=0x0e4e // Thai
            | 0x0e81..=0x0ece // Lao
            | 0x1000..=0x109f // Myanmar
            | 0x1780..=0x17d3 // Khmer
            | 0x3041..=0x3096 | 0x3099..=0x30fa | 0x30fc..=0x30ff // Hiragana, Katakana
            | 0x3005..=0x3007 | 0x3400..=0x4dbf | 0x4e00..=0x9fff // Han
            | 0xf900..=0xfaff | 0x20000..=0x2fa1f | 0x30000..=0x323af
            | 0x1100..=0x11ff | 0xac00..=0xd7a3 // Hangul
            | 0xff66..=0xff9f) // Katakana of half width
}

fn script_of_word(word: &str) -> Script {
    match word.chars().next().map(u32::from) {
        Some(0x61..=0x7a | 0xaa | 0xba | 0xc0..=0x24f | 0x1e00..=0x1eff) => Script::Latin,
        Some(0x370..=0x3ff | 0x1f00..=0x1fff) => Script::Greek,
        Some(0x400..=0x52f) => Script::Cyrillic,
        Some(0x600..=0x6ff | 0x750..=0x77f) => Script::Arabic,
        _ => Script::Other,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(text: &str) -> String {
        let mut words = Vec::new();
        for_each_word(text, |it| {
            words.push(if it.is_compound { format!("={}", it.text) } else { it.text.into() });
        });
        words.join(" ")
    }

    #[test]
    fn words_are_runs_of_letters_in_lower_case() {
        assert_eq!(split("The Stasis: is *data*!"), "the stasis is data");
        assert_eq!(split("Anna's and Noor’s, l'eau"), "anna and noor l eau");
        assert_eq!(split("Ｆ２８ ﬁne Ünal İzmir"), "f28 fine ünal i\u{307}zmir");
        assert_eq!(split(""), "");
    }

    #[test]
    fn identifiers_are_split_and_also_kept_whole() {
        let same = "parse device id =parsedeviceid";
        for spelt in ["parse_device_id", "parseDeviceId", "parse-device-id", "ParseDeviceID"] {
            assert_eq!(split(spelt), same);
        }
        assert_eq!(split("HTTPServer.run()"), "http server =httpserver run");
        assert_eq!(split("engine::plan TP-3002"), "engine plan tp 3002 =tp3002");
        assert_eq!(split("-x --link _private_"), "x link private");
    }

    #[test]
    fn numbers_and_dates_are_split_and_also_kept_whole() {
        assert_eq!(split("3.5 bar at 16:00."), "3 5 =3.5 bar at 16 00 =16.00");
        assert_eq!(split("2025-03-12, the 12th"), "2025 03 12 =20250312 the 12");
    }

    #[test]
    fn scripts_without_spaces_are_split_into_pairs() {
        assert_eq!(split("東京タワー is"), "東京 京タ タワ ワー is");
        assert_eq!(split("5月8日"), "5 月 8 日");
        assert_eq!(split("회의 시간"), "회의 시간");
        assert_eq!(split("ｶﾞﾗｽ"), "ガラ ラス");
    }

    #[test]
    fn every_word_has_its_position_in_the_text() {
        let text = "Ünal likes 東京塔.";
        let mut places = Vec::new();
        for_each_word(text, |it| places.push(text[it.range].to_owned()));
        assert_eq!(places, ["Ünal", "likes", "東京", "京塔"]);
    }

    #[test]
    fn most_words_of_alphabets_are_plain() {
        for word in
            ["milk", "Ziege", "größe", "Übung", "été", "Молоко", "γάλα", "Γάλα", "حليب", "חלב"]
        {
            assert_eq!(plain_word_length(&format!("{word}, {word}")), Some(word.len()), "{word}");
        }
        for other in ["İzmir", "ǅ", "ªn", "e\u{301}", "МОЛОКО", "حَليب", "٣", "½", "größeA"]
        {
            assert_eq!(plain_word_length(other), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn a_plain_word_is_split_as_any_other(text in "([A-Z]{0,3}|[0-9]{0,3}|[\u{80}-\u{7ff}])[a-zäßжωςع\u{80}-\u{7ff}]{0,3}[a-zA-Z0-9'’_.,: é\u{301}\u{2010}東-]{0,6}") {
            if let Some(length) = plain_word_length(&text) {
                prop_assert_eq!(letter_run_length(&text, false), length);
                let (word, mut expected, mut words) = (&text[..length], Vec::new(), Vec::new());
                for_each_identifier_part(&normalize_nfkc(word), 0..length, &mut |it| {
                    expected.push((it.text.to_owned(), it.script, it.is_compound));
                });
                for_each_word(word, |it| words.push((it.text.to_owned(), it.script, it.is_compound)));
                prop_assert_eq!(words, expected);
            }
        }
    }

    #[test]
    fn words_have_a_maximum_length() {
        let mut lengths = Vec::new();
        for_each_word(&"ä".repeat(1_000), |it| lengths.push(it.text.len()));
        assert_eq!(lengths, [64]);
    }
}
