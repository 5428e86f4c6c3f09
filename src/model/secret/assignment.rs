//! Finds the values of variables whose names end in `KEY`, `TOKEN`, `SECRET` or `PASSWORD`: in
//! shells, `.env` files, `Dockerfile`s, YAML, JSON and source code. The names are in capitals.

use crate::model::secret::kind::{Secret, SecretKind};
use crate::model::secret::placeholder::{is_example, is_placeholder, looks_random};

/// The maximum length of a name.
const MAX_NAME_LEN: usize = 100;

/// The maximum length of a value.
const MAX_VALUE_LEN: usize = 1_024;

/// The endings of names, and the kinds of the values.
const ENDINGS: [(&str, SecretKind); 6] = [
    ("KEY", SecretKind::KEY),
    ("TOKEN", SecretKind::TOKEN),
    ("SECRET", SecretKind::SECRET),
    ("PASSWORD", SecretKind::PASSWORD),
    ("PASSWD", SecretKind::PASSWORD),
    ("PASSPHRASE", SecretKind::PASSWORD),
];

/// The words in front of `KEY` without `_` that make it a key and not a `MONKEY`.
const KEY_WORDS: [&str; 8] =
    ["API", "AUTH", "ACCESS", "SECRET", "PRIVATE", "SIGNING", "ENCRYPTION", "MASTER"];

/// The last words in front of `_KEY` and `_TOKEN` with which the value is no secret.
const OPEN_WORDS: [&str; 26] = [
    "PRIMARY",
    "FOREIGN",
    "SORT",
    "PARTITION",
    "RANGE",
    "HASH",
    "CACHE",
    "GROUP",
    "ROUTING",
    "UNIQUE",
    "OBJECT",
    "LOOKUP",
    "INDEX",
    "HOT",
    "NEXT",
    "PAGE",
    "CONTINUATION",
    "EOS",
    "BOS",
    "PAD",
    "UNK",
    "MASK",
    "SEP",
    "CLS",
    "START",
    "END",
];

/// The words that make everything public.
const PUBLIC_WORDS: [&str; 3] = ["PUBLIC", "PUBLISHABLE", "PUB"];

/// The words in front of a name after which its value is taken as it is.
const EXPORT_WORDS: [&str; 7] =
    ["export ", "declare -x ", "typeset -x ", "set ", "$env:", "-e ", "--env "];

/// The words in front of a name and a value without `=`.
const SETTING_WORDS: [&str; 5] = ["setx ", "set -x ", "set -gx ", "set -Ux ", "ENV "];

/// The least that a value without `export` has.
const MIN_PLAIN_LEN: usize = 6;

/// The form of an assignment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `export NAME=value`, and the like of other shells.
    Exported,
    /// `NAME=value`
    Plain,
    /// `NAME = "value"` or `NAME: value`
    Spaced,
}

/// Returns the secret value of the variable whose name begins at `at`. If its value is a secret of
/// a kind of its own, `is_specific` says so for the place where the value begins.
pub(super) fn assigned_secret_at(
    text: &str,
    at: usize,
    specific_at: impl Fn(usize) -> Option<Secret>,
) -> Option<Secret> {
    let name = name_at(text, at)?;
    let kind = kind_of_name(name)?;
    let name_end = at + name.len();
    let (form, start) = value_start(text, at, name_end)?;
    let (start, end, is_quoted) = value_at(text, start, form)?;
    if let Some(secret) = specific_at(start) {
        return Some(secret);
    }
    let value = &text[start..end];
    let is_secret = !is_placeholder(value)
        && (kind == SecretKind::PASSWORD || !is_example(value))
        && !is_path_or_url(value)
        && match form {
            Form::Exported => is_exported_secret(value, kind),
            Form::Plain => is_plain_secret(value, kind, is_quoted),
            Form::Spaced => is_spaced_secret(value, kind),
        };
    is_secret.then_some(Secret { range: start..end, kind })
}

/// Returns the name in capitals that begins at `at`.
fn name_at(text: &str, at: usize) -> Option<&str> {
    let is_name = |it: &&u8| it.is_ascii_uppercase() || it.is_ascii_digit() || **it == b'_';
    let len = text.as_bytes()[at..].iter().take(MAX_NAME_LEN).take_while(is_name).count();
    let is_whole = !text.as_bytes().get(at + len).is_some_and(u8::is_ascii_alphanumeric);
    text.get(at..at + len).filter(|_| is_whole)
}

fn kind_of_name(name: &str) -> Option<SecretKind> {
    let (ending, kind) = ENDINGS.into_iter().find(|(ending, _)| name.ends_with(ending))?;
    let front = name.strip_suffix(ending)?;
    let mut words = front.split('_').filter(|it| !it.is_empty());
    if words.clone().any(|it| PUBLIC_WORDS.contains(&it)) {
        return None;
    }
    let is_word = front.is_empty() || front.ends_with('_');
    let last = words.next_back().unwrap_or_default();
    let is_secret = match is_word {
        true => !OPEN_WORDS.contains(&last),
        false => kind != SecretKind::KEY || KEY_WORDS.contains(&last),
    };
    is_secret.then_some(kind)
}

/// Returns whether a text ends with one of some words.
fn ends_with_word(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| {
        let before = text.strip_suffix(word);
        before.is_some_and(|it| !it.ends_with(|c: char| c.is_alphanumeric()))
    })
}

