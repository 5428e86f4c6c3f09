//! The attributes that genera define as links to entities.

use std::collections::{BTreeMap, BTreeSet};

use crate::merge::changes::MergeInput;
use palazzo_core::format::{file_kind, parse_palace};
use palazzo_core::model::{AttributeKind, FileKind, Files};

/// The attributes that genera define as links, in any version of the palace.
#[derive(Clone, Debug, Default)]
pub(super) struct LinkAttributes {
    by_genus: BTreeMap<String, BTreeSet<String>>,
}

impl LinkAttributes {
    /// Reads the definitions of all versions.
    pub(super) fn read(input: &MergeInput<'_>) -> Self {
        let mut links = Self::default();
        let is_genus = |path: &str| file_kind(path) == Some(FileKind::Genus);
        let changed = std::iter::once(input.base).chain(input.sides).flatten();
        for (path, bytes) in changed.filter(|(path, _)| is_genus(path)) {
            links.add_genus(path, bytes);
        }
        for path in input.unchanged.paths.iter().filter(|it| is_genus(it)) {
            links.add_genus(path, &(input.unchanged.read)(path).unwrap_or_default());
        }
        links
    }

    fn add_genus(&mut self, path: &str, bytes: &[u8]) {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        let file = Files::from([(path.to_owned(), text.to_owned())]);
        for genus in parse_palace("merge", &file).0.graph.genus_definitions() {
            let links = genus.attributes.iter();
            let links = links.filter(|(_, it)| matches!(it.kind, AttributeKind::Link(_)));
            let keys = links.map(|(key, _)| key.clone());
            self.by_genus.entry(genus.name.clone()).or_default().extend(keys);
        }
    }

    /// Returns whether an attribute of the entities of a genus is a link.
    pub(super) fn has(&self, genus: &str, key: &str) -> bool {
        self.by_genus.get(genus).is_some_and(|it| it.contains(key))
    }

    /// Returns whether an attribute is a link in any genus.
    pub(super) fn has_in_any_genus(&self, key: &str) -> bool {
        self.by_genus.values().any(|it| it.contains(key))
    }
}
