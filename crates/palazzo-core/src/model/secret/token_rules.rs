//! The tokens that are recognised by their first characters, as their services document them, and the
//! secret half of an access key of AWS, which is recognised by its name.

use crate::model::secret::kind::{Secret, SecretKind};
use crate::model::secret::placeholder::{MAX_JUDGED_LEN, is_example, looks_random};

/// A rule for the tokens that begin with `prefix`.
struct TokenRule {
    prefix: &'static str,
    kind: SecretKind,
    /// Returns whether the rest of a token may contain this byte.
    is_body: fn(u8) -> bool,
    /// The minimum and maximum length of the rest.
    body_len: (usize, usize),
    /// Whether the prefix belongs to the secret, and not to what names it.
    with_prefix: bool,
    /// Whether the rest must look random, because words may have this form too.
    must_look_random: bool,
}

/// The maximum length of a token whose service gives none. The first characters decide whether it
/// is one.
const UNLIMITED: usize = usize::MAX;

/// Returns the token that begins at `at`, which must be the beginning of a word.
pub(super) fn token_at(text: &str, at: usize) -> Option<Secret> {
    let rest = &text.as_bytes()[at..];
    let rules = rules_for(*rest.first()?).iter();
    rules.filter(|it| rest.starts_with(it.prefix.as_bytes())).find_map(|it| it.token_at(text, at))
}

impl TokenRule {
    fn token_at(&self, text: &str, at: usize) -> Option<Secret> {
        let start = at + self.prefix.len();
        let (min, max) = self.body_len;
        let judged = if max == UNLIMITED { MAX_JUDGED_LEN } else { max + 1 };
        let body = self.body_at(text, start, judged)?;
        let looks_right = !self.must_look_random || looks_random(body);
        let is_token = (min..=max).contains(&body.len()) && looks_right && !is_example(body);
        if !is_token {
            return None;
        }
        let from = if self.with_prefix { at } else { start };
        let end = start + self.body_at(text, start, max)?.len();
        Some(Secret { range: from..end, kind: self.kind })
    }

    /// Returns the characters of a token from `start` on, at most `max`. A full stop behind it ends
    /// a sentence.
    fn body_at<'a>(&self, text: &'a str, start: usize, max: usize) -> Option<&'a str> {
        let bytes = text.as_bytes()[start..].iter().take(max);
        let len = bytes.take_while(|it| (self.is_body)(**it)).count();
        Some(text.get(start..start + len)?.trim_end_matches('.'))
    }
}

fn is_alphanumeric(it: u8) -> bool {
    it.is_ascii_alphanumeric()
}

fn is_word(it: u8) -> bool {
    it.is_ascii_alphanumeric() || it == b'_'
}

/// Characters of base64url.
fn is_url(it: u8) -> bool {
    is_word(it) || it == b'-'
}

fn is_url_or_dot(it: u8) -> bool {
    is_url(it) || it == b'.'
}

/// Characters of base64.
fn is_base64(it: u8) -> bool {
    it.is_ascii_alphanumeric() || matches!(it, b'+' | b'/' | b'=')
}

fn is_upper(it: u8) -> bool {
    it.is_ascii_uppercase() || it.is_ascii_digit()
}

fn is_hex(it: u8) -> bool {
    it.is_ascii_hexdigit()
}

/// Characters of the path of a webhook.
fn is_path(it: u8) -> bool {
    is_url(it) || it == b'/'
}

const fn rule(
    prefix: &'static str,
    kind: &'static str,
    is_body: fn(u8) -> bool,
    min: usize,
    max: usize,
) -> TokenRule {
    let kind = SecretKind::of_service(kind);
    TokenRule {
        prefix,
        kind,
        is_body,
        body_len: (min, max),
        with_prefix: true,
        must_look_random: true,
    }
}

/// A rule for values that are recognised by the key in front of them.
const fn value_rule(
    prefix: &'static str,
    kind: &'static str,
    is_body: fn(u8) -> bool,
    min: usize,
    max: usize,
) -> TokenRule {
    TokenRule { with_prefix: false, ..rule(prefix, kind, is_body, min, max) }
}

/// A rule for tokens of capitals and digits, of which no word has the form.
const fn capitals_rule(prefix: &'static str, kind: SecretKind, len: usize) -> TokenRule {
    let token_rule = rule(prefix, kind.name(), is_upper, len, len);
    TokenRule { must_look_random: false, ..token_rule }
}

