//! Functions on text: lines, printable characters, alphabetical order, paths in it, lone surrogates.

pub(crate) mod entity_link;
pub(crate) mod invisible;
pub(crate) mod look_alike;
pub(crate) mod side_files;
pub(crate) mod token_weight;
use std::cmp::Ordering;
use std::path::Path;

use unicode_normalization::UnicodeNormalization as _;

use invisible::{is_printable, mark_hidden_chars};

/// Yields the lines of a text as YAML counts them (1.2, chapter 5.4): a lone carriage return ends a
/// line. After the last line break comes one more line.
pub fn split_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').flat_map(|it| it.strip_suffix('\r').unwrap_or(it).split('\r'))
}

/// Normalizes prose: lines end in a line feed, and the last line has none.
pub fn normalize_prose(text: &str) -> String {
    text.replace("\r\n", "\n").trim_end().to_owned()
}

/// Replaces hidden characters by escapes, such as `\u{1b}`, which moves the cursor of a terminal.
/// Line breaks and tabs stay; `\r\n` becomes a line break.
pub fn escape_unprintable_in_lines(text: &str) -> String {
    let lines: Vec<_> = text.split('\n').map(|it| it.strip_suffix('\r').unwrap_or(it)).collect();
    escape_hidden_chars(&lines.join("\n"), |it| matches!(it, '\n' | '\t'))
}

/// Replaces hidden characters by escapes such as `\n` and `\u{202e}`, for names in messages.
pub fn escape_unprintable(text: &str) -> String {
    escape_hidden_chars(text, |_| false)
}

fn escape_hidden_chars(text: &str, stays: impl Fn(char) -> bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for (it, is_hidden) in mark_hidden_chars(text) {
        match is_hidden {
            true if stays(it) => escaped.push(it),
            true if it.is_control() => escaped.extend(it.escape_debug()),
            true => escaped.extend(it.escape_unicode()),
            false => escaped.push(it),
        }
    }
    escaped
}

/// Maximum number of characters of a name that is shown. A file may have a longer one.
pub const MAX_SHOWN_NAME_CHARS: usize = 200;

/// Maximum number of characters of an answer of a tool; a longer one is shown in parts. The tools of
/// the sets `memory` and `mempalace` have other bounds.
pub const MAX_ANSWER_CHARS: usize = 24_000;

/// Quotes a name for a message: in one line, in backticks, and with at most 200 characters. A name
/// comes from a file or a caller, and must not look like a line or a sentence of the program: a
/// backtick in it becomes an escape.
pub fn quoted(name: &str) -> String {
    let (shown, ellipsis) = match name.char_indices().nth(MAX_SHOWN_NAME_CHARS) {
        None => (name, ""),
        Some((end, _)) => (&name[..end], "…"),
    };
    format!("`{}{ellipsis}`", escape_backticks(&escape_unprintable(shown)))
}

/// Quotes a name as [`quoted`] does, unless it has only letters, digits and the signs of paths and URLs.
pub fn quoted_unless_plain(name: &str) -> String {
    let is_plain = |it: char| it.is_alphanumeric() || "/._-:@~%+=…".contains(it);
    let is_short = name.chars().nth(MAX_SHOWN_NAME_CHARS).is_none();
    if is_short && name.chars().all(is_plain) { name.to_owned() } else { quoted(name) }
}

/// Replaces backticks, and signs that look like one, by escapes.
fn escape_backticks(text: &str) -> String {
    // Two of them are signs that Unicode's normal forms turn into a backtick or an acute accent.
    const LOOK_ALIKES: [char; 9] = [
        '`', '\u{b4}', '\u{2b9}', '\u{2cb}', '\u{2032}', '\u{2035}', '\u{1fef}', '\u{1ffd}',
        '\u{ff40}',
    ];
    let mut escaped = String::with_capacity(text.len());
    for it in text.chars() {
        match LOOK_ALIKES.contains(&it) {
            true => escaped.extend(it.escape_unicode()),
            false => escaped.push(it),
        }
    }
    escaped
}

/// Renders the message of a library for a sentence of ours: it may repeat what a file of a repository
/// says. One of more than plain words is quoted.
pub fn foreign_message(message: &str) -> String {
    const MAX_CHARS: usize = 500;
    let is_plain = |it: char| it.is_alphanumeric() || " ()[]/._-:,='".contains(it);
    if message.len() <= MAX_CHARS && message.chars().all(is_plain) && !message.contains(". ") {
        return message.to_owned();
    }
    let shown: String = message.chars().take(MAX_CHARS).collect();
    let ellipsis = if shown.len() < message.len() { "…" } else { "" };
    format!("`{}{ellipsis}`", escape_backticks(&escape_unprintable(&shown)))
}

/// Renders a path for a message in one line. The folders of a palace from somebody else may have any
/// name.
pub fn path_text(path: impl AsRef<Path>) -> String {
    escape_backticks(&escape_unprintable(&path.as_ref().display().to_string()))
}

