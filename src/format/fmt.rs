//! Bringing files into the form they are written in, and nothing lost: what is
//! read stays the same, and so does every comment.
//!
//! Canonical form has line feeds; but a file that ends every line as Windows does
//! keeps that, for git may have checked it out so.

pub(crate) mod toml;
use crate::format::yaml::{Body, Marks, Node, Notes, Out, parse, write_noted};
use crate::format::{
    Holding, Place, Understood, diary, drawer, entity, front_matter, genus, room, schema,
    schema_at, scroll, understand, work,
};
use crate::model::{Code, Diagnostic, Severity};

/// The keys that say when.
const TIMES: [&str; 3] = ["written", "filed", "done"];

/// What became of a file that was to be tidied.
#[derive(Clone, Debug, PartialEq)]
pub enum Tidied {
    /// It is in canonical form.
    Already,
    /// It was not; this is.
    Anew(String),
    /// Something is wrong with it, which has to be mended first.
    Wrong(Vec<Diagnostic>),
    /// It cannot be done so that the file still says the same.
    Stubborn,
}

/// Brings the text of a file into canonical form; `None`: it is none of those
/// that have one. That of a schema is what this version writes.
pub fn tidy(path: &str, text: &str) -> Option<Tidied> {
    if let Some(kind) = schema_at(path) {
        let own = schema::of(kind);
        let is_own = with_line_feeds(text) == own;
        return Some(if is_own { Tidied::Already } else { Tidied::Anew(own) });
    }
    if matches!(Place::of(path), Ok(Place::Other)) {
        return None;
    }
    let Understood { holding, findings } = understand(path, text);
    // What says nothing has no place in canonical form, and would be lost.
    let is_lost = |it: Code| matches!(it, Code::UnusedKey | Code::IdMismatch);
    let is_wrong = findings.iter().any(|it| it.severity() == Severity::Error || is_lost(it.code));
    let Some(holding) = holding.filter(|_| !is_wrong) else {
        return Some(Tidied::Wrong(findings));
    };
    let says_the_same = |anew: &String| {
        understand(path, anew).holding.as_ref() == Some(&holding)
            && comments(anew, &holding) == comments(text, &holding)
            && written(path, anew, &holding).as_ref() == Some(anew)
    };
    Some(match written(path, text, &holding).filter(says_the_same) {
        None => Tidied::Stubborn,
        Some(anew) if anew == text => Tidied::Already,
        Some(anew) => Tidied::Anew(anew),
    })
}

/// Writes what a file holds anew, with the comments that are in it.
fn written(path: &str, text: &str, holding: &Holding) -> Option<String> {
    let Some((head, body)) = parted(text, holding) else {
        // A text in a drawer or diary may do without front matter.
        return Some(text.to_owned());
    };
    let lines = schema::aimed(path, &with_line_feeds(head));
    let (modeline, lines) = schema::parted(&lines);
    let anew = match holding {
        Holding::Settings(_) => toml::tidy(lines)?,
        Holding::Room(_, it) => yaml(lines, |_| room::out(it))?,
        Holding::Entity(it) => yaml(lines, |_| entity::out(it))?,
        Holding::Genus(it) => yaml(lines, |_| genus::out(it))?,
        Holding::Task(it) => yaml(lines, |said| as_said(work::task_out(it), said))?,
        Holding::Process(it) => yaml(lines, |said| as_said(work::process_out(it), said))?,
        Holding::Scroll(_, it) => front(lines, &scroll::matter(it))?,
        Holding::Drawer(_, it) => front(lines, &drawer::matter(it))?,
        Holding::Entry(_, it) => front(lines, &diary::matter(it))?,
    };
    let breaks = head.matches('\n').count();
    let is_windows = breaks > 0 && breaks == head.matches("\r\n").count();
    let anew = format!("{modeline}{anew}");
    let anew = if is_windows { anew.replace('\n', "\r\n") } else { anew };
    Some(anew + body)
}

fn yaml(text: &str, out: impl Fn(&Node) -> Out) -> Option<String> {
    let root = parse(text).ok()?;
    let out = out(&root);
    let mut notes = Notes::of(text, &root, &Marks::of(text));
    notes.fit(&out);
    Some(write_noted(&out, &notes))
}

