//! Shows the change of a text: the lines that differ, with a line above and below. The secrets of
//! other entries are not shown: an agent may read the output.

use crate::model::redact_secrets;

/// Longer lines are cut.
const MAX_CHARS: usize = 160;

/// Describes how a file changes; `None` stands for no file.
pub(super) fn describe_change(was: Option<&str>, new: Option<&str>) -> String {
    let (old_lines, new_lines) = (lines(was), lines(new));
    let same_start = old_lines.iter().zip(&new_lines).take_while(|(a, b)| a == b).count();
    let most = old_lines.len().min(new_lines.len()) - same_start;
    let ends = old_lines.iter().rev().zip(new_lines.iter().rev()).take(most);
    let same_end = ends.take_while(|(a, b)| a == b).count();
    let removed = &old_lines[same_start..old_lines.len() - same_end];
    let added = &new_lines[same_start..new_lines.len() - same_end];
    let above = same_start.checked_sub(1).map(|it| &old_lines[it..=it]).unwrap_or_default();
    let below = &old_lines[old_lines.len() - same_end..];
    let below = &below[..below.len().min(1)];
    let line =
        |sign: char| move |it: &&str| format!("  {sign} {}\n", clip(&redact_secrets(it).text));
    let mut page = match (was, new) {
        (None, Some(_)) => "  a new file:\n".to_owned(),
        (Some(_), None) => "  the file is deleted:\n".to_owned(),
        _ if removed.is_empty() && added.is_empty() => "  the file is as it was\n".to_owned(),
        _ => format!("  line {}:\n", same_start + 1),
    };
    page.extend(above.iter().map(line(' ')));
    page.extend(removed.iter().map(line('-')));
    page.extend(added.iter().map(line('+')));
    page.extend(below.iter().map(line(' ')));
    page
}

fn lines(text: Option<&str>) -> Vec<&str> {
    text.into_iter().flat_map(str::lines).collect()
}

/// Cuts a long line; the end stays, because an entry is added at the end.
fn clip(line: &str) -> String {
    let count = line.chars().count();
    match count > MAX_CHARS {
        false => line.to_owned(),
        true => format!("… {}", line.chars().skip(count - MAX_CHARS).collect::<String>()),
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    #[test]
    fn the_secrets_of_neighbours_are_not_shown() {
        let was =
            "{\n  \"env\": { \"GITHUB_TOKEN\": \"ghp_Zk3vQ9xT7mWc2LrY8bN4sJ6hFd1pGa0eUiXo\" }\n}\n";
        let shown = describe_change(Some(was), Some(&was.replace("}\n}", "},\n  \"b\": 2\n}")));
        assert!(!shown.contains("ghp_") && shown.contains("[redacted: "), "{shown}");
    }

    #[test]
    fn the_changed_lines_are_shown_with_their_neighbours() {
        let was = "{\n  \"a\": 1\n}\n";
        let new = "{\n  \"a\": 1,\n  \"b\": 2\n}\n";
        assert_snapshot!(describe_change(Some(was), Some(new)), @r#"
          line 2:
            {
          -   "a": 1
          +   "a": 1,
          +   "b": 2
            }
        "#);
        assert_snapshot!(describe_change(None, Some("a\n")), @r"
          a new file:
          + a
        ");
        assert_snapshot!(describe_change(Some("a\n"), None), @r"
          the file is deleted:
          - a
        ");
        assert_snapshot!(describe_change(Some("a\n\n"), Some("a\n")), @r"
          line 2:
            a
          -
        ");
        assert_snapshot!(describe_change(Some("a"), Some("a")), @r"
          the file is as it was
            a
        ");
        let long = format!("{{{}}}", "x".repeat(1000));
        let shown = describe_change(Some(&long), Some(&long.replace('}', ",\"palazzo\":1}")));
        assert!(shown.ends_with(",\"palazzo\":1}\n") && shown.len() < 400, "{shown}");
    }
}
