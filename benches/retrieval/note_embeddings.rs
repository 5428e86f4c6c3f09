//! The embedding model that `PALAZZO_MODEL` selects, and its embeddings of the notes.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use palazzo_core::embedding::Model;
use palazzo_core::model::{EmbeddingVector, VectorsByTextHash};
use palazzo_core::search::texts_to_embed;

use crate::corpus::Note;
use crate::palazzo_index::note_document;

/// A question of typical length: 24 tokens of a BERT model.
const SAMPLE_QUESTION: &str = "Why did the boiler in the cellar stop working on the coldest night \
                               of the winter, and who came to repair it?";

/// An embedding model, and the embeddings of all notes.
pub(crate) struct NoteEmbeddings {
    pub(crate) model: Model,
    pub(crate) vectors: VectorsByTextHash,
}

impl NoteEmbeddings {
    /// Loads the model from the folder `PALAZZO_MODEL`, and prints the time to embed a question.
    pub(crate) fn from_env() -> Option<Self> {
        let Some(folder) = std::env::var_os("PALAZZO_MODEL").map(PathBuf::from) else {
            println!("\nsemantic search is skipped: set PALAZZO_MODEL to the folder of a model");
            return None;
        };
        let start = Instant::now();
        let weights = fs::read(folder.join("model.safetensors"));
        let weights = weights.expect("the folder contains the weights");
        let vocabulary = fs::read_to_string(folder.join("vocab.txt"));
        let vocabulary = vocabulary.expect("the folder contains the vocabulary");
        let config = fs::read_to_string(folder.join("config.json")).ok();
        let model = Model::parse(&weights, &vocabulary, config.as_deref());
        let model = model.expect("it is a BERT model");
        println!("\nthe model was loaded in {:.0?}", start.elapsed());
        let mut times: Vec<Duration> = (0..50)
            .map(|_| {
                let start = Instant::now();
                drop(model.embed(SAMPLE_QUESTION));
                start.elapsed()
            })
            .collect();
        times.sort();
        println!("time to embed a question: {:.1?} (median of {})", times[25], times.len());
        Some(Self { model, vectors: VectorsByTextHash::new() })
    }

    /// Embeds the passages of the notes, and prints the time for each passage.
    pub(crate) fn embed_notes(&mut self, notes: &[Note]) {
        let (start, old_count) = (Instant::now(), self.vectors.len());
        for (key, text) in notes
            .iter()
            .enumerate()
            .flat_map(|it| texts_to_embed(&note_document(it)).collect::<Vec<_>>())
        {
            if let (false, Some(vector)) = (
                self.vectors.contains_key(&key),
                EmbeddingVector::from_floats(&self.model.embed(&text)),
            ) {
                self.vectors.insert(key, vector);
            }
        }
        let (time, new_count) = (start.elapsed(), self.vectors.len() - old_count);
        if new_count > 0 {
            let mean = time / u32::try_from(new_count).expect("the count fits into u32");
            println!(
                "\ntime to embed {new_count} passages of {} notes: {time:.1?}, mean {mean:.1?}",
                notes.len()
            );
        }
    }
}
