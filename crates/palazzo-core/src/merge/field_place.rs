//! Finds, reads and changes a field by its name in a conflict: `actions["Listen"].content`; also if
//! its item was renamed since.

use serde_json::Value;

use crate::merge::fields::{Fields, field_of_item};
use crate::merge::list::{ListKind, action_without_label, item_key, match_items};
use crate::merge::rules::{Rule, Scope};
use crate::model::{FileKind, PathStep, ValuePath};

/// The end of the name of a conflict about the order of a list: `actions (order)`.
const ORDER_SUFFIX: &str = " (order)";

/// A field of a file, found by its name in a conflict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldPlace {
    /// The path to the value; to the first free place if the value is missing.
    path: Vec<PathStep>,
    /// If the field is the order of a list, the kind of the list.
    order: Option<ListKind>,
}

/// Where the field of a conflict is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LocatedField {
    /// Where its name says; the value may be missing there.
    Named(FieldPlace),
    /// In an item that is called otherwise now, with the value that stands.
    Renamed(FieldPlace),
    /// Nowhere: its item was removed, or renamed and changed.
    ItemGone,
    /// Nowhere: the list or the mapping around it is missing.
    Missing,
}

impl LocatedField {
    /// Returns the place.
    pub fn place(&self) -> Option<&FieldPlace> {
        match self {
            Self::Named(place) | Self::Renamed(place) => Some(place),
            Self::ItemGone | Self::Missing => None,
        }
    }
}

/// The name of a field in an item of a list at the top level of a file.
struct ItemField<'a> {
    kind: ListKind,
    list: &'a str,
    /// The name of the item: `actions["Listen"]`.
    item: &'a str,
    /// The name of the field in the item; `None` for the whole item.
    rest: Option<&'a str>,
}

impl<'a> ItemField<'a> {
    fn parse(kind: FileKind, name: &'a str) -> Option<Self> {
        let (list, after) = name.split_once('[')?;
        let Rule::List(kind) = Scope::File(kind).rule(list) else { return None };
        let mut texts = serde_json::Deserializer::from_str(after).into_iter::<String>();
        texts.next()?.ok()?;
        let end = list.len() + 1 + texts.byte_offset();
        let rest = name[end..].strip_prefix(']')?;
        let rest = if rest.is_empty() { None } else { Some(rest.strip_prefix('.')?) };
        Some(Self { kind, list, item: &name[..=end], rest })
    }

    /// Returns whether the field is a part of the item's name: to change it renames the item.
    fn is_key(&self) -> bool {
        let keys: &[&str] = match self.kind {
            ListKind::Actions => &["label"],
            ListKind::Relations => &["type", "to", "since"],
            ListKind::Steps => &["step"],
            ListKind::Observations | ListKind::Set => &[],
        };
        self.rest.is_some_and(|it| keys.contains(&it))
    }

    fn items<'f>(&self, fields: &'f Fields) -> &'f [Value] {
        fields.get(self.list).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    fn has_item(&self, fields: &Fields) -> bool {
        let mut items = self.items(fields).iter();
        items.any(|it| field_of_item(self.list, self.kind, it) == self.item)
    }

    /// Returns the place in the only item that has the value that stands.
    fn find_renamed(&self, fields: &Fields, stands: Option<&Value>) -> Option<FieldPlace> {
        let stands = stands?;
        let in_item = |item: &Value| match self.rest {
            Some(rest) => {
                let fields = item.as_object()?;
                let place = find_in_map(Scope::Item(self.kind), fields, rest)?;
                place.has_value(fields, Some(stands)).then_some(place)
            }
            None => {
                let other = action_without_label(self.kind, item)?;
                let is_same = action_without_label(self.kind, stands)? == other;
                is_same.then(FieldPlace::root)
            }
        };
        let items = self.items(fields).iter().enumerate();
        let mut found = items.filter_map(|(index, item)| Some((index, in_item(item)?)));
        let (index, place) = found.next()?;
        let list = PathStep::Value(self.list.to_owned());
        found.next().is_none().then(|| place.below(PathStep::Item(index)).below(list))
    }
}

/// Returns where a field is; `None` if the list or the mapping around it is missing. `name` is as
/// [`field_of_item`] and [`merge_fields`](crate::merge::merge_fields) write it.
pub fn find_field(kind: FileKind, fields: &Fields, name: &str) -> Option<FieldPlace> {
    find_in_map(Scope::File(kind), fields, name)
}