/// Returns the rules whose prefixes begin with a byte.
fn rules_for(first: u8) -> &'static [TokenRule] {
    match first {
        b'A' => UPPER_A_RULES,
        b'G' | b'S' => UPPER_RULES,
        b'g' => GIT_RULES,
        b's' => S_RULES,
        b'x' => SLACK_RULES,
        b'h' => H_RULES,
        b'c' | b'd' | b'n' | b'p' | b'r' | b'w' => LOWER_RULES,
        _ => &[],
    }
}

const UPPER_A_RULES: &[TokenRule] = &[
    capitals_rule("AKIA", SecretKind::AWS_ACCESS_KEY, 16),
    capitals_rule("ASIA", SecretKind::AWS_ACCESS_KEY, 16),
    capitals_rule("ABIA", SecretKind::AWS_ACCESS_KEY, 16),
    capitals_rule("ACCA", SecretKind::AWS_ACCESS_KEY, 16),
    rule("AIza", "Google key", is_url, 35, 35),
    capitals_rule("AGE-SECRET-KEY-1", SecretKind::PRIVATE_KEY, 58),
    value_rule("AccountKey=", "Azure key", is_base64, 64, 120),
];

const UPPER_RULES: &[TokenRule] = &[
    rule("GOCSPX-", "Google key", is_url, 28, 28),
    rule("SG.", "SendGrid key", is_url_or_dot, 60, 70),
    value_rule("SharedAccessKey=", "Azure key", is_base64, 40, 120),
];

const GIT_RULES: &[TokenRule] = &[
    rule("ghp_", "GitHub token", is_word, 36, UNLIMITED),
    rule("gho_", "GitHub token", is_word, 36, UNLIMITED),
    rule("ghu_", "GitHub token", is_word, 36, UNLIMITED),
    rule("ghs_", "GitHub token", is_url_or_dot, 36, UNLIMITED),
    rule("ghr_", "GitHub token", is_word, 36, UNLIMITED),
    rule("github_pat_", "GitHub token", is_word, 60, UNLIMITED),
    rule("glpat-", "GitLab token", is_url_or_dot, 20, UNLIMITED),
    rule("gldt-", "GitLab token", is_url_or_dot, 20, UNLIMITED),
    rule("glrt-", "GitLab token", is_url_or_dot, 20, UNLIMITED),
    rule("glrtr-", "GitLab token", is_url_or_dot, 20, UNLIMITED),
    rule("glcbt-", "GitLab token", is_url_or_dot, 20, UNLIMITED),
    rule("glptt-", "GitLab token", is_url_or_dot, 20, UNLIMITED),
    rule("glft-", "GitLab token", is_url_or_dot, 20, UNLIMITED),
    rule("glimt-", "GitLab token", is_url_or_dot, 20, UNLIMITED),
    rule("glagent-", "GitLab token", is_url_or_dot, 20, UNLIMITED),
    rule("glsoat-", "GitLab token", is_url_or_dot, 20, UNLIMITED),
    rule("gloas-", "GitLab token", is_url_or_dot, 20, UNLIMITED),
    rule("glffct-", "GitLab token", is_url_or_dot, 20, UNLIMITED),
    rule("glwt-", "GitLab token", is_url_or_dot, 20, UNLIMITED),
];

const S_RULES: &[TokenRule] = &[
    rule("sk-ant-", "Anthropic key", is_url, 60, UNLIMITED),
    rule("sk-proj-", "OpenAI key", is_url, 40, UNLIMITED),
    rule("sk-svcacct-", "OpenAI key", is_url, 40, UNLIMITED),
    rule("sk-admin-", "OpenAI key", is_url, 40, UNLIMITED),
    rule("sk-or-v1-", "OpenRouter key", is_hex, 64, 64),
    rule("sk-", "OpenAI key", is_alphanumeric, 32, UNLIMITED),
    rule("sk_live_", "Stripe key", is_alphanumeric, 16, UNLIMITED),
    rule("shpat_", "Shopify token", is_hex, 32, 32),
    rule("shpss_", "Shopify token", is_hex, 32, 32),
    rule("shppa_", "Shopify token", is_hex, 32, 32),
    rule("shpca_", "Shopify token", is_hex, 32, 32),
];

