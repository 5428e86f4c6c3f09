//! The BERT encoder: layers of self-attention and feed-forward networks.

use ndarray::{Array1, Array2, Axis, Slice};
use serde::Deserialize;

use crate::embedding::Error;
use crate::embedding::safetensors::Tensors;

/// Minimum number of positions: `[CLS]`, one token and `[SEP]`.
const MIN_POSITIONS: usize = 3;

/// The embeddings and layers of a BERT model.
pub(super) struct Encoder {
    word_embeddings: Array2<f32>,
    position_embeddings: Array2<f32>,
    embedding_norm: LayerNorm,
    layers: Vec<Layer>,
}

struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    heads: usize,
    attention_output: Linear,
    attention_norm: LayerNorm,
    intermediate: Linear,
    output: Linear,
    output_norm: LayerNorm,
}

struct Linear {
    weight: Array2<f32>,
    bias: Array1<f32>,
}

struct LayerNorm {
    weight: Array1<f32>,
    bias: Array1<f32>,
    epsilon: f32,
}

/// The settings in `config.json` that the shapes of the tensors do not show; the defaults are
/// those of all-MiniLM-L6-v2.
#[derive(Deserialize)]
#[serde(default)]
struct Config {
    model_type: String,
    hidden_act: String,
    position_embedding_type: String,
    num_attention_heads: usize,
    layer_norm_eps: f32,
}

impl Encoder {
    /// Reads the weights of an encoder for a vocabulary of `vocabulary_size` pieces.
    pub(super) fn from_tensors(
        tensors: &Tensors<'_>,
        vocabulary_size: usize,
        config: Option<&str>,
    ) -> Result<Self, Error> {
        let config = Config::parse(config)?;
        let words = tensors.matrix("embeddings.word_embeddings.weight", None, None)?;
        let width = words.ncols();
        if words.nrows() < vocabulary_size {
            let why =
                format!("it has {vocabulary_size} pieces, but the model has {}", words.nrows());
            return Err(Error::Vocabulary(why));
        }
        config.check_heads(width)?;
        let name = "embeddings.position_embeddings.weight";
        let positions = tensors.matrix(name, None, Some(width))?;
        if positions.nrows() < MIN_POSITIONS {
            let is = format!("[{}, {width}]", positions.nrows());
            return Err(Error::WrongShape {
                name: name.to_owned(),
                is,
                wanted: format!("at least [{MIN_POSITIONS}, …]"),
            });
        }
        let kinds = tensors.matrix("embeddings.token_type_embeddings.weight", None, Some(width))?;
        let numbers = (0..).map(|number| format!("encoder.layer.{number}"));
        let numbers =
            numbers.take_while(|it| tensors.has(&format!("{it}.attention.self.query.weight")));
        let layers = numbers.map(|it| Layer::from_tensors(tensors, &it, width, &config));
        let layers = layers.collect::<Result<Vec<_>, _>>()?;
        if layers.is_empty() {
            return Err(Error::MissingTensor(
                "encoder.layer.0.attention.self.query.weight".to_owned(),
            ));
        }
        let norm = LayerNorm::from_tensors(tensors, "embeddings.LayerNorm", width, &config)?;
        // All tokens of a text have the first token type.
        Ok(Self {
            word_embeddings: words,
            position_embeddings: positions + kinds.row(0),
            embedding_norm: norm,
            layers,
        })
    }

    /// Returns the maximum number of tokens of a text.
    pub(super) fn max_positions(&self) -> usize {
        self.position_embeddings.nrows()
    }

    /// Returns the hidden states of the last layer, one row per token; takes at most
    /// [`Encoder::max_positions`] tokens.
    pub(super) fn hidden_states(&self, tokens: &[usize]) -> Array2<f32> {
        let mut states = self.word_embeddings.select(Axis(0), tokens);
        states += &self.position_embeddings.slice_axis(Axis(0), (..tokens.len()).into());
        self.embedding_norm.normalize_rows(&mut states);
        for layer in &self.layers {
            states = layer.forward(&states);
        }
        states
    }
}

impl Layer {
    fn from_tensors(
        tensors: &Tensors<'_>,
        name: &str,
        width: usize,
        config: &Config,
    ) -> Result<Self, Error> {
        let linear = |part: &str, to: Option<usize>, from: Option<usize>| {
            Linear::from_tensors(tensors, &format!("{name}.{part}"), to, from)
        };
        let norm =
            |part: &str| LayerNorm::from_tensors(tensors, &format!("{name}.{part}"), width, config);
        let width = Some(width);
        let wide = linear("intermediate.dense", None, width)?;
        Ok(Self {
            query: linear("attention.self.query", width, width)?,
            key: linear("attention.self.key", width, width)?,
            value: linear("attention.self.value", width, width)?,
            heads: config.num_attention_heads,
            attention_output: linear("attention.output.dense", width, width)?,
            attention_norm: norm("attention.output.LayerNorm")?,
            output: linear("output.dense", width, Some(wide.bias.len()))?,
            intermediate: wide,
            output_norm: norm("output.LayerNorm")?,
        })
    }

