//! Cuts texts that are too large for a drawer.

use crate::exchange::ExtractedText;
use crate::model::{Headings, MAX_FILE_BYTES};

/// Limit for the size of a text, so that its front matter also fits into a file.
const MAX_TEXT_BYTES: usize = MAX_FILE_BYTES / 8 * 7;

/// The deepest level of headings.
const DEEPEST_HEADING: usize = 6;

/// Cuts a text that is too large into texts which together are the whole, byte for byte, but for
/// blank ones. A smaller text stays whole.
pub(super) fn cut_large_text(mut text: ExtractedText) -> Vec<ExtractedText> {
    if text.text.len() <= MAX_TEXT_BYTES {
        return vec![text];
    }
    let whole = std::mem::take(&mut text.text);
    // Older versions filed no text that is too large.
    text.older.clear();
    let pieces = cut(&whole, MAX_TEXT_BYTES).into_iter().map(|piece| {
        let cut = ExtractedText { text: piece.to_owned(), ..text.clone() };
        text.first_line = text.first_line.map(|it| it + piece.matches('\n').count());
        cut
    });
    pieces.filter(|it| !it.text.trim().is_empty()).collect()
}

/// Cuts a text into pieces of at most `limit` bytes: before the headings of the first level at which
/// it has some, then those of the next one; a piece without headings after a paragraph, else after a
/// line, else between two characters.
fn cut(text: &str, limit: usize) -> Vec<&str> {
    let mut pieces = vec![text];
    for level in 1..=DEEPEST_HEADING {
        let cut = |piece| {
            if is_larger(piece, limit) { split_at_headings(piece, level) } else { vec![piece] }
        };
        pieces = pieces.into_iter().flat_map(cut).collect();
    }
    pieces.into_iter().flat_map(|it| cut_at_paragraphs(it, limit)).collect()
}

fn is_larger(text: &str, limit: usize) -> bool {
    text.len() > limit
}

/// Splits a text before each heading of a level that is not in a code block. Headings above it that
/// have no text of their own stay with it.
fn split_at_headings(text: &str, level: usize) -> Vec<&str> {
    let has_text = |it: &str| it.lines().any(|it| !it.starts_with('#') && !it.trim().is_empty());
    let (mut pieces, mut start) = (Vec::new(), 0);
    for heading in Headings::of(text).filter(|it| it.level == level) {
        if has_text(&text[start..heading.at]) {
            pieces.push(&text[start..heading.at]);
            start = heading.at;
        }
    }
    pieces.push(&text[start..]);
    pieces
}

fn cut_at_paragraphs(mut text: &str, limit: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    while is_larger(text, limit) {
        let end = (0..=limit).rev().find(|it| text.is_char_boundary(*it)).unwrap_or(text.len());
        let start = &text[..end];
        let after = |end: &str| start.rfind(end).map(|it| it + end.len());
        let paragraph = after("\n\n").max(after("\n\r\n"));
        let end = paragraph.or_else(|| after("\n")).filter(|it| !start[..*it].trim().is_empty());
        let (piece, rest) = text.split_at(end.unwrap_or(start.len()));
        pieces.push(piece);
        text = rest;
    }
    pieces.push(text);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pieces_of_a_large_text_are_the_whole() {
        let words = "Grey coal. ".repeat(5);
        let texts = [
            ("headings", format!("# A\n{words}\n### B\n{words}\n### C\n{words}\n#### D\n{words}")),
            ("paragraphs", format!("{words}\n\n").repeat(9)),
            ("windows", format!("{words}\r\n\r\n").repeat(9)),
            ("lines", format!("{words}\n").repeat(9)),
            ("words", words.repeat(9)),
            ("letters", "ü€".repeat(99)),
            ("blanks", "\n".repeat(300)),
            ("code", format!("{words}\n\n```\n### no heading\n```\n\n{words}\n\n{words}")),
        ];
        let mut shown = String::new();
        for (name, text) in texts {
            let pieces = cut(&text, 100);
            assert_eq!(pieces.concat(), text, "{name}");
            assert!(pieces.iter().all(|it| it.len() <= 100 && !it.is_empty()), "{name}");
            let starts = pieces.iter().map(|it| it.chars().take(6).collect::<String>());
            let starts = starts.collect::<Vec<_>>().join("|").replace('\n', "¶");
            shown.push_str(&format!("{name}: {starts}\n"));
        }
        insta::assert_snapshot!(shown, @"
        headings: # A¶Gr|### B¶|### C¶|#### D
        paragraphs: Grey c|Grey c|Grey c|Grey c|Grey c|Grey c|Grey c|Grey c|Grey c
        windows: Grey c|Grey c|Grey c|Grey c|Grey c|Grey c|Grey c|Grey c|Grey c
        lines: Grey c|Grey c|Grey c|Grey c|Grey c|Grey c|Grey c|Grey c|Grey c
        words: Grey c|rey co|ey coa|y coal| coal.
        letters: ü€ü€ü€|ü€ü€ü€|ü€ü€ü€|ü€ü€ü€|ü€ü€ü€
        blanks: ¶¶¶¶¶¶|¶¶¶¶¶¶|¶¶¶¶¶¶
        code: Grey c|Grey c|Grey c
        ");
    }

    #[test]
    fn a_large_text_keeps_its_place_and_lines() {
        let text = ExtractedText {
            wing: Some("w".to_owned()),
            room: "r".to_owned(),
            text: "Coal.\n\n".repeat(MAX_TEXT_BYTES / 6),
            first_line: Some(5),
            ..ExtractedText::default()
        };
        let small = ExtractedText { text: "Coal.".to_owned(), ..text.clone() };
        assert_eq!(cut_large_text(small.clone()), [small]);
        let whole = text.text.clone();
        let pieces = cut_large_text(text);
        assert_eq!(pieces.iter().map(|it| it.text.as_str()).collect::<String>(), whole);
        let (first, second) = (&pieces[0], &pieces[1]);
        assert_eq!(pieces.len(), 2);
        assert_eq!(second.first_line, Some(5 + first.text.matches('\n').count()));
        assert_eq!((first.room.as_str(), first.wing.as_deref()), ("r", Some("w")));
        let grown = whole + "More.";
        let same = cut(&grown, MAX_TEXT_BYTES)[0] == first.text;
        assert!(same, "the first piece stays when a text grows");
    }
}
