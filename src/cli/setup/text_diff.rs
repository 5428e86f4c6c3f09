//! Shows how a configuration changes: what is removed and what is added, and nothing else. Other
//! entries may contain secrets, and an agent may read the output.

use crate::model::redact_secrets;

/// What separates the fields of an entry, or surrounds them.
const SEPARATORS: [char; 6] = ['\n', ',', '{', '}', '[', ']'];

/// Describes the new text of a file; `None` stands for no file.
pub(super) fn describe_change(was: Option<&str>, new: Option<&str>) -> String {
    match (was, new) {
        (None, None) => String::new(),
        (None, Some(new)) => format!("  a new file:\n{}", signed_lines('+', new)),
        (Some(was), None) => format!("  the file is deleted:\n{}", signed_lines('-', was)),
        (Some(was), Some(new)) => describe_edit(was, new),
    }
}

/// Describes an edit of one place of a text.
fn describe_edit(was: &str, new: &str) -> String {
    let pairs = was.char_indices().zip(new.chars());
    let start = pairs.take_while(|((_, a), b)| a == b).last();
    let start = start.map_or(0, |((at, it), _)| at + it.len_utf8());
    let pairs = was[start..].chars().rev().zip(new[start..].chars().rev());
    let end = pairs.take_while(|(a, b)| a == b).map(|(it, _)| it.len_utf8()).sum::<usize>();
    let (above, below) = (&was[..start], &was[was.len() - end..]);
    let [removed, added] = [was, new].map(|it| &it[start..it.len() - end]);
    let is_update = has_content(removed) && has_content(added);
    // An update may change a part of a word: its whole field is shown.
    let (before, after) = match is_update {
        true => (
            above.rsplit(SEPARATORS).next().unwrap_or_default().trim_start(),
            below.split(SEPARATORS).next().unwrap_or_default(),
        ),
        false => ("", ""),
    };
    let field = |changed: &str| format!("{before}{changed}{after}");
    let lines_above = above.matches('\n').count();
    let changed = if has_content(added) { added } else { removed };
    let line = lines_above + changed.split('\n').take_while(|it| !has_content(it)).count() + 1;
    let removed = signed_lines('-', &field(removed));
    format!("  line {line}:\n{removed}{}", signed_lines('+', &field(added)))
}

/// Returns whether a text is more than space and commas.
fn has_content(text: &str) -> bool {
    text.contains(|it: char| it != ',' && !it.is_whitespace())
}

/// Renders the lines of a text that are more than space and commas.
fn signed_lines(sign: char, text: &str) -> String {
    let text = redact_secrets(text).text;
    let mut lines = String::new();
    for line in text.split('\n').filter(|it| has_content(it)) {
        lines += &format!("  {sign} {}\n", line.trim_end_matches('\r'));
    }
    lines
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    #[test]
    fn only_what_is_removed_and_added_is_shown() {
        let was = "{\n  \"env\": { \"KEY\": \"hunter2\" }\n}\n";
        let new = was.replace("}\n}", "},\n  \"b\": {\n    \"c\": 2\n  }\n}");
        assert_snapshot!(describe_change(Some(was), Some(&new)), @r#"
          line 3:
          +   "b": {
          +     "c": 2
          +   }
        "#);
        assert_snapshot!(describe_change(Some(&new), Some(was)), @r#"
          line 3:
          -   "b": {
          -     "c": 2
          -   }
        "#);
        let minified = r#"{"a":{"KEY":"hunter2"}}"#;
        let new = minified.replace("}}", r#"},"palazzo":{"command":"x"}}"#);
        assert_snapshot!(describe_change(Some(minified), Some(&new)), @r#"
          line 1:
          + ,"palazzo":{"command":"x"}
        "#);
    }

    #[test]
    fn a_changed_field_is_shown_whole_and_its_neighbours_are_not() {
        let was =
            r#"{"a":{"KEY":"hunter2"},"palazzo":{"command":"/old/palazzo","args":["serve","/é"]}}"#;
        let new = was.replace("old", "new");
        assert_snapshot!(describe_change(Some(was), Some(&new)), @r#"
          line 1:
          - "command":"/old/palazzo"
          + "command":"/new/palazzo"
        "#);
        assert_snapshot!(describe_change(Some(was), Some(&was.replace('é', "è"))), @r#"
          line 1:
          - "/é"
          + "/è"
        "#);
        let toml = "[a]\r\ntoken = \"hunter2\"\r\n[b]\r\nargs = [\"serve\", \"/old\"]\r\n";
        assert_snapshot!(describe_change(Some(toml), Some(&toml.replace("old", "new"))), @r#"
          line 4:
          - "/old"
          + "/new"
        "#);
    }

    #[test]
    fn a_whole_file_is_shown_if_it_is_created_or_deleted() {
        assert_snapshot!(describe_change(None, Some("a\n")), @r"
          a new file:
          + a
        ");
        assert_snapshot!(describe_change(Some("a\n"), None), @r"
          the file is deleted:
          - a
        ");
    }
}
