//! Replaces the model in a build without the cargo feature `embedding`: none can be loaded.

use crate::embedding::Error;

/// A model that cannot exist.
pub enum Model {}

impl Model {
    /// Returns [`Error::Unsupported`].
    pub fn parse(_: &[u8], _: &str, _: Option<&str>) -> Result<Self, Error> {
        Err(Error::Unsupported)
    }

    /// Cannot be called, as there is no model.
    pub fn embed(&self, _: &str) -> Vec<f32> {
        match *self {}
    }
}
