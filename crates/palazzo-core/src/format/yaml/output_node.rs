//! A YAML value that is going to be written.

use serde_json::{Map, Value};

/// A value to write, with its style.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::format) enum OutputNode {
    /// Unquoted: an id, a date, a slug.
    Plain(String),
    /// On one line, quoted if needed; several lines: a block literal.
    Text(String),
    /// Always a block literal, with one final line break: prose.
    BlockText(String),
    /// One item per line; `[]` if empty.
    List(Vec<Self>),
    /// One key per line; `{}` if empty.
    Map(Vec<(&'static str, Self)>),
    /// One key per line, with free keys; `{}` if empty.
    DynamicMap(Vec<(String, Self)>),
}

impl OutputNode {
    /// Returns the node for a value with any keys.
    pub(in crate::format) fn from_json(value: &Value) -> Self {
        match value {
            Value::String(text) => Self::Text(text.clone()),
            Value::Array(items) => Self::List(items.iter().map(Self::from_json).collect()),
            Value::Object(map) => Self::from_json_map(map),
            Value::Null | Value::Bool(_) | Value::Number(_) => Self::Plain(value.to_string()),
        }
    }

    /// Returns the node for a mapping with any keys.
    pub(in crate::format) fn from_json_map(map: &Map<String, Value>) -> Self {
        let pairs = map.iter().map(|(key, it)| (key.clone(), Self::from_json(it)));
        Self::DynamicMap(pairs.collect())
    }

    /// Returns the keys and values of a mapping.
    pub(crate) fn pairs(&self) -> Option<Vec<(&str, &Self)>> {
        match self {
            Self::Map(pairs) => Some(pairs.iter().map(|(key, it)| (*key, it)).collect()),
            Self::DynamicMap(pairs) => {
                Some(pairs.iter().map(|(key, it)| (key.as_str(), it)).collect())
            }
            _ => None,
        }
    }

    /// Returns the text of a scalar.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Plain(text) | Self::Text(text) | Self::BlockText(text) => Some(text),
            Self::List(_) | Self::Map(_) | Self::DynamicMap(_) => None,
        }
    }

    /// Returns whether the value is a list or a mapping with lines of its own: one that is not
    /// empty.
    pub(crate) fn has_children(&self) -> bool {
        match self {
            Self::List(items) => !items.is_empty(),
            Self::Map(pairs) => !pairs.is_empty(),
            Self::DynamicMap(pairs) => !pairs.is_empty(),
            Self::Plain(_) | Self::Text(_) | Self::BlockText(_) => false,
        }
    }
}
