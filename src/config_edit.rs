//! Edits the configuration files of other programs: adds one entry, updates it and removes it.
//!
//! An edit inserts, replaces or deletes pieces of the text; all other bytes stay, also comments,
//! line ends and the order of the keys. Each result is parsed and compared with what it should
//! mean; if anything else has changed, the edit fails. Pure functions: nothing here reads a file.

mod entry;
mod jsonc;
mod line;
#[cfg(test)]
mod list_tests;
mod marked_block;
#[cfg(test)]
mod property_tests;
mod text_change;
mod toml;
#[cfg(test)]
mod update_tests;
mod yaml;

pub use entry::{ConfigError, EntryFields, EntryPlace};
pub use marked_block::{with_marked_block, without_marked_block};
pub use text_change::{revert_text_change, text_change};

use serde_json::{Map, Value, json};

use crate::config_edit::entry::NO_SAFE_EDIT;
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
            Self::Json => format!("{:#}", json!({ place.section: { place.name: fields } })),
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
            Self::Json => {
                jsonc::insert(body, &[place.section], Some(place.name), &fields.clone().into())
            }
            Self::Toml => Ok(toml::insert(body, place, fields)),
            Self::Yaml => yaml::insert(body, place, fields),
        }?;
        set_entry(&mut meant, place, fields);
        let text = format!("{mark}{body}");
        self.require_meaning(&text, &[place.section, place.name], meant)?;
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
            Self::Json => jsonc::update_existing(body, place, fields),
            Self::Toml => toml::update_existing(body, place, fields),
            Self::Yaml => yaml::update_existing(body, place, fields),
        }?;
        set_entry(&mut meant, place, &merged);
        let text = format!("{mark}{body}");
        self.require_meaning(&text, &[place.section, place.name], meant)?;
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
        let path = [place.section, place.name];
        let body = match self {
            Self::Json => jsonc::remove(body, &path, &trace.cloned().unwrap_or_default()),
            Self::Toml => toml::remove(body, place, trace),
            Self::Yaml => yaml::remove(body, place, trace),
        }?;
        remove_value(&mut meant, &path);
        let text = format!("{mark}{body}");
        self.require_meaning(&text, &path, meant)?;
        Ok(text)
    }

    /// Fails if the text means something else. What is empty above `path` means the same as nothing.
    fn require_meaning(
        self,
        text: &str,
        path: &[&str],
        mut meant: Value,
    ) -> Result<(), ConfigError> {
        let mut found = self.parse(text).map_err(|_| NO_SAFE_EDIT)?;
        remove_empty_above(&mut found, path);
        remove_empty_above(&mut meant, path);
        if found == meant { Ok(()) } else { Err(NO_SAFE_EDIT) }
    }
}

/// Adds an item to the list at `path` in JSON, and creates the list if it is missing.
pub fn insert_list_item(text: &str, path: &[&str], item: &Value) -> Result<String, ConfigError> {
    let mut meant = ConfigFormat::Json.parse(text)?;
    let (mark, body) = split_mark(text);
    let text = format!("{mark}{}", jsonc::insert(body, path, None, item)?.0);
    match path.iter().fold(&mut meant, |config, key| &mut config[*key]) {
        Value::Array(items) => items.push(item.clone()),
        other => *other = json!([item]),
    }
    ConfigFormat::Json.require_meaning(&text, path, meant)?;
    Ok(text)
}

/// Removes the items of the list at `path` in JSON for which `is_removed` returns true, and then at
/// most `emptied` of the list and the objects around it, if they have nothing else, not even a
/// comment. A step into a list is an index.
pub fn remove_list_items(
    text: &str,
    path: &[&str],
    is_removed: impl Fn(&Value) -> bool,
    emptied: usize,
) -> Result<String, ConfigError> {
    let trace = InsertionTrace { created: emptied, ..InsertionTrace::default() };
    let mut text = text.to_owned();
    loop {
        let mut meant = ConfigFormat::Json.parse(&text)?;
        let items = find_value(&mut meant, path).and_then(|it| it.as_array());
        let Some(index) = items.and_then(|it| it.iter().position(&is_removed)) else {
            return Ok(text);
        };
        let index = index.to_string();
        let path = [path, &[&index]].concat();
        let (mark, body) = split_mark(&text);
        text = format!("{mark}{}", jsonc::remove(body, &path, &trace)?);
        remove_value(&mut meant, &path);
        ConfigFormat::Json.require_meaning(&text, &path, meant)?;
    }
}

/// Adds a value that is not there yet to the outermost object of JSON.
pub fn insert_json_value(text: &str, name: &str, value: &Value) -> Result<String, ConfigError> {
    let mut meant = ConfigFormat::Json.parse(text)?;
    let (mark, body) = split_mark(text);
    let text = format!("{mark}{}", jsonc::insert(body, &[], Some(name), value)?.0);
    meant[name] = value.clone();
    ConfigFormat::Json.require_meaning(&text, &[name], meant)?;
    Ok(text)
}

/// Removes a value from the outermost object of JSON.
pub fn remove_json_value(text: &str, name: &str) -> Result<String, ConfigError> {
    let mut meant = ConfigFormat::Json.parse(text)?;
    let (mark, body) = split_mark(text);
    let text = format!("{mark}{}", jsonc::remove(body, &[name], &InsertionTrace::default())?);
    remove_value(&mut meant, &[name]);
    ConfigFormat::Json.require_meaning(&text, &[name], meant)?;
    Ok(text)
}

/// Replaces the one string of JSON that is `was`. Fails if there is none, or several.
pub fn replace_json_string(text: &str, was: &str, new: &str) -> Result<String, ConfigError> {
    let (mark, body) = split_mark(text);
    Ok(format!("{mark}{}", jsonc::replace_string(body, was, new)?))
}

/// Finds an entry in a parsed configuration.
pub fn find_entry<'a>(config: &'a Value, place: EntryPlace) -> Option<&'a Value> {
    config.get(place.section)?.get(place.name)
}

/// Finds the value at `path`; a step into a list is an index.
fn find_value<'a>(config: &'a mut Value, path: &[&str]) -> Option<&'a mut Value> {
    path.iter().try_fold(config, |value, step| match value {
        Value::Array(it) => it.get_mut(step.parse::<usize>().ok()?),
        it => it.get_mut(*step),
    })
}

fn remove_value(config: &mut Value, path: &[&str]) {
    let Some((last, above)) = path.split_last() else { return };
    match (find_value(config, above), last.parse()) {
        (Some(Value::Object(it)), _) => drop(it.shift_remove(*last)),
        (Some(Value::Array(it)), Ok(index)) if it.len() > index => drop(it.remove(index)),
        _ => {}
    }
}

/// Removes the objects and lists above `path` that are empty.
fn remove_empty_above(config: &mut Value, path: &[&str]) {
    for above in (1..path.len()).rev().map(|it| &path[..it]) {
        let is_empty = |it: &mut Value| it.is_null() || *it == json!({}) || *it == json!([]);
        if find_value(config, above).is_some_and(is_empty) {
            remove_value(config, above);
        }
    }
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
