//! Parses and edits `palace.toml`, and recognises settings of a palace whose files may follow other
//! rules than those of this program.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use toml_edit::{Document, DocumentMut, Item, TableLike, TomlError, value};

use crate::format::file_parser::FileParser;
use crate::format::note_folders::parse_note_folders;
use crate::format::positions::position_of_byte;
use crate::format::settings_parser::SettingsParser;
use crate::model::{
    Code, CommitMode, HandEditMode, Layout, Position, Settings, Severity, SigningMode, Slug,
    TemplateSettings, TemplateVariable, TimeZone, TimeZoneError, split_lines,
};

/// The seconds that there may be between two pushes.
const PUSH_INTERVALS: RangeInclusive<u32> = 1..=3600;
/// The characters of contents that an answer may have.
const CONTENTS: RangeInclusive<u32> = 0..=20_000;
/// The days after which an untouched fact may be reported.
const STALE_FACT_DAYS: RangeInclusive<u32> = 1..=36_500;

pub(super) fn parse_settings(reader: &mut FileParser<'_>, text: &str) -> Option<Settings> {
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(err) => {
            report_syntax_error(reader, text, &err);
            report_other_format_in_lines(reader, text);
            return None;
        }
    };
    let mut sheet = SettingsParser { reader, text };
    let root: &dyn TableLike = document.as_table();
    let known = [
        "format", "name", "entry", "menu", "git", "sync", "actions", "check", "search", "time",
        "folder", "template",
    ];
    sheet.report_unknown_keys(root, "palace.toml", &known);
    if let Some(format) = root.get(FORMAT_KEY)
        && format.as_integer() != Some(FORMAT_VERSION)
    {
        let at = sheet.position_of_span(format.span());
        report_other_format(sheet.reader, at, &format.to_string());
        return None;
    }
    let name =
        sheet.parse_string(root, "name").map(|(name, _)| name).filter(|it| !it.trim().is_empty());
    if name.is_none() {
        let at = sheet.position_of_span(root.get("name").and_then(Item::span));
        sheet.reader.report(Code::MissingKey, at, "a palace needs a `name`");
    }
    let mut settings = Settings::with_name(name.as_deref().unwrap_or("Nameless palace"));
    if let Some((entry, at)) = sheet.parse_string(root, "entry") {
        match entry.parse() {
            Ok(entry) => settings.entry = Some(entry),
            Err(err) => drop(sheet.reader.report(Code::BadSlug, at, err.to_string())),
        }
    }
    sheet.parse_sections(root, &mut settings);
    Some(settings)
}

/// Writes the settings of a new palace.
pub(super) fn serialize_settings(settings: &Settings) -> String {
    let mut document = DocumentMut::new();
    document["format"] = value(FORMAT_VERSION);
    document["name"] = value(&settings.name);
    if let Some(entry) = &settings.entry {
        document["entry"] = value(entry.to_string());
    }
    document.to_string()
}

/// Changes the name and the entry room, and keeps everything else as written.
pub(super) fn edit_name_and_entry(text: &str, name: &str, entry: Option<&str>) -> Option<String> {
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
    // The library writes the line ending of this system on every line.
    let edited = document.to_string();
    let crlf = text.contains("\r\n") && !text.replace("\r\n", "").contains('\n');
    let edited = if crlf { edited.replace("\r\n", "\n").replace('\n', "\r\n") } else { edited };
    Some(format!("{mark}{}", edited.trim_start_matches('\u{feff}')))
}

/// Returns the settings for a new palace from those of its template: without `[template]`,
/// `[[folder]]` and `[actions] allow`, and with the entry room that `entry` makes from the template's.
pub(super) fn settings_from_template(text: &str, entry: impl Fn(&str) -> String) -> Option<String> {
    let mut document: DocumentMut = text.trim_start_matches('\u{feff}').parse().ok()?;
    document.remove("template");
    // The notes of a template's author are not those of its user.
    document.remove("folder");
    if let Some(actions) = document.get_mut("actions").and_then(Item::as_table_like_mut) {
        actions.remove("allow");
        if actions.is_empty() {
            document.remove("actions");
        }
    }
    if let Some(old) = document.get("entry").and_then(Item::as_str) {
        let new = entry(old);
        document["entry"] = value(new);
    }
    Some(document.to_string().trim_start_matches('\n').to_owned())
}

