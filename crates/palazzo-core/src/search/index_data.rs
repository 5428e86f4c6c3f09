//! The data of the inverted index: documents, passages, postings.

use crate::model::{ItemId, ItemKind};
use crate::search::lexicon::Lexicon;
use chrono::DateTime;
use chrono::Utc;
use std::borrow::Cow;
use std::collections::HashMap;

/// An item to index, with its searchable texts and its filter fields.
#[derive(Clone, Debug)]
pub struct Document<'a> {
    /// The id of the item; unique in an index.
    pub item: ItemId,
    /// The slug of its wing.
    pub wing: Option<Cow<'a, str>>,
    /// The slug of its room; of a room, its own.
    pub room: Option<Cow<'a, str>>,
    /// The name of its room.
    pub place_name: Cow<'a, str>,
    /// A value that queries can filter by; items with the same facet are admitted together.
    pub facet: Cow<'a, str>,
    /// The time when it was written.
    pub written: Option<DateTime<Utc>>,
    /// Its title.
    pub title: Cow<'a, str>,
    /// Its text; the passages of hits are ranges in it.
    pub text: Cow<'a, str>,
    /// Other searchable texts, each with the weight of its words; a word of the text has
    /// weight 1.
    pub weighted_fields: Vec<(f32, Cow<'a, str>)>,
}

/// An inverted index of all searchable items of one palace.
#[derive(Clone, Debug, Default)]
pub struct Index {
    pub(super) lexicon: Lexicon,
    /// The postings of each term.
    pub(super) postings: Vec<Vec<Posting>>,
    pub(super) passages: Vec<Passage>,
    pub(super) documents: Vec<Option<IndexedDocument>>,
    pub(super) rooms: Vec<IndexedRoom>,
    /// The average lengths of passages, and of their neighbours together.
    pub(super) passage_lengths: PositiveAverage,
    pub(super) neighbour_lengths: PositiveAverage,
    pub(super) document_numbers: HashMap<ItemId, u32>,
    pub(super) room_numbers: HashMap<(Option<String>, Option<String>), u32>,
    pub(super) facet_numbers: HashMap<String, u32>,
    /// Passages below this number are in the order of their documents' sort keys.
    pub(super) sorted_until: u32,
    pub(super) deleted_passages: usize,
}

/// One occurrence of a term in a passage.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posting {
    pub(super) passage: u32,
    /// The frequency of the term in the passage's own text.
    pub(super) term_frequency: u16,
    /// The weight from title, place, date and other fields, times
    /// [`Posting::FIELD_WEIGHT_SCALE`].
    pub(super) field_weight: u16,
}

/// Some sentences of a document.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passage {
    /// The number of its document; [`NO_NUMBER`] if that was removed.
    pub(super) document: u32,
    /// The number of its words.
    pub(super) length: u32,
    /// The number of its neighbours' words.
    pub(super) neighbour_length: u32,
    pub(super) previous: u32,
    pub(super) next: u32,
    pub(super) embedding_key: u64,
    /// Its range in the text, in bytes.
    pub(super) start: u32,
    pub(super) end: u32,
}

/// A document without its texts.
#[derive(Clone, Debug)]
pub(super) struct IndexedDocument {
    pub(super) item: ItemId,
    pub(super) room: u32,
    pub(super) facet: u32,
    pub(super) written: Option<DateTime<Utc>>,
    /// The number of its words.
    pub(super) length: u32,
    pub(super) first_passage: u32,
    pub(super) end_passage: u32,
}

/// The documents of a room, or those without a room.
#[derive(Clone, Debug)]
pub(super) struct IndexedRoom {
    pub(super) wing: Option<String>,
    pub(super) room: Option<String>,
    /// The number of words of all its documents.
    pub(super) length: u32,
    /// Its documents in the order in which they follow each other: those without a date by id,
    /// then the others, oldest first. It does not contain the room itself, and is empty for
    /// documents without a room, because these have no common subject.
    pub(super) documents_in_order: Vec<u32>,
}

/// An average of the values above zero.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PositiveAverage {
    pub(super) total: u64,
    pub(super) count: u64,
}

/// Maximum time between notes of one room that count as one conversation.
const CONVERSATION_GAP_SECONDS: i64 = 3600;

/// The number that stands for no passage and no document.
pub(super) const NO_NUMBER: u32 = u32::MAX;

pub(super) fn to_u32_number(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(NO_NUMBER)
}

impl Posting {
    /// The field weight that counts as one word of the text.
    pub(super) const FIELD_WEIGHT_SCALE: f32 = 64.0;
}

impl PositiveAverage {
    /// Returns the average, at least 1.
    #[expect(clippy::cast_precision_loss, reason = "no palace has 2^23 words in a passage")]
    pub(super) fn mean(self) -> f32 {
        (self.total as f32 / self.count.max(1) as f32).max(1.0)
    }

    pub(super) fn add(&mut self, value: u32) {
        self.total += u64::from(value);
        self.count += u64::from(value > 0);
    }

    pub(super) fn remove(&mut self, value: u32) {
        self.total -= u64::from(value);
        self.count -= u64::from(value > 0);
    }
}

impl IndexedDocument {
    /// Returns the key by which the documents of a room are ordered.
    pub(super) fn date_sort_key(&self) -> (Option<DateTime<Utc>>, &ItemId) {
        (self.written, &self.item)
    }

    /// Returns true if `next`, which is next in the same room, belongs to the same conversation:
    /// it was written within an hour, or neither has a date. A scroll has a title and a subject of its own.
    pub(super) fn is_continued_by(&self, next: &Self) -> bool {
        if [self, next].iter().any(|it| it.item.kind() == ItemKind::Scroll) {
            return false;
        }
        match (self.written, next.written) {
            (Some(older), Some(newer)) => (newer - older).num_seconds() <= CONVERSATION_GAP_SECONDS,
            (older, newer) => older == newer,
        }
    }
}
