//! The effects of a step as text: random ids and hashes are replaced by numbers.

use std::collections::HashMap;

/// The digits of an abbreviated commit; a longer abbreviation names the same commit.
const HASH_DIGITS: usize = 7;
const ULID_LETTERS: usize = 26;
/// What stands before the short id of a visit or an undo, and the length of that id.
const SHORT_ID_MARKS: [&str; 2] = ["--visit ", "(id "];
const SHORT_ID_LETTERS: usize = 6;
/// How many lines before a difference are shown.
const CONTEXT: usize = 3;

/// Replaces what is random in texts.
pub(crate) struct Normalizer {
    home: String,
    numbers: HashMap<String, usize>,
}

impl Normalizer {
    /// Creates one for a home in the folder `home`.
    pub(crate) fn new(home: String) -> Self {
        Self { home, numbers: HashMap::new() }
    }

    /// Replaces each id and each hash by a number, in the order in which they first appear, and the
    /// path of the home by a word.
    pub(crate) fn normalize(&mut self, text: &str) -> String {
        let text = text.replace(&self.home, "/HOME");
        let text = SHORT_ID_MARKS.iter().fold(text, |it, mark| without_short_ids(&it, mark));
        let (mut normal, mut word) = (String::new(), String::new());
        for letter in text.chars().chain(['\n']) {
            if letter.is_ascii_alphanumeric() {
                word.push(letter);
                continue;
            }
            normal.push_str(&self.number(&std::mem::take(&mut word)));
            normal.push(letter);
        }
        normal.pop();
        normal
    }

    /// Gives a commit the next number. Its abbreviation may be a decimal number, which is a hash only
    /// if it is known.
    pub(crate) fn add_commit(&mut self, hash: &str) {
        self.number(hash);
    }

    fn number(&mut self, word: &str) -> String {
        let key = match word.get(..HASH_DIGITS) {
            _ if is_ulid(word) => word,
            Some(start) if is_hash(word) || self.numbers.contains_key(start) => start,
            _ => return word.to_owned(),
        };
        let next = self.numbers.len() + 1;
        format!("<{}>", self.numbers.entry(key.to_owned()).or_insert(next))
    }
}

/// Returns the first different lines of two texts, with the lines before them.
pub(crate) fn first_difference(older: &str, present: &str) -> Option<String> {
    if older == present {
        return None;
    }
    let [older, present]: [Vec<&str>; 2] = [older, present].map(|it| it.lines().collect());
    let at = older.iter().zip(&present).take_while(|(older, present)| older == present).count();
    let before = older[at.saturating_sub(CONTEXT)..at].join("\n  ");
    let line = |lines: &[&str]| lines.get(at).map_or("(the end)".to_owned(), |it| (*it).to_owned());
    Some(format!("  {before}\nolder:   {}\npresent: {}", line(&older), line(&present)))
}

/// Replaces the short ids behind a mark, which are too short to be recognised by themselves.
fn without_short_ids(text: &str, mark: &str) -> String {
    let mut parts = text.split(mark);
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let id = part.split(|it: char| !it.is_ascii_alphanumeric()).next().unwrap_or_default();
        let rest = if id.len() == SHORT_ID_LETTERS { &part[id.len()..] } else { part };
        plain.push_str(mark);
        plain.push_str(if rest.len() < part.len() { "<visit>" } else { "" });
        plain.push_str(rest);
    }
    plain
}

fn is_ulid(word: &str) -> bool {
    word.len() == ULID_LETTERS
        && word.starts_with(|it: char| ('0'..='7').contains(&it))
        && word.chars().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit())
}

fn is_hash(word: &str) -> bool {
    let is_hex = |it: char| it.is_ascii_digit() || ('a'..='f').contains(&it);
    word.len() >= HASH_DIGITS
        && word.chars().all(is_hex)
        && word.contains(|it: char| it.is_ascii_lowercase())
}

#[test]
fn ids_and_hashes_become_numbers() {
    let mut normalizer = Normalizer::new("/tmp/x/home".to_owned());
    let text = "/tmp/x/home/scrolls/01KJHSAPE0PJMA0HCKESTE6VY6-plan.md b71de65 decade 2026-03-01";
    assert_eq!(normalizer.normalize(text), "/HOME/scrolls/<1>-plan.md <2> decade 2026-03-01");
    let text = "b71de65aa1 1234567 01KJHSAPE0PJMA0HCKESTE6VY7 01KJHSAPE0PJMA0HCKESTE6VY6";
    assert_eq!(normalizer.normalize(text), "<2> 1234567 <3> <1>");
}

#[test]
fn the_short_id_of_a_visit_is_left_out_of_a_command() {
    let mut normalizer = Normalizer::new("/tmp/x/home".to_owned());
    let text = "palazzo undo --visit 2pa748 takes this back; --visit last, --visit <ID>";
    let normal = "palazzo undo --visit <visit> takes this back; --visit last, --visit <ID>";
    assert_eq!(normalizer.normalize(text), normal);
    assert_eq!(normalizer.normalize("undo: diary (id g38wvk)"), "undo: diary (id <visit>)");
}

#[test]
fn an_abbreviation_that_is_a_decimal_number_is_known_by_its_commit() {
    let mut normalizer = Normalizer::new("/tmp/x/home".to_owned());
    normalizer.add_commit("1234567a89b71de65aa112345678901234567890");
    assert_eq!(normalizer.normalize("1234567 7654321"), "<1> 7654321");
}

#[test]
fn the_first_difference_is_shown_with_the_lines_before_it() {
    assert_eq!(first_difference("a\nb", "a\nb"), None);
    let difference = first_difference("a\nb\nc", "a\nx\nc").unwrap();
    assert_eq!(difference, "  a\nolder:   b\npresent: x");
}
