//! Distinguishes secrets from placeholders, examples, and what identifies other things: paths, names
//! of files, addresses, dotted names, numbers of issues, words in capitals.

/// The length of the beginning by which a value or a token of unlimited length is judged.
pub(super) const MAX_JUDGED_LEN: usize = 128;

/// The minimum length of a part of a random text by which it is recognised.
const MIN_PART_LEN: usize = 8;

/// The maximum length of a placeholder.
const MAX_PLACEHOLDER_LEN: usize = 100;

/// The words of which a placeholder consists: `your-api-key-here`.
const PLACEHOLDER_WORDS: &str = " \
    a abc access account admin anonymous api app ask auth bar basic baz bearer change changeme \
    client credential credentials db default demo dev disabled dummy empty enter example fake \
    false fixme foo goes guest here hidden in incorrect insert invalid is it key local me \
    missing mock my mypassword mysecret mysecretpassword mysql name new nil no none null oauth \
    old optional or pass passphrase passwd password placeholder please postgres private prompt \
    put pw pwd redacted redis removed replace required root sample secret secretpassword \
    secrets set some string super tbd test testing the this to todo token true undefined \
    unknown unset user username value with wrong x xxx xyz yes your yourpassword ";

/// Returns whether a text looks random: in one of its parts of letters and digits, they mix as
/// they do not in words, in `CamelCase` or in `issue-1234`.
pub(super) fn looks_random(text: &str) -> bool {
    let parts = text.split(|it: char| !it.is_ascii_alphanumeric());
    parts.into_iter().any(|it| it.len() >= MIN_PART_LEN && mixes_characters(it))
}

fn mixes_characters(part: &str) -> bool {
    let is_change = |pair: &[u8]| match (pair[0], pair[1]) {
        (a, b) if a.is_ascii_digit() != b.is_ascii_digit() => true,
        (a, b) => a.is_ascii_lowercase() && b.is_ascii_uppercase(),
    };
    let changes = part.as_bytes().windows(2).filter(|it| is_change(it)).count();
    // A random text of letters and digits has more than 0.4 of them for each character.
    changes * 100 >= part.len() * 15
}

/// Returns whether a token is an example, as documentations contain them: it contains a run of
/// equal or of successive characters, or the word `example`.
pub(super) fn is_example(token: &str) -> bool {
    let (mut equal, mut successive) = (1, 1);
    for pair in token.as_bytes().windows(2) {
        equal = if pair[0] == pair[1] { equal + 1 } else { 1 };
        successive = if pair[0].checked_add(1) == Some(pair[1]) { successive + 1 } else { 1 };
        if equal >= 5 || successive >= 6 {
            return true;
        }
    }
    let word = b"example";
    token.as_bytes().windows(word.len()).any(|it| it.eq_ignore_ascii_case(word))
}

/// Returns whether a value is empty, refers to the secret, or consists of words that describe it.
pub(super) fn is_placeholder(value: &str) -> bool {
    is_reference(value)
        || is_masked(value)
        || has_only_placeholder_words(value)
        || addresses_the_reader(value)
}

/// Returns whether a value is that of a variable or a command, or to be filled in.
fn is_reference(value: &str) -> bool {
    // `<token>`, `<your` in front of a blank; but a password may begin with a bracket too.
    let opens = value.starts_with(['<', '{', '[', '(', '&'])
        && (value.contains(['>', '}', ']', ')']) || !looks_random(value));
    let starts = opens || value.starts_with(['$', '`']);
    let surrounds =
        |mark: char| value.len() > 2 && value.starts_with(mark) && value.ends_with(mark);
    starts
        || surrounds('%')
        || surrounds('_')
        || ["${", "$(", "{{"].iter().any(|it| value.contains(it))
}

/// Returns whether a value consists of one repeated character, or is abbreviated.
fn is_masked(value: &str) -> bool {
    let first = value.chars().next();
    let is_mask = |it: char| Some(it) == first || matches!(it, '*' | '.' | '…' | '•');
    value.chars().all(is_mask) || value.contains("...") || value.contains('…')
}

fn has_only_placeholder_words(value: &str) -> bool {
    let words = value.split(|it: char| !it.is_alphanumeric());
    let is_known = |word: &str| {
        let word = word.trim_end_matches(|it: char| it.is_ascii_digit()).to_lowercase();
        word.is_empty() || PLACEHOLDER_WORDS.contains(&format!(" {word} "))
    };
    let has_word = value.contains(|it: char| it.is_alphabetic());
    has_word && value.len() <= MAX_PLACEHOLDER_LEN && words.into_iter().all(is_known)
}

/// Returns whether a value is a name with the word `your`: `YOUR_OPENAI_API_KEY`. A passphrase has
/// blanks, or looks random.
fn addresses_the_reader(value: &str) -> bool {
    let is_name_char = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_');
    let mut words = value.split(['-', '_']);
    value.len() <= MAX_PLACEHOLDER_LEN
        && value.chars().all(is_name_char)
        && words.any(|it| it.eq_ignore_ascii_case("your"))
        && !looks_random(value)
}

/// Returns whether a text contains a digit and a letter.
pub(super) fn has_digit_and_letter(text: &str) -> bool {
    text.bytes().any(|it| it.is_ascii_digit()) && text.contains(char::is_alphabetic)
}

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
    fn words_and_numbers_do_not_look_random() {
        for text in [
            "JwtAuthenticationToken",
            "fix-issue-1234-in-the-runner",
            "github_pat_is_recognised",
            "istanbul2026",
            "2026-03-01T12:00:00",
            "XMLHttpRequest",
            "",
        ] {
            assert!(!looks_random(text), "{text}");
        }
        for text in ["q7Zk39vRtw2LmX", "3f2a9c04bd71e855", "django-insecure-8d7f3k2j5h"] {
            assert!(looks_random(text), "{text}");
        }
    }

    #[test]
    fn examples_have_runs_or_say_what_they_are() {
        for text in ["IOSFODNN7EXAMPLE", "a00000b", "xyz123456", "ABCDEFGH"] {
            assert!(is_example(text), "{text}");
        }
        assert!(!is_example("q7Zk39vRtw2LmX"));
    }

    #[test]
    fn a_placeholder_is_empty_a_reference_masked_or_a_description() {
        for value in [
            "",
            "$TOKEN",
            "${TOKEN}",
            "a-${TOKEN}",
            "$(pass show x)",
            "<token>",
            "{{ token }}",
            "%TOKEN%",
            "***",
            "xxxxx",
            "...",
            "your-api-key",
            "YOUR_API_KEY_HERE",
            "changeme",
            "password123",
            "my-secret-pw",
            "(password)",
            "<your",
            "YOUR_OPENAI_API_KEY",
            "sk-ant-api03-your-key-here",
            "your-bot-token-from-botfather",
        ] {
            assert!(is_placeholder(value), "{value}");
        }
        for value in ["hunter2", "correct horse", "größer", "1234567", "(k9fjw2LmQzA"]
            .into_iter()
            .chain(["open your heart", "your_q7Zk39vRtw2LmX", "yours-truly-9"])
        {
            assert!(!is_placeholder(value), "{value}");
        }
    }

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
