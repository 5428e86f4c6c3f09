//! `palace.toml`.

use std::ops::Range;

use toml_edit::{Document, DocumentMut, Item, TableLike, TomlError, value};

use crate::format::file_parser::Reader;
use crate::model::{
    Code, Commit, HandEdits, Layout, Settings, Spot, did_you_mean, lines, slips_of,
};

/// The one version of the files that this program reads and writes.
const FORMAT: i64 = 1;

pub(super) fn read(reader: &mut Reader<'_>, text: &str) -> Option<Settings> {
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(err) => {
            syntax(reader, text, &err);
            return None;
        }
    };
    let mut sheet = Sheet { reader, text };
    let root: &dyn TableLike = document.as_table();
    let known = ["format", "name", "entry", "menu", "git", "actions", "search"];
    sheet.known(root, "palace.toml", &known);
    if let Some((format, at)) = sheet.integer(root, "format")
        && format != FORMAT
    {
        let message =
            format!("this palace has format {format}; this Palazzo reads format {FORMAT}");
        sheet.reader.find(Code::FormatVersion, at, message).hint =
            Some("use a newer Palazzo".to_owned());
        return None;
    }
    let name = sheet.string(root, "name").map(|(name, _)| name).filter(|it| !it.trim().is_empty());
    if name.is_none() {
        let at = sheet.spot(root.get("name").and_then(Item::span));
        sheet.reader.find(Code::MissingKey, at, "a palace needs a `name`");
    }
    let mut settings = Settings::named(name.as_deref().unwrap_or("Nameless palace"));
    if let Some((entry, at)) = sheet.string(root, "entry") {
        match entry.parse() {
            Ok(entry) => settings.entry = Some(entry),
            Err(err) => drop(sheet.reader.find(Code::BadSlug, at, err.to_string())),
        }
    }
    sheet.sections(root, &mut settings);
    Some(settings)
}

/// Writes the settings of a new palace.
pub(super) fn write(settings: &Settings) -> String {
    let mut document = DocumentMut::new();
    document["format"] = value(FORMAT);
    document["name"] = value(&settings.name);
    if let Some(entry) = &settings.entry {
        document["entry"] = value(entry.to_string());
    }
    document.to_string()
}

/// Changes the name and the entry room, and leaves everything else as it was
/// written.
pub(super) fn edit(text: &str, name: &str, entry: Option<&str>) -> Option<String> {
    let mark = if text.starts_with('\u{feff}') { "\u{feff}" } else { "" };
    let mut document: DocumentMut = text.parse().ok()?;
    for (key, new) in [("name", Some(name)), ("entry", entry)] {
        let Some(new) = new else { continue };
        if document.get(key).and_then(Item::as_str) == Some(new) {
            continue;
        }
        match document.get_mut(key).and_then(Item::as_value_mut) {
            Some(old) => {
                let decor = old.decor().clone();
                *old = new.into();
                *old.decor_mut() = decor;
            }
            None => drop(document.insert(key, value(new))),
        }
    }
    // The library gives every line the ending of this system.
    let edited = document.to_string();
    let crlf = text.contains("\r\n") && !text.replace("\r\n", "").contains('\n');
    let edited = if crlf { edited.replace("\r\n", "\n").replace('\n', "\r\n") } else { edited };
    Some(format!("{mark}{}", edited.trim_start_matches('\u{feff}')))
}

struct Sheet<'a, 'b> {
    reader: &'a mut Reader<'b>,
    text: &'a str,
}

impl Sheet<'_, '_> {
    fn sections(&mut self, root: &dyn TableLike, settings: &mut Settings) {
        if let Some(menu) = self.section(root, "menu", &["layout"]) {
            let known = [("wide", Layout::Wide), ("classic", Layout::Classic)];
            settings.layout = self.choice(menu, "layout", &known);
        }
        if let Some(git) = self.section(root, "git", &["commit", "hand_edits"]) {
            let known = [("auto", Commit::Auto), ("manual", Commit::Manual)];
            settings.commit = self.choice(git, "commit", &known);
            let known = [("leave", HandEdits::Leave), ("commit", HandEdits::Commit)];
            settings.hand_edits = self.choice(git, "hand_edits", &known);
            if settings.hand_edits == HandEdits::Commit {
                let at = self.spot(git.get("hand_edits").and_then(Item::span));
                let message =
                    "this Palazzo does not commit edits by hand yet: they are left to you";
                self.reader.find(Code::NotYet, at, message);
            }
        }
        if let Some(actions) = self.section(root, "actions", &["allow"]) {
            settings.allow = self.strings(actions, "allow");
        }
        if let Some(search) = self.section(root, "search", &["model"])
            && let Some((model, at)) = self.string(search, "model")
        {
            if model.trim().is_empty() {
                self.reader.find(Code::BadValue, at, "`model` is the path of a folder");
            } else {
                settings.model = Some(model);
            }
        }
    }

