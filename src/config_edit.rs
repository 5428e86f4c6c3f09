//! Edits the configuration files of other programs: adds one entry, updates it and removes it.
//!
//! An edit inserts, replaces or deletes pieces of the text; all other bytes stay, also comments,
//! line ends and the order of the keys. Each result is parsed and compared with what it should
//! mean; if anything else has changed, the edit fails. Pure functions: nothing here reads a file.

mod entry;
mod jsonc;
mod line;
#[cfg(test)]
mod property_tests;
mod text_change;
mod toml;
#[cfg(test)]
mod update_tests;
mod yaml;

pub use entry::{ConfigError, EntryFields, EntryPlace};
pub use text_change::{revert_text_change, text_change};

use serde_json::{Map, Value};

use palazzo_core::model::InsertionTrace;

/// The format of a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigFormat {
    /// JSON; comments and trailing commas are allowed.
    Json,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

/// The mark at the start of a text that some editors write.
const BYTE_ORDER_MARK: char = '\u{feff}';

impl ConfigFormat {
    /// Parses a configuration; an empty one is an empty object.
    pub fn parse(self, text: &str) -> Result<Value, ConfigError> {
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        let value = match self {
            Self::Json => jsonc::parse(text),
            Self::Toml => toml::parse(text),
            Self::Yaml => yaml::parse(text),
        }?;
        Ok(if value.is_null() { Map::new().into() } else { value })
    }

    /// Renders a configuration that consists of one entry.
    pub fn render(self, place: EntryPlace, fields: &EntryFields) -> String {
        match self {
            Self::Json => jsonc::render(place, fields),
            Self::Toml => toml::render(place, fields, "\n"),
            Self::Yaml => yaml::render(place, fields, "\n"),
        }
    }

    /// Adds an entry that is not there yet.
    pub fn insert(
        self,
        text: &str,
        place: EntryPlace,
        fields: &EntryFields,
    ) -> Result<(String, InsertionTrace), ConfigError> {
        let mut meant = self.parse(text)?;
        let (mark, body) = split_mark(text);
        let (body, trace) = match self {
            Self::Json => jsonc::insert(body, place, fields),
            Self::Toml => Ok(toml::insert(body, place, fields)),
            Self::Yaml => yaml::insert(body, place, fields),
        }?;
        set_entry(&mut meant, place, fields);
        let text = format!("{mark}{body}");
        self.require_meaning(&text, place, meant)?;
        Ok((text, trace))
    }

    /// Sets fields of an entry, and keeps its others.
    pub fn update(
        self,
        text: &str,
        place: EntryPlace,
        fields: &EntryFields,
    ) -> Result<String, ConfigError> {
        let mut meant = self.parse(text)?;
        let mut merged = find_entry(&meant, place)
            .and_then(Value::as_object)
            .ok_or(ConfigError::NotEditable("the entry is no mapping"))?
            .clone();
        merged.extend(fields.clone());
        let (mark, body) = split_mark(text);
        let body = match self {
            Self::Json => jsonc::update(body, place, fields),
            Self::Toml => toml::update(body, place, fields),
            Self::Yaml => yaml::update(body, place, fields),
        }?;
        set_entry(&mut meant, place, &merged);
        let text = format!("{mark}{body}");
        self.require_meaning(&text, place, meant)?;
        Ok(text)
    }

    /// Removes an entry; with the trace of its insertion, also what was inserted beside it.
    pub fn remove(
        self,
        text: &str,
        place: EntryPlace,
        trace: Option<&InsertionTrace>,
    ) -> Result<String, ConfigError> {
        let mut meant = self.parse(text)?;
        let (mark, body) = split_mark(text);
        let body = match self {
            Self::Json => jsonc::remove(body, place, trace),
            Self::Toml => toml::remove(body, place, trace),
            Self::Yaml => yaml::remove(body, place, trace),
        }?;
        if let Some(section) = meant.get_mut(place.section).and_then(Value::as_object_mut) {
            section.shift_remove(place.name);
        }
        let text = format!("{mark}{body}");
        self.require_meaning(&text, place, meant)?;
        Ok(text)
    }

    /// Fails if the text means something else; a section without entries means the same as none.
    fn require_meaning(
        self,
        text: &str,
        place: EntryPlace,
        meant: Value,
    ) -> Result<(), ConfigError> {
        let failed = ConfigError::NotEditable("it is written in a way that has no safe edit");
        let found = self.parse(text).map_err(|_| failed.clone())?;
        match without_empty_section(found, place) == without_empty_section(meant, place) {
            true => Ok(()),
            false => Err(failed),
        }
    }
}

/// Adds an item to the list at `path` in JSON, and creates the list if it is missing.
pub fn insert_list_item(text: &str, path: &[&str], item: &Value) -> Result<String, ConfigError> {
    let (mark, body) = split_mark(text);
    let mut meant = ConfigFormat::Json.parse(text)?;
    let text = format!("{mark}{}", jsonc::list::insert_item(body, path, item)?);
    let mut list = &mut meant;
    for key in path {
        list = &mut list[*key];
    }
    match list {
        Value::Array(items) => items.push(item.clone()),
        other => *other = Value::Array(vec![item.clone()]),
    }
    require_equal(&ConfigFormat::Json.parse(&text)?, &meant).map(|()| text)
}

/// Removes the items of the list at `path` in JSON for which `is_removed` returns true.
pub fn remove_list_items(
    text: &str,
    path: &[&str],
    is_removed: impl Fn(&Value) -> bool,
) -> Result<String, ConfigError> {
    let (mark, body) = split_mark(text);
    let mut meant = ConfigFormat::Json.parse(text)?;
    let pointer = format!("/{}", path.join("/"));
    if let Some(Value::Array(items)) = meant.pointer_mut(&pointer) {
        items.retain(|it| !is_removed(it));
    }
    let text = format!("{mark}{}", jsonc::list::remove_items(body, path, is_removed)?);
    require_equal(&ConfigFormat::Json.parse(&text)?, &meant).map(|()| text)
}

/// Replaces the one string of JSON that is `was`. Fails if there is none, or several.
pub fn replace_json_string(text: &str, was: &str, new: &str) -> Result<String, ConfigError> {
    let (mark, body) = split_mark(text);
    Ok(format!("{mark}{}", jsonc::replace_string(body, was, new)?))
}

/// Fails if an edited text does not mean what it should.
fn require_equal(found: &Value, meant: &Value) -> Result<(), ConfigError> {
    match found == meant {
        true => Ok(()),
        false => Err(ConfigError::NotEditable("it is written in a way that has no safe edit")),
    }
}

/// Finds an entry in a parsed configuration.
pub fn find_entry<'a>(config: &'a Value, place: EntryPlace) -> Option<&'a Value> {
    config.get(place.section)?.get(place.name)
}

fn split_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 })
}

fn set_entry(config: &mut Value, place: EntryPlace, fields: &EntryFields) {
    let Some(root) = config.as_object_mut() else { return };
    let section = root.entry(place.section).or_insert(Value::Null);
    if section.is_null() {
        *section = Map::new().into();
    }
    if let Some(section) = section.as_object_mut() {
        section.insert(place.name.to_owned(), fields.clone().into());
    }
}

fn without_empty_section(mut config: Value, place: EntryPlace) -> Value {
    if let Some(root) = config.as_object_mut() {
        let is_empty = |it: &Value| it.is_null() || it.as_object().is_some_and(Map::is_empty);
        if root.get(place.section).is_some_and(is_empty) {
            root.shift_remove(place.section);
        }
    }
    config
}
