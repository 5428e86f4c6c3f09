//! Warns of what a text contains that nobody sees or should see: secrets and invisible characters.

use crate::format::paths::file_kind;
use crate::format::positions::positions_of_bytes;
use crate::model::{Code, Diagnostic, find_secrets, mark_hidden_chars, may_be_hidden};

/// Maximum number of findings per file, so that they leave room for others.
const MAX_FINDINGS: usize = 10;

/// Invisible characters in a row.
struct HiddenRun {
    start: usize,
    first: char,
    length: usize,
}

/// Returns the warnings about the text of a palace file. Parsing does not need them, and to search a
/// text for secrets takes longer than to parse it, so the parser leaves them out.
///
/// A file with an error may have an invisible character as its fault: its error is enough.
pub fn text_warnings(path: &str, text: &str, has_errors: bool) -> Vec<Diagnostic> {
    if file_kind(path).is_none() {
        return Vec::new();
    }
    let mut warnings = secret_findings(path, text);
    if !has_errors {
        warnings.extend(invisible_character_findings(path, text));
    }
    warnings
}

/// Returns a finding for each run of characters that show nothing where they are. Spaces and line
/// breaks are none of them, and neither is the mark at the beginning of a file.
fn invisible_character_findings(path: &str, text: &str) -> Vec<Diagnostic> {
    if !text.chars().any(may_be_hidden) {
        return Vec::new();
    }
    let runs = find_hidden_runs(text);
    let starts: Vec<_> = runs.iter().take(MAX_FINDINGS).map(|it| it.start).collect();
    let positions = positions_of_bytes(text, &starts);
    let found = runs.iter().zip(positions).map(|(run, at)| {
        let code_point = format!("U+{:04X}", u32::from(run.first));
        let message = match run.length {
            1 => format!("here is an invisible character, {code_point}"),
            more => format!("here are {more} invisible characters, the first is {code_point}"),
        };
        let hint = "remove it, unless the text needs it; Palazzo shows such characters as escapes";
        Diagnostic { at, ..Diagnostic::for_file(Code::InvisibleCharacter, path, message) }
            .with_hint(hint)
    });
    let mut findings: Vec<_> = found.collect();
    let more = runs.len() - findings.len();
    if let Some(last) = findings.last_mut().filter(|_| more > 0) {
        last.hint = Some(format!("and {more} more places that are not listed"));
    }
    findings
}

fn find_hidden_runs(text: &str) -> Vec<HiddenRun> {
    let mut runs: Vec<HiddenRun> = Vec::new();
    let (mut at, mut is_in_run) = (0, false);
    for (it, is_hidden) in mark_hidden_chars(text) {
        // A text may contain the colours of a terminal; those are shown as escapes.
        let is_reported = is_hidden && !it.is_ascii() && (it != '\u{feff}' || at > 0);
        match (is_reported, runs.last_mut()) {
            (true, Some(run)) if is_in_run => run.length += 1,
            (true, _) => runs.push(HiddenRun { start: at, first: it, length: 1 }),
            (false, _) => {}
        }
        is_in_run = is_reported;
        at += it.len_utf8();
    }
    runs
}

/// Returns a finding for each secret in a file. It does not repeat the secret.
fn secret_findings(path: &str, text: &str) -> Vec<Diagnostic> {
    let secrets = find_secrets(text);
    if secrets.is_empty() {
        return Vec::new();
    }
    let starts: Vec<_> = secrets.iter().take(MAX_FINDINGS).map(|it| it.range.start).collect();
    let positions = positions_of_bytes(text, &starts);
    let found = secrets.iter().zip(positions).map(|(secret, at)| {
        let message = format!("the file contains a secret: {}", secret.kind);
        let hint = "withdraw it where it was issued and remove it here; `palazzo locate -` finds it \
                    in the history";
        Diagnostic { at, ..Diagnostic::for_file(Code::Secret, path, message) }.with_hint(hint)
    });
    let mut findings: Vec<_> = found.collect();
    let more = secrets.len() - findings.len();
    if let Some(last) = findings.last_mut().filter(|_| more > 0) {
        last.hint = Some(format!("and {more} more that are not listed"));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_palace_files_without_errors_are_searched_completely() {
        let text = "export DB_PASSWORD=hunter2 a\u{200b}b\n";
        let codes = |path, has_errors| -> Vec<_> {
            text_warnings(path, text, has_errors).iter().map(|it| it.code.to_string()).collect()
        };
        assert_eq!(codes("rooms/hall.yaml", false), ["secret", "invisible-character"]);
        assert_eq!(codes("rooms/hall.yaml", true), ["secret"]);
        assert!(codes("notes.txt", false).is_empty());
    }

    #[test]
    fn each_run_of_invisible_characters_is_a_finding() {
        let room = "\u{feff}name: Hall\ndescription: |\n  Größe\u{e0041}\u{e0042} an\u{200b}d می\u{200c}شود\n";
        let found = invisible_character_findings("rooms/hall.yaml", room);
        let found: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "rooms/hall.yaml:3:8: warning[invisible-character]: here are 2 invisible \
                 characters, the first is U+E0041 (remove it, unless the text needs it; Palazzo \
                 shows such characters as escapes)",
                "rooms/hall.yaml:3:13: warning[invisible-character]: here is an invisible \
                 character, U+200B (remove it, unless the text needs it; Palazzo shows such \
                 characters as escapes)",
            ]
        );
    }

    #[test]
    fn of_many_places_the_others_are_counted() {
        let findings = invisible_character_findings("x.md", &"a\u{200b}".repeat(12));
        assert_eq!(findings.len(), MAX_FINDINGS);
        let hint = findings.last().and_then(|it| it.hint.as_deref());
        assert_eq!(hint, Some("and 2 more places that are not listed"));
    }

    #[test]
    fn each_secret_is_a_finding_that_does_not_repeat_it() {
        let room = "name: Hall\ndescription: |\n  Größe: export DB_PASSWORD=hunter2\n";
        let findings = secret_findings("rooms/hall.yaml", room);
        let [finding] = &findings[..] else { panic!("{findings:?}") };
        assert_eq!((finding.at.line, finding.at.column), (3, 29));
        assert_eq!(finding.message, "the file contains a secret: password");
        assert!(!finding.to_string().contains("hunter2"));
    }

    #[test]
    fn of_many_secrets_the_others_are_counted() {
        let lines = (0..12).map(|it| format!("export DB_PASSWORD=hunter{it}\n"));
        let findings = secret_findings("drawers/a/b/c.md", &lines.collect::<String>());
        assert_eq!(findings.len(), MAX_FINDINGS);
        let hint = findings.last().and_then(|it| it.hint.as_deref());
        assert_eq!(hint, Some("and 2 more that are not listed"));
    }
}
