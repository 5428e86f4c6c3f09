//! Genera: optional definitions of the types of entities.

use serde_json::Value;

use crate::model::{Date, did_you_mean, quoted, quoted_unless_plain};

/// The definition of one genus. All parts are optional; what it does not define is unrestricted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Genus {
    /// The name, as entities give it: `Claim`.
    pub name: String,
    /// The plural of the name: `Claims`.
    pub plural: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// The template for naming an entity in a sentence: `the claim "{name}"`.
    pub sentence: Option<String>,
    /// The attribute definitions, in the order of the file. Other attributes are allowed.
    pub attributes: Vec<(String, AttributeDef)>,
    /// The allowed statuses, the initial one first; if empty, any status is allowed.
    pub statuses: Vec<StatusDef>,
    /// The relation definitions. Other types are allowed.
    pub relations: Vec<(String, RelationDef)>,
}

/// The definition of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeDef {
    /// The type of the value.
    pub kind: AttributeKind,
    /// Whether every entity must have it.
    pub required: bool,
}

/// The type of an attribute's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttributeKind {
    /// Any single text or number.
    Text,
    /// A number.
    Number,
    /// A [`Date`].
    Date,
    /// `true` or `false`; `yes` and `no` are accepted too.
    YesNo,
    /// One of these words.
    OneOf(Vec<String>),
    /// The name of an entity; of this genus if given.
    Link(Option<String>),
}

/// A status of a genus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusDef {
    /// The name.
    pub name: String,
    /// The statuses that may follow it; any if `None`.
    pub next: Option<Vec<String>>,
}

/// The definition of a type of relation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RelationDef {
    /// Whether an entity may have it to only one target at a time.
    pub single: bool,
}

impl Genus {
    /// The placeholder for an entity's name in [`Genus::sentence`].
    pub const NAME_PLACEHOLDER: &'static str = "{name}";

    /// Returns the definition of an attribute.
    pub fn attribute_def(&self, name: &str) -> Option<&AttributeDef> {
        self.attributes.iter().find(|(it, _)| it == name).map(|(_, it)| it)
    }

    /// Returns whether an entity may have this relation to only one target at a time.
    pub fn is_single_relation(&self, relation: &str) -> bool {
        self.relations.iter().any(|(it, about)| it == relation && about.single)
    }

    /// Returns the initial status of entities.
    pub fn initial_status(&self) -> Option<&str> {
        self.statuses.first().map(|it| it.name.as_str())
    }

    /// Returns an error message if the genus does not allow the status.
    pub fn status_error(&self, status: &str) -> Option<String> {
        if self.statuses.is_empty() || self.find_status(status).is_some() {
            return None;
        }
        let known = self.statuses.iter().map(|it| it.name.as_str());
        Some(format!(
            "{} is no status of {}{}",
            quoted(status),
            self.name_with_article(),
            choices_hint(status, known)
        ))
    }

    /// Returns an error message if an entity may not change from one status to another (`None` to
    /// remove it). Any change is allowed from a status that the genus does not list.
    pub fn status_change_error(&self, from: &str, to: Option<&str>) -> Option<String> {
        let next = self.find_status(from)?.next.as_ref()?;
        if to.is_some_and(|to| from == to || next.iter().any(|it| it == to)) {
            return None;
        }
        let to = to.map_or("none".to_owned(), quoted);
        let from = quoted(from);
        let way = format!("{} does not go from {from} to {to}", self.name_with_article());
        Some(match next.as_slice() {
            [] => format!("{way}: {from} is where it ends"),
            next => format!("{way}: after {from} comes {}", quote_words(next)),
        })
    }

    /// Returns the name with an indefinite article: `a Claim`.
    pub fn name_with_article(&self) -> String {
        let vowel = self.name.starts_with(['A', 'E', 'I', 'O', 'a', 'e', 'i', 'o']);
        format!("{} {}", if vowel { "an" } else { "a" }, quoted_unless_plain(&self.name))
    }

    fn find_status(&self, name: &str) -> Option<&StatusDef> {
        self.statuses.iter().find(|it| it.name == name)
    }
}

impl AttributeKind {
    /// Returns an error message if `value` is not of this kind. For a link only the type is
    /// checked; the graph checks the target.
    pub fn value_error(&self, value: &Value) -> Option<String> {
        let text = scalar_text(value);
        let fits = match (self, &text) {
            (_, None) => false,
            (Self::Text, Some(_)) => true,
            (Self::Number, Some(text)) => text.parse().is_ok_and(f64::is_finite),
            (Self::Date, Some(text)) => text.parse::<Date>().is_ok(),
            (Self::YesNo, Some(text)) => {
                matches!(text.to_lowercase().as_str(), "true" | "false" | "yes" | "no")
            }
            (Self::OneOf(words), Some(text)) => words.contains(text),
            (Self::Link(_), _) => value.is_string(),
        };
        let text = text.unwrap_or_else(|| value.to_string());
        let said = quoted(&text);
        match self {
            _ if fits => None,
            Self::OneOf(words) => {
                let known = words.iter().map(String::as_str);
                Some(format!("{said} is none of its words{}", choices_hint(&text, known)))
            }
            Self::Date => text.parse::<Date>().err().map(|err| err.to_string()),
            _ => Some(format!("it is {self}, and not {said}")),
        }
    }
}

/// Formats as in messages: `a date`, `one of low, high`.
impl std::fmt::Display for AttributeKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text => f.write_str("a text"),
            Self::Number => f.write_str("a number"),
            Self::Date => f.write_str("a date (1972, 1972-05-01, 44 BC)"),
            Self::YesNo => f.write_str("true or false"),
            Self::OneOf(words) => write!(f, "one of {}", quote_words(words)),
            Self::Link(None) => f.write_str("the name of an entity"),
            Self::Link(Some(genus)) => {
                write!(f, "the name of an entity of genus {}", quoted_unless_plain(genus))
            }
        }
    }
}

/// Returns the text of a scalar value as it would be written; `None` for null, lists and mappings.
pub(crate) fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns the list of allowed words, after a "did you mean" hint.
fn choices_hint<'a>(said: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    let meant = did_you_mean(said, known.clone());
    let hint = meant.map(|it| format!("; did you mean {}?", quoted(it))).unwrap_or_default();
    format!("{hint} (there are {})", quote_words(&known.collect::<Vec<_>>()))
}

fn quote_words(words: &[impl AsRef<str>]) -> String {
    const SHOWN: usize = 12;
    let shown: Vec<_> = words.iter().take(SHOWN).map(|it| quoted(it.as_ref())).collect();
    let more = if words.len() > SHOWN { " …" } else { "" };
    shown.join(", ") + more
}
