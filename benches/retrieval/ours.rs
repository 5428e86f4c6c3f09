//! Palazzo's own index.

use palazzo::model::{Opening, Vector};
use palazzo::search::{Document, Index, Query, question_in};

use crate::corpus::Note;
use crate::meaning::Meaning;

/// The index that the program uses.
pub(crate) struct Ours {
    pub(crate) index: Index,
}

impl Ours {
    /// Indexes every note as the program does a scroll.
    pub(crate) fn new(notes: &[Note]) -> Self {
        Self { index: Index::of(notes.iter().enumerate().map(document).collect()) }
    }

    /// Returns the numbers of the best notes, of one wing if it is named.
    pub(crate) fn find(&self, ask: &str, wing: Option<&str>, most: usize) -> Vec<usize> {
        self.answer(&Query { words: ask, most, wing, ..Query::default() })
    }

    /// Returns the same, found by meaning too.
    pub(crate) fn mean(
        &self,
        meaning: &Meaning,
        ask: &str,
        wing: Option<&str>,
        most: usize,
    ) -> Vec<usize> {
        let asked = Vector::of(&meaning.model.embed(question_in(ask)));
        let meaning = asked.as_ref().map(|it| (it, &meaning.vectors));
        self.answer(&Query { words: ask, most, wing, meaning, ..Query::default() })
    }

    fn answer(&self, query: &Query<'_>) -> Vec<usize> {
        let found = self.index.find(query, |_| true).best;
        found.iter().map(|it| number(&it.opening)).collect()
    }
}

/// Returns a note as a scroll would be told.
pub(crate) fn document((number, note): (usize, &Note)) -> Document<'_> {
    Document {
        // Of equal age, names are in the order of the notes.
        opening: Opening::Entity(format!("{number:08}")),
        wing: Some((&note.wing).into()),
        room: Some((&note.room).into()),
        place: format!("{} {}", note.wing, note.room).into(),
        facet: "".into(),
        written: note.written,
        title: (&note.title).into(),
        text: (&note.text).into(),
        asides: Vec::new(),
    }
}

/// Returns the number of a note.
pub(crate) fn number(opening: &Opening) -> usize {
    let Opening::Entity(name) = opening else { panic!("we put in nothing but entities") };
    name.parse().expect("we named it")
}