impl FieldPlace {
    /// Returns the path to the value, for its position in the text.
    pub fn value_path(&self) -> ValuePath {
        self.path.iter().fold(ValuePath::ROOT, |path, step| match step {
            PathStep::Item(index) => path.then_item(*index),
            PathStep::Value(key) | PathStep::Key(key) | PathStep::Text(key) => path.then_value(key),
        })
    }

    /// Returns where the same field is in another version of the file: its item may be renamed or
    /// moved there. `None` if the item is missing. `from` is the version of this place.
    pub fn in_version(&self, kind: FileKind, from: &Fields, to: &Fields) -> Option<Self> {
        let [PathStep::Value(list), PathStep::Item(index), ..] = self.path.as_slice() else {
            return Some(self.clone());
        };
        let list_kind = Scope::File(kind).list_kind(list);
        let items = |fields: &Fields| fields.get(list).and_then(Value::as_array).cloned();
        let found = match_items(list_kind, &items(from)?, &items(to)?);
        let found = found.iter().position(|it| *it == Some(*index))?;
        let mut place = self.clone();
        place.path[1] = PathStep::Item(found);
        Some(place)
    }

    /// Returns the value that the field has now; of the order of a list, the keys of its items.
    pub fn value(&self, fields: &Fields) -> Option<Value> {
        let mut value: Value = fields.clone().into();
        for step in &self.path {
            value = child(&value, step)?;
        }
        match (self.order, &value) {
            (Some(kind), Value::Array(items)) => {
                Some(items.iter().map(|it| item_key(kind, it)).collect())
            }
            (Some(_), _) => None,
            (None, _) => Some(value),
        }
    }

    /// Returns whether the field has a value. An order is compared by the items that both lists have:
    /// the merged list also has those of the other side.
    pub fn has_value(&self, fields: &Fields, expected: Option<&Value>) -> bool {
        let now = self.value(fields);
        match (self.order, &now, expected) {
            (Some(_), Some(Value::Array(now)), Some(Value::Array(expected))) => {
                let [a, b] = [(now, expected), (expected, now)].map(|(items, others)| {
                    items.iter().filter(|it| others.contains(it)).collect::<Vec<_>>()
                });
                a == b
            }
            _ => is_same_value(now.as_ref(), expected),
        }
    }

    /// Changes the field; `None` deletes it. Returns the fields with the new value, `None` if the
    /// value does not fit.
    #[must_use]
    pub fn with_value(&self, fields: &Fields, new: Option<&Value>) -> Option<Fields> {
        let root: Value = fields.clone().into();
        let changed = match self.order {
            None => with_child(&root, &self.path, new),
            Some(kind) => {
                let list = self.path.iter().try_fold(root.clone(), |it, step| child(&it, step))?;
                let sorted = sort_items(kind, list.as_array()?, new?.as_array()?);
                with_child(&root, &self.path, Some(&sorted.into()))
            }
        };
        match changed? {
            Value::Object(fields) => Some(fields),
            _ => None,
        }
    }
}

/// Returns whether two values are the same: line breaks at the end of a text have no meaning.
pub fn is_same_value(a: Option<&Value>, b: Option<&Value>) -> bool {
    let text = |it: &str| it.replace("\r\n", "\n").trim_end().to_owned();
    match (a, b) {
        (Some(Value::String(a)), Some(Value::String(b))) => text(a) == text(b),
        (Some(Value::Array(a)), Some(Value::Array(b))) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same_value(Some(a), Some(b)))
        }
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            a.len() == b.len() && a.iter().all(|(key, it)| is_same_value(Some(it), b.get(key)))
        }
        // A step without a note may be written as its text alone.
        (Some(Value::Object(map)), Some(Value::String(_))) if map.len() == 1 => {
            map.contains_key("step") && is_same_value(map.get("step"), b)
        }
        (Some(Value::String(_)), Some(Value::Object(_))) => is_same_value(b, a),
        (a, b) => a == b,
    }
}

fn find_in_map(scope: Scope, fields: &Fields, name: &str) -> Option<FieldPlace> {
    for (key, value) in fields {
        let Some(rest) = name.strip_prefix(key.as_str()) else { continue };
        let list_kind = scope.list_kind(key);
        let found = match (rest, value) {
            ("", _) => Some(FieldPlace { path: Vec::new(), order: None }),
            (ORDER_SUFFIX, Value::Array(_)) => {
                Some(FieldPlace { path: Vec::new(), order: Some(list_kind) })
            }
            (rest, Value::Array(items)) if rest.starts_with('[') => {
                find_in_list(list_kind, key, items, name)
            }
            (rest, Value::Object(map)) => {
                rest.strip_prefix('.').and_then(|rest| find_in_map(Scope::Other, map, rest))
            }
            _ => None,
        };
        if let Some(found) = found {
            return Some(found.below(PathStep::Value(key.clone())));
        }
    }
    missing_place(name)
}

