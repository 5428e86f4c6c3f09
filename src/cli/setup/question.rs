//! The one question of `palazzo setup`.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _, Write as _};

/// The parts of a plan that a person has chosen.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ChosenParts {
    /// The numbers of the parts to leave out.
    pub(super) left_out: BTreeSet<usize>,
    /// The indexes of the offers to write too.
    pub(super) added: BTreeSet<usize>,
}

/// An answer to the question.
#[derive(Debug, PartialEq)]
enum Answer {
    Write(ChosenParts),
    Nothing,
    NotUnderstood,
}

/// Returns the letter of an offer.
pub(super) fn letter_of_offer(index: usize) -> char {
    (b'a'..=b'm').nth(index).map_or('?', char::from)
}

/// Asks which of `count` numbered parts to leave out, and which of the `offers`, with letters, to
/// add; `None`: nothing is to be written.
pub(super) fn ask_what_to_write(count: usize, offers: usize) -> io::Result<Option<ChosenParts>> {
    if !io::stdin().is_terminal() {
        anstream::eprintln!("Nothing is written yet. Run this in a terminal, or with --yes.");
        return Ok(None);
    }
    let letters: Vec<_> = (0..offers).map(|it| letter_of_offer(it).to_string()).collect();
    let letters = letters.join(" or ");
    let question = match offers {
        0 => "Write this? Enter for all, n for nothing, or the numbers to leave out: ".to_owned(),
        _ => format!(
            "Write 1 to {count}? Enter for yes, {letters} to add that part, n for nothing, or the \
             numbers to leave out: "
        ),
    };
    loop {
        anstream::eprint!("{question}");
        io::stderr().flush()?;
        let mut line = String::new();
        let is_ended = io::stdin().read_line(&mut line)? == 0;
        match parse_answer(&line, count, offers) {
            Answer::Write(choice) if !is_ended && !is_nothing(&choice, count) => {
                return Ok(Some(choice));
            }
            Answer::NotUnderstood => anstream::eprintln!("{}", answers_in_words(count, &letters)),
            Answer::Write(_) | Answer::Nothing => {
                anstream::eprintln!("Nothing is written.");
                return Ok(None);
            }
        }
    }
}

/// Names the answers that are understood.
fn answers_in_words(count: usize, letters: &str) -> String {
    let numbers = match count {
        1 => "1 leaves it out".to_owned(),
        _ => format!("numbers from 1 to {count} leave those parts out: 1 {count}"),
    };
    let letters = match letters {
        "" => String::new(),
        letters => format!("; {letters} adds that part to the rest"),
    };
    format!("Enter or y writes everything with a number; n writes nothing; {numbers}{letters}.")
}

fn is_nothing(choice: &ChosenParts, count: usize) -> bool {
    choice.left_out.len() == count && choice.added.is_empty()
}

fn parse_answer(line: &str, count: usize, offers: usize) -> Answer {
    let line = line.trim().to_lowercase();
    match line.as_str() {
        "" | "y" | "yes" => return Answer::Write(ChosenParts::default()),
        "n" | "no" | "none" => return Answer::Nothing,
        _ => {}
    }
    let mut choice = ChosenParts::default();
    for word in line.split([' ', ',']).filter(|it| !it.is_empty()) {
        let offer = (0..offers).find(|it| word == letter_of_offer(*it).to_string());
        match (offer, word.parse()) {
            (Some(offer), _) => choice.added.insert(offer),
            (None, Ok(number)) if (1..=count).contains(&number) => choice.left_out.insert(number),
            _ => return Answer::NotUnderstood,
        };
    }
    match choice == ChosenParts::default() {
        true => Answer::NotUnderstood,
        false => Answer::Write(choice),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(left_out: &[usize], added: &[usize]) -> Answer {
        let set = |it: &[usize]| it.iter().copied().collect();
        Answer::Write(ChosenParts { left_out: set(left_out), added: set(added) })
    }

    #[test]
    fn an_answer_is_all_nothing_or_the_numbers_to_leave_out() {
        let answer = |line| parse_answer(line, 3, 0);
        for line in ["\n", "y\n", " YES \r\n"] {
            assert_eq!(answer(line), choice(&[], &[]), "{line}");
        }
        for line in ["n\n", "no", "None\n"] {
            assert_eq!(answer(line), Answer::Nothing, "{line}");
        }
        for line in ["1 3\n", "1,3", "3, 1 1\n"] {
            assert_eq!(answer(line), choice(&[1, 3], &[]), "{line}");
        }
        for line in ["4\n", "0", "1 x", "-1", ",", "nope", "a"] {
            assert_eq!(answer(line), Answer::NotUnderstood, "{line}");
        }
    }

    #[test]
    fn an_answer_that_is_not_understood_is_answered_with_those_that_are() {
        let (one, two) = (answers_in_words(1, ""), answers_in_words(4, "a or b"));
        insta::assert_snapshot!(format!("{one}\n{two}"), @"
        Enter or y writes everything with a number; n writes nothing; 1 leaves it out.
        Enter or y writes everything with a number; n writes nothing; numbers from 1 to 4 leave those parts out: 1 4; a or b adds that part to the rest.
        ");
    }

    #[test]
    fn a_letter_adds_an_offer_to_what_is_written() {
        let answer = |line| parse_answer(line, 3, 2);
        assert_eq!(answer("a\n"), choice(&[], &[0]));
        assert_eq!(answer("B, 2 a\n"), choice(&[2], &[0, 1]));
        assert_eq!(answer("\n"), choice(&[], &[]));
        for line in ["c", "ab", "a 4"] {
            assert_eq!(answer(line), Answer::NotUnderstood, "{line}");
        }
        assert!(is_nothing(&ChosenParts { left_out: [1].into(), ..ChosenParts::default() }, 1));
        assert!(!is_nothing(&ChosenParts { left_out: [1].into(), added: [0].into() }, 1));
    }
}
