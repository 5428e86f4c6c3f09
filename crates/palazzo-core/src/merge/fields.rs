//! Merges two versions of a mapping, field by field.

use std::cmp::Ordering;
use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::merge::LastChange;
use crate::merge::list::{ListItem, ListKind, item_key, plan_list, scalar_text};
use crate::merge::rules::{Rule, Scope};
use crate::merge::text::merge_prose;
use crate::model::FileKind;

/// The fields of a file, in order.
pub type Fields = Map<String, Value>;

/// Maximum number of characters of an item in the name of a field.
const MAX_ITEM_CHARS: usize = 80;

/// Returns the last changes of both sides to a field, by its name in a conflict. Of two values, that
/// of the greater side stands; of equal sides, the greater value.
pub type LastChanges<'a> = dyn Fn(&str) -> [LastChange; 2] + 'a;

/// The merged fields of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MergedFields {
    /// The fields.
    pub fields: Fields,
    /// The values that do not stand.
    pub conflicts: Vec<FieldConflict>,
}

/// A field for which both sides have different values.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldConflict {
    /// The field: `status`, `actions["Listen to the clock"].content`; empty for the whole file.
    pub field: String,
    /// The value that stands; `None` if the field is deleted.
    pub stands: Option<Value>,
    /// The other value; `None` if the other side has deleted the field.
    pub other: Option<Value>,
    /// The last change of the field on the side of the value that stands.
    pub stands_by: LastChange,
    /// The last change of the field on the other side.
    pub other_by: LastChange,
}

impl FieldConflict {
    /// Makes a conflict from the values and the last changes of both sides.
    pub fn new(
        field: impl Into<String>,
        values: [Option<Value>; 2],
        changes: [LastChange; 2],
        standing_side: usize,
    ) -> Self {
        let ([a, b], [by_a, by_b]) = (values, changes);
        let is_first = standing_side == 0;
        let (stands, other) = if is_first { (a, b) } else { (b, a) };
        let (stands_by, other_by) = if is_first { (by_a, by_b) } else { (by_b, by_a) };
        Self { field: field.into(), stands, other, stands_by, other_by }
    }
}

/// A field in all three versions; `None` where it is missing.
#[derive(Clone, Copy)]
struct FieldVersions<'a> {
    base: Option<&'a Value>,
    sides: [Option<&'a Value>; 2],
}

/// A merge in progress.
struct Merge<'a> {
    last_changes: &'a LastChanges<'a>,
    conflicts: Vec<FieldConflict>,
}

/// Merges the fields of a file. Where the order is left open, the first side precedes.
/// `last_changes` is asked only about fields in conflict, by their names in the base.
pub fn merge_fields(
    kind: FileKind,
    base: &Fields,
    sides: [&Fields; 2],
    last_changes: &LastChanges<'_>,
) -> MergedFields {
    let mut merge = Merge { last_changes, conflicts: Vec::new() };
    let fields = merge.merge_map(Scope::File(kind), "", base, sides);
    MergedFields { fields, conflicts: merge.conflicts }
}

/// Returns the name of an item of the list `list`, for conflicts: `actions["Listen"]`.
pub fn field_of_item(list: &str, kind: ListKind, item: &Value) -> String {
    let key = item_key(kind, item);
    let short: String = key.chars().take(MAX_ITEM_CHARS).collect();
    let more = if short.len() < key.len() { "…" } else { "" };
    format!("{list}[{}]", Value::from(short + more))
}

