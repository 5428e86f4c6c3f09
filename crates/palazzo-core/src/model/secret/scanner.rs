//! Scans a text for secrets of all kinds.

use crate::model::secret::assignment::assigned_secret_at;
use crate::model::secret::json_web_token::{decode_base64, json_web_token_at};
use crate::model::secret::kind::{Secret, SecretKind};
use crate::model::secret::placeholder::{
    MAX_JUDGED_LEN, has_digit_and_letter, is_example, is_placeholder, looks_random,
};
use crate::model::secret::private_key::{encoded_key_at, private_key_at};
use crate::model::secret::token_rules::{aws_secret_key_at, token_at};

/// Whether something that the scanner looks at may begin with a byte. Most bytes of a text are
/// skipped by it.
const CAN_BEGIN: [bool; 256] = {
    let mut can_begin = [false; 256];
    let starts = b":-_ABCDEFGHIJKLMNOPQRSTUVWXYZacdeghnprswx";
    let mut at = 0;
    while at < starts.len() {
        can_begin[starts[at] as usize] = true;
        at += 1;
    }
    can_begin
};

/// Finds the secrets in a text, in their order. They do not overlap.
pub fn find_secrets(text: &str) -> Vec<Secret> {
    let (bytes, mut secrets) = (text.as_bytes(), Vec::new());
    let (mut at, mut free) = (0, 0);
    while let Some(it) = bytes.get(at) {
        if !CAN_BEGIN[usize::from(*it)] {
            at += 1;
            continue;
        }
        let secret = match it {
            b':' => secret_at_colon(text, at).filter(|it| it.range.start >= free),
            b'-' if bytes[at..].starts_with(b"-----") => private_key_at(text, at, free),
            _ if at != free && is_inside_word(&bytes[..at]) => None,
            _ if !can_begin_secret(bytes, at) => None,
            // Behind a secret, a bracket will stand.
            _ if at == free || ends_word(&bytes[..at]) => secret_at_word(text, at, at == free),
            _ => secret_behind_underscores(text, at),
        };
        match secret {
            Some(secret) => {
                (at, free) = (secret.range.end, secret.range.end);
                secrets.push(secret);
            }
            None => at += 1,
        }
    }
    secrets
}

/// Returns whether a secret, or the name of one, may begin at `at`, by its first two characters.
fn can_begin_secret(bytes: &[u8], at: usize) -> bool {
    let Some(second) = bytes.get(at + 1) else { return false };
    let is_capitalized = second.is_ascii_lowercase();
    let seconds: &[u8] = match bytes[at] {
        b'_' => return true,
        b'A' if is_capitalized => b"cuw",
        b'P' if is_capitalized => b"r",
        b'S' if is_capitalized => b"eh",
        b'A'..=b'Z' => return !is_capitalized,
        b'a' => b"uUwW",
        b'c' => b"i",
        b'd' => b"co",
        b'e' => b"yw",
        b'g' => b"hil",
        b'h' => b"ftv",
        b'n' => b"p",
        b'p' => b"ry",
        b'r' => b"k",
        b's' => b"ehkE3",
        b'w' => b"h",
        b'x' => b"-ao",
        _ => return false,
    };
    seconds.contains(second)
}

fn secret_at_word(text: &str, at: usize, is_free: bool) -> Option<Secret> {
    let specific_at = |at: usize| token_at(text, at).or_else(|| json_web_token_at(text, at));
    let is_after_hyphen = at > 0 && text.as_bytes()[at - 1] == b'-';
    match text.as_bytes()[at] {
        b'e' if is_after_hyphen && !is_free => None,
        b'e' => json_web_token_at(text, at),
        b'a' => authorization_at(text, at, specific_at).or_else(|| aws_secret_key_at(text, at)),
        b's' => token_at(text, at).or_else(|| aws_secret_key_at(text, at)),
        b'A'..=b'Z' | b'_' => {
            let of_name =
                authorization_at(text, at, specific_at).or_else(|| aws_secret_key_at(text, at));
            let key_at = |at| private_key_at(text, at, at).or_else(|| encoded_key_at(text, at));
            let value_at = |at| specific_at(at).or_else(|| key_at(at));
            let found = token_at(text, at).or(of_name).or_else(|| encoded_key_at(text, at));
            found.or_else(|| assigned_secret_at(text, at, value_at))
        }
        b'p' | b'x' => token_at(text, at).or_else(|| authorization_at(text, at, specific_at)),
        _ => token_at(text, at),
    }
}

