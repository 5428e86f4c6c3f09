//! Finds what stands between colons: passwords in URLs, and the tokens of Telegram.

use crate::model::secret::kind::{Secret, SecretKind};
use crate::model::secret::placeholder::{
    has_digit_and_letter, is_example, is_placeholder, looks_random,
};
use crate::model::secret::token_rules::token_at;

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
pub(super) fn url_password_at(text: &str, at: usize) -> Option<Secret> {
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
