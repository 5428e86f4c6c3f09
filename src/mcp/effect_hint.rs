//! The hints of tools about their effects.

use rmcp::model::ToolAnnotations;

/// The effect of a tool on the palace, as a hint for clients that ask the user before a
/// call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum EffectHint {
    /// Only reads.
    Reads,
    /// Adds; a second call adds again.
    Adds,
    /// Adds; a second call with the same arguments adds nothing.
    AddsOnce,
    /// May replace content; a second call changes nothing more. Git keeps the old
    /// content.
    Replaces,
}

impl EffectHint {
    /// Returns the hints for clients, without those that equal the default of MCP.
    pub(super) fn annotations(self) -> ToolAnnotations {
        let hints = ToolAnnotations::new().open_world(false);
        match self {
            Self::Reads => hints.read_only(true),
            Self::Adds => hints.destructive(false),
            Self::AddsOnce => hints.destructive(false).idempotent(true),
            Self::Replaces => hints.destructive(true).idempotent(true),
        }
    }
}
