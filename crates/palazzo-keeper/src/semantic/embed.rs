//! Embeds all passages of a palace at once.

use rayon::prelude::*;

use crate::{Refusal, Session};
use palazzo_core::model::EmbeddingVector;

/// How many passages are embedded between two reports of the progress.
const EMBED_BATCH: usize = 64;

/// What [`embed_passages`] did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EmbedOutcome {
    /// Nothing: the palace names no model.
    NoModel,
    /// The number of passages that it embedded, and the number that have an embedding now.
    Embedded(usize, usize),
}

/// Embeds all passages that have no embedding yet; calls `progress` with the numbers of passages
/// done and of all.
pub fn embed_passages(
    session: &mut Session<'_>,
    progress: impl Fn(usize, usize),
) -> Result<EmbedOutcome, Refusal> {
    let Some(vectors) = session.palace.vector_store(session.models) else {
        return Ok(EmbedOutcome::NoModel);
    };
    let model = vectors.wait_for_model().map_err(Refusal::Invalid)?;
    let all = vectors.pending_count();
    loop {
        let batch = vectors.peek_pending(EMBED_BATCH);
        progress(all - vectors.pending_count(), all);
        if batch.is_empty() {
            break;
        }
        let embedded = batch
            .par_iter()
            .map(|(key, text)| (*key, EmbeddingVector::from_floats(&model.embed(text))));
        for (key, vector) in embedded.collect::<Vec<_>>() {
            vectors.finish_first_pending(key, vector);
        }
    }
    if all > 0 {
        vectors.save(&model, session.palace.store())?;
    }
    Ok(EmbedOutcome::Embedded(all, vectors.lock_vectors_for_reading().len()))
}