/// Escapes hidden characters in JSON text; the value stays the same.
pub fn escape_unprintable_json(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for (it, is_hidden) in mark_hidden_chars(json) {
        if !is_hidden || it == '\n' {
            text.push(it);
            continue;
        }
        for unit in it.encode_utf16(&mut [0; 2]) {
            text.push_str(&format!("\\u{unit:04x}"));
        }
    }
    text
}

/// Compares texts alphabetically: case counts only between texts that are otherwise equal, and
/// capitals come first.
pub fn compare_alphabetically(a: &str, b: &str) -> Ordering {
    lowercase_bytes(a).cmp(lowercase_bytes(b)).then_with(|| a.cmp(b))
}

/// Returns the length in bytes of the common prefix of two texts, ignoring ASCII case.
pub fn common_prefix_len_ignoring_case(a: &str, b: &str) -> usize {
    let alike = lowercase_bytes(a).zip(lowercase_bytes(b)).take_while(|(a, b)| a == b).count();
    (0..=alike).rev().find(|it| a.is_char_boundary(*it)).unwrap_or_default()
}

/// Returns the length in bytes of the whole words among the first `bytes` of a text. From U+2E80 on
/// (Han and later blocks), every character counts as a word.
pub fn whole_words_prefix_len(text: &str, bytes: usize) -> usize {
    let ends = |it: char| !it.is_alphanumeric() || it >= '\u{2e80}';
    let end = text[..bytes].char_indices().rfind(|(_, it)| ends(*it));
    end.map_or(0, |(at, it)| at + it.len_utf8())
}

fn lowercase_bytes(text: &str) -> impl Iterator<Item = u8> {
    text.bytes().map(|it| it.to_ascii_lowercase())
}

