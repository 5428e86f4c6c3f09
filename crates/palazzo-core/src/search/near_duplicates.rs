//! Finds near-duplicates: texts with the same content in slightly other words.
//!
//! The similarity of two texts is a number from 0 to 1. At 1, only case, spaces and
//! punctuation differ. From 0.9 on, a text is a near-duplicate: 60 % of all runs of five
//! letters (shingles) are in both texts, or 90 % of the new text's are in the existing one.
//! Below, the similarity falls with these shares.
//!
//! A corrected number or name changes a text no more than a better word does, so no measure
//! can distinguish a correction from a copy. A caller that refuses a copy must therefore
//! [list the differences](describe_changes), and must accept the text if asked again.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use gix_imara_diff::{Algorithm, Diff, InternedInput};
use unicode_normalization::UnicodeNormalization;

use crate::model::ItemId;
use crate::search::index_data::Index;
use crate::search::words::{is_unspaced_script, is_word_char};

/// The similarity from which on two texts are near-duplicates.
pub const DUPLICATE_THRESHOLD: f32 = 0.9;

/// The shares of common shingles that correspond to [`DUPLICATE_THRESHOLD`]: of both texts
/// together, and of the new text alone.
const MIN_SHARED: f32 = 0.6;
const MIN_CONTAINED: f32 = 0.9;

/// Maximum similarity of texts that are not equal after normalization.
const MAX_UNEQUAL_SIMILARITY: f32 = 0.99;

/// Minimum number of shingles for the containment measure; a shorter text may be contained in
/// another by chance.
const MIN_SHINGLES: usize = 20;

/// Number of letters in a shingle.
const SHINGLE_LENGTH: usize = 5;

/// Limits for the described differences, and for the characters of each.
const MAX_REPORTED_CHANGES: usize = 5;
const MAX_REPORTED_CHARS: usize = 60;

/// A document that is similar to a new text.
#[derive(Clone, Debug, PartialEq)]
pub struct NearDuplicate {
    /// The document.
    pub item: ItemId,
    /// The similarity, from 0 to 1.
    pub similarity: f32,
}

/// A replacement of words in an existing text by words of a new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordChange {
    /// The words of the existing text; empty for an insertion.
    pub was: String,
    /// The words of the new text; empty for a deletion.
    pub now: String,
}

/// A text prepared for comparison.
struct ShingledText {
    normalized: Vec<char>,
    shingles: Vec<u128>,
}

/// A word of a text: its range, and the key by which it is compared.
struct DiffToken {
    range: Range<usize>,
    key: String,
}

impl Index {
    /// Finds the documents whose similarity to a new text is at least `threshold`, usually
    /// [`DUPLICATE_THRESHOLD`], the most similar first. `text_of` returns the text of a
    /// document; a document for which it returns `None` is not compared.
    pub fn find_near_duplicates<'a>(
        &self,
        new: &str,
        threshold: f32,
        text_of: impl Fn(&ItemId) -> Option<&'a str>,
    ) -> Vec<NearDuplicate> {
        let shingled = ShingledText::from_text(new);
        let candidates = self.near_duplicate_candidates(new, |it| text_of(it).is_some());
        let compared = candidates.into_iter().filter_map(|item| {
            let known = ShingledText::from_text(text_of(&item)?);
            Some(NearDuplicate { similarity: shingle_similarity(&known, &shingled), item })
        });
        let mut found: Vec<_> = compared.filter(|it| it.similarity >= threshold).collect();
        found.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
        found
    }
}

/// Returns the similarity of a new text to an existing one, from 0 to 1.
pub fn text_similarity(known: &str, new: &str) -> f32 {
    shingle_similarity(&ShingledText::from_text(known), &ShingledText::from_text(new))
}