const SLACK_RULES: &[TokenRule] = &[
    rule("xoxb-", "Slack token", is_url, 20, UNLIMITED),
    rule("xoxp-", "Slack token", is_url, 20, UNLIMITED),
    rule("xoxa-", "Slack token", is_url, 20, UNLIMITED),
    rule("xoxr-", "Slack token", is_url, 20, UNLIMITED),
    rule("xoxs-", "Slack token", is_url, 20, UNLIMITED),
    rule("xoxe-", "Slack token", is_url, 20, UNLIMITED),
    rule("xoxc-", "Slack token", is_url, 20, UNLIMITED),
    rule("xoxd-", "Slack token", is_url, 20, UNLIMITED),
    rule("xapp-", "Slack token", is_url, 20, UNLIMITED),
];

const H_RULES: &[TokenRule] = &[
    rule("hf_", "Hugging Face token", is_alphanumeric, 30, 40),
    rule("hvs.", "Vault token", is_url, 24, UNLIMITED),
    rule("hvb.", "Vault token", is_url, 24, UNLIMITED),
    rule("hvr.", "Vault token", is_url, 24, UNLIMITED),
    rule("https://hooks.slack.com/services/", "Slack token", is_path, 30, 120),
    rule("https://discord.com/api/webhooks/", "Discord webhook", is_path, 60, 160),
    rule("https://discordapp.com/api/webhooks/", "Discord webhook", is_path, 60, 160),
];

const LOWER_RULES: &[TokenRule] = &[
    rule("cio", "crates.io token", is_alphanumeric, 32, 32),
    rule("dckr_pat_", "Docker token", is_url, 24, 64),
    rule("dop_v1_", "DigitalOcean token", is_hex, 64, 64),
    rule("doo_v1_", "DigitalOcean token", is_hex, 64, 64),
    rule("dor_v1_", "DigitalOcean token", is_hex, 64, 64),
    rule("npm_", "npm token", is_alphanumeric, 36, 36),
    rule("pypi-AgE", "PyPI token", is_url, 50, UNLIMITED),
    rule("rk_live_", "Stripe key", is_alphanumeric, 16, UNLIMITED),
    rule("whsec_", "Stripe key", is_base64, 32, 64),
];

/// The names of the key in files and answers of AWS, without case and underscores.
const AWS_KEY_NAMES: [&str; 4] =
    ["awssecretaccesskey", "awssecretkey", "secretaccesskey", "s3secretaccesskey"];

/// The length of a key.
const AWS_KEY_LEN: usize = 40;

/// The maximum number of characters between the name and the key.
const MAX_SEPARATORS: usize = 12;

/// Returns the key whose name begins at `at`.
pub(super) fn aws_secret_key_at(text: &str, at: usize) -> Option<Secret> {
    let rest = &text.as_bytes()[at..];
    let longest = AWS_KEY_NAMES[0].len() + 4;
    let is_name = |it: &&u8| it.is_ascii_alphanumeric() || **it == b'_';
    let name_len = rest.iter().take(longest).take_while(is_name).count();
    let letters = rest[..name_len].iter().filter(|it| **it != b'_').map(u8::to_ascii_lowercase);
    if !AWS_KEY_NAMES.iter().any(|it| letters.clone().eq(it.bytes())) {
        return None;
    }
    let is_separator =
        |it: &&u8| matches!(**it, b' ' | b'\t' | b'"' | b'\'' | b'\\' | b'=' | b':' | b'>');
    let between = rest[name_len..].iter().take(MAX_SEPARATORS).take_while(is_separator).count();
    let start = at + name_len + between;
    let is_base64 = |it: &&u8| it.is_ascii_alphanumeric() || matches!(**it, b'+' | b'/');
    let bytes = &text.as_bytes()[start..];
    let len = bytes.iter().take(AWS_KEY_LEN + 1).take_while(is_base64).count();
    let key = text.get(start..start + len).filter(|_| len == AWS_KEY_LEN && between > 0)?;
    (looks_random(key) && !is_example(key))
        .then_some(Secret { range: start..start + len, kind: SecretKind::AWS_SECRET_KEY })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_without_a_documented_length_ends_at_its_end() {
        let token = format!("ghs_1234_{}.{}", "k9fj2".repeat(200), "w7Lm_".repeat(100));
        assert_eq!(token_at(&format!("{token}. x"), 0).unwrap().range, 0..token.len());
    }

    #[test]
    fn a_token_of_a_documented_length_is_not_longer() {
        let key = format!("AIza{}", "k9fj2".repeat(7));
        assert!(token_at(&key, 0).is_some());
        assert_eq!(token_at(&format!("{key}x"), 0), None);
    }
}