/// Returns the token that begins at `at` behind `_`: in Markdown, `_` also ends it then.
fn secret_behind_underscores(text: &str, at: usize) -> Option<Secret> {
    let before = &text.as_bytes()[..at];
    let underscores = count_underscores(before);
    if underscores == 0 {
        return None;
    }
    let begins_word = ends_word(&before[..at - underscores]);
    let other = || begins_word.then(|| json_web_token_at(text, at)).flatten();
    let mut secret = token_at(text, at).or_else(other)?;
    let token = &text[secret.range.clone()];
    if token.ends_with(&"_".repeat(underscores)) {
        secret.range.end -= underscores;
    }
    // A name in capitals may contain the first letters of a key of AWS.
    let is_name = token.bytes().all(|it| it.is_ascii_uppercase());
    (!is_name).then_some(secret)
}

fn secret_at_colon(text: &str, at: usize) -> Option<Secret> {
    match text[at..].starts_with("://") {
        true => url_password_at(text, at),
        false => telegram_token_at(text, at),
    }
}

/// The headers that contain a scheme and credentials.
const SCHEME_HEADERS: [&str; 1] = ["authorization"];

/// The headers that contain a token alone.
const TOKEN_HEADERS: [&str; 4] = ["x-api-key", "x-auth-token", "x-access-token", "private-token"];

/// The schemes of tokens, besides `Basic` with a user and a password.
const TOKEN_SCHEMES: [&str; 5] = ["bearer ", "token ", "apikey ", "api-key ", "key "];

/// The maximum number of characters between the name and the scheme.
const MAX_SEPARATORS: usize = 8;

/// The minimum length of a token.
const MIN_TOKEN_LEN: usize = 20;

/// Returns the credentials of the header that begins at `at`. If they are a secret of a kind of its
/// own, `specific_at` returns it for the place where they begin.
fn authorization_at(
    text: &str,
    at: usize,
    specific_at: impl Fn(usize) -> Option<Secret>,
) -> Option<Secret> {
    let bytes = text.as_bytes();
    let word_end = |at: usize, words: &[&str]| {
        let has = |it: &&&str| {
            let found = bytes.get(at..at + it.len());
            found.is_some_and(|found| found.eq_ignore_ascii_case(it.as_bytes()))
        };
        words.iter().find(has).map(|it| at + it.len())
    };
    let value_start = |name_end: usize| {
        let is_separator = |it: &&u8| b" \"'\\=:,".contains(it);
        let between = bytes[name_end..].iter().take(MAX_SEPARATORS).take_while(is_separator);
        Some(name_end + between.count()).filter(|it| *it > name_end)
    };
    let (start, is_secret): (usize, fn(&str) -> bool) = match word_end(at, &SCHEME_HEADERS) {
        Some(name_end) => {
            let scheme_at = value_start(name_end)?;
            match word_end(scheme_at, &["basic "]) {
                Some(start) => (start, is_user_and_password),
                None => (word_end(scheme_at, &TOKEN_SCHEMES)?, is_token),
            }
        }
        None => (value_start(word_end(at, &TOKEN_HEADERS)?)?, is_token),
    };
    let is_credential = |it: &&u8| it.is_ascii_alphanumeric() || b"+/=_-.~".contains(it);
    let len = bytes[start..].iter().take_while(is_credential).count();
    let credentials = text[start..start + len].trim_end_matches('.');
    let range = start..start + credentials.len();
    let other =
        || is_secret(credentials).then_some(Secret { range, kind: SecretKind::AUTHORIZATION });
    specific_at(start).or_else(other)
}

fn is_user_and_password(credentials: &str) -> bool {
    let decoded = decode_base64(credentials).and_then(|it| String::from_utf8(it).ok());
    let password = decoded.as_deref().and_then(|it| it.split_once(':')).map(|(_, it)| it);
    password.is_some_and(|it| !is_placeholder(it))
}

