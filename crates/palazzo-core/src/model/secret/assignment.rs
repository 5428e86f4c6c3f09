//! Finds the values of variables with secrets: in shells, `.env` files, `Dockerfile`s, YAML, JSON
//! and source code.

use crate::model::secret::kind::{Secret, SecretKind};
use crate::model::secret::placeholder::{
    MAX_JUDGED_LEN, has_digit_and_letter, is_example, is_identifier, is_path_or_url,
    is_placeholder, looks_random,
};

/// The least that a value without `export` has.
const MIN_PLAIN_LEN: usize = 6;

/// The least that a password of letters in quotes has; such a long word is rare in texts.
const MIN_WORDS_LEN: usize = 15;

/// The least that the value of an exported variable has whose name is hardly that of a secret.
const MIN_OPEN_LEN: usize = 20;

/// The same without `export`; hashes are not longer, or have no capitals.
const MIN_PLAIN_OPEN_LEN: usize = 65;

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
enum Form {
    /// `export NAME=value`, and the like of other shells.
    Exported,
    /// `NAME=value`
    Plain,
    /// `NAME = "value"` or `NAME: value`
    Spaced,
}

/// The value of a variable, as far as it is judged.
///
/// Whether a value is a secret is decided by its beginning, of limited length. Only the end of a
/// secret is searched for beyond it, and the scanner goes on behind that end, so the time grows
/// with the length of the text only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct AssignedValue<'a> {
    /// Where it begins in the text.
    start: usize,
    /// Its beginning; all of it, unless it is longer than [`MAX_JUDGED_LEN`].
    beginning: &'a str,
    /// The form of the assignment.
    form: Form,
    /// The quotation mark in front of it: `"`, `'`, `\"`, `$'`; empty if there is none.
    quote: &'static str,
}

impl<'a> AssignedValue<'a> {
    /// Parses the assignment to the name from `name_start` to `name_end`.
    fn parse(text: &'a str, name_start: usize, name_end: usize) -> Option<Self> {
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
    fn end(&self, text: &str) -> usize {
        self.start + value_len(&text[self.start..], self.quote, usize::MAX)
    }

    /// Returns whether shells take the value as it is, also if it contains `$`.
    fn is_literal(&self) -> bool {
        self.quote == "'"
    }
}

/// The maximum length of a name.
const MAX_NAME_LEN: usize = 100;

/// The endings of names, the kinds of the values, and whether other names end so too.
const ENDINGS: [(&str, SecretKind, bool); 8] = [
    ("KEY", SecretKind::KEY, false),
    ("TOKEN", SecretKind::TOKEN, false),
    ("SECRET", SecretKind::SECRET, false),
    ("PASSWORD", SecretKind::PASSWORD, false),
    ("PASSWD", SecretKind::PASSWORD, false),
    ("PASSPHRASE", SecretKind::PASSWORD, false),
    ("PASS", SecretKind::PASSWORD, true),
    ("PWD", SecretKind::PASSWORD, true),
];

/// The words in front of `KEY` without `_` that make it a key and not a `MONKEY`.
const KEY_WORDS: [&str; 8] =
    ["API", "AUTH", "ACCESS", "SECRET", "PRIVATE", "SIGNING", "ENCRYPTION", "MASTER"];

/// The words in front of `PASS` and `PWD` without `_` that make it a password and not a `BYPASS`.
const PASS_WORDS: [&str; 7] = ["SSH", "PG", "DB", "MYSQL", "SMTP", "USER", "ADMIN"];

/// The last words in front of an ending with which the value is hardly a secret.
const OPEN_WORDS: &str = " primary foreign sort partition range hash cache group routing unique \
    object lookup index hot next page continuation eos bos pad unk mask sep cls start end storage \
    i18n l10n translation locale message artifact commit issue jira ticket project build event \
    feature dedup idempotency column field property attribute first second last render boarding \
    shader optimization gpg pgp host ";

/// The words that make everything public.
const PUBLIC_WORDS: [&str; 3] = ["PUBLIC", "PUBLISHABLE", "PUB"];

/// The name of a variable whose value may be a secret: in capitals, with one of [`ENDINGS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct VariableName {
    /// The length of the name.
    len: usize,
    /// The kind of a secret that is its value.
    kind: SecretKind,
    /// Whether other variables have such a name too: `CACHE_KEY`.
    is_open: bool,
    /// Whether the name ends in a word that means other things too: `PASS`.
    is_ambiguous: bool,
}

/// Returns the secret value of the variable whose name begins at `at`. If its value is a secret of
/// a kind of its own, `specific_at` returns it for the place where the value begins.
pub(super) fn assigned_secret_at(
    text: &str,
    at: usize,
    specific_at: impl Fn(usize) -> Option<Secret>,
) -> Option<Secret> {
    let name = variable_name_at(text, at)?;
    let value = AssignedValue::parse(text, at, at + name.len)?;
    if let Some(secret) = specific_at(value.start) {
        return Some(secret);
    }
    is_secret(name, &value).then(|| Secret { range: value.start..value.end(text), kind: name.kind })
}

