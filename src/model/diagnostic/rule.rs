//! What a code stands for, and what to do about it.

mod table;

use crate::model::{Code, Severity};

/// One line of the table of codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The code.
    pub code: Code,
    /// Its word.
    pub name: &'static str,
    /// How grave its findings are.
    pub severity: Severity,
    /// What it stands for: one sentence without a full stop.
    pub meaning: &'static str,
    /// What follows from it, and what to do.
    pub advice: &'static str,
}

impl Rule {
    /// Every rule, in the order of the codes.
    pub const ALL: &[Self] = table::ALL;
}

const fn error_rule(
    code: Code,
    name: &'static str,
    meaning: &'static str,
    advice: &'static str,
) -> Rule {
    Rule { code, name, severity: Severity::Error, meaning, advice }
}

const fn warning_rule(
    code: Code,
    name: &'static str,
    meaning: &'static str,
    advice: &'static str,
) -> Rule {
    Rule { code, name, severity: Severity::Warning, meaning, advice }
}

const fn info_rule(
    code: Code,
    name: &'static str,
    meaning: &'static str,
    advice: &'static str,
) -> Rule {
    Rule { code, name, severity: Severity::Info, meaning, advice }
}
