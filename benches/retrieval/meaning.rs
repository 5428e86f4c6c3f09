//! An embedding model, if one is available.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use palazzo::embedding::Model;
use palazzo::model::{Vector, VectorsByTextHash};
use palazzo::search::texts_to_embed;

use crate::corpus::Note;
use crate::ours::note_document;

/// A question of typical length: twenty-four tokens of a BERT model.
const SAMPLE_QUESTION: &str = "Why did the boiler in the cellar stop working on the coldest night of the \
                        winter, and who came to repair it?";

/// A model, and its embeddings of all notes.
pub(crate) struct NoteEmbeddings {
    pub(crate) model: Model,
    pub(crate) vectors: VectorsByTextHash,
}

impl NoteEmbeddings {
    /// Loads the model that `PALAZZO_MODEL` names, and measures the time to embed a
    /// question.
    pub(crate) fn from_env() -> Option<Self> {
        let Some(folder) = std::env::var_os("PALAZZO_MODEL").map(PathBuf::from) else {
            println!("\nsemantic search is skipped: set PALAZZO_MODEL to the folder of a model");
            return None;
        };
        let begun = Instant::now();
        let weights = fs::read(folder.join("model.safetensors")).expect("it has weights");
        let vocabulary = fs::read_to_string(folder.join("vocab.txt")).expect("it has words");
        let config = fs::read_to_string(folder.join("config.json")).ok();
        let model = Model::parse(&weights, &vocabulary, config.as_deref()).expect("it is a BERT");
        println!("\nthe model was loaded in {:.0?}", begun.elapsed());
        let mut times: Vec<Duration> = (0..50)
            .map(|_| {
                let begun = Instant::now();
                drop(model.embed(SAMPLE_QUESTION));
                begun.elapsed()
            })
            .collect();
        times.sort();
        println!("a question is embedded in {:.1?} (median of {})", times[25], times.len());
        Some(Self { model, vectors: VectorsByTextHash::new() })
    }

    /// Embeds notes, and prints the time for each.
    pub(crate) fn embed_notes(&mut self, notes: &[Note]) {
        let (begun, before) = (Instant::now(), self.vectors.len());
        for (key, text) in notes
            .iter()
            .enumerate()
            .flat_map(|it| texts_to_embed(&note_document(it)).collect::<Vec<_>>())
        {
            if let (false, Some(vector)) =
                (self.vectors.contains_key(&key), Vector::from_floats(&self.model.embed(&text)))
            {
                self.vectors.insert(key, vector);
            }
        }
        let (read, new) = (begun.elapsed(), self.vectors.len() - before);
        if new > 0 {
            let each = read / u32::try_from(new).expect("there are few");
            println!(
                "\n{new} passages of {} notes read in {read:.1?}, {each:.1?} each",
                notes.len()
            );
        }
    }
}
