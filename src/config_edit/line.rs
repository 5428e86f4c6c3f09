//! Lines of a text that is edited.

use std::ops::Range;

use crate::config_edit::entry::ConfigError;

/// Returns the line end that the text uses: that of its first line.
pub(super) fn line_end(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Returns the start of the line at a position.
pub(super) fn start_of_line(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |it| it + 1)
}

/// Returns the start of the line after a position, or the end of the text.
pub(super) fn start_of_next_line(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |it| at + it + 1)
}

/// Returns the white space at the start of the line at a position.
pub(super) fn indentation(text: &str, at: usize) -> &str {
    let line = &text[start_of_line(text, at)..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Returns the line end that is missing at the end of the text.
pub(super) fn missing_line_end(text: &str) -> &'static str {
    match text.is_empty() || text.ends_with('\n') {
        true => "",
        false => line_end(text),
    }
}

/// Returns a syntax error at a position.
pub(super) fn syntax_error(text: &str, at: usize, message: &str) -> ConfigError {
    let line = text.bytes().take(at).filter(|it| *it == b'\n').count() + 1;
    ConfigError::Syntax { line, message: message.to_owned() }
}

/// Replaces ranges of the text, which must not overlap.
pub(super) fn replace_ranges(text: &str, mut edits: Vec<(Range<usize>, &str)>) -> String {
    edits.sort_by_key(|(range, _)| range.start);
    let mut edited = text.to_owned();
    for (range, new) in edits.into_iter().rev() {
        edited.replace_range(range, new);
    }
    edited
}
