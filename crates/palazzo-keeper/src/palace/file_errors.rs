//! Errors in files, as notices to visitors.

use crate::palace::OpenPalace;
use crate::palace::file_states::FileState;
use palazzo_core::model::{Code, Diagnostic, Severity, quoted_unless_plain};
use palazzo_core::render;

/// The most files with errors that are listed.
const MAX_FILES: usize = 3;

impl OpenPalace {
    /// Returns a line for each file that cannot be read: the error, and what is shown instead.
    pub(crate) fn file_error_notices(&self) -> Vec<String> {
        let errors: Vec<_> =
            self.findings().filter(|it| it.severity() == Severity::Error).collect();
        let mut notices: Vec<_> = errors
            .iter()
            .take(MAX_FILES)
            .map(|it| render_diagnostic_in_one_line(it) + self.fallback_note(it))
            .collect();
        if errors.len() > MAX_FILES {
            let others = errors.len() - MAX_FILES;
            notices.push(format!("and {others} more that `palazzo check` lists"));
        }
        notices
    }

    /// Returns a note on what is shown instead of a file that cannot be read.
    fn fallback_note(&self, error: &Diagnostic) -> &'static str {
        if error.code == Code::Repository {
            return "";
        }
        match self.file_states.state(&error.file) {
            FileState::Stale => " (its last valid content is shown)",
            FileState::Absent => " (none of its content is shown)",
            // Only a part of the file has errors.
            FileState::Present => "",
        }
    }
}

/// Renders a diagnostic in one line that begins with file, line and column.
pub(crate) fn render_diagnostic_in_one_line(
    Diagnostic { file, at, message, .. }: &Diagnostic,
) -> String {
    let (file, message) = (quoted_unless_plain(file), render::whole_line(message));
    format!("{file}:{}:{}: {message}", at.line, at.column)
}
