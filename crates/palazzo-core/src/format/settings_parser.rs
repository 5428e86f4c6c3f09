//! Parses the keys of `palace.toml`, with a finding for each problem.

use std::ops::{Range, RangeInclusive};

use toml_edit::TableLike;

use crate::format::file_parser::FileParser;
use crate::format::positions::position_of_byte;
use crate::model::{Code, Position, did_you_mean, quoted, typo_corrections};

/// Parses a `palace.toml`.
pub(super) struct SettingsParser<'a, 'b> {
    pub(super) reader: &'a mut FileParser<'b>,
    pub(super) text: &'a str,
}

impl SettingsParser<'_, '_> {
    pub(super) fn report_unknown_keys(
        &mut self,
        table: &dyn TableLike,
        what: &str,
        known: &[&str],
    ) {
        let unknown = table.iter().filter(|(key, _)| !known.contains(key));
        let unknown: Vec<_> = unknown.take(self.reader.finding_limit() + 1).collect();
        let words: Vec<_> = unknown.iter().map(|(key, _)| *key).collect();
        for ((key, item), slip) in unknown.into_iter().zip(typo_corrections(&words, known)) {
            if self.reader.has_too_many_findings() {
                break;
            }
            let at = self
                .position_of_span(table.key(key).and_then(toml_edit::Key::span).or(item.span()));
            let message = format!("{what} has no key {}", quoted(key));
            let finding = self.reader.report(Code::UnknownKey, at, message);
            finding.hint = Some(format!("it may have {}", known.join(", ")));
            finding.suggest(did_you_mean(key, known.iter().copied()));
            finding.set_certain_word(slip);
        }
    }

    pub(super) fn parse_section<'t>(
        &mut self,
        root: &'t dyn TableLike,
        key: &str,
        known: &[&str],
    ) -> Option<&'t dyn TableLike> {
        let item = root.get(key)?;
        let Some(table) = item.as_table_like() else {
            let at = self.position_of_span(item.span());
            let message = format!("`{key}` is a section: write `[{key}]`");
            self.reader.report(Code::WrongType, at, message);
            return None;
        };
        self.report_unknown_keys(table, &format!("[{key}]"), known);
        Some(table)
    }

    pub(super) fn parse_string(
        &mut self,
        table: &dyn TableLike,
        key: &str,
    ) -> Option<(String, Position)> {
        let item = table.get(key)?;
        let at = self.position_of_span(item.span());
        let text = item.as_str();
        if text.is_none() {
            self.reader.report(Code::WrongType, at, format!("`{key}` is a text in quotes"));
        }
        text.map(|it| (it.to_owned(), at))
    }

    pub(super) fn parse_integer(
        &mut self,
        table: &dyn TableLike,
        key: &str,
    ) -> Option<(i64, Position)> {
        let item = table.get(key)?;
        let at = self.position_of_span(item.span());
        let number = item.as_integer();
        if number.is_none() {
            self.reader.report(Code::WrongType, at, format!("`{key}` is a whole number"));
        }
        number.map(|it| (it, at))
    }

    /// Parses a whole number of some unit, and reports one that is out of range.
    pub(super) fn parse_number(
        &mut self,
        section: &dyn TableLike,
        key: &str,
        unit: &str,
        range: RangeInclusive<u32>,
    ) -> Option<u32> {
        let (number, at) = self.parse_integer(section, key)?;
        let in_range = u32::try_from(number).ok().filter(|it| range.contains(it));
        if in_range.is_none() {
            let message =
                format!("`{key}` is {} to {} {unit}, not {number}", range.start(), range.end());
            self.reader.report(Code::BadValue, at, message);
        }
        in_range
    }

    pub(super) fn parse_string_list(&mut self, table: &dyn TableLike, key: &str) -> Vec<String> {
        let Some(item) = table.get(key) else { return Vec::new() };
        let items = item.as_array().map(|it| it.iter().collect::<Vec<_>>());
        let texts = items.iter().flatten().filter_map(|it| it.as_str()).map(str::to_owned);
        let texts: Vec<_> = texts.collect();
        let strange = items.iter().flatten().find(|it| !it.is_str()).map(|it| it.span());
        if items.is_some() && strange.is_none() {
            return texts;
        }
        let at = self.position_of_span(strange.unwrap_or_else(|| item.span()));
        let example = match key {
            "silence" => "one-way-door",
            "patterns" => "!Templates",
            _ => "update_entity",
        };
        let message = format!("`{key}` is a list of texts: [\"{example}\"]");
        self.reader.report(Code::WrongType, at, message);
        Vec::new()
    }

    pub(super) fn parse_choice<T: Copy + Default>(
        &mut self,
        table: &dyn TableLike,
        key: &str,
        known: &[(&str, T)],
    ) -> T {
        let Some((word, at)) = self.parse_string(table, key) else { return T::default() };
        if let Some((_, meant)) = known.iter().find(|(it, _)| *it == word) {
            return *meant;
        }
        let words: Vec<_> = known.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        let words = words.join(" or ");
        let message = format!("`{key}` is {words}, not {}", quoted(&word));
        self.reader.report(Code::BadValue, at, message);
        T::default()
    }

    pub(super) fn position_of_span(&self, span: Option<Range<usize>>) -> Position {
        span.map_or(Position::START, |it| position_of_byte(self.text, it.start))
    }
}
