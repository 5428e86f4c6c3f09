//! Imports a palace of MemPalace: drawers, diaries and facts, in one commit. Secrets in them are
//! redacted. What exists already is not imported again.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use chrono::{DateTime, NaiveDateTime, SubsecRound, Utc};
use ulid::Ulid;

use crate::graph::entity_file_edits::EntityFileEdits;
use crate::graph::rules::with_initial_status;
use crate::import::mine::{FilingPlanner, sanitize_name};
use crate::import::{
    ImportOptions, RedactedSecret, Redactions, SecretNumbers, redact_faults_and_notes,
};
use crate::mempalace::drawers::MAX_NAME_CHARS;
use crate::mempalace::fact_changes::{
    has_same_kind_and_object, placeholder_entity, resolve_spelling,
};
use crate::palace::OpenPalace;
use crate::palace::change_plan::{ChangeOptions, ChangePlan};
use crate::session::new_id;
use crate::{Caller, Keeper, Refusal};
use palazzo_core::exchange::{
    self, ImportedDiaryEntry, ImportedDrawer, ImportedFact, MempalaceData, MempalaceTables,
};
use palazzo_core::format::{self, new_diary_entry_path};
use palazzo_core::model::{
    DiaryEntry, DisplayWingRoom, Drawer, Entity, FileEdit, FrontMatterWingRoom, Relation, fold_name,
};
use palazzo_core::render;

/// The counts of an import, or of a dry run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MempalaceImportSummary {
    /// The name of the workspace; `None` if there is none yet.
    pub workspace: Option<String>,
    /// How many drawers are new.
    pub drawers: usize,
    /// How many diary entries are new.
    pub entries: usize,
    /// How many facts are new or got a date.
    pub facts: usize,
    /// How many drawers, entries and facts existed already.
    pub already_present: usize,
    /// The rows that could not be imported, by table and id.
    pub errors: Vec<String>,
    /// Other notes to the user.
    pub notes: Vec<String>,
    /// The secrets that were redacted in what is new.
    pub redacted: Vec<RedactedSecret>,
}

/// The data to import, with names that are valid here.
struct ImportItems {
    drawers: Vec<(DisplayWingRoom, Drawer)>,
    entries: Vec<(String, DiaryEntry)>,
    entities: Vec<Entity>,
    facts: Vec<ImportedFact>,
    redactions: Redactions,
    /// The names of wings, rooms, agents, topics and sources, each once.
    names: BTreeSet<String>,
}

/// Adds the contents of the tables of MemPalace that the palace does not have, in one commit;
/// deletes nothing. Secrets are redacted before. `to_utc` converts a local time; `progress` is called
/// with the numbers of steps done and of all steps. In a dry run, only counts. Creates the first
/// palace if there is none.
pub fn import_mempalace(
    keeper: &mut Keeper,
    caller: &Caller,
    tables: MempalaceTables,
    to_utc: impl Fn(NaiveDateTime) -> Option<DateTime<Utc>>,
    options: ImportOptions,
    progress: impl Fn(usize, usize) + Send + Sync + 'static,
) -> Result<MempalaceImportSummary, Refusal> {
    let (dry, mut redactions) = (options.mode.is_dry_run(), Redactions::new(options));
    let mut data = exchange::convert_mempalace_tables(tables, to_utc);
    let errors = redact_faults_and_notes(std::mem::take(&mut data.faults), options);
    let notes = redact_faults_and_notes(std::mem::take(&mut data.notes), options);
    let names = redact_data(&mut redactions, &mut data);
    let import = ImportItems::from_mempalace_data(data, (redactions, names), caller.now, || {
        new_id(&mut keeper.id_generator, caller.now)
    });
    let session = match dry || import.is_empty() {
        true => keeper.session_if_any(caller)?,
        false => Some(keeper.session_for_writing(caller)?),
    };
    let Some(session) = session else {
        return Ok(MempalaceImportSummary { errors, notes, ..import.summary_for_empty_palace() });
    };
    let mut summary = MempalaceImportSummary::default();
    session.palace.change_files(
        &caller.with_progress(progress),
        &ChangeOptions::default(),
        |open| {
            let (edits, counts) = import.plan_edits(open)?;
            summary = counts;
            let body = format!(
                "{}, {}, {}",
                render::count_with_noun(summary.drawers, "drawer"),
                render::count_with_noun(summary.entries, "diary entry"),
                render::count_with_noun(summary.facts, "fact")
            );
            let edits = if dry { Vec::new() } else { edits };
            Ok(ChangePlan { edits, subject: "mempalace: import".to_owned(), body })
        },
    )?;
    summary.workspace = Some(session.palace.palace.settings.name.clone());
    summary.errors.splice(0..0, errors);
    summary.notes = notes;
    Ok(summary)
}

