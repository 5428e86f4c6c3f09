//! Indexes of the graph that are made when they are first asked for, and kept
//! up by what changes from then on: who only walks through rooms pays for none.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};

use crate::model::entity::genus::scalar;
use crate::model::{Date, Entity, Genus, Kind};

/// The names of entities by a key of theirs, in the order of key and name.
#[derive(Clone, Debug)]
pub(crate) struct Index<K>(OnceLock<BTreeSet<(K, Arc<str>)>>);

/// A text, as short as it can be: who finds something by it looks whether it is
/// what was meant.
pub(crate) type Print = u64;

impl<K> Default for Index<K> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<K: Ord + Clone> Index<K> {
    /// Yields the names from `from` on as long as `belongs` says so.
    pub(crate) fn range<'a>(
        &'a self,
        make: impl FnOnce() -> BTreeSet<(K, Arc<str>)>,
        from: K,
        belongs: impl Fn(&K) -> bool + 'a,
    ) -> impl Iterator<Item = (&'a K, &'a Arc<str>)> {
        let all = self.0.get_or_init(make).range((from, Arc::default())..);
        all.take_while(move |(key, _)| belongs(key)).map(|(key, name)| (key, name))
    }

    /// Adds a name by its keys, if the index is made.
    pub(crate) fn add(&mut self, name: &Arc<str>, keys: impl FnOnce() -> Vec<K>) {
        if let Some(made) = self.0.get_mut() {
            made.extend(keys().into_iter().map(|it| (it, name.clone())));
        }
    }

    /// Takes a name away by its keys, if the index is made.
    pub(crate) fn take(&mut self, name: &Arc<str>, keys: impl FnOnce() -> Vec<K>) {
        if let Some(made) = self.0.get_mut() {
            for key in keys() {
                made.remove(&(key, name.clone()));
            }
        }
    }

    /// Forgets everything: it is made anew when it is next asked for.
    pub(crate) fn forget(&mut self) {
        self.0.take();
    }
}

/// Returns the print of a name, whatever its case.
pub(crate) fn of_name(name: &str) -> Print {
    print(&name.to_lowercase())
}

/// Returns the prints of those an entity relates to.
pub(crate) fn of_targets(entity: &Entity) -> Vec<Print> {
    entity.relations.iter().map(|it| print(&it.to)).collect()
}

/// Returns the print of a text as it stands.
pub(crate) fn print(text: &impl Hash) -> Print {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Returns the prints of an entity's attributes: one for each value, and of a
/// list one for each of its items.
pub(crate) fn of_values(entity: &Entity) -> Vec<Print> {
    let all = entity.attributes.iter();
    all.flat_map(|(key, value)| {
        words(value).into_iter().map(move |it| of_value(&entity.genus, key, &it))
    })
    .collect()
}

/// Returns the print of one value of an attribute.
pub(crate) fn of_value(genus: &str, key: &str, word: &str) -> Print {
    print(&(genus, key, word))
}

/// Returns what an attribute is found by, in lower case: its value, or the items
/// of a list.
pub(crate) fn words(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().filter_map(word).collect(),
        _ => word(value).into_iter().collect(),
    }
}

/// A number is the same however it is written: `1` and `1.0`.
fn word(value: &Value) -> Option<String> {
    match value.as_f64().filter(|_| value.is_f64()) {
        Some(number) => Some(number.to_string()),
        None => scalar(value).map(|it| it.to_lowercase()),
    }
}

/// Returns the dates at which something began, ended or was so with an entity,
/// each once, by the print of its genus.
pub(crate) fn of_dates(entity: &Entity, genus: Option<&Genus>) -> Vec<(Print, Date)> {
    let relations = entity.relations.iter().flat_map(|it| [it.begin(), it.end()]).flatten();
    let attributes = dated(&entity.attributes, genus).map(|(_, date)| date);
    let genus = print(&entity.genus);
    relations.chain(attributes).map(|date| (genus, date)).collect()
}

/// Yields the attributes that are dates: those the genus says are, and of the
/// others the texts that can be nothing else. A bare number may count anything.
pub(crate) fn dated<'a>(
    attributes: &'a Map<String, Value>,
    genus: Option<&'a Genus>,
) -> impl Iterator<Item = (&'a str, Date)> {
    attributes.iter().filter_map(move |(key, value)| {
        let is_date = match genus.and_then(|it| it.attribute(key)) {
            Some(about) => about.kind == Kind::Date,
            None => value.is_string(),
        };
        let text = scalar(value).filter(|_| is_date)?;
        Some((key.as_str(), text.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_number_is_the_same_however_it_is_written() {
        assert_eq!(words(&json!([1.0, 0.5, 7])), ["1", "0.5", "7"]);
        assert_eq!(words(&json!("1.0")), ["1.0"]);
    }
}
