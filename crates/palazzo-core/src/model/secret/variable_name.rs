//! The names of variables with secrets: they are in capitals and end in `KEY`, `TOKEN`, `SECRET`,
//! `PASSWORD`, `PASSPHRASE`, `PASS` or `PWD`.

use crate::model::secret::kind::SecretKind;

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

/// The name of a variable whose value may be a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct VariableName {
    /// The length of the name.
    pub(super) len: usize,
    /// The kind of a secret that is its value.
    pub(super) kind: SecretKind,
    /// Whether other variables have such a name too: `CACHE_KEY`.
    pub(super) is_open: bool,
    /// Whether the name ends in a word that means other things too: `PASS`.
    pub(super) is_ambiguous: bool,
}

/// Parses the name in capitals that begins at `at`; `None` if its value is no secret.
pub(super) fn variable_name_at(text: &str, at: usize) -> Option<VariableName> {
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
