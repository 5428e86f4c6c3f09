//! Lone surrogates in JSON (`\ud83d`), which programs write that cut texts in UTF-16.

/// The hex digits of the replacement character (U+FFFD).
const REPLACEMENT_ESCAPE: &[u8] = b"fffd";

/// One half of a surrogate pair.
#[derive(PartialEq, Eq)]
enum Surrogate {
    High,
    Low,
}

/// Replaces each lone surrogate in a JSON text, in place, by the replacement character.
pub fn replace_lone_surrogates(json: &mut [u8]) {
    let mut at = 0;
    while at < json.len() {
        let length = match leading_surrogate_escape(&json[at..]) {
            Some(Surrogate::High)
                if leading_surrogate_escape(&json[at + 6..]) == Some(Surrogate::Low) =>
            {
                12
            }
            Some(_) => {
                json[at + 2..at + 6].copy_from_slice(REPLACEMENT_ESCAPE);
                6
            }
            // An escaped backslash starts no escape.
            None if json[at] == b'\\' => 2,
            None => 1,
        };
        at += length;
    }
}

fn leading_surrogate_escape(text: &[u8]) -> Option<Surrogate> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    match u16::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()? {
        0xd800..=0xdbff => Some(Surrogate::High),
        0xdc00..=0xdfff => Some(Surrogate::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates_are_replaced_and_nothing_else_changes() {
        for (input, expected) in [
            (r#"{"a":"cut \ud83d"}"#, r#"{"a":"cut \ufffd"}"#),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\uDE00\uD83D""#, r#""\ufffd\ufffd""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\\ud83d \\\ud83d""#, r#""\\ud83d \\\ufffd""#),
            (r#""\u00e9\n\""#, r#""\u00e9\n\""#),
            (r"\ud8", r"\ud8"),
            ("\\", "\\"),
        ] {
            let mut line = input.as_bytes().to_vec();
            replace_lone_surrogates(&mut line);
            assert_eq!(String::from_utf8(line).unwrap(), expected);
        }
    }
}
