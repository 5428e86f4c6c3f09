//! Converts the store of MemPalace (3.0 to 3.11): texts with metadata, some of them diary
//! entries, and facts with their periods.
//!
//! The input is the rows of its tables; `cli` reads them from the databases.

use crate::exchange::mempalace_tables::MempalaceTables;
use crate::exchange::mempalace_tables::Row;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Display;

use chrono::{DateTime, NaiveDateTime, Utc};
use serde_json::{Map, Value};

use crate::exchange::mempalace_chunks::link_chunks_and_cut_overlaps;
use crate::model::{Entity, MAX_FILE_BYTES, Relation, fold_name, is_printable};

/// Limit for the size of a text, so that its front matter also fits into a file.
const MAX_TEXT_BYTES: usize = MAX_FILE_BYTES / 8 * 7;

/// Limit for the length of a name in a fact.
const MAX_NAME_CHARS: usize = 500;

/// The name that MemPalace uses for a missing wing, room or type.
const UNKNOWN: &str = "unknown";

/// The contents of a MemPalace store, without the parts that could not be parsed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MempalaceData {
    /// The drawers to file, in the order in which MemPalace filed them.
    pub drawers: Vec<ImportedDrawer>,
    /// The diary entries, in the order in which they were written.
    pub diary_entries: Vec<ImportedDiaryEntry>,
    /// The entities that have a type or properties.
    pub entities: Vec<Entity>,
    /// The facts. Each name has one spelling in all of them.
    pub facts: Vec<ImportedFact>,
    /// Messages, by table and id, about values that could not be parsed and were left out
    /// or kept unchanged.
    pub faults: Vec<String>,
    /// Other messages.
    pub notes: Vec<String>,
}

/// A drawer of MemPalace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedDrawer {
    /// The table and the id of its row, or of the text that its pieces belong to.
    pub row: String,
    /// The wing.
    pub wing: String,
    /// The room.
    pub room: String,
    /// The text, joined from its pieces.
    pub text: String,
    /// The source file.
    pub source: Option<String>,
    /// The agent that filed it.
    pub by: Option<String>,
    /// The time when it was filed.
    pub at: Option<DateTime<Utc>>,
}

/// A diary entry of MemPalace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedDiaryEntry {
    /// The table and the id of its row, or of the text that its pieces belong to.
    pub row: String,
    /// The owner of the diary.
    pub agent: String,
    /// The topic of the entry.
    pub topic: Option<String>,
    /// The text, joined from its pieces.
    pub text: String,
    /// The time when it was written.
    pub at: Option<DateTime<Utc>>,
}

/// A fact of MemPalace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedFact {
    /// The id in MemPalace.
    pub id: String,
    /// The name of the subject.
    pub subject: String,
    /// The predicate, the object and the period.
    pub relation: Relation,
}

/// Converts the rows of a store. MemPalace writes times in local time without an offset;
/// `local` converts them to UTC.
pub fn convert_mempalace_tables(
    tables: MempalaceTables,
    local: impl Fn(NaiveDateTime) -> Option<DateTime<Utc>>,
) -> MempalaceData {
    let MempalaceTables { mut texts, entities, triples, faults } = tables;
    let mut data = MempalaceData { faults, ..MempalaceData::default() };
    texts.retain(|it| !it.is_sentinel());
    texts.sort_by_cached_key(|it| {
        (it.field_text("filed_at"), it.field_text("source_file"), it.chunk_index(), it.id.clone())
    });
    data.report_unfiled_texts(&texts);
    link_chunks_and_cut_overlaps(&mut texts);
    for (id, pieces) in group_chunks(texts) {
        data.add_drawer_or_diary_entry(&id, &pieces, &local);
    }
    let mut names = EntityNames::default();
    for row in entities {
        data.add_entity(row, &mut names);
    }
    for row in triples {
        data.add_fact(row, &mut names, &local);
    }
    data
}