    fn forward(&self, states: &Array2<f32>) -> Array2<f32> {
        let mut attended =
            self.attention_output.linear_transform(&self.self_attention(states)) + states;
        self.attention_norm.normalize_rows(&mut attended);
        let mut activated = self.intermediate.linear_transform(&attended);
        activated.mapv_inplace(gelu);
        let mut output = self.output.linear_transform(&activated) + attended;
        self.output_norm.normalize_rows(&mut output);
        output
    }

    /// Computes multi-head self-attention: each token attends to all tokens.
    fn self_attention(&self, states: &Array2<f32>) -> Array2<f32> {
        let [query, key, value] =
            [&self.query, &self.key, &self.value].map(|it| it.linear_transform(states));
        let width = query.ncols() / self.heads;
        #[expect(clippy::cast_precision_loss, reason = "no head is that wide")]
        let scale = 1.0 / (width as f32).sqrt();
        let mut attended = Array2::zeros(query.raw_dim());
        for head in 0..self.heads {
            let (part, at) = (Axis(1), Slice::from(head * width..(head + 1) * width));
            let mut weights = query.slice_axis(part, at).dot(&key.slice_axis(part, at).t()) * scale;
            for mut row in weights.rows_mut() {
                let max = row.fold(f32::NEG_INFINITY, |max, it| max.max(*it));
                row.mapv_inplace(|it| (it - max).exp());
                row /= row.sum();
            }
            attended.slice_axis_mut(part, at).assign(&weights.dot(&value.slice_axis(part, at)));
        }
        attended
    }
}

impl Linear {
    fn from_tensors(
        tensors: &Tensors<'_>,
        name: &str,
        to: Option<usize>,
        from: Option<usize>,
    ) -> Result<Self, Error> {
        let weight = tensors.matrix(&format!("{name}.weight"), to, from)?;
        let bias = tensors.vector(&format!("{name}.bias"), weight.nrows())?;
        Ok(Self { weight, bias })
    }

    fn linear_transform(&self, states: &Array2<f32>) -> Array2<f32> {
        states.dot(&self.weight.t()) + &self.bias
    }
}

impl LayerNorm {
    fn from_tensors(
        tensors: &Tensors<'_>,
        name: &str,
        width: usize,
        config: &Config,
    ) -> Result<Self, Error> {
        Ok(Self {
            weight: tensors.vector(&format!("{name}.weight"), width)?,
            bias: tensors.vector(&format!("{name}.bias"), width)?,
            epsilon: config.layer_norm_eps,
        })
    }

    /// Normalizes each row to mean 0 and variance 1, then applies the learned weight and bias.
    fn normalize_rows(&self, states: &mut Array2<f32>) {
        for mut row in states.rows_mut() {
            let mean = row.mean().unwrap_or_default();
            row -= mean;
            let deviation = (row.var(0.0) + self.epsilon).sqrt();
            row /= deviation;
            row *= &self.weight;
            row += &self.bias;
        }
    }
}

impl Config {
    /// Checks that the attention heads share `width` numbers equally.
    fn check_heads(&self, width: usize) -> Result<(), Error> {
        let heads = self.num_attention_heads;
        if heads > 0 && width.is_multiple_of(heads) {
            return Ok(());
        }
        let why =
            format!("`num_attention_heads` is {heads}, which does not divide {width} numbers");
        Err(Error::Config(why))
    }

    fn parse(text: Option<&str>) -> Result<Self, Error> {
        let Some(text) = text else { return Ok(Self::default()) };
        let config: Self =
            serde_json::from_str(text).map_err(|err| Error::Config(err.to_string()))?;
        let settings = [
            ("model_type", &config.model_type, "bert"),
            ("hidden_act", &config.hidden_act, "gelu"),
            ("position_embedding_type", &config.position_embedding_type, "absolute"),
        ];
        if let Some((key, is, expected)) = settings.iter().find(|(_, is, expected)| is != expected)
        {
            let why = format!("`{key}` is {is:?}; only \"{expected}\" is supported");
            return Err(Error::Config(why));
        }
        Ok(config)
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            model_type: "bert".to_owned(),
            hidden_act: "gelu".to_owned(),
            position_embedding_type: "absolute".to_owned(),
            num_attention_heads: 12,
            layer_norm_eps: 1e-12,
        }
    }
}

/// The activation function GELU (Hendrycks and Gimpel). The error function is approximated by
/// Abramowitz and Stegun, 7.1.26, to seven digits.
fn gelu(x: f32) -> f32 {
    const ERF_COEFFICIENTS: [f32; 5] =
        [1.061_405_4, -1.453_152, 1.421_413_7, -0.284_496_74, 0.254_829_6];
    let z = x.abs() / std::f32::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let sum = ERF_COEFFICIENTS.into_iter().fold(0.0, |sum, term| (sum + term) * t);
    let erf = (1.0 - sum * (-z * z).exp()).copysign(x);
    0.5 * x * (1.0 + erf)
}
