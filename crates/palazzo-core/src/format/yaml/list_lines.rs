//! The items of a list as lines of its file, which can be moved, removed and added.

use std::ops::Range;

use crate::format::yaml::comments::CommentsAndDashes;
use crate::format::yaml::file_lines::YamlLines;
use crate::format::yaml::item_matching::OldItem;
use crate::format::yaml::output_node::OutputNode;
use crate::format::yaml::parse::{Node, NodeValue};
use crate::format::yaml::write::{inline_yaml, serialize_yaml};
use crate::model::Position;

/// The lines of an item of a list.
struct ItemLines {
    /// Blank lines and comments between the item before and this one: they stay where they are.
    gap: Range<usize>,
    /// The comments right above the dash: they move with the item.
    above: Range<usize>,
    /// The item itself, with the comments in it.
    body: Range<usize>,
}

/// The lines of an edited list.
struct EditedLines<'a> {
    file: &'a YamlLines<'a>,
    items: &'a [ItemLines],
    lines: Vec<String>,
    /// Whether an item has gone since the last line.
    is_gone: bool,
    /// Whether blank lines separate all items.
    is_spaced: bool,
    indent: usize,
    style: ItemStyle,
}

/// How a new item is written.
#[derive(Clone, Copy)]
enum ItemStyle {
    Dash,
    Comma,
}

/// Returns the text of a file in which a list has the items `now`, each old one with its lines; in
/// brackets, all items end in commas. `None` if the items have no lines of their own.
pub(super) fn arrange_list_lines(
    file: &YamlLines<'_>,
    marks: &CommentsAndDashes,
    list: &Node,
    now: &[OutputNode],
    old_items: &[Option<OldItem>],
) -> Option<String> {
    let NodeValue::List(nodes) = &list.value else { return None };
    let (starts, style) = match list.is_flow {
        false => (find_dashes(file, nodes, marks)?, ItemStyle::Dash),
        true => (find_starts_in_brackets(file, list, nodes)?, ItemStyle::Comma),
    };
    let items = lines_of_items(file, nodes, &starts)?;
    let range = items.first()?.gap.start..items.last()?.body.end;
    let indent = starts.first()?.column - 1;
    let has_blank = |it: &ItemLines| it.gap.clone().any(|line| file.is_blank(line));
    let is_spaced = items.len() > 1 && items.iter().skip(1).all(has_blank);
    let (lines, is_gone) = (Vec::new(), false);
    let mut edited = EditedLines { file, items: &items, lines, is_gone, is_spaced, indent, style };
    edited.write_items(now, old_items);
    let is_crlf = file.lines.get(range.start).is_some_and(|it| it.ends_with("\r\n"));
    let ending = if is_crlf { "\r\n" } else { "\n" };
    let mut text = file.lines[..range.start].concat();
    for line in edited.lines {
        text.push_str(line.trim_end_matches(['\r', '\n']));
        text.push_str(ending);
    }
    Some(text + &file.lines[range.end..].concat())
}

/// Returns the dashes of the items of a block list; `None` if one is not the first on its line.
fn find_dashes(
    file: &YamlLines<'_>,
    items: &[Node],
    marks: &CommentsAndDashes,
) -> Option<Vec<Position>> {
    let first = items.first()?;
    let column = {
        let before = marks.dashes.partition_point(|it| *it < first.at);
        marks.dashes.get(before.checked_sub(1)?)?.column
    };
    let mut dashes = Vec::new();
    for item in items {
        let after = dashes.last().copied().unwrap_or(Position::START);
        let is_own = |it: &&Position| it.column == column && (dashes.is_empty() || **it > after);
        let before = marks.dashes.partition_point(|it| *it < item.at);
        let own = marks.dashes[..before].iter().rev().find(is_own)?;
        let line = file.lines.get(own.line - 1)?;
        let is_first = line.chars().take(column - 1).all(|it| it == ' ');
        dashes.push(Some(*own).filter(|_| is_first)?);
    }
    Some(dashes)
}

/// Returns the starts of the items of a list in brackets; `None` if an item or the bracket after
/// them is not the first on its line.
fn find_starts_in_brackets(
    file: &YamlLines<'_>,
    list: &Node,
    items: &[Node],
) -> Option<Vec<Position>> {
    let is_first = |at: Position| {
        let line = file.lines.get(at.line - 1)?;
        let before = line.chars().take(at.column - 1);
        before.clone().all(|it| matches!(it, ' ' | '\t')).then_some(at)
    };
    is_first(Position { column: list.end.column - 1, ..list.end })?;
    items.iter().map(|it| is_first(it.at)).collect()
}

