//! The rule, the name and the severity of each code.

use std::fmt;
use std::str::FromStr;

use crate::model::diagnostic::rule_table;
use crate::model::{Code, Rule, Severity, did_you_mean, quoted};

impl Rule {
    /// All rules, in the order of the codes.
    pub const ALL: &[Self] = rule_table::ALL;
}

impl Code {
    /// Returns the row of the code in the table.
    pub fn rule(self) -> &'static Rule {
        &Rule::ALL[self as usize]
    }

    /// Returns the name of the code: `unknown-key`.
    pub fn name(self) -> &'static str {
        self.rule().name
    }

    /// Returns the severity of its findings.
    pub fn severity(self) -> Severity {
        self.rule().severity
    }
}

impl FromStr for Code {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        if let Some(rule) = Rule::ALL.iter().find(|it| it.name == word) {
            return Ok(rule.code);
        }
        let meant = did_you_mean(word, Rule::ALL.iter().map(|it| it.name));
        let hint = meant.map(|it| format!("; did you mean {}?", quoted(it))).unwrap_or_default();
        Err(format!("there is no code {}{hint}", quoted(word)))
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_code_has_one_rule_and_a_unique_name() {
        for (place, rule) in Rule::ALL.iter().enumerate() {
            assert_eq!(rule.code as usize, place, "{} stands in the wrong place", rule.name);
            assert_eq!(rule.code.rule(), rule);
            assert_eq!(rule.name.parse(), Ok(rule.code));
        }
        let words: BTreeSet<_> = Rule::ALL.iter().map(|it| it.name).collect();
        assert_eq!(words.len(), Rule::ALL.len());
        let kebab = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-';
        assert!(words.iter().all(|it| it.chars().all(kebab)), "{words:?}");
    }

    #[test]
    fn an_unknown_code_suggests_the_nearest() {
        let refusal = "unknown-kye".parse::<Code>().unwrap_err();
        assert_eq!(refusal, "there is no code `unknown-kye`; did you mean `unknown-key`?");
    }
}
