//! Finds private keys between the lines `-----BEGIN … PRIVATE KEY-----` and `-----END …`: of
//! OpenSSL, OpenSSH and PGP, also in a string of JSON or of a program, indented or quoted, and with
//! one of the two lines missing.

use std::ops::Range;

use crate::model::secret::kind::{Secret, SecretKind};
use crate::model::secret::placeholder::looks_random;

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &str = "-----";

/// The maximum length of what stands between `BEGIN` and the dashes.
const MAX_LABEL_LEN: usize = 48;

/// The maximum length of a key; one of RSA with 16,384 bits has 13,000 characters.
const MAX_KEY_LEN: usize = 32_768;

/// The characters in front of the lines of a key that is quoted.
const INDENTATION: [char; 4] = [' ', '\t', '>', '|'];

/// The minimum number of characters of base64 that are taken for a part of a key.
const MIN_RUN_LEN: usize = 16;

/// Returns the private key whose first or last line begins at `at`; it begins at `free` or later.
pub(super) fn private_key_at(text: &str, at: usize, free: usize) -> Option<Secret> {
    let range = match label_end(text, at, BEGIN) {
        Some(body) => at..key_end(text, body)?,
        None => key_start(text, at, free)?..label_end(text, at, END)?,
    };
    Some(Secret { range, kind: SecretKind::PRIVATE_KEY })
}

/// Returns the end of the line of dashes that begins at `at` with `prefix`, if it is that of a
/// private key.
fn label_end(text: &str, at: usize, prefix: &str) -> Option<usize> {
    let label = text.get(at..)?.strip_prefix(prefix)?;
    let is_label = |it: &&u8| it.is_ascii_alphanumeric() || **it == b' ';
    let len = label.bytes().take(MAX_LABEL_LEN).take_while(|it| is_label(&it)).count();
    let is_private = label[..len].contains("PRIVATE KEY") && label[len..].starts_with(DASHES);
    is_private.then_some(at + prefix.len() + len + DASHES.len())
}

/// Returns the end of the key whose first line ends at `body`.
fn key_end(text: &str, body: usize) -> Option<usize> {
    let mut limit = text.len().min(body + MAX_KEY_LEN);
    while !text.is_char_boundary(limit) {
        limit -= 1;
    }
    let dashes = text[body..limit].find(DASHES).map(|it| body + it);
    let end = dashes.and_then(|it| Some((it, label_end(text, it, END)?)));
    match end {
        Some((last_line, end)) => has_key_material(&text[body..last_line]).then_some(end),
        None => unfinished_key_end(text, body..dashes.unwrap_or(limit)),
    }
}

/// Returns whether a text contains base64 that looks like a part of a key.
fn has_key_material(text: &str) -> bool {
    let runs = text.split(|it: char| !it.is_ascii() || !is_base64(it as u8));
    // In `\nMIIE`, the letter behind the backslash does not harm.
    let has_run = runs.into_iter().any(|it| it.len() >= MIN_RUN_LEN && looks_random(it));
    has_run && !text.contains("[redacted: ")
}

/// Returns the end of a key without a last line: that of the last run of base64 before anything
/// that does not belong to a key.
fn unfinished_key_end(text: &str, body: Range<usize>) -> Option<usize> {
    let (bytes, mut at, mut end) = (text.as_bytes(), body.start, None);
    while at < body.end {
        let rest = &bytes[at..body.end];
        let skipped = separator_len(rest) + header_len(&rest[separator_len(rest)..]);
        let run_start = at + skipped;
        let run = bytes[run_start..body.end].iter().take_while(|it| is_base64(**it)).count();
        let is_last = end.is_some() && is_last_line(&bytes[run_start..body.end], run);
        if run < MIN_RUN_LEN && !is_last {
            // A header may be followed by another one.
            if run == 0 && skipped > separator_len(rest) {
                at = run_start;
                continue;
            }
            break;
        }
        if end.is_none() && !looks_random(&text[run_start..run_start + run]) {
            return None;
        }
        at = run_start + run;
        end = Some(at);
    }
    end
}

/// Returns whether the first `len` bytes are the short last line of a key, and no word.
fn is_last_line(bytes: &[u8], len: usize) -> bool {
    let line = String::from_utf8_lossy(&bytes[..len]);
    let is_whole = bytes.get(len).is_none_or(|it| b"\r\n\"'\\".contains(it));
    let has_signs = line.contains(|it: char| it.is_ascii_digit() || "+/=".contains(it));
    let has_capital_inside = line.chars().skip(1).any(|it| it.is_ascii_uppercase());
    is_whole && len > 0 && (has_signs || has_capital_inside)
}

/// Returns the length of the line breaks, quotation marks and signs between the lines of a key.
fn separator_len(bytes: &[u8]) -> usize {
    let mut len = 0;
    while let Some(it) = bytes.get(len) {
        len += match it {
            b'\\' if matches!(bytes.get(len + 1), Some(b'n' | b'r' | b'\\')) => 2,
            // The `n` behind two backslashes.
            b'n' if len >= 2 && bytes[len - 2..len] == *b"\\\\" => 1,
            b'+' if bytes.get(len + 1).is_some_and(u8::is_ascii_whitespace) => 1,
            _ if it.is_ascii_whitespace() || b"\"'>|,(".contains(it) => 1,
            _ => break,
        };
    }
    len
}

/// Returns the length of a line such as `Proc-Type: 4,ENCRYPTED`; 0 if there is none.
fn header_len(bytes: &[u8]) -> usize {
    let name = bytes.iter().take_while(|it| it.is_ascii_alphanumeric() || **it == b'-').count();
    let is_header = (1..=30).contains(&name) && bytes[name..].starts_with(b": ");
    match is_header {
        true => bytes.iter().take_while(|it| !matches!(**it, b'\n' | b'\r' | b'\\')).count(),
        false => 0,
    }
}

/// Returns the start of the key whose last line begins at `at`: that of the lines of base64 before.
fn key_start(text: &str, at: usize, free: usize) -> Option<usize> {
    label_end(text, at, END)?;
    let mut earliest = at.saturating_sub(MAX_KEY_LEN).max(free);
    while !text.is_char_boundary(earliest) {
        earliest += 1;
    }
    let mut start = None;
    let mut lines = text[earliest..at].split('\n').rev();
    let mut line_end = at;
    // The last line stands before the dashes, and may be empty or an indentation.
    let indentation = lines.next().filter(|it| it.trim_start_matches(INDENTATION).is_empty())?;
    line_end -= indentation.len();
    for line in lines {
        line_end = line_end.saturating_sub(1);
        let content = line.trim_start_matches(INDENTATION);
        let run = content.trim_end_matches(['\r', ' ']);
        let line_start = line_end - line.len();
        let is_run = !run.is_empty() && run.bytes().all(is_base64);
        if !is_run || (run.len() < MIN_RUN_LEN && start.is_some()) {
            break;
        }
        start = Some(line_end - content.len());
        line_end = line_start;
    }
    start.filter(|it| has_key_material(&text[*it..at]))
}

fn is_base64(it: u8) -> bool {
    it.is_ascii_alphanumeric() || matches!(it, b'+' | b'/' | b'=')
}
