//! The properties of a document: front matter in YAML (`---`) or TOML (`+++`), or properties in the
//! first lines (`key:: value`).

use chrono::{DateTime, Utc};

use crate::model::TimeZone;
use crate::model::document::written_time::parse_written_time;

/// The keys of a date, without hyphens and underscores, the best first.
const DATE_KEYS: &[&str] = &[
    "date",
    "created",
    "createdat",
    "createdon",
    "datecreated",
    "creationdate",
    "datetime",
    "published",
    "publishdate",
    "pubdate",
];
/// The keys of other names under which a document is found.
const NAME_KEYS: &[&str] =
    &["tags", "tag", "alias", "aliases", "keywords", "categories", "category"];

/// The properties of a document, and the text after its front matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentProperties<'t> {
    /// Keys and values as written, without quotes; a list has several.
    pairs: Vec<(&'t str, Vec<String>)>,
    /// The text after front matter. Other properties are a part of it.
    pub body: &'t str,
}

impl<'t> DocumentProperties<'t> {
    /// Parses the properties of a document; there may be none.
    pub fn parse(text: &'t str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let (pairs, body) = match split_front_matter(text) {
            Some((block, body)) => (parse_block(block), body),
            None => (parse_first_lines(text), text),
        };
        // A line of hyphens may also be a rule.
        let body = if pairs.is_empty() { text } else { body };
        Self { pairs, body }
    }

    /// Returns the title; the memories and skills of agents call it their name.
    pub fn title(&self) -> Option<&str> {
        self.value("title").or_else(|| self.value("name"))
    }

    /// Returns the first value of a key, which is in lower case; `None` if it is empty.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.values(key).find(|it| !it.trim().is_empty())
    }

    /// Returns the time at which the document was written; without an offset it is one of `zone`.
    pub fn date(&self, zone: &TimeZone) -> Option<DateTime<Utc>> {
        let parse = |text| parse_written_time(text, zone);
        DATE_KEYS.iter().find_map(|key| self.values(key).find_map(parse))
    }

    /// Yields its tags and aliases.
    pub fn tags_and_aliases(&self) -> impl Iterator<Item = &str> {
        let values = NAME_KEYS.iter().flat_map(|key| self.values(key));
        values.map(|it| it.trim_start_matches('#')).filter(|it| !it.is_empty())
    }

    /// Yields its aliases: other names of the document.
    pub fn aliases(&self) -> impl Iterator<Item = &str> {
        ["alias", "aliases"].into_iter().flat_map(|key| self.values(key))
    }

    /// Yields its keys as written.
    pub fn keys(&self) -> impl Iterator<Item = &'t str> {
        self.pairs.iter().map(|(key, _)| *key)
    }

    fn values(&self, key: &str) -> impl Iterator<Item = &str> {
        let pairs = self.pairs.iter().filter(move |(it, _)| fold_key(it) == key);
        pairs.flat_map(|(_, values)| values.iter().map(String::as_str))
    }
}

/// Splits front matter between lines of `---` or `+++` from the text after it.
fn split_front_matter(text: &str) -> Option<(&str, &str)> {
    let first = text.split_inclusive('\n').next()?;
    let fence = Some(first.trim_end()).filter(|it| matches!(*it, "---" | "+++"))?;
    let (block, mut end) = (&text[first.len()..], 0);
    for line in block.split_inclusive('\n') {
        let mark = line.trim_end();
        if mark == fence || fence == "---" && mark == "..." {
            return Some((&block[..end], &block[end + line.len()..]));
        }
        end += line.len();
    }
    None
}

/// Parses lines of `key: value` or `key = value`. A value may go on in the lines below its key.
fn parse_block(block: &str) -> Vec<(&str, Vec<String>)> {
    let mut pairs: Vec<(&str, String)> = Vec::new();
    for line in block.lines().filter(|it| !it.trim_start().starts_with('#')) {
        let is_open = |(_, value): &(&str, String)| value.starts_with('[') && !value.contains(']');
        let goes_on = line.starts_with([' ', '\t', '-']) || pairs.last().is_some_and(is_open);
        match parse_pair(line).filter(|_| !goes_on) {
            Some((key, value)) => pairs.push((key, value.to_owned())),
            None => {
                if let Some((_, value)) = pairs.last_mut().filter(|_| goes_on) {
                    value.push('\n');
                    value.push_str(line.trim());
                }
            }
        }
    }
    pairs.into_iter().map(|(key, value)| (key, parse_values(&value))).collect()
}

