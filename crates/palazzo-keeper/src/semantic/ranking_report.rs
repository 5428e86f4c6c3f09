//! How the hits of a search were ranked: by words alone, or by words and meaning.

use std::fmt;

use palazzo_core::render;

/// How hits were ranked, in a palace that names a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankingReport {
    /// Whether hits were ranked by meaning too, not only by words.
    pub is_semantic: bool,
    /// How many passages have no embedding yet: they are ranked by words only.
    pub pending_passages: usize,
    /// The error of the model, if it cannot be used.
    pub model_error: Option<String>,
}

impl RankingReport {
    /// Returns its name: `words and meaning`.
    pub fn name(&self) -> &'static str {
        if self.is_semantic { "words and meaning" } else { "words" }
    }

    /// Returns the error of the model, or how many passages have no embedding yet.
    pub fn error_or_pending_text(&self) -> Option<String> {
        let pending = || {
            format!(
                "{} not embedded yet",
                render::count_with_noun(self.pending_passages, "passage")
            )
        };
        self.model_error.clone().or_else(|| (self.pending_passages > 0).then(pending))
    }
}

/// Prints as a sentence without a full stop.
impl fmt::Display for RankingReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let alone = if self.is_semantic { "" } else { " alone" };
        write!(f, "Found by {}{alone}", self.name())?;
        self.error_or_pending_text().map_or(Ok(()), |it| write!(f, ": {it}"))
    }
}