fn lines_of_items(
    file: &YamlLines<'_>,
    nodes: &[Node],
    dashes: &[Position],
) -> Option<Vec<ItemLines>> {
    let mut items: Vec<ItemLines> = Vec::new();
    for (node, dash) in nodes.iter().zip(dashes) {
        let line = dash.line - 1;
        let limit = items.last().map_or(0, |it| it.body.end);
        let before = |from: usize, is_meant: &dyn Fn(usize) -> bool| {
            (limit..from).rev().take_while(|it| is_meant(*it)).last().unwrap_or(from)
        };
        let above = before(line, &|it| file.is_comment(it));
        let gap = before(above, &|it| file.is_comment(it) || file.is_blank(it));
        let last = file.last_line(node, *dash)?;
        let end = file.end_with_inner_comments(last, dash.column);
        if last < line || line < limit {
            return None;
        }
        items.push(ItemLines { gap: gap..above, above: above..line, body: line..end });
    }
    Some(items)
}

impl EditedLines<'_> {
    fn write_items(&mut self, now: &[OutputNode], old_items: &[Option<OldItem>]) {
        let moved = old_items.iter().flatten().filter(|it| !it.stays);
        let moved: Vec<_> = moved.map(|it| it.index).collect();
        let stays =
            |index: usize| old_items.iter().flatten().any(|it| it.index == index && it.stays);
        let last_kept = old_items.iter().flatten().filter(|it| it.stays).map(|it| it.index).max();
        let mut next = 0;
        for (new, old) in now.iter().zip(old_items) {
            match old {
                Some(old) if old.stays => {
                    for gone in next..old.index {
                        self.write_gone_item(gone, &moved);
                    }
                    self.write_gap(old.index);
                    self.write_old_item(old.index);
                    next = old.index + 1;
                    continue;
                }
                // An item takes the place of one that has gone, except at the end of the list.
                _ if last_kept.is_some_and(|it| next < it) && !stays(next) => {
                    self.write_gone_item(next, &moved);
                    next += 1;
                }
                _ => {}
            }
            match old {
                Some(old) => self.write_old_item(old.index),
                None => self.write_new_item(new),
            }
        }
        for gone in next..self.items.len() {
            self.write_gone_item(gone, &moved);
        }
        self.remove_blank_lines_at_end();
    }

    fn write_old_item(&mut self, index: usize) {
        self.separate();
        let item = &self.items[index];
        self.push_lines(item.above.start..item.body.end);
        self.is_gone = false;
    }

    fn write_new_item(&mut self, item: &OutputNode) {
        self.separate();
        let text = match self.style {
            ItemStyle::Dash => serialize_yaml(&OutputNode::List(vec![item.clone()])),
            ItemStyle::Comma => format!("{},", inline_yaml(item)),
        };
        let indented = |it: &str| match it.is_empty() {
            true => String::new(),
            false => format!("{}{it}", " ".repeat(self.indent)),
        };
        self.lines.extend(text.lines().map(indented));
        self.is_gone = false;
    }

    /// Writes what stays of an item that has gone: the comments around it, except those that have
    /// moved with it.
    fn write_gone_item(&mut self, index: usize, moved: &[usize]) {
        self.write_gap(index);
        if !moved.contains(&index) {
            self.push_lines(self.items[index].above.clone());
        }
        self.is_gone = true;
    }

    /// Writes the lines between two items. Of the blank lines above and below an item that has
    /// gone, one side is enough.
    fn write_gap(&mut self, index: usize) {
        let mut gap = self.items[index].gap.clone();
        let has_blank = self.lines.last().is_none_or(|it| it.trim().is_empty());
        while self.is_gone && has_blank && !gap.is_empty() && self.file.is_blank(gap.start) {
            gap.start += 1;
        }
        self.push_lines(gap);
    }

    /// Separates an item from the one before, as all others are.
    fn separate(&mut self) {
        let is_text = |it: &String| !it.trim().is_empty() && !it.trim_start().starts_with('#');
        if self.is_spaced && self.lines.last().is_some_and(is_text) {
            self.lines.push(String::new());
        }
    }

    fn remove_blank_lines_at_end(&mut self) {
        while self.is_gone && self.lines.last().is_some_and(|it| it.trim().is_empty()) {
            self.lines.pop();
        }
    }

    fn push_lines(&mut self, range: Range<usize>) {
        self.lines.extend(self.file.lines[range].iter().map(|it| (*it).to_owned()));
    }
}
