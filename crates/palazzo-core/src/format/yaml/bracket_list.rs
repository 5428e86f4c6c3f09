//! The items of a list in brackets as parts of its text.

use std::ops::Range;

use crate::format::yaml::file_lines::YamlLines;
use crate::format::yaml::item_matching::OldItem;
use crate::format::yaml::output_node::OutputNode;
use crate::format::yaml::parse::{Node, NodeValue};
use crate::format::yaml::write::inline_yaml;

/// Returns the text of a file in which a list in brackets without comments has the items `now`, each
/// old one as it is written; `None` if there are comments in it.
pub(super) fn arrange_bracket_list(
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
pub(super) fn add_last_comma(text: &str, file: &YamlLines<'_>, list: &Node) -> Option<String> {
    let end = bytes_of_items(file, list)?.last()?.end;
    let rest = &text[end..];
    (!rest.trim_start().starts_with(',')).then(|| format!("{},{rest}", &text[..end]))
}

/// Removes the comma after the last item of a list in brackets.
pub(super) fn remove_last_comma(text: &str, file: &YamlLines<'_>, list: &Node) -> Option<String> {
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
