//! Parses `[[folder]]` of `palace.toml`.

use toml_edit::{Item, TableLike, Value};

use crate::format::settings_parser::SettingsParser;
use crate::model::{Code, NoteFolder, NoteFolders, NotePatterns, PALACE_FOLDERS, Position, Slug};

const KEY: &str = "folder";
const KEYS: [&str; 3] = ["path", "wing", "patterns"];

pub(super) fn parse_note_folders(
    sheet: &mut SettingsParser<'_, '_>,
    root: &dyn TableLike,
) -> NoteFolders {
    let Some(item) = root.get(KEY) else { return NoteFolders::default() };
    let tables: Option<Vec<&dyn TableLike>> = match item {
        Item::ArrayOfTables(tables) => Some(tables.iter().map(|it| it as &dyn TableLike).collect()),
        Item::Value(Value::Array(items)) => {
            items.iter().map(|it| it.as_inline_table().map(|it| it as &dyn TableLike)).collect()
        }
        _ => None,
    };
    let Some(tables) = tables else {
        let at = sheet.position_of_span(item.span());
        let message = "`folder` is a list of sections: write `[[folder]]`";
        sheet.reader.report(Code::WrongType, at, message);
        return NoteFolders::default();
    };
    let mut folders: Vec<NoteFolder> = Vec::new();
    for table in tables.into_iter().take(sheet.reader.finding_limit() + 1) {
        let Some((folder, at)) = parse_note_folder(sheet, table, item) else { continue };
        if folders.iter().any(|it| it.path == folder.path) {
            sheet.reader.report(Code::BadValue, at, "another `[[folder]]` has this `path`");
        } else {
            folders.push(folder);
        }
    }
    folders.into_iter().collect()
}

/// Parses one folder; returns also where its path is.
fn parse_note_folder(
    sheet: &mut SettingsParser<'_, '_>,
    table: &dyn TableLike,
    all: &Item,
) -> Option<(NoteFolder, Position)> {
    sheet.report_unknown_keys(table, "[[folder]]", &KEYS);
    // A folder is not read by half of its settings: they may leave out what nobody should read.
    let mut is_faulty = table.iter().any(|(key, _)| !KEYS.contains(&key));
    let texts =
        table.get("patterns").map(|it| it.as_array().map(|it| it.iter().all(Value::is_str)));
    is_faulty |= texts.is_some_and(|it| it != Some(true));
    let [path, wing] = ["path", "wing"].map(|key| {
        let text = sheet.parse_string(table, key);
        if text.is_none() && table.get(key).is_none() {
            let first = table.iter().next().and_then(|(_, it)| it.span());
            let at = sheet.position_of_span(first.or_else(|| all.span()));
            sheet.reader.report(Code::MissingKey, at, format!("[[folder]] needs a `{key}`"));
        }
        text
    });
    let patterns = sheet.parse_string_list(table, "patterns");
    let patterns = NotePatterns::parse(&patterns).map_err(|err| {
        let at = sheet.position_of_span(table.get("patterns").and_then(Item::span));
        sheet.reader.report(Code::BadValue, at, format!("this is no pattern of paths: {err}"));
    });
    let ((path, at), (wing, wing_at)) = (path?, wing?);
    let path = normalize_path(&path).map_err(|why| {
        let hint = "a path from the folder of the palace: \"../notes\", \"docs\", \"..\"";
        sheet.reader.report(Code::BadValue, at, why).hint = Some(hint.to_owned());
    });
    let wing = wing.parse::<Slug>().map_err(|err| {
        sheet.reader.report(Code::BadSlug, wing_at, err.to_string());
    });
    if is_faulty {
        return None;
    }
    Some((NoteFolder { path: path.ok()?, wing: wing.ok()?, patterns: patterns.ok()? }, at))
}

