//! Finds the values of variables with secrets: in shells, `.env` files, `Dockerfile`s, YAML, JSON
//! and source code.

use crate::model::secret::assigned_value::{AssignedValue, Form};
use crate::model::secret::identifier::{is_identifier, is_path_or_url};
use crate::model::secret::kind::{Secret, SecretKind};
use crate::model::secret::placeholder::{
    has_digit_and_letter, is_example, is_placeholder, looks_random,
};
use crate::model::secret::variable_name::{VariableName, variable_name_at};

/// The least that a value without `export` has.
const MIN_PLAIN_LEN: usize = 6;

/// The least that a password of letters in quotes has; such a long word is rare in texts.
const MIN_WORDS_LEN: usize = 15;

/// The least that the value of an exported variable has whose name is hardly that of a secret.
const MIN_OPEN_LEN: usize = 20;

/// The same without `export`; hashes are not longer, or have no capitals.
const MIN_PLAIN_OPEN_LEN: usize = 65;

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
        && !is_placeholder(without_literal_dollar(value))
}

/// Returns a value without the `$` that is a part of a password in single quotes and refers to no
/// variable.
fn without_literal_dollar<'a>(value: &AssignedValue<'a>) -> &'a str {
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
}