/// Returns the form of the assignment to a name, and where its value may begin.
fn value_start(text: &str, name_start: usize, name_end: usize) -> Option<(Form, usize)> {
    let (before, after) = (&text[..name_start], &text[name_end..]);
    let is_set = ends_with_word(before, &SETTING_WORDS);
    let is_exported = is_set || ends_with_word(before, &EXPORT_WORDS);
    let form = |plain| if is_exported { Form::Exported } else { plain };
    if let Some(value) = after.strip_prefix('=') {
        let is_comparison = value.starts_with('=');
        return (!is_comparison).then_some((form(Form::Plain), name_end + 1));
    }
    // The end of a key in quotes, in JSON or in JSON inside of a string.
    let unquoted = after.strip_prefix('\\').unwrap_or(after);
    let unquoted = unquoted.strip_prefix(['"', '\'']).unwrap_or(after);
    let bare = unquoted.trim_start_matches([' ', '\t']);
    let place_of = |rest: &str| text.len() - rest.trim_start_matches([' ', '\t']).len();
    if let Some(value) = bare.strip_prefix(['=', ':']) {
        let is_other = value.starts_with(['=', ':', '/']);
        return (!is_other).then(|| (form(Form::Spaced), place_of(value)));
    }
    let has_value = is_set && bare.len() < after.len();
    has_value.then(|| (Form::Exported, place_of(after)))
}

/// Returns the start and the end of the value that begins at `at`, and whether it is in quotes.
fn value_at(text: &str, at: usize, form: Form) -> Option<(usize, usize, bool)> {
    let rest = &text[at..];
    let opening = ["\\\"", "\"", "'", "$'"].into_iter().find(|it| rest.starts_with(it));
    if let Some(opening) = opening {
        let start = at + opening.len();
        let closing = opening.trim_start_matches('$');
        return Some((start, start + quoted_len(&text[start..], closing), true));
    }
    let end = at
        + match form {
            Form::Spaced => line_len(rest)?,
            Form::Exported | Form::Plain => word_len(rest),
        };
    Some((at, end, false))
}

/// Returns the length of a text up to an unescaped `closing`, or the end of the line.
fn quoted_len(text: &str, closing: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len().min(MAX_VALUE_LEN) && !matches!(bytes[at], b'\n' | b'\r') {
        if bytes[at..].starts_with(closing.as_bytes()) {
            return at;
        }
        at += if bytes[at] == b'\\' && closing == "\"" { 2 } else { 1 };
    }
    floor_char_boundary(text, at)
}

/// Returns the length of the only word up to the end of the line; `None` if there are several.
fn line_len(text: &str) -> Option<usize> {
    let bytes = text.as_bytes().iter().take(MAX_VALUE_LEN);
    let len = bytes.take_while(|it| !matches!(**it, b'\n' | b'\r')).count();
    let line = text.get(..len)?.trim_end_matches([' ', '\t', ',', ';']);
    (!line.contains([' ', '\t', '"', '\'', '\\'])).then_some(line.len())
}

/// Returns the length of a word of a shell.
fn word_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut len = 0;
    while let Some(it) = bytes.get(len).filter(|_| len < MAX_VALUE_LEN) {
        let next = bytes.get(len + 1).copied().unwrap_or(b'\n');
        let is_end = match it {
            b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' => true,
            b'.' => next.is_ascii_whitespace() && !text[..len].ends_with('.'),
            b';' | b'|' | b')' | b',' => next.is_ascii_whitespace(),
            b'&' => next.is_ascii_whitespace() || next.is_ascii_alphabetic() || next == b'&',
            _ => it.is_ascii_whitespace(),
        };
        if is_end {
            break;
        }
        len += 1;
    }
    floor_char_boundary(text, len)
}

fn floor_char_boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|it| text.is_char_boundary(*it)).unwrap_or_default()
}

/// Returns whether a value is a path or a URL, which names a secret and is none.
fn is_path_or_url(value: &str) -> bool {
    let is_path = ["/", "./", "../", "~/", "C:\\", "file:"].iter().any(|it| value.starts_with(it));
    (is_path && !looks_random(value)) || value.contains("://")
}

fn is_exported_secret(value: &str, kind: SecretKind) -> bool {
    let is_number = value.len() < MIN_PLAIN_LEN && value.bytes().all(|it| it.is_ascii_digit());
    kind == SecretKind::PASSWORD || !is_number
}

fn is_plain_secret(value: &str, kind: SecretKind, is_quoted: bool) -> bool {
    // `API_KEY=settings.API_KEY`, or a call.
    let is_code = !is_quoted && value.contains(['(', '[', '{']);
    let is_name =
        |it: &str| it.bytes().all(|it| it.is_ascii_alphabetic() || matches!(it, b'_' | b'.'));
    if is_code || (value.contains(['.', '_']) && is_name(value)) {
        return false;
    }
    match kind {
        SecretKind::PASSWORD => value.len() >= 4,
        _ => value.len() >= MIN_PLAIN_LEN && has_digit_and_letter(value),
    }
}

fn is_spaced_secret(value: &str, kind: SecretKind) -> bool {
    let is_password = kind == SecretKind::PASSWORD
        && value.len() >= MIN_PLAIN_LEN
        && has_digit_and_letter(value)
        && !value.contains(char::is_whitespace);
    is_password || (value.len() >= 2 * MIN_PLAIN_LEN && looks_random(value))
}

fn has_digit_and_letter(value: &str) -> bool {
    value.contains(|it: char| it.is_ascii_digit()) && value.contains(char::is_alphabetic)
}
