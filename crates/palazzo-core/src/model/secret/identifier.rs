//! Recognises what is assigned to variables and identifies other things: paths, names of files,
//! addresses, dotted names, numbers of issues, words in capitals.

use crate::model::secret::placeholder::looks_random;

/// The maximum length of a word in capitals.
const MAX_WORD_LEN: usize = 20;

/// The beginnings of paths.
const PATH_BEGINNINGS: [&str; 9] =
    ["/", "./", "../", "~/", "C:\\", "file:", "HKLM\\", "HKCU\\", "HKEY_"];

/// The files of keys without an extension.
const KEY_FILES: [&str; 6] =
    ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk"];

/// The extensions of files whose names stand without a folder.
const EXTENSIONS: &str = " asc cer cert cfg conf crt csv der env gpg gz html ini jks jpg js json \
    jsonl key md p12 p8 pem pfx png ppk properties pub sh sql toml ts txt xml yaml yml zip ";

/// Returns whether a value is a path or a URL, which names a secret and is none.
pub(super) fn is_path_or_url(value: &str) -> bool {
    let is_path = PATH_BEGINNINGS.iter().any(|it| value.starts_with(it));
    (is_path && !looks_random(value)) || value.contains("://")
}

/// Returns whether a value has the form of a name for something else than a secret.
pub(super) fn is_identifier(value: &str) -> bool {
    is_file(value)
        || is_mail_address(value)
        || is_dotted_name(value)
        || is_issue(value)
        || is_capital_word(value)
}

/// Returns whether a value is the path of a file with an extension, or a well-known name of one.
fn is_file(value: &str) -> bool {
    let is_path = |it: u8| it.is_ascii_alphanumeric() || b"/._-".contains(&it);
    let name = value.rsplit('/').next().unwrap_or_default();
    let (_, extension) = name.rsplit_once('.').unwrap_or_default();
    let is_extension = (1..=5).contains(&extension.len())
        && extension.starts_with(|it: char| it.is_ascii_lowercase())
        && extension.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit());
    let has_folder = name.len() < value.len();
    let is_known = EXTENSIONS.contains(&format!(" {extension} "));
    let has_extension = is_extension && (has_folder || is_known);
    value.bytes().all(is_path) && (KEY_FILES.contains(&name) || has_extension)
}

fn is_mail_address(value: &str) -> bool {
    let is_name =
        |it: &str| it.bytes().all(|it| it.is_ascii_alphanumeric() || b"._+-".contains(&it));
    value.split_once('@').is_some_and(|(user, host)| {
        let has_domain = host.rsplit_once('.').is_some_and(|(_, it)| it.len() >= 2);
        !user.is_empty() && is_name(user) && is_name(host) && has_domain && !looks_random(user)
    })
}

/// Returns whether a value consists of words in small letters with dots between them:
/// `database.host`.
fn is_dotted_name(value: &str) -> bool {
    let is_part = |it: &str| {
        let is_word =
            |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || b"_-".contains(&it);
        it.starts_with(|it: char| it.is_ascii_lowercase()) && it.bytes().all(is_word)
    };
    value.contains('.') && value.split('.').all(is_part) && !looks_random(value)
}

/// Returns whether a value is the number of an issue: `PROJ-1234`.
fn is_issue(value: &str) -> bool {
    value.split_once('-').is_some_and(|(project, number)| {
        (2..=10).contains(&project.len())
            && project.bytes().all(|it| it.is_ascii_uppercase())
            && (1..=7).contains(&number.len())
            && number.bytes().all(|it| it.is_ascii_digit())
    })
}

/// Returns whether a value looks like a word in capitals: vowels and consonants alternate.
fn is_capital_word(value: &str) -> bool {
    let is_vowel = |it: u8| b"AEIOUY".contains(&it);
    let longest_run = value.as_bytes().chunk_by(|a, b| is_vowel(*a) == is_vowel(*b));
    (3..=MAX_WORD_LEN).contains(&value.len())
        && value.bytes().all(|it| it.is_ascii_uppercase())
        && value.bytes().any(is_vowel)
        && longest_run.map(<[u8]>::len).all(|it| it <= 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_files_addresses_names_issues_and_words() {
        for value in [
            "uploads/2026/03/file-2.png",
            "uploads/a1b2c3d4e5f6.png",
            "server.pem",
            "id_ed25519",
            "keys/id_rsa",
            "alice@corp.com",
            "database.host",
            "page2.title5",
            "PROJ-1234",
            "COMMUNITY",
        ] {
            assert!(is_identifier(value), "{value}");
        }
        for value in [
            "q7Zk39vRtw2LmX",
            "a.b/c+d",
            "q7zk39vrtw2.m8n4c6dy",
            "P@ss-word.9",
            "XKCDQRTZ",
            "swordfish",
            "ABC-12345678",
        ] {
            assert!(!is_identifier(value), "{value}");
        }
        assert!(is_path_or_url("HKLM\\Software1\\Coal"));
    }
}
