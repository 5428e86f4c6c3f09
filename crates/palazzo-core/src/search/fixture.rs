//! Documents for tests.

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};

use crate::model::ItemId;
use crate::search::Document;

/// Returns a document without place and date.
pub(crate) fn test_document(name: &'static str, text: &'static str) -> Document<'static> {
    Document {
        item: ItemId::Entity(name.to_owned()),
        wing: None,
        room: None,
        place_name: "".into(),
        facet: "".into(),
        written: None,
        title: name.into(),
        text: text.into(),
        weighted_fields: Vec::new(),
    }
}

/// Returns the start of a day of 2025.
pub(crate) fn day_of_2025(month: u32, day: u32) -> DateTime<Utc> {
    NaiveDate::from_ymd_opt(2025, month, day).unwrap().and_time(NaiveTime::MIN).and_utc()
}
