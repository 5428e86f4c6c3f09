//! The lines a client says, before they are taken for messages.
//!
//! What no reader of JSON takes for a message has no answer, and who sent it would
//! wait for ever. So of a request that cannot be read another is made, under its
//! `id`, that can be refused; and characters that were cut in half, as programs do
//! that count in UTF-16 and write half of one as an escape, `\ud83d`, are marked.

mod outline;

use serde_json::Value;
use tokio::io::{self, AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _};
use tokio::io::{AsyncWriteExt as _, BufReader, DuplexStream, duplex};

use crate::mcp::lines::outline::Outline;

/// How many bytes wait to be read.
const WAITING: usize = 64 * 1024;
/// A longer line is not read.
const LONGEST: usize = 16 * 1024 * 1024;
/// What is asked instead of what cannot be read; the parameter `why` says why.
pub(super) const UNREAD: &str = "palazzo/unread";
/// What stands for a character that cannot be known (U+FFFD).
const UNKNOWN: &[u8] = b"fffd";

/// One of two escapes that together are a character.
#[derive(PartialEq, Eq)]
enum Half {
    First,
    Second,
}

/// Passes on what `input` says, with the mark of an unknown character for each
/// half that has lost the other, and [`UNREAD`] in place of what is no message.
pub(super) fn passed_on(input: impl AsyncRead + Send + Unpin + 'static) -> DuplexStream {
    let (mut say, hear) = duplex(WAITING);
    tokio::spawn(async move {
        let mut input = BufReader::new(input);
        while let Ok(Some(line)) = next(&mut input).await {
            if say.write_all(&line).await.is_err() {
                return;
            }
        }
    });
    hear
}

/// Reads a line, with its end; `None`: there is no more.
async fn next(input: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Vec<u8>>> {
    let mut line = read(input).await?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.len() < LONGEST {
        mend(&mut line);
        let why = serde_json::from_slice::<Value>(&line).err().map(|it| it.to_string());
        let refused = why.and_then(|why| Outline::of(&line).refused(&why));
        return Ok(Some(refused.unwrap_or(line)));
    }
    let mut outline = Outline::of(&line);
    while !line.is_empty() && !line.ends_with(b"\n") {
        line = read(input).await?;
        outline.add(&line);
    }
    Ok(Some(outline.refused("it has more than 16 MiB").unwrap_or_default()))
}

async fn read(input: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    input.take(LONGEST as u64).read_until(b'\n', &mut line).await?;
    Ok(line)
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
