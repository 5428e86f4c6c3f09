//! Bringing files into the form they are written in, and nothing lost: what is
//! read stays the same, and so does every comment.
//!
//! Canonical form has line feeds; but a file that ends every line as Windows does
//! keeps that, for git may have checked it out so.

pub(crate) mod toml;
use crate::format::yaml::{
    AttachedComments, CommentsAndDashes, Node, NodeValue, OutputNode, parse_yaml,
    write_yaml_with_comments,
};
use crate::format::{
    PalacePath, ParsedFile, ParsedItem, diary, drawer, entity, front_matter, genus, parse_file,
    room, schema, schema_kind_at, scroll, work,
};
use crate::model::{Code, Diagnostic, Severity};

/// The keys that say when.
const TIME_KEYS: [&str; 3] = ["written", "filed", "done"];

/// What became of a file that was to be tidied.
#[derive(Clone, Debug, PartialEq)]
pub enum FmtOutcome {
    /// It is in canonical form.
    Unchanged,
    /// It was not; this is.
    Formatted(String),
    /// Something is wrong with it, which has to be mended first.
    HasErrors(Vec<Diagnostic>),
    /// It cannot be done so that the file still says the same.
    CannotFormat,
}

/// Brings the text of a file into canonical form; `None`: it is none of those
/// that have one. That of a schema is what this version writes.
pub fn fmt_file(path: &str, text: &str) -> Option<FmtOutcome> {
    if let Some(kind) = schema_kind_at(path) {
        let own = schema::schema_for_kind(kind);
        let is_own = normalize_line_endings(text) == own;
        return Some(if is_own { FmtOutcome::Unchanged } else { FmtOutcome::Formatted(own) });
    }
    if matches!(PalacePath::parse(path), Ok(PalacePath::Other)) {
        return None;
    }
    let ParsedFile { item: holding, findings } = parse_file(path, text);
    // What says nothing has no place in canonical form, and would be lost.
    let is_lost = |it: Code| matches!(it, Code::UnusedKey | Code::IdMismatch);
    let is_wrong = findings.iter().any(|it| it.severity() == Severity::Error || is_lost(it.code));
    let Some(holding) = holding.filter(|_| !is_wrong) else {
        return Some(FmtOutcome::HasErrors(findings));
    };
    let says_the_same = |anew: &String| {
        parse_file(path, anew).item.as_ref() == Some(&holding)
            && sorted_comments(anew, &holding) == sorted_comments(text, &holding)
            && fmt_text(path, anew, &holding).as_ref() == Some(anew)
    };
    Some(match fmt_text(path, text, &holding).filter(says_the_same) {
        None => FmtOutcome::CannotFormat,
        Some(anew) if anew == text => FmtOutcome::Unchanged,
        Some(anew) => FmtOutcome::Formatted(anew),
    })
}

/// Writes what a file holds anew, with the comments that are in it.
fn fmt_text(path: &str, text: &str, holding: &ParsedItem) -> Option<String> {
    let Some((head, body)) = split_verbatim_body(text, holding) else {
        // A text in a drawer or diary may do without front matter.
        return Some(text.to_owned());
    };
    let lines = schema::retarget_modeline(path, &normalize_line_endings(head));
    let (modeline, lines) = schema::split_modeline(&lines);
    let anew = match holding {
        ParsedItem::Settings(_) => toml::fmt_toml(lines)?,
        ParsedItem::Room(_, it) => fmt_yaml(lines, |_| room::room_to_yaml(it))?,
        ParsedItem::Entity(it) => fmt_yaml(lines, |_| entity::entity_to_yaml(it))?,
        ParsedItem::Genus(it) => fmt_yaml(lines, |_| genus::genus_to_yaml(it))?,
        ParsedItem::Task(it) => {
            fmt_yaml(lines, |said| keep_author_spelling(work::task_to_yaml(it), said))?
        }
        ParsedItem::Process(it) => {
            fmt_yaml(lines, |said| keep_author_spelling(work::process_to_yaml(it), said))?
        }
        ParsedItem::Scroll(_, it) => fmt_front_matter(lines, &scroll::scroll_front_matter(it))?,
        ParsedItem::Drawer(_, it) => fmt_front_matter(lines, &drawer::drawer_front_matter(it))?,
        ParsedItem::DiaryEntry(_, it) => fmt_front_matter(lines, &diary::diary_front_matter(it))?,
    };
    let breaks = head.matches('\n').count();
    let is_windows = breaks > 0 && breaks == head.matches("\r\n").count();
    let anew = format!("{modeline}{anew}");
    let anew = if is_windows { anew.replace('\n', "\r\n") } else { anew };
    Some(anew + body)
}

