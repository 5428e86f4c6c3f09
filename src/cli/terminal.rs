//! Prints pages: with bold, colour and wrapped lines on a terminal, plain in pipes; without bold
//! and colour if `NO_COLOR` is set.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write};

use anstyle::{AnsiColor, Style};
use terminal_size::{Width, terminal_size_of};
use textwrap::{Options, WordSeparator, WordSplitter};

use crate::keeper::Finding;
use crate::model::{Code, Diagnostic, Severity, strip_unprintable};

/// The longest lines on a wide terminal: longer ones are hard to read.
const MAX_WIDTH: usize = 100;

/// Lines are not wrapped on a terminal that is narrower than this.
const MIN_WIDTH: usize = 20;

/// Returns the text in bold.
fn bold(text: &str) -> String {
    apply_style(Style::new().bold(), text)
}

/// Prints a page for people, its headings in bold. On a terminal, its lines are wrapped. A closed
/// pipe (`| head`) ends the program without a message.
pub(crate) fn print_page(page: &str) -> io::Result<()> {
    let width = page_width();
    let mut out = anstream::stdout().lock();
    for line in strip_unprintable(page).lines() {
        let is_heading = line.starts_with("── ") && line.ends_with(" ──");
        for line in wrap_line(line, width) {
            writeln!(out, "{}", if is_heading { bold(&line) } else { line.into_owned() })?;
        }
    }
    out.flush()
}

/// Prints a text for programs, such as JSON, a script or paths. Its lines are never wrapped.
pub(crate) fn print_text(text: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    for line in strip_unprintable(text).lines() {
        writeln!(out, "{line}")?;
    }
    out.flush()
}

/// Prints a patch, and keeps the line endings of the files.
pub(crate) fn print_patch(page: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    for line in page.split_inclusive('\n') {
        let text = line.trim_end_matches(['\r', '\n']);
        write!(out, "{}{}", strip_unprintable(text), &line[text.len()..])?;
    }
    out.flush()
}

/// Returns the width of pages; `None` if standard output is no terminal, or a very narrow one.
fn page_width() -> Option<usize> {
    let out = io::stdout();
    let (Width(width), _) = terminal_size_of(&out).filter(|_| out.is_terminal())?;
    Some(usize::from(width).min(MAX_WIDTH)).filter(|it| *it >= MIN_WIDTH)
}

/// Wraps a line between words. The lines after the first are indented like the text of the first:
/// below the text of a list item, not below its number.
fn wrap_line(line: &str, width: Option<usize>) -> Vec<Cow<'_, str>> {
    let Some(width) = width else { return vec![line.into()] };
    let indent = " ".repeat(hanging_indent(line).min(width / 2));
    let options = Options::new(width)
        .subsequent_indent(&indent)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .break_words(false);
    textwrap::wrap(line, options)
}

/// Returns the number of columns before the text of a line: its indentation, and the number or
/// bullet of a list item.
fn hanging_indent(line: &str) -> usize {
    let text = line.trim_start_matches(' ');
    let indent = line.len() - text.len();
    let marker = text.split_inclusive(' ').next().unwrap_or_default();
    let is_number = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    let is_marker = match marker.trim_end() {
        "-" | "*" | ">" => true,
        word => word.strip_suffix('.').is_some_and(is_number),
    };
    indent + if is_marker { marker.len() } else { 0 }
}

/// Prints a finding in a form that editors can jump to, with its source line and its hint.
pub(crate) fn print_finding(path: &str, it: &Finding) -> io::Result<()> {
    write!(anstream::stdout().lock(), "{}", format_finding(path, it))
}

/// Prints a finding on the error stream.
pub(crate) fn eprint_finding(path: &str, it: &Finding) {
    anstream::eprint!("{}", format_finding(path, it));
}

fn format_finding(path: &str, Finding { diagnostic, source_excerpt: excerpt }: &Finding) -> String {
    let Diagnostic { code, at, message, .. } = diagnostic;
    let (path, message) = (strip_unprintable(path), strip_unprintable(message));
    format!(
        "{path}:{}:{}: {}: {message}\n{excerpt}",
        at.line,
        at.column,
        colored_severity_and_code(*code)
    )
}

/// Prints an error message on the error stream.
pub(crate) fn eprint_failure(message: &str) {
    anstream::eprintln!("{}: {}", bold("palazzo"), strip_unprintable(message));
}

fn colored_severity_and_code(code: Code) -> String {
    let severity = code.severity();
    let colour = match severity {
        Severity::Error => AnsiColor::Red,
        Severity::Warning => AnsiColor::Yellow,
        Severity::Info => AnsiColor::Cyan,
    };
    apply_style(colour.on_default().bold(), &format!("{severity}[{code}]"))
}

fn apply_style(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Position;

    fn finding(code: Code, path: &str, message: &str) -> String {
        let mut diagnostic = Diagnostic::for_file(code, path, message);
        diagnostic.at = Position { line: 3, column: 7 };
        let finding = Finding { diagnostic, source_excerpt: "  3 | name: x\n".to_owned() };
        format_finding(path, &finding)
    }

    #[test]
    fn a_line_is_wrapped_between_words_below_its_text() {
        let wrap = |line| wrap_line(line, Some(24)).join("\n");
        insta::assert_snapshot!(wrap("  12. Take the gravel path for newcomers"), @"
          12. Take the gravel
              path for newcomers
        ");
        insta::assert_snapshot!(wrap("- one two three four five six"), @"
        - one two three four
          five six
        ");
        insta::assert_snapshot!(wrap("    indented text that is long"), @"
            indented text that
            is long
        ");
        assert_eq!(
            wrap("1990 was a year. It ended in snow."),
            "1990 was a year. It\nended in snow."
        );
        assert_eq!(wrap(""), "");
    }

    #[test]
    fn no_word_is_broken_and_no_style_counts_as_columns() {
        let url = "https://example.org/a/very/long/address";
        assert_eq!(wrap_line(&format!("see {url} there"), Some(24)), ["see", url, "there"]);
        let styled = "\u{1b}[1mone two three four\u{1b}[0m five";
        assert_eq!(wrap_line(styled, Some(24)), [styled]);
        let line = "a line that is not for a terminal stays as it is";
        assert_eq!(wrap_line(line, None), [line]);
    }

    #[test]
    fn a_finding_begins_with_the_place_that_editors_jump_to() {
        let text = finding(Code::EmptyRoom, "rooms/hall.yaml", "the room is empty");
        let plain = anstream::adapter::strip_str(&text).to_string();
        assert_eq!(
            plain,
            "rooms/hall.yaml:3:7: info[empty-room]: the room is empty\n  3 | name: x\n"
        );
    }

    #[test]
    fn each_severity_has_a_colour() {
        let colour = |code| colored_severity_and_code(code).replace('\u{1b}', "");
        assert_eq!(colour(Code::BadSlug), "[1m[31merror[bad-slug][0m");
        assert_eq!(colour(Code::SameId), "[1m[33mwarning[same-id][0m");
        assert_eq!(colour(Code::EmptyRoom), "[1m[36minfo[empty-room][0m");
    }

    #[test]
    fn a_finding_never_contains_control_characters_of_a_file() {
        let text = finding(Code::Syntax, "rooms/b\u{1b}[2Jad.yaml", "a\u{7}b\u{202e}c");
        let begin = "rooms/b[2Jad.yaml:3:7: ";
        assert!(text.starts_with(begin) && text.contains(": abc\n"), "{text:?}");
    }
}
