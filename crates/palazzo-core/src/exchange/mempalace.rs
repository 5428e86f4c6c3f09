//! Converts the store of MemPalace (3.0 to 3.11): texts with metadata, some of them diary
//! entries, and facts with their periods.
//!
//! The input is the rows of its tables; `cli` reads them from the databases.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Display;

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, SecondsFormat, Utc};
use serde_json::{Map, Value};

use crate::model::{Date, Entity, MAX_FILE_BYTES, Relation, fold_name, is_printable};

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

/// The room of rows that only record that a file was mined.
const REGISTRY_ROOM: &str = "_registry";

/// A row of a table, or an item of a collection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MempalaceRow {
    /// The name of the table.
    pub table: &'static str,
    /// The id of the row.
    pub id: String,
    /// The values, by column or key.
    pub fields: Map<String, Value>,
}

impl MempalaceRow {
    /// The key under which a piece stores the id of its text.
    pub(super) const PARENT_KEY: &str = "parent_drawer_id";

    /// Returns a field as text; `None` if it is missing, null or blank.
    fn field_text(&self, key: &str) -> Option<String> {
        let text = match self.fields.get(key)? {
            Value::Null => return None,
            Value::String(text) => text.trim().to_owned(),
            value => value.to_string(),
        };
        Some(text).filter(|it| !it.is_empty())
    }

    /// Returns true if the row is a diary entry.
    fn is_diary_entry(&self) -> bool {
        self.field_text("type").as_deref() == Some("diary_entry")
    }

    /// Returns the id of the text that this row is a piece of.
    fn parent_id(&self) -> Option<String> {
        self.field_text(Self::PARENT_KEY).or_else(|| self.field_text("parent_entry_id"))
    }

    /// Returns the index of the piece in its text, from 0.
    fn chunk_index(&self) -> Option<i64> {
        self.fields.get("chunk_index").and_then(Value::as_i64)
    }

    /// Returns true if the row is not a text, but a record of MemPalace that it has mined a
    /// file.
    fn is_sentinel(&self) -> bool {
        let marked = matches!(self.fields.get("is_sentinel"), Some(Value::Bool(true)));
        marked || self.field_text("room").as_deref() == Some(REGISTRY_ROOM)
    }

    /// Parses a date; on failure returns the original text.
    fn field_date(
        &self,
        key: &str,
        local: impl Fn(NaiveDateTime) -> Option<DateTime<Utc>>,
    ) -> Result<Option<String>, String> {
        let Some(text) = self.field_text(key) else { return Ok(None) };
        if text.parse::<Date>().is_ok() {
            return Ok(Some(text));
        }
        let time = self.field_timestamp(key, local).ok_or(text)?;
        Ok(Some(time.to_rfc3339_opts(SecondsFormat::Secs, true)))
    }

    fn field_timestamp(
        &self,
        key: &str,
        local: impl Fn(NaiveDateTime) -> Option<DateTime<Utc>>,
    ) -> Option<DateTime<Utc>> {
        let text = self.field_text(key)?;
        let with_offset = DateTime::parse_from_rfc3339(&text).ok().map(|it| it.to_utc());
        let local_time = || text.parse::<NaiveDateTime>().ok().and_then(&local);
        let day = || local(text.parse::<NaiveDate>().ok()?.and_time(NaiveTime::MIN));
        with_offset.or_else(local_time).or_else(day)
    }
}

/// The rows of a MemPalace store.
#[derive(Clone, Debug, Default)]
pub struct MempalaceTables {
    /// Texts with metadata; the text itself is in [`MempalaceTables::TEXT_KEY`].
    pub texts: Vec<MempalaceRow>,
    /// The entities of the facts.
    pub entities: Vec<MempalaceRow>,
    /// The facts.
    pub triples: Vec<MempalaceRow>,
    /// Messages about rows that could not be read.
    pub faults: Vec<String>,
}