impl Merge<'_> {
    fn merge_map(&mut self, scope: Scope, at: &str, base: &Fields, sides: [&Fields; 2]) -> Fields {
        let mut merged = Fields::new();
        for key in merge_keys(sides) {
            let field = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
            let versions =
                FieldVersions { base: base.get(&key), sides: sides.map(|it| it.get(&key)) };
            let value = self.merge_field(scope.rule(&key), &field, versions);
            merged.extend(value.map(|it| (key, it)));
        }
        merged
    }

    fn merge_field(&mut self, rule: Rule, at: &str, versions: FieldVersions<'_>) -> Option<Value> {
        let FieldVersions { base, sides: [a, b] } = versions;
        if a == b || b == base {
            return a.cloned();
        }
        if a == base {
            return b.cloned();
        }
        if let Some(side) = unchanged_prose_side(rule, versions) {
            return versions.sides[1 - side].cloned();
        }
        // A side without the key has removed all items of the list.
        let is_list = base.is_some_and(Value::is_array);
        let empty = Value::Array(Vec::new());
        let [a, b] = [a, b].map(|it| it.or(is_list.then_some(&empty)));
        let (Some(a), Some(b)) = (a, b) else { return self.settle(at, [a, b]) };
        let merged = match (rule, a, b) {
            (Rule::ByType, Value::Object(a), Value::Object(b)) => {
                let (none, base) = (Fields::new(), base.and_then(Value::as_object));
                Some(self.merge_map(Scope::Other, at, base.unwrap_or(&none), [a, b]).into())
            }
            (Rule::ByType, Value::Array(a), Value::Array(b)) => {
                Some(self.merge_list(ListKind::Set, at, base, [a, b]).into())
            }
            (Rule::List(kind), Value::Array(a), Value::Array(b)) => {
                Some(self.merge_list(kind, at, base, [a, b]).into())
            }
            (Rule::ByType, Value::String(a), Value::String(b))
                if a.contains('\n') || b.contains('\n') =>
            {
                merge_text_values(base, [a, b])
            }
            (Rule::Prose, Value::String(a), Value::String(b)) => merge_text_values(base, [a, b]),
            (Rule::Note, Value::String(a), Value::String(b)) => Some(join_notes(base, [a, b])),
            (rule, a, b) => preferred_value(rule, [a, b]),
        };
        let merged = merged.or_else(|| self.settle(at, [Some(a), Some(b)]));
        merged.filter(|it| *it != empty || versions.sides.contains(&Some(&empty)))
    }

    /// Lets one of two values stand, and reports the other. A value precedes its deletion.
    fn settle(&mut self, at: &str, values: [Option<&Value>; 2]) -> Option<Value> {
        let changes = (self.last_changes)(at);
        let text = |it: Option<&Value>| it.map(Value::to_string);
        let standing_side = match values {
            [Some(_), None] => 0,
            [None, _] => 1,
            _ => {
                let by_change = changes[0].precedence(&changes[1]);
                let order = by_change.then_with(|| text(values[0]).cmp(&text(values[1])));
                usize::from(order == Ordering::Less)
            }
        };
        let values = values.map(Option::<&Value>::cloned);
        let conflict = FieldConflict::new(at, values, changes, standing_side);
        let stands = conflict.stands.clone();
        self.conflicts.push(conflict);
        stands
    }

    fn merge_list(
        &mut self,
        kind: ListKind,
        at: &str,
        base: Option<&Value>,
        sides: [&Vec<Value>; 2],
    ) -> Vec<Value> {
        let base = base.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let field = format!("{at} (order)");
        let mut conflict = None;
        let plan = plan_list(kind, base, sides.map(Vec::as_slice), || {
            let changes = (self.last_changes)(&field);
            let standing_side = changes[0].preceding_side(&changes[1]);
            let order = |side: &Vec<Value>| side.iter().map(|it| item_key(kind, it)).collect();
            let orders = sides.map(|it| Some(order(it)));
            conflict = Some(FieldConflict::new(field.as_str(), orders, changes, standing_side));
            standing_side
        });
        self.conflicts.extend(conflict);
        let mut merged = Vec::new();
        for ListItem { base: base_index, sides: indexes } in plan {
            let versions = FieldVersions {
                base: base_index.map(|it| &base[it]),
                sides: [0, 1].map(|side| indexes[side].map(|it| &sides[side][it])),
            };
            merged.extend(self.merge_item(kind, at, versions));
        }
        self.join_items_with_one_key(kind, at, merged, sides)
    }

    /// Merges an item. Its conflicts name it as it is called after the merge, so that the fields are
    /// found in the merged file.
    fn merge_item(&mut self, kind: ListKind, list: &str, item: FieldVersions<'_>) -> Option<Value> {
        let named = item.base.or(item.sides[0]).or(item.sides[1])?;
        let (at, start) = (field_of_item(list, kind, named), self.conflicts.len());
        let merged = self.merge_named_item(kind, &at, item)?;
        let new_name = field_of_item(list, kind, &merged);
        for conflict in &mut self.conflicts[start..] {
            if let Some(rest) = conflict.field.strip_prefix(&at) {
                conflict.field = format!("{new_name}{rest}");
            }
        }
        Some(merged)
    }

    fn merge_named_item(
        &mut self,
        kind: ListKind,
        at: &str,
        item: FieldVersions<'_>,
    ) -> Option<Value> {
        let expand = |it: Option<&Value>| it.map(|it| expand_step(kind, it));
        let (base, [a, b]) = (expand(item.base), item.sides.map(expand));
        let is_one_value =
            |a: &Value, b: &Value| kind == ListKind::Actions && a.get("type") != b.get("type");
        let merged = match (&a, &b) {
            (Some(Value::Object(a_map)), Some(Value::Object(b_map))) if a != b => {
                let is_changed = a != base && b != base;
                if is_changed && is_one_value(&a_map.clone().into(), &b_map.clone().into()) {
                    return self.settle(at, [a.as_ref(), b.as_ref()]);
                }
                let (none, base) = (Fields::new(), base.as_ref().and_then(Value::as_object));
                let base = base.unwrap_or(&none);
                Some(self.merge_map(Scope::Item(kind), at, base, [a_map, b_map]).into())
            }
            _ => {
                let sides = [a.as_ref(), b.as_ref()];
                let is_new = base.is_none() && sides.contains(&None);
                let versions = FieldVersions { base: base.as_ref(), sides };
                match is_new {
                    true => a.or(b),
                    false => self.merge_field(Rule::Prose, at, versions),
                }
            }
        };
        merged.map(|it| collapse_step(kind, it))
    }

    /// Merges items that have got one key only by the merge: one side has renamed an item, and the
    /// other has added one of that name.
    fn join_items_with_one_key(
        &mut self,
        kind: ListKind,
        at: &str,
        items: Vec<Value>,
        sides: [&Vec<Value>; 2],
    ) -> Vec<Value> {
        let counts = |items: &[Value]| {
            let mut counts: HashMap<String, usize> = HashMap::new();
            for item in items {
                *counts.entry(item_key(kind, item)).or_default() += 1;
            }
            counts
        };
        let allowed = sides.map(|it| counts(it));
        let (mut joined, mut places) = (Vec::<Value>::new(), HashMap::<String, Vec<usize>>::new());
        for item in items {
            let key = item_key(kind, &item);
            let allowed = allowed.iter().filter_map(|it| it.get(&key)).max().copied();
            let places = places.entry(key).or_default();
            match places.last() {
                Some(place) if places.len() >= allowed.unwrap_or(1) => {
                    let both = [Some(&joined[*place]), Some(&item)];
                    let versions = FieldVersions { base: None, sides: both };
                    joined[*place] = self.merge_item(kind, at, versions).unwrap_or(item);
                }
                _ => {
                    places.push(joined.len());
                    joined.push(item);
                }
            }
        }
        joined
    }
}

