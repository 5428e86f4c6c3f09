//! Moving in from MemPalace: drawers, diaries and facts in one commit, and
//! nothing twice.

use std::collections::{BTreeMap, HashMap, HashSet};

use chrono::{DateTime, NaiveDateTime, SubsecRound, Utc};

use crate::exchange::{
    self, ImportedDiaryEntry, ImportedDrawer, ImportedFact, MempalaceData, MempalaceTables,
};
use crate::format::{self, new_diary_path};
use crate::keeper::graph::edit::GraphEdit;
use crate::keeper::graph::rules::with_initial_status;
use crate::keeper::import::mine::{plan_filing, sanitize_name};
use crate::keeper::mempalace::add_fact::{is_same_fact, placeholder_entity, resolve_spelling};
use crate::keeper::mempalace::drawers::MAX_NAME_CHARS;
use crate::keeper::palace::{ChangePlan, OpenPalace};
use crate::keeper::session::new_id;
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{DiaryEntry, Drawer, Edit, Entity, FiledUnder, Relation, WingRoom, fold_name};
use crate::render;
use crate::store::Listener;

/// What moving in came to, or would.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportSummary {
    /// The name of the workspace; `None`: there is none yet.
    pub workspace: Option<String>,
    /// How many drawers are new.
    pub drawers: usize,
    /// How many entries of diaries are new.
    pub entries: usize,
    /// Of how many facts more is known than before.
    pub facts: usize,
    /// How many of all these were there already.
    pub already_present: usize,
    /// What could not be understood, by table and id.
    pub errors: Vec<String>,
    /// What else is worth knowing.
    pub notes: Vec<String>,
}

/// What is to be taken in, by names that may be given here.
struct Import {
    drawers: Vec<(WingRoom, Drawer)>,
    entries: Vec<(String, DiaryEntry)>,
    entities: Vec<Entity>,
    facts: Vec<ImportedFact>,
}

impl Keeper {
    /// Takes in what the tables of MemPalace hold and is not there yet, all in
    /// one commit; nothing is taken away. `local` says which moment the clock on
    /// the wall showed; `tell` is called with how many steps of how many are
    /// done. Only says what it would do if `dry`.
    pub fn import_mempalace(
        &mut self,
        by: &Caller,
        tables: MempalaceTables,
        local: impl Fn(NaiveDateTime) -> Option<DateTime<Utc>>,
        dry: bool,
        tell: impl Fn(usize, usize) + Send + Sync + 'static,
    ) -> Result<ImportSummary, Refusal> {
        let mut estate = exchange::read_mempalace(tables, local);
        let faults = std::mem::take(&mut estate.faults);
        let notes = std::mem::take(&mut estate.notes);
        let arrivals = self.prepare_import(by, estate);
        let key = match dry || arrivals.is_empty() {
            true => self.current_workspace_if_any(by)?,
            false => Some(self.current_or_new_workspace(by)?),
        };
        let Some(key) = key else {
            return Ok(ImportSummary {
                errors: faults,
                notes,
                ..arrivals.summary_for_empty_palace()
            });
        };
        let mut moved = ImportSummary::default();
        let held = self.open_palace(&key)?;
        held.set_progress_listener(Listener::new(tell));
        held.change(by, |held| {
            let (edits, counted) = arrivals.plan_edits(held)?;
            moved = counted;
            let body = format!(
                "{}, {}, {}",
                render::pluralize(moved.drawers, "drawer"),
                render::pluralize(moved.entries, "diary entry"),
                render::pluralize(moved.facts, "fact")
            );
            let edits = if dry { Vec::new() } else { edits };
            Ok(ChangePlan { edits, subject: "mempalace: import".to_owned(), body })
        })?;
        moved.workspace = Some(held.palace.settings.name.clone());
        moved.errors.splice(0..0, faults);
        moved.notes = notes;
        Ok(moved)
    }

