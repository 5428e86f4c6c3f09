//! Plans the merge of two versions of a list: which items are the same thing, which stay, and in
//! which order.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;
use unicode_normalization::UnicodeNormalization as _;

use crate::merge::text::similarity;

/// One item of the merged list: its indexes in the base and in both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ListItem {
    pub(super) base: Option<usize>,
    pub(super) sides: [Option<usize>; 2],
}

/// Minimum similarity of two items at the same place that count as one item with another name.
const MIN_SIMILARITY: f64 = 0.8;
/// Maximum number of items at one place with which a new item is compared.
const MAX_COMPARED: usize = 16;

/// What identifies the items of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListKind {
    /// Actions of a room: the label.
    Actions,
    /// Observations: the text, without regard to white space.
    Observations,
    /// Relations: type, target and start.
    Relations,
    /// Steps of a process: the text.
    Steps,
    /// Any other list: the whole value.
    Set,
}

/// Returns the items of the merged list, in order. An item that one side has removed and the other has not changed is
/// left out. Where order is left open, the first side comes first. If both sides have sorted the
/// common items, in different orders, `settle_order` returns the side whose order stands.
pub(super) fn plan_list(
    kind: ListKind,
    base: &[Value],
    sides: [&[Value]; 2],
    settle_order: impl FnOnce() -> usize,
) -> Vec<ListItem> {
    let items = matched_items(kind, base, sides);
    let is_removed = |it: &ListItem| match (it.base, it.sides) {
        (Some(base_index), [Some(index), None]) => sides[0][index] == base[base_index],
        (Some(base_index), [None, Some(index)]) => sides[1][index] == base[base_index],
        (_, sides) => sides == [None, None],
    };
    let items: Vec<_> = items.into_iter().filter(|it| !is_removed(it)).collect();
    let is_sorted = [0, 1].map(|side| is_in_base_order(&items, side));
    let skeleton = match is_sorted {
        [true, false] => 1,
        [false, false] if !have_same_order(&items) => settle_order(),
        _ => 0,
    };
    order_items(items, skeleton)
}

/// Returns the items of all three lists, each once.
fn matched_items(kind: ListKind, base: &[Value], sides: [&[Value]; 2]) -> Vec<ListItem> {
    let found = sides.map(|it| match_items(kind, base, it));
    let no_item = ListItem { base: None, sides: [None, None] };
    let mut items: Vec<_> =
        (0..base.len()).map(|it| ListItem { base: Some(it), ..no_item }).collect();
    let mut new = [Vec::new(), Vec::new()];
    for side in [0, 1] {
        for (index, same) in found[side].iter().enumerate() {
            match same {
                Some(same) => items[*same].sides[side] = Some(index),
                None => new[side].push(index),
            }
        }
    }
    let values =
        [0, 1].map(|side| new[side].iter().map(|it| sides[side][*it].clone()).collect::<Vec<_>>());
    let same = match_keys(kind, &values[0], &values[1]);
    items.extend(new[0].iter().map(|it| ListItem { sides: [Some(*it), None], ..no_item }));
    for (same, index) in same.iter().zip(&new[1]) {
        match same {
            Some(same) => items[base.len() + *same].sides[1] = Some(*index),
            None => items.push(ListItem { sides: [None, Some(*index)], ..no_item }),
        }
    }
    items
}

/// Returns whether a side has the items that are in all three lists in the order of the base.
fn is_in_base_order(items: &[ListItem], side: usize) -> bool {
    let common = items.iter().filter(|it| it.base.is_some() && !it.sides.contains(&None));
    common.map(|it| it.sides[side]).is_sorted()
}

/// Returns whether both sides have their common items in the same order.
fn have_same_order(items: &[ListItem]) -> bool {
    let mut common: Vec<_> = items.iter().filter(|it| !it.sides.contains(&None)).collect();
    common.sort_by_key(|it| it.sides[0]);
    common.is_sorted_by_key(|it| it.sides[1])
}