fn find_in_list(kind: ListKind, list: &str, items: &[Value], name: &str) -> Option<FieldPlace> {
    for (index, item) in items.iter().enumerate() {
        let Some(rest) = name.strip_prefix(&field_of_item(list, kind, item)) else { continue };
        let found = match (rest.strip_prefix('.'), item) {
            (None, _) if rest.is_empty() => Some(FieldPlace { path: Vec::new(), order: None }),
            (Some(rest), Value::Object(map)) => find_in_map(Scope::Item(kind), map, rest),
            (Some(rest), _) if kind == ListKind::Steps => missing_place(rest),
            _ => None,
        };
        if let Some(found) = found {
            return Some(found.below(PathStep::Item(index)));
        }
    }
    // A missing item is added behind the others; a field of one has no place.
    let end = PathStep::Item(items.len());
    name.ends_with("\"]").then(|| FieldPlace { path: vec![end], order: None })
}

/// Returns the place of a missing field: a new key, or the first item of a missing list.
fn missing_place(name: &str) -> Option<FieldPlace> {
    let (key, item) = match name.split_once('[') {
        Some((list, item)) => (list, Some(item)),
        None => (name, None),
    };
    let is_key = !key.is_empty() && !key.contains('.') && !key.ends_with(ORDER_SUFFIX);
    let is_item = item.is_none_or(|it| it.ends_with("\"]"));
    let mut path = vec![PathStep::Value(key.to_owned())];
    path.extend(item.map(|_| PathStep::Item(0)));
    (is_key && is_item).then_some(FieldPlace { path, order: None })
}

impl FieldPlace {
    /// Returns the place of the whole value.
    pub(super) fn root() -> Self {
        Self { path: Vec::new(), order: None }
    }

    pub(super) fn below(mut self, step: PathStep) -> Self {
        self.path.insert(0, step);
        self
    }
}

/// Returns the value at one step. A step of a process may be written as its text alone.
fn child(value: &Value, step: &PathStep) -> Option<Value> {
    match (step, value) {
        (PathStep::Item(index), Value::Array(items)) => items.get(*index).cloned(),
        (PathStep::Value(key), Value::Object(map)) => map.get(key).cloned(),
        (PathStep::Value(key), Value::String(_)) if key == "step" => Some(value.clone()),
        _ => None,
    }
}

/// Returns `value` with another value at `path`. A list that becomes empty is removed.
fn with_child(value: &Value, path: &[PathStep], new: Option<&Value>) -> Option<Value> {
    let Some((step, rest)) = path.split_first() else { return new.cloned() };
    let changed = |old: Option<&Value>, is_list: bool| {
        let empty: Value = if is_list { Vec::<Value>::new().into() } else { Fields::new().into() };
        match rest {
            [] => new.cloned(),
            _ => with_child(old.unwrap_or(&empty), rest, new).filter(|it| *it != empty),
        }
    };
    let is_list = matches!(rest.first(), Some(PathStep::Item(_)));
    match (step, value.clone()) {
        (PathStep::Item(index), Value::Array(mut items)) => {
            let item = changed(items.get(*index), is_list);
            items.splice((*index).min(items.len())..(index + 1).min(items.len()), item);
            Some(items.into())
        }
        (PathStep::Value(key), Value::Object(mut map)) => {
            match changed(map.get(key), is_list) {
                Some(it) => drop(map.insert(key.clone(), it)),
                None => drop(map.shift_remove(key)),
            }
            Some(map.into())
        }
        (PathStep::Value(_), Value::String(text)) => {
            let expanded = Fields::from_iter([("step".to_owned(), text.into())]);
            with_child(&expanded.into(), path, new)
        }
        _ => None,
    }
}

/// Sorts items in the order of `keys`; items that are not among them stay behind their
/// predecessors.
fn sort_items(kind: ListKind, items: &[Value], keys: &[Value]) -> Vec<Value> {
    let place = |it: &Value| {
        let key: Value = item_key(kind, it).into();
        keys.iter().position(|it| *it == key)
    };
    let mut last = None;
    let mut placed: Vec<_> = items
        .iter()
        .map(|it| {
            let found = place(it);
            last = found.or(last);
            (last, found.is_none(), it.clone())
        })
        .collect();
    placed.sort_by_key(|(place, is_new, _)| (*place, *is_new));
    placed.into_iter().map(|it| it.2).collect()
}

