//! Finds the field of a conflict although its item was renamed since.

use serde_json::Value;

use crate::merge::field::{FieldPlace, find_field, find_in_map};
use crate::merge::item::{Fields, field_of_item};
use crate::merge::list_matching::{ListKind, action_without_label};
use crate::merge::rules::{Rule, Scope};
use crate::model::{FileKind, PathStep};

/// Where the field of a conflict is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PresentField {
    /// Where its name says; the value may be missing there.
    Named(FieldPlace),
    /// In an item that is called otherwise now, with the value that stands.
    Renamed(FieldPlace),
    /// Nowhere: its item was removed, or renamed and changed.
    ItemGone,
    /// Nowhere: the list or the mapping around it is missing.
    Missing,
}

impl PresentField {
    /// Returns the place.
    pub fn place(&self) -> Option<&FieldPlace> {
        match self {
            Self::Named(place) | Self::Renamed(place) => Some(place),
            Self::ItemGone | Self::Missing => None,
        }
    }
}

/// Finds the field of a conflict by its name. If there is no item of that name in its list, the only
/// item with the same value is the renamed one.
pub fn find_present_field(
    kind: FileKind,
    fields: &Fields,
    name: &str,
    stands: Option<&Value>,
) -> PresentField {
    let item_field = ItemField::parse(kind, name);
    let Some(field) = item_field.filter(|it| !it.is_key() && !it.has_item(fields)) else {
        return find_field(kind, fields, name).map_or(PresentField::Missing, PresentField::Named);
    };
    match (field.find_renamed(fields, stands), field.rest) {
        (Some(place), _) => PresentField::Renamed(place),
        (None, Some(_)) => PresentField::ItemGone,
        (None, None) => {
            find_field(kind, fields, name).map_or(PresentField::Missing, PresentField::Named)
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn room(actions: Value) -> Fields {
        Fields::from_iter([("actions".to_owned(), actions)])
    }

    fn action(label: &str, content: &str) -> Value {
        json!({ "label": label, "type": "text", "content": content })
    }

    fn content_now(actions: Value) -> PresentField {
        let stands = json!("Tick.");
        let name = "actions[\"Listen [to]\"].content";
        find_present_field(FileKind::Room, &room(actions), name, Some(&stands))
    }

    fn place_in(index: usize) -> FieldPlace {
        let list = PathStep::Value("actions".to_owned());
        let place = FieldPlace::root().below(PathStep::Value("content".to_owned()));
        place.below(PathStep::Item(index)).below(list)
    }

    #[test]
    fn a_field_is_found_by_its_name_or_in_the_only_item_with_its_value() {
        let named = content_now(json!([action("Look", "Tick."), action("Listen [to]", "Tock.")]));
        assert_eq!(named, PresentField::Named(place_in(1)));
        let renamed = content_now(json!([action("Look", "Dust."), action("Hear", "Tick.\n")]));
        assert_eq!(renamed, PresentField::Renamed(place_in(1)));
        let several = content_now(json!([action("Look", "Tick."), action("Hear", "Tick.")]));
        assert_eq!(several, PresentField::ItemGone);
        assert_eq!(content_now(json!([action("Hear", "Tock.")])), PresentField::ItemGone);
    }

    #[test]
    fn a_whole_action_is_found_under_another_label() {
        let fields = room(json!([action("Hear", "Tick.")]));
        let find = |stands: &Value| {
            let name = "actions[\"Listen\"]";
            find_present_field(FileKind::Room, &fields, name, Some(stands))
        };
        assert!(matches!(find(&action("Listen", "Tick.")), PresentField::Renamed(_)));
        assert!(matches!(find(&action("Listen", "Tock.")), PresentField::Named(_)));
    }

    #[test]
    fn to_change_the_key_of_an_item_changes_the_field() {
        let fields = json!({ "relations": [{ "type": "knows", "to": "Eve" }] });
        let name = "relations[\"knows Ada\"].to";
        let stands = json!("Ada");
        let fields = fields.as_object().unwrap();
        let found = find_present_field(FileKind::Entity, fields, name, Some(&stands));
        assert_eq!(found, PresentField::Missing);
    }
}
