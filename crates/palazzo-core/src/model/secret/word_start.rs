//! Recognises where a word begins, also behind characters that are encoded or control a terminal.

/// The maximum length of the parameters of a terminal sequence, such as `01;31`.
const MAX_SEQUENCE_LEN: usize = 16;

/// Returns whether a word may begin behind a text.
pub(super) fn ends_word(before: &[u8]) -> bool {
    let is_word = before.last().is_some_and(|it| it.is_ascii_alphanumeric() || *it == b'_');
    !is_word || ends_encoded_character(before) || ends_terminal_sequence(before)
}

/// Returns true where, by the last character alone, no word can begin behind a text, and no `_` is. It is
/// quicker than [`ends_word`].
pub(super) fn is_inside_word(before: &[u8]) -> bool {
    // Escapes and terminal sequences end in digits and the other letters.
    let last = before.last();
    last.is_some_and(|it| matches!(it, b'g'..=b'l' | b'o'..=b'q' | b's' | b'u'..=b'z' | b'G'..=b'J' | b'L'..=b'Z'))
}

/// Returns the number of `_` at the end of a text: where Markdown emphasises a word, and between
/// the words of a name.
pub(super) fn count_underscores(before: &[u8]) -> usize {
    before.iter().rev().take(3).take_while(|it| **it == b'_').count()
}

/// Returns whether a text ends with an escape of a string or a URL: `\n`, `\x20`, `\u0022`, `%3D`.
fn ends_encoded_character(before: &[u8]) -> bool {
    let digits = match before {
        [.., b'\\', b'n' | b'r' | b't'] => return true,
        [.., b'%', _, _] | [.., b'\\', b'x', _, _] => 2,
        [.., b'\\', b'u', _, _, _, _] => 4,
        _ => return false,
    };
    before[before.len() - digits..].iter().all(u8::is_ascii_hexdigit)
}

/// Returns whether a text ends with a sequence that sets the colour of a terminal or clears its
/// line, with or without the escape character: `[0;32m`, `[K`.
fn ends_terminal_sequence(before: &[u8]) -> bool {
    let Some((b'm' | b'K', parameters)) = before.split_last() else {
        return false;
    };
    let is_parameter = |it: &&u8| it.is_ascii_digit() || **it == b';';
    let len = parameters.iter().rev().take(MAX_SEQUENCE_LEN).take_while(is_parameter).count();
    parameters[..parameters.len() - len].ends_with(b"[")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_begins_behind_signs_escapes_and_terminal_sequences() {
        for before in
            ["", " ", "=", "ü", "\\n", "\\x20", "\\u003d", "token%3D", "\u{1b}[0;32m", "[32m", "[K"]
        {
            assert!(ends_word(before.as_bytes()), "{before}");
            assert!(!is_inside_word(before.as_bytes()), "{before}");
        }
        for before in ["a", "z", "1", "_", "32m", "\\g", "u003d", "%3", "\\u00zd", "[am"] {
            assert!(!ends_word(before.as_bytes()), "{before}");
        }
    }

    #[test]
    fn most_letters_are_inside_of_a_word() {
        assert!(is_inside_word(b"wo") && !is_inside_word(b"wo_") && !is_inside_word(b"%20"));
    }

    #[test]
    fn underscores_are_counted() {
        assert_eq!(["a", "_", "a__"].map(|it| count_underscores(it.as_bytes())), [0, 1, 2]);
    }
}