impl ImportItems {
    /// Converts imported data: makes its names valid, and adds ids. `now` is the date of drawers
    /// without a date.
    fn from_mempalace_data(
        data: MempalaceData,
        (redactions, names): (Redactions, BTreeSet<String>),
        now: DateTime<Utc>,
        mut new_id: impl FnMut() -> Ulid,
    ) -> Self {
        let subjects: Vec<_> =
            data.fact_subjects().into_iter().map(render::storable_line).collect();
        let MempalaceData { drawers, diary_entries, entities, mut facts, .. } = data;
        let mut by_name: BTreeMap<String, Entity> = BTreeMap::new();
        for name in
            subjects.into_iter().chain(entities.iter().map(|it| render::storable_line(&it.name)))
        {
            by_name.entry(name.clone()).or_insert_with(|| placeholder_entity(&name, new_id()));
        }
        // If several rows give the genus of one entity, use the first.
        for it in entities.into_iter().rev() {
            let Some(entity) = by_name.get_mut(&render::storable_line(&it.name)) else { continue };
            if !it.genus.is_empty() {
                entity.genus = render::storable_line(&it.genus);
            }
            entity.attributes.extend(it.attributes);
        }
        for ImportedFact { subject, relation, .. } in &mut facts {
            for it in [subject, &mut relation.kind, &mut relation.to] {
                *it = render::storable_line(it);
            }
        }
        Self {
            drawers: drawers.into_iter().map(|it| convert_drawer(it, new_id(), now)).collect(),
            entries: diary_entries
                .into_iter()
                .map(|it| convert_diary_entry(it, new_id()))
                .collect(),
            entities: by_name.into_values().collect(),
            facts,
            redactions,
            names,
        }
    }

    fn is_empty(&self) -> bool {
        let Self { drawers, entries, entities, facts, .. } = self;
        drawers.is_empty() && entries.is_empty() && entities.is_empty() && facts.is_empty()
    }

    /// Counts what would be new in an empty palace.
    fn summary_for_empty_palace(&self) -> MempalaceImportSummary {
        let drawers: HashSet<_> =
            self.drawers.iter().map(|(it, drawer)| (it, &drawer.text)).collect();
        let entries: HashSet<_> =
            self.entries.iter().map(|(it, entry)| (it, &entry.text, entry.written)).collect();
        let facts: HashSet<_> = self.facts.iter().map(FactKey::from_fact).collect();
        let (drawers, entries, facts) = (drawers.len(), entries.len(), facts.len());
        let all = self.drawers.len() + self.entries.len() + self.facts.len();
        MempalaceImportSummary {
            drawers,
            entries,
            facts,
            already_present: all - drawers - entries - facts,
            redacted: self.redactions.list_secrets(&self.redactions.all_secrets()),
            ..MempalaceImportSummary::default()
        }
    }

    fn plan_edits(
        &self,
        open: &mut OpenPalace,
    ) -> Result<(Vec<FileEdit>, MempalaceImportSummary), Refusal> {
        let mut planner = FilingPlanner::new(open, false);
        let filing = planner.plan_filing(None, &self.drawers, &self.redactions);
        let (entry_edits, mut redacted) = self.plan_diary_entries(open);
        let (edit, added, errors) = self.plan_facts(open, &mut redacted)?;
        redacted.extend(filing.redacted);
        if filing.edits.len() + entry_edits.len() > 0 {
            let names = self.names.iter().map(String::as_str);
            redacted.extend(self.redactions.secrets_of(names));
        }
        let summary = MempalaceImportSummary {
            drawers: filing.edits.len(),
            entries: entry_edits.len(),
            facts: added,
            already_present: filing.already_filed + self.entries.len() - entry_edits.len()
                + self.facts.len()
                - added
                - errors.len(),
            errors,
            redacted: self.redactions.list_secrets(&redacted),
            ..MempalaceImportSummary::default()
        };
        let mut edits = filing.edits;
        edits.extend(entry_edits);
        edits.extend(edit.into_edits()?);
        Ok((edits, summary))
    }

