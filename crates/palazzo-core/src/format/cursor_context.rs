//! The context of a position in a YAML, Markdown or TOML file, for completion.
//!
//! The file is scanned by lines and indentation, because a file that somebody is writing often
//! cannot be parsed.

use std::collections::BTreeMap;

use crate::model::{Position, split_lines};

/// What is written at a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CursorContext {
    /// The keys from the top of the file down to the mapping or the list at the position; `-` stands
    /// for a list item.
    pub parents: Vec<String>,
    /// The place at the position.
    pub place: CursorPlace,
    /// The start of the word that a completion replaces.
    pub start: Position,
    /// The end of that word.
    pub end: Position,
    /// The text of that word before the position.
    pub prefix: String,
    /// The other keys of the same mapping with the values on their lines.
    pub siblings: BTreeMap<String, String>,
    /// The keys above of the mapping that contains this mapping, with the values on their lines.
    pub outer: BTreeMap<String, String>,
}

/// The kind of a place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CursorPlace {
    /// A key of a mapping.
    Key,
    /// The value of a key.
    Value(String),
    /// An item of a list, or the first key of an item.
    Item,
    /// The name in a link to an entity, after `[[`.
    EntityLink,
    /// A text in which nothing is completed.
    Prose,
}

/// A line, as far as its structure is concerned. Columns count characters from zero.
#[derive(Clone, Debug, Default)]
struct Line<'a> {
    /// The columns of the dashes before the content.
    dashes: Vec<usize>,
    /// The column of the content.
    column: usize,
    /// The key and the rest of the line after its colon.
    key: Option<(&'a str, &'a str)>,
    /// The content.
    content: &'a str,
}

/// Returns what is written at a position of a YAML file, or of the front matter or text of a
/// Markdown file (`is_prose`).
pub fn cursor_context(text: &str, at: Position, is_prose: bool) -> CursorContext {
    let lines: Vec<&str> = text.split('\n').map(|it| it.trim_end_matches('\r')).collect();
    let index = at.line.saturating_sub(1).min(lines.len() - 1);
    let before: String = lines[index].chars().take(at.column.saturating_sub(1)).collect();
    let after: String = lines[index].chars().skip(at.column.saturating_sub(1)).collect();
    let context = context_before(&lines, index, &before, at, is_prose);
    let rest = rest_of_word(&context.place, &after, innermost_bracket(&before).is_some());
    let end = Position { column: at.column + rest.chars().count(), ..at };
    CursorContext { end, ..context }
}

/// Returns the rest of the word at the position.
fn rest_of_word<'a>(place: &CursorPlace, after: &'a str, is_in_brackets: bool) -> &'a str {
    let end = match place {
        CursorPlace::Key | CursorPlace::Prose => Some(0),
        CursorPlace::EntityLink => Some(after.find("]]").unwrap_or(0)),
        _ if is_in_brackets => after.find([',', ']', '}']),
        _ => after.find(" #"),
    };
    after[..end.unwrap_or(after.len())].trim_end()
}

fn context_before(
    lines: &[&str],
    index: usize,
    before: &str,
    at: Position,
    is_prose: bool,
) -> CursorContext {
    if let Some((_, name)) = before.rsplit_once("[[").filter(|(_, it)| !it.contains(['[', ']'])) {
        let is_text =
            is_prose || enclosing_block_text(lines, index).is_some() || is_in_text(before);
        if is_text {
            return leaf(CursorPlace::EntityLink, name, at);
        }
    }
    if is_prose || enclosing_block_text(lines, index).is_some() {
        return leaf(CursorPlace::Prose, "", at);
    }
    if before.trim_start().starts_with('#') {
        return leaf(CursorPlace::Prose, "", at);
    }
    match innermost_bracket(before) {
        Some(open) => flow_context(lines, index, before, open, at),
        None => block_context(lines, index, before, at),
    }
}

fn leaf(place: CursorPlace, prefix: &str, at: Position) -> CursorContext {
    CursorContext {
        parents: Vec::new(),
        place,
        start: start_of(prefix, at),
        end: at,
        prefix: prefix.to_owned(),
        siblings: BTreeMap::new(),
        outer: BTreeMap::new(),
    }
}

fn start_of(prefix: &str, at: Position) -> Position {
    Position { column: at.column - prefix.chars().count(), ..at }
}

/// Returns whether the line before the position is the one-line value of a key with prose.
fn is_in_text(before: &str) -> bool {
    let line = scan_line(before);
    matches!(line.key, Some(("description" | "content", _))) || line.key.is_none()
}

