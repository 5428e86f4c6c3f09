//! Splits long texts into passages, because the answer to a query is usually in one place.

use std::ops::Range;

use crate::search::words::byte_prefix;

/// Target length of a passage: some sentences.
const PASSAGE_BYTES: usize = 600;

/// Splits a text at line breaks and between sentences into passages of about the same length;
/// returns their ranges. A short text is one passage.
pub(super) fn split_passages(text: &str) -> Vec<Range<usize>> {
    if text.len() <= PASSAGE_BYTES + PASSAGE_BYTES / 2 {
        return std::iter::once(0..text.len()).collect();
    }
    let mut passages: Vec<Range<usize>> = Vec::new();
    for piece in split_sentences(text) {
        match passages.last_mut() {
            Some(last) if piece.end - last.start <= PASSAGE_BYTES => last.end = piece.end,
            _ => passages.push(piece),
        }
    }
    passages
}

/// Yields the sentences and lines of a text, none longer than a passage.
fn split_sentences(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let rest = &text[from..];
        if rest.is_empty() {
            return None;
        }
        let piece = from..from + sentence_end(rest);
        from = piece.end;
        Some(piece)
    })
}

/// Returns true if a character that ends a sentence may begin with a byte: those outside ASCII are
/// `؟`, `۔`, `…`, `。`, `！` and `？`.
fn may_end_sentence(byte: u8) -> bool {
    matches!(byte, b'\n' | b'.' | b'!' | b'?' | 0xd8 | 0xdb | 0xe2 | 0xe3 | 0xef)
}

fn sentence_end(rest: &str) -> usize {
    let near = byte_prefix(rest, PASSAGE_BYTES);
    let mut at = 0;
    while let Some(skipped) = near.as_bytes()[at..].iter().position(|it| may_end_sentence(*it)) {
        let mut signs = near[at + skipped..].chars();
        let (sign, next) = (signs.next(), signs.next());
        at += skipped + sign.map_or(0, char::len_utf8);
        match (sign, next.filter(|it| it.is_whitespace())) {
            (Some('\n' | '。' | '！' | '？' | '۔'), _) => return at,
            (Some('.' | '!' | '?' | '…' | '؟'), Some(space)) => return at + space.len_utf8(),
            _ => {}
        }
    }
    if near.len() == rest.len() {
        return rest.len();
    }
    // A sentence longer than a passage is split between words if possible.
    let last = near.rmatch_indices(char::is_whitespace).next();
    last.map_or(near.len(), |(at, blank)| at + blank.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn passage_texts(text: &str) -> Vec<&str> {
        split_passages(text).into_iter().map(|it| &text[it]).collect()
    }

    #[test]
    fn a_short_text_is_one_passage() {
        assert_eq!(passage_texts("One. Two.\nThree."), ["One. Two.\nThree."]);
        assert_eq!(passage_texts(""), [""]);
    }

    #[test]
    fn a_long_text_is_cut_between_sentences_and_nothing_is_lost() {
        let sentence = "Here is a sentence of nearly sixty letters to read slowly. ";
        let text = sentence.repeat(25);
        let cut = passage_texts(&text);
        assert_eq!(cut.concat(), text);
        assert_eq!(cut[0], sentence.repeat(10));
    }

    proptest! {
        #[test]
        fn any_text_is_cut_without_loss(
            text in "([a-d]{0,9}|[é漢.。])([ \u{a0}\u{2028}\u{3000}]?|\n)".prop_map(|it| it.repeat(400))
        ) {
            let cut = passage_texts(&text);
            prop_assert_eq!(cut.concat(), text);
        }
    }

    #[test]
    fn texts_without_sentences_or_words_are_cut_too() {
        for text in [
            "x".repeat(2_000),
            "é ".repeat(900),
            "漢".repeat(500),
            "\n".repeat(999),
            "漢\u{3000}".repeat(400),
        ] {
            let cut = passage_texts(&text);
            assert_eq!(cut.concat(), text);
            assert!(cut.iter().all(|it| it.len() <= PASSAGE_BYTES && !it.is_empty()), "{cut:?}");
        }
    }
}
