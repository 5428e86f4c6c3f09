//! Compacts the index: removes the gaps of removed documents.

use crate::search::index_data::{Index, NO_NUMBER, to_u32_number};

/// Minimum number of removed passages before the index is compacted.
const MIN_DELETED_PASSAGES: usize = 256;

impl Index {
    pub(crate) fn needs_compaction(&self) -> bool {
        self.deleted_passages > MIN_DELETED_PASSAGES.max(self.passages.len() / 4)
    }

    /// Renumbers documents and passages without the removed ones.
    pub(crate) fn compact(&mut self) {
        let passage_now = renumber_kept(self.passages.iter().map(|it| it.document != NO_NUMBER));
        let entry_now = renumber_kept(self.documents.iter().map(Option::is_some));
        let moved = |at: u32, now: &[u32]| now.get(at as usize).copied().unwrap_or(NO_NUMBER);
        let in_order = &passage_now[..self.sorted_until as usize];
        self.sorted_until = to_u32_number(in_order.iter().filter(|it| **it != NO_NUMBER).count());
        self.passages.retain(|it| it.document != NO_NUMBER);
        for it in &mut self.passages {
            it.document = moved(it.document, &entry_now);
            it.previous = moved(it.previous, &passage_now);
            it.next = moved(it.next, &passage_now);
        }
        self.documents.retain(Option::is_some);
        for it in self.documents.iter_mut().flatten() {
            let passages = it.end_passage - it.first_passage;
            it.first_passage = moved(it.first_passage, &passage_now);
            it.end_passage = it.first_passage + passages;
        }
        for list in &mut self.postings {
            for it in list.iter_mut() {
                it.passage = moved(it.passage, &passage_now);
            }
            list.retain(|it| it.passage != NO_NUMBER);
            list.shrink_to_fit();
        }
        self.document_numbers.values_mut().for_each(|it| *it = moved(*it, &entry_now));
        let in_order = self.rooms.iter_mut().flat_map(|it| &mut it.documents_in_order);
        in_order.for_each(|it| *it = moved(*it, &entry_now));
        self.deleted_passages = 0;
    }
}

/// Assigns consecutive numbers to the kept items, and [`NO_NUMBER`] to the others.
fn renumber_kept(are_kept: impl Iterator<Item = bool>) -> Vec<u32> {
    let mut kept = 0;
    let number = |is_kept: bool| {
        let number = if is_kept { kept } else { NO_NUMBER };
        kept += u32::from(is_kept);
        number
    };
    are_kept.map(number).collect()
}
