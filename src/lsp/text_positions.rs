//! Positions in a text: those of the protocol, and those of findings.
//!
//! The protocol counts lines and columns from zero, columns in UTF-8 or UTF-16 units. Findings count
//! both from one, columns in characters.

use gen_lsp_types::{self as lsp, PositionEncodingKind};

use palazzo_core::model::Position;

/// The unit in which the client counts columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnUnit {
    /// Bytes of UTF-8.
    Utf8,
    /// Units of UTF-16.
    Utf16,
}

impl ColumnUnit {
    /// Returns the name in the protocol.
    pub(super) fn encoding_kind(self) -> PositionEncodingKind {
        match self {
            Self::Utf8 => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
        }
    }

    fn len_of(self, it: char) -> usize {
        match self {
            Self::Utf8 => it.len_utf8(),
            Self::Utf16 => it.len_utf16(),
        }
    }
}

/// The lines of a text, for the conversion of positions.
pub(super) struct TextPositions<'a> {
    /// Each line, and whether it has only ASCII characters.
    lines: Vec<(&'a str, bool)>,
    unit: ColumnUnit,
}

impl<'a> TextPositions<'a> {
    pub(super) fn new(text: &'a str, unit: ColumnUnit) -> Self {
        let lines = lines_with_starts(text).map(|(_, line)| (line, line.is_ascii()));
        Self { lines: lines.collect(), unit }
    }

    /// Converts a position of a finding.
    pub(super) fn to_lsp(&self, at: Position) -> lsp::Position {
        let (line, is_ascii) = self.lines.get(at.line - 1).copied().unwrap_or_default();
        if is_ascii {
            let units = (at.column - 1).min(line.len());
            return lsp::Position { line: to_u32(at.line - 1), character: to_u32(units) };
        }
        let mark = usize::from(at.line == 1 && line.starts_with('\u{feff}'));
        let before = line.chars().take(at.column - 1 + mark);
        let units = before.map(|it| self.unit.len_of(it)).sum();
        lsp::Position { line: to_u32(at.line - 1), character: to_u32(units) }
    }

    /// Converts the range between two positions of findings.
    pub(super) fn range(&self, start: Position, end: Position) -> lsp::Range {
        lsp::Range { start: self.to_lsp(start), end: self.to_lsp(end.max(start)) }
    }

    /// Converts a position of the protocol. A column after the end of the line is its end.
    pub(super) fn to_position(&self, at: lsp::Position) -> Position {
        let (line, _) = self.lines.get(at.line as usize).copied().unwrap_or_default();
        let text = if at.line == 0 { line.trim_start_matches('\u{feff}') } else { line };
        let mut units: usize =
            line[..line.len() - text.len()].chars().map(|it| self.unit.len_of(it)).sum();
        let mut column = 1;
        for it in text.chars() {
            if units >= at.character as usize {
                break;
            }
            units += self.unit.len_of(it);
            column += 1;
        }
        Position { line: at.line as usize + 1, column }
    }
}

/// Converts the range between two positions in a text of ASCII characters only.
pub(super) fn ascii_range(start: Position, end: Position) -> lsp::Range {
    let at = |it: Position| lsp::Position {
        line: to_u32(it.line - 1),
        character: to_u32(it.column - 1),
    };
    lsp::Range { start: at(start), end: at(end) }
}

/// Returns the byte of a position of the protocol in a text.
pub(super) fn byte_of_lsp(text: &str, at: lsp::Position, unit: ColumnUnit) -> usize {
    let Some((start, line)) = lines_with_starts(text).nth(at.line as usize) else {
        return text.len();
    };
    let (mut units, mut bytes) = (0, 0);
    for it in line.chars() {
        // A position within a character is its start.
        units += unit.len_of(it);
        if units > at.character as usize {
            break;
        }
        bytes += it.len_utf8();
    }
    start + bytes
}

/// Yields the lines of a text, without their ends, and the byte where each starts. A lone carriage
/// return ends a line.
fn lines_with_starts(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut next = Some(0);
    std::iter::from_fn(move || {
        let start = next?;
        let rest = &text[start..];
        let end = rest.find(['\n', '\r']);
        next = end.map(|end| {
            let width = if rest[end..].starts_with("\r\n") { 2 } else { 1 };
            start + end + width
        });
        Some((start, &rest[..end.unwrap_or(rest.len())]))
    })
}

fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a\r\n\u{e9}\u{1F600}b\rc";

    fn at(line: u32, character: u32) -> lsp::Position {
        lsp::Position { line, character }
    }

    #[test]
    fn columns_are_counted_in_the_unit_of_the_client() {
        let after_smiley = Position { line: 2, column: 3 };
        for (unit, character) in [(ColumnUnit::Utf8, 6), (ColumnUnit::Utf16, 3)] {
            let positions = TextPositions::new(TEXT, unit);
            assert_eq!(positions.to_lsp(after_smiley), at(1, character));
            assert_eq!(positions.to_position(at(1, character)), after_smiley);
            assert_eq!(byte_of_lsp(TEXT, at(1, character), unit), 9);
        }
    }

    #[test]
    fn positions_outside_the_text_are_its_ends() {
        assert_eq!(byte_of_lsp(TEXT, at(0, 99), ColumnUnit::Utf16), 1);
        assert_eq!(byte_of_lsp(TEXT, at(9, 0), ColumnUnit::Utf16), TEXT.len());
        assert_eq!(byte_of_lsp(TEXT, at(1, 2), ColumnUnit::Utf16), 5);
        assert_eq!(byte_of_lsp(TEXT, at(2, 1), ColumnUnit::Utf8), TEXT.len());
    }

    #[test]
    fn a_byte_order_mark_is_no_column() {
        let positions = TextPositions::new("\u{feff}name: A\n", ColumnUnit::Utf16);
        assert_eq!(positions.to_lsp(Position { line: 1, column: 7 }), at(0, 7));
        assert_eq!(positions.to_position(at(0, 7)), Position { line: 1, column: 7 });
    }
}
