//! The one question of `palazzo setup`.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _, Write as _};

/// An answer to the question.
#[derive(Debug, PartialEq)]
enum Answer {
    /// All parts except those with these numbers.
    AllBut(BTreeSet<usize>),
    Nothing,
    NotUnderstood,
}

/// Asks which of `count` numbered parts to leave out; `None`: nothing is to be written.
pub(super) fn ask_what_to_leave_out(count: usize) -> io::Result<Option<BTreeSet<usize>>> {
    if !io::stdin().is_terminal() {
        anstream::eprintln!("Nothing is written yet. Run this in a terminal, or with --yes.");
        return Ok(None);
    }
    loop {
        anstream::eprint!(
            "Write this? Enter for all, n for nothing, or the numbers to leave out: "
        );
        io::stderr().flush()?;
        let mut line = String::new();
        let is_ended = io::stdin().read_line(&mut line)? == 0;
        match parse_answer(&line, count) {
            Answer::AllBut(left_out) if !is_ended && left_out.len() < count => {
                return Ok(Some(left_out));
            }
            Answer::NotUnderstood => anstream::eprintln!("Give numbers from 1 to {count}."),
            Answer::AllBut(_) | Answer::Nothing => {
                anstream::eprintln!("Nothing is written.");
                return Ok(None);
            }
        }
    }
}

fn parse_answer(line: &str, count: usize) -> Answer {
    match line.trim().to_lowercase().as_str() {
        "" | "y" | "yes" => Answer::AllBut(BTreeSet::new()),
        "n" | "no" | "none" => Answer::Nothing,
        numbers => {
            let words = numbers.split([' ', ',']).filter(|it| !it.is_empty());
            let numbers = words.map(|it| it.parse().ok().filter(|it| (1..=count).contains(it)));
            match numbers.collect::<Option<BTreeSet<usize>>>() {
                Some(numbers) if !numbers.is_empty() => Answer::AllBut(numbers),
                _ => Answer::NotUnderstood,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_all_nothing_or_the_numbers_to_leave_out() {
        let answer = |line| parse_answer(line, 3);
        for line in ["\n", "y\n", " YES \r\n"] {
            assert_eq!(answer(line), Answer::AllBut(BTreeSet::new()), "{line}");
        }
        for line in ["n\n", "no", "None\n"] {
            assert_eq!(answer(line), Answer::Nothing, "{line}");
        }
        for line in ["1 3\n", "1,3", "3, 1 1\n"] {
            assert_eq!(answer(line), Answer::AllBut([1, 3].into()), "{line}");
        }
        for line in ["4\n", "0", "1 x", "-1", ",", "nope"] {
            assert_eq!(answer(line), Answer::NotUnderstood, "{line}");
        }
    }
}