/// Returns a path without empty parts and `.`; `..` may stand at its begin only. The error says why
/// it is refused.
fn normalize_path(path: &str) -> Result<String, &'static str> {
    if path.is_empty() {
        return Err("the path is empty");
    }
    if path.starts_with('/') || path.contains([':', '\\']) || path.contains(char::is_control) {
        return Err("the path must be relative, with `/` between names");
    }
    let names: Vec<_> = path.split('/').filter(|it| !matches!(*it, "" | ".")).collect();
    let above = names.iter().take_while(|it| **it == "..").count();
    if names[above..].contains(&"..") {
        return Err("`..` may only stand at the begin of the path");
    }
    if names.iter().any(|it| it.starts_with('.') && *it != "..") {
        return Err("notes in hidden folders are not read");
    }
    if names.first().is_some_and(|it| PALACE_FOLDERS.contains(it)) {
        return Err("this folder belongs to the palace");
    }
    Ok(names.join("/"))
}

#[cfg(test)]
mod tests {
    use crate::format::file_parser::FileParser;
    use crate::format::settings::parse_settings;

    fn parse(text: &str) -> (Vec<(String, String)>, Vec<String>) {
        let text = format!("name = \"P\"\n{text}\n");
        let mut reader = FileParser::new("palace.toml");
        let settings = parse_settings(&mut reader, &text).unwrap();
        let folders = settings.note_folders.iter();
        let folders = folders.map(|it| (it.path.clone(), it.wing.to_string())).collect();
        let findings = reader.into_findings();
        let line =
            |it: &crate::model::Diagnostic| format!("{}: {}: {}", it.at.line, it.code, it.message);
        (folders, findings.iter().map(line).collect())
    }

    fn pairs(folders: &[(&str, &str)]) -> Vec<(String, String)> {
        folders.iter().map(|(path, wing)| ((*path).to_owned(), (*wing).to_owned())).collect()
    }

    #[test]
    fn folders_are_sections_or_inline_tables() {
        let text = "[[folder]]\npath = \"../notes/\"\nwing = \"notes\"\n\n[[folder]]\npath = \".\"\n\
            wing = \"here\"\npatterns = [\"!drafts\"]\n";
        assert_eq!(parse(text), (pairs(&[("../notes", "notes"), ("", "here")]), vec![]));
        let text = "folder = [{ path = \"./docs//api\", wing = \"docs\" }]";
        assert_eq!(parse(text), (pairs(&[("docs/api", "docs")]), vec![]));
    }

    #[test]
    fn faults_are_reported_with_their_lines() {
        for (text, expected) in [
            ("folder = \"x\"", "2: wrong-type: `folder` is a list of sections: write `[[folder]]`"),
            ("[[folder]]\npath = \"a\"", "3: missing-key: [[folder]] needs a `wing`"),
            (
                "[[folder]]\npath = \"a/../b\"\nwing = \"a\"",
                "3: bad-value: `..` may only stand at the begin of the path",
            ),
            (
                "[[folder]]\npath = \".git\"\nwing = \"a\"",
                "3: bad-value: notes in hidden folders are not read",
            ),
            (
                "[[folder]]\npath = \"scrolls/x\"\nwing = \"a\"",
                "3: bad-value: this folder belongs to the palace",
            ),
            (
                "[[folder]]\npath = \"a\"\nwing = \"a\"\npatterns = [\"x[\"]",
                "5: bad-value: this is no pattern of paths: unclosed character class; missing ']'",
            ),
            (
                "[[folder]]\npath = \"a\"\nwing = \"a\"\npatterns = \"!x\"",
                "5: wrong-type: `patterns` is a list of texts: [\"!Templates\"]",
            ),
            (
                "[[folder]]\npath = \"a\"\nwing = \"a\"\nfiles = 1",
                "5: unknown-key: [[folder]] has no key `files`",
            ),
        ] {
            assert_eq!(parse(text), (vec![], vec![expected.to_owned()]), "{text}");
        }
        let twice =
            "[[folder]]\npath = \"a\"\nwing = \"a\"\n[[folder]]\npath = \"a/\"\nwing = \"b\"";
        assert_eq!(
            parse(twice),
            (
                pairs(&[("a", "a")]),
                vec!["6: bad-value: another `[[folder]]` has this `path`".to_owned()]
            )
        );
    }
}
