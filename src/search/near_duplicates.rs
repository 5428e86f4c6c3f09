//! Near-duplicates: texts that say the same but for wording.
//!
//! How alike two texts are is told from 0 to 1. 1: nothing differs but case,
//! spaces and punctuation. From 0.9: the same but for wording, that is, six in
//! ten of all runs of five letters stand in both, or nine in ten of the new
//! text's stand in the known one. Below, the figure falls with these shares.
//!
//! A corrected number or name changes no more than a better word does: no
//! measure can tell a correction from a copy. So whoever refuses a copy has to
//! say what [differs](differences), and to take it all the same if told to.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use gix_imara_diff::{Algorithm, Diff, InternedInput};
use unicode_normalization::UnicodeNormalization;

use crate::model::Opening;
use crate::search::index::Index;
use crate::search::words::{is_letter, is_unspaced};

/// From here on two texts are the same but for wording.
pub const TWINS: f32 = 0.9;

/// The shares of letters in common at which they are: of both texts together,
/// and of the new text alone.
const SHARED: f32 = 0.6;
const CONTAINED: f32 = 0.9;

/// What is not wholly the same is no more alike than this.
const NEARLY: f32 = 0.99;

/// A text of fewer runs of letters may stand in another by chance.
const FEW: usize = 20;

/// How many letters make a run.
const RUN: usize = 5;

/// How many differences are told, and how much of each, in characters.
const TOLD: usize = 5;
const WORDS: usize = 60;

/// A document that says much the same as a new text.
#[derive(Clone, Debug, PartialEq)]
pub struct Twin {
    /// The document.
    pub opening: Opening,
    /// How much of the new text it says already, from 0 to 1.
    pub likeness: f32,
}

/// Some words of a known text, and what a new one has in their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The words of the known text; none, if the new one only adds.
    pub was: String,
    /// The words of the new text; none, if it only leaves out.
    pub now: String,
}

/// A text as it is compared.
struct Shape {
    plain: Vec<char>,
    runs: Vec<u128>,
}

/// A word of a text: where it stands, and what it is compared by.
struct Token {
    at: Range<usize>,
    key: String,
}

impl Index {
    /// Finds the documents that say much the same as a new text, by [`TWINS`] or
    /// what else is the `least`, those most alike first. `text_of` returns the text
    /// of a document; one for which it returns none is not compared.
    pub fn twins<'a>(
        &self,
        new: &str,
        least: f32,
        text_of: impl Fn(&Opening) -> Option<&'a str>,
    ) -> Vec<Twin> {
        let shape = Shape::of(new);
        let known = self.lookalikes(new, |it| text_of(it).is_some()).into_iter();
        let compared = known.filter_map(|opening| {
            let likeness = shared(&Shape::of(text_of(&opening)?), &shape);
            Some(Twin { opening, likeness })
        });
        let mut twins: Vec<_> = compared.filter(|it| it.likeness >= least).collect();
        twins.sort_by(|a, b| b.likeness.total_cmp(&a.likeness));
        twins
    }
}

/// Tells how much of a new text a known one says already, from 0 to 1.
pub fn likeness(known: &str, new: &str) -> f32 {
    shared(&Shape::of(known), &Shape::of(new))
}

/// Says in few words in what a new text differs from a known one: `"340" is now
/// "430"; "at noon" is missing`. Where all words are the same it tells of signs and
/// capitals: `"-5" is now "5"`. Empty: in nothing.
pub fn in_words(known: &str, new: &str) -> String {
    let mut all = differences(known, new);
    if all.is_empty() {
        all = between((known, pieces(known)), (new, pieces(new)));
    }
    if all.is_empty() && known != new {
        return "only blanks".to_owned();
    }
    let mut told: Vec<String> = all.iter().take(TOLD).map(Difference::to_string).collect();
    if all.len() > TOLD {
        told.push(format!("and {} more", all.len() - TOLD));
    }
    told.join("; ")
}

fn shared(known: &Shape, new: &Shape) -> f32 {
    if known.plain == new.plain {
        return 1.0;
    }
    let (known, new) = (&known.runs, &new.runs);
    let common = common(known, new);
    let shared = share(common, known.len() + new.len() - common) / SHARED;
    let contained = if new.len() < FEW { 0.0 } else { share(common, new.len()) / CONTAINED };
    scaled(shared, SHARED).max(scaled(contained, CONTAINED))
}

/// Returns the words in which a new text differs from a known one, in order.
/// Case and punctuation make no difference.
pub fn differences(known: &str, new: &str) -> Vec<Difference> {
    between((known, tokens(known)), (new, tokens(new)))
}

