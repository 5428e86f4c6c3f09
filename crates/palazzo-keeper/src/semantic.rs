//! Semantic search: models, vectors, and the indexer in the background.

pub(crate) mod embed;
pub(crate) mod vector_store;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use palazzo_core::embedding::{Error, Model};
use palazzo_core::model::quoted;
use palazzo_core::render;
use palazzo_store as store;

/// Maximum size of a file of a model.
const MAX_MODEL_FILE_BYTES: u64 = 2 << 30;

/// The loaded models, each once for all palaces that name it.
#[derive(Clone, Default)]
pub(crate) struct ModelCache {
    /// Whether passages are embedded in the background.
    pub(crate) in_background: bool,
    loaded: Arc<Mutex<HashMap<PathBuf, Weak<Model>>>>,
}

impl ModelCache {
    /// Loads the model in a folder, a path relative to the palace at `root`, unless it is loaded
    /// already. The error is a text for the user.
    pub(crate) fn load(&self, root: &Path, folder: &str) -> Result<Arc<Model>, String> {
        let path = root.join(folder);
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = loaded.get(&path).and_then(Weak::upgrade) {
            return Ok(model);
        }
        let label = |name: &str| format!("`{name}` in {}", quoted(folder));
        let file = |name: &str| {
            let bytes = store::read_file_bytes(&path.join(name), MAX_MODEL_FILE_BYTES);
            bytes.map_err(|why| format!("{}: {why}", label(name)))
        };
        let text = |name: &str| {
            let text = file(name)?.map(String::from_utf8).transpose();
            text.map_err(|_| format!("{} is not UTF-8", label(name)))
        };
        let tilde = match folder.starts_with('~') {
            true => "; `~` is not expanded: write the whole path",
            false => "",
        };
        let missing = |name: &str| format!("there is no {}{tilde}", label(name));
        let weights = file("model.safetensors")?.ok_or_else(|| missing("model.safetensors"))?;
        let words = text("vocab.txt")?.ok_or_else(|| missing("vocab.txt"))?;
        let model = Model::parse(&weights, &words, text("config.json")?.as_deref());
        let message = |it: Error| render::whole_line(&it.to_string());
        let model = Arc::new(model.map_err(message)?);
        loaded.insert(path, Arc::downgrade(&model));
        Ok(model)
    }
}
