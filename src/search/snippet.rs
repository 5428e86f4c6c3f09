//! The part of a text that shows why it was found.

use std::ops::Range;

use crate::search::language::Language;
use crate::search::query_words::{QueryWord, QueryWords};
use crate::search::words::{Word, for_each_word};

/// Returns the words of `text` around those that were asked for, about `most`
/// characters of them, looked for in `passage` first.
pub fn snippet(text: &str, passage: Range<usize>, question: &str, most: usize) -> String {
    let asked = QueryWords::parse(question).words;
    let within = text.get(passage.clone()).unwrap_or_default();
    let told = match_positions(within, &asked).into_iter().map(|at| at + passage.start);
    let at = best_start(&told.collect::<Vec<_>>(), most).unwrap_or(match within.is_empty() {
        true => 0,
        false => passage.start,
    });
    cut_snippet(text, at, most)
}

/// Yields where the words stand that were asked for.
fn match_positions(text: &str, asked: &[QueryWord]) -> Vec<usize> {
    let language = Language::detect(text);
    let mut places = Vec::new();
    for_each_word(text, |word| {
        if asked.iter().any(|asked| is_match(&word, asked, language)) {
            places.push(word.range.start);
        }
    });
    places
}

fn is_match(word: &Word<'_>, asked: &QueryWord, language: Language) -> bool {
    let language = language.for_script(word.script);
    word.text.starts_with(&asked.text) || language.stem(word.text) == language.stem(&asked.text)
}

/// Returns the place from which most of `places` can be seen, the first of such.
fn best_start(places: &[usize], most: usize) -> Option<usize> {
    let seen = |from: usize| places.iter().filter(|it| (from..from + most).contains(it)).count();
    places.iter().copied().rev().max_by_key(|it| seen(*it))
}

/// Cuts out what stands around `at`: a third of it before, between words if it
/// can be.
fn cut_snippet(text: &str, at: usize, most: usize) -> String {
    let back = text[..at].char_indices().rev().take(most / 3).last().map_or(at, |(it, _)| it);
    let start = match text[..back].trim_end().is_empty() {
        true => 0,
        false => text[back..at].find(char::is_whitespace).map_or(back, |it| back + it),
    };
    let rest = &text[start..];
    let full = rest.char_indices().nth(most).map_or(text.len(), |(it, _)| start + it);
    let end = match text[full..].trim_start().is_empty() {
        true => text.len(),
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
        for blank in [" ", "\u{a0}", "\u{3000}", "\u{2028}", "\n"] {
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
    fn a_snippet_contains_the_query_words() {
        let text = format!("{} İstanbul keeps the fossils {}", "x ".repeat(100), "y ".repeat(100));
        assert!(snippet_of(&text, "the fossil").contains("fossils y"));
        assert_eq!(snippet_of("short", "nothing"), "short");
        assert_eq!(snippet_of("", "nothing"), "");
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
