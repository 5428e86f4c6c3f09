//! What is wrong with a note, beyond what its grammar says.

use std::collections::BTreeMap;

use crate::aaak::parse::is_label;
use crate::aaak::{Head, Legend, Line, Note, parse};
use crate::model::{Code, Diagnostic, Position};

/// Says what is wrong with a note, by line. `file` is what findings call it.
pub fn check(file: &str, text: &str) -> Vec<Diagnostic> {
    let (note, mut findings) = parse(file, text);
    let mut find = |code, at: Position, message: String, hint: &str| {
        let (file, hint) = (file.to_owned(), Some(hint.to_owned()));
        findings.push(Diagnostic { code, file, at, message, hint, replacement: None });
    };
    for (Head { at, text }, label) in heads(&note) {
        let message = format!("`{label}` in `{text}` is no label");
        find(Code::AaakHead, at, message, "capitals, digits, _ and -: AUTH.DECISION");
    }
    for (at, message) in codes(&note) {
        let hint = "a code has three capitals and one meaning: ALC=Alice";
        find(Code::AaakCode, at, message, hint);
    }
    findings.sort_by_key(|it| it.at);
    findings
}

/// Yields the labels that are not written as labels are.
fn heads<'a>(note: &'a Note<'a>) -> impl Iterator<Item = (Head<'a>, &'a str)> {
    let heads = note.lines.iter().filter_map(|it| match it {
        Line::Entry(entry) => entry.head,
        Line::Legend(_) => None,
    });
    heads.filter_map(|head| Some((head, head.text.split('.').find(|it| !is_label(it))?)))
}

/// Tells of codes that are none, or that could be taken for another.
fn codes(note: &Note<'_>) -> Vec<(Position, String)> {
    let (mut names, mut wrong) = (BTreeMap::new(), Vec::new());
    let legends = note.lines.iter().filter_map(|it| match it {
        Line::Legend(pairs) => Some(pairs),
        Line::Entry(_) => None,
    });
    for Legend { at, code, name } in legends.flatten() {
        let fits = |it: char| it.is_ascii_uppercase() || it.is_ascii_digit();
        if code.len() != 3 || !code.chars().all(fits) || !code.starts_with(char::is_alphabetic) {
            wrong.push((*at, format!("`{code}` is no code")));
        }
        let first = names.entry(code).or_insert(name);
        if first != &name {
            wrong.push((*at, format!("`{code}` stands for `{first}` and for `{name}`")));
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::aaak::{Entry, Field, Statement};

    fn checked(text: &str) -> String {
        check("-", text).iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn the_original_example_note_is_parsed() {
        let text = "AUTH.COST:2026-03|Auth0.price↑40%→triggered.Clerk.eval|*wary*|★★★";
        let (note, findings) = parse("-", text);
        assert_eq!(findings, []);
        let head = Head { at: Position::START, text: "AUTH.COST" };
        let price =
            Statement { terms: vec!["Auth0.price↑40%", "triggered.Clerk.eval"], marks: vec![] };
        let wary = Statement { terms: vec!["*wary*"], marks: vec!["wary"] };
        let fields = vec![
            Field::Date("2026-03"),
            Field::Statement(price),
            Field::Statement(wary),
            Field::Weight(3),
        ];
        assert_eq!(note.lines, [Line::Entry(Entry { head: Some(head), fields })]);
    }

    #[test]
    fn a_valid_note_has_no_findings() {
        let text = "\u{feff}ALC=Alice, JOR=Jordan\r\n\r\nFAM: ALC→♡JOR | 2026-03-01..2026-05 | ★★★★★\n\
                    ⚠:\"a | b → c\"|5x|see https://example.org\nplain words are fine too: really\n";
        assert_eq!(checked(text), "");
    }

    #[test]
    fn the_example_in_the_guide_has_no_findings() {
        let example = crate::aaak::GUIDE.lines().nth(1).unwrap();
        assert_eq!((example.contains('|'), checked(example)), (true, String::new()));
    }

    #[test]
    fn every_fault_is_reported_with_its_position() {
        let text = "MAX=Max, MAX=Maxine\nab=Abe\nauth.cost:a||b|\nX:2026-13|2026-02-30\n\
                    X:→b->|*warm|*very warm*|**bold**|\"half\n  Ü:★★★★★★|so★\n";
        assert_snapshot!(checked(text));
    }

    #[test]
    fn no_text_makes_the_parser_panic() {
        for text in [
            "",
            "|",
            "=",
            ":",
            "::",
            "*",
            "\"",
            "→",
            "a=,",
            "2026",
            "2026-",
            "2026.",
            "日本-->",
            "\"*\"*",
        ] {
            check("-", text);
        }
    }
}