fn scan_line(line: &str) -> Line<'_> {
    let mut scanned = Line::default();
    let (mut column, mut rest) = (0, line);
    loop {
        let trimmed = rest.trim_start_matches(' ');
        column += rest.len() - trimmed.len();
        rest = trimmed;
        match rest.strip_prefix('-').filter(|it| it.is_empty() || it.starts_with(' ')) {
            Some(after) => {
                scanned.dashes.push(column);
                column += 1;
                rest = after;
            }
            None => break,
        }
    }
    (scanned.column, scanned.content) = (column, rest);
    scanned.key = split_key(rest);
    scanned
}

/// Splits `key: value`.
fn split_key(content: &str) -> Option<(&str, &str)> {
    if content.starts_with(['#', '{', '[', '"', '\'']) {
        return None;
    }
    let (key, value) = match content.split_once(": ") {
        Some(it) => it,
        None => (content.trim_end().strip_suffix(':')?, ""),
    };
    Some((key.trim(), value.trim()))
}

/// Returns the key whose text in block style contains a line.
fn enclosing_block_text<'a>(lines: &[&'a str], index: usize) -> Option<&'a str> {
    let mut indent = match lines[index].trim().is_empty() {
        // An empty line belongs to what is above.
        true => usize::MAX,
        false => lines[index].len() - lines[index].trim_start().len(),
    };
    for line in lines[..index].iter().rev() {
        if line.trim().is_empty() {
            continue;
        }
        let scanned = scan_line(line);
        let start = scanned.dashes.first().copied().unwrap_or(scanned.column);
        if start >= indent {
            continue;
        }
        match scanned.key {
            Some((key, value)) if value.starts_with(['|', '>']) => {
                // The text of a key is deeper than the key.
                return (indent == usize::MAX || indent > start).then_some(key);
            }
            _ if indent == usize::MAX => return None,
            _ => indent = start,
        }
        if start == 0 {
            return None;
        }
    }
    None
}

/// Returns the byte of the innermost bracket that is open at the end of `before`.
fn innermost_bracket(before: &str) -> Option<usize> {
    let (mut open, mut quote) = (Vec::new(), None);
    let mut previous = ' ';
    for (at, it) in before.char_indices() {
        match (quote, it) {
            (Some(mark), _) if mark == it => quote = None,
            (None, '"' | '\'') if !previous.is_alphanumeric() => quote = Some(it),
            (None, '#') if previous == ' ' => return None,
            // A bracket within a plain text is part of the text.
            (None, '{' | '[') if matches!(previous, ' ' | '{' | '[' | ',') => open.push(at),
            (None, '}' | ']') => drop(open.pop()),
            _ => {}
        }
        previous = it;
    }
    open.pop()
}

/// Returns the context inside brackets on one line.
fn flow_context(
    lines: &[&str],
    index: usize,
    before: &str,
    open: usize,
    at: Position,
) -> CursorContext {
    let (mut parents, outer) = around_bracket(lines, index, before[..open].trim_end(), at);
    let mut parts: Vec<&str> = before[open + 1..].split(',').collect();
    let last = parts.pop().unwrap_or_default().trim_start();
    let mut siblings = BTreeMap::new();
    let (place, prefix) = if before[open..].starts_with('[') {
        parents.push("-".to_owned());
        (CursorPlace::Item, last)
    } else {
        siblings.extend(parts.iter().filter_map(|it| split_key(it.trim())).map(owned_pair));
        match last.split_once(": ") {
            Some((key, value)) => (CursorPlace::Value(key.trim().to_owned()), value.trim_start()),
            None => (CursorPlace::Key, last),
        }
    };
    let start = start_of(prefix, at);
    CursorContext { parents, place, start, end: at, prefix: prefix.to_owned(), siblings, outer }
}

/// Returns the keys above a bracket, and the mapping that contains it; `outside` is the line before
/// it.
fn around_bracket(
    lines: &[&str],
    index: usize,
    outside: &str,
    at: Position,
) -> (Vec<String>, BTreeMap<String, String>) {
    if let Some(open) = innermost_bracket(outside) {
        // Brackets within brackets: `{ tool_params: { …`.
        let CursorContext { mut parents, siblings, .. } =
            flow_context(lines, index, outside, open, at);
        parents.extend(outside[open + 1..].rsplit([',', '{', '[']).next().and_then(flow_key));
        return (parents, siblings);
    }
    let line = scan_line(outside);
    let walk = walk_to_top(lines, index, &line);
    let mut parents = walk.parents;
    parents.extend(line.key.map(|(key, _)| key.to_owned()));
    (parents, walk.siblings)
}

