//! A YAML value that is going to be written.

use serde_json::Value;

/// A value to write, with its style.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::format) enum OutputNode {
    /// Unquoted: an id, a date, a slug.
    Plain(String),
    /// On one line, quoted if needed; several lines: a block literal.
    Text(String),
    /// Always a block literal, with one final line break: prose.
    BlockText(String),
    /// On one line, in flow style.
    Json(Value),
    /// On one line: `{ a: 1, b: 2 }`.
    FlowMap(Vec<(&'static str, Self)>),
    /// On one line: `{ a: 1, b: 2 }`, with free keys.
    DynamicFlowMap(Vec<(String, Self)>),
    /// On one line: `[a, b]`.
    FlowList(Vec<Self>),
    /// One item per line.
    List(Vec<Self>),
    /// One key per line.
    Map(Vec<(&'static str, Self)>),
    /// One key per line, with free keys.
    DynamicMap(Vec<(String, Self)>),
}

impl OutputNode {
    /// Returns the keys and values of a mapping.
    pub(crate) fn pairs(&self) -> Option<Vec<(&str, &Self)>> {
        match self {
            Self::Map(pairs) | Self::FlowMap(pairs) => {
                Some(pairs.iter().map(|(key, it)| (*key, it)).collect())
            }
            Self::DynamicMap(pairs) | Self::DynamicFlowMap(pairs) => {
                Some(pairs.iter().map(|(key, it)| (key.as_str(), it)).collect())
            }
            _ => None,
        }
    }

    /// Returns whether the value is a mapping with one key per line.
    pub(crate) fn is_block_map(&self) -> bool {
        matches!(self, Self::Map(_) | Self::DynamicMap(_))
    }
}
