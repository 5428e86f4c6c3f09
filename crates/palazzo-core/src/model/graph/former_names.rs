//! The entities that had a name before.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::fold_name;

/// The present names of entities by each name that they had before, folded.
#[derive(Clone, Debug, Default)]
pub(super) struct FormerNames(BTreeMap<String, BTreeSet<Arc<str>>>);

impl FormerNames {
    /// Records that the entity `name` was called `former`.
    pub(super) fn insert(&mut self, former: &str, name: &Arc<str>) {
        self.0.entry(fold_name(former)).or_default().insert(name.clone());
    }

    /// Removes what [`Self::insert`] has recorded.
    pub(super) fn remove(&mut self, former: &str, name: &str) {
        let former = fold_name(former);
        if let Some(left) = self.0.get_mut(&former) {
            left.remove(name);
            if left.is_empty() {
                self.0.remove(&former);
            }
        }
    }

    /// Records that the entity `old` is called `name` now, and so was called by each former name of
    /// `old`.
    pub(super) fn record_rename(&mut self, old: &str, name: &Arc<str>) {
        for names in self.0.values_mut().filter(|it| it.contains(old)) {
            names.insert(name.clone());
        }
        self.insert(old, name);
    }

    /// Yields the present names of the entities that were called `former`, whatever its case,
    /// blanks and underscores.
    pub(super) fn present_names(&self, former: &str) -> impl Iterator<Item = &str> {
        let names = if self.0.is_empty() { None } else { self.0.get(&fold_name(former)) };
        names.into_iter().flatten().map(|it| &**it)
    }
}
