//! Finds where the value that is assigned to a variable begins and ends.
//!
//! Whether a value is a secret is decided by its beginning, of limited length. Only the end of a
//! secret is searched for beyond it, and the scanner goes on behind that end, so the time grows
//! with the length of the text only.

use crate::model::secret::placeholder::MAX_JUDGED_LEN;

/// The words in front of a name after which its value is taken as it is.
const EXPORT_WORDS: [&str; 7] =
    ["export ", "declare -x ", "typeset -x ", "set ", "$env:", "-e ", "--env "];

/// The words in front of a name and a value without `=`.
const SETTING_WORDS: [&str; 4] = ["setx ", "set -x ", "set -gx ", "set -Ux "];

/// The instruction of a `Dockerfile`, which begins a line.
const ENV: &str = "ENV ";

/// What may follow the only value of a line.
const LINE_ENDINGS: [char; 8] = [' ', '\t', ',', ';', '.', ')', '|', '`'];

/// The form of an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `export NAME=value`, and the like of other shells.
    Exported,
    /// `NAME=value`
    Plain,
    /// `NAME = "value"` or `NAME: value`
    Spaced,
}

/// The value of a variable, as far as it is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AssignedValue<'a> {
    /// Where it begins in the text.
    pub(super) start: usize,
    /// Its beginning; all of it, unless it is longer than [`MAX_JUDGED_LEN`].
    pub(super) beginning: &'a str,
    /// The form of the assignment.
    pub(super) form: Form,
    /// The quotation mark in front of it: `"`, `'`, `\"`, `$'`; empty if there is none.
    pub(super) quote: &'static str,
}

impl<'a> AssignedValue<'a> {
    /// Parses the assignment to the name from `name_start` to `name_end`.
    pub(super) fn parse(text: &'a str, name_start: usize, name_end: usize) -> Option<Self> {
        let (form, start) = value_start(text, name_start, name_end)?;
        let rest = &text[start..];
        let quote = ["\\\"", "\"", "'", "$'"].into_iter().find(|it| rest.starts_with(it));
        let quote = quote.unwrap_or_default();
        let rest = &rest[quote.len()..];
        let start = start + quote.len();
        let len = value_len(rest, quote, MAX_JUDGED_LEN);
        let is_only_word =
            !quote.is_empty() || form != Form::Spaced || ends_line(&rest[len..], len);
        is_only_word.then_some(Self { start, beginning: &rest[..len], form, quote })
    }

    /// Returns where the value ends in the text.
    pub(super) fn end(&self, text: &str) -> usize {
        self.start + value_len(&text[self.start..], self.quote, usize::MAX)
    }

    /// Returns whether shells take the value as it is, also if it contains `$`.
    pub(super) fn is_literal(&self) -> bool {
        self.quote == "'"
    }
}

/// Returns whether a text ends with one of some words.
fn ends_with_word(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| {
        let before = text.strip_suffix(word);
        before.is_some_and(|it| !it.ends_with(|c: char| c.is_alphanumeric() || c == '-'))
    })
}