fn front(text: &str, matter: &[(&'static str, Out)]) -> Option<String> {
    let matter = yaml(text, |said| as_said(Out::Map(matter.to_vec()), said))?;
    Some(format!("---\n{matter}---\n\n"))
}

/// Leaves out what the author of a file left out, for it goes without saying, and
/// spells a time as it was spelled: a day is not made a moment.
fn as_said(out: Out, said: &Node) -> Out {
    let (Out::Map(pairs), Body::Map(said)) = (&out, &said.body) else { return out };
    let spelled = |(key, out): &(&'static str, Out)| {
        let (_, node) = said.iter().find(|(it, node)| it.text == *key && !node.is_null())?;
        match &node.body {
            Body::Scalar { text, .. } if TIMES.contains(key) => {
                Some((*key, Out::Plain(text.clone())))
            }
            _ => Some((*key, out.clone())),
        }
    };
    Out::Map(pairs.iter().filter_map(spelled).collect())
}

/// Parts what is tidied from what is kept byte for byte: front matter from text.
fn parted<'a>(text: &'a str, holding: &Holding) -> Option<(&'a str, &'a str)> {
    match holding {
        Holding::Scroll(..) | Holding::Drawer(..) | Holding::Entry(..) => front_matter::split(text),
        _ => Some((text.strip_prefix('\u{feff}').unwrap_or(text), "")),
    }
}

/// Returns the comments of a file, in no order that means anything.
fn comments(text: &str, holding: &Holding) -> Option<Vec<String>> {
    let (head, _) = parted(text, holding)?;
    if let Holding::Settings(_) = holding {
        // There, nothing but blanks may change at all.
        return Some(vec![head.split_whitespace().collect()]);
    }
    // The modeline may have to lead elsewhere.
    let (_, head) = schema::parted(head);
    let mut comments: Vec<_> = Marks::of(head).comments.into_iter().map(|it| it.text).collect();
    comments.sort();
    Some(comments)
}

fn with_line_feeds(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    #[track_caller]
    fn tidied(path: &str, text: &str) -> String {
        match tidy(path, text) {
            Some(Tidied::Anew(anew)) => anew,
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
    fn comments_stay_where_they_are_and_go_with_what_they_are_about() {
        assert_snapshot!(tidied("rooms/hall.yaml", BY_HAND), @"
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
    fn what_becomes_one_line_has_its_comments_above_it() {
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
        assert_snapshot!(tidied("entities/claim/gradualism.yaml", text), @"
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
    fn no_digit_of_a_number_is_lost() {
        let numbers = "isbn: 97801234567890123456789, big: 18446744073709551616, \
            pi: 3.14159265358979323846, version: 1.10, zip: 00123, phone: +49123, born: -0246, \
            price: 1.5, exact: 1.0, many: 12";
        let text = format!("name:  A\ngenus: B\nattributes: {{ {numbers} }}\n");
        assert_snapshot!(tidied("entities/b/a.yaml", &text), @r#"
        name: A
        genus: B
        attributes: { isbn: "97801234567890123456789", big: "18446744073709551616", pi: "3.14159265358979323846", version: "1.10", zip: "00123", phone: "+49123", born: "-0246", price: 1.5, exact: 1.0, many: 12 }
        "#);
    }

    #[test]
    fn the_body_of_a_scroll_stays_byte_for_byte() {
        let text = "---\r\nby:   me # myself\r\ntitle: \"T\"\r\nwritten: 2026-03-01\r\n---\r\n\r\nbody  \n\r\n---\n";
        let anew = "---\r\ntitle: T\r\nwritten: 2026-03-01\r\nby: me # myself\r\n---\r\n\r\nbody  \n\r\n---\n";
        assert_eq!(tidied("scrolls/hall/a.md", text), anew);
    }

    #[test]
    fn a_file_with_something_wrong_is_left_alone() {
        for text in [
            "name: [",
            "name: Hall\nnmae: x\n",
            "name: Hall\nactions:\n  - { label: a, type: text, room: b }\n",
        ] {
            assert!(matches!(tidy("rooms/hall.yaml", text), Some(Tidied::Wrong(_))), "{text}");
        }
        assert_eq!(tidy("notes.md", "x"), None);
    }

    #[test]
    fn lines_end_as_windows_ends_them_only_where_all_do() {
        let tidy = |text| tidied("rooms/hall.yaml", text);
        assert_eq!(
            tidy("description: Stone.\r\nname: Hall\r\n"),
            "name: Hall\r\ndescription: |\r\n  Stone.\r\n"
        );
        assert_eq!(tidy("\u{feff}name:  Hall\r\n# x\n"), "name: Hall\n# x\n");
    }
}