fn is_token(credentials: &str) -> bool {
    let beginning = &credentials[..credentials.len().min(MAX_JUDGED_LEN)];
    beginning.len() >= MIN_TOKEN_LEN && looks_random(beginning) && !is_example(beginning)
}

/// The maximum length of a password that contains the end of a server's name, such as `/`.
const MAX_UNENCODED_LEN: usize = 128;

/// The minimum length of a password.
const MIN_PASSWORD_LEN: usize = 3;

/// The minimum length of a password in front of the name of a variable.
const MIN_LITERAL_LEN: usize = 8;

/// The domains that exist for documentation only (RFC 2606).
const EXAMPLE_DOMAINS: [&str; 6] =
    ["example.com", "example.org", "example.net", "example", "test", "invalid"];

/// What ends the server in a URL. A password that contains it should be encoded, but often is not.
const SERVER_ENDINGS: &[u8] = b"/|),";

/// The number of digits in front of the colon of a token of Telegram.
const TELEGRAM_ID_LEN: std::ops::RangeInclusive<usize> = 8..=10;

/// The length of the part behind the colon.
const TELEGRAM_KEY_LEN: usize = 35;

/// Returns the password in the URL whose `://` begins at `at`.
fn url_password_at(text: &str, at: usize) -> Option<Secret> {
    let start = at + "://".len();
    let is_end = |it: u8| it.is_ascii_whitespace() || b"\"'`\\".contains(&it);
    let bytes = text.as_bytes().get(start..)?.iter();
    let len = bytes.take_while(|it| !is_end(**it) && !SERVER_ENDINGS.contains(it)).count();
    let (user_and_password, host) = match text[start..start + len].rsplit_once('@') {
        Some(parts) => parts,
        None => unencoded_parts(&text[start..], len, is_end)?,
    };
    let (user, password) = user_and_password.split_once(':')?;
    let password_start = start + user.len() + 1;
    if !user.chars().all(|it| it.is_alphanumeric() || "._~%+-".contains(it)) {
        return None;
    }
    let token = (start..=password_start).find_map(|it| token_at(text, it));
    if token.is_some() {
        return token;
    }
    let is_described =
        password.len() < MIN_PASSWORD_LEN || password == user || is_placeholder(password);
    let is_secret = !is_described && looks_like_password(password, host);
    let range = password_start..password_start + password.len();
    is_secret.then_some(Secret { range, kind: SecretKind::URL_PASSWORD })
}

/// Splits a URL at the `@` behind a password that contains the end of a server's name, which would
/// be at `len`.
fn unencoded_parts(url: &str, len: usize, is_end: fn(u8) -> bool) -> Option<(&str, &str)> {
    let (_, beginning) = url[..len].split_once(':')?;
    if beginning.is_empty() || beginning.bytes().all(|it| it.is_ascii_digit()) {
        return None; // A port, or the path of a file.
    }
    let rest = url.as_bytes()[len..].iter().take(MAX_UNENCODED_LEN);
    let at = len + rest.take_while(|it| !is_end(**it)).position(|it| *it == b'@')?;
    let host = url[at + 1..].split(|it: char| u8::try_from(it).is_ok_and(is_end)).next()?;
    let (_, password) = url[..at].split_once(':')?;
    looks_random(password).then_some((&url[..at], host))
}

/// Returns whether a password in front of a server is one, and no word of a documentation.
fn looks_like_password(password: &str, host: &str) -> bool {
    let name = host.split([':', '/', '?']).next().unwrap_or_default();
    let is_in = |domain: &&str| {
        name.strip_suffix(domain).is_some_and(|it| it.is_empty() || it.ends_with('.'))
    };
    match host.chars().next() {
        // `$DB_HOST`, `{host}`, `%s`, `<host>`
        Some('$' | '{' | '%' | '<' | '#') => {
            password.len() >= MIN_LITERAL_LEN && has_digit_and_letter(password)
        }
        Some(it) if it.is_alphanumeric() || it == '[' => {
            !EXAMPLE_DOMAINS.iter().any(is_in) || looks_random(password)
        }
        _ => false,
    }
}

