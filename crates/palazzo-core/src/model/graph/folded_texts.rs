//! The texts of all entities in lower case, for searches in the middle of words.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use memchr::memmem;

use crate::model::Entity;

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

#[cfg(test)]
mod tests {
    use super::*;

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
