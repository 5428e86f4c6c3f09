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
