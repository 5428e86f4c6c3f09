//! `palazzo check --explain`: explains finding codes.

use std::io;

use serde_json::{Value, json};

use crate::cli::terminal;
use palazzo_core::model::{Code, Rule};

/// Prints the explanation of one code, or the table of all codes.
pub(super) fn print_explanation(code: Option<Code>, is_json: bool) -> io::Result<()> {
    match code.map(Code::rule) {
        rule if is_json => {
            let rules = rule.map_or(Rule::ALL, std::slice::from_ref);
            let codes: Vec<_> = rules.iter().map(rule_json).collect();
            terminal::print_text(&format!("{:#}\n", json!({ "codes": codes })))
        }
        Some(Rule { name, severity, meaning, advice, .. }) => {
            terminal::print_page(&format!("── {name} ({severity}) ──\n{meaning}.\n\n{advice}"))
        }
        None => terminal::print_page(&code_table()),
    }
}

fn rule_json(Rule { name, severity, meaning, advice, .. }: &Rule) -> Value {
    let severity = severity.to_string();
    json!({ "code": name, "severity": severity, "meaning": meaning, "advice": advice })
}

fn code_table() -> String {
    let line =
        |it: &Rule| format!("{:<17} {:<8} {}\n", it.name, it.severity.to_string(), it.meaning);
    let lines: String = Rule::ALL.iter().map(line).collect();
    format!("{lines}\n`palazzo check --explain CODE` explains one code in more detail.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_line_of_at_most_100_columns_for_each_code() {
        let table = code_table();
        let is_listed =
            |it: &Rule| table.lines().any(|line| line.starts_with(&format!("{} ", it.name)));
        assert_eq!(Rule::ALL.iter().find(|it| !is_listed(it)).map(|it| it.name), None);
        assert_eq!(table.lines().find(|it| it.chars().count() > 100), None);
        assert_eq!(table.lines().count(), Rule::ALL.len() + 2);
    }
}
