//! Scans a text for secrets of all kinds.

use crate::model::secret::assignment::assigned_secret_at;
use crate::model::secret::authorization::authorization_at;
use crate::model::secret::aws_secret_key::aws_secret_key_at;
use crate::model::secret::json_web_token::json_web_token_at;
use crate::model::secret::kind::Secret;
use crate::model::secret::private_key::{encoded_key_at, private_key_at};
use crate::model::secret::token_rules::token_at;
use crate::model::secret::url_password::{telegram_token_at, url_password_at};
use crate::model::secret::word_start::{count_underscores, ends_word, is_inside_word};

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
}
