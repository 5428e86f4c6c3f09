//! Computes embeddings of texts with a small BERT encoder, implemented here.
//!
//! Pure: takes the bytes of a model and returns vectors. Nothing here reads a file; the caller
//! passes the contents of the model's folder. Texts are encoded one at a time, without
//! padding, and are cut to the number of tokens that such models are trained on. The vector of
//! a text is the mean of its tokens' vectors, normalized to length one.

#[cfg(feature = "embedding")]
mod encoder;
mod error;
#[cfg(all(test, feature = "embedding"))]
mod fixture;
#[cfg(feature = "embedding")]
mod safetensors;
#[cfg(not(feature = "embedding"))]
mod unsupported;
#[cfg(feature = "embedding")]
mod vocabulary;

pub use error::Error;

#[cfg(not(feature = "embedding"))]
pub use unsupported::Model;

#[cfg(feature = "embedding")]
use {encoder::Encoder, ndarray::Axis, safetensors::Tensors, vocabulary::Vocabulary};

#[cfg(feature = "embedding")]
/// Limit for the tokens of a text, including `[CLS]` and `[SEP]`: the limit of
/// all-MiniLM-L6-v2, whatever its `tokenizer.json` says.
const MAX_TOKENS: usize = 256;

#[cfg(feature = "embedding")]
/// A loaded embedding model: its vocabulary and its encoder.
pub struct Model {
    vocabulary: Vocabulary,
    encoder: Encoder,
}

#[cfg(feature = "embedding")]
impl Model {
    /// Parses a model: `model.safetensors`, `vocab.txt`, and `config.json` if there is one.
    pub fn parse(weights: &[u8], vocabulary: &str, config: Option<&str>) -> Result<Self, Error> {
        let vocabulary = Vocabulary::parse(vocabulary)?;
        let encoder = Encoder::from_tensors(&Tensors::parse(weights)?, vocabulary.len(), config)?;
        let states = encoder.hidden_states(&vocabulary.tokenize("", encoder.max_positions()));
        if !states.iter().all(|it| it.is_finite()) {
            return Err(Error::NotFinite);
        }
        Ok(Self { vocabulary, encoder })
    }

    /// Returns the embedding of a text: a vector of the model's width and of length one; all
    /// zeros if the model's result is not finite.
    pub fn embed(&self, text: &str) -> Vec<f32> {
        let tokens = self.vocabulary.tokenize(text, MAX_TOKENS.min(self.encoder.max_positions()));
        let states = self.encoder.hidden_states(&tokens);
        let mean = states.mean_axis(Axis(0)).unwrap_or_default();
        let length = mean.dot(&mean).sqrt();
        let unit = if length.is_finite() && length > 0.0 { mean / length } else { mean * 0.0 };
        unit.into_iter().map(|it| if it.is_finite() { it } else { 0.0 }).collect()
    }
}

