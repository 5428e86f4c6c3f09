//! What may be wrong with a model.

/// Why a model cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The weights are in no safetensors file, or in half of one.
    #[error("`model.safetensors` is no such file: {0}")]
    InvalidFile(String),
    /// A tensor of a BERT is not there.
    #[error("`model.safetensors` is of no BERT: it has no `{0}`")]
    MissingTensor(String),
    /// A tensor is of numbers that are not read.
    #[error("`{name}` in `model.safetensors` is {kind}: only F32 is read")]
    UnsupportedType {
        /// The tensor.
        name: String,
        /// What it is made of.
        kind: String,
    },
    /// A tensor has not the shape that the others ask for.
    #[error("`{name}` in `model.safetensors` is {is}, and {wanted} is needed")]
    WrongShape {
        /// The tensor.
        name: String,
        /// Its shape.
        is: String,
        /// What belongs there.
        wanted: String,
    },
    /// A tensor lies where the file does not reach, or is not as long as its shape.
    #[error("`{0}` in `model.safetensors` lies outside the file or is not as long as it says")]
    OutOfBounds(String),
    /// What comes out of it are no numbers.
    #[error("`model.safetensors` makes no numbers of a text: some of its own are none")]
    NotFinite,
    /// The settings are no such thing, or of another family.
    #[error("`config.json`: {0}")]
    Config(String),
    /// The words are not those of a BERT.
    #[error("`vocab.txt`: {0}")]
    Vocabulary(String),
    /// The program was built without the cargo feature `embedding`.
    #[error("this build of palazzo cannot load models: build it with the feature `embedding`")]
    Unsupported,
}