/// Returns the token of a Telegram bot whose colon is at `at`: the id, a colon and 35 characters.
fn telegram_token_at(text: &str, at: usize) -> Option<Secret> {
    let bytes = text.as_bytes();
    if !bytes[at + 1..].starts_with(b"AA") {
        return None;
    }
    let id = bytes[..at].iter().rev().take(11).take_while(|it| it.is_ascii_digit()).count();
    let is_key = |it: &&u8| it.is_ascii_alphanumeric() || matches!(**it, b'-' | b'_');
    let key = bytes[at + 1..].iter().take(TELEGRAM_KEY_LEN + 1).take_while(is_key).count();
    let body = text.get(at + 1..at + 1 + key)?;
    let is_token = TELEGRAM_ID_LEN.contains(&id) && key == TELEGRAM_KEY_LEN && looks_random(body);
    let range = at - id..at + 1 + key;
    let kind = SecretKind::of_service("Telegram token");
    (is_token && !is_example(body)).then_some(Secret { range, kind })
}

/// The maximum length of the parameters of a terminal sequence, such as `01;31`.
const MAX_SEQUENCE_LEN: usize = 16;

/// Returns whether a word may begin behind a text.
fn ends_word(before: &[u8]) -> bool {
    let is_word = before.last().is_some_and(|it| it.is_ascii_alphanumeric() || *it == b'_');
    !is_word || ends_encoded_character(before) || ends_terminal_sequence(before)
}

/// Returns true where, by the last character alone, no word can begin behind a text, and no `_` is. It is
/// quicker than [`ends_word`].
fn is_inside_word(before: &[u8]) -> bool {
    // Escapes and terminal sequences end in digits and the other letters.
    let last = before.last();
    last.is_some_and(|it| matches!(it, b'g'..=b'l' | b'o'..=b'q' | b's' | b'u'..=b'z' | b'G'..=b'J' | b'L'..=b'Z'))
}

/// Returns the number of `_` at the end of a text: where Markdown emphasises a word, and between
/// the words of a name.
fn count_underscores(before: &[u8]) -> usize {
    before.iter().rev().take(3).take_while(|it| **it == b'_').count()
}

/// Returns whether a text ends with an escape of a string or a URL: `\n`, `\x20`, `\u0022`, `%3D`.
fn ends_encoded_character(before: &[u8]) -> bool {
    let digits = match before {
        [.., b'\\', b'n' | b'r' | b't'] => return true,
        [.., b'%', _, _] | [.., b'\\', b'x', _, _] => 2,
        [.., b'\\', b'u', _, _, _, _] => 4,
        _ => return false,
    };
    before[before.len() - digits..].iter().all(u8::is_ascii_hexdigit)
}

