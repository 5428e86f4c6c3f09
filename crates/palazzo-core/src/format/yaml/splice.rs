//! Changes lists and texts of a file in its text, so that what does not change keeps every byte:
//! items keep their comments and quotes, and a text keeps its style.

use std::ops::Range;

use crate::format::yaml::attached_comments::CommentsAndDashes;
use crate::format::yaml::file_lines::YamlLines;
use crate::format::yaml::item_matching::{OldItem, match_items};
use crate::format::yaml::output_node::OutputNode;
use crate::format::yaml::parse::{Node, NodeValue, parse_yaml};
use crate::format::yaml::word_diff::replace_words;
use crate::format::yaml::write::{inline_yaml, serialize_yaml};
use crate::model::{PathStep, Position};

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

/// Moves, removes and adds the items of the lists in `text`, and replaces words of its texts, from
/// the content `was` towards `now`. Returns the new text and its content: lists have as many items
/// as in `now`, in the same order, but items and texts may still be the old ones.
pub(in crate::format) fn splice_lists_and_texts(
    text: &str,
    was: &OutputNode,
    now: &OutputNode,
) -> (String, OutputNode) {
    let mut splicer = Splicer { text: text.to_owned(), path: Vec::new() };
    let content = splicer.splice(was, now);
    (splicer.text, content)
}

struct Splicer {
    text: String,
    /// The path of the value that is being changed.
    path: Vec<PathStep>,
}

impl Splicer {
    /// Changes the value at the path, and returns its content afterwards.
    fn splice(&mut self, was: &OutputNode, now: &OutputNode) -> OutputNode {
        match (was, now) {
            _ if was == now => was.clone(),
            (OutputNode::List(old), OutputNode::List(new)) => {
                OutputNode::List(self.splice_list(old, new))
            }
            (OutputNode::Map(pairs), _) => {
                let pairs = pairs.iter();
                OutputNode::Map(
                    pairs.map(|(key, it)| (*key, self.splice_key(key, it, now))).collect(),
                )
            }
            (OutputNode::DynamicMap(pairs), _) => {
                let pairs =
                    pairs.iter().map(|(key, it)| (key.clone(), self.splice_key(key, it, now)));
                OutputNode::DynamicMap(pairs.collect())
            }
            (
                OutputNode::Text(old) | OutputNode::BlockText(old),
                OutputNode::Text(new) | OutputNode::BlockText(new),
            ) if self.splice_text(old, new).is_some() => now.clone(),
            _ => was.clone(),
        }
    }

    fn splice_key(&mut self, key: &str, was: &OutputNode, now: &OutputNode) -> OutputNode {
        let pairs = now.pairs().unwrap_or_default();
        let Some((_, now)) = pairs.iter().find(|it| it.0 == key) else { return was.clone() };
        self.path.push(PathStep::Value(key.to_owned()));
        let content = self.splice(was, now);
        self.path.pop();
        content
    }

    fn splice_list(&mut self, was: &[OutputNode], now: &[OutputNode]) -> Vec<OutputNode> {
        let arranged = self.arrange_list(was, now);
        let mut items = arranged.unwrap_or_else(|| was.to_vec());
        if items.len() == now.len() {
            for (index, (item, now)) in items.iter_mut().zip(now).enumerate() {
                self.path.push(PathStep::Item(index));
                *item = self.splice(item, now);
                self.path.pop();
            }
        }
        items
    }

    /// Gives the list at the path the items `now`, as far as old items stand for new ones.
    fn arrange_list(&mut self, was: &[OutputNode], now: &[OutputNode]) -> Option<Vec<OutputNode>> {
        let old_items = match_items(was, now);
        let is_arranged = was.len() == now.len()
            && (0..).zip(&old_items).all(|(index, it)| *it == Some(OldItem { index, stays: true }));
        if is_arranged || was.is_empty() || now.is_empty() {
            return None;
        }
        self.text = self.arrange_text(was.len(), now, &old_items)?;
        let item = |(new, old): (&OutputNode, &Option<OldItem>)| {
            old.and_then(|it| was.get(it.index)).unwrap_or(new).clone()
        };
        Some(now.iter().zip(&old_items).map(item).collect())
    }