    /// Gives names and ids to what arrives.
    fn prepare_import(&mut self, by: &Caller, estate: MempalaceData) -> Import {
        let subjects: Vec<_> = estate.subjects().into_iter().map(render::one_line).collect();
        let MempalaceData { drawers: texts, diary_entries: entries, entities, mut facts, .. } =
            estate;
        let mut known: BTreeMap<String, Entity> = BTreeMap::new();
        for name in subjects.into_iter().chain(entities.iter().map(|it| render::one_line(&it.name)))
        {
            let unknown = || placeholder_entity(&name, new_id(&mut self.id_generator, by.now));
            known.entry(name.clone()).or_insert_with(unknown);
        }
        // Of several who say what something is, the first is right.
        for it in entities.into_iter().rev() {
            let Some(entity) = known.get_mut(&render::one_line(&it.name)) else { continue };
            if !it.genus.is_empty() {
                entity.genus = render::one_line(&it.genus);
            }
            entity.attributes.extend(it.attributes);
        }
        for ImportedFact { subject, relation, .. } in &mut facts {
            for it in [subject, &mut relation.kind, &mut relation.to] {
                *it = render::one_line(it);
            }
        }
        Import {
            drawers: texts.into_iter().map(|it| self.convert_drawer(by, it)).collect(),
            entries: entries.into_iter().map(|it| self.convert_diary_entry(by, it)).collect(),
            entities: known.into_values().collect(),
            facts,
        }
    }

    fn convert_drawer(&mut self, by: &Caller, it: ImportedDrawer) -> (WingRoom, Drawer) {
        let [wing, room] = [it.wing, it.room].map(|it| sanitize_name(&it, MAX_NAME_CHARS));
        let drawer = Drawer {
            id: new_id(&mut self.id_generator, by.now),
            filed_under: FiledUnder { wing: Some(wing.clone()), room: Some(room.clone()) },
            source: it.source.map(|it| render::one_line(&it)),
            by: it.by.map(|it| render::one_line(&it)),
            filed: Some(it.at.unwrap_or(by.now).trunc_subsecs(0)),
            text: it.text.replace('\0', "\u{fffd}"),
        };
        (WingRoom { wing, room }, drawer)
    }

    fn convert_diary_entry(&mut self, by: &Caller, it: ImportedDiaryEntry) -> (String, DiaryEntry) {
        let agent = sanitize_name(&it.agent, MAX_NAME_CHARS);
        let topic = it.topic.map(|it| sanitize_name(&it, MAX_NAME_CHARS));
        let entry = DiaryEntry {
            id: new_id(&mut self.id_generator, by.now),
            agent: Some(agent.clone()),
            topic: topic.unwrap_or_else(|| DiaryEntry::DEFAULT_TOPIC.to_owned()),
            written: it.at.map(|it| it.trunc_subsecs(0)),
            text: it.text.replace('\0', "\u{fffd}"),
        };
        (agent, entry)
    }
}

impl Import {
    fn is_empty(&self) -> bool {
        let Self { drawers, entries, entities, facts } = self;
        drawers.is_empty() && entries.is_empty() && entities.is_empty() && facts.is_empty()
    }

    /// Counts what would be new where nothing is known yet.
    fn summary_for_empty_palace(&self) -> ImportSummary {
        let drawers: HashSet<_> = self.drawers.iter().map(|(it, kept)| (it, &kept.text)).collect();
        let entries: HashSet<_> =
            self.entries.iter().map(|(it, entry)| (it, &entry.text, entry.written)).collect();
        let facts: HashSet<_> = self.facts.iter().map(FactKey::from_fact).collect();
        let (drawers, entries, facts) = (drawers.len(), entries.len(), facts.len());
        let all = self.drawers.len() + self.entries.len() + self.facts.len();
        ImportSummary {
            drawers,
            entries,
            facts,
            already_present: all - drawers - entries - facts,
            ..ImportSummary::default()
        }
    }

    fn plan_edits(&self, held: &mut OpenPalace) -> Result<(Vec<Edit>, ImportSummary), Refusal> {
        let filings = plan_filing(held, None, &self.drawers);
        let written = self.plan_diary_entries(held);
        let (revision, learned, faults) = self.plan_facts(held)?;
        let moved = ImportSummary {
            drawers: filings.edits.len(),
            entries: written.len(),
            facts: learned,
            already_present: filings.already_filed + self.entries.len() - written.len()
                + self.facts.len()
                - learned
                - faults.len(),
            errors: faults,
            ..ImportSummary::default()
        };
        let mut edits = filings.edits;
        edits.extend(written);
        edits.extend(revision.into_edits()?);
        Ok((edits, moved))
    }

