//! Closing the gaps that documents leave which are taken out.

use crate::search::index::{Index, NONE, count};

/// Gaps are not closed before there are so many.
const FEW: usize = 256;

impl Index {
    pub(crate) fn has_many_gaps(&self) -> bool {
        self.gaps > FEW.max(self.passages.len() / 4)
    }

    /// Numbers entries and passages anew, without those that are gone.
    pub(crate) fn close_gaps(&mut self) {
        let passage_now = numbered(self.passages.iter().map(|it| it.entry != NONE));
        let entry_now = numbered(self.entries.iter().map(Option::is_some));
        let moved = |at: u32, now: &[u32]| now.get(at as usize).copied().unwrap_or(NONE);
        let in_order = &passage_now[..self.ordered as usize];
        self.ordered = count(in_order.iter().filter(|it| **it != NONE).count());
        self.passages.retain(|it| it.entry != NONE);
        for it in &mut self.passages {
            it.entry = moved(it.entry, &entry_now);
            it.before = moved(it.before, &passage_now);
            it.after = moved(it.after, &passage_now);
        }
        self.entries.retain(Option::is_some);
        for it in self.entries.iter_mut().flatten() {
            let passages = it.end - it.first;
            it.first = moved(it.first, &passage_now);
            it.end = it.first + passages;
        }
        for list in &mut self.postings {
            for it in list.iter_mut() {
                it.passage = moved(it.passage, &passage_now);
            }
            list.retain(|it| it.passage != NONE);
            list.shrink_to_fit();
        }
        self.numbers.values_mut().for_each(|it| *it = moved(*it, &entry_now));
        let dated = self.places.iter_mut().flat_map(|it| &mut it.dated);
        dated.for_each(|it| *it = moved(*it, &entry_now));
        self.gaps = 0;
    }
}

/// Numbers things anew: those that are kept, one after the other.
fn numbered(are_kept: impl Iterator<Item = bool>) -> Vec<u32> {
    let mut kept = 0;
    let number = |is_kept: bool| {
        let number = if is_kept { kept } else { NONE };
        kept += u32::from(is_kept);
        number
    };
    are_kept.map(number).collect()
}
