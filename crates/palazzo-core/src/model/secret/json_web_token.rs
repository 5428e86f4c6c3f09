//! Finds JSON Web Tokens: signed ones of three parts (RFC 7515), encrypted ones of five (RFC 7516).

use serde_json::Value;

use crate::model::secret::kind::{Secret, SecretKind};
use crate::model::secret::placeholder::is_example;

/// The maximum length of a header; a real one has fewer than 200 characters, unless it contains a
/// certificate.
const MAX_HEADER_LEN: usize = 4_096;

/// The maximum length of another part.
const MAX_PART_LEN: usize = 65_536;

/// The minimum length of a signature.
const MIN_SIGNATURE_LEN: usize = 20;

/// The payload of the token that jwt.io shows, of which there are copies everywhere.
const KNOWN_EXAMPLE: &str =
    "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ";

/// Returns the JSON Web Token that begins at `at`. The character before must not be one of
/// base64url.
pub(super) fn json_web_token_at(text: &str, at: usize) -> Option<Secret> {
    // The encoded beginnings of `{"`, `{ ` and `{` with a line break.
    if !["eyJ", "eyA", "ewo", "ew0"].iter().any(|it| text[at..].starts_with(it)) {
        return None;
    }
    let header = part_at(text, at, MAX_HEADER_LEN)?;
    let bytes = text.as_bytes();
    if bytes.get(at + header.len()) != Some(&b'.') || !is_header(header) {
        return None;
    }
    let (mut parts, mut end) = (vec![header], at + header.len());
    while parts.len() < 5 && bytes.get(end) == Some(&b'.') {
        let part = part_at(text, end + 1, MAX_PART_LEN)?;
        parts.push(part);
        end += 1 + part.len();
    }
    let (last, end) = match parts.len() {
        5 => (parts[4], end),
        // A full stop after a token ends a sentence.
        _ => (*parts.get(2)?, at + parts[..3].join(".").len()),
    };
    let is_token = last.len() >= MIN_SIGNATURE_LEN && parts[1] != KNOWN_EXAMPLE;
    (is_token && !is_example(last))
        .then_some(Secret { range: at..end, kind: SecretKind::JSON_WEB_TOKEN })
}

/// Returns the characters of base64url from `at` on; `None` if there are more than `max`.
fn part_at(text: &str, at: usize, max: usize) -> Option<&str> {
    let bytes = text.as_bytes().get(at..)?.iter().take(max + 1);
    let is_base64url = |it: &&u8| it.is_ascii_alphanumeric() || matches!(**it, b'-' | b'_');
    let len = bytes.take_while(is_base64url).count();
    text.get(at..at + len).filter(|_| len <= max)
}

/// Returns whether a part is the encoded header of a token.
fn is_header(part: &str) -> bool {
    let header = decode_base64(part).and_then(|it| serde_json::from_slice::<Value>(&it).ok());
    header.is_some_and(|it| it.get("alg").is_some_and(Value::is_string))
}

/// Decodes base64 or base64url, with or without padding.
pub(super) fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut bits, mut bit_count) = (Vec::with_capacity(text.len()), 0_u32, 0);
    for it in text.trim_end_matches('=').bytes() {
        let value = match it {
            b'A'..=b'Z' => it - b'A',
            b'a'..=b'z' => it - b'a' + 26,
            b'0'..=b'9' => it - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = ((bits << 6) | u32::from(value)) & 0xffff;
        bit_count += 6;
        if bit_count >= 8 {
            bit_count -= 8;
            bytes.push(u8::try_from((bits >> bit_count) & 0xff).ok()?);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_decoded_with_and_without_padding() {
        for text in ["YW55IGNhcm5hbA==", "YW55IGNhcm5hbA"] {
            assert_eq!(decode_base64(text).unwrap(), b"any carnal");
        }
        assert_eq!(decode_base64("_-8").unwrap(), decode_base64("/+8=").unwrap());
        assert_eq!(decode_base64("a b"), None);
    }
}
