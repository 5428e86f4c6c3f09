//! The comments of a file, and the dashes of its list items.

use granit_parser::{Scanner, StrInput, TokenType, options};

use crate::format::yaml::parse::position_of_marker;
use crate::model::Position;

/// Comments and dashes, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::format) struct CommentsAndDashes {
    pub(in crate::format) comments: Vec<Comment>,
    pub(crate) dashes: Vec<Position>,
}

/// A comment, from its `#` to the end of its line.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::format) struct Comment {
    pub(in crate::format) at: Position,
    pub(in crate::format) text: String,
}

impl CommentsAndDashes {
    /// Scans a text that is known to be valid.
    pub(in crate::format) fn scan(text: &str) -> Self {
        let mut marks = Self::default();
        let options = options! { max_buffered_comment_events: usize::MAX };
        for token in Scanner::with_options(StrInput::new(text), options).map_while(Result::ok) {
            let at = position_of_marker(token.span().start);
            match token.token_type() {
                TokenType::Comment(comment) => {
                    let text = format!("#{}", comment.text().trim_end());
                    marks.comments.push(Comment { at, text });
                }
                TokenType::BlockEntry => marks.dashes.push(at),
                _ => {}
            }
        }
        // The scanner reports the comment after a block indicator after the block.
        marks.comments.sort_by_key(|it| it.at);
        marks.correct_dash_columns(text);
        marks
    }

    /// Corrects the columns of dashes. The scanner reports the position of what follows a dash, or
    /// the end of its line; the dash itself is the last one before that, or before a comment.
    fn correct_dash_columns(&mut self, text: &str) {
        let lines: Vec<_> = text.lines().collect();
        for dash in &mut self.dashes {
            let comment = self.comments.partition_point(|it| it.at.line < dash.line);
            let comment = self.comments.get(comment).filter(|it| it.at < *dash);
            let end = comment.map_or(dash.column, |it| it.at.column) - 1;
            let line = lines.get(dash.line - 1).copied().unwrap_or_default();
            let before: Vec<_> = line.chars().take(end).collect();
            let column = before.iter().rposition(|it| *it == '-');
            dash.column = column.map_or(dash.column, |it| it + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_dashes_are_found_whatever_follows_them() {
        let text =
            "b:\n  - |2- # - x\n    c\n  -\n    d: 1\n  - # - y\n    e: 1\n  - - f\n  -   g: -1\n";
        let dashes = CommentsAndDashes::scan(text).dashes;
        let dashes: Vec<_> = dashes.into_iter().map(|it| (it.line, it.column)).collect();
        assert_eq!(dashes, [(2, 3), (4, 3), (6, 3), (8, 3), (8, 5), (9, 3)]);
    }
}
