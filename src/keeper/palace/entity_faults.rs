//! Which entities have something wrong with them: looked through once, and kept
//! up by what changes.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rayon::prelude::*;

use crate::keeper::walk::notices::Exhibits;
use crate::model::{Fault, Graph};
use crate::render;

/// Of how many entities a room says what is wrong with them.
const NAMED: usize = 2;

/// The name and the genus of an entity.
pub(crate) type Patient = (String, String);

/// Says what is first of what is wrong with an entity.
fn told(graph: &Graph, name: &str) -> Option<String> {
    let fault = graph.faults(graph.get(name)?).into_iter().find(Fault::is_grave)?;
    let name = render::cut(&render::line(name), 60);
    Some(format!("{name}: {}", render::cut(&fault.message, 160)))
}

/// The entities of a palace that have something wrong with them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Health {
    /// Those with whom something is wrong, and not only worth knowing, by genus.
    ailing: BTreeMap<String, BTreeSet<String>>,
    /// The genus of each of whom anything is to be told.
    genera: HashMap<String, String>,
    /// Who names somebody that nobody has defined, by that name.
    lost: BTreeMap<String, BTreeSet<String>>,
}

impl Health {
    /// Looks through a whole graph.
    pub(crate) fn of(graph: &Graph) -> Self {
        let everybody: Vec<_> = graph.iter().collect();
        let concerned = everybody.into_par_iter().filter(|it| !graph.faults(it).is_empty());
        let concerned: Vec<_> = concerned.collect();
        let mut health = Self::default();
        for entity in concerned {
            health.examine(graph, &entity.name);
        }
        health
    }

    /// Looks again at whatever may be concerned when an entity changed: by name
    /// and genus as it was `before` and is `after`, if it was and is there.
    pub(crate) fn changed(
        &mut self,
        graph: &Graph,
        before: Option<&Patient>,
        after: Option<&Patient>,
    ) {
        let mut concerned: BTreeSet<_> =
            before.into_iter().chain(after).map(|(name, _)| name.clone()).collect();
        if before != after {
            let found = after.and_then(|(name, _)| self.lost.get(name));
            concerned.extend(found.into_iter().flatten().cloned());
            let naming = before.map(|(name, _)| graph.naming(name)).unwrap_or_default();
            concerned.extend(naming.into_iter().map(|(name, _)| name));
        }
        for name in concerned {
            self.examine(graph, &name);
        }
    }

    /// Says in a line what is wrong with the entities that a room shows: how many
    /// there are, and with the first of them, what.
    pub(crate) fn notice(&self, graph: &Graph, exhibits: &Exhibits<'_>) -> Option<String> {
        let (mut count, mut named) = (0, Vec::new());
        for (genus, names) in &self.ailing {
            let all = exhibits.shows_genus(genus);
            let shown: Vec<_> =
                names.iter().filter(|it| all || exhibits.shows_name(it)).take(NAMED).collect();
            count += if all { names.len() } else { shown.len() };
            named.extend(shown);
        }
        named.truncate(NAMED);
        let told: Vec<_> = named.iter().filter_map(|it| told(graph, it)).collect();
        let more = if count > told.len() { "; …" } else { "" };
        let have = if count == 1 { "has" } else { "have" };
        (count > 0).then(|| {
            let count = render::count(count, "entity");
            let told = told.join("; ");
            format!("{count} here {have} something wrong: {told}{more} · `palazzo check` tells all")
        })
    }

    fn examine(&mut self, graph: &Graph, name: &str) {
        self.forget(name);
        let Some(entity) = graph.get(name) else { return };
        let faults = graph.faults(entity);
        if faults.is_empty() {
            return;
        }
        if faults.iter().any(Fault::is_grave) {
            self.ailing.entry(entity.genus.clone()).or_default().insert(name.to_owned());
        }
        self.genera.insert(name.to_owned(), entity.genus.clone());
        for lost in faults.into_iter().filter_map(|it| it.lost) {
            self.lost.entry(lost).or_default().insert(name.to_owned());
        }
    }

    fn forget(&mut self, name: &str) {
        let Some(genus) = self.genera.remove(name) else { return };
        if let Some(left) = self.ailing.get_mut(&genus) {
            left.remove(name);
            if left.is_empty() {
                self.ailing.remove(&genus);
            }
        }
        self.lost.retain(|_, names| {
            names.remove(name);
            !names.is_empty()
        });
    }
}
