//! The comments and blank lines of a file, each attached to a value.
//!
//! A comment on a line of its own belongs to what follows, unless it is indented further: then it
//! ends the list or mapping with its indentation. A trailing comment belongs to what is before it.

use std::collections::{BTreeSet, HashMap};

use granit_parser::{Scanner, StrInput, TokenType, options};

use crate::format::yaml::item_matching::match_items;
use crate::format::yaml::output_node::OutputNode;
use crate::format::yaml::parse::{Node, NodeValue, position_of_marker};
use crate::model::Position;

/// The comments around one value, and around the values in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::format) struct AttachedComments {
    /// The key of the value; empty for a list item.
    key: String,
    /// The lines above it: comments, and an empty string for a blank line.
    pub(in crate::format) above: Vec<String>,
    /// The comment at the end of its line.
    pub(crate) trailing: Option<String>,
    /// The lines below its last child.
    pub(crate) below: Vec<String>,
    /// The comments around its children, in the order of the file; after fitting, sorted by key.
    children: Vec<AttachedComments>,
}

/// A value and its position in the file.
struct LocatedValue<'a> {
    key: &'a str,
    /// The start of its key, of its dash, or of itself.
    at: Position,
    /// Its own start and end.
    span: (Position, Position),
    /// Whether it is in flow style: in brackets, if it has children.
    flow: bool,
    /// Whether trailing blank lines belong to it.
    keeps_trailing_blanks: bool,
    children: Vec<Self>,
}

/// The lines of a file.
struct FileLines<'a> {
    lines: Vec<&'a str>,
    /// The lines above which blank lines are part of a text.
    blanks_in_text: BTreeSet<usize>,
}

impl AttachedComments {
    /// No comments.
    pub(crate) const NONE: &Self = &Self {
        key: String::new(),
        above: Vec::new(),
        trailing: None,
        below: Vec::new(),
        children: Vec::new(),
    };

    /// Attaches each comment and blank line of a file to a value.
    pub(in crate::format) fn attach_all_comments(
        text: &str,
        root: &Node,
        marks: &CommentsAndDashes,
    ) -> Self {
        let root = LocatedValue::from_node("", root.at, root, marks);
        let page = FileLines::new(text, &root);
        let mut notes = Self::empty_tree_for_value(&root);
        for comment in &marks.comments {
            if page.is_first_on_line(comment.at) {
                notes.attach_own_line_comment(
                    &root,
                    comment,
                    page.has_blank_line_above(comment.at),
                );
            } else {
                notes.attach_trailing_comment(&root, comment);
            }
        }
        notes.attach_blank_lines(&root, &page);
        notes.move_header_to_top();
        notes
    }

    /// Moves the comments around the items of lists to the items of `now` that are the same. Those
    /// above an item that has gone stay, and those in it go.
    pub(in crate::format) fn follow_items(&mut self, was: &OutputNode, now: &OutputNode) {
        if let (OutputNode::List(old), OutputNode::List(new)) = (was, now) {
            if self.children.len() != old.len() {
                return;
            }
            let mut parts: Vec<_> =
                std::mem::take(&mut self.children).into_iter().map(Some).collect();
            for (new, item) in new.iter().zip(match_items(old, new)) {
                let part = item.and_then(|it| Some((it.index, parts[it.index].take()?)));
                self.children.push(part.map_or_else(Self::default, |(index, mut part)| {
                    part.follow_items(&old[index], new);
                    part
                }));
            }
            self.below.splice(0..0, parts.into_iter().flatten().flat_map(|it| it.above));
            return;
        }
        let (old, new) = (was.pairs().unwrap_or_default(), now.pairs().unwrap_or_default());
        for part in &mut self.children {
            let value =
                |pairs: &[(&str, _)]| pairs.iter().find(|it| it.0 == part.key).map(|(_, it)| *it);
            if let (Some(old), Some(new)) = (value(&old), value(&new)) {
                part.follow_items(old, new);
            }
        }
    }