/// Describes the differences between an existing and a new text: `"340" is now "430";
/// "at noon" is missing`. If all words are equal, describes punctuation and case: `"-5" is
/// now "5"`. Empty for equal texts.
pub fn describe_changes(known: &str, new: &str) -> String {
    let mut all = word_changes(known, new);
    if all.is_empty() {
        all = diff_spans(
            (known, spans_between_whitespace(known)),
            (new, spans_between_whitespace(new)),
        );
    }
    if all.is_empty() && known != new {
        return "only whitespace".to_owned();
    }
    let mut parts: Vec<String> =
        all.iter().take(MAX_REPORTED_CHANGES).map(WordChange::to_string).collect();
    if all.len() > MAX_REPORTED_CHANGES {
        parts.push(format!("and {} more", all.len() - MAX_REPORTED_CHANGES));
    }
    parts.join("; ")
}

fn shingle_similarity(known: &ShingledText, new: &ShingledText) -> f32 {
    if known.normalized == new.normalized {
        return 1.0;
    }
    let (known, new) = (&known.shingles, &new.shingles);
    let common = count_common(known, new);
    let shared = ratio(common, known.len() + new.len() - common) / MIN_SHARED;
    let contained =
        if new.len() < MIN_SHINGLES { 0.0 } else { ratio(common, new.len()) / MIN_CONTAINED };
    share_to_similarity(shared, MIN_SHARED).max(share_to_similarity(contained, MIN_CONTAINED))
}

/// Returns the words in which a new text differs from an existing one, in order. Ignores case
/// and punctuation.
pub fn word_changes(known: &str, new: &str) -> Vec<WordChange> {
    diff_spans((known, word_spans(known)), (new, word_spans(new)))
}

fn diff_spans(
    (known, was): (&str, Vec<DiffToken>),
    (new, now): (&str, Vec<DiffToken>),
) -> Vec<WordChange> {
    let mut input = InternedInput::default();
    input.update_before(was.iter().map(|it| it.key.as_str()));
    input.update_after(now.iter().map(|it| it.key.as_str()));
    let diff = Diff::compute(Algorithm::Myers, &input);
    let hunks = diff.hunks();
    let differ = hunks.map(|it| WordChange {
        was: text_of_spans(known, &was[it.before.start as usize..it.before.end as usize]),
        now: text_of_spans(new, &now[it.after.start as usize..it.after.end as usize]),
    });
    differ.collect()
}

impl fmt::Display for WordChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [was, now] = [&self.was, &self.now].map(|it| truncate(it));
        match (was.is_empty(), now.is_empty()) {
            (true, _) => write!(f, "\"{now}\" is new"),
            (_, true) => write!(f, "\"{was}\" is missing"),
            _ => write!(f, "\"{was}\" is now \"{now}\""),
        }
    }
}

impl ShingledText {
    fn from_text(text: &str) -> Self {
        let plain = normalize(text);
        Self { shingles: shingles(&plain), normalized: plain }
    }
}

/// Maps a share of common shingles, divided by the threshold `at`, to a similarity.
fn share_to_similarity(part: f32, at: f32) -> f32 {
    match part {
        part if part <= 1.0 => DUPLICATE_THRESHOLD * part,
        part => {
            DUPLICATE_THRESHOLD
                + (MAX_UNEQUAL_SIMILARITY - DUPLICATE_THRESHOLD) * (part - 1.0) * at / (1.0 - at)
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "no text has 2^23 different runs of letters")]
fn ratio(part: usize, all: usize) -> f32 {
    part as f32 / all.max(1) as f32
}

/// Normalizes a text: NFKC, lower case, runs of other characters as one space.
fn normalize(text: &str) -> Vec<char> {
    let mut plain = Vec::with_capacity(text.len());
    for it in text.nfkc().flat_map(char::to_lowercase) {
        if is_word_char(it) {
            plain.push(it);
        } else if plain.last().is_some_and(|it| *it != ' ') {
            plain.push(' ');
        }
    }
    plain.pop_if(|it| *it == ' ');
    plain
}

/// Returns the shingles of a text as sorted unique numbers; five letters of 21 bits fit into
/// one number.
fn shingles(plain: &[char]) -> Vec<u128> {
    let number =
        |run: &[char]| run.iter().fold(0, |sum, it| sum << 21 | u128::from(u32::from(*it)));
    let mut runs: Vec<u128> =
        plain.windows(SHINGLE_LENGTH.min(plain.len()).max(1)).map(number).collect();
    runs.sort_unstable();
    runs.dedup();
    runs
}

/// Returns the first words of a text, if it is long.
fn truncate(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_REPORTED_CHARS) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()).into(),
        None => text.into(),
    }
}

