//! Characters cut in half: programs that count in UTF-16 cut texts between the
//! two halves of a character, and write half of it as an escape, `\ud83d`. No
//! reader of JSON takes a line with such a half for a message, and who sent it
//! would wait for ever.

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::io::{BufReader, DuplexStream, duplex};

/// How many bytes wait to be read.
const WAITING: usize = 64 * 1024;
/// A longer line is nobody's message, and passed on as it is.
const LONGEST: u64 = 16 * 1024 * 1024;
/// What stands for a character that cannot be known (U+FFFD).
const UNKNOWN: &[u8] = b"fffd";

/// One of two escapes that together are a character.
#[derive(PartialEq, Eq)]
enum Half {
    First,
    Second,
}

/// Passes on what `input` says, with the mark of an unknown character for each
/// half that has lost the other.
pub(super) fn mended(input: impl AsyncRead + Send + Unpin + 'static) -> DuplexStream {
    let (mut say, hear) = duplex(WAITING);
    tokio::spawn(async move {
        let (mut input, mut line) = (BufReader::new(input), Vec::new());
        while let Ok(1..) = (&mut input).take(LONGEST).read_until(b'\n', &mut line).await {
            mend(&mut line);
            if say.write_all(&line).await.is_err() {
                return;
            }
            line.clear();
        }
    });
    hear
}

fn mend(line: &mut [u8]) {
    let mut at = 0;
    while at < line.len() {
        let length = match half(&line[at..]) {
            Some(Half::First) if half(&line[at + 6..]) == Some(Half::Second) => 12,
            Some(_) => {
                line[at + 2..at + 6].copy_from_slice(UNKNOWN);
                6
            }
            // An escaped backslash escapes nothing.
            None if line[at] == b'\\' => 2,
            None => 1,
        };
        at += length;
    }
}

fn half(text: &[u8]) -> Option<Half> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    match u16::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()? {
        0xd800..=0xdbff => Some(Half::First),
        0xdc00..=0xdfff => Some(Half::Second),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_that_have_lost_the_other_are_marked_and_nothing_else_is() {
        for (said, heard) in [
            (r#"{"a":"cut \ud83d"}"#, r#"{"a":"cut \ufffd"}"#),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\uDE00\uD83D""#, r#""\ufffd\ufffd""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\\ud83d \\\ud83d""#, r#""\\ud83d \\\ufffd""#),
            (r#""\u00e9\n\""#, r#""\u00e9\n\""#),
            (r"\ud8", r"\ud8"),
            ("\\", "\\"),
        ] {
            let mut line = said.as_bytes().to_vec();
            mend(&mut line);
            assert_eq!(String::from_utf8(line).unwrap(), heard);
        }
    }
}
