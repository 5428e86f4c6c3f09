//! `palazzo check --explain`: explains finding codes.

use std::io;

use crate::cli::terminal;
use crate::model::{Code, Rule};

/// Prints the explanation of one code, or the table of all codes.
pub(super) fn print_explanation(code: Option<Code>) -> io::Result<()> {
    match code.map(Code::rule) {
        Some(Rule { name, severity, meaning, advice, .. }) => {
            terminal::print_page(&format!("── {name} ({severity}) ──\n{meaning}.\n\n{advice}"))
        }
        None => terminal::print_page(&code_table()),
    }
}

fn code_table() -> String {
    let line =
        |it: &Rule| format!("{:<17} {:<8} {}\n", it.name, it.severity.to_string(), it.meaning);
    let lines: String = Rule::ALL.iter().map(line).collect();
    format!("{lines}\n`palazzo check --explain CODE` explains one code in more detail.")
}