fn count_common(a: &[u128], b: &[u128]) -> usize {
    let (few, many) = if a.len() < b.len() { (a, b) } else { (b, a) };
    few.iter().filter(|it| many.binary_search(it).is_ok()).count()
}

/// Returns the words of a text; in scripts without spaces, each character is a word.
fn word_spans(text: &str) -> Vec<DiffToken> {
    let mut places: Vec<Range<usize>> = Vec::new();
    let mut open = false;
    for (at, it) in text.char_indices() {
        let end = at + it.len_utf8();
        let joins = open && !it.is_whitespace() && !is_unspaced_script(it);
        match places.last_mut() {
            Some(place) if joins => place.end = end,
            _ if it.is_whitespace() => {}
            _ => places.push(at..end),
        }
        open = !it.is_whitespace() && !is_unspaced_script(it);
    }
    let token = |place: Range<usize>| {
        let word = &text[place.clone()];
        let bare = word.trim_matches(|it| !is_word_char(it));
        let start = place.start + (bare.as_ptr() as usize - word.as_ptr() as usize);
        DiffToken { range: start..start + bare.len(), key: normalize(bare).into_iter().collect() }
    };
    places.into_iter().map(token).filter(|it| !it.key.is_empty()).collect()
}

/// Returns the parts of a text between whitespace, unchanged.
fn spans_between_whitespace(text: &str) -> Vec<DiffToken> {
    let piece = |it: &str| {
        let start = it.as_ptr() as usize - text.as_ptr() as usize;
        DiffToken { range: start..start + it.len(), key: it.to_owned() }
    };
    text.split_whitespace().map(piece).collect()
}