fn between((known, was): (&str, Vec<Token>), (new, now): (&str, Vec<Token>)) -> Vec<Difference> {
    let mut input = InternedInput::default();
    input.update_before(was.iter().map(|it| it.key.as_str()));
    input.update_after(now.iter().map(|it| it.key.as_str()));
    let diff = Diff::compute(Algorithm::Myers, &input);
    let hunks = diff.hunks();
    let differ = hunks.map(|it| Difference {
        was: slice(known, &was[it.before.start as usize..it.before.end as usize]),
        now: slice(new, &now[it.after.start as usize..it.after.end as usize]),
    });
    differ.collect()
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [was, now] = [&self.was, &self.now].map(|it| cut(it));
        match (was.is_empty(), now.is_empty()) {
            (true, _) => write!(f, "\"{now}\" is new"),
            (_, true) => write!(f, "\"{was}\" is missing"),
            _ => write!(f, "\"{was}\" is now \"{now}\""),
        }
    }
}

impl Shape {
    fn of(text: &str) -> Self {
        let plain = plain(text);
        Self { runs: runs(&plain), plain }
    }
}

/// Brings a share, as a part of the share at which texts are twins, to the scale.
fn scaled(part: f32, at: f32) -> f32 {
    match part {
        part if part <= 1.0 => TWINS * part,
        part => TWINS + (NEARLY - TWINS) * (part - 1.0) * at / (1.0 - at),
    }
}

#[expect(clippy::cast_precision_loss, reason = "no text has 2^23 different runs of letters")]
fn share(part: usize, all: usize) -> f32 {
    part as f32 / all.max(1) as f32
}

/// Returns a text without what makes no difference.
fn plain(text: &str) -> Vec<char> {
    let mut plain = Vec::with_capacity(text.len());
    for it in text.nfkc().flat_map(char::to_lowercase) {
        if is_letter(it) {
            plain.push(it);
        } else if plain.last().is_some_and(|it| *it != ' ') {
            plain.push(' ');
        }
    }
    plain.pop_if(|it| *it == ' ');
    plain
}

/// Returns each run of letters once, in order of its number: five letters of 21
/// bits fit into one.
fn runs(plain: &[char]) -> Vec<u128> {
    let number =
        |run: &[char]| run.iter().fold(0, |sum, it| sum << 21 | u128::from(u32::from(*it)));
    let mut runs: Vec<u128> = plain.windows(RUN.min(plain.len()).max(1)).map(number).collect();
    runs.sort_unstable();
    runs.dedup();
    runs
}

/// Returns the first words of a text, if it is long.
fn cut(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(WORDS) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()).into(),
        None => text.into(),
    }
}

fn common(a: &[u128], b: &[u128]) -> usize {
    let (few, many) = if a.len() < b.len() { (a, b) } else { (b, a) };
    few.iter().filter(|it| many.binary_search(it).is_ok()).count()
}

/// Yields the words of a text, and the characters where no spaces are set
/// between words.
fn tokens(text: &str) -> Vec<Token> {
    let mut places: Vec<Range<usize>> = Vec::new();
    let mut open = false;
    for (at, it) in text.char_indices() {
        let end = at + it.len_utf8();
        let joins = open && !it.is_whitespace() && !is_unspaced(it);
        match places.last_mut() {
            Some(place) if joins => place.end = end,
            _ if it.is_whitespace() => {}
            _ => places.push(at..end),
        }
        open = !it.is_whitespace() && !is_unspaced(it);
    }
    let token = |place: Range<usize>| {
        let word = &text[place.clone()];
        let bare = word.trim_matches(|it| !is_letter(it));
        let start = place.start + (bare.as_ptr() as usize - word.as_ptr() as usize);
        Token { at: start..start + bare.len(), key: plain(bare).into_iter().collect() }
    };
    places.into_iter().map(token).filter(|it| !it.key.is_empty()).collect()
}

/// Yields what stands between blanks, as it stands.
fn pieces(text: &str) -> Vec<Token> {
    let piece = |it: &str| {
        let start = it.as_ptr() as usize - text.as_ptr() as usize;
        Token { at: start..start + it.len(), key: it.to_owned() }
    };
    text.split_whitespace().map(piece).collect()
}