/// Returns the keys of both sides: in the order of the first, and those that only the second has
/// behind their predecessors.
fn merge_keys(sides: [&Fields; 2]) -> Vec<String> {
    let mut followers: HashMap<Option<&String>, Vec<&String>> = HashMap::new();
    let mut before = None;
    for key in sides[1].keys() {
        match sides[0].contains_key(key) {
            true => before = Some(key),
            false => followers.entry(before).or_default().push(key),
        }
    }
    let places = std::iter::once(None).chain(sides[0].keys().map(Some));
    let with_followers = places
        .flat_map(|key| key.into_iter().chain(followers.get(&key).into_iter().flatten().copied()));
    with_followers.cloned().collect()
}

fn merge_text_values(base: Option<&Value>, sides: [&String; 2]) -> Option<Value> {
    let base = base.map(scalar_text).unwrap_or_default();
    merge_prose(&base, sides.map(String::as_str)).map(Value::from)
}

/// Returns the side whose prose differs from the base, or else from the other side, only by white
/// space at the end, which has no meaning.
fn unchanged_prose_side(rule: Rule, versions: FieldVersions<'_>) -> Option<usize> {
    let prose = |it: Option<&Value>| it.and_then(Value::as_str).map(|it| it.trim_end().to_owned());
    let [a, b] = versions.sides.map(prose);
    let base = prose(versions.base);
    let is_prose = matches!(rule, Rule::Prose | Rule::Note) && a.is_some() && b.is_some();
    match is_prose {
        true if b == base || a == b => Some(1),
        true if a == base => Some(0),
        _ => None,
    }
}

/// Merges two notes, or joins them one below the other, that of the second side first.
fn join_notes(base: Option<&Value>, sides: [&String; 2]) -> Value {
    let base_text = base.map(scalar_text).unwrap_or_default();
    if let Some(merged) = merge_text_values(base, sides).filter(|_| !base_text.is_empty()) {
        return merged;
    }
    let [first, second] = sides;
    if first.contains(second.trim_end()) || second.contains(first.trim_end()) {
        return if first.len() < second.len() { second } else { first }.as_str().into();
    }
    let base_text = base_text.trim_end();
    let added = first.strip_prefix(base_text).filter(|_| second.starts_with(base_text));
    let added = added.map_or(first.as_str(), |it| it.trim_start_matches(['\n', ' ']));
    format!("{}\n{added}", second.trim_end()).into()
}