fn flow_key(part: &str) -> Option<String> {
    part.trim().strip_suffix(':').map(|it| it.trim().to_owned())
}

fn owned_pair((key, value): (&str, &str)) -> (String, String) {
    (key.to_owned(), value.trim_matches(['"', '\'']).to_owned())
}

/// Returns the context on a line without open brackets.
fn block_context(lines: &[&str], index: usize, before: &str, at: Position) -> CursorContext {
    let line = scan_line(before);
    let WalkToTop { parents, siblings, outer, .. } = walk_to_top(lines, index, &line);
    let value = match line.key {
        // `key:` without a blank is no key yet.
        Some((key, _)) if before.contains(": ") => Some(key),
        _ => None,
    };
    let (place, prefix) = match value {
        Some(key) => {
            let value = line.content.split_once(": ").map_or("", |(_, it)| it.trim_start());
            (CursorPlace::Value(key.to_owned()), value)
        }
        None if !line.dashes.is_empty() => (CursorPlace::Item, line.content),
        None => (CursorPlace::Key, line.content),
    };
    let start = start_of(prefix, at);
    CursorContext { parents, place, start, end: at, prefix: prefix.to_owned(), siblings, outer }
}

/// Walks from a line to the top. The parents of the result begin at the top.
fn walk_to_top(lines: &[&str], index: usize, line: &Line<'_>) -> WalkToTop {
    let mut walk = WalkToTop {
        column: line.column,
        is_item: false,
        left: 0,
        parents: Vec::new(),
        siblings: keys_below(&lines[index + 1..], line.column),
        outer: BTreeMap::new(),
    };
    walk.leave_items(&line.dashes);
    for above in lines[..index].iter().rev() {
        let above = scan_line(above);
        if !above.content.is_empty() && !above.content.starts_with('#') {
            walk.visit(&above);
        }
        if walk.column == 0 && !walk.is_item && walk.left > 1 {
            break;
        }
    }
    walk.parents.reverse();
    walk
}

/// Returns the keys below a line in the mapping whose keys are in `column`.
fn keys_below(lines: &[&str], column: usize) -> BTreeMap<String, String> {
    let lines = lines.iter().map(|it| scan_line(it)).filter(|it| !it.content.is_empty());
    let in_mapping =
        |it: &Line<'_>| it.column > column || it.column == column && it.dashes.is_empty();
    let keys = lines.take_while(in_mapping).filter(|it| it.column == column);
    keys.filter_map(|it| it.key).map(owned_pair).collect()
}

/// A walk from a line up to the top of the file.
struct WalkToTop {
    /// The column of the keys of the mapping, or of the dash of the item, that was reached.
    column: usize,
    /// Whether an item of a list was reached.
    is_item: bool,
    /// The number of mappings and lists that were left.
    left: usize,
    /// The keys and items that were left, innermost first.
    parents: Vec<String>,
    siblings: BTreeMap<String, String>,
    outer: BTreeMap<String, String>,
}

impl WalkToTop {
    fn visit(&mut self, line: &Line<'_>) {
        // A list may be as deep as its key.
        let is_outer = line.column < self.column
            || self.is_item && line.column == self.column && line.dashes.is_empty();
        match line.key {
            Some((key, _)) if is_outer => {
                self.parents.push(key.to_owned());
                (self.column, self.is_item) = (line.column, false);
                self.left += 1;
                self.leave_items(&line.dashes);
            }
            key if line.column == self.column && !self.is_item => {
                match self.left {
                    0 => self.siblings.extend(key.map(owned_pair)),
                    1 => self.outer.extend(key.map(owned_pair)),
                    _ => {}
                }
                self.leave_items(&line.dashes);
            }
            _ => {}
        }
    }