/// Finds the field of a conflict by its name. If there is no item of that name in its list, the only
/// item with the same value is the renamed one.
pub fn locate_field(
    kind: FileKind,
    fields: &Fields,
    name: &str,
    stands: Option<&Value>,
) -> LocatedField {
    let item_field = ItemField::parse(kind, name);
    let Some(field) = item_field.filter(|it| !it.is_key() && !it.has_item(fields)) else {
        return find_field(kind, fields, name).map_or(LocatedField::Missing, LocatedField::Named);
    };
    match (field.find_renamed(fields, stands), field.rest) {
        (Some(place), _) => LocatedField::Renamed(place),
        (None, Some(_)) => LocatedField::ItemGone,
        (None, None) => {
            find_field(kind, fields, name).map_or(LocatedField::Missing, LocatedField::Named)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn room() -> Fields {
        let actions = json!([
            { "label": "Listen", "type": "text", "content": "Tick.\n" },
            { "label": "Go", "type": "navigate", "room": "attic" },
        ]);
        let room = json!({
            "name": "Hall",
            "actions": actions,
            "portals": ["attic", "crypt"],
            "generate": { "genus": "Rock" },
        });
        room.as_object().unwrap().clone()
    }

    fn place(name: &str) -> Option<FieldPlace> {
        find_field(FileKind::Room, &room(), name)
    }

    fn value(name: &str) -> Option<Value> {
        place(name)?.value(&room())
    }

    fn changed(name: &str, new: Option<&Value>) -> Value {
        place(name).unwrap().with_value(&room(), new).unwrap().into()
    }

    #[test]
    fn a_field_is_found_by_its_name() {
        assert_eq!(value("name"), Some(json!("Hall")));
        assert_eq!(value("actions[\"Listen\"].content"), Some(json!("Tick.\n")));
        assert_eq!(value("portals[\"crypt\"]"), Some(json!("crypt")));
        assert_eq!(value("generate.genus"), Some(json!("Rock")));
        assert_eq!(value("actions (order)"), Some(json!(["Listen", "Go"])));
        for missing in ["status", "actions[\"Rest\"]", "generate.by", "halls[\"a\"]"] {
            assert_eq!(value(missing), None, "{missing}");
            assert!(place(missing).is_some(), "{missing}");
        }
        assert_eq!(place("actions[\"Rest\"].content"), None);
    }

    #[test]
    fn a_field_is_found_in_a_version_in_which_its_item_is_renamed_and_moved() {
        let mut other = room();
        other["actions"] = json!([
            { "label": "Go", "type": "navigate", "room": "attic" },
            { "label": "Hear", "type": "text", "content": "Tick.\n" },
        ]);
        let found = |name: &str| place(name)?.in_version(FileKind::Room, &room(), &other);
        let content = found("actions[\"Listen\"].content").unwrap();
        assert_eq!(content.value(&other), Some(json!("Tick.\n")));
        assert_eq!(found("name"), place("name"));
        other["actions"] = json!([]);
        let listen = place("actions[\"Listen\"].content").unwrap();
        assert_eq!(listen.in_version(FileKind::Room, &room(), &other), None);
    }

    #[test]
    fn the_path_leads_to_the_position_of_the_value() {
        let steps = [
            PathStep::Value("actions".to_owned()),
            PathStep::Item(1),
            PathStep::Value("room".to_owned()),
        ];
        assert_eq!(place("actions[\"Go\"].room").unwrap().value_path().steps(), steps);
    }

    #[test]
    fn a_field_is_changed_added_and_removed() {
        assert_eq!(changed("name", Some(&json!("Nave")))["name"], "Nave");
        assert_eq!(changed("status", Some(&json!("old")))["status"], "old");
        assert_eq!(changed("generate.genus", None).get("generate"), None);
        assert_eq!(changed("portals[\"attic\"]", None)["portals"], json!(["crypt"]));
        assert_eq!(changed("portals[\"loft\"]", Some(&json!("loft")))["portals"][2], "loft");
        assert_eq!(changed("halls[\"a\"]", Some(&json!("a")))["halls"], json!(["a"]));
        let listen = changed("actions[\"Listen\"].content", Some(&json!("Tock.")));
        assert_eq!(listen["actions"][0]["content"], "Tock.");
    }

    #[test]
    fn a_list_is_sorted_and_new_items_stay_behind_their_predecessors() {
        let sorted = changed("portals (order)", Some(&json!(["crypt", "attic"])));
        assert_eq!(sorted["portals"], json!(["crypt", "attic"]));
        let items = ["a", "new", "b"].map(Value::from);
        let sorted = sort_items(ListKind::Set, &items, &["b".into(), "a".into()]);
        assert_eq!(sorted, ["b", "a", "new"]);
    }

    #[test]
    fn an_order_is_the_same_if_other_items_are_between() {
        let order = place("portals (order)").unwrap();
        let has = |keys: Value| order.has_value(&room(), Some(&keys));
        assert!(has(json!(["attic", "crypt"])) && has(json!(["attic", "loft", "crypt"])));
        assert!(!has(json!(["crypt", "attic"])));
    }

    #[test]
    fn a_step_that_is_a_text_alone_gets_a_note() {
        let process = json!({ "name": "P", "steps": ["Read", "Ask"] });
        let fields = process.as_object().unwrap();
        let place = find_field(FileKind::Process, fields, "steps[\"Ask\"].note").unwrap();
        assert_eq!(place.value(fields), None);
        let noted = place.with_value(fields, Some(&json!("Done"))).unwrap();
        assert_eq!(noted["steps"], json!(["Read", { "step": "Ask", "note": "Done" }]));
    }

    #[test]
    fn texts_that_differ_only_in_line_breaks_at_the_end_are_the_same() {
        let same = |a: Value, b: Value| is_same_value(Some(&a), Some(&b));
        assert!(same(json!("a\r\nb\n"), json!("a\nb")));
        assert!(same(json!({ "a": ["x\n"] }), json!({ "a": ["x"] })));
        assert!(same(json!("Read"), json!({ "step": "Read" })));
        assert!(!same(json!("a"), json!("b")));
        assert!(!is_same_value(Some(&Value::Null), None));
    }
}

#[cfg(test)]
mod present_field_tests {
    use serde_json::json;

    use super::*;

    fn room(actions: Value) -> Fields {
        Fields::from_iter([("actions".to_owned(), actions)])
    }

    fn action(label: &str, content: &str) -> Value {
        json!({ "label": label, "type": "text", "content": content })
    }

    fn content_now(actions: Value) -> LocatedField {
        let stands = json!("Tick.");
        let name = "actions[\"Listen [to]\"].content";
        locate_field(FileKind::Room, &room(actions), name, Some(&stands))
    }

    fn place_in(index: usize) -> FieldPlace {
        let list = PathStep::Value("actions".to_owned());
        let place = FieldPlace::root().below(PathStep::Value("content".to_owned()));
        place.below(PathStep::Item(index)).below(list)
    }

    #[test]
    fn a_field_is_found_by_its_name_or_in_the_only_item_with_its_value() {
        let named = content_now(json!([action("Look", "Tick."), action("Listen [to]", "Tock.")]));
        assert_eq!(named, LocatedField::Named(place_in(1)));
        let renamed = content_now(json!([action("Look", "Dust."), action("Hear", "Tick.\n")]));
        assert_eq!(renamed, LocatedField::Renamed(place_in(1)));
        let several = content_now(json!([action("Look", "Tick."), action("Hear", "Tick.")]));
        assert_eq!(several, LocatedField::ItemGone);
        assert_eq!(content_now(json!([action("Hear", "Tock.")])), LocatedField::ItemGone);
    }

    #[test]
    fn a_whole_action_is_found_under_another_label() {
        let fields = room(json!([action("Hear", "Tick.")]));
        let find = |stands: &Value| {
            let name = "actions[\"Listen\"]";
            locate_field(FileKind::Room, &fields, name, Some(stands))
        };
        assert!(matches!(find(&action("Listen", "Tick.")), LocatedField::Renamed(_)));
        assert!(matches!(find(&action("Listen", "Tock.")), LocatedField::Named(_)));
    }

    #[test]
    fn to_change_the_key_of_an_item_changes_the_field() {
        let fields = json!({ "relations": [{ "type": "knows", "to": "Eve" }] });
        let name = "relations[\"knows Ada\"].to";
        let stands = json!("Ada");
        let fields = fields.as_object().unwrap();
        let found = locate_field(FileKind::Entity, fields, name, Some(&stands));
        assert_eq!(found, LocatedField::Missing);
    }
}
