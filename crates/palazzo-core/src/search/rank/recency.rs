//! Recency: for queries that ask for the present state, later documents score higher.

use crate::search::index_data::{Index, IndexedDocument};

/// The difference between the factors of a room's last and first document, for queries that ask
/// for the present state.
const RECENCY_WEIGHT: f32 = 0.3;

impl Index {
    /// Returns the factor for the score of a document. If `prefers_latest`, it rises with the
    /// position of the document among the dated ones of its room; otherwise, and for a document
    /// without a date, it is 1.
    #[expect(clippy::cast_precision_loss, reason = "no palace has 2^23 documents in a room")]
    pub(in crate::search) fn recency_factor(
        &self,
        prefers_latest: bool,
        entry: &IndexedDocument,
    ) -> f32 {
        if !prefers_latest || entry.written.is_none() {
            return 1.0;
        }
        let in_order = &self.rooms[entry.room as usize].documents_in_order;
        let written = |it: &u32| self.documents[*it as usize].as_ref().and_then(|it| it.written);
        let undated = in_order.partition_point(|it| written(it).is_none());
        let older = in_order.partition_point(|it| written(it) < entry.written) - undated;
        let newer = in_order.len() - in_order.partition_point(|it| written(it) <= entry.written);
        let position = match older + newer {
            0 => 0.5,
            others => older as f32 / others as f32,
        };
        1.0 + RECENCY_WEIGHT * (position - 0.5)
    }
}