/// Returns the value that stands without a conflict, if the rule of the field prefers one.
fn preferred_value(rule: Rule, [a, b]: [&Value; 2]) -> Option<Value> {
    let is_done = |it: &Value| it == "done";
    let preferred = match rule {
        Rule::DoneStatus if is_done(a) => a,
        Rule::DoneStatus if is_done(b) => b,
        Rule::GreaterNumber if a.is_number() && b.is_number() => {
            if a.as_f64() < b.as_f64() {
                b
            } else {
                a
            }
        }
        Rule::OlderId | Rule::EarlierTime if a.is_string() && b.is_string() => {
            if a.as_str() <= b.as_str() { a } else { b }
        }
        _ => return None,
    };
    Some(preferred.clone())
}

/// Returns a step as a mapping; it may be written as its text alone.
fn expand_step(kind: ListKind, item: &Value) -> Value {
    match item {
        _ if kind != ListKind::Steps || item.is_object() => item.clone(),
        text => Fields::from_iter([("step".to_owned(), text.clone())]).into(),
    }
}

/// Returns a step that has only a text as that text.
fn collapse_step(kind: ListKind, item: Value) -> Value {
    match item {
        Value::Object(mut map) if kind == ListKind::Steps && map.len() == 1 => {
            map.remove("step").unwrap_or(Value::Object(map))
        }
        item => item,
    }
}

impl LastChange {
    /// Compares two sides: a hand edit precedes the change of a tool, and a later change an earlier
    /// one. The greater side stands in a conflict; between equal sides, the greater value does.
    pub fn precedence(&self, other: &Self) -> Ordering {
        (self.is_by_hand, self.at).cmp(&(other.is_by_hand, other.at))
    }

    /// Returns which of two sides stands: 0 for this one and for equal sides, 1 for the other.
    pub fn preceding_side(&self, other: &Self) -> usize {
        usize::from(self.precedence(other) == Ordering::Less)
    }