fn parse_pair(line: &str) -> Option<(&str, &str)> {
    let end = line.find([':', '='])?;
    let (key, value) = (line[..end].trim().trim_matches(['"', '\'']), &line[end + 1..]);
    let is_value =
        line[end..].starts_with('=') || value.is_empty() || value.starts_with([' ', '\t']);
    (is_value && !key.is_empty() && !key.starts_with('[')).then_some((key, value.trim()))
}

/// Parses the properties in the first lines of a text: `key:: value`, in a list or not.
fn parse_first_lines(text: &str) -> Vec<(&str, Vec<String>)> {
    let lines = text.lines().skip_while(|it| it.trim().is_empty());
    let pairs = lines.map_while(parse_property).map(|(key, value)| {
        let is_list = NAME_KEYS.contains(&fold_key(key).as_str());
        (key, if is_list { split_items(value) } else { vec![plain_value(value)] })
    });
    pairs.collect()
}

/// Returns true if a line is a property: `key:: value`.
pub(super) fn is_property(line: &str) -> bool {
    parse_property(line).is_some()
}

fn parse_property(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once("::")?;
    let key = key.trim_start().trim_start_matches("- ").trim();
    let is_key = !key.is_empty() && !key.contains(char::is_whitespace);
    let is_value = value.is_empty() || value.starts_with(' ');
    (is_key && is_value).then_some((key, value.trim()))
}

/// Parses a value: a text, a list in brackets, or a list of lines that begin with a hyphen.
fn parse_values(value: &str) -> Vec<String> {
    let value = value.trim();
    if let Some(items) = value.strip_prefix('[').filter(|it| !it.starts_with('[')) {
        let items = items.rsplit_once(']').map_or(items, |(items, _)| items);
        return split_items(items);
    }
    let mut lines = value.lines();
    if lines.clone().any(|it| it.starts_with("- ")) {
        let items = lines.filter_map(|it| it.strip_prefix('-'));
        return items.map(plain_value).filter(|it| !it.is_empty()).collect();
    }
    // `>` and `|` announce a text in the lines below.
    let is_announced = value.starts_with(['>', '|']) && value.contains('\n');
    let text: Vec<_> = lines.by_ref().skip(usize::from(is_announced)).collect();
    Some(plain_value(&text.join(" "))).filter(|it| !it.is_empty()).into_iter().collect()
}

/// Splits at the commas that are not in quotes.
fn split_items(items: &str) -> Vec<String> {
    let (mut found, mut item, mut quote) = (Vec::new(), String::new(), None);
    for it in items.chars() {
        match quote {
            None if it == ',' || it == '\n' => found.push(std::mem::take(&mut item)),
            None if matches!(it, '"' | '\'') && item.trim().is_empty() => {
                quote = Some(it);
                item.push(it);
            }
            _ => {
                quote = quote.filter(|mark| *mark != it);
                item.push(it);
            }
        }
    }
    found.push(item);
    found.iter().map(|it| plain_value(it)).filter(|it| !it.is_empty()).collect()
}

/// Returns a value without quotes, comment, and the brackets of a link.
fn plain_value(value: &str) -> String {
    let value = value.trim();
    for mark in ['"', '\''] {
        let Some(rest) = value.strip_prefix(mark) else { continue };
        let end = quoted_len(rest, mark).unwrap_or(rest.len());
        let text = rest[..end].replace(if mark == '"' { "\\\"" } else { "''" }, &mark.to_string());
        return text.trim().trim_start_matches("[[").trim_end_matches("]]").to_owned();
    }
    let value = value.split(" #").next().unwrap_or_default().trim();
    value.trim_start_matches("[[").trim_end_matches("]]").to_owned()
}

