//! The store of MemPalace (3.0 to 3.11): texts with what is known of them, some
//! of which are entries of diaries, and facts with their time.
//!
//! What its tables hold comes as rows; how they are read is no matter here.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Display;

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, SecondsFormat, Utc};
use serde_json::{Map, Value};

use crate::exchange::mempalace_chunks::link_overlapping_chunks;
use crate::model::{Date, Entity, MAX_FILE_BYTES, Relation, fold_name, is_printable};

/// How many bytes a text may have, so that there is room for what is said of it.
const MAX_TEXT_BYTES: usize = MAX_FILE_BYTES / 8 * 7;

/// The most characters a name in a fact may have.
const MAX_NAME_CHARS: usize = 500;

/// Where MemPalace counts what says no wing or room.
const UNKNOWN: &str = "unknown";

/// Rooms of rows that say only that a file has been looked at.
const REGISTRY_ROOM: &str = "_registry";

/// A row of a table, or an item of a collection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// The table.
    pub table: &'static str,
    /// What it goes by.
    pub id: String,
    /// What it says, by column or key.
    pub fields: Map<String, Value>,
}

/// What the tables hold.
#[derive(Clone, Debug, Default)]
pub struct MempalaceTables {
    /// Texts with what is known of them; the text is in [`MempalaceTables::TEXT`].
    pub texts: Vec<Row>,
    /// The names that facts speak of.
    pub entities: Vec<Row>,
    /// The facts.
    pub triples: Vec<Row>,
    /// What could not be read, and where it stands.
    pub faults: Vec<String>,
}

impl MempalaceTables {
    /// The key of the text itself, which is Chroma's own.
    pub const TEXT_KEY: &str = "chroma:document";
}

/// What somebody leaves there who moves in here, as far as it could be understood.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MempalaceData {
    /// Texts to be filed, in the order in which they were.
    pub drawers: Vec<ImportedDrawer>,
    /// Entries of diaries, in the order in which they were written.
    pub diary_entries: Vec<ImportedDiaryEntry>,
    /// Entities of which more is known than facts.
    pub entities: Vec<Entity>,
    /// Facts. A name is spelled in one way in all of them.
    pub facts: Vec<ImportedFact>,
    /// What was left out, or taken as it stands, because it could not be understood, by
    /// table and id.
    pub faults: Vec<String>,
    /// What else is worth knowing.
    pub notes: Vec<String>,
}

/// A text that was filed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedDrawer {
    /// The wing.
    pub wing: String,
    /// The room.
    pub room: String,
    /// The text, in one piece.
    pub text: String,
    /// Where it comes from.
    pub source: Option<String>,
    /// Who filed it.
    pub by: Option<String>,
    /// When it was filed.
    pub at: Option<DateTime<Utc>>,
}

/// An entry of a diary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedDiaryEntry {
    /// Whose diary it is.
    pub agent: String,
    /// What it is about.
    pub topic: Option<String>,
    /// The text, in one piece.
    pub text: String,
    /// When it was written.
    pub at: Option<DateTime<Utc>>,
}

/// Something that was said of somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedFact {
    /// What it goes by there.
    pub id: String,
    /// What it is said of, by name.
    pub subject: String,
    /// What is said, of what, and when it holds.
    pub relation: Relation,
}

/// Understands what such a store holds. MemPalace writes moments as the clock on
/// the wall shows them: `local` says which they were.
pub fn read_mempalace(
    tables: MempalaceTables,
    local: impl Fn(NaiveDateTime) -> Option<DateTime<Utc>>,
) -> MempalaceData {
    let MempalaceTables { mut texts, entities, triples, faults } = tables;
    let mut estate = MempalaceData { faults, ..MempalaceData::default() };
    texts.retain(|it| !it.is_sentinel());
    texts.sort_by_cached_key(|it| {
        (it.field_text("filed_at"), it.field_text("source_file"), it.chunk_index(), it.id.clone())
    });
    estate.note_unfiled_texts(&texts);
    link_overlapping_chunks(&mut texts);
    for (id, pieces) in group_chunks(texts) {
        estate.add_text(&id, &pieces, &local);
    }
    let mut names = EntityNames::default();
    for row in entities {
        estate.add_entity(row, &mut names);
    }
    for row in triples {
        estate.add_fact(row, &mut names, &local);
    }
    estate
}

/// Puts the pieces together into which long texts were cut.
fn group_chunks(rows: Vec<Row>) -> Vec<(String, Vec<Row>)> {
    let mut wholes: Vec<(String, Vec<Row>)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for row in rows {
        let Some(parent) = row.parent_id() else {
            wholes.push((row.id.clone(), vec![row]));
            continue;
        };
        let place = *places.entry(parent.clone()).or_insert(wholes.len());
        match wholes.get_mut(place) {
            Some((_, pieces)) => pieces.push(row),
            None => wholes.push((parent, vec![row])),
        }
    }
    for (_, pieces) in &mut wholes {
        pieces.sort_by_key(Row::chunk_index);
    }
    wholes
}

/// The names that facts speak of, by id, and the first spelling of each.
#[derive(Default)]
struct EntityNames {
    by_id: HashMap<String, String>,
    spellings: HashMap<String, String>,
}

impl EntityNames {
    fn canonical_spelling(&mut self, name: &str) -> String {
        self.spellings.entry(fold_name(name)).or_insert_with(|| name.to_owned()).clone()
    }

    /// Returns what the entity is called that goes by `id`.
    fn name_of_id(&mut self, id: &str) -> String {
        let name = self.by_id.get(id).cloned().unwrap_or_else(|| id.to_owned());
        self.canonical_spelling(&name)
    }
}

