//! Palazzo's own index.

use palazzo::model::{ItemId, Vector};
use palazzo::search::{Document, Index, Query, extract_question};

use crate::corpus::Note;
use crate::meaning::NoteEmbeddings;

/// The index that the program uses.
pub(crate) struct PalazzoIndex {
    pub(crate) index: Index,
}

impl PalazzoIndex {
    /// Indexes every note as the program indexes a scroll.
    pub(crate) fn new(notes: &[Note]) -> Self {
        Self { index: Index::from_documents(notes.iter().enumerate().map(note_document).collect()) }
    }

    /// Returns the numbers of the best notes, in one wing if it is named.
    pub(crate) fn search(&self, ask: &str, wing: Option<&str>, most: usize) -> Vec<usize> {
        self.run_query(&Query { text: ask, limit: most, wing, ..Query::default() })
    }

    /// Returns the same, with semantic search.
    pub(crate) fn search_semantically(
        &self,
        meaning: &NoteEmbeddings,
        ask: &str,
        wing: Option<&str>,
        most: usize,
    ) -> Vec<usize> {
        let asked = Vector::from_floats(&meaning.model.embed(extract_question(ask)));
        let meaning = asked.as_ref().map(|it| (it, &meaning.vectors));
        self.run_query(&Query {
            text: ask,
            limit: most,
            wing,
            vectors: meaning,
            ..Query::default()
        })
    }

    fn run_query(&self, query: &Query<'_>) -> Vec<usize> {
        let found = self.index.find(query, |_| true).best;
        found.iter().map(|it| note_number(&it.item)).collect()
    }
}

/// Converts a note to a document, as for a scroll.
pub(crate) fn note_document((number, note): (usize, &Note)) -> Document<'_> {
    Document {
        // The names of notes of equal age are in the order of the notes.
        item: ItemId::Entity(format!("{number:08}")),
        wing: Some((&note.wing).into()),
        room: Some((&note.room).into()),
        place_name: format!("{} {}", note.wing, note.room).into(),
        facet: "".into(),
        written: note.written,
        title: (&note.title).into(),
        text: (&note.text).into(),
        weighted_fields: Vec::new(),
    }
}

/// Returns the number of a note.
pub(crate) fn note_number(opening: &ItemId) -> usize {
    let ItemId::Entity(name) = opening else { panic!("the index contains only entities") };
    name.parse().expect("we named it")
}