    fn known(&mut self, table: &dyn TableLike, what: &str, known: &[&str]) {
        let strange = table.iter().filter(|(key, _)| !known.contains(key));
        let strange: Vec<_> = strange.take(self.reader.most() + 1).collect();
        let words: Vec<_> = strange.iter().map(|(key, _)| *key).collect();
        for ((key, item), slip) in strange.into_iter().zip(slips_of(&words, known)) {
            if self.reader.is_full() {
                break;
            }
            let at = self.spot(table.key(key).and_then(toml_edit::Key::span).or(item.span()));
            let hint = match did_you_mean(key, known.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("it may have {}", known.join(", ")),
            };
            let message = format!("{what} has no key `{}`", key.escape_debug());
            let finding = self.reader.find(Code::UnknownKey, at, message);
            finding.hint = Some(hint);
            finding.meant = slip.map(Into::into);
        }
    }

    fn section<'t>(
        &mut self,
        root: &'t dyn TableLike,
        key: &str,
        known: &[&str],
    ) -> Option<&'t dyn TableLike> {
        let item = root.get(key)?;
        let Some(table) = item.as_table_like() else {
            let at = self.spot(item.span());
            let message = format!("`{key}` is a section: write `[{key}]`");
            self.reader.find(Code::WrongType, at, message);
            return None;
        };
        self.known(table, &format!("[{key}]"), known);
        Some(table)
    }

    fn string(&mut self, table: &dyn TableLike, key: &str) -> Option<(String, Spot)> {
        let item = table.get(key)?;
        let at = self.spot(item.span());
        let text = item.as_str();
        if text.is_none() {
            self.reader.find(Code::WrongType, at, format!("`{key}` is a text in quotes"));
        }
        text.map(|it| (it.to_owned(), at))
    }

    fn integer(&mut self, table: &dyn TableLike, key: &str) -> Option<(i64, Spot)> {
        let item = table.get(key)?;
        let at = self.spot(item.span());
        let number = item.as_integer();
        if number.is_none() {
            self.reader.find(Code::WrongType, at, format!("`{key}` is a whole number"));
        }
        number.map(|it| (it, at))
    }

    fn strings(&mut self, table: &dyn TableLike, key: &str) -> Vec<String> {
        let Some(item) = table.get(key) else { return Vec::new() };
        let items = item.as_array().map(|it| it.iter().collect::<Vec<_>>());
        let texts = items.iter().flatten().filter_map(|it| it.as_str()).map(str::to_owned);
        let texts: Vec<_> = texts.collect();
        let strange = items.iter().flatten().find(|it| !it.is_str()).map(|it| it.span());
        if items.is_some() && strange.is_none() {
            return texts;
        }
        let at = self.spot(strange.unwrap_or_else(|| item.span()));
        let message = format!("`{key}` is a list of texts: [\"update_entity\"]");
        self.reader.find(Code::WrongType, at, message);
        Vec::new()
    }

    fn choice<T: Copy + Default>(
        &mut self,
        table: &dyn TableLike,
        key: &str,
        known: &[(&str, T)],
    ) -> T {
        let Some((said, at)) = self.string(table, key) else { return T::default() };
        if let Some((_, meant)) = known.iter().find(|(word, _)| *word == said) {
            return *meant;
        }
        let words: Vec<_> = known.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        let words = words.join(" or ");
        let message = format!("`{key}` is {words}, not \"{}\"", said.escape_debug());
        self.reader.find(Code::BadValue, at, message);
        T::default()
    }

    fn spot(&self, span: Option<Range<usize>>) -> Spot {
        span.map_or(Spot::START, |it| spot(self.text, it.start))
    }
}

fn syntax(reader: &mut Reader<'_>, text: &str, err: &TomlError) {
    let at = err.span().map_or(Spot::START, |it| spot(text, it.start));
    let message = err.message().lines().collect::<Vec<_>>().join(", ");
    reader.find(Code::Syntax, at, format!("this is not TOML: {message}"));
}

/// Returns the place of a byte in a text.
pub(super) fn spot(text: &str, byte: usize) -> Spot {
    let before = text.get(..byte).unwrap_or(text).trim_start_matches('\u{feff}');
    let lines = lines(before.strip_suffix('\r').unwrap_or(before)).zip(1..);
    let (last, line) = lines.last().unwrap_or(("", 1));
    Spot { line, column: last.chars().count() + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moving_the_entry_keeps_comments_line_endings_and_byte_order_mark() {
        let text = "\u{feff}# mine\r\nname = \"P\" # n\r\nentry = \"a\"\r\n";
        let edited = edit(text, "P", Some("b"));
        assert_eq!(edited.as_deref(), Some(text.replace("\"a\"", "\"b\"").as_str()));
        let unix = "name = \"P\"\n\n[menu] # last\n";
        assert_eq!(
            edit(unix, "P", Some("b")).as_deref(),
            Some("name = \"P\"\nentry = \"b\"\n\n[menu] # last\n")
        );
    }

    #[test]
    fn a_file_of_nothing_but_faults_is_not_read_to_its_end() {
        let text: Vec<_> = (0..20_000).map(|it| format!("[a{it}]\n")).collect();
        let mut reader = Reader::new("palace.toml");
        read(&mut reader, &text.concat());
        assert_eq!(reader.into_findings().len(), 50);
    }

    #[test]
    fn a_section_may_stand_on_one_line() {
        let mut reader = Reader::new("palace.toml");
        let settings = read(&mut reader, "name = \"P\"\nmenu = { layout = \"classic\" }\n");
        assert_eq!(settings.map(|it| it.layout), Some(Layout::Classic));
        assert_eq!(reader.into_findings(), []);
    }
}
