//! Palazzo's search index.

use palazzo_core::model::{EmbeddingVector, ItemId};
use palazzo_core::search::{Document, Index, Query, extract_question};

use crate::corpus::Note;
use crate::note_embeddings::NoteEmbeddings;

/// The index of the program, with one document for each note.
pub(crate) struct PalazzoIndex {
    pub(crate) index: Index,
}

impl PalazzoIndex {
    /// Indexes every note like a drawer.
    pub(crate) fn new(notes: &[Note]) -> Self {
        Self { index: Index::from_documents(notes.iter().enumerate().map(note_document).collect()) }
    }

    /// Returns the numbers of the best notes, in `wing` or in all wings.
    pub(crate) fn search(&self, query: &str, wing: Option<&str>, limit: usize) -> Vec<usize> {
        self.run_query(&Query { text: query, limit, wing, ..Query::default() })
    }

    /// Returns the numbers of the best notes for a semantic search, in `wing` or in all wings.
    pub(crate) fn search_semantically(
        &self,
        embeddings: &NoteEmbeddings,
        query: &str,
        wing: Option<&str>,
        limit: usize,
    ) -> Vec<usize> {
        let vector = EmbeddingVector::from_floats(&embeddings.model.embed(extract_question(query)));
        let vectors = vector.as_ref().map(|it| (it, &embeddings.vectors));
        self.run_query(&Query { text: query, limit, wing, vectors, ..Query::default() })
    }

    fn run_query(&self, query: &Query<'_>) -> Vec<usize> {
        let hits = self.index.find(query, |_| true).best;
        hits.iter().map(|it| note_number(&it.item)).collect()
    }
}

/// Converts a note to a document of the index.
pub(crate) fn note_document((number, note): (usize, &Note)) -> Document<'_> {
    Document {
        // Names sort like the numbers of the notes, so that ties are in the order of the notes.
        item: ItemId::Drawer(format!("{number:08}")),
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

/// Returns the number of the note with this id.
pub(crate) fn note_number(item: &ItemId) -> usize {
    let ItemId::Drawer(name) = item else { panic!("the index contains only drawers") };
    name.parse().expect("the name is a number")
}
