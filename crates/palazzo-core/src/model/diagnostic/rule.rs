//! The meaning of each code, and how to fix its findings.

use crate::model::{Code, Severity};

/// One row of the table of codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The code.
    pub code: Code,
    /// The name of the code, as it is printed.
    pub name: &'static str,
    /// The severity of its findings.
    pub severity: Severity,
    /// The meaning: one sentence without a full stop.
    pub meaning: &'static str,
    /// The consequence, and how to fix it.
    pub advice: &'static str,
}

pub(crate) const fn error_rule(
    code: Code,
    name: &'static str,
    meaning: &'static str,
    advice: &'static str,
) -> Rule {
    Rule { code, name, severity: Severity::Error, meaning, advice }
}

pub(crate) const fn warning_rule(
    code: Code,
    name: &'static str,
    meaning: &'static str,
    advice: &'static str,
) -> Rule {
    Rule { code, name, severity: Severity::Warning, meaning, advice }
}

pub(crate) const fn info_rule(
    code: Code,
    name: &'static str,
    meaning: &'static str,
    advice: &'static str,
) -> Rule {
    Rule { code, name, severity: Severity::Info, meaning, advice }
}