    /// Plans the edits for the entries that no diary has; returns with them the secrets that were
    /// redacted in them.
    fn plan_diary_entries(&self, open: &OpenPalace) -> (Vec<FileEdit>, SecretNumbers) {
        let diaries = &open.palace.diaries;
        let mut present: HashSet<(String, &str, Option<DateTime<Utc>>)> = HashSet::new();
        for (file, it) in diaries.iter() {
            let agent = diaries.agent_of_file(file).unwrap_or_default().to_lowercase();
            // An imported entry without a date is equal to one with any date.
            present.insert((agent.clone(), &it.text, None));
            present.insert((agent, &it.text, it.written));
        }
        let mut new_per_folder: HashMap<String, usize> = HashMap::new();
        let (mut edits, mut redacted) = (Vec::new(), SecretNumbers::new());
        for (agent, entry) in &self.entries {
            let mut originals = self.redactions.originals_of(&entry.text);
            let key = |text| (agent.to_lowercase(), text, entry.written);
            if originals.any(|it| present.contains(&key(it))) {
                continue;
            }
            if !present.insert((agent.to_lowercase(), &entry.text, entry.written)) {
                continue;
            }
            let new_in = |it: &str| new_per_folder.get(it).copied().unwrap_or_default();
            let path = new_diary_entry_path(diaries, agent, entry, new_in);
            if let Some((folder, _)) = path.rsplit_once('/') {
                *new_per_folder.entry(folder.to_owned()).or_default() += 1;
            }
            edits.push(FileEdit {
                path,
                was: None,
                now: Some(format::serialize_diary_entry(entry)),
            });
            redacted.extend(self.redactions.secrets_of([entry.text.as_str()]));
        }
        (edits, redacted)
    }

    /// Adds the facts. Returns how many were added or got a date, and the errors of the others. Adds
    /// the secrets that were redacted in them to `redacted`.
    fn plan_facts(
        &self,
        open: &mut OpenPalace,
        redacted: &mut SecretNumbers,
    ) -> Result<(EntityFileEdits, usize, Vec<String>), Refusal> {
        let mut edit = EntityFileEdits::default();
        for it in &self.entities {
            // Do not create an entity for a name that could mean several existing ones.
            let Ok(name) = resolve_spelling(&open.palace.graph, &it.name) else { continue };
            if edit.entity_mut(open, &name)?.is_none() {
                let entity =
                    with_initial_status(&open.palace.graph, &Entity { name, ..it.clone() });
                edit.add_entity(open, entity)?;
                redacted.extend(self.redactions.secrets_from(&entity_row(&it.name)));
            }
        }
        let all: HashSet<_> = self.facts.iter().map(FactKey::from_fact).collect();
        let (mut added, mut errors) = (0, Vec::new());
        for it in &self.facts {
            let graph = &open.palace.graph;
            let (subject, to) = match (
                resolve_spelling(graph, &it.subject),
                resolve_spelling(graph, &it.relation.to),
            ) {
                (Ok(subject), Ok(to)) => (subject, to),
                (Err(why), _) | (_, Err(why)) => {
                    errors.push(format!("triples {}: {why}", it.id));
                    continue;
                }
            };
            let Some(source) = edit.entity_or_new_loose_end_mut(open, &subject)? else { continue };
            let new = Relation { to, ..it.relation.clone() };
            let is_imported = |it: &Relation| all.contains(&FactKey::from_relation(&subject, it));
            if merge_fact(&mut source.relations, new, is_imported) {
                added += 1;
                redacted.extend(self.redactions.secrets_from(&fact_row(&it.id)));
            }
        }
        Ok((edit, added, errors))
    }
}

fn convert_drawer(it: ImportedDrawer, id: Ulid, now: DateTime<Utc>) -> (DisplayWingRoom, Drawer) {
    let [wing, room] = [it.wing, it.room].map(|it| sanitize_name(&it, MAX_NAME_CHARS));
    let drawer = Drawer {
        id,
        filed_under: FrontMatterWingRoom { wing: Some(wing.clone()), room: Some(room.clone()) },
        title: None,
        labels: Vec::new(),
        source: it.source.map(|it| render::storable_line(&it)),
        by: it.by.map(|it| render::storable_line(&it)),
        filed: Some(it.at.unwrap_or(now).trunc_subsecs(0)),
        text: it.text.replace('\0', "\u{fffd}"),
    };
    (DisplayWingRoom { wing, room }, drawer)
}