/// Returns what stands between the first and the last of some words, in one line.
fn slice(text: &str, tokens: &[Token]) -> String {
    let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { return String::new() };
    let words = text[first.at.start..last.at.end].split_whitespace();
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Document;
    use crate::search::fixture::note;

    const NOTE: &str = "The boiler showed F28 on Tuesday. Mr Odermatt came the same day and put in a \
                        new electrode for 340 francs.";

    fn told(known: &str, new: &str) -> Vec<(String, String)> {
        differences(known, new).into_iter().map(|it| (it.was, it.now)).collect()
    }

    #[test]
    fn spaces_case_and_punctuation_make_no_difference() {
        let loud = NOTE.to_uppercase().replace(' ', "\n ").replace('.', "!");
        assert!(likeness(NOTE, &loud) >= 1.0);
        assert!(likeness("", " \n") >= 1.0);
        assert_eq!(told(NOTE, &NOTE.to_lowercase().replace('.', " -")), []);
    }

    #[test]
    fn another_wording_is_alike_and_another_matter_is_not() {
        let edited = NOTE.replace("came the same day", "was here the same day");
        assert!((TWINS..1.0).contains(&likeness(NOTE, &edited)));
        let other = "The roofer put in two new tiles on Tuesday, for 1,150 francs.";
        assert!(likeness(NOTE, other) < 0.4, "{}", likeness(NOTE, other));
        assert!(likeness(NOTE, "") < 0.1 && likeness("", NOTE) < 0.1);
    }

    #[test]
    fn a_part_of_what_is_known_is_nothing_new_and_more_than_it_is() {
        let part = &NOTE[..60];
        assert!(likeness(NOTE, part) >= TWINS);
        assert!(likeness(part, &format!("{NOTE} {}", "It is from 2006. ".repeat(5))) < TWINS);
        assert!(likeness(NOTE, "on Tuesday") < TWINS);
    }

    #[test]
    fn what_differs_is_told_in_the_words_of_both() {
        let corrected = NOTE.replace("340 francs", "430 francs").replace("Tuesday. ", "Thursday; ");
        let both = |was: &str, now: &str| (was.to_owned(), now.to_owned());
        assert_eq!(told(NOTE, &corrected), [both("Tuesday", "Thursday"), both("340", "430")]);
        assert_eq!(told("a b c", "a c d"), [both("b", ""), both("", "d")]);
        assert_eq!(
            in_words(NOTE, &corrected),
            r#""Tuesday" is now "Thursday"; "340" is now "430""#
        );
        assert_eq!(in_words("a b c", "a c d"), r#""b" is missing; "d" is new"#);
        for (was, now, differs) in [
            ("Deployment: ✅ today", "Deployment: ❌ today", r#""✅" is now "❌""#),
            ("The balance is -500.", "The balance is 500.", r#""-500." is now "500.""#),
            ("We use C++ here", "We use C# here", r#""C++" is now "C#""#),
            ("a == b", "a != b", r#""==" is now "!=""#),
            ("Polish it", "polish it", r#""Polish" is now "polish""#),
            ("one  line", "one\nline", "only blanks"),
            ("one line", "one line", ""),
        ] {
            assert_eq!(in_words(was, now), differs);
        }
        assert_eq!(in_words(NOTE, NOTE), "");
        let (odd, even) = ("1 a 3 b 5 c 7 d 9 e 11 f", "2 a 4 b 6 c 8 d 10 e 12 f");
        assert!(in_words(odd, even).ends_with("\"10\"; and 1 more"), "{}", in_words(odd, even));
        assert!(in_words("", &"long ".repeat(40)).len() < 80);
        assert_eq!(told("最低注文量は五十キロ", "最低注文量は八十キロ"), [both("五", "八")]);
    }

    #[test]
    fn twins_are_found_among_what_is_known_those_most_alike_first() {
        let edited = NOTE.replace("340", "430");
        let texts = [NOTE, &edited, "The boiler is from 2006.", "Mr Odermatt came on Tuesday."];
        let names = ["note", "edited", "boiler", "visit"];
        let documents = names
            .iter()
            .zip(texts)
            .map(|(name, text)| Document { text: text.into(), ..note(name, "") });
        let index = Index::of(documents.collect());
        let text_of = |it: &Opening| {
            let Opening::Entity(name) = it else { return None };
            names.iter().position(|it| it == name).map(|at| texts[at])
        };
        let found = |new: &str, least| -> Vec<(Opening, bool)> {
            let twins = index.twins(new, least, text_of).into_iter();
            twins.map(|it| (it.opening, it.likeness >= 1.0)).collect()
        };
        let entity = |name: &str| Opening::Entity(name.to_owned());
        assert_eq!(found(&edited, TWINS), [(entity("edited"), true), (entity("note"), false)]);
        assert_eq!(found("The roofer put in new tiles.", TWINS), []);
        assert_eq!(found("The boiler is from 2006, they say.", 0.5), [(entity("boiler"), false)]);
        let but_one = |it: &Opening| text_of(it).filter(|it| *it != NOTE);
        assert_eq!(index.twins(NOTE, TWINS, but_one).len(), 1);
        assert!(index.twins("…", 0.0, text_of).is_empty());
    }
}