    /// Returns a change at a time in seconds, for tests.
    #[cfg(test)]
    fn at_second(seconds: i64) -> Self {
        let at = chrono::DateTime::from_timestamp(seconds, 0).unwrap_or_default();
        Self { author: String::new(), at, is_by_hand: false, commit: String::new() }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Merges fields; the first side precedes.
    fn merge(kind: FileKind, [base, a, b]: [Value; 3]) -> (Value, Vec<String>) {
        let [base, a, b] = [base, a, b].map(|it| it.as_object().unwrap().clone());
        let changes = |_: &str| [LastChange::at_second(1), LastChange::at_second(0)];
        let merged = merge_fields(kind, &base, [&a, &b], &changes);
        let fields = merged.conflicts.into_iter().map(|it| it.field).collect();
        (merged.fields.into(), fields)
    }

    #[test]
    fn a_change_precedes_a_deletion() {
        let base = json!({ "status": "open", "attributes": { "a": 1, "b": 2 } });
        let a = json!({ "attributes": { "b": 2 } });
        let b = json!({ "status": "new", "attributes": { "a": 1, "b": 2 } });
        let (merged, conflicts) = merge(FileKind::Entity, [base, a, b]);
        assert_eq!(merged, json!({ "attributes": { "b": 2 }, "status": "new" }));
        assert_eq!(conflicts, ["status"]);
    }

    #[test]
    fn of_equal_sides_the_greater_value_stands() {
        let fields = |status: &str| Fields::from_iter([("status".to_owned(), json!(status))]);
        let (a, b) = (fields("a"), fields("b"));
        let changes = |_: &str| [LastChange::at_second(0), LastChange::at_second(0)];
        let merged = merge_fields(FileKind::Entity, &Fields::new(), [&a, &b], &changes);
        assert_eq!(merged.fields, b);
        assert_eq!(merged.conflicts[0].stands, Some(json!("b")));
    }

    #[test]
    fn the_later_change_of_each_field_stands() {
        let fields = |text: &str| {
            let list = text.split(' ').skip(1).collect::<Vec<_>>();
            let fields = json!({ "status": text, "aliases": list });
            fields.as_object().unwrap().clone()
        };
        let (base, a, b) = (fields("a 1 2 3"), fields("z 3 1 2"), fields("y 2 3 1"));
        let later = |name: &str, field: &str| i64::from(name == field);
        for name in ["status", "aliases (order)"] {
            let changes = |at: &str| {
                [LastChange::at_second(0), LastChange::at_second(2 * later(name, at) - 1)]
            };
            let merged = merge_fields(FileKind::Entity, &base, [&a, &b], &changes);
            let expected = if name == "status" { ("y 2 3 1", "3") } else { ("z 3 1 2", "2") };
            assert_eq!(merged.fields["status"], expected.0);
            assert_eq!(merged.fields["aliases"][0], expected.1);
            assert_eq!(merged.conflicts.len(), 2);
            let last = merged.conflicts.iter().find(|it| it.field == name).unwrap();
            assert_eq!(last.stands_by, LastChange::at_second(1));
        }
    }

    #[test]
    fn a_renamed_action_is_merged_with_its_changed_content() {
        let action = |label: &str, content: &str| json!({ "actions": [{ "label": label, "type": "text", "content": content }] });
        let (merged, conflicts) = merge(
            FileKind::Room,
            [action("Look", "Dust."), action("Look round", "Dust."), action("Look", "Rain.")],
        );
        assert_eq!(merged, action("Look round", "Rain."));
        assert_eq!(conflicts, [""; 0]);
    }

    #[test]
    fn a_renamed_action_and_a_new_one_of_that_name_are_one() {
        let action = |label: &str| json!({ "label": label, "type": "text", "content": "Dust." });
        let base = json!({ "actions": [action("Look")] });
        let a = json!({ "actions": [action("Search")] });
        let b = json!({ "actions": [action("Look"), action("Search")] });
        let (merged, _) = merge(FileKind::Room, [base, a.clone(), b]);
        assert_eq!(merged, a);
    }

    #[test]
    fn an_action_whose_type_changes_is_one_value() {
        let action = |rest: Value| {
            let mut action = json!({ "label": "Look" });
            action.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
            json!({ "actions": [action] })
        };
        let base = action(json!({ "type": "text", "content": "Dust." }));
        let a = action(json!({ "type": "navigate", "room": "attic" }));
        let b = action(json!({ "type": "text", "content": "Rain." }));
        let (merged, conflicts) = merge(FileKind::Room, [base, a.clone(), b]);
        assert_eq!(merged, a);
        assert_eq!(conflicts, ["actions[\"Look\"]"]);
    }

    #[test]
    fn a_conflict_names_an_item_as_it_is_called_after_the_merge() {
        let observed = |number: &str| {
            let text = format!("There are {number} stones in the old hall today.");
            json!({ "observations": [text] })
        };
        let versions = ["ten", "two", "six"].map(observed);
        let (merged, conflicts) = merge(FileKind::Entity, versions);
        assert_eq!(merged, observed("two"));
        let name = "observations[\"There are two stones in the old hall today.\"]";
        assert_eq!(conflicts, [name]);
    }

    #[test]
    fn the_further_step_and_all_notes_of_a_process_stand() {
        let process = |step: u8, items: Value| json!({ "step": step, "steps": items });
        let base = process(1, json!(["Pack", { "step": "Carry", "note": "Slowly." }]));
        let a = process(3, json!(["Pack", { "step": "Carry", "note": "Slowly.\nTwice." }]));
        let b = process(
            2,
            json!([{ "step": "Pack", "note": "Boxes." }, { "step": "Carry", "note": "Slowly.\nOnce." }]),
        );
        let (merged, conflicts) = merge(FileKind::Process, [base, a, b]);
        let carry = json!({ "step": "Carry", "note": "Slowly.\nOnce.\nTwice." });
        let items = json!([{ "step": "Pack", "note": "Boxes." }, carry]);
        assert_eq!(merged, process(3, items));
        assert_eq!(conflicts, [""; 0]);
    }

    #[test]
    fn a_task_that_one_side_has_done_is_done() {
        let base = json!({ "status": "open" });
        let a = json!({ "status": "open", "note": "Later." });
        let b = json!({ "status": "done", "done": "2026-03-01T12:00:00Z", "note": "Now." });
        let (merged, conflicts) = merge(FileKind::Task, [base, a, b]);
        let done =
            json!({ "status": "done", "done": "2026-03-01T12:00:00Z", "note": "Now.\nLater." });
        assert_eq!(merged, done);
        assert_eq!(conflicts, [""; 0]);
    }

    #[test]
    fn an_observation_that_both_reword_is_merged_by_words() {
        let observed = |text: &str| json!({ "observations": [text] });
        let base = observed("The old red clock in the hall ticks all day.");
        let a = observed("The new red clock in the hall ticks all day.");
        let b = observed("The old red clock in the hall strikes all day.");
        let (merged, conflicts) = merge(FileKind::Entity, [base, a, b]);
        assert_eq!(merged, observed("The new red clock in the hall strikes all day."));
        assert_eq!(conflicts, [""; 0]);
    }
}