fn convert_diary_entry(it: ImportedDiaryEntry, id: Ulid) -> (String, DiaryEntry) {
    let agent = sanitize_name(&it.agent, MAX_NAME_CHARS);
    let topic = it.topic.map(|it| sanitize_name(&it, MAX_NAME_CHARS));
    let entry = DiaryEntry {
        id,
        agent: Some(agent.clone()),
        topic: topic.unwrap_or_else(|| DiaryEntry::DEFAULT_TOPIC.to_owned()),
        written: it.at.map(|it| it.trunc_subsecs(0)),
        text: it.text.replace('\0', "\u{fffd}"),
    };
    (agent, entry)
}

/// A fact with its dates, for comparisons that ignore the spelling of names.
#[derive(PartialEq, Eq, Hash)]
struct FactKey {
    names: [String; 3],
    since: Option<String>,
    until: Option<String>,
}

impl FactKey {
    fn from_relation(subject: &str, it: &Relation) -> Self {
        let names = [subject, &it.kind, &it.to].map(fold_name);
        Self { names, since: it.since.clone(), until: it.until.clone() }
    }

    fn from_fact(it: &ImportedFact) -> Self {
        Self::from_relation(&it.subject, &it.relation)
    }
}

/// Adds a fact to the relations of its subject, or adds its dates to the same fact without dates.
/// Returns true if it changed anything. Facts that `is_imported` too get no dates.
fn merge_fact(
    relations: &mut Vec<Relation>,
    new: Relation,
    is_imported: impl Fn(&Relation) -> bool,
) -> bool {
    let mut same: Vec<_> =
        relations.iter_mut().filter(|it| has_same_kind_and_object(it, &new)).collect();
    if same.iter().any(|it| (&it.since, &it.until) == (&new.since, &new.until)) {
        return false;
    }
    same.retain(|it| !is_imported(it));
    for old in same {
        let (same_begin, open) = (old.since == new.since, old.until.is_none());
        match (open, new.until.is_none()) {
            // The fact ended after one of the two was written.
            (true, false) if same_begin => {
                old.until = new.until;
                return true;
            }
            (false, true) if same_begin => return false,
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

/// Returns the name of a row of an entity, for reports.
fn entity_row(name: &str) -> String {
    format!("entities {name}")
}

/// Returns the name of a row of a fact, for reports.
fn fact_row(id: &str) -> String {
    format!("triples {id}")
}

/// Redacts all texts and names; returns the names of drawers and diaries.
fn redact_data(redactions: &mut Redactions, data: &mut MempalaceData) -> BTreeSet<String> {
    let mut all_names = BTreeSet::new();
    let mut redact = |texts: &mut dyn Iterator<Item = &mut String>, row: &str| {
        for text in texts {
            *text = redactions.redact(text, row, |line| format!("line {}", line + 1));
        }
    };
    for it in &mut data.drawers {
        let names = it.source.iter_mut().chain(&mut it.by).chain([&mut it.wing, &mut it.room]);
        redact(&mut names.chain([&mut it.text]), &it.row);
        all_names.extend(it.source.iter().chain(&it.by).chain([&it.wing, &it.room]).cloned());
    }
    for it in &mut data.diary_entries {
        redact(&mut it.topic.iter_mut().chain([&mut it.agent, &mut it.text]), &it.row);
        all_names.extend(it.topic.iter().chain([&it.agent]).cloned());
    }
    for ImportedFact { subject, relation, id } in &mut data.facts {
        let Relation { kind, to, since, until, source } = relation;
        let names = [subject, kind, to].into_iter();
        redact(&mut names.chain(since).chain(until).chain(source), &fact_row(id));
    }
    for it in &mut data.entities {
        let row = entity_row(&it.name);
        redact(&mut [&mut it.name, &mut it.genus].into_iter(), &row);
    }
    for it in &mut data.entities {
        let attributes = std::mem::take(&mut it.attributes);
        it.attributes =
            redactions.redact_json_object(&attributes, &entity_row(&it.name), "attributes");
    }
    all_names
}
