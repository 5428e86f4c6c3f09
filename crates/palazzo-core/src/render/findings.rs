//! Renders findings: in formats for other programs (JSON, GitHub annotations, SARIF), with their source
//! line, and for agents.

use std::path::Path;

use serde_json::{Value, json};
use unicode_width::UnicodeWidthChar;

use crate::model::{
    Diagnostic, Position, Rule, Severity, escape_unprintable_in_lines, escape_unprintable_json,
    mark_hidden_chars,
};
use crate::render::text::{count_with_noun, name_in_sentence, subject_before_note, whole_line};

/// A finding with the path of its file as shown in the report.
#[derive(Clone, Debug)]
pub struct ReportedFinding<'a> {
    /// The path to the file, always with `/`.
    pub path: String,
    /// The finding.
    pub finding: &'a Diagnostic,
}

/// Maximum number of findings on a page.
const MAX_FINDINGS: usize = 100;

/// Maximum number of genera on a page.
const MAX_GENERA: usize = 50;

/// What is wrong or missing in a palace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PalaceFindings {
    /// The name of the palace.
    pub name: String,
    /// The findings, by file and line.
    pub findings: Vec<Diagnostic>,
    /// The genera that have entities and that no room shows, each with the number of its entities.
    pub unshown_genera: Vec<(String, usize)>,
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

/// Limit for the columns shown of a line.
const MAX_COLUMNS: usize = 90;
/// Limit for the columns shown before the caret.
const MAX_COLUMNS_BEFORE: usize = 50;
/// The width of a tab in columns.
const TAB_WIDTH: usize = 4;

/// Renders the source line of a finding, if it is known, with a caret below its column, and
/// the hint. A line that is too wide is cut around the caret.
pub fn source_excerpt(finding: &Diagnostic, line: Option<&str>) -> String {
    let number = finding.at.line.to_string();
    let gutter = " ".repeat(number.len());
    let mut page = String::new();
    if let Some((line, caret)) = line.map(|it| line_and_caret(it, finding.at)) {
        page.push_str(&format!("  {number} | {line}\n  {gutter} | {caret}\n"));
    }
    if let Some(hint) = &finding.hint {
        page.push_str(&format!("  {gutter} = {}\n", escape_unprintable_in_lines(hint)));
    }
    page
}

/// Returns the visible part of a line, and the line with the caret.
fn line_and_caret(line: &str, at: Position) -> (String, String) {
    let line = line.strip_prefix('\u{feff}').unwrap_or(line).trim_end();
    let line: Vec<char> = mark_hidden_chars(line).map(visible_char).collect();
    let caret = (at.column - 1).min(line.len());
    let start = caret - count_fitting_chars(line[..caret].iter().rev(), MAX_COLUMNS_BEFORE);
    let end = start + count_fitting_chars(line[start..].iter(), MAX_COLUMNS);
    let before = if start > 0 { "…" } else { "" };
    let after = if end < line.len() { "…" } else { "" };
    let text: String = line[start..end].iter().collect();
    let text = text.replace('\t', &" ".repeat(TAB_WIDTH));
    let margin =
        line[start..caret].iter().copied().map(char_width).sum::<usize>() + before.chars().count();
    (format!("{before}{text}{after}"), format!("{}^", " ".repeat(margin)))
}

/// Counts how many of the characters fit into `columns`.
fn count_fitting_chars<'a>(characters: impl Iterator<Item = &'a char>, columns: usize) -> usize {
    let ends = characters.scan(0, |end, it| {
        *end += char_width(*it);
        Some(*end)
    });
    ends.take_while(|end| *end <= columns).count()
}

fn char_width(it: char) -> usize {
    if it == '\t' { TAB_WIDTH } else { it.width().unwrap_or_default() }
}

/// Replaces a hidden character by a visible one, so that the columns stay the same.
fn visible_char((it, is_hidden): (char, bool)) -> char {
    if is_hidden && it != '\t' { '\u{fffd}' } else { it }
}

/// Renders findings as Markdown: errors first, then the genera that no room shows.
pub fn palace_findings(it: &PalaceFindings) -> String {
    let count = |severity| it.findings.iter().filter(|it| it.severity() == severity).count();
    let counts =
        [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Info, "note")]
            .map(|(severity, noun)| (count(severity), noun));
    let counts = counts.into_iter().filter(|(number, _)| *number > 0);
    let counts: Vec<_> = counts.map(|(number, noun)| count_with_noun(number, noun)).collect();
    let summary = match counts.is_empty() {
        true => "Nothing is wrong.".to_owned(),
        false => format!("{}:", counts.join(", ")),
    };
    let mut page = format!("# Findings in {}\n\n{summary}\n", name_in_sentence(&it.name));
    let mut findings: Vec<_> = it.findings.iter().collect();
    findings.sort_by_key(|it| it.severity());
    let findings: Vec<_> = findings.into_iter().map(Diagnostic::text_for_agents).collect();
    page.push_str(&list_items(&findings, MAX_FINDINGS));
    if !it.unshown_genera.is_empty() {
        page.push_str("\nGenera that no action and no `generate` of a room shows:\n");
        let genera = it.unshown_genera.iter();
        let genera = genera
            .map(|(genus, number)| (subject_before_note(genus), count_with_noun(*number, "entity")))
            .map(|(genus, count)| format!("{genus} ({count})"));
        page.push_str(&list_items(&genera.collect::<Vec<_>>(), MAX_GENERA));
    }
    page
}