/// Returns the text from the first to the last span, in one line.
fn text_of_spans(text: &str, tokens: &[DiffToken]) -> String {
    let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { return String::new() };
    let words = text[first.range.start..last.range.end].split_whitespace();
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Document;
    use crate::search::fixture::test_document;

    const NOTE: &str = "The boiler showed F28 on Tuesday. Mr Odermatt came the same day and put in a \
                        new electrode for 340 francs.";

    fn changed_words(known: &str, new: &str) -> Vec<(String, String)> {
        word_changes(known, new).into_iter().map(|it| (it.was, it.now)).collect()
    }

    #[test]
    fn likeness_ignores_spaces_case_and_punctuation() {
        let loud = NOTE.to_uppercase().replace(' ', "\n ").replace('.', "!");
        assert!(text_similarity(NOTE, &loud) >= 1.0);
        assert!(text_similarity("", " \n") >= 1.0);
        assert_eq!(changed_words(NOTE, &NOTE.to_lowercase().replace('.', " -")), []);
    }

    #[test]
    fn a_rewording_is_a_near_duplicate_and_another_topic_is_not() {
        let edited = NOTE.replace("came the same day", "was here the same day");
        assert!((DUPLICATE_THRESHOLD..1.0).contains(&text_similarity(NOTE, &edited)));
        let other = "The roofer put in two new tiles on Tuesday, for 1,150 francs.";
        assert!(text_similarity(NOTE, other) < 0.4, "{}", text_similarity(NOTE, other));
        assert!(text_similarity(NOTE, "") < 0.1 && text_similarity("", NOTE) < 0.1);
    }

    #[test]
    fn a_part_of_a_known_text_is_a_duplicate_and_an_extension_is_not() {
        let part = &NOTE[..60];
        assert!(text_similarity(NOTE, part) >= DUPLICATE_THRESHOLD);
        assert!(
            text_similarity(part, &format!("{NOTE} {}", "It is from 2006. ".repeat(5)))
                < DUPLICATE_THRESHOLD
        );
        assert!(text_similarity(NOTE, "on Tuesday") < DUPLICATE_THRESHOLD);
    }

    #[test]
    fn differences_quote_the_words_of_both_texts() {
        let corrected = NOTE.replace("340 francs", "430 francs").replace("Tuesday. ", "Thursday; ");
        let both = |was: &str, now: &str| (was.to_owned(), now.to_owned());
        assert_eq!(
            changed_words(NOTE, &corrected),
            [both("Tuesday", "Thursday"), both("340", "430")]
        );
        assert_eq!(changed_words("a b c", "a c d"), [both("b", ""), both("", "d")]);
        assert_eq!(
            describe_changes(NOTE, &corrected),
            r#""Tuesday" is now "Thursday"; "340" is now "430""#
        );
        assert_eq!(describe_changes("a b c", "a c d"), r#""b" is missing; "d" is new"#);
        for (was, now, differs) in [
            ("Deployment: ✅ today", "Deployment: ❌ today", r#""✅" is now "❌""#),
            ("The balance is -500.", "The balance is 500.", r#""-500." is now "500.""#),
            ("We use C++ here", "We use C# here", r#""C++" is now "C#""#),
            ("a == b", "a != b", r#""==" is now "!=""#),
            ("Polish it", "polish it", r#""Polish" is now "polish""#),
            ("one  line", "one\nline", "only whitespace"),
            ("one line", "one line", ""),
        ] {
            assert_eq!(describe_changes(was, now), differs);
        }
        assert_eq!(describe_changes(NOTE, NOTE), "");
        let (odd, even) = ("1 a 3 b 5 c 7 d 9 e 11 f", "2 a 4 b 6 c 8 d 10 e 12 f");
        assert!(
            describe_changes(odd, even).ends_with("\"10\"; and 1 more"),
            "{}",
            describe_changes(odd, even)
        );
        assert!(describe_changes("", &"long ".repeat(40)).len() < 80);
        assert_eq!(
            changed_words("最低注文量は五十キロ", "最低注文量は八十キロ"),
            [both("五", "八")]
        );
    }

    #[test]
    fn near_duplicates_are_sorted_by_likeness() {
        let edited = NOTE.replace("340", "430");
        let texts = [NOTE, &edited, "The boiler is from 2006.", "Mr Odermatt came on Tuesday."];
        let names = ["note", "edited", "boiler", "visit"];
        let documents = names
            .iter()
            .zip(texts)
            .map(|(name, text)| Document { text: text.into(), ..test_document(name, "") });
        let index = Index::from_documents(documents.collect());
        let text_of = |it: &ItemId| {
            let ItemId::Entity(name) = it else { return None };
            names.iter().position(|it| it == name).map(|at| texts[at])
        };
        let found = |new: &str, least| -> Vec<(ItemId, bool)> {
            let twins = index.find_near_duplicates(new, least, text_of).into_iter();
            twins.map(|it| (it.item, it.similarity >= 1.0)).collect()
        };
        let entity = |name: &str| ItemId::Entity(name.to_owned());
        assert_eq!(
            found(&edited, DUPLICATE_THRESHOLD),
            [(entity("edited"), true), (entity("note"), false)]
        );
        assert_eq!(found("The roofer put in new tiles.", DUPLICATE_THRESHOLD), []);
        assert_eq!(found("The boiler is from 2006, they say.", 0.5), [(entity("boiler"), false)]);
        let but_one = |it: &ItemId| text_of(it).filter(|it| *it != NOTE);
        assert_eq!(index.find_near_duplicates(NOTE, DUPLICATE_THRESHOLD, but_one).len(), 1);
        assert!(index.find_near_duplicates("…", 0.0, text_of).is_empty());
    }
}
