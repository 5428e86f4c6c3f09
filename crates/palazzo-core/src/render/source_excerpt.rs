//! Renders the source line and the hint of a finding.

use unicode_width::UnicodeWidthChar;

use crate::model::{Diagnostic, Position, escape_unprintable_in_lines, mark_hidden_chars};

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

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::model::Code;

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
}
