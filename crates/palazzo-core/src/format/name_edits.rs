//! Replaces names in the text of a file, each in the notation in which it is written there.

use crate::format::genus::LINK_PREFIX;
use crate::format::{PlacedValue, file_kind, placed_values, toml_string, yaml};
use crate::model::{FileKind, Position, entity_links, rename_in_entity_links, split_lines};

/// Writes `new` in each of `places`, which are ranges in the order of the file: a YAML or TOML value
/// or key, or a link `[[name]]`. Returns `None` if a place is not in the text, is a text of several
/// lines or with a link in it, or if the other values of the file would change: a link may be in
/// quotes, or in a text without quotes, that cannot contain the name as it is.
pub fn replace_names(
    path: &str,
    text: &str,
    places: &[[Position; 2]],
    new: &str,
) -> Option<String> {
    let lines: Vec<_> = split_lines(text).collect();
    let byte_of = |at: Position| {
        let line = lines.get(at.line.checked_sub(1)?)?;
        let start = line.as_ptr() as usize - text.as_ptr() as usize;
        let mark = usize::from(at.line == 1 && line.starts_with('\u{feff}'));
        let before = line.chars().take(at.column - 1 + mark);
        Some(start + before.map(char::len_utf8).sum::<usize>())
    };
    let (mut replaced, mut copied) = (String::with_capacity(text.len()), 0);
    for [start, end] in places {
        let (start, end) = (byte_of(*start)?, byte_of(*end)?);
        replaced.push_str(text.get(copied..start)?);
        replaced.push_str(&name_in_place_of(path, text.get(start..end)?, new)?);
        copied = end;
    }
    let replaced = replaced + &text[copied..];
    let (before, after) = (placed_values(path, text), placed_values(path, &replaced));
    let is_meant =
        |(was, now): (&PlacedValue, &PlacedValue)| was.text == now.text || now.text.contains(new);
    let is_whole = before.len() == after.len() && before.iter().zip(&after).all(is_meant);
    // A file that cannot be parsed has no values.
    (is_whole || before.is_empty()).then_some(replaced)
}

/// Renames the target of the relations to `old` in the file of an entity, each in its place; `None`
/// as for [`replace_names`], or if there are none.
pub fn rename_relation_targets(path: &str, text: &str, old: &str, new: &str) -> Option<String> {
    let is_target = |it: &PlacedValue| {
        let steps = it.path.words();
        it.text == old
            && matches!(
                steps.iter().map(String::as_str).collect::<Vec<_>>()[..],
                ["relations", _, "to"]
            )
            && !it.is_key()
    };
    let places = placed_values(path, text).into_iter().filter(is_target);
    let places: Vec<_> = places.map(|it| [it.start, it.end]).collect();
    if places.is_empty() { None } else { replace_names(path, text, &places, new) }
}

/// Returns the notation of the name `new` where `old` is written.
fn name_in_place_of(path: &str, old: &str, new: &str) -> Option<String> {
    if old.starts_with("[[") {
        let renamed = rename_in_entity_links(old, |_| true, new);
        let is_link = entity_links(&renamed).first().is_some_and(|it| it.name == new);
        return is_link.then_some(renamed);
    }
    if old.contains(['\n', '\r']) || old.contains("[[") {
        return None;
    }
    let is_quoted = old.starts_with(['"', '\'']);
    if path.rsplit('.').next() == Some("toml") {
        return Some(match is_quoted {
            true => toml_string(new),
            false => toml_edit::Key::new(new).to_string(),
        });
    }
    let is_link_type = file_kind(path) == Some(FileKind::Genus)
        && old.trim_start_matches(['"', '\'']).starts_with(LINK_PREFIX);
    let prefix = if is_link_type { LINK_PREFIX } else { "" };
    Some(yaml::one_line_scalar(&format!("{prefix}{new}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::parse_entity_file;

    /// Replaces each value `old` of a file by `new`.
    fn replace(path: &str, text: &str, old: &str, new: &str) -> Option<String> {
        let values = placed_values(path, text).into_iter().filter(|it| it.text == old);
        let places: Vec<_> = values.map(|it| [it.start, it.end]).collect();
        assert!(!places.is_empty(), "no `{old}` in {text}");
        replace_names(path, text, &places, new)
    }

    #[test]
    fn a_name_that_needs_quotes_gets_those_of_its_file() {
        let path = "entities/rock/a.yaml";
        let text = "\u{feff}name: 'Old' # here\r\ngenus: Rock\r\nobservations: [Old, Older]\r\n";
        let replaced = replace(path, text, "Old", "a: [b]").unwrap();
        assert_eq!(
            replaced,
            "\u{feff}name: \"a: [b]\" # here\r\ngenus: Rock\r\nobservations: [\"a: [b]\", Older]\r\n"
        );
        assert_eq!(parse_entity_file(path, &replaced).unwrap().name, "a: [b]");
        let toml = "nmae = \"P\"\nentry = 'hall' # in\n";
        let replaced = replace("palace.toml", toml, "hall", "west/\"x\"").unwrap();
        assert_eq!(replaced, "nmae = \"P\"\nentry = 'west/\"x\"' # in\n");
        assert_eq!(
            replace("palace.toml", toml, "nmae", "name").unwrap(),
            toml.replace("nmae", "name")
        );
    }

    #[test]
    fn links_and_types_of_links_keep_their_notation() {
        let at = |column| Position { line: 1, column };
        let replace_link =
            |new| replace_names("scrolls/a/b.md", "é [[Old|it]].", &[[at(3), at(13)]], new);
        assert_eq!(replace_link("New").as_deref(), Some("é [[New|it]]."));
        assert_eq!(replace_link("a]]b"), None);
        let genus = "name: Book\nattributes:\n  author: \"link to Person\"\n";
        let replaced = replace("genera/book.yaml", genus, "link to Person", "A: b").unwrap();
        assert_eq!(replaced, "name: Book\nattributes:\n  author: \"link to A: b\"\n");
    }

    #[test]
    fn a_link_is_not_replaced_where_its_surroundings_cannot_contain_the_name() {
        let replace_link = |line: &str, new| {
            let text = format!("name: Hall\ndescription: {line}\n");
            let line: Vec<_> = line.chars().collect();
            let start = line.windows(2).position(|it| it == ['[', '[']).unwrap() + 14;
            let end = line.windows(2).position(|it| it == [']', ']']).unwrap() + 16;
            let at = |column| Position { line: 2, column };
            replace_names("rooms/hall.yaml", &text, &[[at(start), at(end)]], new)
        };
        for (line, new) in [
            ("'See [[OBrien]].'", "O'Brien"),
            ("\"See [[Back slash]].\"", "Back\\slash"),
            ("\"See [[Say hi]].\"", "Say \"hi\""),
            ("See [[Fo; bar]] now.", "Foo: bar"),
            ("See [[has hsh]] and more.", "has #hash"),
            ("\"é [[x\" # and ]]", "y"),
        ] {
            assert_eq!(replace_link(line, new), None, "{line}");
        }
        let replaced = replace_link("😀 see [[Cuvie|him]] here", "Cuvier").unwrap();
        assert_eq!(replaced, "name: Hall\ndescription: 😀 see [[Cuvier|him]] here\n");
    }

    #[test]
    fn a_text_of_several_lines_is_not_replaced() {
        let text = "name: >-\n  Old\ngenus: Rock\n";
        assert_eq!(replace("entities/rock/a.yaml", text, "Old", "New"), None);
        let at = Position { line: 9, column: 1 };
        assert_eq!(replace_names("rooms/a.yaml", "name: A\n", &[[at, at]], "B"), None);
    }
}
