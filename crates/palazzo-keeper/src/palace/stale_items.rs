//! Finds what may not be true any more.
//!
//! That are facts of single-valued relations that were not touched for long, although their entity
//! has changed since: the person may have moved, and nobody wrote it down. A fact is as old as the
//! newest commit that changed one of its lines, and is compared with the newest commit of its file;
//! so the notices depend on the history alone, not on the time. They are off unless
//! `stale_fact_days` in palace.toml sets a limit.
//!
//! Scrolls and entities are found, too, that name files of the repository which are gone or much
//! changed since. The rule is that of [`Store::stale_files_outside_palace`](palazzo_store::Store::stale_files_outside_palace). A
//! scroll counts from the commit that created it, an entity from the last commit that changed it.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};

use crate::palace::loaded_palace::LoadedPalace;
use palazzo_core::format::{PalacePath, ValuePositions};
use palazzo_core::model::{
    BlamedLine, Code, Diagnostic, Entity, Relation, ScrollId, StaleReason, ValuePath,
    possible_file_paths, quoted,
};

/// The maximum number of entities whose lines a check looks up in the history.
const MAX_CHECKED_ENTITIES: usize = 200;

/// The keys of a relation, which may stand on lines of their own.
const RELATION_KEYS: [&str; 5] = ["type", "to", "since", "until", "source"];

/// The maximum number of names that are looked up for one scroll or entity.
const MAX_NAMES: usize = 30;

/// The maximum number of names that a check looks up.
const MAX_CHECKED_NAMES: usize = 5_000;

/// A fact that was not touched for long.
struct StaleFact<'a> {
    index: usize,
    relation: &'a Relation,
    /// The last change of the fact.
    touched: DateTime<Utc>,
    /// The last change of its entity.
    entity_changed: DateTime<Utc>,
}

impl LoadedPalace {
    /// Returns a note on each stale fact of an entity in `file`.
    pub(crate) fn stale_fact_notes(&self, entity: &Entity, file: &str) -> Vec<String> {
        self.stale_facts(entity, file).iter().map(StaleFact::note).collect()
    }

    /// Returns the findings on all entities, up to a limit of those that must be looked up.
    pub(crate) fn stale_fact_findings(&self) -> Vec<(Diagnostic, Option<ValuePath>)> {
        let entities = self.palace.graph.entities_with_files();
        let old = entities.filter(|(file, entity)| self.may_have_stale_facts(entity, file));
        let findings = old.take(MAX_CHECKED_ENTITIES).flat_map(|(file, entity)| {
            self.stale_facts(entity, file).into_iter().map(move |it| {
                let diagnostic = Diagnostic::for_file(Code::StaleFact, file, it.note());
                (diagnostic, Some(relation_path(it.index)))
            })
        });
        findings.collect()
    }

