//! Finds private keys between the lines `-----BEGIN … PRIVATE KEY-----` and `-----END …`: of
//! OpenSSL, OpenSSH and PGP, also in a string of JSON or of a program, indented or quoted, with one
//! of the two lines missing, and the same in base64, as Kubernetes contains them.

use std::ops::Range;

use crate::model::secret::json_web_token::decode_base64;
use crate::model::secret::kind::{Secret, SecretKind};
use crate::model::secret::placeholder::looks_random;

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &str = "-----";

/// The maximum length of what stands between `BEGIN` and the dashes.
const MAX_LABEL_LEN: usize = 48;

/// What `BEGIN` is in base64.
const ENCODED_BEGIN: &str = "LS0tLS1CRUdJTi";

/// The length of the beginning of a key in base64 that is decoded: the first line of the key, and
/// some of the second.
const MAX_DECODED_LEN: usize = 256;

/// The minimum length of a line of base64 that is continued by the next one.
const MIN_LINE_LEN: usize = 60;

/// The maximum length of a key without a first line; one of RSA with 16,384 bits has 13,000
/// characters.
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

/// Returns the private key in base64 that begins at `at`.
pub(super) fn encoded_key_at(text: &str, at: usize) -> Option<Secret> {
    if !text[at..].starts_with(ENCODED_BEGIN) {
        return None;
    }
    let (beginning, _) = encoded_lines(text, at, MAX_DECODED_LEN);
    let decoded = decode_base64(&beginning)?;
    let decoded = String::from_utf8_lossy(&decoded);
    let body = label_end(&decoded, 0, BEGIN)?;
    has_key_material(&decoded[body..]).then(|| {
        let (_, end) = encoded_lines(text, at, usize::MAX);
        Secret { range: at..end, kind: SecretKind::PRIVATE_KEY }
    })
}

/// Returns the lines of base64 from `at` on without their line breaks, at most `max` characters,
/// and where they end. They have equal lengths, except for the last one.
fn encoded_lines(text: &str, at: usize, max: usize) -> (String, usize) {
    let bytes = text.as_bytes();
    let run_at =
        |at: usize, max| bytes[at..].iter().take(max).take_while(|it| is_base64(**it)).count();
    let mut run = run_at(at, max);
    let (mut lines, mut end) = (text[at..at + run].to_owned(), at + run);
    while run >= MIN_LINE_LEN && lines.len() < max {
        let line = end + separator_len(&bytes[end..]);
        run = run_at(line, max - lines.len()).min(run);
        if line == end || (run < MIN_LINE_LEN && !is_last_line(&bytes[line..], run)) {
            break;
        }
        end = line + run;
        lines.push_str(&text[line..end]);
    }
    (lines, end)
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
    let dashes = text[body..].find(DASHES).map(|it| body + it);
    let end = dashes.and_then(|it| Some((it, label_end(text, it, END)?)));
    let whole = end.filter(|(last_line, _)| has_key_material(&text[body..*last_line]));
    let unfinished = || unfinished_key_end(text, body..dashes.unwrap_or(text.len()));
    whole.map(|(_, end)| end).or_else(unfinished)
}

/// Returns whether a text consists for the greater part of base64 that looks like that of a key,
/// and is no sentence between two lines that it only names.
fn has_key_material(text: &str) -> bool {
    // In `\nMIIE`, the letter behind the backslash does not harm.
    let runs = text.split(|it: char| !it.is_ascii() || !is_base64(it as u8));
    let runs = runs.filter(|it| it.len() >= MIN_RUN_LEN);
    let (mut len, mut looks_like_key) = (0, false);
    for run in runs {
        len += run.len();
        looks_like_key |= looks_random(run);
    }
    let letters = text.chars().filter(|it| it.is_alphanumeric()).count();
    let has_letters_of_key = looks_like_key && 4 * len >= 3 * letters;
    has_letters_of_key && !is_behind_quotation(text) && !text.contains("[redacted: ")
}

/// Returns whether a text continues a sentence behind a quotation: `` `-----BEGIN …-----` is ``.
fn is_behind_quotation(text: &str) -> bool {
    let rest = text.strip_prefix(['"', '\'']).and_then(|it| it.strip_prefix(' '));
    text.starts_with('`') || rest.is_some_and(|it| it.starts_with(|it: char| it.is_lowercase()))
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

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "k9fjw2LmQzRtXk39fjw2LmQzRtXk39fjw2LmQzRtXk39fjw2LmQzRtXk39fjw2Lm";

    #[test]
    fn a_sentence_that_names_both_lines_is_no_key() {
        for quote in ["`", "\"", "'"] {
            let named = |which| format!("{quote}-----{which} RSA PRIVATE KEY-----{quote}");
            let text = format!("{} begins it, {LINE} is text, {}.", named("BEGIN"), named("END"));
            assert_eq!(private_key_at(&text, 1, 0), None, "{text}");
        }
    }

    #[test]
    fn a_key_of_any_length_is_found_to_its_last_line() {
        let lines = format!("{LINE}\n").repeat(1_000);
        let key = format!("-----BEGIN PRIVATE KEY-----\n{lines}-----END PRIVATE KEY-----");
        assert_eq!(private_key_at(&format!("{key}\nx"), 0, 0).unwrap().range, 0..key.len());
    }

    #[test]
    fn a_key_that_is_cut_before_other_text_ends_there() {
        let key = format!("-----BEGIN PRIVATE KEY-----\n{LINE}\n{LINE}");
        let text = format!(
            "{key}\n\nand so on, see the many words of this text and all others up \
            to the end, which follow here and are to stay as they are, because nobody wrote a key \
            in them at all, and they say so\n-----END PRIVATE KEY-----"
        );
        assert_eq!(private_key_at(&text, 0, 0).unwrap().range, 0..key.len());
    }

    #[test]
    fn a_key_in_base64_is_found_with_its_lines() {
        // `-----BEGIN PRIVATE KEY-----`, and the first lines of a key.
        let encoded = |rest: &str| format!("{ENCODED_BEGIN}{rest}");
        let lines = [
            &encoded("BQUklWQVRFIEtFWS0tLS0tCk1JSUV2UUlCQURBTkJna3Foa2lHOXcwQkFRRUZB"),
            "QVNDQktjd2dnU2pBZ0VBQW9JQkFRQzdWSlRVdDlVczhjS2oKTUlJRXZRSUJBREFOQmdrcWhraUc5",
            "dzBCQVFFRkFBU0NCS2N3Z2dTakFnRUFBb0lCQVFDN1ZKVFV0OVVzOGNLago=",
        ];
        for separator in ["", "\n", "\n    ", "\\n"] {
            let key = lines.join(separator);
            let found = encoded_key_at(&format!("{key}\n\nthe end"), 0);
            assert_eq!(found.unwrap().range, 0..key.len(), "{separator:?}");
        }
        // The line of a public key, and a first line alone.
        let public = lines[0].replace("BQUklWQVRF", "BQVUJMSUMg");
        assert_eq!(encoded_key_at(&format!("{public}{}", lines[1]), 0), None);
        assert_eq!(encoded_key_at(&encoded("BQUklWQVRFIEtFWS0tLS0tCg=="), 0), None);
    }
}