/// Returns the form of the assignment to a name, and where its value may begin.
fn value_start(text: &str, name_start: usize, name_end: usize) -> Option<(Form, usize)> {
    let (before, after) = (&text[..name_start], &text[name_end..]);
    let is_set = ends_with_word(before, &SETTING_WORDS);
    let is_exported = is_set || ends_with_word(before, &EXPORT_WORDS);
    let form = |plain| if is_exported { Form::Exported } else { plain };
    let is_env = ends_with_word(before, &[ENV]);
    if let Some(value) = after.strip_prefix('=') {
        let is_comparison = value.starts_with('=');
        let form = if is_env { Form::Exported } else { form(Form::Plain) };
        return (!is_comparison).then_some((form, name_end + 1));
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
    // In a sentence, `ENV` is followed by a name too.
    let is_instruction = is_env && is_blank_line(before.strip_suffix(ENV).unwrap_or(before));
    let form = if is_set { Form::Exported } else { Form::Spaced };
    ((is_set || is_instruction) && bare.len() < after.len()).then(|| (form, place_of(after)))
}

/// Returns whether the last line of a text is empty or an indentation.
fn is_blank_line(text: &str) -> bool {
    let line = text.trim_end_matches([' ', '\t']);
    line.is_empty() || line.ends_with('\n')
}

/// Returns the length of a value behind a quotation mark; `max` if it is longer.
fn value_len(text: &str, quote: &str, max: usize) -> usize {
    let len = match quote.trim_start_matches('$') {
        "" => word_len(text.as_bytes(), max),
        closing => quoted_len(text.as_bytes(), closing, max),
    };
    floor_char_boundary(text, len.min(max))
}

/// Returns the length of a text up to an unescaped `closing`, or the end of the line.
fn quoted_len(bytes: &[u8], closing: &str, max: usize) -> usize {
    let mut at = 0;
    while at < bytes.len().min(max) && !matches!(bytes[at], b'\n' | b'\r') {
        if bytes[at..].starts_with(closing.as_bytes()) {
            return at;
        }
        at += if bytes[at] == b'\\' && closing == "\"" { 2 } else { 1 };
    }
    at
}

/// Returns the length of a word of a shell. What a shell would take for the end of a word is a part
/// of the value where nothing else shows that it ends, so that none is divided.
fn word_len(bytes: &[u8], max: usize) -> usize {
    let is_end = |at: usize| {
        let next = bytes.get(at + 1).copied().unwrap_or(b'\n');
        match bytes[at] {
            b'`' => true,
            b'"' | b'\'' => !next.is_ascii_alphanumeric(),
            b'<' => opens_tag(&bytes[at..]),
            b'\\' => ends_escaped_line(&bytes[at..]),
            b'.' => next.is_ascii_whitespace() && at > 0 && bytes[at - 1] != b'.',
            b'>' | b';' | b'|' | b')' | b',' => next.is_ascii_whitespace(),
            b'&' => next.is_ascii_whitespace() || next == b'&' || is_parameter(&bytes[at + 1..]),
            it => it.is_ascii_whitespace() || it.is_ascii_control(),
        }
    };
    (0..bytes.len().min(max)).find(|at| is_end(*at)).unwrap_or(bytes.len().min(max))
}

/// Returns whether a tag of HTML or XML begins a text: `</td>`, `<br>`.
fn opens_tag(bytes: &[u8]) -> bool {
    let name = &bytes[1..];
    let name = name.strip_prefix(b"/").unwrap_or(name);
    let len = name.iter().take(20).take_while(|it| it.is_ascii_alphanumeric()).count();
    let is_closed = matches!(name.get(len), Some(b'>' | b'/'));
    name.first().is_some_and(u8::is_ascii_alphabetic) && is_closed
}

/// Returns whether backslashes begin an escaped line break, tab or quotation mark, or end a line.
fn ends_escaped_line(bytes: &[u8]) -> bool {
    let escaped = bytes.iter().take(4).find(|it| **it != b'\\');
    escaped.is_none_or(|it| b"nrt\"'".contains(it) || it.is_ascii_whitespace())
}

/// Returns whether a text begins with a parameter of a URL: `page=`.
fn is_parameter(bytes: &[u8]) -> bool {
    let is_name = |it: &&u8| it.is_ascii_alphanumeric() || matches!(**it, b'_' | b'-');
    let len = bytes.iter().take(32).take_while(is_name).count();
    bytes[0..len].first().is_some_and(u8::is_ascii_alphabetic) && bytes.get(len) == Some(&b'=')
}

/// Returns whether a value of the length `len` in front of `rest` is all that its line contains. A
/// longer one than those that are judged is no word of a sentence.
fn ends_line(rest: &str, len: usize) -> bool {
    let after = rest.trim_start_matches(LINE_ENDINGS);
    len + 4 > MAX_JUDGED_LEN || after.is_empty() || after.starts_with(['\n', '\r', '<'])
}

fn floor_char_boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|it| text.is_char_boundary(*it)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> &str {
        let name_start = text.find("KEY").unwrap();
        let value = AssignedValue::parse(text, name_start, name_start + 3);
        value.map_or("", |it| &text[it.start..it.end(text)])
    }

    #[test]
    fn a_value_ends_where_its_word_or_its_quotation_ends() {
        for (text, expected) in [
            ("KEY=abc def", "abc"),
            ("KEY='a b' c", "a b"),
            ("KEY=\"a\\\"b\" c", "a\\\"b"),
            ("{\\\"KEY\\\": \\\"abc\\\"}", "abc"),
            ("KEY=a>b<c&d\\e(f'g", "a>b<c&d\\e(f'g"),
            ("?KEY=abc&page=2", "abc"),
            ("<td>KEY=abc</td>", "abc"),
            ("say \"KEY=abc\".", "abc"),
            ("KEY=abc\\nNEXT=1", "abc"),
            ("KEY=abc\\\\nNEXT=1", "abc"),
            ("KEY=abc\u{1b}[0m", "abc"),
            ("It is KEY=abc.", "abc"),
            ("KEY: abc,", "abc"),
            ("KEY: abc\\d", "abc\\d"),
            ("KEY: several words", ""),
            ("ENV KEY abc", "abc"),
            ("Set ENV KEY before.", ""),
        ] {
            assert_eq!(value(text), expected, "{text}");
        }
    }

    #[test]
    fn a_value_is_judged_by_its_beginning_and_ends_at_its_end() {
        let long = "k9f".repeat(2_000);
        for text in [
            format!("KEY={long} x"),
            format!("KEY: {long} x"),
            format!("KEY='{long}' x"),
            format!("KEY=\"{long}\" x"),
        ] {
            assert_eq!(value(&text), long);
        }
    }

    #[test]
    fn the_work_for_each_name_is_limited() {
        for assignment in ["A_KEY=", "A_KEY:", "A_KEY=\"", "A_KEY=x.", "A_KEY=é"] {
            let text = assignment.repeat(10_000);
            let names = text.match_indices("KEY").map(|(at, _)| at);
            let judged = names.filter_map(|it| AssignedValue::parse(&text, it, it + 3));
            assert!(judged.map(|it| it.beginning.len()).all(|it| it <= MAX_JUDGED_LEN));
        }
    }
}
