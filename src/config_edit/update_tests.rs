//! An update changes the given fields, and nothing about how the others are written.

use serde_json::json;

use crate::config_edit::ConfigFormat;
use crate::config_edit::property_tests::{JSON, TOML, YAML};

#[test]
fn an_update_changes_only_the_given_fields() {
    let new = json!({ "command": "/new", "args": ["serve", "/b"] });
    let new = new.as_object().unwrap();
    let update = |format: ConfigFormat, place, text| format.update(text, place, new).unwrap();
    insta::assert_snapshot!(update(ConfigFormat::Json, JSON, "{\"mcpServers\": {\n  // ours\n  \"palazzo\": {\n    \"args\": [\n      \"x\"\n    ], // the home\n    \"command\": \"/old\",\n    \"trust\": true\n  }\n}}"), @r#"
    {"mcpServers": {
      // ours
      "palazzo": {
        "args": [
          "serve",
          "/b"
        ], // the home
        "command": "/new",
        "trust": true
      }
    }}
    "#);
    insta::assert_snapshot!(update(ConfigFormat::Toml, TOML, "[mcp_servers.palazzo] # ours\ncommand = '/old' # old\nenabled = false\n\n[mcp_servers.palazzo.env]\nA = \"1\"\n"), @r#"
    [mcp_servers.palazzo] # ours
    args = ["serve", "/b"]
    command = "/new" # old
    enabled = false

    [mcp_servers.palazzo.env]
    A = "1"
    "#);
    insta::assert_snapshot!(update(ConfigFormat::Toml, TOML, "[mcp_servers]\npalazzo = { command = \"/old\", enabled = false } # x\n"), @r#"
    [mcp_servers]
    palazzo = { args = ["serve", "/b"], command = "/new", enabled = false } # x
    "#);
    insta::assert_snapshot!(update(ConfigFormat::Yaml, YAML, "extensions:\n    palazzo:\n        args: [x]\n        enabled: false\n    a: 1\n"), @r#"
    extensions:
        palazzo:
            args: ["serve", "/b"]
            enabled: false
            command: "/new"
        a: 1
    "#);
}

#[test]
fn an_update_keeps_how_the_other_fields_are_written() {
    let new = json!({ "command": "/new", "args": ["serve", "/b"] });
    let new = new.as_object().unwrap();
    let update = |format: ConfigFormat, place, text: &str| format.update(text, place, new);
    let yaml = "shared: &env {TOKEN: a}\nextensions:\n  palazzo: # ours\n    command: /old\n    envs: *env # theirs\n    timeout: 1.50\n    args:\n    - serve\n    - /a\n    # last\nb: 0x10\n";
    let updated = update(ConfigFormat::Yaml, YAML, yaml).unwrap();
    let meant = yaml.replace("command: /old", "command: \"/new\"");
    assert_eq!(
        updated,
        meant.replace("args:\n    - serve\n    - /a\n", "args: [\"serve\", \"/b\"]\n")
    );
    let toml = "[mcp_servers]\npalazzo = { command = \"/new\", args = ['a'], timeout = 1.50 }\n";
    let updated = update(ConfigFormat::Toml, TOML, toml).unwrap();
    assert_eq!(updated, toml.replace("['a']", "[\"serve\", \"/b\"]"));
}

#[test]
fn an_update_that_would_lose_a_comment_is_refused() {
    let new = json!({ "args": ["serve", "/b"] });
    let refusal = |format: ConfigFormat, place, text: &str| {
        format.update(text, place, new.as_object().unwrap()).unwrap_err().to_string()
    };
    let json = "{\"mcpServers\": {\"palazzo\": {\"args\": [ // the home\n\"/a\"]}}}";
    let toml = "[mcp_servers.palazzo]\nargs = [\n  '/a', # the home\n]\n";
    let yaml = "extensions:\n  palazzo:\n    args:\n    - serve # always\n    - /a\n";
    let above = "extensions:\n  palazzo:\n    args: # the home\n    - /a\n";
    for refused in [
        refusal(ConfigFormat::Json, JSON, json),
        refusal(ConfigFormat::Toml, TOML, toml),
        refusal(ConfigFormat::Yaml, YAML, yaml),
        refusal(ConfigFormat::Yaml, YAML, above),
    ] {
        assert_eq!(
            refused,
            "a comment or an anchor in the entry would be lost; change the entry by hand"
        );
    }
}