impl MempalaceTables {
    /// The key of the text itself, as in Chroma.
    pub const TEXT_KEY: &str = "chroma:document";
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
fn group_chunks(rows: Vec<MempalaceRow>) -> Vec<(String, Vec<MempalaceRow>)> {
    let mut wholes: Vec<(String, Vec<MempalaceRow>)> = Vec::new();
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
        pieces.sort_by_key(MempalaceRow::chunk_index);
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
    /// Returns the names of the subjects of facts, each once.
    pub fn fact_subjects(&self) -> BTreeSet<&str> {
        self.facts.iter().map(|it| it.subject.as_str()).collect()
    }

    /// Notes how many texts have no wing or no room.
    fn report_unfiled_texts(&mut self, texts: &[MempalaceRow]) {
        let is_lost = |it: &&MempalaceRow| {
            let is_text =
                it.field_text(MempalaceTables::TEXT_KEY).is_some() && !it.is_diary_entry();
            is_text && (it.field_text("wing").is_none() || it.field_text("room").is_none())
        };
        let lost: Vec<_> = texts.iter().filter(is_lost).collect();
        let Some(MempalaceRow { table, id, .. }) = lost.first() else { return };
        let which = match lost.len() {
            1 => format!("{table} {id}"),
            all => format!("{table} {id} and {} more", all - 1),
        };
        self.notes.push(format!("{which}: the wing or room is missing; filed in `{UNKNOWN}`"));
    }

    /// Returns the text of all pieces of the row `id`, and reports missing pieces.
    fn join_chunk_texts(
        &mut self,
        id: &str,
        first: &MempalaceRow,
        pieces: &[MempalaceRow],
    ) -> String {
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
        pieces: &[MempalaceRow],
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
    fn add_entity(&mut self, row: MempalaceRow, names: &mut EntityNames) {
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
        row: MempalaceRow,
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
fn required_name(row: &MempalaceRow, column: &str) -> Result<String, String> {
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

/// Minimum overlap in bytes of two pieces; a shorter one may be chance.
const MIN_OVERLAP: usize = 20;

/// Limit for the size of a joined text.
const MAX_JOINED_BYTES: usize = 200_000;

/// Marks the pieces of one document as such, and removes the overlaps from their texts: MemPalace
/// splits mined documents, each piece begins with the end of the one before, and none names its
/// document.
///
/// Rows are pieces if they have the same source, wing and room, are numbered without a gap,
/// and each overlaps the one before in exactly one way. Exchanges of a conversation are
/// numbered too, but do not overlap.
fn link_chunks_and_cut_overlaps(rows: &mut [MempalaceRow]) {
    let mut documents: BTreeMap<[Option<String>; 3], Vec<usize>> = BTreeMap::new();
    for (index, row) in rows.iter().enumerate() {
        if row.parent_id().is_none()
            && row.chunk_index().is_some()
            && row.field_text("source_file").is_some()
        {
            let document = ["source_file", "wing", "room"].map(|it| row.field_text(it));
            documents.entry(document).or_default().push(index);
        }
    }
    for mut indices in documents.into_values().filter(|it| it.len() > 1) {
        indices.sort_by_key(|it| rows[*it].chunk_index());
        let Some(rests) = texts_without_overlap(rows, &indices) else { continue };
        let whole = rows[indices[0]].id.clone();
        for (index, rest) in indices.into_iter().zip(rests) {
            let fields = &mut rows[index].fields;
            fields.insert(MempalaceRow::PARENT_KEY.to_owned(), whole.clone().into());
            fields.insert(MempalaceTables::TEXT_KEY.to_owned(), rest.into());
        }
    }
}

/// Returns the text of each piece without its overlap with the one before; `None` if the rows
/// are not pieces of one text.
fn texts_without_overlap(rows: &[MempalaceRow], indices: &[usize]) -> Option<Vec<String>> {
    let mut rests: Vec<String> = Vec::new();
    let (mut before, mut size) = ("", 0);
    for (index, number) in indices.iter().zip(0..) {
        let text = rows[*index].fields.get(MempalaceTables::TEXT_KEY).and_then(Value::as_str)?;
        let overlap = if number == 0 { 0 } else { overlap_length(before, text)? };
        size += text.len() - overlap;
        if rows[*index].chunk_index() != Some(number) || size > MAX_JOINED_BYTES {
            return None;
        }
        rests.push(text[overlap..].to_owned());
        before = text;
    }
    Some(rests)
}

/// Returns the number of bytes at the end of `before` with which `text` begins; `None` unless
/// exactly one number of at least [`MIN_OVERLAP`] fits.
fn overlap_length(before: &str, text: &str) -> Option<usize> {
    let longest = before.len().min(text.len());
    let fits = |it: &usize| before.as_bytes().ends_with(&text.as_bytes()[..*it]);
    let mut lengths = (MIN_OVERLAP..longest).filter(|it| text.is_char_boundary(*it)).filter(fits);
    let length = lengths.next()?;
    lengths.next().is_none().then_some(length)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn chunk_rows(texts: &[&str]) -> Vec<MempalaceRow> {
        let row = |(number, text): (usize, &&str)| {
            let fields = json!({ "source_file": "/n/a.md", "wing": "w", "room": "r",
                "chunk_index": number, (MempalaceTables::TEXT_KEY): text });
            let id = format!("p{number}");
            MempalaceRow {
                table: "embeddings",
                id,
                fields: fields.as_object().cloned().unwrap_or_default(),
            }
        };
        texts.iter().enumerate().map(row).collect()
    }

    fn joined_text(texts: &[&str]) -> Option<String> {
        let mut rows = chunk_rows(texts);
        link_chunks_and_cut_overlaps(&mut rows);
        let text = |it: &MempalaceRow| {
            it.fields.get(MempalaceTables::TEXT_KEY)?.as_str().map(str::to_owned)
        };
        let is_piece = rows.iter().all(|it| it.parent_id().as_deref() == Some("p0"));
        is_piece.then(|| rows.iter().filter_map(text).collect())
    }

    #[test]
    fn overlapping_chunks_are_joined_into_one_text() {
        let text = "Grey beds stand on end here like bööks, sawn off level, and red sandstone \
             lies across them, as James Hutton saw.";
        let cut = [&text[..60], &text[30..90], &text[60..]];
        assert_eq!(joined_text(&cut).as_deref(), Some(text));
    }

    #[test]
    fn ambiguous_or_incomplete_chunks_are_not_joined() {
        let line = "-".repeat(60);
        assert_eq!(joined_text(&[&line, &line]), None, "it fits in many ways");
        assert_eq!(
            joined_text(&["User:\nWhy black?", "User:\nWhy grey?"]),
            None,
            "it fits in none"
        );
        let text = "Grey beds stand on end here like books, sawn off level, and red sandstone";
        let mut rows = chunk_rows(&[&text[..50], &text[20..]]);
        rows[1].fields["chunk_index"] = 2.into();
        let before = rows.clone();
        link_chunks_and_cut_overlaps(&mut rows);
        assert_eq!(rows, before, "a piece is missing");
    }
}
