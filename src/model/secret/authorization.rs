//! Finds the credentials of an HTTP `Authorization` header.

use crate::model::secret::json_web_token::decode_base64;
use crate::model::secret::kind::{Secret, SecretKind};
use crate::model::secret::placeholder::{is_example, is_placeholder, looks_random};

const NAME: &str = "authorization";

/// The maximum number of characters between the name and the scheme.
const MAX_SEPARATORS: usize = 8;

/// The maximum length of credentials.
const MAX_LEN: usize = 4_096;

/// The minimum length of the token of a bearer.
const MIN_TOKEN_LEN: usize = 20;

/// Returns the credentials of the header that begins at `at`, of the schemes `Basic` and `Bearer`.
/// If they are a secret of a kind of its own, `specific_at` returns it for the place where they
/// begin.
pub(super) fn authorization_at(
    text: &str,
    at: usize,
    specific_at: impl Fn(usize) -> Option<Secret>,
) -> Option<Secret> {
    let rest = &text.as_bytes()[at..];
    if !rest.get(..NAME.len())?.eq_ignore_ascii_case(NAME.as_bytes()) {
        return None;
    }
    let is_separator = |it: &&u8| matches!(**it, b' ' | b'"' | b'\'' | b'\\' | b'=' | b':' | b',');
    let after = rest[NAME.len()..].iter();
    let between = after.take(MAX_SEPARATORS).take_while(is_separator).count();
    if between == 0 {
        return None;
    }
    let scheme_at = at + NAME.len() + between;
    let scheme = |word: &str| {
        let found = text.as_bytes().get(scheme_at..scheme_at + word.len())?;
        found.eq_ignore_ascii_case(word.as_bytes()).then_some(scheme_at + word.len())
    };
    let credentials_from = |start: usize| {
        let bytes = text.as_bytes()[start..].iter().take(MAX_LEN);
        let is_credential = |it: &&u8| it.is_ascii_alphanumeric() || b"+/=_-.~".contains(it);
        &text[start..start + bytes.take_while(is_credential).count()]
    };
    let (start, is_secret): (usize, fn(&str) -> bool) = match (scheme("basic "), scheme("bearer "))
    {
        (Some(start), _) => (start, is_user_and_password),
        (_, Some(start)) => (start, is_token),
        _ => return None,
    };
    let credentials = credentials_from(start).trim_end_matches('.');
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
    credentials.len() >= MIN_TOKEN_LEN && looks_random(credentials) && !is_example(credentials)
}
