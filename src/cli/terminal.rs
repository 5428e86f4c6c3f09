//! Pages on a terminal: with a little weight where there is one, plain in pipes
//! and where `NO_COLOR` is set.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::keeper::Finding;
use crate::model::{Code, Diagnostic, Severity, strip_unprintable};

/// Returns a text that stands out.
fn bold(text: &str) -> String {
    apply_style(Style::new().bold(), text)
}

/// Prints a page, its headings in bold. Whoever reads no further (`| head`)
/// ends the program without a word.
pub(crate) fn print_page(page: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    for line in strip_unprintable(page).lines() {
        let heading = line.starts_with("── ") && line.ends_with(" ──");
        writeln!(out, "{}", if heading { bold(line) } else { line.to_owned() })?;
    }
    out.flush()
}

/// Prints a patch, whose lines end as those of the files do.
pub(crate) fn print_patch(page: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    for line in page.split_inclusive('\n') {
        let said = line.trim_end_matches(['\r', '\n']);
        write!(out, "{}{}", strip_unprintable(said), &line[said.len()..])?;
    }
    out.flush()
}

/// Prints a finding so that an editor can jump to it, the line it is about, and
/// what to do.
pub(crate) fn print_finding(path: &str, it: &Finding) -> io::Result<()> {
    write!(anstream::stdout().lock(), "{}", format_finding(path, it))
}

/// Says a finding on the error stream.
pub(crate) fn eprint_finding(path: &str, it: &Finding) {
    anstream::eprint!("{}", format_finding(path, it));
}

fn format_finding(
    path: &str,
    Finding { diagnostic: told, source_excerpt: excerpt }: &Finding,
) -> String {
    let Diagnostic { code, at, message, .. } = told;
    let (path, message) = (strip_unprintable(path), strip_unprintable(message));
    format!("{path}:{}:{}: {}: {message}\n{excerpt}", at.line, at.column, colored_code(*code))
}

/// Says on the error stream why something could not be done.
pub(crate) fn eprint_failure(said: &str) {
    anstream::eprintln!("{}: {}", bold("palazzo"), strip_unprintable(said));
}

fn colored_code(code: Code) -> String {
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
