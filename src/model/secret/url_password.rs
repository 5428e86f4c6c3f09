//! Finds what stands between colons: passwords in URLs, and the tokens of Telegram.

use crate::model::secret::kind::{Secret, SecretKind};
use crate::model::secret::placeholder::{is_example, is_placeholder, looks_random};
use crate::model::secret::token_rules::token_at;

/// The maximum length of user and password in a URL.
const MAX_USER_AND_PASSWORD_LEN: usize = 400;

/// The number of digits in front of the colon of a token of Telegram.
const TELEGRAM_ID_LEN: std::ops::RangeInclusive<usize> = 8..=10;

/// The length of the part behind the colon.
const TELEGRAM_KEY_LEN: usize = 35;

/// Returns the password in the URL whose `://` begins at `at`.
pub(super) fn url_password_at(text: &str, at: usize) -> Option<Secret> {
    let start = at + "://".len();
    let is_end = |it: &u8| it.is_ascii_whitespace() || b"/\"'`\\|),".contains(it);
    let bytes = text.as_bytes().get(start..)?.iter().take(MAX_USER_AND_PASSWORD_LEN);
    let len = bytes.take_while(|it| !is_end(it)).count();
    let authority = text.get(start..start + len)?;
    let (user_and_password, host) = authority.rsplit_once('@')?;
    let (user, password) = user_and_password.split_once(':')?;
    let password_start = start + user.len() + 1;
    let is_user = |it: u8| it.is_ascii_alphanumeric() || b"._~%+-".contains(&it);
    if !user.bytes().all(is_user) {
        return None;
    }
    let token = (start..=password_start).find_map(|it| token_at(text, it));
    if token.is_some() {
        return token;
    }
    let has_host = host.starts_with(|it: char| it.is_ascii_alphanumeric() || it == '[');
    let is_example_host = host.starts_with("example.") || host.contains(".example");
    let is_described = is_example_host || password == user || is_placeholder(password);
    let is_secret = has_host && !is_described;
    let range = password_start..password_start + password.len();
    is_secret.then_some(Secret { range, kind: SecretKind::URL_PASSWORD })
}

/// Returns the token of a Telegram bot whose colon is at `at`: the id, a colon and 35 characters.
pub(super) fn telegram_token_at(text: &str, at: usize) -> Option<Secret> {
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
