//! Adding to the knowledge graph.

use std::collections::{BTreeSet, HashMap};

use chrono::{DateTime, Utc};

use crate::format::entity_file;
use crate::keeper::graph::edit::Revision;
use crate::keeper::graph::merge::unite;
use crate::keeper::graph::relations;
use crate::keeper::graph::rules::{
    Rules, against, allow, begun, noted, remarks, spell_genera, twin,
};
use crate::keeper::palace::{Held, Plan};
use crate::keeper::{Caller, Keeper, Refusal, fresh_id, listed};
use crate::model::Entity;
use crate::render;

/// What adding entities came to.
pub(crate) struct Added {
    /// The workspace they are in now.
    pub(crate) key: String,
    /// The names of those that are new.
    pub(crate) created: Vec<String>,
    /// The names that were there already.
    pub(crate) existing: Vec<String>,
    /// What else is worth telling.
    pub(crate) notes: Vec<String>,
}

impl Keeper {
    /// Creates entities, all in one commit. Those whose names are taken are
    /// left as they are, and the answer says so.
    pub fn create_entities(&mut self, by: &Caller, new: Vec<Entity>) -> Result<String, Refusal> {
        if new.is_empty() {
            return Err(Refusal::Nonsense("`entities` is empty: nothing to create".to_owned()));
        }
        let (new, mut notes) = joined(new, by.now)?;
        let Added { key, created, existing, notes: more } =
            self.add_entities(by, new, Rules::Heeded)?;
        let graph = &self.at(&key)?.palace.graph;
        notes.extend(more);
        notes.extend(created.iter().filter_map(|it| twin(graph, it)));
        let remarks = remarks(graph, created.iter().filter_map(|it| graph.get(it)), &[]);
        let mut answer = match created.len() {
            0 => "Created nothing".to_owned(),
            _ => format!("Created {}", listed(&created)),
        };
        if !existing.is_empty() {
            answer
                .push_str(&format!("; there already, and left as they are: {}", listed(&existing)));
        }
        Ok(format!("{answer}.\n{}{remarks}", noted(&notes)))
    }

    /// Adds those of `new` whose names are free, the first of each name.
    pub(crate) fn add_entities(
        &mut self,
        by: &Caller,
        new: Vec<Entity>,
        rules: Rules,
    ) -> Result<Added, Refusal> {
        let mut names = BTreeSet::new();
        let mut new: Vec<_> = new.into_iter().filter(|it| names.insert(it.name.clone())).collect();
        for entity in &mut new {
            entity.id = Some(fresh_id(&mut self.ids, by.now));
        }
        let key = self.current_or_first(by)?;
        let (mut created, mut existing, mut notes) = (Vec::new(), Vec::new(), Vec::new());
        self.at(&key)?.change_alone(by, |held| {
            // Somebody may have written the very file by hand meanwhile.
            for entity in &new {
                held.glance(&entity_file(&held.palace.graph, entity, |_| false, |_| 0));
            }
            let graph = &held.palace.graph;
            let new = new.iter().cloned();
            let (there, mut fresh): (Vec<_>, Vec<_>) =
                new.partition(|it| graph.get(&it.name).is_some());
            if rules == Rules::Heeded {
                notes = spell_genera(graph, &mut fresh);
            }
            let fresh: Vec<_> = fresh.iter().map(|it| begun(graph, it)).collect();
            existing = there.into_iter().map(|it| it.name).collect();
            created = fresh.iter().map(|it| it.name.clone()).collect();
            let heeded = fresh.iter().filter(|_| rules == Rules::Heeded);
            allow(heeded.filter_map(|it| against(graph, &[], it)))?;
            creation(held, &fresh)
        })?;
        Ok(Added { key, created, existing, notes })
    }
}

/// Makes one of those that have the same name, and says so.
fn joined(new: Vec<Entity>, now: DateTime<Utc>) -> Result<(Vec<Entity>, Vec<String>), Refusal> {
    let (mut joined, mut notes): (Vec<Entity>, _) = (Vec::new(), Vec::new());
    let mut places: HashMap<String, usize> = HashMap::new();
    for entity in new {
        let name = render::cut(&render::line(&entity.name), 80);
        match places.get(&entity.name).and_then(|it| joined.get_mut(*it)) {
            None => {
                places.insert(entity.name.clone(), joined.len());
                joined.push(entity);
            }
            Some(first) => {
                notes.push(format!("`{name}` stands twice in the call, and both became one"));
                notes.extend(unite(first, &entity, &[]));
            }
        }
    }
    for Entity { name, relations, .. } in &mut joined {
        let refused = |why: String| {
            Refusal::Nonsense(format!("`{}`: {why}", render::cut(&render::line(name), 80)))
        };
        for mut relation in std::mem::take(relations) {
            relations::date(&mut relation, now);
            relations::add(relations, &[], &relation).map_err(refused)?;
        }
    }
    Ok((joined, notes))
}

fn creation(held: &mut Held, fresh: &[Entity]) -> Result<Plan, Refusal> {
    let mut revision = Revision::default();
    for entity in fresh {
        revision.add(held, entity.clone())?;
    }
    let names: Vec<_> = fresh.iter().map(|it| it.name.clone()).collect();
    let subject = match names.as_slice() {
        [only] => format!("entity {}: create", render::cut(&render::line(only), 50)),
        _ => format!("entities: create {}", names.len()),
    };
    Ok(Plan { edits: revision.edits()?, subject, body: format!("Created {}", listed(&names)) })
}
