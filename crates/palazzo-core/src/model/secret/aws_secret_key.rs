//! Finds the secret half of an access key of AWS: forty characters of base64 behind its name.

use crate::model::secret::kind::{Secret, SecretKind};
use crate::model::secret::placeholder::{is_example, looks_random};

/// The names of the key in files and answers of AWS, without case and underscores.
const NAMES: [&str; 4] =
    ["awssecretaccesskey", "awssecretkey", "secretaccesskey", "s3secretaccesskey"];

/// The length of a key.
const KEY_LEN: usize = 40;

/// The maximum number of characters between the name and the key.
const MAX_SEPARATORS: usize = 12;

/// Returns the key whose name begins at `at`.
pub(super) fn aws_secret_key_at(text: &str, at: usize) -> Option<Secret> {
    let rest = &text.as_bytes()[at..];
    let longest = NAMES[0].len() + 4;
    let is_name = |it: &&u8| it.is_ascii_alphanumeric() || **it == b'_';
    let name_len = rest.iter().take(longest).take_while(is_name).count();
    let letters = rest[..name_len].iter().filter(|it| **it != b'_').map(u8::to_ascii_lowercase);
    if !NAMES.iter().any(|it| letters.clone().eq(it.bytes())) {
        return None;
    }
    let is_separator =
        |it: &&u8| matches!(**it, b' ' | b'\t' | b'"' | b'\'' | b'\\' | b'=' | b':' | b'>');
    let between = rest[name_len..].iter().take(MAX_SEPARATORS).take_while(is_separator).count();
    let start = at + name_len + between;
    let is_base64 = |it: &&u8| it.is_ascii_alphanumeric() || matches!(**it, b'+' | b'/');
    let bytes = &text.as_bytes()[start..];
    let len = bytes.iter().take(KEY_LEN + 1).take_while(is_base64).count();
    let key = text.get(start..start + len).filter(|_| len == KEY_LEN && between > 0)?;
    (looks_random(key) && !is_example(key))
        .then_some(Secret { range: start..start + len, kind: SecretKind::AWS_SECRET_KEY })
}
