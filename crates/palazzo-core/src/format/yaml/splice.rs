//! Changes lists and texts of a file in its text, so that what does not change keeps every byte:
//! items keep their comments and quotes, and a text keeps its style.

use crate::format::yaml::bracket_list::{add_last_comma, arrange_bracket_list, remove_last_comma};
use crate::format::yaml::comments::CommentsAndDashes;
use crate::format::yaml::file_lines::YamlLines;
use crate::format::yaml::item_matching::{OldItem, match_items};
use crate::format::yaml::list_lines::arrange_list_lines;
use crate::format::yaml::output_node::OutputNode;
use crate::format::yaml::parse::{Node, NodeValue, parse_yaml};
use crate::format::yaml::word_diff::replace_words;
use crate::model::{PathStep, Position};

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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::format::{edit_tree, parse_tree};

    const PATH: &str = "entities/b/a.yaml";

    /// Edits the file of an entity: the value of `key` becomes `now`.
    #[track_caller]
    fn edit(text: &str, key: &str, now: Value) -> String {
        let text = format!("name: A\ngenus: B\n{text}");
        let mut tree = parse_tree(PATH, &text).unwrap();
        tree.fields[key] = now;
        let edited = edit_tree(PATH, &text, &tree).unwrap();
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
            let tree = parse_tree(PATH, &text).unwrap();
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