/// Adds the entry room to settings that name none; `None` if they do, or are not TOML.
pub(super) fn with_entry_if_none(text: &str, entry: &str) -> Option<String> {
    let mut document: DocumentMut = text.trim_start_matches('\u{feff}').parse().ok()?;
    if document.contains_key("entry") {
        return None;
    }
    document["entry"] = value(entry);
    Some(document.to_string())
}

impl SettingsParser<'_, '_> {
    fn parse_sections(&mut self, root: &dyn TableLike, settings: &mut Settings) {
        if let Some(menu) = self.parse_section(root, "menu", &["layout", "contents"]) {
            let known = [("wide", Layout::Wide), ("classic", Layout::Classic)];
            settings.layout = self.parse_choice(menu, "layout", &known);
            settings.contents = self.parse_number(menu, "contents", "characters", CONTENTS);
        }
        if let Some(git) = self.parse_section(root, "git", &["commit", "hand_edits", "sign"]) {
            self.parse_git_section(git, settings);
        }
        let sync = self.parse_section(root, "sync", &["push_interval"]);
        settings.push_interval =
            sync.and_then(|it| self.parse_number(it, "push_interval", "seconds", PUSH_INTERVALS));
        if let Some(actions) = self.parse_section(root, "actions", &["allow"]) {
            settings.allowed_tools = self.parse_string_list(actions, "allow");
        }
        if let Some(check) = self.parse_section(root, "check", &["silence", "stale_fact_days"]) {
            settings.silenced_codes = self.parse_silenced_codes(check);
            settings.stale_fact_days =
                self.parse_number(check, "stale_fact_days", "days", STALE_FACT_DAYS);
        }
        if let Some(search) = self.parse_section(root, "search", &["model"])
            && let Some((model, at)) = self.parse_string(search, "model")
        {
            if model.trim().is_empty() {
                self.reader.report(Code::BadValue, at, "`model` is the path of a folder");
            } else {
                settings.model = Some(model);
            }
        }
        if let Some(time) = self.parse_section(root, "time", &["zone"]) {
            settings.time_zone = self.parse_time_zone(time);
        }
        settings.note_folders = parse_note_folders(self, root);
        if let Some(template) = self.parse_section(root, "template", &["description", "variables"])
        {
            let description = self.parse_string(template, "description").map(|it| it.0);
            let variables = self.parse_variables(template);
            settings.template =
                TemplateSettings { description: description.unwrap_or_default(), variables };
        }
    }

    fn parse_time_zone(&mut self, time: &dyn TableLike) -> TimeZone {
        let Some((zone, at)) = self.parse_string(time, "zone") else { return TimeZone::UTC };
        zone.parse().unwrap_or_else(|err: TimeZoneError| {
            let hint = "a name of the IANA time zone database: `Europe/Berlin`, `UTC`";
            self.reader.report(Code::BadValue, at, err.to_string()).hint = Some(hint.to_owned());
            TimeZone::UTC
        })
    }

    fn parse_git_section(&mut self, git: &dyn TableLike, settings: &mut Settings) {
        let known = [("auto", CommitMode::Auto), ("manual", CommitMode::Manual)];
        settings.commit = self.parse_choice(git, "commit", &known);
        let known = [("leave", HandEditMode::Leave), ("commit", HandEditMode::Commit)];
        settings.hand_edits = self.parse_choice(git, "hand_edits", &known);
        if settings.hand_edits == HandEditMode::Commit {
            let at = self.position_of_span(git.get("hand_edits").and_then(Item::span));
            let message =
                "this version of Palazzo does not commit edits by hand: commit them yourself";
            self.reader.report(Code::NotYet, at, message);
        }
        settings.sign = self.parse_signing_mode(git);
    }

