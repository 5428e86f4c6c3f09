//! Renders findings in formats for other programs: JSON, GitHub annotations, SARIF.

use std::path::Path;

use serde_json::{Value, json};

use crate::model::{
    Diagnostic, Rule, Severity, escape_unprintable_in_lines, escape_unprintable_json,
};

/// A finding with the path of its file as shown in the report.
#[derive(Clone, Debug)]
pub struct ReportedFinding<'a> {
    /// The path to the file, always with `/`.
    pub path: String,
    /// The finding.
    pub finding: &'a Diagnostic,
}

/// Renders findings as one JSON object, in a format of Palazzo.
pub fn findings_json(findings: &[ReportedFinding<'_>]) -> String {
    let finding = |ReportedFinding { path, finding }: &ReportedFinding<'_>| {
        json!({
            "path": path,
            "line": finding.at.line,
            "column": finding.at.column,
            "severity": finding.severity().to_string(),
            "code": finding.code.name(),
            "message": finding.message,
            "hint": finding.hint,
        })
    };
    let findings: Vec<_> = findings.iter().map(finding).collect();
    escape_unprintable_json(&format!("{:#}\n", json!({ "findings": findings })))
}

/// Renders findings as GitHub workflow commands, which GitHub shows beside the lines of a
/// pull request.
pub fn github_annotations(findings: &[ReportedFinding<'_>]) -> String {
    let command = |ReportedFinding { path, finding }: &ReportedFinding<'_>| {
        let command = match finding.severity() {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "notice",
        };
        let (at, title) = (finding.at, finding.code.name());
        let place =
            format!("file={},line={},col={}", escape_github_property(path), at.line, at.column);
        format!(
            "::{command} {place},title={title}::{}\n",
            escape_github_message(&message_with_hint(finding))
        )
    };
    findings.iter().map(command).collect()
}

/// Renders findings as SARIF 2.1.0, with the finding codes as rules.
pub fn sarif_report(findings: &[ReportedFinding<'_>]) -> String {
    let driver = json!({
        "name": "palazzo",
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "rules": Rule::ALL.iter().map(sarif_rule).collect::<Vec<_>>(),
    });
    let report = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": driver },
            "columnKind": "unicodeCodePoints",
            "results": findings.iter().map(sarif_result).collect::<Vec<_>>(),
        }],
    });
    escape_unprintable_json(&format!("{report:#}\n"))
}

fn sarif_rule(rule: &Rule) -> Value {
    json!({
        "id": rule.name,
        "shortDescription": { "text": rule.meaning },
        "help": { "text": rule.advice },
        "defaultConfiguration": { "level": sarif_level(rule.severity) },
    })
}

fn sarif_result(ReportedFinding { path, finding }: &ReportedFinding<'_>) -> Value {
    json!({
        "ruleId": finding.code.name(),
        "ruleIndex": Rule::ALL.iter().position(|it| it.code == finding.code),
        "level": sarif_level(finding.severity()),
        "message": { "text": message_with_hint(finding) },
        "locations": [{
            "physicalLocation": {
                "artifactLocation": { "uri": path_to_uri(path) },
                "region": { "startLine": finding.at.line, "startColumn": finding.at.column },
            },
        }],
    })
}

fn sarif_level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

fn message_with_hint(finding: &Diagnostic) -> String {
    match &finding.hint {
        Some(hint) => format!("{} ({hint})", finding.message),
        None => finding.message.clone(),
    }
}

/// Converts a path to a URI: relative, or with the scheme `file`.
fn path_to_uri(path: &str) -> String {
    let is_absolute = Path::new(path).has_root();
    let scheme = match is_absolute {
        // `//server/share`, on Windows.
        true if path.starts_with("//") => "file:",
        true if path.starts_with('/') => "file://",
        true => "file:///",
        false => "",
    };
    let is_plain = |it: u8| it.is_ascii_alphanumeric() || b"-._~/".contains(&it);
    // After the letter of a drive.
    let plain = |it: u8| is_plain(it) || is_absolute && it == b':';
    let written = path.bytes().map(|it| match plain(it) {
        true => char::from(it).to_string(),
        false => format!("%{it:02X}"),
    });
    format!("{scheme}{}", written.collect::<String>())
}

/// Escapes the message of a GitHub workflow command.
fn escape_github_message(text: &str) -> String {
    escape_unprintable_in_lines(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property of a GitHub workflow command.
fn escape_github_property(text: &str) -> String {
    escape_github_message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::model::{Code, Position};

    fn finding() -> Diagnostic {
        let message = "`a\u{1b}[2J\u{202e}b` is 50% of\na slug";
        let mut finding = Diagnostic::for_file(Code::BadSlug, "x", message).with_hint("try `ab`");
        finding.at = Position { line: 3, column: 7 };
        finding
    }

    fn reported_finding(finding: &Diagnostic) -> [ReportedFinding<'_>; 1] {
        [ReportedFinding { path: "my palace/rooms/a,b:c.yaml".to_owned(), finding }]
    }

    #[test]
    fn json_contains_every_field_and_escapes_control_characters() {
        assert_snapshot!(findings_json(&reported_finding(&finding())), @r#"
        {
          "findings": [
            {
              "path": "my palace/rooms/a,b:c.yaml",
              "line": 3,
              "column": 7,
              "severity": "error",
              "code": "bad-slug",
              "message": "`a\u001b[2J\u202eb` is 50% of\na slug",
              "hint": "try `ab`"
            }
          ]
        }
        "#);
    }

    #[test]
    fn github_annotations_are_escaped() {
        assert_snapshot!(github_annotations(&reported_finding(&finding())), @"::error file=my palace/rooms/a%2Cb%3Ac.yaml,line=3,col=7,title=bad-slug::`a\\u{1b}[2J\\u{202e}b` is 50%25 of%0Aa slug (try `ab`)");
    }

    #[test]
    fn a_path_becomes_a_uri() {
        assert_eq!(path_to_uri("rooms/Große Halle.yaml"), "rooms/Gro%C3%9Fe%20Halle.yaml");
        assert_eq!(path_to_uri("/home/ada/a%20b"), "file:///home/ada/a%2520b");
        let drive = if cfg!(windows) { "file:///C:/a" } else { "C%3A/a" };
        assert_eq!(path_to_uri("C:/a"), drive);
    }
}