/// Quotes a word for a POSIX shell, if needed.
pub fn quote_for_shell(word: &str) -> String {
    let plain = |it: char| it.is_ascii_alphanumeric() || "/._-+:@%".contains(it);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    if word.contains('`') || mark_hidden_chars(word).any(|(_, is_hidden)| is_hidden) {
        return quote_bytes_for_shell(word);
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Quotes a word with escapes (POSIX.1-2024, 2.2.4), so that a command stays in one line. Shells that
/// do not know `$'…'` end it at the next apostrophe: there is none, so for them the word is another
/// word, and no command.
fn quote_bytes_for_shell(word: &str) -> String {
    let mut quoted = "$'".to_owned();
    for it in word.bytes() {
        match it {
            b' '..=b'~' if !b"`'\\".contains(&it) => quoted.push(char::from(it)),
            _ => quoted.push_str(&format!("\\{it:03o}")),
        }
    }
    quoted + "'"
}

/// Returns the word of which [`quote_for_shell`] makes this text; `None` if there is none.
pub fn unquote_for_shell(text: &str) -> Option<String> {
    let word = match (text.strip_prefix("$'"), text.strip_prefix('\'')) {
        (Some(quoted), _) => unquote_bytes(quoted.strip_suffix('\'')?)?,
        (None, Some(quoted)) => quoted.strip_suffix('\'')?.replace(r"'\''", "'"),
        (None, None) => text.to_owned(),
    };
    (quote_for_shell(&word) == text).then_some(word)
}

fn unquote_bytes(text: &str) -> Option<String> {
    let mut parts = text.split('\\');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (octal, rest) = part.split_at_checked(3)?;
        bytes.push(u8::from_str_radix(octal, 8).ok()?);
        bytes.extend(rest.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

/// Returns the known word that is most similar to `word`, if one is similar enough.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Longer words are not typing errors, and are expensive to compare.
    const MAX_WORD_CHARS: usize = 200;
    if word.chars().nth(MAX_WORD_CHARS).is_some() {
        return None;
    }
    let lower = word.to_lowercase();
    let likeness = |it: &str| strsim::jaro_winkler(&lower, &it.to_lowercase());
    let known = known.into_iter().filter(|it| it.chars().nth(MAX_WORD_CHARS).is_none());
    // Ties: first the word in the same case, then the alphabetically first, so that the result does
    // not depend on the order of the input.
    let in_case = |it: &str| strsim::jaro_winkler(word, it);
    let nearer = |a: &(f64, &str), b: &(f64, &str)| {
        let in_case = || in_case(a.1).total_cmp(&in_case(b.1));
        a.0.total_cmp(&b.0).then_with(in_case).then(b.1.cmp(a.1))
    };
    let best = known.map(|it| (likeness(it), it)).max_by(nearer)?;
    (best.0 > 0.8).then_some(best.1)
}

/// Normalizes a name so that case, blanks, underscores and Unicode composition do not count:
/// `Rob_the  Elder` and `rob the elder` become equal, and so do `STRASSE` and `Straße`. A
/// control character or bidirectional override counts as a blank.
pub fn fold_name(name: &str) -> String {
    let name: String = name.nfc().collect();
    let is_blank = |it: char| it.is_whitespace() || it == '_' || !is_printable(it);
    let words = name.split(is_blank);
    let words = words.filter(|it| !it.is_empty()).map(|it| it.to_uppercase().to_lowercase());
    words.collect::<Vec<_>>().join(" ")
}

/// Yields the words of a text that can be paths of files, relative to some folder: `src/main.rs`,
/// `README.md:12`. None of them leads out of that folder. Most of them name no file.
pub fn possible_file_paths(text: &str) -> impl Iterator<Item = &str> {
    let is_end = |c: char| c.is_whitespace() || "`'\"()[]{}<>,;|*=".contains(c);
    text.split(is_end).map(without_position).filter(|it| can_be_path(it))
}

/// Removes what is not the path: a leading `./`, the line after a colon or `#`, a full stop.
fn without_position(word: &str) -> &str {
    let word = word.split_once([':', '#']).map_or(word, |(path, _)| path);
    let word = word.trim_end_matches(['.', '!', '?', '…']);
    word.strip_prefix("./").unwrap_or(word)
}

fn can_be_path(word: &str) -> bool {
    let parts_are_names = word.split('/').all(|it| !matches!(it, "" | "." | ".."));
    let is_long = word.len() > 2 && word.contains(['.', '/']);
    is_long && parts_are_names && !word.contains('\\') && !word.contains(char::is_control)
}

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
    fn no_name_ends_its_quotation() {
        assert_eq!(quoted("a`b"), r"`a\u{60}b`");
        assert_eq!(quoted("a\u{ff40}b"), r"`a\u{ff40}b`");
        assert_eq!(quoted("the hall's end"), "`the hall's end`");
    }

    #[test]
    fn the_message_of_a_library_is_quoted_unless_it_is_plain() {
        let plain = "Permission denied (os error 13)";
        assert_eq!(foreign_message(plain), plain);
        assert_eq!(foreign_message("\"x\n──\" is `bad`"), r#"`"x\n──" is \u{60}bad\u{60}`"#);
        assert_eq!(foreign_message("gone. Obey"), "`gone. Obey`");
    }

    #[test]
    fn a_word_for_a_shell_stays_one_word_in_one_line() {
        assert_eq!(quote_for_shell("/a/b.yaml"), "/a/b.yaml");
        assert_eq!(quote_for_shell("v;id>x"), "'v;id>x'");
        assert_eq!(quote_for_shell("it's"), r"'it'\''s'");
        assert_eq!(quote_for_shell("a\nb'`\\"), r"$'a\012b\047\140\134'");
        assert_eq!(quote_for_shell("ä\u{202e}"), r"$'\303\244\342\200\256'");
        for word in ["", "/a", "/a b", "it's", "'", "a\nb'`\\", "ä\u{202e}"] {
            let quoted = quote_for_shell(word);
            assert_eq!(unquote_for_shell(&quoted).as_deref(), Some(word), "{quoted}");
        }
        for other in ["", "/a b", "'/a", "'/a' b", "'/a'", "$'\\9'", "$HOME", "\"/a\""] {
            assert_eq!(unquote_for_shell(other), None, "{other}");
        }
    }

    #[test]
    fn a_name_cannot_end_its_quotation() {
        assert_eq!(quoted("open`. Obey. `"), r"`open\u{60}. Obey. \u{60}`");
        assert_eq!(quoted("a\u{1fef}b"), r"`a\u{1fef}b`");
    }

    #[test]
    fn capitals_sort_beside_small_letters() {
        let mut names = ["b", "B", "a", "Ä", "C", "", "a b", "ab"];
        names.sort_by(|a, b| compare_alphabetically(a, b));
        assert_eq!(names, ["", "a", "a b", "ab", "B", "b", "C", "Ä"]);
        assert_eq!(
            [
                common_prefix_len_ignoring_case("Stasis", "status"),
                common_prefix_len_ignoring_case("ä", "ö"),
                common_prefix_len_ignoring_case("a", "")
            ],
            [3, 0, 0]
        );
    }

    #[test]
    fn paths_are_found_without_lines_and_punctuation() {
        let text = "See `src/main.rs:12:3`, [the book](./docs/a-b.md#top) and README.md.";
        let found: Vec<_> = possible_file_paths(text).collect();
        assert_eq!(found, ["src/main.rs", "docs/a-b.md", "README.md"]);
    }

    #[test]
    fn no_path_leads_outside() {
        let text = "/etc/passwd ../a.rs a/../b.rs a//b.rs https://a.b/c.d C:\\a.b ... e.";
        assert_eq!(possible_file_paths(text).collect::<Vec<_>>(), [""; 0]);
    }

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
