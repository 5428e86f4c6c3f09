//! Prints pages: with bold and colour on a terminal, plain in pipes and if `NO_COLOR` is
//! set.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::keeper::Finding;
use crate::model::{Code, Diagnostic, Severity, strip_unprintable};

/// Returns the text in bold.
fn bold(text: &str) -> String {
    apply_style(Style::new().bold(), text)
}

/// Prints a page, its headings in bold. A closed pipe (`| head`) ends the program without
/// a message.
pub(crate) fn print_page(page: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    for line in strip_unprintable(page).lines() {
        let heading = line.starts_with("── ") && line.ends_with(" ──");
        writeln!(out, "{}", if heading { bold(line) } else { line.to_owned() })?;
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