/// Groups the pieces of each text under its id, sorted by index.
fn group_chunks(rows: Vec<Row>) -> Vec<(String, Vec<Row>)> {
    let mut wholes: Vec<(String, Vec<Row>)> = Vec::new();
    let mut positions: HashMap<String, usize> = HashMap::new();
    for row in rows {
        let Some(parent) = row.parent_id() else {
            wholes.push((row.id.clone(), vec![row]));
            continue;
        };
        let position = *positions.entry(parent.clone()).or_insert(wholes.len());
        match wholes.get_mut(position) {
            Some((_, pieces)) => pieces.push(row),
            None => wholes.push((parent, vec![row])),
        }
    }
    for (_, pieces) in &mut wholes {
        pieces.sort_by_key(Row::chunk_index);
    }
    wholes
}

/// The names of entities by id, and the first spelling of each name.
#[derive(Default)]
struct EntityNames {
    by_id: HashMap<String, String>,
    spellings: HashMap<String, String>,
}

impl EntityNames {
    fn canonical_spelling(&mut self, name: &str) -> String {
        self.spellings.entry(fold_name(name)).or_insert_with(|| name.to_owned()).clone()
    }

    /// Returns the name of the entity with this id; the id itself if it is unknown.
    fn name_of_id(&mut self, id: &str) -> String {
        let name = self.by_id.get(id).cloned().unwrap_or_else(|| id.to_owned());
        self.canonical_spelling(&name)
    }
}

impl MempalaceData {
    /// Notes how many texts have no wing or no room.
    fn report_unfiled_texts(&mut self, texts: &[Row]) {
        let is_lost = |it: &&Row| {
            let is_text =
                it.field_text(MempalaceTables::TEXT_KEY).is_some() && !it.is_diary_entry();
            is_text && (it.field_text("wing").is_none() || it.field_text("room").is_none())
        };
        let lost: Vec<_> = texts.iter().filter(is_lost).collect();
        let Some(Row { table, id, .. }) = lost.first() else { return };
        let which = match lost.len() {
            1 => format!("{table} {id}"),
            all => format!("{table} {id} and {} more", all - 1),
        };
        self.notes.push(format!("{which}: the wing or room is missing; filed in `{UNKNOWN}`"));
    }

    /// Returns the text of all pieces of the row `id`, and reports missing pieces.
    fn join_chunk_texts(&mut self, id: &str, first: &Row, pieces: &[Row]) -> String {
        let mut text = String::new();
        for piece in pieces {
            match piece.fields.get(MempalaceTables::TEXT_KEY).and_then(Value::as_str) {
                Some(it) => text.push_str(it),
                None => self.add_fault(first.table, &piece.id, "it has no text"),
            }
        }
        let cut = first.parent_id().is_some();
        let missing = (0..).zip(pieces).find(|(place, it)| cut && it.chunk_index() != Some(*place));
        if let Some((place, _)) = missing {
            let why = format!("piece {place} is missing; the others were joined");
            self.add_fault(first.table, id, why);
        }
        text
    }

    fn add_drawer_or_diary_entry(
        &mut self,
        id: &str,
        pieces: &[Row],
        local: impl Fn(NaiveDateTime) -> Option<DateTime<Utc>>,
    ) {
        let Some(first) = pieces.first() else { return };
        let text = self.join_chunk_texts(id, first, pieces);
        if text.trim().is_empty() {
            if first.fields.contains_key(MempalaceTables::TEXT_KEY) {
                self.add_fault(first.table, id, "it has no text");
            }
            return;
        }
        if text.len() > MAX_TEXT_BYTES {
            let why = format!("it has {} bytes; the limit is {MAX_TEXT_BYTES}", text.len());
            return self.add_fault(first.table, id, why);
        }
        let at = first
            .field_timestamp("filed_at", &local)
            .or_else(|| first.field_timestamp("date", &local));
        let row = format!("{} {id}", first.table);
        let wing = first.field_text("wing").unwrap_or_else(|| UNKNOWN.to_owned());
        if first.is_diary_entry() {
            let wing_agent = || wing.strip_prefix("wing_").unwrap_or(&wing).to_owned();
            let agent = first.field_text("agent").unwrap_or_else(wing_agent);
            return self.diary_entries.push(ImportedDiaryEntry {
                row,
                agent,
                topic: first.field_text("topic"),
                text,
                at,
            });
        }
        self.drawers.push(ImportedDrawer {
            row,
            wing,
            room: first.field_text("room").unwrap_or_else(|| UNKNOWN.to_owned()),
            text,
            source: first.field_text("source_file"),
            by: first.field_text("added_by"),
            at,
        });
    }