/// Returns the length of a quoted text after its opening mark.
fn quoted_len(text: &str, mark: char) -> Option<usize> {
    let mut chars = text.char_indices().peekable();
    while let Some((at, it)) = chars.next() {
        let is_escape = mark == '"' && it == '\\'
            || mark == '\'' && it == mark && chars.peek().is_some_and(|(_, next)| *next == mark);
        if is_escape {
            chars.next();
        } else if it == mark {
            return Some(at);
        }
    }
    None
}

/// Returns a key in lower case, without hyphens, underscores and blanks.
fn fold_key(key: &str) -> String {
    key.chars().filter(|it| !matches!(it, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        DocumentProperties::parse(text).tags_and_aliases().map(str::to_owned).collect()
    }

    fn title(text: &str) -> Option<String> {
        DocumentProperties::parse(text).title().map(str::to_owned)
    }

    #[test]
    fn tags_and_aliases_are_read_in_the_notations_of_many_programs() {
        for text in [
            "---\ntags: [coal, \"deep, black\"]\naliases:\n  - Kohle\n---\n",
            "---\ntags:\n- coal\n- 'deep, black'\naliases: Kohle\n---\n",
            "---\ntags: [\n  coal,\n  \"deep, black\"\n]\nAliases: [Kohle]\n---\n",
            "+++\ntags = [\"coal\", \"deep, black\"]\n[extra]\naliases = ['Kohle']\n+++\n",
            "tags:: #coal, \"deep, black\"\nalias:: [[Kohle]]\n\n- Text\n",
        ] {
            assert_eq!(names(text), ["coal", "deep, black", "Kohle"], "{text}");
        }
        assert_eq!(names("---\ntags: coal # the best\n---\n"), ["coal"]);
        assert_eq!(names("No properties: [[a]]\n\ntags:: late\n"), [""; 0]);
    }

    #[test]
    fn front_matter_that_is_no_yaml_still_has_a_title() {
        for (text, expected) in [
            ("---\ntitle: Coal: a life\nbad: [unclosed\n---\n", "Coal: a life"),
            ("---\n\ttabs: no\ntitle: @Coal\n---\n", "@Coal"),
            ("---\ntitle: 'It''s \"coal\"'\n---\n", "It's \"coal\""),
            ("---\ntitle: \"Say \\\"coal\\\"\" # so\n---\n", "Say \"coal\""),
            ("---\ntitle: >-\n  Coal and\n  iron\nx: y\n---\n", "Coal and iron"),
            ("---\n<%* templater %>\ntitle: {{title}}\n---\n", "{{title}}"),
            ("---\r\ntitle: Coal\r\n---\r\nText\r\n", "Coal"),
            ("\u{feff}---\ntitle: Coal\n...\nText", "Coal"),
        ] {
            assert_eq!(title(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["---\nA rule.\n---\n", "---\ntitle: never closed\n", "title: text\n"] {
            assert_eq!(DocumentProperties::parse(text).body, text);
            assert_eq!(title(text), None);
        }
    }

    #[test]
    fn the_date_has_one_of_many_keys_in_any_case() {
        let date = |it: &str| {
            let text = format!("---\nupdated: 2020-01-01\n{it}\n---\nText.\n");
            DocumentProperties::parse(&text).date(&TimeZone::UTC).map(|it| it.to_string())
        };
        let day = Some("2026-03-01 00:00:00 UTC".to_owned());
        for line in [
            "date: 2026-03-01",
            "Date: '2026-03-01' # of the draft",
            "created: 2026-03-01",
            "created_at: \"2026/03/01\"",
            "CreatedAt: 2026-03-01",
            "date-created: [[2026-03-01]]",
            "date: soon\ncreated: 2026-03-01",
        ] {
            assert_eq!(date(line), day, "{line}");
        }
        assert_eq!((date("date: March"), date("modified: 2026-03-01")), (None, None));
        let of =
            |it: &str| DocumentProperties::parse(it).date(&TimeZone::UTC).map(|it| it.to_string());
        assert_eq!(of("+++\ndate = 2026-03-01\n+++\n"), day);
        assert_eq!(of("- date:: [[Mar 1st, 2026]]\n"), day);
        assert_eq!(of("date: 2026-03-01\n"), None, "that is the text itself");
    }
}
