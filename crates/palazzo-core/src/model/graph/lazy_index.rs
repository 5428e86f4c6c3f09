//! Indexes of the graph that are built at their first use and then updated with every change, so
//! that sessions that never query them do not pay for them.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock};

use memchr::memmem;
use serde_json::{Map, Value};

use crate::model::entity::genus::scalar_text;
use crate::model::{AttributeKind, Date, Entity, Genus, fold_name};

/// Entity names by a key, sorted by key and name.
#[derive(Clone, Debug)]
pub(crate) struct LazyIndex<K>(OnceLock<BTreeSet<(K, Arc<str>)>>);

/// The hash of a key. Hashes can collide, so lookups must check the entity.
pub(crate) type KeyHash = u64;

impl<K> Default for LazyIndex<K> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<K: Ord + Clone> LazyIndex<K> {
    /// Yields the names from key `from` on, while `belongs` is true.
    pub(crate) fn range_while<'a>(
        &'a self,
        make: impl FnOnce() -> BTreeSet<(K, Arc<str>)>,
        from: K,
        belongs: impl Fn(&K) -> bool + 'a,
    ) -> impl Iterator<Item = (&'a K, &'a Arc<str>)> {
        let all = self.0.get_or_init(make).range((from, Arc::default())..);
        all.take_while(move |(key, _)| belongs(key)).map(|(key, name)| (key, name))
    }

    /// Adds the keys of a name, if the index is built.
    pub(crate) fn insert_if_built(&mut self, name: &Arc<str>, keys: impl FnOnce() -> Vec<K>) {
        if let Some(made) = self.0.get_mut() {
            made.extend(keys().into_iter().map(|it| (it, name.clone())));
        }
    }

    /// Removes the keys of a name, if the index is built.
    pub(crate) fn remove_if_built(&mut self, name: &Arc<str>, keys: impl FnOnce() -> Vec<K>) {
        if let Some(made) = self.0.get_mut() {
            for key in keys() {
                made.remove(&(key, name.clone()));
            }
        }
    }

    /// Discards the index; it is built again at its next use.
    pub(crate) fn invalidate(&mut self) {
        self.0.take();
    }
}

/// The character after each text, so that no match spans two texts.
const SEPARATOR: char = '\0';

/// Name, genus and observations of all entities in lower case, in one buffer; the first search
/// builds it.
#[derive(Clone, Debug, Default)]
pub(crate) struct FoldedTexts(OnceLock<TextBuffer>);

#[derive(Clone, Debug, Default)]
struct TextBuffer {
    text: String,
    /// The parts of the text, each of one entity.
    spans: Vec<EntitySpan>,
    /// The index of each entity's span.
    places: HashMap<Arc<str>, usize>,
    /// The number of bytes of removed entities.
    removed: usize,
}

#[derive(Clone, Debug)]
struct EntitySpan {
    end: usize,
    /// The name of the entity; `None`: it was removed.
    name: Option<Arc<str>>,
}

impl FoldedTexts {
    /// Returns the names of the entities with `needle`, which is in lower case, in a text; `None`
    /// if the needle cannot be searched for. `all` yields all entities.
    pub(crate) fn find<'e, I: Iterator<Item = (&'e Arc<str>, &'e Entity)>>(
        &self,
        needle: &str,
        all: impl FnOnce() -> I,
    ) -> Option<Vec<&str>> {
        if needle.is_empty() || needle.contains(SEPARATOR) {
            return None;
        }
        let buffer = self.0.get_or_init(|| {
            let mut buffer = TextBuffer::default();
            all().for_each(|(name, entity)| buffer.insert(name, entity));
            buffer
        });
        Some(buffer.find(needle))
    }

    /// Adds an entity, if the buffer was built.
    pub(crate) fn insert_if_built(&mut self, name: &Arc<str>, entity: &Entity) {
        if let Some(buffer) = self.0.get_mut() {
            buffer.insert(name, entity);
        }
    }

    /// Removes an entity, if the buffer was built.
    pub(crate) fn remove_if_built(&mut self, name: &str) {
        let Some(buffer) = self.0.get_mut() else { return };
        buffer.remove(name);
        if buffer.removed > buffer.text.len() / 2 {
            self.0 = OnceLock::new();
        }
    }
}

impl TextBuffer {
    fn insert(&mut self, name: &Arc<str>, entity: &Entity) {
        let texts = [&entity.name, &entity.genus].into_iter().chain(&entity.observations);
        for text in texts {
            match text.is_ascii() {
                true => {
                    let start = self.text.len();
                    self.text.push_str(text);
                    self.text[start..].make_ascii_lowercase();
                }
                false => self.text.push_str(&text.to_lowercase()),
            }
            self.text.push(SEPARATOR);
        }
        self.places.insert(name.clone(), self.spans.len());
        self.spans.push(EntitySpan { end: self.text.len(), name: Some(name.clone()) });
    }

    fn remove(&mut self, name: &str) {
        let Some(at) = self.places.remove(name) else { return };
        let start = at.checked_sub(1).map_or(0, |it| self.spans[it].end);
        self.removed += self.spans[at].end - start;
        self.spans[at].name = None;
    }

    fn find(&self, needle: &str) -> Vec<&str> {
        let (finder, bytes) = (memmem::Finder::new(needle), self.text.as_bytes());
        let (mut found, mut start, mut at) = (Vec::new(), 0, 0);
        while let Some(place) = finder.find(&bytes[start..]) {
            at += self.spans[at..].partition_point(|it| it.end <= start + place);
            let EntitySpan { end, name } = &self.spans[at];
            found.extend(name.as_deref());
            start = *end;
        }
        found
    }
}

