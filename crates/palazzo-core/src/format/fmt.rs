//! Formats files canonically without changing their content or losing a comment.
//!
//! Canonical form has line feeds; but a file that ends every line with CRLF keeps that, because git
//! may have checked it out so.

use toml_edit::{Decor, DocumentMut, Item, KeyMut, RawString, Table, Value};

use crate::format::schema::kind_of_schema_file;
use crate::format::yaml::{CommentsAndDashes, Node, NodeValue, OutputNode, rewrite_yaml};
use crate::format::{
    PalacePath, ParsedFile, ParsedItem, conflict, diary, drawer, entity, front_matter, genus,
    parse_file, room, schema, scroll, work,
};
use crate::model::{Code, Diagnostic, Severity, is_host_memory_path};

/// The keys with the moment at which the file was written, or its task was done.
pub(super) const TIME_KEYS: [&str; 3] = ["written", "filed", "done"];

/// The result of formatting a file.
#[derive(Clone, Debug, PartialEq)]
pub enum FmtOutcome {
    /// The file is already in canonical form.
    Unchanged,
    /// The new text.
    Formatted(String),
    /// The file has findings that must be fixed first.
    HasErrors(Vec<Diagnostic>),
    /// No formatted text would keep the content of the file.
    CannotFormat,
}

/// Formats the text of a file; `None` if it is not of a kind with a canonical form. A schema file
/// is replaced by that of this version.
pub fn fmt_file(path: &str, text: &str) -> Option<FmtOutcome> {
    if let Some(kind) = kind_of_schema_file(path) {
        let own = schema::json_schema_of_file_kind(kind);
        let is_own = normalize_line_endings(text) == own;
        return Some(if is_own {
            FmtOutcome::Unchanged
        } else {
            FmtOutcome::Formatted(own.to_owned())
        });
    }
    // A host writes its memory in a form of its own.
    if matches!(PalacePath::parse(path), Ok(PalacePath::Other)) || is_host_memory_path(path) {
        return None;
    }
    let ParsedFile { item, findings } = parse_file(path, text);
    // Keys without effect do not occur in canonical form and would be lost.
    let is_lost = |it: Code| matches!(it, Code::UnusedKey | Code::IdMismatch);
    let is_wrong = findings.iter().any(|it| it.severity() == Severity::Error || is_lost(it.code));
    let Some(item) = item.filter(|_| !is_wrong) else {
        return Some(FmtOutcome::HasErrors(findings));
    };
    let is_equivalent = |new_text: &String| {
        parse_file(path, new_text).item.as_ref() == Some(&item)
            && sorted_comments(new_text, &item) == sorted_comments(text, &item)
            && fmt_text(path, new_text, &item).as_ref() == Some(new_text)
    };
    Some(match fmt_text(path, text, &item).filter(is_equivalent) {
        None => FmtOutcome::CannotFormat,
        Some(new_text) if new_text == text => FmtOutcome::Unchanged,
        Some(new_text) => FmtOutcome::Formatted(new_text),
    })
}

/// Writes the item of a file again, with the file's comments.
fn fmt_text(path: &str, text: &str, item: &ParsedItem) -> Option<String> {
    let Some((head, body)) = split_verbatim_body(text, item) else {
        // A drawer or a diary entry may have no front matter.
        return Some(text.to_owned());
    };
    let lines = schema::retarget_modeline(path, &normalize_line_endings(head));
    let (modeline, lines) = schema::split_modeline(&lines);
    let new_text = match item {
        ParsedItem::Settings(_) => fmt_toml(lines)?,
        ParsedItem::Room(_, it) => rewrite_yaml(lines, |_| room::room_to_yaml(it))?,
        ParsedItem::Entity(it) => rewrite_yaml(lines, |_| entity::entity_to_yaml(it))?,
        ParsedItem::Genus(it) => rewrite_yaml(lines, |_| genus::genus_to_yaml(it))?,
        ParsedItem::Task(it) => {
            rewrite_yaml(lines, |said| keep_author_keys_and_times(work::task_to_yaml(it), said))?
        }
        ParsedItem::Process(it) => {
            rewrite_yaml(lines, |said| keep_author_keys_and_times(work::process_to_yaml(it), said))?
        }
        ParsedItem::Conflict(it) => rewrite_yaml(lines, |_| conflict::conflict_to_yaml(it))?,
        ParsedItem::Scroll(_, it) => fmt_front_matter(lines, &scroll::scroll_front_matter(it))?,
        ParsedItem::Drawer(..) if !drawer::has_only_own_keys(path, text) => {
            return Some(text.to_owned());
        }
        ParsedItem::Drawer(_, it) => fmt_front_matter(lines, &drawer::drawer_front_matter(it))?,
        ParsedItem::DiaryEntry(_, it) => fmt_front_matter(lines, &diary::diary_front_matter(it))?,
    };
    let breaks = head.matches('\n').count();
    let is_windows = breaks > 0 && breaks == head.matches("\r\n").count();
    let new_text = format!("{modeline}{new_text}");
    let new_text = if is_windows { new_text.replace('\n', "\r\n") } else { new_text };
    Some(new_text + body)
}

