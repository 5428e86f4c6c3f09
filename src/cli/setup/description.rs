//! Describes the change of a configuration. It shows the command of Palazzo's own entry and nothing
//! else: other entries may contain secrets, and an agent may read the output.

use serde_json::Value;

use crate::config_edit::{ConfigFormat, EntryFields, EntryPlace};
use palazzo_core::model::{quote_for_shell, redact_secrets};

/// Describes a new entry as a configuration that consists of it.
pub(super) fn describe_insertion(
    format: ConfigFormat,
    place: EntryPlace<'_>,
    entry: &EntryFields,
    is_new_file: bool,
) -> String {
    let file = if is_new_file { "  a new file:\n" } else { "" };
    file.to_owned() + &signed_lines('+', &format.render(place, entry))
}

/// Describes the fields of an entry that get other values.
pub(super) fn describe_update(name: &str, entry: &Value, fields: &EntryFields) -> String {
    let mut description = format!("  in `{name}`:\n");
    for (key, new) in fields.iter().filter(|(key, new)| entry.get(key) != Some(new)) {
        if let Some(old) = entry.get(key) {
            description += &signed_lines('-', &format!("{key}: {old}"));
        }
        description += &signed_lines('+', &format!("{key}: {new}"));
    }
    description
}

/// Describes the removal of an entry with this command.
pub(super) fn describe_removal(name: &str, command: &[String]) -> String {
    let words: Vec<_> = command.iter().map(|it| quote_for_shell(it)).collect();
    signed_lines('-', &format!("{name}: {}", words.join(" ")))
}

/// Returns the lines of a text with a sign before each, and without secrets.
pub(super) fn signed_lines(sign: char, text: &str) -> String {
    let mut lines = String::new();
    for line in redact_secrets(text).text.lines() {
        lines += &format!("  {sign} {line}\n");
    }
    lines
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::json;

    use super::*;

    fn fields(value: &Value) -> EntryFields {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn a_new_entry_is_shown_whole() {
        let place = EntryPlace { section: "mcp_servers", name: "palazzo" };
        let entry = fields(&json!({ "command": "/bin/palazzo", "args": ["serve", "/a"] }));
        assert_snapshot!(describe_insertion(ConfigFormat::Toml, place, &entry, true), @r#"
          a new file:
          + [mcp_servers.palazzo]
          + command = "/bin/palazzo"
          + args = ["serve", "/a"]
        "#);
    }

    #[test]
    fn only_the_fields_that_change_are_shown() {
        let entry =
            json!({ "command": "/old/palazzo", "env": { "KEY": "hunter2" }, "args": ["serve"] });
        let new = fields(&json!({ "command": "/new/palazzo", "args": ["serve"], "type": "stdio" }));
        assert_snapshot!(describe_update("palazzo", &entry, &new), @r#"
          in `palazzo`:
          - command: "/old/palazzo"
          + command: "/new/palazzo"
          + type: "stdio"
        "#);
    }

    #[test]
    fn the_command_of_a_removed_entry_is_shown() {
        let command = ["/a b/palazzo", "serve", "/home"].map(str::to_owned);
        assert_snapshot!(describe_removal("palazzo", &command), @"
          - palazzo: '/a b/palazzo' serve /home
        ");
    }
}
