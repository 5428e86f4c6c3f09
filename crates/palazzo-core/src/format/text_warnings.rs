//! Warns of what a text contains that nobody sees or should see: secrets and invisible characters.

use crate::format::invisible_characters::invisible_character_findings;
use crate::format::secrets::secret_findings;
use crate::format::tree::file_kind;
use crate::model::Diagnostic;

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
}
