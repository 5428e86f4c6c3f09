//! The subset of YAML that palaces use: no anchors, aliases or tags, one document, each key once.
//!
//! Parsing uses the parser's events rather than serde, so that every value has a line and a column,
//! one file can have several findings, and a wrong key costs that key and not the room. Writing has
//! our layout and the library's quoting. Editing changes only what differs, and its result is
//! parsed again before it is accepted.

pub(crate) mod attached_comments;
mod edit;
mod file_lines;
mod item_matching;
pub(crate) mod output_node;
pub(crate) mod parse;
mod splice;
mod word_diff;
mod write;

pub(super) use crate::format::yaml::attached_comments::CommentsAndDashes;
pub(super) use crate::format::yaml::parse::YamlError;
pub(super) use crate::format::yaml::write::{rewrite_edited_yaml, rewrite_yaml};
pub(super) use edit::edit_yaml;
pub(super) use output_node::OutputNode;
pub(super) use parse::{MapKey, Node, NodeValue, parse_yaml};
pub(super) use splice::splice_lists_and_texts;
pub(super) use write::{one_line_scalar, serialize_yaml};