    /// Returns the text with the arranged list; `None` if that is impossible, or if an item could
    /// not be parsed, so that the indexes do not match.
    fn arrange_text(
        &self,
        count: usize,
        now: &[OutputNode],
        old_items: &[Option<OldItem>],
    ) -> Option<String> {
        let simple = self.with_list(&self.text, count, |file, _, list| {
            let list = Some(list).filter(|it| it.is_flow)?;
            arrange_bracket_list(&self.text, file, list, now, old_items)
        });
        if let Some(simple) = simple {
            return Some(simple);
        }
        let comma = self.with_list(&self.text, count, |file, _, list| {
            add_last_comma(&self.text, file, list).filter(|_| list.is_flow)
        });
        let text = comma.as_ref().unwrap_or(&self.text);
        let arranged = self.with_list(text, count, |file, marks, list| {
            arrange_list_lines(file, marks, list, now, old_items)
        })?;
        self.with_list(&arranged, now.len(), |file, _, list| match comma {
            Some(_) => remove_last_comma(&arranged, file, list),
            None => Some(arranged.clone()),
        })
    }

    /// Parses a text, and calls `change` with the list at the path if it has `count` items.
    fn with_list(
        &self,
        text: &str,
        count: usize,
        change: impl FnOnce(&YamlLines<'_>, &CommentsAndDashes, &Node) -> Option<String>,
    ) -> Option<String> {
        let root = parse_yaml(text).ok()?;
        let marks = CommentsAndDashes::scan(text);
        let file = YamlLines::new(text, &marks)?;
        let (list, _) = self.find(&root)?;
        let is_list = matches!(&list.value, NodeValue::List(items) if items.len() == count);
        if is_list { change(&file, &marks, list) } else { None }
    }

    /// Replaces the words of the text at the path in its notation.
    fn splice_text(&mut self, was: &str, now: &str) -> Option<()> {
        let root = parse_yaml(&self.text).ok()?;
        let (node, start) = self.find(&root)?;
        let lines = YamlLines::new(&self.text, &CommentsAndDashes::scan(&self.text))?;
        let place = lines.bytes_of(node, start)?;
        let raw = self.text.get(place.clone())?;
        let replaced = replace_words(raw, was, now)?;
        let text = format!("{}{replaced}{}", &self.text[..place.start], &self.text[place.end..]);
        let root = parse_yaml(&text).ok()?;
        let (node, _) = self.find(&root)?;
        let is_meant = node.to_json().as_str().is_some_and(|it| it.trim_end() == now.trim_end());
        is_meant.then(|| self.text = text)
    }

    /// Finds the value at the path, and the start of its key or of itself.
    fn find<'a>(&self, root: &'a Node) -> Option<(&'a Node, Position)> {
        let mut found = (root, root.at);
        for step in &self.path {
            found = match (step, &found.0.value) {
                (PathStep::Value(key), NodeValue::Map(pairs)) => {
                    let (key, value) = pairs.iter().find(|it| it.0.text == *key)?;
                    (value, key.at)
                }
                (PathStep::Item(index), NodeValue::List(items)) => {
                    let item = items.get(*index)?;
                    (item, item.at)
                }
                _ => return None,
            };
        }
        Some(found)
    }
}

/// Returns the text of a file in which a list in brackets without comments has the items `now`, each
/// old one as it is written; `None` if there are comments in it.
fn arrange_bracket_list(
    text: &str,
    file: &YamlLines<'_>,
    list: &Node,
    now: &[OutputNode],
    old_items: &[Option<OldItem>],
) -> Option<String> {
    let items = bytes_of_items(file, list)?;
    let (list_start, list_end) = (file.byte_of(list.at)?, file.byte_of(list.end)?);
    let between = |index: usize| &text[items[index].end..items[index + 1].start];
    let opening = &text[list_start..items.first()?.start];
    let closing = &text[items.last()?.end..list_end];
    let separators = (0..items.len() - 1).map(between);
    let has_comment = [opening, closing].into_iter().chain(separators).any(|it| it.contains('#'));
    if has_comment {
        return None;
    }
    let mut arranged = opening.to_owned();
    let mut last: Option<usize> = None;
    for (position, (new, old)) in now.iter().zip(old_items).enumerate() {
        let old = old.map(|it| it.index);
        if position > 0 {
            arranged.push_str(match (last, old) {
                (Some(last), Some(old)) if last + 1 == old => between(last),
                _ if items.len() > 1 => between(0),
                _ => ", ",
            });
        }
        match old {
            Some(old) => arranged.push_str(&text[items[old].clone()]),
            None => arranged.push_str(&inline_yaml(new)),
        }
        last = old;
    }
    Some(format!("{}{arranged}{closing}{}", &text[..list_start], &text[list_end..]))
}

/// Returns the text with a comma after the last item of a list in brackets; `None` if it has one.
fn add_last_comma(text: &str, file: &YamlLines<'_>, list: &Node) -> Option<String> {
    let end = bytes_of_items(file, list)?.last()?.end;
    let rest = &text[end..];
    (!rest.trim_start().starts_with(',')).then(|| format!("{},{rest}", &text[..end]))
}