fn fmt_front_matter(text: &str, matter: &[(&'static str, OutputNode)]) -> Option<String> {
    let matter = rewrite_yaml(text, |said| {
        keep_author_keys_and_times(OutputNode::Map(matter.to_vec()), said)
    })?;
    Some(format!("---\n{matter}---\n\n"))
}

/// Omits the keys that the author omitted because they have defaults, and keeps the author's
/// spelling of times, so that a day does not become a time of day.
fn keep_author_keys_and_times(out: OutputNode, said: &Node) -> OutputNode {
    let (OutputNode::Map(pairs), NodeValue::Map(said)) = (&out, &said.value) else { return out };
    let spelled = |(key, out): &(&'static str, OutputNode)| {
        let (_, node) = said.iter().find(|(it, node)| it.text == *key && !node.is_null())?;
        match &node.value {
            NodeValue::Scalar { text, .. } if TIME_KEYS.contains(key) => {
                Some((*key, OutputNode::Plain(text.clone())))
            }
            _ => Some((*key, out.clone())),
        }
    };
    OutputNode::Map(pairs.iter().filter_map(spelled).collect())
}

/// Splits a file into the part to format and the part to keep byte for byte: front matter and text.
fn split_verbatim_body<'a>(text: &'a str, item: &ParsedItem) -> Option<(&'a str, &'a str)> {
    match item {
        ParsedItem::Scroll(..) | ParsedItem::Drawer(..) | ParsedItem::DiaryEntry(..) => {
            front_matter::split_front_matter(text)
        }
        _ => Some((text.strip_prefix('\u{feff}').unwrap_or(text), "")),
    }
}

/// Returns the comments of a file, sorted so that they can be compared.
fn sorted_comments(text: &str, item: &ParsedItem) -> Option<Vec<String>> {
    let (head, _) = split_verbatim_body(text, item)?;
    if let ParsedItem::Settings(_) = item {
        // In a settings file nothing but whitespace may change.
        return Some(vec![head.split_whitespace().collect()]);
    }
    // The path in the modeline may change.
    let (_, head) = schema::split_modeline(head);
    let mut comments: Vec<_> =
        CommentsAndDashes::scan(head).comments.into_iter().map(|it| it.text).collect();
    comments.sort();
    Some(comments)
}

fn normalize_line_endings(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// Formats the whitespace around keys and values, and keeps all else, including comments; `None` if
/// the text is not TOML.
fn fmt_toml(text: &str) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    let end = format!("{}\n", document.trailing().as_str().unwrap_or_default());
    document.set_trailing(normalize_comment_lines(Some(&end)));
    fmt_table(document.as_table_mut());
    let text = document.to_string();
    Some(format!("{}\n", text.trim_matches('\n')))
}

fn fmt_table(table: &mut Table) {
    for (mut key, item) in table.iter_mut() {
        match item {
            Item::Value(value) => fmt_pair(key, value),
            // The keys of `menu.layout = "wide"` share their whitespace with what is above.
            Item::Table(table) if !table.is_dotted() => {
                key.fmt();
                let decor = table.decor_mut();
                let above = normalize_comment_lines(decor.prefix().and_then(RawString::as_str));
                decor.set_prefix(format!("\n{}", above.trim_start_matches('\n')));
                fmt_trailing_comment(decor);
                fmt_table(table);
            }
            _ => {}
        }
    }
}

fn fmt_pair(mut key: KeyMut<'_>, value: &mut Value) {
    let decor = key.leaf_decor_mut();
    decor.set_prefix(normalize_comment_lines(decor.prefix().and_then(RawString::as_str)));
    decor.set_suffix(" ");
    if let Value::Array(items) = value
        && !(items.to_string().contains('\n') || items.trailing_comma())
    {
        items.fmt();
    }
    value.decor_mut().set_prefix(" ");
    fmt_trailing_comment(value.decor_mut());
}

/// Keeps exactly one space before the comment at the end of a line.
fn fmt_trailing_comment(decor: &mut Decor) {
    let comment = decor.suffix().and_then(RawString::as_str).unwrap_or_default().trim();
    let end = if comment.is_empty() { String::new() } else { format!(" {comment}") };
    decor.set_suffix(end);
}

/// Returns the comments above an item, with at most one blank line in a row.
fn normalize_comment_lines(raw: Option<&str>) -> String {
    let mut tidied = String::new();
    for line in raw.unwrap_or_default().split_inclusive('\n').filter(|it| it.ends_with('\n')) {
        if !(line.trim().is_empty() && (tidied == "\n" || tidied.ends_with("\n\n"))) {
            tidied.push_str(line.trim());
            tidied.push('\n');
        }
    }
    tidied
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    #[track_caller]
    fn formatted_text(path: &str, text: &str) -> String {
        match fmt_file(path, text) {
            Some(FmtOutcome::Formatted(again)) => again,
            other => panic!("{other:?}"),
        }
    }

    const BY_HAND: &str = "\
# About the hall as a whole.


portals: # beside the portals
- crypt
# - attic
# The name comes first, and its comment with it.
name:   'Hall' # beside the name
actions:

    # above the first action
    - type: text   # beside the type
      # above the label
      label: Look
      content: |
         It drips.

          # this is text

      # below the first action


    # above the second action
    - { label: Go, # in braces
        type: navigate,
        # on a line of its own
        room: crypt } # behind the braces
    # below the actions
description: >
   Stone,
   and dust.
# the end
";

    #[test]
    fn comments_move_with_the_value_they_belong_to() {
        assert_snapshot!(formatted_text("rooms/hall.yaml", BY_HAND), @"
        # About the hall as a whole.

        # - attic
        # The name comes first, and its comment with it.
        name: Hall # beside the name
        description: |
          Stone, and dust.
        actions:
          # above the first action
          # above the label
          - label: Look
            type: text # beside the type
            content: |
              It drips.

               # this is text

            # below the first action

          # above the second action
          # behind the braces
          - label: Go # in braces
            type: navigate
            # on a line of its own
            room: crypt
          # below the actions
        portals: # beside the portals
          - crypt
        # the end
        ");
    }

    #[test]
    fn a_list_or_mapping_in_brackets_gets_lines_with_its_comments() {
        let text = "\
genus: Claim
name: Gradualism
status: # unknown
attributes:
  # how sure
  confidence: low # really
  source: Lyell
relations:
  - type: disputed_by # by whom
    # since when
    to: Saltation
    since: 1972 # about
  # and no other
observations: [ # seen
  one, # here
  # there
  two ]
";
        assert_snapshot!(formatted_text("entities/claim/gradualism.yaml", text), @"
        name: Gradualism
        genus: Claim
        # unknown
        attributes:
          # how sure
          confidence: low # really
          source: Lyell
        observations:
          # seen
          - one # here
          # there
          - two
        relations:
          - type: disputed_by # by whom
            # since when
            to: Saltation
            since: 1972 # about
          # and no other
        ");
    }

    #[test]
    fn the_first_line_of_an_item_has_the_comments_of_what_begins_there() {
        let text = "\
name: A
genus: B
attributes:
  lists:
    # above
    - # beside the dash
      # above the inner dash
      - # beside the inner dash
        [ a, # in brackets
          b ]
      - {}
    - { k: [], l: [ [ ] ] }
";
        assert_snapshot!(formatted_text("entities/b/a.yaml", text), @"
        name: A
        genus: B
        attributes:
          lists:
            # above
            # above the inner dash
            # beside the inner dash
            # beside the dash
            - - - a # in brackets
                - b
              - {}
            - k: []
              l:
                - []
        ");
    }

    #[test]
    fn a_value_joined_to_one_line_gets_its_comments_above() {
        let text =
            "name: Claim\nrelations:\n  held_by: { # of one\n    single: true } # at a time\n";
        assert_snapshot!(formatted_text("genera/claim.yaml", text), @"
        name: Claim
        relations:
          # of one
          held_by: single # at a time
        ");
    }

    #[test]
    fn quotes_are_those_that_formatters_choose() {
        let texts = r#"["it's: x", 'it''s: x', 'say "x": y', "say \"x\": 'y'", 'a: \', "\"", "é\u0007", 'no: x']"#;
        let text = format!("name: A\ngenus: B\nobservations: {texts}\n");
        assert_snapshot!(formatted_text("entities/b/a.yaml", &text), @r#"
        name: A
        genus: B
        observations:
          - "it's: x"
          - "it's: x"
          - 'say "x": y'
          - 'say "x": ''y'''
          - "a: \\"
          - '"'
          - "é\a"
          - "no: x"
        "#);
    }

    #[test]
    fn numbers_keep_all_their_digits() {
        let numbers = "isbn: 97801234567890123456789, big: 18446744073709551616, \
            pi: 3.14159265358979323846, version: 1.10, zip: 00123, phone: +49123, born: -0246, \
            price: 1.5, exact: 1.0, many: 12";
        let text = format!("name:  A\ngenus: B\nattributes: {{ {numbers} }}\n");
        assert_snapshot!(formatted_text("entities/b/a.yaml", &text), @r#"
        name: A
        genus: B
        attributes:
          isbn: "97801234567890123456789"
          big: "18446744073709551616"
          pi: "3.14159265358979323846"
          version: "1.10"
          zip: "00123"
          phone: "+49123"
          born: "-0246"
          price: 1.5
          exact: 1.0
          many: 12
        "#);
    }

    #[test]
    fn the_body_of_a_scroll_is_kept_byte_for_byte() {
        let text = "---\r\nby:   me # myself\r\ntitle: \"T\"\r\nwritten: 2026-03-01\r\n---\r\n\r\nbody  \n\r\n---\n";
        let anew = "---\r\ntitle: T\r\nwritten: 2026-03-01\r\nby: me # myself\r\n---\r\n\r\nbody  \n\r\n---\n";
        assert_eq!(formatted_text("scrolls/hall/a.md", text), anew);
    }

    #[test]
    fn a_file_with_errors_is_not_formatted() {
        for text in [
            "name: [",
            "name: Hall\nnmae: x\n",
            "name: Hall\nactions:\n  - { label: a, type: text, room: b }\n",
        ] {
            assert!(
                matches!(fmt_file("rooms/hall.yaml", text), Some(FmtOutcome::HasErrors(_))),
                "{text}"
            );
        }
        assert_eq!(fmt_file("notes.md", "x"), None);
    }

    #[test]
    fn crlf_line_endings_are_kept_only_if_every_line_has_them() {
        let tidy = |text| formatted_text("rooms/hall.yaml", text);
        assert_eq!(
            tidy("description: Stone.\r\nname: Hall\r\n"),
            "name: Hall\r\ndescription: |\r\n  Stone.\r\n"
        );
        assert_eq!(tidy("\u{feff}name:  Hall\r\n# x\n"), "name: Hall\n# x\n");
    }

    #[test]
    fn formatting_changes_only_whitespace() {
        let text = "\n\n  # mine\nname='P'   # n\n\n\n\n   # where\n  entry =   \"a\"\n[menu]#m\nlayout=\"wide\"\n# all\n[ actions ]\nallow=[\"a\",'b' ]\n\n\n# end";
        let tidied = fmt_toml(text).unwrap();
        assert_snapshot!(tidied, @r#"
        # mine
        name = 'P' # n

        # where
        entry = "a"

        [menu] #m
        layout = "wide"

        # all
        [actions]
        allow = ["a", 'b']

        # end
        "#);
        assert_eq!(fmt_toml(&tidied).as_ref(), Some(&tidied));
    }

    #[test]
    fn a_multi_line_array_stays_on_several_lines() {
        let text = "name = \"P\"\nmenu.layout = \"wide\" # dotted\n[actions]\nallow = [\n    \"a\", # one\n]\n";
        assert_snapshot!(fmt_toml(text).unwrap(), @r#"
        name = "P"
        menu.layout = "wide" # dotted

        [actions]
        allow = [
            "a", # one
        ]
        "#);
    }
}