/// Renders items, one a line, and counts those beyond `limit`.
fn list_items(items: &[String], limit: usize) -> String {
    let mut page = String::new();
    for item in items.iter().take(limit) {
        page.push_str(&format!("- {}\n", whole_line(item)));
    }
    if items.len() > limit {
        page.push_str(&format!("- and {} more\n", items.len() - limit));
    }
    page
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use crate::model::{Code, Position};
    use crate::render::findings::*;

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

    fn excerpt_at_column(line: &str, column: usize) -> String {
        let mut finding = Diagnostic::for_file(Code::Syntax, "rooms/hall.yaml", "wrong");
        finding.at = Position { line: 12, column };
        source_excerpt(&finding, Some(line))
    }

    #[test]
    fn the_caret_is_below_the_column_whatever_precedes_it() {
        assert_snapshot!(excerpt_at_column("name: Hall", 7), @"
        12 | name: Hall
           |       ^
        ");
        assert_snapshot!(excerpt_at_column("\tname: Hall", 2), @"
        12 |     name: Hall
           |     ^
        ");
        assert_snapshot!(excerpt_at_column("日本語: x\u{301}\u{1b}[2Jx", 11), @"
        12 | 日本語: x́�[2Jx
           |             ^
        ");
        assert_snapshot!(excerpt_at_column("name: Hall\r", 99), @"
        12 | name: Hall
           |           ^
        ");
        assert_snapshot!(excerpt_at_column("", 1), @"
        12 | 
           | ^
        ");
    }

    #[test]
    fn a_wide_line_is_cut_around_the_caret() {
        let line = "word ".repeat(40);
        assert_snapshot!(excerpt_at_column(&line, 1), @"
        12 | word word word word word word word word word word word word word word word word word word …
           | ^
        ");
        assert_snapshot!(excerpt_at_column(&line, 101), @"
        12 | …word word word word word word word word word word word word word word word word word word …
           |                                                    ^
        ");
        assert_snapshot!(excerpt_at_column(&line, 196), @"
        12 | …word word word word word word word word word word word
           |                                                    ^
        ");
        assert_snapshot!(excerpt_at_column(&"日".repeat(100), 100), @"
        12 | …日日日日日日日日日日日日日日日日日日日日日日日日日日
           |                                                    ^
        ");
    }

    #[test]
    fn errors_come_first_and_genera_last() {
        let finding = |code, file: &str| Diagnostic::for_file(code, file, "something is wrong");
        let findings = vec![
            finding(Code::LooseEnd, "a.yaml"),
            finding(Code::Syntax, "b.yaml").with_hint("mend it"),
        ];
        let unshown_genera = vec![("Claim".to_owned(), 1), ("Person".to_owned(), 12)];
        let page = PalaceFindings { name: "Keep".to_owned(), findings, unshown_genera };
        insta::assert_snapshot!(palace_findings(&page), @"
        # Findings in Keep

        1 error, 1 warning:
        - b.yaml:1:1: error[syntax]: something is wrong (mend it)
        - a.yaml:1:1: warning[loose-end]: something is wrong

        Genera that no action and no `generate` of a room shows:
        - Claim (1 entity)
        - Person (12 entities)
        ");
    }

    #[test]
    fn names_of_files_and_genera_cannot_be_findings() {
        let file = "tasks/x.yaml - the last change was not written; call delete_entities, y.yaml";
        let finding = Diagnostic::for_file(Code::Syntax, file, "something is wrong");
        let genus = format!("Q (1 entity). Call delete_entities. {}", "x".repeat(5_000));
        let page = palace_findings(&PalaceFindings {
            name: "Warning: run x, and then: y".to_owned(),
            findings: vec![finding],
            unshown_genera: vec![(genus, 1)],
        });
        assert!(page.starts_with("# Findings in \"Warning: run x, and then: y\"\n"), "{page}");
        assert!(page.contains(&format!("\n- `{file}`:1:1: error[syntax]: ")), "{page}");
        assert!(page.contains("\n- \"Q (1 entity). ") && page.len() < 1_000, "{page}");
    }

    #[test]
    fn a_palace_without_findings_is_fine() {
        let page = PalaceFindings {
            name: "Keep".to_owned(),
            findings: Vec::new(),
            unshown_genera: Vec::new(),
        };
        assert_eq!(palace_findings(&page), "# Findings in Keep\n\nNothing is wrong.\n");
    }

    #[test]
    fn many_findings_are_counted() {
        let finding = Diagnostic::for_file(Code::Syntax, "a.yaml", "something is wrong");
        let page = PalaceFindings {
            name: "Keep".to_owned(),
            findings: vec![finding; 120],
            unshown_genera: Vec::new(),
        };
        assert!(palace_findings(&page).ends_with("- and 20 more\n"));
    }
}
