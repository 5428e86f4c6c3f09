//! The keys of the trailers in the messages of Palazzo's commits: lines `Key: value` at the end, as
//! `git interpret-trailers` reads them.

/// The tool or command that made the commit. A commit without it was made by hand.
pub const TOOL: &str = "Palazzo-Tool";
/// The name of the client.
pub const CLIENT: &str = "Palazzo-Client";
/// The id of the visit.
pub const VISIT: &str = "Palazzo-Visit";
/// A commit that this one undoes.
pub const UNDOES: &str = "Palazzo-Undoes";
/// A commit of which this one undoes only some files: those that it changes itself.
pub const UNDOES_PART: &str = "Palazzo-Undoes-Part";
/// The version of the rules by which sync made a merge commit.
pub const MERGE_RULES: &str = "Palazzo-Merge-Rules";