/// Removes the comma after the last item of a list in brackets.
fn remove_last_comma(text: &str, file: &YamlLines<'_>, list: &Node) -> Option<String> {
    let end = bytes_of_items(file, list)?.last()?.end;
    let rest = text[end..].strip_prefix(',')?;
    Some(format!("{}{rest}", &text[..end]))
}

fn bytes_of_items(file: &YamlLines<'_>, list: &Node) -> Option<Vec<Range<usize>>> {
    let NodeValue::List(items) = &list.value else { return None };
    let bytes = |it: &Node| Some(file.byte_of(it.at)?..file.byte_of(it.end)?);
    let items: Vec<_> = items.iter().map(bytes).collect::<Option<_>>()?;
    let is_ordered = items.windows(2).all(|it| it[0].end < it[1].start);
    (is_ordered && items.iter().all(|it| !it.is_empty())).then_some(items)
}

/// Returns the text of a file in which a list has the items `now`, each old one with its lines; in
/// brackets, all items end in commas. `None` if the items have no lines of their own.
fn arrange_list_lines(
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::format::{edit_fields_and_body, parse_fields_and_body};

    const PATH: &str = "entities/b/a.yaml";

    /// Edits the file of an entity: the value of `key` becomes `now`.
    #[track_caller]
    fn edit(text: &str, key: &str, now: Value) -> String {
        let text = format!("name: A\ngenus: B\n{text}");
        let mut tree = parse_fields_and_body(PATH, &text).unwrap();
        tree.fields[key] = now;
        let edited = edit_fields_and_body(PATH, &text, &tree).unwrap();
        edited.strip_prefix("name: A\ngenus: B\n").unwrap().to_owned()
    }

    #[track_caller]
    fn assert_observations(text: &str, now: &[&str], expected: &str) {
        assert_eq!(edit(text, "observations", json!(now)), expected);
    }

    #[test]
    fn several_edits_in_one_list_leave_the_other_items_as_they_are() {
        let text = "observations:\n- one # c1\n- 'two' # c2\n- three # c3\n";
        let removed_first = "observations:\n- 'two' # c2\n- three # c3\n- four\n";
        assert_observations(text, &["two", "three", "four"], removed_first);
        let removed_last = "observations:\n- one # c1\n- 'two' # c2\n- four\n";
        assert_observations(text, &["one", "two", "four"], removed_last);
        let added_both = "observations:\n- zero\n- one # c1\n- \"2\"\n- three # c3\n- four\n";
        assert_observations(text, &["zero", "one", "2", "three", "four"], added_both);
        let crlf = text.replace('\n', "\r\n");
        assert_observations(&crlf, &["two", "three", "four"], &removed_first.replace('\n', "\r\n"));
    }

    #[test]
    fn two_of_five_items_go_and_the_comments_between_stay() {
        let text = "observations:\n  - one # c1\n  - \"two\"\n\n  # Later:\n\n  # about three\n  - >\n    \
                    three\n    folded # text\n  - four\n  - |  # c5\n    five\n\n    lines\n\n# here\nstatus: x\n";
        let now = ["one", "three folded # text\n", "five\n\nlines\n"];
        let expected = "observations:\n  - one # c1\n\n  # Later:\n\n  # about three\n  - >\n    three\n    \
                        folded # text\n  - |  # c5\n    five\n\n    lines\n\n# here\nstatus: x\n";
        assert_observations(text, &now, expected);
        let moved = "observations:\n  # Later:\n\n  - |  # c5\n    five\n\n    lines\n  # about three\n  - >\n    \
                     three\n    folded # text\n  - \"two\"\n  - new\n\n# here\nstatus: x\n";
        let now = ["five\n\nlines\n", "three folded # text\n", "two", "new"];
        assert_observations(text, &now, moved);
    }

    #[test]
    fn blank_lines_separate_the_items_as_before() {
        let text = "observations:\n- one\n\n- two\n\n- three # c3\nstatus: x\n";
        let without_two = "observations:\n- one\n\n- three # c3\nstatus: x\n";
        assert_observations(text, &["one", "three"], without_two);
        let without_last = "observations:\n- two\n\n- four\nstatus: x\n";
        assert_observations(text, &["two", "four"], without_last);
        let text = "observations:\n- one\n\n- two\n- three\n";
        assert_observations(text, &["one", "three"], "observations:\n- one\n\n- three\n");
    }

    #[test]
    fn of_items_that_occur_twice_the_right_one_stays() {
        let text = "observations:\n- 'x' # c1\n- y # c2\n- \"x\" # c3";
        assert_observations(text, &["y", "x"], "observations:\n- y # c2\n- \"x\" # c3\n");
        assert_observations(text, &["x", "y"], "observations:\n- 'x' # c1\n- y # c2\n");
        let both = "observations:\n- \"x\" # c3\n- 'x' # c1\n- y # c2\n";
        let edited = edit(text, "observations", json!(["x", "x", "y"]));
        assert!([both, "observations:\n- 'x' # c1\n- \"x\" # c3\n- y # c2\n"].contains(&&*edited));
    }

    #[test]
    fn lists_in_brackets_keep_quotes_and_comments() {
        let text = "observations: [one,  'two', three] # c\n";
        let now = ["two", "three", "four"];
        assert_observations(text, &now, "observations: ['two', three,  four] # c\n");
        let text = "observations: [\n  one, # c1\n  'two', # c2\n  # above\n  three # c3\n]\n";
        let now = ["two", "three", "four"];
        let expected = "observations: [\n  'two', # c2\n  # above\n  three, # c3\n  four\n]\n";
        assert_observations(text, &now, expected);
        let expected = "observations: [\n  # above\n  three, # c3\n  one # c1\n]\n";
        assert_observations(text, &["three", "one"], expected);
    }

    #[test]
    fn relations_and_lists_in_mappings_are_edited_like_texts() {
        let text = "attributes:\n  tags:\n    - 'a' # t1\n    - b # t2\nrelations:\n  - to: Bob # school\n    \
                    type: knows\n  # long ago\n  - { type: met,  to: 'Carol' } # c2\n  - type: met\n    to: Dan # c3\n";
        let now = json!([
            { "type": "met", "to": "Carol", "until": "1850" },
            { "to": "Dan", "type": "met" },
            { "to": "Eve", "type": "knows" },
        ]);
        let expected = "attributes:\n  tags:\n    - 'a' # t1\n    - b # t2\nrelations:\n  # long ago\n  \
                        - { type: met,  to: 'Carol',  until: \"1850\" } # c2\n  - type: met\n    to: Dan # c3\n  \
                        - to: Eve\n    type: knows\n";
        assert_eq!(edit(text, "relations", now), expected);
        let now = json!({ "tags": ["b", "c"] });
        let expected = text.replace("    - 'a' # t1\n    - b # t2\n", "    - b # t2\n    - c\n");
        assert_eq!(edit(text, "attributes", now), expected);
    }

    #[test]
    fn lists_whose_first_dash_shares_a_line_keep_their_comments() {
        let text = "attributes:\n  rows:\n  - - 1 # c1\n    - 2 # c2\n    - 3 # c3\n";
        let edited = edit(text, "attributes", json!({ "rows": [[2, 3, 4]] }));
        assert_eq!(edited, "attributes:\n  rows:\n    - - 2 # c2\n      - 3 # c3\n      - 4\n");
    }

    #[test]
    fn a_changed_word_leaves_the_style_of_a_text() {
        for (style, was, now) in [
            (">  # c\n  See [[Ada\n  L]] now,\n  and then.\n", "See", "Visit"),
            (">\n  See [[Ada\n  L]] now,\n  and then.\n", "[[Ada L]]", "[[Eve]]"),
            ("'See [[Ada]],\n  and it''s done.' # c\n", "[[Ada]]", "[[O'Hara]]"),
            ("\"See [[Ada]].\\nThen \\\"go\\\".\" # c\n", "[[Ada]]", "[[a \"b\"]]"),
            ("See [[Ada]] and\n  [[Ada]] again. # c\n", "[[Ada]]", "[[Eve]]"),
            ("|\n  See [[Ada]].\n\n    Twice: [[Ada]].\n# c\n", "[[Ada]]", "[[Eve]]"),
        ] {
            let text = format!("note: {style}");
            let tree = parse_fields_and_body(PATH, &text).unwrap();
            let value = tree.fields["note"].as_str().unwrap().replace(was, now);
            let edited = edit(&text, "note", json!(value));
            let written = match style.chars().next().unwrap() {
                '\'' => now.replace('\'', "''"),
                '"' => now.replace('"', "\\\""),
                _ => now.to_owned(),
            };
            let expected = text.replace("[[Ada\n  L]]", "[[Ada L]]").replace(was, &written);
            let expected = match was {
                "See" => expected.replace("[[Ada L]]", "[[Ada\n  L]]"),
                _ => expected,
            };
            assert_eq!(edited, expected);
        }
    }

    #[test]
    fn another_text_is_written_in_canonical_form() {
        let text = "note: >\n  See [[Ada]] now,\n  and then.\n";
        let long = "Something else entirely, ".repeat(5) + "on lines.\nThe second of them.\n";
        let edited = edit(text, "note", json!(long));
        assert_eq!(edited, format!("note: |\n  {}", long.replace("\nThe", "\n  The")));
    }
}