/// Sorts items as the side `skeleton` has them; the other items come behind their predecessors.
fn order_items(items: Vec<ListItem>, skeleton: usize) -> Vec<ListItem> {
    let other = 1 - skeleton;
    let (mut own, mut rest): (Vec<_>, Vec<_>) =
        items.into_iter().partition(|it| it.sides[skeleton].is_some());
    own.sort_by_key(|it| it.sides[skeleton]);
    rest.sort_by_key(|it| it.sides[other]);
    // The index of each item of `own` in the other side, to find the predecessors.
    let mut followers: HashMap<Option<usize>, Vec<ListItem>> = HashMap::new();
    let mut in_other: Vec<_> = own.iter().filter_map(|it| it.sides[other]).collect();
    in_other.sort_unstable();
    for item in rest {
        let before = in_other.partition_point(|it| Some(*it) < item.sides[other]);
        followers.entry(before.checked_sub(1).map(|it| in_other[it])).or_default().push(item);
    }
    // New items of the skeleton precede those of the other side.
    let (mut ordered, mut waiting) = (Vec::new(), followers.remove(&None).unwrap_or_default());
    for item in own {
        let is_new = item.base.is_none() && item.sides[other].is_none();
        if !is_new {
            ordered.append(&mut waiting);
        }
        ordered.push(item);
        if let Some(index) = item.sides[other] {
            waiting.extend(followers.remove(&Some(index)).unwrap_or_default());
        }
    }
    ordered.append(&mut waiting);
    ordered
}

/// Returns the key that identifies an item, for people to read too.
pub(super) fn item_key(kind: ListKind, item: &Value) -> String {
    let field = |key: &str| scalar_text(item.get(key).unwrap_or(&Value::Null));
    match kind {
        ListKind::Actions if item.is_object() => field("label"),
        ListKind::Relations if item.is_object() => {
            [field("type"), field("to"), field("since")].join(" ").trim_end().to_owned()
        }
        ListKind::Steps if item.is_object() => fold_text(&field("step")),
        ListKind::Set if !item.is_string() => item.to_string(),
        _ => fold_text(&scalar_text(item)),
    }
}

/// Returns for each item of `side` the index of the same item in `base`. Items with one key are
/// matched in order; then items of the same place that are nearly alike.
pub(super) fn match_items(kind: ListKind, base: &[Value], side: &[Value]) -> Vec<Option<usize>> {
    let mut found = match_keys(kind, base, side);
    if kind != ListKind::Set {
        match_renamed_items(kind, base, side, &mut found);
    }
    found
}

/// Returns for each item of `side` the index of the item of `base` with the same key. Of several
/// items with one key, the first matches the first, and so on.
fn match_keys(kind: ListKind, base: &[Value], side: &[Value]) -> Vec<Option<usize>> {
    let mut by_key: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, item) in base.iter().enumerate().rev() {
        by_key.entry(item_key(kind, item)).or_default().push(index);
    }
    side.iter().map(|it| by_key.get_mut(&item_key(kind, it))?.pop()).collect()
}

/// Matches items whose key one side has changed: actions that are equal but for the label, and items
/// at the same place that are alike.
fn match_renamed_items(
    kind: ListKind,
    base: &[Value],
    side: &[Value],
    found: &mut [Option<usize>],
) {
    let mut is_matched = vec![false; base.len()];
    found.iter().flatten().for_each(|it| is_matched[*it] = true);
    let mut equal_rests: HashMap<String, Vec<usize>> = HashMap::new();
    // The unmatched items behind each matched one.
    let mut places: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
    let mut place = None;
    for (index, item) in base.iter().enumerate() {
        if is_matched[index] {
            place = Some(index);
            continue;
        }
        places.entry(place).or_default().push(index);
        if let Some(rest) = action_without_label(kind, item) {
            equal_rests.entry(rest).or_default().push(index);
        }
    }
    let mut place = None;
    for (item, found) in side.iter().zip(found) {
        if found.is_some() {
            place = *found;
            continue;
        }
        let here = places.entry(place).or_default();
        here.retain(|it| !is_matched[*it]);
        let rest = action_without_label(kind, item);
        let equal = rest.and_then(|it| equal_rests.get(&it)).into_iter().flatten();
        let near = here.iter().take(MAX_COMPARED).filter(|it| is_alike(kind, &base[**it], item));
        *found = equal.chain(near).copied().find(|it| !is_matched[*it]);
        if let Some(same) = *found {
            is_matched[same] = true;
        }
    }
}