    /// Moves comments for which the output has no room: those of a removed key to the next one,
    /// those inside a value that becomes one line above it, those above the first key of an item
    /// above its dash.
    pub(in crate::format) fn fit_to_output(&mut self, out: &OutputNode) {
        match out {
            _ if !out.has_children() => {
                let inside = self.inner_comments();
                *self = Self { children: Vec::new(), below: Vec::new(), ..std::mem::take(self) };
                self.above.extend(inside);
            }
            OutputNode::Map(_) | OutputNode::DynamicMap(_) => {
                self.fit_to_keys(&out.pairs().into_iter().flatten().collect());
            }
            OutputNode::List(items) => {
                for (part, item) in self.children.iter_mut().zip(items) {
                    part.fit_to_output(item);
                    part.merge_into_dash_line(item);
                }
            }
            _ => {}
        }
    }

    fn fit_to_keys(&mut self, values: &HashMap<&str, &OutputNode>) {
        let mut homeless = Vec::new();
        for mut part in std::mem::take(&mut self.children) {
            if let Some(value) = values.get(part.key.as_str()) {
                part.fit_to_output(value);
                part.above.splice(0..0, homeless.drain(..));
                self.children.push(part);
            } else {
                homeless.extend(part.all_comments());
            }
        }
        self.below.splice(0..0, homeless);
        self.children.sort_by(|a, b| a.key.cmp(&b.key));
    }

    /// Returns the comments around the value of `key`; only after fitting.
    pub(crate) fn for_key(&self, key: &str) -> &Self {
        let found = self.children.binary_search_by(|it| it.key.as_str().cmp(key));
        found.map_or(Self::NONE, |it| &self.children[it])
    }

    /// Returns the comments around an item.
    pub(crate) fn for_item(&self, index: usize) -> &Self {
        self.children.get(index).unwrap_or(Self::NONE)
    }

    /// Merges the comments of an item and of its first key or item, which are on one line.
    fn merge_into_dash_line(&mut self, item: &OutputNode) {
        let first_item = match item {
            OutputNode::List(items) => items.first(),
            _ => None,
        };
        let first = match item.pairs() {
            Some(pairs) => {
                let first = pairs.first().map(|(key, _)| *key).unwrap_or_default();
                self.children.iter_mut().find(|it| it.key == first)
            }
            None => self.children.first_mut().filter(|_| first_item.is_some()),
        };
        let Some(first) = first else { return };
        let beside = self.trailing.take();
        match &first.trailing {
            None => first.trailing = beside,
            Some(_) => first.above.extend(beside),
        }
        if let Some(first_item) = first_item {
            first.merge_into_dash_line(first_item);
        }
        self.above.append(&mut first.above);
    }

    fn all_comments(&self) -> Vec<String> {
        let own = self.above.iter().chain(&self.trailing).filter(|it| !it.is_empty()).cloned();
        own.chain(self.inner_comments()).collect()
    }

    fn inner_comments(&self) -> Vec<String> {
        let parts = self.children.iter().flat_map(Self::all_comments);
        parts.chain(self.below.iter().filter(|it| !it.is_empty()).cloned()).collect()
    }

    fn empty_tree_for_value(place: &LocatedValue<'_>) -> Self {
        let parts = place.children.iter().map(Self::empty_tree_for_value).collect();
        Self { key: place.key.to_owned(), children: parts, ..Self::default() }
    }

    fn attach_own_line_comment(
        &mut self,
        place: &LocatedValue<'_>,
        comment: &Comment,
        has_gap: bool,
    ) {
        let next = place.children.partition_point(|it| it.at <= comment.at);
        if let Some(last) = next.checked_sub(1) {
            let part = &place.children[last];
            if part.contains_comment(comment.at, place.span.0.column) {
                return self.children[last].attach_own_line_comment(part, comment, has_gap);
            }
            if part.span.0 > comment.at {
                return self.children[last].above.push(comment.text.clone());
            }
        }
        let lines = match self.children.get_mut(next) {
            Some(next) => &mut next.above,
            None => &mut self.below,
        };
        lines.extend(has_gap.then(String::new));
        lines.push(comment.text.clone());
    }

