//! Completes words, numbers, and names of rooms and scrolls in `palazzo walk`.

use rustyline::completion::{Completer, Pair};
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper};

use crate::cli::walk::words::WORDS;
use palazzo_core::model::escape_unprintable_in_lines;
use palazzo_keeper::Choices;

/// Completes what can be typed in the current room.
#[derive(Default)]
pub(super) struct NameCompleter {
    /// The choices in the current room. `None` while a text is typed: its lines are not completed.
    pub(super) choices: Option<Choices>,
}

impl Completer for NameCompleter {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let typed = line.get(..position).unwrap_or(line);
        let blanks = typed.len() - typed.trim_start().len();
        let Some(choices) = &self.choices else { return Ok((position, Vec::new())) };
        let (start, candidates) = candidates(choices, typed);
        Ok((blanks + start, candidates))
    }
}

impl Hinter for NameCompleter {
    type Hint = String;
}

impl Highlighter for NameCompleter {}
impl Validator for NameCompleter {}
impl Helper for NameCompleter {}

/// Returns the place in `line` from which it can be completed, and the candidates.
fn candidates(choices: &Choices, line: &str) -> (usize, Vec<Pair>) {
    let line = line.trim_start();
    let (word, input) = line.split_once(' ').unwrap_or(("", ""));
    let input = input.trim_start();
    let candidates = match word.to_lowercase().as_str() {
        "go" | "16" => rooms(choices, input),
        "read" => scrolls(choices, input).into_iter().chain(numbers(choices, input)).collect(),
        _ => Vec::new(),
    };
    if !candidates.is_empty() {
        return (line.len() - input.len(), candidates);
    }
    let words = WORDS.iter().filter(|it| it.name.starts_with(&line.to_lowercase()));
    let words = words.map(|it| match it.input {
        "" => pair(it.name, it.name),
        _ => pair(&format!("{} ", it.name), &format!("{} {}", it.name, it.input)),
    });
    let rooms = if line.is_empty() { Vec::new() } else { rooms(choices, line) };
    (0, numbers(choices, line).into_iter().chain(words).chain(rooms).collect())
}

fn numbers(choices: &Choices, typed: &str) -> Vec<Pair> {
    let numbers = choices.numbers.iter();
    let numbers = numbers.filter(|(number, _)| number.to_string().starts_with(typed));
    numbers
        .map(|(number, label)| pair(&number.to_string(), &format!("{number}. {label}")))
        .collect()
}

fn scrolls(choices: &Choices, typed: &str) -> Vec<Pair> {
    let typed = typed.to_lowercase();
    let titles = choices.scrolls.iter();
    let titles = titles.filter(|it| it.to_lowercase().starts_with(&typed));
    titles.map(|it| pair(it, it)).collect()
}

/// Returns the rooms whose slug, or else whose name, begins with `typed`.
fn rooms(choices: &Choices, typed: &str) -> Vec<Pair> {
    let typed = typed.to_lowercase();
    let matching = |(slug, name): &(String, String)| {
        let slug_without_wing = slug.rsplit('/').next().unwrap_or_default();
        if slug.starts_with(&typed) || slug_without_wing.starts_with(&typed) {
            Some(pair(slug, &format!("{slug} ({name})")))
        } else {
            name.to_lowercase().starts_with(&typed).then(|| pair(name, name))
        }
    };
    choices.rooms.iter().filter_map(matching).collect()
}

fn pair(replacement: &str, display: &str) -> Pair {
    Pair {
        display: escape_unprintable_in_lines(display),
        replacement: escape_unprintable_in_lines(replacement),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Completes a line; returns each completed line.
    fn complete(line: &str) -> Vec<String> {
        let names = |names: &[(&str, &str)]| {
            names.iter().map(|(slug, name)| ((*slug).to_owned(), (*name).to_owned())).collect()
        };
        let choices = Choices {
            numbers: vec![(1, "Listen".to_owned()), (21, "On snow".to_owned())],
            rooms: names(&[("bug-crypt", "Bug Crypt"), ("east/well", "The Old Well")]),
            scrolls: vec!["On snow".to_owned(), "On rain".to_owned()],
        };
        let (start, candidates) = candidates(&choices, line);
        candidates.iter().map(|it| format!("{}{}", &line[..start], it.replacement)).collect()
    }

    #[test]
    fn a_word_a_number_or_a_room_is_completed_at_the_beginning_of_a_line() {
        assert_eq!(complete("ma"), ["map"]);
        assert_eq!(complete("2"), ["21"]);
        assert_eq!(complete("b"), ["back", "bug-crypt"]);
        assert_eq!(complete("the o"), ["The Old Well"]);
        assert_eq!(complete("").len(), 2 + WORDS.len());
        assert!(complete("xyzzy").is_empty());
    }

    #[test]
    fn the_input_of_a_word_is_completed_with_names() {
        assert_eq!(complete("go bu"), ["go bug-crypt"]);
        assert_eq!(complete("go we"), ["go east/well"]);
        assert_eq!(complete("go The"), ["go The Old Well"]);
        assert_eq!(complete("read on s"), ["read On snow"]);
        assert_eq!(complete("read 2"), ["read 21"]);
        assert!(complete("search on").is_empty());
    }
}