fn is_secret(name: VariableName, value: &AssignedValue) -> bool {
    let text = value.beginning;
    let is_password = name.kind == SecretKind::PASSWORD;
    let has_form = match value.form {
        Form::Exported if name.is_open => text.len() >= MIN_OPEN_LEN && looks_random(text),
        _ if name.is_open => text.len() >= MIN_PLAIN_OPEN_LEN && has_all_characters(text),
        Form::Exported => is_password || !is_small_number(text),
        _ if name.is_ambiguous => text.len() >= MIN_PLAIN_LEN && has_digit_and_letter(text),
        Form::Plain => is_plain_secret(value, is_password),
        Form::Spaced => is_spaced_secret(value, is_password),
    };
    has_form
        && !is_path_or_url(text)
        && (is_password || !(is_identifier(text) || is_example(text)))
        && !is_placeholder(without_leading_dollar(value))
}

/// Returns a value without the `$` that is a part of a password in single quotes and refers to no
/// variable.
fn without_leading_dollar<'a>(value: &AssignedValue<'a>) -> &'a str {
    let is_name = |it: &str| it.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
    let rest = value.beginning.strip_prefix('$').filter(|_| value.is_literal());
    rest.filter(|it| !is_name(it) || looks_random(it)).unwrap_or(value.beginning)
}

fn is_small_number(value: &str) -> bool {
    value.len() < MIN_PLAIN_LEN && value.bytes().all(|it| it.is_ascii_digit())
}

fn has_all_characters(value: &str) -> bool {
    let has = |kind: fn(&char) -> bool| value.chars().any(|it| kind(&it));
    has(char::is_ascii_uppercase) && has(char::is_ascii_lowercase) && looks_random(value)
}

fn is_plain_secret(value: &AssignedValue, is_password: bool) -> bool {
    let text = value.beginning;
    let has_characters = match is_password {
        true => text.len() >= 4,
        false => {
            let is_mixed = has_digit_and_letter(text) || looks_random(text);
            text.len() >= MIN_PLAIN_LEN && is_mixed
        }
    };
    let is_other = || is_name(text) || (value.quote.is_empty() && is_code(text));
    has_characters && !is_other()
}

/// Returns whether a value consists of words with `.` or `_` between them.
fn is_name(value: &str) -> bool {
    let is_part = |it: u8| it.is_ascii_alphabetic() || matches!(it, b'_' | b'.');
    value.contains(['.', '_']) && value.bytes().all(is_part)
}

/// Returns whether a value is a call or an index: `settings.get(x)`, `env["KEY"]`.
fn is_code(value: &str) -> bool {
    let arguments = value.split_once(['(', '[', '{']).map(|(_, it)| it);
    arguments.is_some_and(|it| it.contains([')', ']', '}']) || !looks_random(it))
}

