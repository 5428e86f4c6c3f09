//! The context of a position in a TOML file, for completion. The file may be incomplete.

use std::collections::BTreeMap;

use crate::format::cursor_context::{CursorContext, CursorPlace};
use crate::model::{Position, split_lines};

/// Returns the context of a position in a TOML file.
pub fn toml_cursor_context(text: &str, at: Position) -> CursorContext {
    let lines: Vec<_> = split_lines(text).collect();
    let index = (at.line - 1).min(lines.len() - 1);
    let before: String = lines[index].chars().take(at.column - 1).collect();
    let after: String = lines[index].chars().skip(at.column - 1).collect();
    let above = &lines[..index];
    let (place, prefix, list) = match assignment(above, &before) {
        _ if before.trim_start().starts_with('#') => (CursorPlace::Prose, String::new(), None),
        None => (CursorPlace::Key, before.trim_start().to_owned(), None),
        Some((key, value)) => match value.trim_start().strip_prefix('[') {
            Some(items) if items.contains(']') => (CursorPlace::Prose, String::new(), None),
            Some(items) => {
                let item = items.rsplit(',').next().unwrap_or_default().trim_start();
                (CursorPlace::Item, item.to_owned(), Some(key))
            }
            None => (CursorPlace::Value(key), value.trim_start().to_owned(), None),
        },
    };
    let rest = match &place {
        CursorPlace::Item => after.split([',', ']']).next(),
        CursorPlace::Value(_) => after.split(" #").next(),
        _ => None,
    };
    let rest = rest.unwrap_or_default().trim_end().chars().count();
    let table = above.iter().rev().find_map(|it| table_name(it));
    let mut parents: Vec<_> =
        table.into_iter().flat_map(|it| it.split('.')).map(str::to_owned).collect();
    parents.extend(list.into_iter().flat_map(|it| [it, "-".to_owned()]));
    CursorContext {
        parents,
        place,
        start: Position { column: at.column - prefix.chars().count(), ..at },
        end: Position { column: at.column + rest, ..at },
        prefix,
        siblings: BTreeMap::new(),
        outer: BTreeMap::new(),
    }
}

/// Returns the key and the begun value of the assignment at the end of some lines; `None` if none is
/// begun.
fn assignment(above: &[&str], before: &str) -> Option<(String, String)> {
    if let Some((key, value)) = before.split_once('=') {
        return Some((key.trim().to_owned(), value.to_owned()));
    }
    // A list may have begun above.
    let start = above.iter().rposition(|it| it.contains('=') || table_name(it).is_some())?;
    let (key, value) = above[start].split_once('=')?;
    let is_list = value.trim_start().starts_with('[');
    let lines = [&[value], &above[start + 1..], &[before]].concat();
    let value = lines.iter().map(|it| it.split(" #").next().unwrap_or_default());
    let value = value.collect::<Vec<_>>().join(" ");
    (is_list && !value.contains(']')).then(|| (key.trim().to_owned(), value))
}

/// Returns the name of the table that a line begins.
fn table_name(line: &str) -> Option<&str> {
    let name = line.trim().strip_prefix('[')?.strip_suffix(']')?;
    (!name.contains(['"', ',', '='])).then(|| name.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Describes the context at the mark `¦`.
    fn context(text: &str) -> String {
        let before = &text[..text.find('¦').unwrap()];
        let line = before.split('\n').count();
        let column = before.rsplit('\n').next().unwrap().chars().count() + 1;
        let found = toml_cursor_context(&text.replace('¦', ""), Position { line, column });
        let CursorContext { parents, place, start, end, prefix, .. } = found;
        format!("{} {place:?} {prefix} {}-{}", parents.join("/"), start.column, end.column)
    }

    #[test]
    fn values_are_found_with_their_quotes() {
        let found = [
            context("entry = \"ha¦ll\" # here\n"),
            context("name = \"A\"\nentry = ¦"),
            context("[menu]\nlayout = \"¦\"\n"),
            context("[menu]\nlay¦\n"),
            context("# entry = ¦\n"),
        ];
        insta::assert_snapshot!(found.join("\n"), @r#"
         Value("entry") "ha 9-15
         Value("entry")  9-9
        menu Value("layout") " 10-12
        menu Key lay 1-4
         Prose  11-11
        "#);
    }

    #[test]
    fn items_of_lists_are_found_on_one_line_and_on_several() {
        let found = [
            context("[check]\nsilence = [\"a\", \"em¦\"]\n"),
            context("[actions]\nallow = [\n  \"a\", # first\n  ¦\n]\n"),
            context("[actions]\nallow = [\"a\"]¦\n"),
            context("[actions]\nallow = [\"a\"]\n¦\n"),
        ];
        insta::assert_snapshot!(found.join("\n"), @r#"
        check/silence/- Item "em 17-21
        actions/allow/- Item  3-3
        actions Prose  14-14
        actions Key  1-1
        "#);
    }
}