    fn parse_signing_mode(&mut self, git: &dyn TableLike) -> SigningMode {
        let Some(item) = git.get("sign") else { return SigningMode::default() };
        match (item.as_bool(), item.as_str()) {
            (Some(true), _) => SigningMode::Required,
            (Some(false), _) => SigningMode::Never,
            (None, Some("auto")) => SigningMode::Auto,
            _ => {
                let at = self.position_of_span(item.span());
                let message = "`sign` is \"auto\", true or false";
                self.reader.report(Code::BadValue, at, message);
                SigningMode::default()
            }
        }
    }

    fn parse_silenced_codes(&mut self, check: &dyn TableLike) -> BTreeSet<Code> {
        let at = self.position_of_span(check.get("silence").and_then(Item::span));
        let mut codes = BTreeSet::new();
        for word in self.parse_string_list(check, "silence") {
            match word.parse::<Code>() {
                Ok(code) if code.severity() == Severity::Error => {
                    let message = format!("`{code}` is an error, and errors are always reported");
                    self.reader.report(Code::BadValue, at, message).hint =
                        Some("only warnings and notes can be silenced".to_owned());
                }
                Ok(code) => drop(codes.insert(code)),
                Err(why) => drop(self.reader.report(Code::BadValue, at, why)),
            }
        }
        codes
    }

    fn parse_variables(&mut self, template: &dyn TableLike) -> Vec<TemplateVariable> {
        let Some(item) = template.get("variables") else { return Vec::new() };
        let Some(variables) = item.as_table_like() else {
            let at = self.position_of_span(item.span());
            let message = "`variables` is a section: write `[template.variables]`";
            self.reader.report(Code::WrongType, at, message);
            return Vec::new();
        };
        let variables = variables.iter().take(self.reader.finding_limit() + 1);
        variables.filter_map(|(name, item)| self.parse_variable(name, item)).collect()
    }

    fn parse_variable(&mut self, name: &str, item: &Item) -> Option<TemplateVariable> {
        if self.reader.has_too_many_findings() {
            return None;
        }
        let at = self.position_of_span(item.span());
        if let Err(err) = name.parse::<Slug>() {
            self.reader.report(Code::BadSlug, at, err.to_string());
            return None;
        }
        let Some(variable) = item.as_table_like() else {
            let message = format!("write `{name} = {{ description = \"…\" }}`");
            self.reader.report(Code::WrongType, at, message);
            return None;
        };
        let what = format!("the variable `{name}`");
        self.report_unknown_keys(variable, &what, &["description", "default"]);
        let description = self.parse_string(variable, "description").map(|it| it.0);
        if description.is_none() && variable.get("description").is_none() {
            self.reader.report(Code::MissingKey, at, format!("{what} needs a `description`"));
        }
        let default = self.parse_string(variable, "default").map(|it| it.0);
        let (name, description) = (name.to_owned(), description.unwrap_or_default());
        Some(TemplateVariable { name, description, default })
    }
}

fn report_syntax_error(reader: &mut FileParser<'_>, text: &str, err: &TomlError) {
    let at = err.span().map_or(Position::START, |it| position_of_byte(text, it.start));
    let message = err.message().lines().collect::<Vec<_>>().join(", ");
    reader.report(Code::Syntax, at, format!("this is not TOML: {message}"));
}

/// The format of the files of a palace that this program reads and writes, `format` in
/// `palace.toml`. docs/files.md says when it changes.
pub const FORMAT_VERSION: i64 = 1;

/// The key with the number of the format.
const FORMAT_KEY: &str = "format";

/// Reports that a palace has the format `value`, which this program does not read.
fn report_other_format(reader: &mut FileParser<'_>, at: Position, value: &str) {
    let (message, hint) = describe_other_format(value.trim());
    reader.report(Code::FormatVersion, at, message).hint = Some(hint);
}