    fn attach_trailing_comment(&mut self, place: &LocatedValue<'_>, comment: &Comment) {
        let before = place.children.partition_point(|it| it.at < comment.at);
        let Some(last) = before.checked_sub(1) else {
            return self.attach_own_line_comment(place, comment, false);
        };
        let (part, notes) = (&place.children[last], &mut self.children[last]);
        let has_begun = match part.flow {
            true => part.span.0 < comment.at && comment.at < part.span.1,
            false => part.children.first().is_some_and(|it| it.at < comment.at),
        };
        if has_begun {
            return notes.attach_trailing_comment(part, comment);
        }
        notes.above.extend(notes.trailing.replace(comment.text.clone()));
    }

    /// Keeps the blank line above each value that begins a line.
    fn attach_blank_lines(&mut self, place: &LocatedValue<'_>, page: &FileLines<'_>) {
        for (notes, part) in self.children.iter_mut().zip(&place.children) {
            if page.is_first_on_line(part.at) && page.has_blank_line_above(part.at) {
                notes.above.push(String::new());
            }
            if !part.flow {
                notes.attach_blank_lines(part, page);
            }
        }
    }

    /// Moves comments above the first key that are followed by a blank line to the top of the file,
    /// where they stay wherever the key goes.
    fn move_header_to_top(&mut self) {
        let Some(first) = self.children.first_mut() else { return };
        if let Some(end) = first.above.iter().rposition(String::is_empty) {
            self.above = first.above.drain(..=end).collect();
        }
    }
}

impl<'a> LocatedValue<'a> {
    fn from_node(key: &'a str, at: Position, node: &'a Node, marks: &CommentsAndDashes) -> Self {
        let parts = match &node.value {
            NodeValue::Scalar { .. } => Vec::new(),
            NodeValue::Map(pairs) => pairs
                .iter()
                .map(|(key, it)| Self::from_node(&key.text, key.at, it, marks))
                .collect(),
            NodeValue::List(items) => {
                let dash = |it: &Node| {
                    let before = marks.dashes.partition_point(|dash| *dash < it.at);
                    before.checked_sub(1).filter(|_| !node.is_flow).map(|dash| marks.dashes[dash])
                };
                items
                    .iter()
                    .map(|it| Self::from_node("", dash(it).unwrap_or(it.at), it, marks))
                    .collect()
            }
        };
        let is_kept =
            matches!(&node.value, NodeValue::Scalar { text, .. } if text.ends_with("\n\n"));
        let is_kept = is_kept && !node.is_flow;
        Self {
            key,
            at,
            span: (node.at, node.end),
            flow: node.is_flow,
            keeps_trailing_blanks: is_kept,
            children: parts,
        }
    }

    /// Returns whether a comment on a line of its own, after the start of this value, is inside it;
    /// `column` is that of the parent.
    fn contains_comment(&self, comment: Position, column: usize) -> bool {
        let (begin, end) = self.span;
        match self.flow {
            true => comment < end,
            false if self.children.is_empty() => false,
            false => comment < end || begin.column <= comment.column && column < comment.column,
        }
    }

    fn collect_lines_below_text_blanks(&self, lines: &mut BTreeSet<usize>) {
        lines.extend(self.keeps_trailing_blanks.then_some(self.span.1.line));
        self.children.iter().for_each(|it| it.collect_lines_below_text_blanks(lines));
    }
}

impl<'a> FileLines<'a> {
    fn new(text: &'a str, root: &LocatedValue<'_>) -> Self {
        let mut kept = BTreeSet::new();
        root.collect_lines_below_text_blanks(&mut kept);
        Self { lines: text.lines().collect(), blanks_in_text: kept }
    }

    /// Returns whether there is only whitespace before a position on its line.
    fn is_first_on_line(&self, at: Position) -> bool {
        let line = self.lines.get(at.line - 1).copied().unwrap_or_default();
        line.chars().take(at.column - 1).all(|it| matches!(it, ' ' | '\t' | '\u{feff}'))
    }

    fn has_blank_line_above(&self, at: Position) -> bool {
        let above = at.line.checked_sub(2).and_then(|it| self.lines.get(it));
        above.is_some_and(|it| it.trim().is_empty()) && !self.blanks_in_text.contains(&at.line)
    }
}

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
