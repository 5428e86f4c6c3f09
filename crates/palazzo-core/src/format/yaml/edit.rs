//! Changes what differs in a file and nothing else: the author's comments, order, quotes and blank
//! lines stay.

use crate::format::yaml::output_node::OutputNode;
use std::str::FromStr;

use yaml_edit::{Mapping, Sequence, YamlFile, YamlNode};

use crate::format::yaml::attached_comments::{Comment, CommentsAndDashes};
use crate::format::yaml::item_matching::{OldItem, match_items};
use crate::format::yaml::parse::{MapKey, Node, NodeValue, parse_yaml};
use crate::format::yaml::write::{inline_yaml, serialize_yaml};
use crate::model::Position;

/// Edits `text` from the content `was` to the content `now`; `None` if that is impossible, also if
/// the items of a list are not in their places. The caller must parse and compare the result.
pub(in crate::format) fn edit_yaml(
    text: &str,
    was: &OutputNode,
    now: &OutputNode,
) -> Option<String> {
    let (was, now) = (was.pairs()?, now.pairs()?);
    let edited = apply_mapping_diff(text, &was, &now)?;
    // The editor treats the comment after a multi-line text as a part of it.
    let again = move_lost_comments_above(text, &edited)
        .and_then(|it| self::apply_mapping_diff(&it, &was, &now));
    Some(again.unwrap_or(edited))
}

fn apply_mapping_diff(
    text: &str,
    was: &[(&str, &OutputNode)],
    now: &[(&str, &OutputNode)],
) -> Option<String> {
    let file = YamlFile::from_str(text).ok()?;
    edit_map(&file.document()?.as_mapping()?, was, now)?;
    Some(file.to_string())
}

/// Moves the comments that `edited` has lost, and that were after the last line of a text, above
/// its key; `None` if there are none.
fn move_lost_comments_above(text: &str, edited: &str) -> Option<String> {
    let kept = CommentsAndDashes::scan(edited).comments;
    let is_lost = |it: &Comment| kept.iter().all(|other| other.text != it.text);
    let lost: Vec<_> = CommentsAndDashes::scan(text).comments.into_iter().filter(is_lost).collect();
    let texts =
        if lost.is_empty() { return None } else { flow_scalar_ends(&parse_yaml(text).ok()?) };
    let mut lines: Vec<_> = text.split_inclusive('\n').map(str::to_owned).collect();
    for Comment { at, text } in lost.iter().rev() {
        let is_behind = |(key, end): &&(Position, Position)| {
            key.line < end.line && end.line == at.line && end.column <= at.column
        };
        let Some((key, _)) = texts.iter().find(is_behind) else { continue };
        let line = &mut lines[at.line - 1];
        let ending = if line.ends_with("\r\n") { "\r\n" } else { "\n" };
        let said: String = line.chars().take(at.column - 1).collect();
        *line = format!("{}{ending}", said.trim_end());
        lines.insert(key.line - 1, format!("{}{text}{ending}", " ".repeat(key.column - 1)));
    }
    Some(lines.concat()).filter(|it| it != text)
}

/// Returns the end of each text in flow style, with the position of its key.
fn flow_scalar_ends(node: &Node) -> Vec<(Position, Position)> {
    match &node.value {
        NodeValue::Scalar { .. } => Vec::new(),
        NodeValue::List(items) => items.iter().flat_map(flow_scalar_ends).collect(),
        NodeValue::Map(pairs) => {
            let of = |(key, value): &(MapKey, Node)| match &value.value {
                NodeValue::Scalar { .. } if value.is_flow => vec![(key.at, value.end)],
                _ => flow_scalar_ends(value),
            };
            pairs.iter().flat_map(of).collect()
        }
    }
}

fn edit_map(map: &Mapping, was: &[(&str, &OutputNode)], now: &[(&str, &OutputNode)]) -> Option<()> {
    // A key with its default value may be missing in the file.
    let is_there = |key: &str| map.get(key).is_some();
    for (key, _) in was.iter().filter(|(key, _)| find_value(now, key).is_none() && is_there(key)) {
        map.remove(*key)?;
    }
    let mut before: Option<&str> = None;
    for (key, value) in now {
        match find_value(was, key) {
            Some(old) if old == *value => {}
            Some(old) if is_there(key) => edit_value(map, key, old, value)?,
            _ => insert_key(map, before, key, value)?,
        }
        before = Some(*key).filter(|it| is_there(it)).or(before);
    }
    Some(())
}

fn edit_value(map: &Mapping, key: &str, was: &OutputNode, now: &OutputNode) -> Option<()> {
    let node = map.get(key)?;
    // What was or becomes empty has no style to keep.
    if was.has_children() && now.has_children() {
        match (was, now, &node) {
            (OutputNode::List(was), OutputNode::List(now), YamlNode::Sequence(list)) => {
                return edit_list(list, was, now);
            }
            (_, _, YamlNode::Mapping(map)) => {
                if let (Some(was), Some(now)) = (was.pairs(), now.pairs()) {
                    return edit_map(map, &was, &now);
                }
            }
            _ => {}
        }
    }
    map.set(key, to_editor_node(now, map.is_flow_style())?);
    Some(())
}

/// Edits the items of a list in their places; `None` if an item was added, removed or moved.
fn edit_list(list: &Sequence, was: &[OutputNode], now: &[OutputNode]) -> Option<()> {
    let moved = |(index, old): (usize, &Option<OldItem>)| old.is_some_and(|it| it.index != index);
    let has_moved = match_items(was, now).iter().enumerate().any(moved);
    if list.len() != was.len() || was.len() != now.len() || has_moved {
        return None;
    }
    let in_brackets = list.is_flow_style();
    for (index, (old, new)) in was.iter().zip(now).enumerate() {
        match (old, new, list.get(index)?) {
            _ if old == new => {}
            (OutputNode::List(old), OutputNode::List(new), YamlNode::Sequence(list))
                if !old.is_empty() && !new.is_empty() =>
            {
                edit_list(&list, old, new)?;
            }
            (_, _, YamlNode::Mapping(map))
                if old.has_children() && new.has_children() && new.pairs().is_some() =>
            {
                edit_map(&map, &old.pairs()?, &new.pairs()?)?;
            }
            _ => {
                list.set(index, to_editor_node(new, in_brackets)?);
            }
        }
    }
    Some(())
}

fn insert_key(map: &Mapping, before: Option<&str>, key: &str, value: &OutputNode) -> Option<()> {
    let node = to_editor_node(value, map.is_flow_style())?;
    match before {
        Some(before) => map.insert_after(before, key, node).then_some(()),
        None => {
            map.set(key, node);
            Some(())
        }
    }
}

/// Converts a value to the editor's tree, by way of its text: canonical, or on one line in brackets
/// and braces.
fn to_editor_node(value: &OutputNode, in_brackets: bool) -> Option<YamlNode> {
    // Not every style of scalar can be a document of its own, but it can be a value.
    let text = if in_brackets {
        format!("value: {}\n", inline_yaml(value))
    } else {
        serialize_yaml(&OutputNode::Map(vec![("value", value.clone())]))
    };
    YamlFile::from_str(&text).ok()?.document()?.as_mapping()?.get("value")
}

fn find_value<'a>(pairs: &[(&str, &'a OutputNode)], key: &str) -> Option<&'a OutputNode> {
    pairs.iter().find(|(it, _)| *it == key).map(|(_, value)| *value)
}