    /// Writes the entries that no diary holds.
    fn plan_diary_entries(&self, held: &OpenPalace) -> Vec<Edit> {
        let diaries = &held.palace.diaries;
        let mut known: HashSet<(String, &str, Option<DateTime<Utc>>)> = HashSet::new();
        for (file, it) in diaries.iter() {
            let agent = diaries.agent_of(file).unwrap_or_default().to_lowercase();
            // Of an undated entry, it is not known when it was written here either.
            known.insert((agent.clone(), &it.text, None));
            known.insert((agent, &it.text, it.written));
        }
        let mut joining: HashMap<String, usize> = HashMap::new();
        let mut edits = Vec::new();
        for (agent, entry) in &self.entries {
            if !known.insert((agent.to_lowercase(), &entry.text, entry.written)) {
                continue;
            }
            let joins = |it: &str| joining.get(it).copied().unwrap_or_default();
            let path = new_diary_path(diaries, agent, entry, joins);
            if let Some((folder, _)) = path.rsplit_once('/') {
                *joining.entry(folder.to_owned()).or_default() += 1;
            }
            edits.push(Edit { path, was: None, now: Some(format::write_diary_entry(entry)) });
        }
        edits
    }

    /// States the facts; says of how many more is known now, and which could not
    /// be stated.
    fn plan_facts(
        &self,
        held: &mut OpenPalace,
    ) -> Result<(GraphEdit, usize, Vec<String>), Refusal> {
        let mut revision = GraphEdit::default();
        for it in &self.entities {
            // Of a name that could be several, something is known already.
            let Ok(name) = resolve_spelling(&held.palace.graph, &it.name) else { continue };
            if revision.entity_mut(held, &name)?.is_none() {
                let entity =
                    with_initial_status(&held.palace.graph, &Entity { name, ..it.clone() });
                revision.add_entity(held, entity)?;
            }
        }
        let all: HashSet<_> = self.facts.iter().map(FactKey::from_fact).collect();
        let (mut learned, mut faults) = (0, Vec::new());
        for it in &self.facts {
            let graph = &held.palace.graph;
            let (commit_subject, to) = match (
                resolve_spelling(graph, &it.subject),
                resolve_spelling(graph, &it.relation.to),
            ) {
                (Ok(commit_subject), Ok(to)) => (commit_subject, to),
                (Err(why), _) | (_, Err(why)) => {
                    faults.push(format!("triples {}: {why}", it.id));
                    continue;
                }
            };
            let Some(start) = revision.get_or_add_source(held, &commit_subject)? else { continue };
            let new = Relation { to, ..it.relation.clone() };
            let is_told = |it: &Relation| all.contains(&FactKey::new(&commit_subject, it));
            learned += usize::from(merge_fact(&mut start.relations, new, is_told));
        }
        Ok((revision, learned, faults))
    }
}

/// A fact, whatever its names are spelled like, and when it holds.
#[derive(PartialEq, Eq, Hash)]
struct FactKey {
    names: [String; 3],
    since: Option<String>,
    until: Option<String>,
}

impl FactKey {
    fn new(subject: &str, it: &Relation) -> Self {
        let names = [subject, &it.kind, &it.to].map(fold_name);
        Self { names, since: it.since.clone(), until: it.until.clone() }
    }

    fn from_fact(it: &ImportedFact) -> Self {
        Self::new(&it.subject, &it.relation)
    }
}

/// Adds a fact to what is known of its subject, or its dates to a fact that says
/// the same and lacks them; tells whether more is known than before. What
/// `is_told` of itself is another fact.
fn merge_fact(
    relations: &mut Vec<Relation>,
    new: Relation,
    is_told: impl Fn(&Relation) -> bool,
) -> bool {
    let mut same: Vec<_> = relations.iter_mut().filter(|it| is_same_fact(it, &new)).collect();
    if same.iter().any(|it| (&it.since, &it.until) == (&new.since, &new.until)) {
        return false;
    }
    same.retain(|it| !is_told(it));
    for old in same {
        let (begin_alike, open) = (old.since == new.since, old.until.is_none());
        match (open, new.until.is_none()) {
            // It has ended since, here or there.
            (true, false) if begin_alike => {
                old.until = new.until;
                return true;
            }
            (false, true) if begin_alike => return false,
            (true, true) if old.since.is_none() => {
                old.since = new.since;
                return true;
            }
            (true, true) if new.since.is_none() => return false,
            _ => {}
        }
    }
    relations.push(new);
    true
}