/// Returns whether a text ends with a sequence that sets the colour of a terminal or clears its
/// line, with or without the escape character: `[0;32m`, `[K`.
fn ends_terminal_sequence(before: &[u8]) -> bool {
    let Some((b'm' | b'K', parameters)) = before.split_last() else {
        return false;
    };
    let is_parameter = |it: &&u8| it.is_ascii_digit() || **it == b';';
    let len = parameters.iter().rev().take(MAX_SEQUENCE_LEN).take_while(is_parameter).count();
    parameters[..parameters.len() - len].ends_with(b"[")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::secret::redact_secrets;
    use std::collections::BTreeMap;

    const CORPUS: &str =
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/secrets/corpus.txt"));

    /// Characters of base64, in the order of their values.
    const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    /// The kinds of which nearly all must be found.
    const REQUIRED_KINDS: [&str; 6] =
        ["private key", "AWS access key", "AWS secret key", "GitHub token", "GitLab token", "JWT"];

    /// How many times the templates are filled, each time with other random characters.
    const SEEDS: u64 = 10;

    /// A case of the corpus: a text, and the secrets in it.
    struct Case {
        line: usize,
        kind: String,
        text: String,
        expected: Vec<std::ops::Range<usize>>,
    }

    /// A generator of the same random numbers in each run (`SplitMix64`).
    struct Random(u64);

    impl Random {
        fn below(&mut self, limit: usize) -> usize {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            usize::try_from((mixed ^ (mixed >> 31)) % limit as u64).unwrap()
        }

        fn text(&mut self, alphabet: &str, len: usize) -> String {
            let alphabet: Vec<_> = alphabet.chars().collect();
            (0..len).map(|_| alphabet[self.below(alphabet.len())]).collect()
        }

        /// Returns base64 of a length in lines of 64 characters.
        fn lines(&mut self, len: usize) -> Vec<String> {
            let text = self.text(BASE64, len);
            let lines = text.as_bytes().chunks(64);
            lines.map(|it| String::from_utf8_lossy(it).into_owned()).collect()
        }

        /// Returns what stands for a template such as `alnum 36`.
        fn fill(&mut self, template: &str) -> String {
            let (name, argument) = template.split_once(' ').unwrap();
            let (lower, digits) = ("abcdefghijklmnopqrstuvwxyz", "0123456789");
            let upper = lower.to_uppercase();
            let alphabet = match name {
                "json" => return encode_base64(argument).replace('+', "-").replace('/', "_"),
                "basic" => return encode_base64(argument),
                "pem" => {
                    let (len, separator) = argument.split_once(' ').unwrap();
                    return self.lines(len.parse().unwrap()).join(separator);
                }
                "key64" => {
                    let (len, label) = argument.split_once(' ').unwrap();
                    let lines = self.lines(len.parse().unwrap()).join("\n");
                    let file = format!("-----BEGIN {label}-----\n{lines}\n-----END {label}-----");
                    return encode_base64(&file);
                }
                "alnum" => format!("{upper}{lower}{digits}"),
                "lower" => format!("{lower}{digits}"),
                "upper" => format!("{upper}{digits}"),
                "b32" => format!("{upper}234567"),
                "hex" => format!("{digits}abcdef"),
                "HEX" => format!("{digits}ABCDEF"),
                "digits" => digits.to_owned(),
                "b64" => BASE64.to_owned(),
                "url" => BASE64.replace('+', "-").replace('/', "_"),
                other => panic!("{other}"),
            };
            self.text(&alphabet, argument.parse().unwrap())
        }
    }

    fn encode_base64(text: &str) -> String {
        let alphabet = BASE64.as_bytes();
        let mut encoded = String::new();
        for chunk in text.as_bytes().chunks(3) {
            let bits = chunk.iter().fold(0, |bits, it| (bits << 8) | usize::from(*it));
            let bits = bits << (8 * (3 - chunk.len()));
            for place in 0..=chunk.len() {
                encoded.push(alphabet[(bits >> (18 - 6 * place)) & 63].into());
            }
        }
        encoded
    }

    /// Fills the templates of a case; `seed` selects the random characters.
    fn cases(seed: u64) -> Vec<Case> {
        let lines = (1..).zip(CORPUS.lines());
        let lines = lines.filter(|(_, it)| !it.is_empty() && !it.starts_with('#'));
        let parse = |(line, it): (usize, &str)| {
            let (kind, template) = it.split_once(" | ").unwrap();
            let template = template.replace('⏎', "\n").replace('␍', "\r");
            let template = template.replace('␛', "\u{1b}");
            let mut random = Random((seed << 32) | line as u64);
            let (mut filled, mut rest) = (String::new(), template.as_str());
            while let Some((before, after)) = rest.split_once('‹') {
                let (inner, after) = after.split_once('›').unwrap();
                filled.push_str(before);
                filled.push_str(&random.fill(inner));
                rest = after;
            }
            filled.push_str(rest);
            let (mut text, mut expected) = (String::new(), Vec::new());
            for (index, part) in filled.split(['⟦', '⟧']).enumerate() {
                if index % 2 == 1 {
                    expected.push(text.len()..text.len() + part.len());
                }
                text.push_str(part);
            }
            Case { line, kind: kind.to_owned(), text, expected }
        };
        lines.map(parse).collect()
    }

    #[test]
    fn a_token_is_found_behind_emphasis_escapes_and_colours() {
        let token = format!("ghp_{}", "k9fjw2LmQzRt".repeat(3));
        for (before, after) in [
            ("_", "_"),
            ("__", "__"),
            ("old_", ""),
            ("\u{1b}[0;32m", "\u{1b}[0m"),
            ("[32m", "[0m"),
            ("token%3D", "%26"),
            ("\\u0022", "\\u0022"),
            ("\\x20", ""),
        ] {
            let text = format!("{before}{token}{after}");
            let found: Vec<_> = find_secrets(&text).into_iter().map(|it| &text[it.range]).collect();
            assert_eq!(found, [&token], "{before}");
        }
        assert_eq!(find_secrets(&format!("al{token}")), []);
        assert_eq!(find_secrets("EU_ASIAPACIFICREGIONALXX"), []);
    }

    #[test]
    fn a_redacted_text_contains_no_secret_and_keeps_everything_else() {
        for case in cases(11) {
            let redacted = redact_secrets(&case.text);
            assert_eq!(find_secrets(&redacted.text), [], "{}: {}", case.line, redacted.text);
            let mut rest = redacted.text.as_str();
            let mut at = 0;
            for Secret { range, kind } in &redacted.secrets {
                rest = rest.strip_prefix(&case.text[at..range.start]).unwrap();
                rest = rest.strip_prefix(&kind.replacement()).unwrap();
                at = range.end;
            }
            assert_eq!(rest, &case.text[at..]);
        }
    }

    /// The results for one kind.
    #[derive(Default)]
    struct Score {
        secrets: usize,
        found: usize,
        wrong: usize,
        texts_without: usize,
    }

    /// Compares what is found with what is expected; returns the scores, and the mistakes.
    fn score_cases(cases: &[Case]) -> (BTreeMap<&str, Score>, String) {
        let (mut scores, mut mistakes) = (BTreeMap::<&str, Score>::new(), String::new());
        for case in cases {
            let found = find_secrets(&case.text);
            let is_right =
                |it: &&Secret| case.expected.contains(&it.range) && it.kind.name() == case.kind;
            let right = found.iter().filter(is_right).count();
            let score = scores.entry(&case.kind).or_default();
            score.secrets += case.expected.len();
            score.found += right;
            score.wrong += found.len() - right;
            score.texts_without += usize::from(case.expected.is_empty());
            if right < found.len().max(case.expected.len()) {
                let found = found.iter().map(|it| (it.kind, &case.text[it.range.clone()]));
                let found: Vec<_> = found.collect();
                mistakes += &format!("line {}: {found:?} in {:?}\n", case.line, case.text);
            }
        }
        (scores, mistakes)
    }

    fn score_table(scores: &BTreeMap<&str, Score>) -> String {
        let mut table = format!("{:20} secrets  found  wrong  texts without\n", "kind");
        for (kind, Score { secrets, found, wrong, texts_without }) in scores {
            table += &format!("{kind:20} {secrets:7}  {found:5}  {wrong:5}  {texts_without:13}\n");
        }
        table
    }

    #[test]
    fn the_secrets_of_the_corpus_are_found_and_nothing_else() {
        assert!(cases(0).len() >= 300);
        let cases: Vec<_> = (0..SEEDS).flat_map(cases).collect();
        let (scores, mistakes) = score_cases(&cases);
        let table = score_table(&scores);
        let total = |of: fn(&Score) -> usize| scores.values().map(of).sum::<usize>();
        let (secrets, found, wrong) =
            (total(|it| it.secrets), total(|it| it.found), total(|it| it.wrong));
        assert!(100 * found >= 99 * (found + wrong), "precision\n{table}{mistakes}");
        assert!(100 * found >= 95 * secrets, "recall\n{table}{mistakes}");
        for kind in REQUIRED_KINDS {
            let Score { secrets, found, .. } = scores[kind];
            assert!(100 * found >= 95 * secrets, "recall of {kind}\n{table}{mistakes}");
        }
    }

    #[test]
    fn the_score_of_each_kind_is_known() {
        let cases: Vec<_> = (0..SEEDS).flat_map(cases).collect();
        let table = score_table(&score_cases(&cases).0);
        insta::assert_snapshot!("corpus-scores", table);
    }

    #[test]
    fn credentials_of_headers_are_found_to_their_end() {
        let token = "k9fjw2LmQzRt".repeat(500);
        for header in [
            "Authorization: Bearer ",
            "authorization: token ",
            "\"Authorization\": \"ApiKey ",
            "X-Api-Key: ",
            "x-auth-token=",
            "PRIVATE-TOKEN: ",
        ] {
            let text = format!("{header}{token}\"");
            let found = authorization_at(&text, usize::from(header.starts_with('"')), |_| None);
            assert_eq!(found.unwrap().range, header.len()..header.len() + token.len(), "{header}");
        }
    }

    #[test]
    fn words_behind_the_name_of_a_header_are_no_credentials() {
        for text in [
            "Authorization: token based, not by password",
            "X-Api-Key: your-api-key-goes-here-please",
            "x-api-key-of-the-weather-service",
        ] {
            assert_eq!(authorization_at(text, 0, |_| None), None, "{text}");
        }
    }

    fn password(url: &str) -> &str {
        let found = url_password_at(url, url.find("://").unwrap());
        found.map_or("", |it| &url[it.range])
    }

    #[test]
    fn a_password_in_a_url_ends_at_the_server() {
        for (url, expected) in [
            ("postgres://app:k9fjw2LmQz@db.examplecorp.com/prod", "k9fjw2LmQz"),
            ("postgres://app:k9fjw2LmQz@$DB_HOST:5432/prod", "k9fjw2LmQz"),
            ("postgres://app:k9fjw2LmQz@{host}/prod", "k9fjw2LmQz"),
            ("postgres://app:Xk3,9fjw2LmQz@db.corp.net/prod", "Xk3,9fjw2LmQz"),
            ("postgres://app:Xk3)9fjw2LmQz@db.corp.net/prod", "Xk3)9fjw2LmQz"),
            ("postgres://app:Xk3/9fjw2LmQz@db.corp.net/prod", "Xk3/9fjw2LmQz"),
            ("postgres://müller:k9fjw2LmQz@db.corp.net/prod", "k9fjw2LmQz"),
            ("postgres://app:k9f@jw2@db.corp.net/prod", "k9f@jw2"),
            ("(https://app:s3cr3tPwGiIjHG@db.example.org)", "s3cr3tPwGiIjHG"),
        ] {
            assert_eq!(password(url), expected, "{url}");
        }
    }

    #[test]
    fn a_password_of_any_length_is_found() {
        let long = "k9fjw2LmQz".repeat(200);
        assert_eq!(password(&format!("https://oauth2:{long}@git.corp.net/a.git")), long);
    }

    #[test]
    fn words_of_documentations_ports_and_paths_are_no_passwords() {
        for url in [
            "https://ada:hunter2@example.com",
            "https://ada:letmein@db.example.org:5432/a",
            "https://ada:sesame@db.test",
            "https://user:password@{host}/path",
            "http://localhost:3000/a1b2c3d4e5f6/b@c.d",
            "http://user:%s@%s",
            "file://C:/a1b2c3d4e5f6/x@y.d",
            "(http://a.b:c), the mail is ada@seams.dev",
        ] {
            assert_eq!(password(url), "", "{url}");
        }
    }

    #[test]
    fn a_word_begins_behind_signs_escapes_and_terminal_sequences() {
        for before in
            ["", " ", "=", "ü", "\\n", "\\x20", "\\u003d", "token%3D", "\u{1b}[0;32m", "[32m", "[K"]
        {
            assert!(ends_word(before.as_bytes()), "{before}");
            assert!(!is_inside_word(before.as_bytes()), "{before}");
        }
        for before in ["a", "z", "1", "_", "32m", "\\g", "u003d", "%3", "\\u00zd", "[am"] {
            assert!(!ends_word(before.as_bytes()), "{before}");
        }
    }

    #[test]
    fn most_letters_are_inside_of_a_word() {
        assert!(is_inside_word(b"wo") && !is_inside_word(b"wo_") && !is_inside_word(b"%20"));
    }

    #[test]
    fn underscores_are_counted() {
        assert_eq!(["a", "_", "a__"].map(|it| count_underscores(it.as_bytes())), [0, 1, 2]);
    }
}
