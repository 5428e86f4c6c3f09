//! Pages on a terminal: with a little weight where there is one, plain in pipes
//! and where `NO_COLOR` is set.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::model::Severity;

/// Returns a text that stands out.
pub(super) fn bold(text: &str) -> String {
    styled(Style::new().bold(), text)
}

/// Prints a page, its headings in bold. Whoever reads no further (`| head`)
/// ends the program without a word.
pub(super) fn print(page: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    for line in page.lines() {
        let heading = line.starts_with("── ") && line.ends_with(" ──");
        writeln!(out, "{}", if heading { bold(line) } else { line.to_owned() })?;
    }
    out.flush()
}

/// Returns a severity in its colour.
pub(super) fn severity(severity: Severity) -> String {
    let colour = match severity {
        Severity::Error => AnsiColor::Red,
        Severity::Warning => AnsiColor::Yellow,
        Severity::Info => AnsiColor::Cyan,
    };
    styled(colour.on_default().bold(), &severity.to_string())
}

fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}