#[cfg(all(test, feature = "embedding"))]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::embedding::fixture::{CONFIG, TestWeights, VOCABULARY, model_with_header};

    fn model_file() -> Vec<u8> {
        let weights = TestWeights::new();
        weights.file(&weights.header())
    }

    /// The expected numbers come from `BertModel` of the Python package transformers 4.49 with
    /// the same weights, averaged over the tokens, and normalized to length one.
    #[test]
    fn embeddings_match_those_of_the_transformers_package() {
        let model = Model::parse(&model_file(), VOCABULARY, Some(CONFIG)).unwrap();
        for (text, expected) in [
            (
                "The herons wade in the marsh.",
                [
                    -0.108_331, -0.220_95, -0.257_083, 0.445_593, 0.521_164, -0.328_817, 0.521_044,
                    -0.153_559,
                ],
            ),
            (
                "Nobody at all",
                [
                    -0.083_981, -0.211_357, -0.257_125, 0.448_5, 0.532_786, -0.372_954, 0.490_136,
                    -0.133_496,
                ],
            ),
        ] {
            let found = model.embed(text);
            let apart = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
            assert!(apart.clone().all(|it| it < 1e-5), "{found:?}");
        }
    }

    #[test]
    fn only_the_beginning_of_a_long_text_is_embedded() {
        let model = Model::parse(&model_file(), VOCABULARY, Some(CONFIG)).unwrap();
        let long = "heron marsh wade ".repeat(9);
        assert_eq!(model.embed(&long), model.embed(&long.repeat(9)));
        assert_ne!(model.embed("heron"), model.embed("marsh"));
        let length = model.embed("").iter().map(|it| it * it).sum::<f32>();
        assert!((length - 1.0).abs() < 1e-5);
    }

    #[test]
    fn invalid_weights_are_reported() {
        let query = "encoder.layer.1.attention.self.query.weight";
        let set = |name: &'static str, key: &'static str, value: serde_json::Value| {
            model_with_header(move |header| header[name][key] = value).err()
        };
        let errors = [
            Model::parse(b"", VOCABULARY, None).err(),
            Model::parse(&[0xff; 9], VOCABULARY, None).err(),
            Model::parse(b"\x02\0\0\0\0\0\0\0[]", VOCABULARY, None).err(),
            Model::parse(b"\x02\0\0\0\0\0\0\0{}", VOCABULARY, None).err(),
            model_with_header(|header| drop(header.remove("encoder.layer.0.output.dense.bias")))
                .err(),
            set(query, "dtype", json!("F16")),
            set(query, "dtype", json!(1)),
            set(query, "shape", json!([8, 9])),
            set(query, "shape", json!([64])),
            set(query, "data_offsets", json!([8, 4])),
            set(query, "data_offsets", json!([0, u64::MAX])),
            set(query, "data_offsets", json!([0, 4])),
            set("embeddings.word_embeddings.weight", "shape", json!([u64::MAX, 8])),
            set("embeddings.word_embeddings.weight", "shape", json!([12, 0])),
            set("embeddings.position_embeddings.weight", "shape", json!([1, 8])),
        ];
        insta::assert_snapshot!(error_lines(&errors), @r#"
        `model.safetensors` is not a safetensors file: it is shorter than the length of a header
        `model.safetensors` is not a safetensors file: its header extends beyond its end
        `model.safetensors` is not a safetensors file: invalid type: sequence, expected a map at line 1 column 0
        `model.safetensors` is not a BERT model: it has no `embeddings.word_embeddings.weight`
        `model.safetensors` is not a BERT model: it has no `encoder.layer.0.output.dense.bias`
        "encoder.layer.1.attention.self.query.weight" in `model.safetensors` is "F16": only F32 is supported
        `model.safetensors` is not a safetensors file: `encoder.layer.1.attention.self.query.weight`: invalid type: integer `1`, expected a string
        `encoder.layer.1.attention.self.query.weight` in `model.safetensors` has shape [8, 9], but [8, 8] is needed
        `encoder.layer.1.attention.self.query.weight` in `model.safetensors` has shape [64], but [8, 8] is needed
        `encoder.layer.1.attention.self.query.weight` in `model.safetensors` has offsets outside the file or not matching its shape
        `encoder.layer.1.attention.self.query.weight` in `model.safetensors` has offsets outside the file or not matching its shape
        `encoder.layer.1.attention.self.query.weight` in `model.safetensors` has offsets outside the file or not matching its shape
        `embeddings.word_embeddings.weight` in `model.safetensors` has offsets outside the file or not matching its shape
        `embeddings.word_embeddings.weight` in `model.safetensors` has shape [12, 0], but [any, any] is needed
        `embeddings.position_embeddings.weight` in `model.safetensors` has offsets outside the file or not matching its shape
        "#);
    }

    #[test]
    fn a_vocabulary_or_config_that_does_not_match_is_reported() {
        let more = format!("{VOCABULARY}one\nmore\n");
        let config = |text: &str| Model::parse(&model_file(), VOCABULARY, Some(text)).err();
        let errors = [
            Model::parse(&model_file(), &more, Some(CONFIG)).err(),
            Model::parse(&model_file(), "the\nof\n", Some(CONFIG)).err(),
            Model::parse(&model_file(), VOCABULARY, None).err(),
            config("no"),
            config(r#"{"model_type": "roberta"}"#),
            config(r#"{"num_attention_heads": 0}"#),
        ];
        insta::assert_snapshot!(error_lines(&errors), @r#"
        `vocab.txt`: it has 14 pieces, but the model has 12
        `vocab.txt`: it has no `[UNK]`: it is not a BERT vocabulary
        `config.json`: `num_attention_heads` is 12, which does not divide 8 numbers
        `config.json`: expected ident at line 1 column 2
        `config.json`: `model_type` is "roberta"; only "bert" is supported
        `config.json`: `num_attention_heads` is 0, which does not divide 8 numbers
        "#);
    }

    fn error_lines(errors: &[Option<Error>]) -> String {
        let line = |it: &Option<Error>| it.as_ref().map_or("nothing".to_owned(), Error::to_string);
        errors.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_truncated_model_file_is_refused() {
        let file = model_file();
        for end in (0..file.len()).step_by(7) {
            assert!(Model::parse(&file[..end], VOCABULARY, Some(CONFIG)).is_err(), "{end}");
        }
    }

    proptest! {
        #[test]
        fn corrupt_model_bytes_cause_no_panic(
            at in 0_usize..4_000,
            byte: u8,
            text: String,
        ) {
            let mut file = model_file();
            file[at] = byte;
            if let Ok(model) = Model::parse(&file, VOCABULARY, Some(CONFIG)) {
                let length = model.embed(&text).iter().map(|it| it * it).sum::<f32>();
                prop_assert!((length - 1.0).abs() < 1e-3 || length == 0.0, "{length}");
            }
        }
    }
}
