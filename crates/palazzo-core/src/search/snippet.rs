//! Cuts the snippet of a text that shows why it was found.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::ops::Range;

use crate::search::language::Language;
use crate::search::query_parser::{QueryWord, QueryWords};
use crate::search::words::{Word, for_each_word};

/// Returns about `length` characters of `text`: `passage` if it is not longer, else around the most query
/// words in it; without any, around its start.
pub fn snippet(text: &str, passage: Range<usize>, question: &str, length: usize) -> String {
    let words = QueryWords::parse(question).words;
    let within = text.get(passage.clone()).unwrap_or_default();
    let start = if within.is_empty() { 0 } else { passage.start };
    // What is before a whole passage must not push out its end.
    let left = length.saturating_sub(within.chars().count());
    let (at, before) = match within.len() <= length {
        true => (start, left.min(length / 3)),
        false => {
            let best = best_start(&matches(within, &words), length);
            (best.map_or(start, |it| it + start), length / 3)
        }
    };
    cut_snippet(text, at, (length, before))
}

/// Returns the place of the text with the most different query words, the first of several;
/// `None` if no text contains any.
pub fn most_matching_text<'t>(
    texts: impl IntoIterator<Item = &'t str>,
    question: &str,
) -> Option<usize> {
    let words = QueryWords::parse(question).words;
    let counts = texts.into_iter().map(|it| count_query_words(it, &words)).enumerate();
    counts.filter(|(_, count)| *count > 0).min_by_key(|(_, count)| Reverse(*count)).map(|it| it.0)
}

/// Counts the query words that a text contains.
fn count_query_words(text: &str, query_words: &[QueryWord]) -> usize {
    let language = Language::detect(text);
    let mut is_found = vec![false; query_words.len()];
    for_each_word(text, |word| {
        for (found, query_word) in is_found.iter_mut().zip(query_words) {
            *found |= is_match(&word, query_word, language);
        }
    });
    is_found.into_iter().filter(|it| *it).count()
}

/// Returns the positions of the query words, each with the place of the word in the query.
fn matches(text: &str, query_words: &[QueryWord]) -> Vec<(usize, usize)> {
    let language = Language::detect(text);
    let mut matches = Vec::new();
    for_each_word(text, |word| {
        let is_match = |query_word: &QueryWord| is_match(&word, query_word, language);
        if let Some(which) = query_words.iter().position(is_match) {
            matches.push((word.range.start, which));
        }
    });
    matches
}

fn is_match(word: &Word<'_>, query_word: &QueryWord, language: Language) -> bool {
    let language = language.for_script(word.script);
    word.text.starts_with(&query_word.text)
        || language.stem(word.text) == language.stem(&query_word.text)
}

/// Returns the first of the positions with the most different words in the `length` bytes from it; of
/// several, the one with the most matches.
fn best_start(matches: &[(usize, usize)], length: usize) -> Option<usize> {
    let count = |from: usize| {
        let near = || matches.iter().filter(|(at, _)| (from..from + length).contains(at));
        (near().map(|(_, which)| which).collect::<HashSet<_>>().len(), near().count())
    };
    matches.iter().map(|(at, _)| *at).rev().max_by_key(|it| count(*it))
}

/// Cuts the text around `at`: from the line of it or at most `before` characters before it, between words if
/// possible.
fn cut_snippet(text: &str, at: usize, (length, before): (usize, usize)) -> String {
    let back = text[..at].char_indices().rev().take(before).last().map_or(at, |(it, _)| it);
    let start = match text[back..at].rfind('\n') {
        Some(line) => back + line,
        None if text[..back].trim_end().is_empty() => 0,
        None => text[back..at].find(char::is_whitespace).map_or(back, |it| back + it),
    };
    let rest = &text[start..];
    let full = rest.char_indices().nth(length).map_or(text.len(), |(it, _)| start + it);
    let end = match text[full..].trim_start().is_empty() {
        true => text.len(),
        false if text[full..].starts_with(char::is_whitespace) => full,
        false => text[at..full].rfind(char::is_whitespace).map_or(full, |it| at + it),
    };
    let words: Vec<&str> = text[start..end].split_whitespace().collect();
    let from = if text[..start].trim().is_empty() { "" } else { "…" };
    let to = if text[end..].trim().is_empty() { "" } else { "…" };
    format!("{from}{}{to}", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snippet_of(text: &str, question: &str) -> String {
        snippet(text, 0..text.len(), question, 60)
    }

    #[test]
    fn a_snippet_is_cut_between_words_at_any_kind_of_space() {
        for blank in [" ", "\u{a0}", "\u{3000}", "\u{2028}"] {
            let text = format!(
                "{}otter{}",
                format!("mot{blank}").repeat(60),
                format!("{blank}mot").repeat(60)
            );
            let (before, after) = ("mot ".repeat(4), " mot".repeat(9));
            assert_eq!(snippet_of(&text, "otter"), format!("…{before}otter{after}…"), "{blank:?}");
        }
    }

    #[test]
    fn a_snippet_begins_with_the_line_of_the_words() {
        let before = format!("{}river", "It rains. ".repeat(9));
        let text = format!("{before}\nThe otter eats a frog, and then another.\nThe heron looks.");
        let line = "…The otter eats a frog, and then another. The heron looks.";
        assert_eq!(snippet_of(&text, "otter frog"), line);
    }

    #[test]
    fn a_snippet_contains_the_query_words() {
        let text = format!("{} İstanbul keeps the fossils {}", "x ".repeat(100), "y ".repeat(100));
        assert!(snippet_of(&text, "the fossil").contains("fossils y"));
        assert_eq!(snippet_of("short", "nothing"), "short");
        assert_eq!(snippet_of("", "nothing"), "");
    }

    #[test]
    fn a_passage_that_fits_is_shown_to_its_end() {
        let (before, passage) =
            ("Sand. ".repeat(50), format!("{}The hood cost 85.", "Dust. ".repeat(6)));
        let text = format!("{before}{passage} More.");
        let shown = snippet(&text, before.len()..before.len() + passage.len(), "hood", 60);
        assert!(shown.contains("The hood cost 85."), "{shown}");
    }

    #[test]
    fn a_snippet_shows_where_most_query_words_occur_together() {
        let text = format!(
            "A boiler. {} The boiler shows error F28. {}",
            "x ".repeat(80),
            "y ".repeat(80)
        );
        assert!(snippet_of(&text, "boiler error f28").contains("boiler shows error F28."));
    }

    #[test]
    fn the_text_with_the_most_different_query_words_matches_best() {
        let texts = ["Ropes and ropes.", "The cable snapped.", "A cable, broken.", "Nothing"];
        let best = |question| most_matching_text(texts, question);
        assert_eq!(best("is the cable broken"), Some(2));
        assert_eq!(best("rope"), Some(0));
        assert_eq!(best("the heron"), None);
    }

    #[test]
    fn texts_without_spaces_are_cut_between_characters() {
        let text = format!("{}去成都拜访陈先生{}", "我".repeat(100), "你".repeat(100));
        let shown = snippet_of(&text, "陈先生");
        assert!(shown.contains("陈先生") && shown.chars().count() <= 62, "{shown}");
    }

    #[test]
    fn an_outdated_passage_range_causes_no_panic() {
        assert_eq!(snippet("short", 40..80, "x", 60), "short");
        assert_eq!(snippet("é", 1..2, "x", 60), "é");
    }
}
