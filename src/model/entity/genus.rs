//! Genera: what the entities of one kind have in common, where somebody has
//! written it down.

use serde_json::Value;

use crate::model::{Date, did_you_mean};

/// What is laid down for the entities of one genus. All of it is optional: what
/// it does not speak of stays free.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Genus {
    /// Its name, as entities give it: `Claim`.
    pub name: String,
    /// What several of its entities are called: `Claims`.
    pub plural: Option<String>,
    /// What it is about.
    pub description: Option<String>,
    /// How an entity is named in a sentence: `the claim "{name}"`.
    pub sentence: Option<String>,
    /// What its entities' attributes are, in the order of the file. Others are
    /// free.
    pub attributes: Vec<(String, AttributeDef)>,
    /// The statuses its entities may have, the one they begin with first; none
    /// are laid down if it is empty.
    pub statuses: Vec<StatusDef>,
    /// What is known of relations its entities hold. Other types are free.
    pub relations: Vec<(String, RelationDef)>,
}

/// What an attribute of a genus is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeDef {
    /// What it may hold.
    pub kind: AttributeKind,
    /// Whether an entity must have it.
    pub required: bool,
}

/// What an attribute may hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttributeKind {
    /// Any text or number on its own.
    Text,
    /// A number.
    Number,
    /// A [`Date`].
    Date,
    /// `true` or `false`; `yes` and `no` do too.
    YesNo,
    /// One of these words.
    OneOf(Vec<String>),
    /// The name of an entity; of this genus, if it is given.
    Link(Option<String>),
}

/// A status that entities of a genus may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusDef {
    /// Its name.
    pub name: String,
    /// The statuses that may follow it; any if it does not say.
    pub next: Option<Vec<String>>,
}

/// What is laid down for a type of relation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RelationDef {
    /// Whether an entity may have it to one other at a time only.
    pub single: bool,
}

impl Genus {
    /// Where the name of an entity goes in [`GenusSchema::sentence`].
    pub const NAME_PLACEHOLDER: &'static str = "{name}";

    /// Says how an entity is named in a sentence; by its name alone if nothing
    /// is laid down.
    pub fn name_in_sentence(&self, name: &str) -> String {
        self.sentence
            .as_ref()
            .map_or(name.to_owned(), |it| it.replace(Self::NAME_PLACEHOLDER, name))
    }

    /// Returns what is laid down for an attribute.
    pub fn attribute_def(&self, name: &str) -> Option<&AttributeDef> {
        self.attributes.iter().find(|(it, _)| it == name).map(|(_, it)| it)
    }

    /// Tells whether an entity may have a relation to one other at a time only.
    pub fn is_single_relation(&self, relation: &str) -> bool {
        self.relations.iter().any(|(it, about)| it == relation && about.single)
    }

    /// Returns the status that entities begin with.
    pub fn initial_status(&self) -> Option<&str> {
        self.statuses.first().map(|it| it.name.as_str())
    }

    /// Says why no entity may have the status `said`, if none may.
    pub fn status_error(&self, said: &str) -> Option<String> {
        if self.statuses.is_empty() || self.find_status(said).is_some() {
            return None;
        }
        let known = self.statuses.iter().map(|it| it.name.as_str());
        Some(format!(
            "`{}` is no status of {}{}",
            escape_and_shorten(said),
            self.name_with_article(),
            choices_hint(said, known)
        ))
    }

    /// Says why an entity may not go from one status to another, or to none, if it may
    /// not. From a status that is none of the genus every way is open.
    pub fn status_change_error(&self, from: &str, to: Option<&str>) -> Option<String> {
        let next = self.find_status(from)?.next.as_ref()?;
        if to.is_some_and(|to| from == to || next.iter().any(|it| it == to)) {
            return None;
        }
        let to = to.map_or("none".to_owned(), |to| format!("`{}`", escape_and_shorten(to)));
        let way = format!("{} does not go from `{from}` to {to}", self.name_with_article());
        Some(match next.as_slice() {
            [] => format!("{way}: `{from}` is where it ends"),
            next => format!("{way}: after `{from}` comes {}", quote_words(next)),
        })
    }

    /// Says `a Claim`.
    pub fn name_with_article(&self) -> String {
        let vowel = self.name.starts_with(['A', 'E', 'I', 'O', 'a', 'e', 'i', 'o']);
        format!("{} {}", if vowel { "an" } else { "a" }, escape_and_shorten(&self.name))
    }

    fn find_status(&self, name: &str) -> Option<&StatusDef> {
        self.statuses.iter().find(|it| it.name == name)
    }
}

impl AttributeKind {
    /// Says why `value` is nothing of this kind, if it is not. Of a link only
    /// its form is seen: whom it names, the graph knows.
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
        let said = escape_and_shorten(&text);
        match self {
            _ if fits => None,
            Self::OneOf(words) => {
                let known = words.iter().map(String::as_str);
                Some(format!("`{said}` is none of its words{}", choices_hint(&said, known)))
            }
            Self::Date => text.parse::<Date>().err().map(|err| err.to_string()),
            _ => Some(format!("it is {self}, and not `{said}`")),
        }
    }
}

/// Says what it is: `a date`, `one of low, high`.
impl std::fmt::Display for AttributeKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text => f.write_str("a text"),
            Self::Number => f.write_str("a number"),
            Self::Date => f.write_str("a date (1972, 1972-05-01, 44 BC)"),
            Self::YesNo => f.write_str("true or false"),
            Self::OneOf(words) => write!(f, "one of {}", quote_words(words)),
            Self::Link(None) => f.write_str("the name of an entity"),
            Self::Link(Some(genus)) => write!(f, "the name of an entity of genus {genus}"),
        }
    }
}

/// Returns a value that is no list and no mapping as it would be written.
pub(crate) fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Says which words there are, after a hint at the one that was meant.
fn choices_hint<'a>(said: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    let meant = did_you_mean(said, known.clone());
    let hint = meant.map(|it| format!("; did you mean `{it}`?")).unwrap_or_default();
    format!("{hint} (there are {})", quote_words(&known.collect::<Vec<_>>()))
}

fn quote_words(words: &[impl AsRef<str>]) -> String {
    const SHOWN: usize = 12;
    let shown: Vec<_> = words.iter().take(SHOWN).map(|it| format!("`{}`", it.as_ref())).collect();
    let more = if words.len() > SHOWN { " …" } else { "" };
    shown.join(", ") + more
}

/// Makes a text fit to be quoted in one line.
fn escape_and_shorten(text: &str) -> String {
    const SHOWN: usize = 60;
    let more = if text.chars().nth(SHOWN).is_some() { "…" } else { "" };
    let text: String = text.chars().take(SHOWN).collect();
    format!("{}{more}", text.escape_debug())
}