/// Reports another format in a `palace.toml` that cannot be parsed, or has the markers of a merge
/// conflict: one of its lines says so.
pub(super) fn report_other_format_in_lines(reader: &mut FileParser<'_>, text: &str) {
    let lines = split_lines(text.trim_start_matches('\u{feff}')).zip(1..);
    // Keys below a header are not those of the palace.
    for (line, number) in lines.take_while(|(line, _)| !line.trim_start().starts_with('[')) {
        let Some((key, value)) = line.split_once('=') else { continue };
        let value = value.split('#').next().unwrap_or_default().trim();
        let key = key.trim().trim_matches(['"', '\'']);
        if key == FORMAT_KEY && value != FORMAT_VERSION.to_string() {
            return report_other_format(reader, Position { line: number, column: 1 }, value);
        }
    }
}

/// Returns the message and the hint.
fn describe_other_format(value: &str) -> (String, String) {
    let is_number = !value.is_empty() && value.bytes().all(|it| it.is_ascii_digit());
    match value.parse::<i64>() {
        Ok(format) if format <= FORMAT_VERSION => {
            (format!("no palace has format {format}"), format!("write `format = {FORMAT_VERSION}`"))
        }
        // A number may be too large to be parsed.
        Ok(_) | Err(_) if is_number => (
            format!(
                "this palace has format {value}, which needs a newer Palazzo; this one reads \
                 format {FORMAT_VERSION}"
            ),
            "update Palazzo; `palazzo doctor` prints the command".to_owned(),
        ),
        _ => (
            format!("`format` is a whole number, and this Palazzo reads format {FORMAT_VERSION}"),
            format!(
                "write `format = {FORMAT_VERSION}`; if a newer Palazzo has written the file, \
                 update Palazzo"
            ),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moving_the_entry_keeps_comments_line_endings_and_byte_order_mark() {
        let text = "\u{feff}# mine\r\nname = \"P\" # n\r\nentry = \"a\"\r\n";
        let edited = edit_name_and_entry(text, "P", Some("b"));
        assert_eq!(edited.as_deref(), Some(text.replace("\"a\"", "\"b\"").as_str()));
        let unix = "name = \"P\"\n\n[menu] # last\n";
        assert_eq!(
            edit_name_and_entry(unix, "P", Some("b")).as_deref(),
            Some("name = \"P\"\nentry = \"b\"\n\n[menu] # last\n")
        );
    }

    #[test]
    fn findings_about_faulty_settings_are_limited() {
        let text: Vec<_> = (0..20_000).map(|it| format!("[a{it}]\n")).collect();
        let mut reader = FileParser::new("palace.toml");
        parse_settings(&mut reader, &text.concat());
        assert_eq!(reader.into_findings().len(), 50);
    }

    #[test]
    fn the_time_zone_has_a_name_of_the_iana() {
        let parse = |value: &str| {
            let mut reader = FileParser::new("palace.toml");
            let text = format!("name = \"P\"\n[time]\nzone = \"{value}\"\n");
            let zone = parse_settings(&mut reader, &text).unwrap().time_zone;
            let findings = reader.into_findings();
            (zone, findings.first().map(ToString::to_string))
        };
        assert_eq!(parse("Asia/Tokyo"), ("Asia/Tokyo".parse().unwrap(), None));
        let (zone, finding) = parse("Berlin");
        assert_eq!(zone, TimeZone::UTC);
        let finding = finding.unwrap();
        assert!(finding.starts_with("palace.toml:3:"), "{finding}");
        assert!(finding.contains("`Berlin` is no time zone"), "{finding}");
    }

    #[test]
    fn the_interval_between_pushes_is_one_second_to_one_hour() {
        let parse = |value: &str| {
            let mut reader = FileParser::new("palace.toml");
            let text = format!("name = \"P\"\n[sync]\npush_interval = {value}\n");
            let interval = parse_settings(&mut reader, &text).unwrap().push_interval;
            let findings = reader.into_findings();
            (interval, findings.first().map(|it| format!("{}: {}", it.code, it.message)))
        };
        assert_eq!(parse("100"), (Some(100), None));
        assert_eq!(parse("3600"), (Some(3600), None));
        let wrong = "bad-value: `push_interval` is 1 to 3600 seconds, not 0";
        assert_eq!(parse("0"), (None, Some(wrong.to_owned())));
        assert_eq!(parse("3601").0, None);
        let wrong = "wrong-type: `push_interval` is a whole number";
        assert_eq!(parse("\"1\""), (None, Some(wrong.to_owned())));
    }

    #[test]
    fn signing_is_automatic_required_or_off() {
        let parse = |value: &str| {
            let mut reader = FileParser::new("palace.toml");
            let text = format!("name = \"P\"\n[git]\n{value}\n");
            let sign = parse_settings(&mut reader, &text).unwrap().sign;
            let findings = reader.into_findings();
            (sign, findings.first().map(|it| format!("{}: {}", it.code, it.message)))
        };
        assert_eq!(parse(""), (SigningMode::Auto, None));
        assert_eq!(parse("sign = \"auto\""), (SigningMode::Auto, None));
        assert_eq!(parse("sign = true"), (SigningMode::Required, None));
        assert_eq!(parse("sign = false"), (SigningMode::Never, None));
        let wrong = "bad-value: `sign` is \"auto\", true or false";
        for value in ["\"true\"", "\"never\"", "1", "[]"] {
            let parsed = parse(&format!("sign = {value}"));
            assert_eq!(parsed, (SigningMode::Auto, Some(wrong.to_owned())), "{value}");
        }
    }

    #[test]
    fn a_template_has_a_description_and_variables() {
        let text = "name = \"P\"\n[template]\ndescription = \"One service.\"\n\
            [template.variables]\nproject = { description = \"Its name\", default = \"Atlas\" }\n\
            [template.variables.owner]\ndescription = \"Who runs it\"\n";
        let mut reader = FileParser::new("palace.toml");
        let template = parse_settings(&mut reader, text).unwrap().template;
        assert_eq!(reader.into_findings(), []);
        assert_eq!(template.description, "One service.");
        let variables =
            template.variables.iter().map(|it| (it.name.as_str(), it.default.as_deref()));
        assert_eq!(variables.collect::<Vec<_>>(), [("project", Some("Atlas")), ("owner", None)]);
    }

    #[test]
    fn faults_of_a_template_are_reported() {
        let findings = |template: &str| {
            let mut reader = FileParser::new("palace.toml");
            parse_settings(&mut reader, &format!("name = \"P\"\n[template]\n{template}\n"));
            let findings = reader.into_findings();
            findings.iter().map(|it| format!("{}: {}", it.code, it.message)).collect::<Vec<_>>()
        };
        assert_eq!(
            findings("descripton = \"\""),
            ["unknown-key: [template] has no key `descripton`"]
        );
        assert_eq!(findings("variables = 1").len(), 1);
        assert_eq!(
            findings("[template.variables]\na = \"Atlas\"\nb = {}\n\"c d\" = {}\n"),
            [
                "wrong-type: write `a = { description = \"…\" }`",
                "missing-key: the variable `b` needs a `description`",
                "bad-slug: `c d` is not a slug: it contains ' ', and only a-z, 0-9, _ and - may \
                 appear; try `c-d`",
            ]
        );
    }

    #[test]
    fn a_new_palace_gets_the_settings_without_the_template() {
        let text = "# Ours\nformat = 1\nname = \"T\"\nentry = \"{{p.slug}}-hall\"\n\n[template]\n\
            description = \"d\"\n[template.variables.p]\ndescription = \"e\"\n\n[menu]\n\
            layout = \"classic\"\n\n[actions]\nallow = [\"update_entity\"]\n";
        let settings = settings_from_template(text, |it| it.replace("{{p.slug}}", "atlas"));
        assert_eq!(
            settings.as_deref(),
            Some(
                "# Ours\nformat = 1\nname = \"T\"\nentry = \"atlas-hall\"\n\n[menu]\n\
                 layout = \"classic\"\n"
            )
        );
        assert_eq!(settings_from_template("name = [", str::to_owned), None);
    }

    #[test]
    fn a_section_may_be_an_inline_table() {
        let mut reader = FileParser::new("palace.toml");
        let settings =
            parse_settings(&mut reader, "name = \"P\"\nmenu = { layout = \"classic\" }\n");
        assert_eq!(settings.map(|it| it.layout), Some(Layout::Classic));
        assert_eq!(reader.into_findings(), []);
    }
}