    /// Adds an entity if it has a type or properties; always records its name.
    fn add_entity(&mut self, row: Row, names: &mut EntityNames) {
        let name = match required_name(&row, "name") {
            Ok(name) => names.canonical_spelling(&name),
            Err(why) => return self.add_fault(row.table, &row.id, why),
        };
        let genus = row.field_text("type").filter(|it| it != UNKNOWN);
        let properties = row.field_text("properties").unwrap_or_else(|| "{}".to_owned());
        let attributes = match serde_json::from_str(&properties) {
            Ok(it) => it,
            Err(_) => {
                self.add_fault(row.table, &row.id, "its `properties` are not a JSON object");
                Map::new()
            }
        };
        if genus.is_some() || !attributes.is_empty() {
            let genus = genus.unwrap_or_default();
            let entity =
                Entity { is_defined: true, genus, attributes, ..Entity::new_loose_end(&name) };
            self.entities.push(entity);
        }
        names.by_id.insert(row.id, name);
    }

    fn add_fact(
        &mut self,
        row: Row,
        names: &mut EntityNames,
        local: impl Fn(NaiveDateTime) -> Option<DateTime<Utc>>,
    ) {
        let [subject, kind, object] =
            ["subject", "predicate", "object"].map(|column| required_name(&row, column));
        let (subject, kind, object) = match (subject, kind, object) {
            (Ok(subject), Ok(kind), Ok(object)) => (subject, kind, object),
            (Err(why), _, _) | (_, Err(why), _) | (_, _, Err(why)) => {
                return self.add_fault(row.table, &row.id, why);
            }
        };
        let [since, until] = ["valid_from", "valid_to"].map(|column| {
            row.field_date(column, &local).unwrap_or_else(|text| {
                let why = format!("its `{column}` is not a date, and is kept as text: {text}");
                self.add_fault(row.table, &row.id, why);
                Some(text)
            })
        });
        let sources = ["source_file", "source_closet", "source_drawer_id"];
        let relation = Relation {
            kind: fold_name(&kind).replace(' ', "_"),
            to: names.name_of_id(&object),
            since,
            until,
            source: sources.into_iter().find_map(|it| row.field_text(it)),
        };
        self.facts.push(ImportedFact { subject: names.name_of_id(&subject), relation, id: row.id });
    }

    fn add_fault(&mut self, table: &str, id: &str, why: impl Display) {
        self.faults.push(format!("{table} {id}: {why}"));
    }
}

/// Returns a name that a fact needs; the error says why the column holds none.
fn required_name(row: &Row, column: &str) -> Result<String, String> {
    let name = row.field_text(column).unwrap_or_default();
    if !name.chars().any(|it| is_printable(it) && !it.is_whitespace()) {
        return Err(format!("its `{column}` is empty"));
    }
    match name.chars().count() {
        length if length > MAX_NAME_CHARS => {
            Err(format!("its `{column}` has {length} characters; the limit is {MAX_NAME_CHARS}"))
        }
        _ => Ok(name),
    }
}

impl MempalaceData {
    /// Returns the names of the subjects of facts, each once.
    pub fn fact_subjects(&self) -> BTreeSet<&str> {
        self.facts.iter().map(|it| it.subject.as_str()).collect()
    }
}