/// Returns the hash of a name, ignoring case.
pub(crate) fn hash_name_ignoring_case(name: &str) -> KeyHash {
    hash_key(&name.to_lowercase())
}

/// Returns the hashes of the names of an entity's relation targets.
fn hash_relation_targets(entity: &Entity) -> Vec<KeyHash> {
    entity.relations.iter().map(|it| hash_key(&it.to)).collect()
}

/// Returns the hash of a value.
pub(crate) fn hash_key(text: &impl Hash) -> KeyHash {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Returns the hashes of an entity's attribute values; for a list, one per item.
pub(crate) fn hash_attribute_values(entity: &Entity) -> Vec<KeyHash> {
    let all = entity.attributes.iter();
    all.flat_map(|(key, value)| {
        lowercase_values(value)
            .into_iter()
            .map(move |it| hash_attribute_value(&entity.genus, key, &it))
    })
    .collect()
}

/// Returns the hash of one value of an attribute.
pub(crate) fn hash_attribute_value(genus: &str, key: &str, word: &str) -> KeyHash {
    hash_key(&(genus, key, word))
}

/// Returns the values by which an attribute is found, in lower case: its value, or its list items.
pub(crate) fn lowercase_values(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().filter_map(lowercase_value).collect(),
        _ => lowercase_value(value).into_iter().collect(),
    }
}

/// Formats numbers uniformly, so that `1` and `1.0` are equal.
fn lowercase_value(value: &Value) -> Option<String> {
    match value.as_f64().filter(|_| value.is_f64()) {
        Some(number) => Some(number.to_string()),
        None => scalar_text(value).map(|it| it.to_lowercase()),
    }
}

/// Returns the dates of an entity's relations and attributes, each with the hash of the genus.
pub(crate) fn date_index_keys(entity: &Entity, genus: Option<&Genus>) -> Vec<(KeyHash, Date)> {
    let relations =
        entity.relations.iter().flat_map(|it| [it.since_date(), it.until_date()]).flatten();
    let attributes = date_attributes(&entity.attributes, genus).map(|(_, date)| date);
    let genus = hash_key(&entity.genus);
    relations.chain(attributes).map(|date| (genus, date)).collect()
}

/// Yields the attributes that are dates: those that the genus defines as dates, and among undefined
/// ones the texts that parse as a date. A bare number could be anything.
pub(crate) fn date_attributes<'a>(
    attributes: &'a Map<String, Value>,
    genus: Option<&'a Genus>,
) -> impl Iterator<Item = (&'a str, Date)> {
    attributes.iter().filter_map(move |(key, value)| {
        let is_date = match genus.and_then(|it| it.attribute_def(key)) {
            Some(about) => about.kind == AttributeKind::Date,
            None => value.is_string(),
        };
        let text = scalar_text(value).filter(|_| is_date)?;
        Some((key.as_str(), text.parse().ok()?))
    })
}

/// Returns the hashes of the normalized names that an entity mentions, and whether it is a loose
/// end.
pub(crate) fn spelling_index_keys(entity: &Entity) -> Vec<(KeyHash, bool)> {
    mentioned_names(entity).map(|it| (hash_key(&fold_name(it)), !entity.is_defined)).collect()
}

/// Yields the names that an entity mentions: its own and its relation targets.
pub(crate) fn mentioned_names(entity: &Entity) -> impl Iterator<Item = &str> {
    let targets = entity.relations.iter().map(|it| it.to.as_str());
    std::iter::once(entity.name.as_str()).chain(targets)
}

/// Returns the hashes of the relation targets, and whether the entity is a loose end.
pub(crate) fn relation_source_keys(entity: &Entity) -> Vec<(KeyHash, bool)> {
    hash_relation_targets(entity).into_iter().map(|it| (it, !entity.is_defined)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn equal_numbers_are_indexed_alike() {
        assert_eq!(lowercase_values(&json!([1.0, 0.5, 7])), ["1", "0.5", "7"]);
        assert_eq!(lowercase_values(&json!("1.0")), ["1.0"]);
    }

    fn entity(name: &str, observation: &str) -> Entity {
        let observations = vec![observation.to_owned()];
        let named = Entity::new_loose_end(name);
        Entity { is_defined: true, genus: "Thing".to_owned(), observations, ..named }
    }

    #[test]
    fn entities_are_found_by_any_text_as_long_as_they_are_there() {
        let mut texts = FoldedTexts::default();
        let all: Vec<(Arc<str>, Entity)> = [("Ada", "Likes Moss"), ("ÉCLAIR", "sweet"), ("Bo", "")]
            .map(|(name, it)| (name.into(), entity(name, it)))
            .into();
        let find = |texts: &FoldedTexts, needle: &str| {
            let mut found = texts.find(needle, || all.iter().map(|(name, it)| (name, it)))?;
            found.sort_unstable();
            Some(found.join(" "))
        };
        assert_eq!(find(&texts, "s m").as_deref(), Some("Ada"));
        assert_eq!(find(&texts, "é").as_deref(), Some("ÉCLAIR"));
        assert_eq!(find(&texts, "thing").as_deref(), Some("Ada Bo ÉCLAIR"));
        // No text goes on in the next.
        assert_eq!(find(&texts, "adathing").as_deref(), Some(""));
        for needle in ["", "a\0t"] {
            assert_eq!(find(&texts, needle), None);
        }
        texts.remove_if_built("Ada");
        texts.insert_if_built(&"Cy".into(), &entity("Cy", "moss"));
        assert_eq!(find(&texts, "moss").as_deref(), Some("Cy"));
        // Mostly removed, it is built again.
        texts.remove_if_built("ÉCLAIR");
        texts.remove_if_built("Bo");
        assert_eq!(find(&texts, "thing").as_deref(), Some("Ada Bo ÉCLAIR"));
    }
}
