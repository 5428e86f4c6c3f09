//! Reading AAAK. Reading never fails: what is no AAAK is a finding, and the
//! rest of the note is read all the same.

use chrono::NaiveDate;

use crate::model::{Code, Diagnostic, Position, split_lines};

/// A note, line by line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Note<'a> {
    /// The lines that say something.
    pub lines: Vec<Line<'a>>,
}

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// What codes stand for.
    Legend(Vec<Legend<'a>>),
    /// Something said.
    Entry(Entry<'a>),
}

/// A code and what it stands for: `ALC=Alice`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Legend<'a> {
    /// Where it stands.
    pub at: Position,
    /// The code.
    pub code: &'a str,
    /// The name.
    pub name: &'a str,
}

/// What a line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// What it is about, if it says so.
    pub head: Option<Head<'a>>,
    /// Its fields; empty ones are left out.
    pub fields: Vec<Field<'a>>,
}

/// What a line is about: `AUTH.DECISION`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head<'a> {
    /// Where it stands.
    pub at: Position,
    /// As it is written.
    pub text: &'a str,
}

/// What stands between two bars.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field<'a> {
    /// A day, a month, a year, or a span of them.
    Date(&'a str),
    /// How much it matters, from 1 to 5.
    Weight(u8),
    /// Anything else.
    Statement(Statement<'a>),
}

/// Terms that arrows join.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statement<'a> {
    /// What stands between the arrows.
    pub terms: Vec<&'a str>,
    /// The words between asterisks.
    pub marks: Vec<&'a str>,
}

/// A piece of a line, and where it begins.
#[derive(Clone, Copy)]
struct Piece<'a> {
    at: Position,
    text: &'a str,
}

/// Arrows that join terms; the longer before the shorter.
const ARROWS: [&str; 6] = ["<->", "->", "<-", "→", "←", "↔"];

/// Reads a note. `file` is what findings call it.
pub fn parse<'a>(file: &str, text: &'a str) -> (Note<'a>, Vec<Diagnostic>) {
    let mut reader = Reader { file, findings: Vec::new() };
    let lines = split_lines(text.strip_prefix('\u{feff}').unwrap_or(text)).zip(1..);
    let lines =
        lines.map(|(text, line)| Piece { at: Position { line, column: 1 }, text }.trimmed());
    let said = lines.filter(|it| !it.text.is_empty());
    let lines = said.map(|it| reader.line(it)).collect();
    (Note { lines }, reader.findings)
}

struct Reader<'f> {
    file: &'f str,
    findings: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn line<'a>(&mut self, line: Piece<'a>) -> Line<'a> {
        if let Some(legend) = legend(line) {
            return Line::Legend(legend);
        }
        let (head, rest) = match head(line) {
            Some((head, rest)) => (Some(head), rest),
            None => (None, line),
        };
        let fields = split_at_bars(rest);
        Line::Entry(Entry {
            head,
            fields: fields.into_iter().filter_map(|it| self.field(it)).collect(),
        })
    }

    fn field<'a>(&mut self, field: Piece<'a>) -> Option<Field<'a>> {
        let text = field.text;
        if text.is_empty() {
            let message = "nothing stands between the bars";
            self.find(Code::AaakEmpty, field.at, message, "take away one bar");
            return None;
        }
        if text.chars().all(|it| it == '★') {
            return Some(Field::Weight(self.weight(field)));
        }
        if looks_like_date(text) {
            if !text.split("..").all(is_date) {
                let message = format!("`{text}` is no date");
                let hint = "write 2026, 2026-03 or 2026-03-12; a span is 2026-03..2026-05";
                self.find(Code::AaakDate, field.at, message, hint);
            }
            return Some(Field::Date(text));
        }
        Some(Field::Statement(self.statement(field)))
    }

    fn weight(&mut self, field: Piece<'_>) -> u8 {
        let stars = field.text.chars().count();
        if stars > 5 {
            let message = format!("there are {stars} stars, and five are the most");
            self.find(Code::AaakWeight, field.at, message, "★★★★★ is what matters most");
        }
        u8::try_from(stars.min(5)).unwrap_or(5)
    }

    fn statement<'a>(&mut self, field: Piece<'a>) -> Statement<'a> {
        let mut statement = Statement::default();
        if let Some(star) = field.text.find('★') {
            let message = "stars stand in a field of their own";
            self.find(Code::AaakWeight, field.after(star).at, message, "put a | before them");
        }
        for term in split_at_arrows(field) {
            if term.text.is_empty() {
                let message = "an arrow leads nowhere";
                self.find(Code::AaakEmpty, term.at, message, "say what it leads from and to");
                continue;
            }
            statement.terms.push(term.text);
            self.marks(term, &mut statement.marks);
        }
        statement
    }

    /// Finds the marks of a term, and what begins and does not end.
    fn marks<'a>(&mut self, term: Piece<'a>, marks: &mut Vec<&'a str>) {
        let mut rest = term;
        while let Some(begin) = rest.text.find(['*', '"']) {
            let sign = &rest.text[begin..=begin];
            let opened = rest.after(begin);
            let inside = opened.after(1);
            let Some(end) = inside.text.find(sign) else {
                let hint = if sign == "*" { "write *warm*" } else { "write \"their words\"" };
                let message = format!("a {sign} begins here and does not end");
                self.find(Code::AaakUnclosed, opened.at, message, hint);
                return;
            };
            let word = &inside.text[..end];
            if sign == "*" {
                if word.is_empty() || word.contains(char::is_whitespace) {
                    let message = format!("`*{word}*` is no mark: a mark is one word");
                    self.find(Code::AaakMark, opened.at, message, "write *warm*");
                }
                marks.push(word);
            }
            rest = inside.after(end + 1);
        }
    }

    fn find(&mut self, code: Code, at: Position, message: impl Into<String>, hint: &str) {
        let (file, message) = (self.file.to_owned(), message.into());
        let hint = Some(hint.to_owned());
        self.findings.push(Diagnostic { code, file, at, message, hint, replacement: None });
    }
}

