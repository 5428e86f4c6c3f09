//! A model for tests: two layers, vectors of eight numbers, computed weights.

use serde_json::{Map, Value, json};

use crate::embedding::{Error, Model};

pub(crate) const VOCABULARY: &str =
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\nthe\nheron\n##s\nwade\nin\nmarsh\n.\nat\n";

pub(crate) const CONFIG: &str = r#"{"model_type": "bert", "num_attention_heads": 2}"#;

const WIDTH: usize = 8;
const INTERMEDIATE_WIDTH: usize = 16;
const POSITIONS: usize = 16;

/// The names and shapes of the tensors of a model.
#[derive(Clone)]
pub(crate) struct TestWeights(Vec<(String, Vec<usize>)>);

impl TestWeights {
    pub(crate) fn new() -> Self {
        let words = VOCABULARY.lines().count();
        let mut all = vec![
            ("embeddings.word_embeddings.weight".to_owned(), vec![words, WIDTH]),
            ("embeddings.position_embeddings.weight".to_owned(), vec![POSITIONS, WIDTH]),
            ("embeddings.token_type_embeddings.weight".to_owned(), vec![2, WIDTH]),
            ("embeddings.LayerNorm.weight".to_owned(), vec![WIDTH]),
            ("embeddings.LayerNorm.bias".to_owned(), vec![WIDTH]),
        ];
        for layer in 0..2 {
            for (part, to, from) in [
                ("attention.self.query", WIDTH, WIDTH),
                ("attention.self.key", WIDTH, WIDTH),
                ("attention.self.value", WIDTH, WIDTH),
                ("attention.output.dense", WIDTH, WIDTH),
                ("attention.output.LayerNorm", WIDTH, 0),
                ("intermediate.dense", INTERMEDIATE_WIDTH, WIDTH),
                ("output.dense", WIDTH, INTERMEDIATE_WIDTH),
                ("output.LayerNorm", WIDTH, 0),
            ] {
                let name = format!("encoder.layer.{layer}.{part}");
                let shape = if from == 0 { vec![to] } else { vec![to, from] };
                all.push((format!("{name}.weight"), shape));
                all.push((format!("{name}.bias"), vec![to]));
            }
        }
        Self(all)
    }

    pub(crate) fn header(&self) -> Map<String, Value> {
        let mut at = 0;
        let mut header = Map::new();
        header.insert("__metadata__".to_owned(), json!({ "format": "pt" }));
        for (name, shape) in &self.0 {
            let end = at + 4 * shape.iter().product::<usize>();
            let info = json!({ "dtype": "F32", "shape": shape, "data_offsets": [at, end] });
            header.insert(name.clone(), info);
            at = end;
        }
        header
    }

    /// Returns the bytes of the file with this header.
    pub(crate) fn file(&self, header: &Map<String, Value>) -> Vec<u8> {
        let header = serde_json::to_vec(header).unwrap();
        let mut file = (header.len() as u64).to_le_bytes().to_vec();
        file.extend(header);
        let count: usize = self.0.iter().map(|(_, shape)| shape.iter().product::<usize>()).sum();
        // Between -1 and 1, with the same result in every programming language.
        let number = |it: usize| u16::try_from(it * 7919 % 1009).map_or(0.0, f32::from);
        let numbers = (0..count).map(|it| number(it) / 504.5 - 1.0);
        file.extend(numbers.flat_map(f32::to_le_bytes));
        file
    }
}

/// Parses the model with a changed header.
pub(crate) fn model_with_header(
    change: impl FnOnce(&mut Map<String, Value>),
) -> Result<Model, Error> {
    let weights = TestWeights::new();
    let mut header = weights.header();
    change(&mut header);
    Model::parse(&weights.file(&header), VOCABULARY, Some(CONFIG))
}
