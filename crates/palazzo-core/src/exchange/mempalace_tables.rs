//! The tables of a MemPalace store, as rows of text.

use crate::model::Date;
use chrono::DateTime;
use chrono::NaiveDateTime;
use chrono::Utc;
use chrono::{NaiveDate, NaiveTime, SecondsFormat};
use serde_json::Map;
use serde_json::Value;

/// The room of rows that only record that a file was mined.
pub(super) const REGISTRY_ROOM: &str = "_registry";

/// A row of a table, or an item of a collection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// The name of the table.
    pub table: &'static str,
    /// The id of the row.
    pub id: String,
    /// The values, by column or key.
    pub fields: Map<String, Value>,
}

impl Row {
    /// The key under which a piece stores the id of its text.
    pub(super) const PARENT_KEY: &str = "parent_drawer_id";

    /// Returns a field as text; `None` if it is missing, null or blank.
    pub(super) fn field_text(&self, key: &str) -> Option<String> {
        let text = match self.fields.get(key)? {
            Value::Null => return None,
            Value::String(text) => text.trim().to_owned(),
            value => value.to_string(),
        };
        Some(text).filter(|it| !it.is_empty())
    }

    /// Returns true if the row is a diary entry.
    pub(super) fn is_diary_entry(&self) -> bool {
        self.field_text("type").as_deref() == Some("diary_entry")
    }

    /// Returns the id of the text that this row is a piece of.
    pub(super) fn parent_id(&self) -> Option<String> {
        self.field_text(Self::PARENT_KEY).or_else(|| self.field_text("parent_entry_id"))
    }

    /// Returns the index of the piece in its text, from 0.
    pub(super) fn chunk_index(&self) -> Option<i64> {
        self.fields.get("chunk_index").and_then(Value::as_i64)
    }

    /// Returns true if the row is not a text, but a record of MemPalace that it has mined a
    /// file.
    pub(super) fn is_sentinel(&self) -> bool {
        let marked = matches!(self.fields.get("is_sentinel"), Some(Value::Bool(true)));
        marked || self.field_text("room").as_deref() == Some(REGISTRY_ROOM)
    }

    /// Parses a date; on failure returns the original text.
    pub(super) fn field_date(
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

    pub(super) fn field_timestamp(
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
    pub texts: Vec<Row>,
    /// The entities of the facts.
    pub entities: Vec<Row>,
    /// The facts.
    pub triples: Vec<Row>,
    /// Messages about rows that could not be read.
    pub faults: Vec<String>,
}

impl MempalaceTables {
    /// The key of the text itself, as in Chroma.
    pub const TEXT_KEY: &str = "chroma:document";
}
