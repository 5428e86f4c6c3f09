//! Warns of secrets in files.

use crate::format::positions::positions_of_bytes;
use crate::model::{Code, Diagnostic, find_secrets};

/// Maximum number of findings per file, so that they leave room for others.
const MAX_FINDINGS: usize = 10;

/// Returns a finding for each secret in a file. It does not repeat the secret.
pub(crate) fn secret_findings(path: &str, text: &str) -> Vec<Diagnostic> {
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