/// Returns the fields of an action except its label, if it has others than its type.
pub(super) fn action_without_label(kind: ListKind, item: &Value) -> Option<String> {
    let fields = item.as_object().filter(|_| kind == ListKind::Actions)?;
    let rest: BTreeMap<_, _> = fields.iter().filter(|(key, _)| *key != "label").collect();
    let has_content = rest.keys().any(|it| *it != "type");
    has_content.then(|| serde_json::to_string(&rest).unwrap_or_default())
}

fn is_alike(kind: ListKind, a: &Value, b: &Value) -> bool {
    let text = |it: &Value| match it {
        Value::Object(map) => map.values().map(scalar_text).collect::<Vec<_>>().join(" "),
        _ => scalar_text(it),
    };
    let is_same_target = |key: &str| a.get(key).is_some() && a.get(key) == b.get(key);
    match kind {
        ListKind::Relations => is_same_target("type") && is_same_target("to"),
        _ => similarity(&text(a), &text(b)) >= MIN_SIMILARITY,
    }
}

/// Returns a scalar as text.
pub(super) fn scalar_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        _ => value.to_string(),
    }
}

/// Normalizes a text: composed characters (NFC), and one space for each run of white space.
fn fold_text(text: &str) -> String {
    text.nfc().collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Merges lists of words, given as one text each.
    fn merge(base: &str, a: &str, b: &str) -> (String, bool) {
        let list = |text: &str| text.split_whitespace().map(Value::from).collect::<Vec<_>>();
        let (a, b) = (list(a), list(b));
        let mut has_order_conflict = false;
        let plan = plan_list(ListKind::Set, &list(base), [&a, &b], || {
            has_order_conflict = true;
            0
        });
        let word = |it: &ListItem| match it.sides {
            [Some(index), _] => a[index].as_str().unwrap().to_owned(),
            [_, index] => b[index.unwrap()].as_str().unwrap().to_owned(),
        };
        let words: Vec<_> = plan.iter().map(word).collect();
        (words.join(" "), has_order_conflict)
    }

    #[test]
    fn both_sides_add_and_remove_items() {
        assert_eq!(merge("1 2 3", "1 2 3 a", "1 2 3 b").0, "1 2 3 a b");
        assert_eq!(merge("1 2 3", "1 2", "1 2 3 b").0, "1 2 b");
        assert_eq!(merge("1 2 3", "2 3", "b 1 2 3").0, "b 2 3");
        assert_eq!(merge("1 2 3", "1 a 2 3", "1 b 2 3").0, "1 a b 2 3");
        assert_eq!(merge("", "a b", "b c").0, "a b c");
        assert_eq!(merge("1 2", "", "1 2 b").0, "b");
    }

    #[test]
    fn the_order_is_that_of_the_side_that_changed_it() {
        assert_eq!(merge("1 2 3", "3 1 2", "1 2 3 b"), ("3 b 1 2".to_owned(), false));
        assert_eq!(merge("1 2 3", "1 2 3 b", "3 1 2"), ("3 b 1 2".to_owned(), false));
        assert_eq!(merge("1 2 3", "3 2 1", "3 2 1"), ("3 2 1".to_owned(), false));
        assert_eq!(merge("1 2 3", "3 1 2", "2 3 1"), ("3 1 2".to_owned(), true));
    }

    #[test]
    fn an_item_that_occurs_twice_stays_twice() {
        assert_eq!(merge("1 1 2", "1 1 2 a", "1 1 2").0, "1 1 2 a");
        assert_eq!(merge("1 1 2", "1 2", "1 1 2 b").0, "1 2 b");
    }
}
