//! Formats the whitespace of TOML. The order of keys is kept.

use toml_edit::{Decor, DocumentMut, Item, KeyMut, RawString, Table, Value};

/// Formats the whitespace around keys and values, and keeps all else, including comments; `None` if
/// the text is not TOML.
pub(crate) fn fmt_toml(text: &str) -> Option<String> {
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