fn is_spaced_secret(value: &AssignedValue, is_password: bool) -> bool {
    let text = value.beginning;
    let has_password_form = text.len() >= MIN_PLAIN_LEN
        && has_digit_and_letter(text)
        && !text.contains(char::is_whitespace);
    let is_word = text.len() >= MIN_WORDS_LEN
        && text.chars().all(char::is_alphabetic)
        && !text.to_lowercase().contains("pass");
    let is_quoted_word = !value.quote.is_empty() && is_word;
    (is_password && (has_password_form || is_quoted_word))
        || (text.len() >= 2 * MIN_PLAIN_LEN && looks_random(text))
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

/// Parses the name in capitals that begins at `at`; `None` if its value is no secret.
fn variable_name_at(text: &str, at: usize) -> Option<VariableName> {
    let is_name = |it: &&u8| it.is_ascii_uppercase() || it.is_ascii_digit() || **it == b'_';
    let len = text.as_bytes()[at..].iter().take(MAX_NAME_LEN).take_while(is_name).count();
    let is_whole = !text.as_bytes().get(at + len).is_some_and(u8::is_ascii_alphanumeric);
    parse_variable_name(text.get(at..at + len).filter(|_| is_whole)?)
}

fn parse_variable_name(name: &str) -> Option<VariableName> {
    let (ending, kind, is_ambiguous) =
        ENDINGS.into_iter().find(|(ending, ..)| name.ends_with(ending))?;
    let front = name.strip_suffix(ending)?;
    let mut words = front.split('_').filter(|it| !it.is_empty());
    if words.clone().any(|it| PUBLIC_WORDS.contains(&it)) {
        return None;
    }
    let is_word = front.is_empty() || front.ends_with('_');
    let last = words.next_back().unwrap_or_default();
    let names_secret = match (is_word, is_ambiguous) {
        // `PWD` and `OLD_PWD` are folders.
        (true, true) => !matches!(last, "" | "OLD" | "INIT"),
        (true, false) => true,
        (false, true) => PASS_WORDS.contains(&last),
        (false, false) => kind != SecretKind::KEY || KEY_WORDS.contains(&last),
    };
    let is_open = is_word && OPEN_WORDS.contains(&format!(" {} ", last.to_lowercase()));
    names_secret.then_some(VariableName { len: name.len(), kind, is_open, is_ambiguous })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the value that is found in an assignment with some words in front.
    fn found(text: &str) -> &str {
        let at = text.find(|it: char| it.is_ascii_uppercase()).unwrap();
        let secret = assigned_secret_at(text, at, |_| None);
        secret.map_or("", |it| &text[it.range])
    }

    #[test]
    fn a_password_is_found_whole_with_the_signs_of_shells() {
        for value in [
            "Xk39>fjw2LmQz",
            "Xk3<9fjw2LmQz",
            "Abcd&efgh9912x",
            "Abcd\\zfgh9912x",
            "(k9fjw2LmQz",
            "Xk39'fjw2LmQz",
            "Xk39\"fjw2LmQz",
        ] {
            assert_eq!(found(&format!("DB_PASSWORD={value}")), value);
            assert_eq!(found(&format!("export DB_PASSWORD={value} x")), value);
        }
    }

    #[test]
    fn a_dollar_in_single_quotes_is_a_part_of_a_password_or_refers_to_a_variable() {
        assert_eq!(found("export DB_PASSWORD='$ecr3tP@ss77'"), "$ecr3tP@ss77");
        for text in [
            "DB_PASSWORD=\"$ecr3tP@ss77\"",
            "DB_PASSWORD='$DB_PASSWORD'",
            "DB_PASSWORD='${DB_PASSWORD}'",
            "DB_PASSWORD='$(pass show x)'",
        ] {
            assert_eq!(found(text), "", "{text}");
        }
    }

    #[test]
    fn a_long_word_in_quotes_is_a_password_and_a_short_one_a_word() {
        assert_eq!(found("DB_PASSWORD: \"correcthorsebattery\""), "correcthorsebattery");
        for text in ["PASSWORD: \"required\"", "RESET_PASSWORD = \"resetpasswordconfirmation\""] {
            assert_eq!(found(text), "", "{text}");
        }
    }

    #[test]
    fn names_that_end_in_pass_or_pwd_have_passwords() {
        for text in ["DB_PASS=k9fjw2LmQz", "MYSQL_PWD=k9fjw2LmQz", "SMTP_PASSWD: k9fjw2LmQz"] {
            assert_eq!(found(text), "k9fjw2LmQz", "{text}");
        }
        assert_eq!(found("export DB_PASS=swordfish"), "swordfish");
        for text in ["TESTS_PASS=twelve", "PWD=/srv/seams2", "DB_PASS=password"] {
            assert_eq!(found(text), "", "{text}");
        }
    }

    #[test]
    fn what_is_exported_is_a_secret_unless_it_identifies_something_else() {
        for (text, value) in [
            ("export MAP_KEY=sesame", "sesame"),
            ("export DB_PASSWORD=SWORDFISH", "SWORDFISH"),
            ("export CACHE_KEY=3f2a9c04bd71e8553f2a9c04", "3f2a9c04bd71e8553f2a9c04"),
        ] {
            assert_eq!(found(text), value, "{text}");
        }
        for text in [
            "export CONFIG_KEY=database.host",
            "export SSH_KEY=id_ed25519",
            "export GPG_KEY=alice@corp.com",
            "export LICENSE_KEY=COMMUNITY",
            "export S3_KEY=uploads/2026/03/file-2.png",
            "export DB_PASSWORD=prompt",
            "export SORT_KEY=created_at",
        ] {
            assert_eq!(found(text), "", "{text}");
        }
    }

    #[test]
    fn keys_of_maps_caches_and_commits_are_no_secrets() {
        for text in [
            "ISSUE_KEY=PROJ-1234",
            "STORAGE_KEY = \"app-state-v2b3c4d5e6\"",
            "I18N_KEY: 'x9y8z7w6v5u4'",
            "ARTIFACT_KEY: build-7f3a9c2d1e5b",
            "COMMIT_KEY: 3f2a9c04bd71e8553f2a9c04bd71e8553f2a9c04",
        ] {
            assert_eq!(found(text), "", "{text}");
        }
    }

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

    #[test]
    fn names_of_secrets_end_in_words_for_them() {
        for name in ["API_KEY", "APIKEY", "KEY", "DB_PASS", "MYSQL_PWD", "DB_PASSWD", "SSHPASS"] {
            assert!(parse_variable_name(name).is_some_and(|it| !it.is_open), "{name}");
        }
        for name in ["MONKEY", "PWD", "OLDPWD", "BYPASS", "COMPASS", "PASS", "STRIPE_PUBLIC_KEY"] {
            assert_eq!(parse_variable_name(name), None, "{name}");
        }
        for name in ["CACHE_KEY", "I18N_KEY", "COMMIT_KEY", "NEXT_TOKEN", "RENDER_PASS"] {
            assert!(parse_variable_name(name).is_some_and(|it| it.is_open), "{name}");
        }
    }

    #[test]
    fn a_name_ends_where_small_letters_begin_and_is_none_then() {
        let len = |text| variable_name_at(text, 0).map(|it| it.len);
        assert_eq!(len("API_KEY=x"), Some(7));
        assert_eq!(len("API_KEYs"), None);
    }
}
