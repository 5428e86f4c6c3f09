//! Finds the credentials in the headers of HTTP requests.

use crate::model::secret::json_web_token::decode_base64;
use crate::model::secret::kind::{Secret, SecretKind};
use crate::model::secret::placeholder::{MAX_JUDGED_LEN, is_example, is_placeholder, looks_random};

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
pub(super) fn authorization_at(
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