impl Piece<'_> {
    /// What is left behind the first `bytes`.
    fn after(self, bytes: usize) -> Self {
        let (before, text) = self.text.split_at(bytes);
        let column = self.at.column + before.chars().count();
        Self { at: Position { column, ..self.at }, text }
    }

    fn before(self, bytes: usize) -> Self {
        Self { text: &self.text[..bytes], ..self }
    }

    fn trimmed(self) -> Self {
        let start = self.text.len() - self.text.trim_start().len();
        let rest = self.after(start);
        Self { text: rest.text.trim_end(), ..rest }
    }
}

/// Reads a line that explains codes; `None`: it is no such line.
fn legend(line: Piece<'_>) -> Option<Vec<Legend<'_>>> {
    let mut pairs = Vec::new();
    let mut rest = line;
    loop {
        let end = rest.text.find(',').unwrap_or(rest.text.len());
        let pair = rest.before(end).trimmed();
        let (code, name) = pair.text.split_once('=')?;
        let (code, name) = (code.trim_end(), name.trim());
        if name.is_empty() || !is_label(code) || code.contains('.') {
            return None;
        }
        pairs.push(Legend { at: pair.at, code, name });
        if end == rest.text.len() {
            return Some(pairs);
        }
        rest = rest.after(end + 1);
    }
}

/// Splits off what a line is about, if it says so: a word before a colon that
/// is in capitals, or was meant to be.
fn head(line: Piece<'_>) -> Option<(Head<'_>, Piece<'_>)> {
    let colon = line.text.find(':')?;
    let text = line.text[..colon].trim_end();
    let rest = line.after(colon + 1);
    let is_word = !text.contains(['|', '"', '*', ' ', '→', '←', '↔']) && !text.is_empty();
    let is_other = rest.text.starts_with("//") || text.starts_with(|it: char| it.is_ascii_digit());
    (is_word && !is_other).then(|| (Head { at: line.at, text }, rest.trimmed()))
}

/// Tells whether a head's label is written as it should be.
pub(super) fn is_label(text: &str) -> bool {
    let fits = |it: char| it.is_uppercase() || !it.is_alphabetic() && !it.is_whitespace();
    !text.is_empty() && text.chars().all(fits)
}

fn split_at_bars(line: Piece<'_>) -> Vec<Piece<'_>> {
    split(line, |text| {
        let bar = outside_quotes(text).find(|(_, rest)| rest.starts_with('|'));
        bar.map(|(at, _)| (at, 1))
    })
}

fn split_at_arrows(field: Piece<'_>) -> Vec<Piece<'_>> {
    split(field, |text| {
        outside_quotes(text).find_map(|(at, rest)| {
            let arrow = ARROWS.iter().find(|it| rest.starts_with(*it))?;
            Some((at, arrow.len()))
        })
    })
}

/// Splits at what `next` finds: where it begins and how long it is.
fn split(whole: Piece<'_>, next: impl Fn(&str) -> Option<(usize, usize)>) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = whole;
    while let Some((at, length)) = next(rest.text) {
        pieces.push(rest.before(at).trimmed());
        rest = rest.after(at + length);
    }
    pieces.push(rest.trimmed());
    pieces
}

/// Yields the places of a text that are not in quotes, with what follows. A
/// quote that is never closed is none.
fn outside_quotes(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut quoted = false;
    text.char_indices().filter_map(move |(at, it)| {
        let rest = &text[at..];
        if it == '"' {
            quoted = !quoted && rest[1..].contains('"');
        }
        (!quoted).then_some((at, rest))
    })
}

/// Tells whether a field can only have been meant as a date.
fn looks_like_date(text: &str) -> bool {
    let fits = |it: char| it.is_ascii_digit() || matches!(it, '-' | '.');
    let is_year = text.get(..4).is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()));
    is_year && text.chars().all(fits) && (text.len() == 4 || text[4..].starts_with(['-', '.']))
}

fn is_date(text: &str) -> bool {
    let full = match text.len() {
        4 => format!("{text}-01-01"),
        7 => format!("{text}-01"),
        _ => text.to_owned(),
    };
    full.len() == 10 && full.parse::<NaiveDate>().is_ok()
}