fn fmt_yaml(text: &str, out: impl Fn(&Node) -> OutputNode) -> Option<String> {
    let root = parse_yaml(text).ok()?;
    let out = out(&root);
    let mut notes = AttachedComments::attach(text, &root, &CommentsAndDashes::scan(text));
    notes.fit_to_output(&out);
    Some(write_yaml_with_comments(&out, &notes))
}

fn fmt_front_matter(text: &str, matter: &[(&'static str, OutputNode)]) -> Option<String> {
    let matter =
        fmt_yaml(text, |said| keep_author_spelling(OutputNode::Map(matter.to_vec()), said))?;
    Some(format!("---\n{matter}---\n\n"))
}

/// Leaves out what the author of a file left out, for it goes without saying, and
/// spells a time as it was spelled: a day is not made a moment.
fn keep_author_spelling(out: OutputNode, said: &Node) -> OutputNode {
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

/// Parts what is tidied from what is kept byte for byte: front matter from text.
fn split_verbatim_body<'a>(text: &'a str, holding: &ParsedItem) -> Option<(&'a str, &'a str)> {
    match holding {
        ParsedItem::Scroll(..) | ParsedItem::Drawer(..) | ParsedItem::DiaryEntry(..) => {
            front_matter::split_front_matter(text)
        }
        _ => Some((text.strip_prefix('\u{feff}').unwrap_or(text), "")),
    }
}

/// Returns the comments of a file, in no order that means anything.
fn sorted_comments(text: &str, holding: &ParsedItem) -> Option<Vec<String>> {
    let (head, _) = split_verbatim_body(text, holding)?;
    if let ParsedItem::Settings(_) = holding {
        // There, nothing but blanks may change at all.
        return Some(vec![head.split_whitespace().collect()]);
    }
    // The modeline may have to lead elsewhere.
    let (_, head) = schema::split_modeline(head);
    let mut comments: Vec<_> =
        CommentsAndDashes::scan(head).comments.into_iter().map(|it| it.text).collect();
    comments.sort();
    Some(comments)
}

fn normalize_line_endings(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    #[track_caller]
    fn formatted_text(path: &str, text: &str) -> String {
        match fmt_file(path, text) {
            Some(FmtOutcome::Formatted(anew)) => anew,
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
        portals: [crypt] # beside the portals
        # the end
        ");
    }

    #[test]
    fn a_value_joined_to_one_line_gets_its_comments_above() {
        let text = "\
genus: Claim
name: Gradualism
status: # unknown
attributes:
  # how sure
  confidence: low # really
  # who says so
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
        # how sure
        # really
        # who says so
        attributes: { confidence: low, source: Lyell }
        observations:
          # seen
          - one # here
          # there
          - two
        relations:
          # by whom
          # since when
          # about
          - { type: disputed_by, to: Saltation, since: 1972 }
          # and no other
        ");
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
        attributes: { isbn: "97801234567890123456789", big: "18446744073709551616", pi: "3.14159265358979323846", version: "1.10", zip: "00123", phone: "+49123", born: "-0246", price: 1.5, exact: 1.0, many: 12 }
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
}
