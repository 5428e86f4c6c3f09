//! The arguments of the tools for conflicts.

use schemars::JsonSchema;
use serde::Deserialize;

use palazzo_core::model::ConflictChoice;

/// The arguments of `resolve`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct Resolve {
    /// The first digits of its name, as the notice gives them.
    pub(in crate::mcp) conflict: Option<String>,
    /// The value to keep.
    pub(in crate::mcp) take: Option<Take>,
}

/// Which value of a conflict is taken.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::mcp) enum Take {
    Stands,
    Other,
}

impl From<Take> for ConflictChoice {
    fn from(take: Take) -> Self {
        match take {
            Take::Stands => Self::Stands,
            Take::Other => Self::Other,
        }
    }
}