impl MempalaceData {
    /// Says how many texts lie where MemPalace counts what has no place.
    fn note_unfiled_texts(&mut self, texts: &[Row]) {
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
        self.notes.push(format!("{which}: no wing or no room is named; filed in `{UNKNOWN}`"));
    }

    fn add_text(
        &mut self,
        id: &str,
        pieces: &[Row],
        local: impl Fn(NaiveDateTime) -> Option<DateTime<Utc>>,
    ) {
        let Some(first) = pieces.first() else { return };
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
            let why = format!("piece {place} is missing; the others were put together");
            self.add_fault(first.table, id, why);
        }
        if text.trim().is_empty() {
            if first.fields.contains_key(MempalaceTables::TEXT_KEY) {
                self.add_fault(first.table, id, "it has no text");
            }
            return;
        }
        if text.len() > MAX_TEXT_BYTES {
            let why = format!("it has {} bytes, and {MAX_TEXT_BYTES} are the most", text.len());
            return self.add_fault(first.table, id, why);
        }
        let at = first.timestamp("filed_at", &local).or_else(|| first.timestamp("date", &local));
        let wing = first.field_text("wing").unwrap_or_else(|| UNKNOWN.to_owned());
        if first.is_diary_entry() {
            let of_wing = || wing.strip_prefix("wing_").unwrap_or(&wing).to_owned();
            let agent = first.field_text("agent").unwrap_or_else(of_wing);
            return self.diary_entries.push(ImportedDiaryEntry {
                agent,
                topic: first.field_text("topic"),
                text,
                at,
            });
        }
        self.drawers.push(ImportedDrawer {
            wing,
            room: first.field_text("room").unwrap_or_else(|| UNKNOWN.to_owned()),
            text,
            source: first.field_text("source_file"),
            by: first.field_text("added_by"),
            at,
        });
    }

    /// Takes in an entity, if more is known of it than its name.
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
                self.add_fault(row.table, &row.id, "its `properties` are no object in JSON");
                Map::new()
            }
        };
        if genus.is_some() || !attributes.is_empty() {
            let genus = genus.unwrap_or_default();
            let known =
                Entity { is_defined: true, genus, attributes, ..Entity::new_loose_end(&name) };
            self.entities.push(known);
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
            row.date(column, &local).unwrap_or_else(|said| {
                let why = format!("its `{column}` is no date, and kept as it stands: {said}");
                self.add_fault(row.table, &row.id, why);
                Some(said)
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

impl Row {
    /// The key of what a piece is a piece of.
    pub(super) const PARENT_KEY: &str = "parent_drawer_id";

    /// Returns what the row says in a field, if it says anything.
    pub(super) fn field_text(&self, key: &str) -> Option<String> {
        let text = match self.fields.get(key)? {
            Value::Null => return None,
            Value::String(text) => text.trim().to_owned(),
            value => value.to_string(),
        };
        Some(text).filter(|it| !it.is_empty())
    }

    /// Tells whether it is an entry of a diary.
    fn is_diary_entry(&self) -> bool {
        self.field_text("type").as_deref() == Some("diary_entry")
    }

    /// Returns what the whole goes by that this is a piece of.
    pub(super) fn parent_id(&self) -> Option<String> {
        self.field_text(Self::PARENT_KEY).or_else(|| self.field_text("parent_entry_id"))
    }

    /// Returns which piece of the whole it is, from 0.
    pub(super) fn chunk_index(&self) -> Option<i64> {
        self.fields.get("chunk_index").and_then(Value::as_i64)
    }

    /// Tells whether this is no text of anybody's, but a mark of MemPalace that it
    /// has looked at a file.
    fn is_sentinel(&self) -> bool {
        let marked = matches!(self.fields.get("is_sentinel"), Some(Value::Bool(true)));
        marked || self.field_text("room").as_deref() == Some(REGISTRY_ROOM)
    }

    /// Returns a date as a fact may say it; the error is what is said and is none.
    fn date(
        &self,
        key: &str,
        local: impl Fn(NaiveDateTime) -> Option<DateTime<Utc>>,
    ) -> Result<Option<String>, String> {
        let Some(said) = self.field_text(key) else { return Ok(None) };
        if said.parse::<Date>().is_ok() {
            return Ok(Some(said));
        }
        let moment = self.timestamp(key, local).ok_or(said)?;
        Ok(Some(moment.to_rfc3339_opts(SecondsFormat::Secs, true)))
    }

    fn timestamp(
        &self,
        key: &str,
        local: impl Fn(NaiveDateTime) -> Option<DateTime<Utc>>,
    ) -> Option<DateTime<Utc>> {
        let said = self.field_text(key)?;
        let exact = DateTime::parse_from_rfc3339(&said).ok().map(|it| it.to_utc());
        let on_the_wall = || said.parse::<NaiveDateTime>().ok().and_then(&local);
        let day = || local(said.parse::<NaiveDate>().ok()?.and_time(NaiveTime::MIN));
        exact.or_else(on_the_wall).or_else(day)
    }
}

/// Returns a name that a fact needs.
fn required_name(row: &Row, column: &str) -> Result<String, String> {
    let name = row.field_text(column).unwrap_or_default();
    if !name.chars().any(|it| is_printable(it) && !it.is_whitespace()) {
        return Err(format!("its `{column}` says nothing"));
    }
    match name.chars().count() {
        length if length > MAX_NAME_CHARS => Err(format!(
            "its `{column}` has {length} characters, and {MAX_NAME_CHARS} are the most"
        )),
        _ => Ok(name),
    }
}

impl MempalaceData {
    /// Returns the names of which something is said, each once.
    pub fn subjects(&self) -> BTreeSet<&str> {
        self.facts.iter().map(|it| it.subject.as_str()).collect()
    }
}
