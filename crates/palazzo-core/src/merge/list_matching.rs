//! Finds the items of two lists that are the same thing.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;
use unicode_normalization::UnicodeNormalization as _;

use crate::merge::text::similarity;

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
pub(super) fn match_keys(kind: ListKind, base: &[Value], side: &[Value]) -> Vec<Option<usize>> {
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