    fn stale_facts<'a>(&self, entity: &'a Entity, file: &str) -> Vec<StaleFact<'a>> {
        let limit = self.stale_fact_limit().filter(|_| self.may_have_stale_facts(entity, file));
        let (Some(limit), Some(history)) = (limit, self.file_histories().get(file)) else {
            return Vec::new();
        };
        // A file or a history that cannot be read is reported elsewhere.
        let text = self.store.read_file(file).ok().flatten().unwrap_or_default();
        let Ok(lines) = self.store.blame(file, &text) else { return Vec::new() };
        let positions = ValuePositions::parse(file, &text);
        let facts = self.current_single_relations(entity).filter_map(|(index, relation)| {
            let touched = last_change_of_relation(&positions, &lines, index)?;
            let entity_changed = history.updated;
            let is_stale = entity_changed - touched >= limit;
            is_stale.then_some(StaleFact { index, relation, touched, entity_changed })
        });
        facts.collect()
    }

    /// Returns whether an entity has facts that can be stale, as far as that is known without
    /// looking up its lines.
    fn may_have_stale_facts(&self, entity: &Entity, file: &str) -> bool {
        let history = self.file_histories().get(file);
        let is_old_and_active = self
            .stale_fact_limit()
            .zip(history)
            .is_some_and(|(limit, it)| it.updated - it.created >= limit);
        is_old_and_active && self.current_single_relations(entity).next().is_some()
    }

    /// Yields the relations of an entity that have no end and of which the genus allows one at a
    /// time, with their numbers.
    fn current_single_relations<'a>(
        &self,
        entity: &'a Entity,
    ) -> impl Iterator<Item = (usize, &'a Relation)> {
        let genus = self.palace.graph.genus_definition(&entity.genus);
        let relations = entity.relations.iter().enumerate().filter(|(_, it)| it.until.is_none());
        relations
            .filter(move |(_, it)| genus.is_some_and(|genus| genus.is_single_relation(&it.kind)))
    }

    fn stale_fact_limit(&self) -> Option<TimeDelta> {
        self.palace.settings.stale_fact_days.map(|it| TimeDelta::days(i64::from(it)))
    }

    /// Returns a note on each stale file that a scroll names: `names … , which is gone`.
    pub(crate) fn stale_file_notes_of_scroll(&self, which: &ScrollId) -> Vec<String> {
        let palace = &self.palace;
        let file = palace.file_of_scroll(which);
        let Some((file, scroll)) = file.zip(palace.scroll(which)) else { return Vec::new() };
        self.stale_file_notes_of_names(file, &names_in([scroll.body.as_str()]))
    }

    /// Returns a note on each stale file that the observations of an entity name.
    pub(crate) fn stale_file_notes_of_entity(&self, name: &str) -> Vec<String> {
        let graph = &self.palace.graph;
        let Some((file, entity)) = graph.file_of_entity(name).zip(graph.get(name)) else {
            return Vec::new();
        };
        self.stale_file_notes_of_names(
            file,
            &names_in(entity.observations.iter().map(String::as_str)),
        )
    }

    /// Returns whether a scroll or an entity has a word that can be the path of a file.
    pub(crate) fn names_files(&self) -> bool {
        self.items_with_names().next().is_some()
    }

    /// Returns the findings on all scrolls and entities, up to a limit of looked-up names.
    pub(crate) fn stale_file_findings(&self) -> Vec<Diagnostic> {
        let mut left = MAX_CHECKED_NAMES;
        let looked_up = self.items_with_names().take_while(|(_, names)| {
            let fits = left >= names.len();
            left = left.saturating_sub(names.len());
            fits
        });
        let findings = looked_up.flat_map(|(file, names)| {
            let notes = self.stale_file_notes_of_names(file, &names).into_iter();
            notes.map(|it| Diagnostic::for_file(Code::StaleFile, file, it))
        });
        findings.collect()
    }

    /// Yields the files of the scrolls and entities that have words that can be paths, with these.
    fn items_with_names(&self) -> impl Iterator<Item = (&str, BTreeSet<&str>)> {
        let palace = &self.palace;
        let scrolls = palace.scroll_files().filter_map(|(file, which)| {
            Some((file, names_in([palace.scroll(which)?.body.as_str()])))
        });
        let entities = palace.graph.iter().filter_map(|it| {
            let file = palace.graph.file_of_entity(&it.name)?;
            Some((file, names_in(it.observations.iter().map(String::as_str))))
        });
        scrolls.chain(entities).filter(|(_, names)| !names.is_empty())
    }

    /// Returns a note on each of `names` that is stale for the item in `file`.
    fn stale_file_notes_of_names(&self, file: &str, names: &BTreeSet<&str>) -> Vec<String> {
        let names: Vec<_> = names.iter().copied().take(MAX_NAMES).collect();
        if names.is_empty() {
            return Vec::new();
        }
        let since = match PalacePath::parse(file) {
            Ok(PalacePath::Scroll(_)) => self.creation(file).map(|it| it.commit),
            _ => self.store.last_commit_of_file(&self.history_cache, file),
        };
        // A history that cannot be read is reported elsewhere.
        let stale = since.and_then(|it| self.store.stale_files_outside_palace(&it, &names).ok());
        stale.into_iter().flatten().map(|(path, state)| note(&path, state)).collect()
    }
}

impl StaleFact<'_> {
    fn note(&self) -> String {
        let [kind, to] = [&self.relation.kind, &self.relation.to].map(|it| quoted(it));
        let [touched, changed] =
            [self.touched, self.entity_changed].map(|it| it.format("%Y-%m-%d").to_string());
        format!(
            "{kind} → {to} was not touched since {touched}, and the entity changed on {changed}"
        )
    }
}

/// Returns the time of the newest commit that changed a line of a relation; `None` if one of them is
/// not committed yet.
fn last_change_of_relation(
    positions: &ValuePositions<'_>,
    lines: &[BlamedLine],
    index: usize,
) -> Option<DateTime<Utc>> {
    let path = relation_path(index);
    let keys = RELATION_KEYS.iter().map(|it| path.clone().then_value(it));
    // The position of a missing key is that of the relation.
    let numbers: BTreeSet<usize> = keys.map(|it| positions.position_of(&it).line).collect();
    let times = numbers.into_iter().map(|it| Some(lines.get(it - 1)?.commit.as_ref()?.at));
    times.collect::<Option<Vec<_>>>()?.into_iter().max()
}

fn relation_path(index: usize) -> ValuePath {
    ValuePath::ROOT.then_value("relations").then_item(index)
}

/// Returns the words that can be paths of files other than those of the palace.
fn names_in<'a>(texts: impl IntoIterator<Item = &'a str>) -> BTreeSet<&'a str> {
    let names = texts.into_iter().flat_map(possible_file_paths);
    names.filter(|it| matches!(PalacePath::parse(it), Ok(PalacePath::Other) | Err(_))).collect()
}

fn note(path: &str, state: StaleReason) -> String {
    match state {
        StaleReason::Gone => format!("names {}, which is gone", quoted(path)),
        StaleReason::ChangedMuch => {
            format!("names {}, of which at least half has changed since", quoted(path))
        }
    }
}
