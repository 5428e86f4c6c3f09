//! Finds secrets in texts: private keys, tokens of services, passwords.
//!
//! A secret is recognised by its form, as its service documents it, or by the name of the
//! variable to which it is assigned. What only shows where a secret stands, such as `<token>` or
//! `$TOKEN`, is none, and neither are the examples of documentations.
//!
//! The text is scanned once. Whether something is a secret is decided by its beginning, of limited
//! length; a secret is then followed to its end, and the scanner continues behind it. So the time
//! grows with the length of the text only.

mod assignment;
mod json_web_token;
mod kind;
mod placeholder;
mod private_key;
mod scanner;
mod token_rules;

pub use kind::{Secret, SecretKind};
pub use scanner::find_secrets;

/// A text without its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedactedText {
    /// The text, with `[redacted: kind]` in place of each secret.
    pub text: String,
    /// The secrets, by their places in the original text.
    pub secrets: Vec<Secret>,
}

/// Replaces each secret in a text by `[redacted: kind]`. That is no secret, so nothing changes when
/// the text is redacted again.
pub fn redact_secrets(text: &str) -> RedactedText {
    let secrets = find_secrets(text);
    let (mut redacted, mut at) = (String::with_capacity(text.len()), 0);
    for Secret { range, kind } in &secrets {
        redacted.push_str(&text[at..range.start]);
        redacted.push_str(&kind.replacement());
        at = range.end;
    }
    redacted.push_str(&text[at..]);
    RedactedText { text: redacted, secrets }
}