    /// Leaves the items whose dashes are on one line.
    fn leave_items(&mut self, dashes: &[usize]) {
        for dash in dashes.iter().rev() {
            self.parents.push("-".to_owned());
            (self.column, self.is_item) = (*dash, true);
            self.left += 1;
        }
    }
}

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
        describe(text, false)
    }

    fn describe(text: &str, is_prose: bool) -> String {
        let before = &text[..text.find('¦').expect("the text has a mark")];
        let line = before.split('\n').count();
        let column = before.rsplit('\n').next().unwrap().chars().count() + 1;
        let at = Position { line, column };
        let found = cursor_context(&text.replace('¦', ""), at, is_prose);
        let pairs = |pairs: &BTreeMap<String, String>| {
            pairs.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(" ")
        };
        let outer = match found.outer.is_empty() {
            true => String::new(),
            false => format!(" in [{}]", pairs(&found.outer)),
        };
        format!(
            "{} {:?} `{}` from {} to {} [{}]{outer}",
            found.parents.join("/"),
            found.place,
            found.prefix,
            found.start.column,
            found.end.column,
            pairs(&found.siblings)
        )
    }

    #[test]
    fn values_and_keys_of_a_block_mapping_are_found() {
        let room = "name: Hall\nactions:\n  - label: Go\n    type: navigate\n    room: ha¦\n  - label: B\n";
        insta::assert_snapshot!(context(room), @r#"actions/- Value("room") `ha` from 11 to 13 [label=Go type=navigate]"#);
        insta::assert_snapshot!(context("actions:\n- label: Go\n  ro¦\n"), @"actions/- Key `ro` from 3 to 5 [label=Go]");
        insta::assert_snapshot!(context("actions:\n- la¦\n"), @"actions/- Item `la` from 3 to 5 []");
        insta::assert_snapshot!(context("name: A\nen¦\ngenus: B\n"), @" Key `en` from 1 to 3 [genus=B name=A]");
        insta::assert_snapshot!(context("portals:\n  - west/ha¦\n"), @"portals/- Item `west/ha` from 5 to 12 []");
        insta::assert_snapshot!(context("portals:\n- ¦\n"), @"portals/- Item `` from 3 to 3 []");
    }

    #[test]
    fn all_keys_above_of_the_own_and_of_the_outer_mapping_are_found() {
        let top = "id: 1\nname: A\ngenus: B\nst¦\n";
        insta::assert_snapshot!(context(top), @" Key `st` from 1 to 3 [genus=B id=1 name=A]");
        let entity = "id: 1\ngenus: B\nattributes:\n  born: 1\n  ra¦\n";
        insta::assert_snapshot!(context(entity), @"attributes Key `ra` from 3 to 5 [born=1] in [genus=B id=1]");
    }

    #[test]
    fn nested_mappings_are_found() {
        let query = "actions:\n  - label: Look\n    tool: list_entities\n    tool_params:\n      genus: Cl¦\n";
        insta::assert_snapshot!(context(query), @r#"actions/-/tool_params Value("genus") `Cl` from 14 to 16 [] in [label=Look tool=list_entities]"#);
        let relation = "relations:\n  - type: held_in\n    to: Geo lo¦\n";
        insta::assert_snapshot!(context(relation), @r#"relations/- Value("to") `Geo lo` from 9 to 15 [type=held_in]"#);
    }

    #[test]
    fn brackets_on_a_line_are_scanned() {
        insta::assert_snapshot!(context("portals: [a, west/b¦]\n"), @"portals/- Item `west/b` from 14 to 20 []");
        insta::assert_snapshot!(
            context("actions:\n  - { label: Go, type: navigate, room: cry¦ }\n"),
            @r#"actions/- Value("room") `cry` from 40 to 43 [label=Go type=navigate]"#
        );
        insta::assert_snapshot!(
            context("actions:\n  - label: Go\n    tool_params: { genus: C¦\n"),
            @r#"actions/-/tool_params Value("genus") `C` from 27 to 28 [] in [label=Go]"#
        );
        insta::assert_snapshot!(
            context("actions:\n- { tool: a, tool_params: { na¦ } }\n"),
            @"actions/-/tool_params Key `na` from 29 to 31 [] in [tool=a]"
        );
    }

    #[test]
    fn texts_complete_only_links() {
        let text = "description: |\n  Stone.\n\n  room: [[Cuv¦\nname: A\n";
        insta::assert_snapshot!(context(text), @" EntityLink `Cuv` from 11 to 14 []");
        insta::assert_snapshot!(context(&text.replace("[[", "")), @" Prose `` from 12 to 12 []");
        insta::assert_snapshot!(context("content: See [[Geo lo¦\n"), @" EntityLink `Geo lo` from 16 to 22 []");
        insta::assert_snapshot!(context("portals: [[a¦\n"), @"portals/-/- Item `a` from 12 to 13 []");
        insta::assert_snapshot!(describe("Read [[¦\n", true), @" EntityLink `` from 8 to 8 []");
        insta::assert_snapshot!(describe("Read ]] [[a]] b¦\n", true), @" Prose `` from 16 to 16 []");
    }
}

#[cfg(test)]
mod toml_cursor_tests {
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
