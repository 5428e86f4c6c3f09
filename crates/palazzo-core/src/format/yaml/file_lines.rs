//! The lines of a YAML file and the bytes of positions in it.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::format::yaml::attached_comments::CommentsAndDashes;
use crate::format::yaml::parse::{Node, NodeValue};
use crate::model::Position;

/// The lines of a file, and the comments on lines of their own. Lines count from 0.
pub(super) struct YamlLines<'a> {
    text: &'a str,
    pub(super) lines: Vec<&'a str>,
    /// The column of each comment on a line of its own, by line.
    comments: BTreeMap<usize, usize>,
}

impl<'a> YamlLines<'a> {
    /// Returns `None` for a text with other line breaks than `\n` and `\r\n`.
    pub(super) fn new(text: &'a str, marks: &CommentsAndDashes) -> Option<Self> {
        if text.replace("\r\n", "\n").contains('\r') {
            return None;
        }
        let lines: Vec<_> = text.split_inclusive('\n').collect();
        let is_own_line = |at: Position| {
            lines
                .get(at.line - 1)
                .is_some_and(|it| it.trim_start_matches(['\u{feff}', ' ', '\t']).starts_with('#'))
        };
        let comments = marks.comments.iter().filter(|it| is_own_line(it.at));
        let comments = comments.map(|it| (it.at.line - 1, it.at.column)).collect();
        Some(Self { text, lines, comments })
    }

    pub(super) fn is_comment(&self, line: usize) -> bool {
        self.comments.contains_key(&line)
    }

    pub(super) fn is_blank(&self, line: usize) -> bool {
        self.lines.get(line).is_some_and(|it| it.trim().is_empty())
    }

    /// Returns the byte of a position; a byte order mark is no column.
    pub(super) fn byte_of(&self, at: Position) -> Option<usize> {
        let line = self.lines.get(at.line - 1).copied().unwrap_or_default();
        let start: usize = self.lines.iter().take(at.line - 1).map(|it| it.len()).sum();
        let mark = usize::from(at.line == 1 && line.starts_with('\u{feff}'));
        let before = line.chars().take(at.column - 1 + mark);
        Some(start + before.map(char::len_utf8).sum::<usize>()).filter(|it| *it <= self.text.len())
    }

    /// Returns the bytes of the notation of a value: of a block, those of its lines. `start` is that
    /// of its key or of itself.
    pub(super) fn bytes_of(&self, node: &Node, start: Position) -> Option<Range<usize>> {
        if node.is_flow {
            return Some(self.byte_of(node.at)?..self.byte_of(node.end)?);
        }
        let bytes = |lines: usize| self.lines.iter().take(lines).map(|it| it.len()).sum();
        Some(bytes(node.at.line - 1)..bytes(self.last_line(node, start)? + 1))
    }

    /// Returns the last line of a value; `start` is that of its key or dash.
    pub(super) fn last_line(&self, node: &Node, start: Position) -> Option<usize> {
        match &node.value {
            NodeValue::Map(pairs) if !node.is_flow => {
                let (key, last) = pairs.last()?;
                self.last_line(last, key.at)
            }
            NodeValue::List(items) if !node.is_flow => {
                let last = items.last()?;
                self.last_line(last, last.at)
            }
            // The parser gives a missing value the position of what follows.
            NodeValue::Scalar { text, plain: true } if text.is_empty() => Some(start.line - 1),
            _ if node.is_flow => Some(node.end.line - 1),
            NodeValue::Scalar { text, .. } => Some(self.last_line_of_block(node, text)),
            _ => None,
        }
    }

    /// Returns the last line of a block literal or folded text. The parser gives the position of
    /// the next token, or of the end of the file.
    fn last_line_of_block(&self, node: &Node, text: &str) -> usize {
        let keeps_blanks = text.ends_with("\n\n");
        // What follows is indented less than the block.
        let is_last = node.end.line == self.lines.len()
            && !self.text.ends_with('\n')
            && node.end.column >= node.at.column;
        let mut end = if is_last { node.end.line } else { node.end.line - 1 };
        let begin = node.at.line - 1;
        while end > begin + 1
            && (self.is_comment(end - 1) || self.is_blank(end - 1) && !keeps_blanks)
        {
            end -= 1;
        }
        (end - 1).max(begin)
    }

    /// Returns the line after the comments that end an item: those indented deeper than its dash.
    pub(super) fn end_with_inner_comments(&self, last_line: usize, dash_column: usize) -> usize {
        let mut end = last_line + 1;
        let mut next = end;
        while self.is_blank(next) || self.is_comment(next) {
            match self.comments.get(&next) {
                Some(column) if *column <= dash_column => break,
                Some(_) => end = next + 1,
                None => {}
            }
            next += 1;
        }
        end
    }
}
