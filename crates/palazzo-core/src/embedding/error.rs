//! The error of an embedding model that cannot be loaded.

/// The error of a model that cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The weights are not a complete safetensors file.
    #[error("`model.safetensors` is not a safetensors file: {0}")]
    InvalidFile(String),
    /// A tensor of a BERT model is missing.
    #[error("`model.safetensors` is not a BERT model: it has no `{0}`")]
    MissingTensor(String),
    /// A tensor has an unsupported number type.
    #[error("{name:?} in `model.safetensors` is {kind:?}: only F32 is supported")]
    UnsupportedType {
        /// The name of the tensor.
        name: String,
        /// Its number type.
        kind: String,
    },
    /// A tensor has a shape that does not match the others.
    #[error("`{name}` in `model.safetensors` has shape {is}, but {wanted} is needed")]
    WrongShape {
        /// The name of the tensor.
        name: String,
        /// Its shape.
        is: String,
        /// The expected shape.
        wanted: String,
    },
    /// A tensor's offsets are outside the file or do not match its shape.
    #[error("`{0}` in `model.safetensors` has offsets outside the file or not matching its shape")]
    OutOfBounds(String),
    /// The model's output is not finite.
    #[error("`model.safetensors` cannot be used: some of its numbers are not finite")]
    NotFinite,
    /// The settings are invalid or of another model family.
    #[error("`config.json`: {0}")]
    Config(String),
    /// The vocabulary is not that of a BERT model.
    #[error("`vocab.txt`: {0}")]
    Vocabulary(String),
    /// The program was built without the cargo feature `embedding`.
    #[error("this build of palazzo cannot load models: build it with the feature `embedding`")]
    Unsupported,
}
