//! README and the book: the generated pages are current, and the commands in all pages run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use palazzo::mcp::{ToolSet, Toolbox};
use serde_json::Value;

use crate::harness::{Home, MARCH_1};

/// Set this to write the generated pages instead of comparing them.
const WRITE: &str = "PALAZZO_WRITE_DOCS";

#[test]
fn the_command_reference_is_current() {
    let mut page = "# Commands\n\nThis page is generated from `palazzo help`.\n".to_owned();
    let home = Home::new();
    let mut pending = vec![Vec::new()];
    while let Some(command) = pending.pop() {
        let mut arguments: Vec<&str> = command.iter().map(String::as_str).collect();
        arguments.push("--help");
        let output = home.run_palazzo(&arguments);
        let help = String::from_utf8(output.stdout).unwrap();
        let title = [&["palazzo".to_owned()], command.as_slice()].concat().join(" ");
        page += &format!("\n## {title}\n\n```text\n{}\n```\n", without_trailing_blanks(&help));
        for name in subcommands(&help).into_iter().rev() {
            pending.push([command.as_slice(), &[name]].concat());
        }
    }
    assert_page_is_current("docs/commands.md", &page);
}

#[test]
fn the_mcp_reference_is_current() {
    let mut page = "# MCP tools\n\nThis page is generated from the tools that the server lists. \
                    `palazzo serve --tools` chooses the sets.\n"
        .to_owned();
    for set in ToolSet::ALL {
        page += &format!("\n## Set `{}`\n", set.name());
        for tool in Toolbox::new(vec![set]).offered_tools() {
            let tool = serde_json::to_value(tool).unwrap();
            page += &tool_section(&tool);
        }
    }
    assert_page_is_current("docs/mcp.md", &page);
}

#[test]
fn the_commands_in_every_page_run() {
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let mut script = String::new();
        for (language, block) in code_blocks(&text) {
            match language.split_once("no-run") {
                Some((_, reason)) => {
                    let reason = reason.trim_start_matches(':').trim();
                    assert!(!reason.is_empty(), "{}: `no-run` needs a reason", page.display());
                }
                None if language == "sh" => script += &format!("{block}\n"),
                None => {}
            }
        }
        if !script.is_empty() {
            run_script(&page, &script);
        }
    }
}

#[test]
fn every_link_between_pages_leads_to_a_heading() {
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for link in links(&text) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => page.clone(),
                file => page.parent().unwrap().join(file),
            };
            assert!(target.exists(), "{}: no file for `{link}`", page.display());
            if !anchor.is_empty() {
                let text = fs::read_to_string(&target).unwrap();
                let found = headings(&text).any(|it| it == anchor);
                assert!(found, "{}: no heading for `{link}`", page.display());
            }
        }
    }
}

#[test]
fn man_writes_a_page_for_every_command() {
    let home = Home::new();
    let folder = home.path().join("man");
    let output = home.run_palazzo(&["man", folder.to_str().unwrap()]);
    assert!(output.status.success(), "{output:?}");
    for page in ["palazzo.1", "palazzo-serve.1", "palazzo-import-memory.1"] {
        let text = fs::read_to_string(folder.join(page)).unwrap();
        assert!(text.contains(".SH SYNOPSIS"), "{page}: {text}");
    }
}

/// README, CONTRIBUTING and every page of the book.
fn pages() -> Vec<PathBuf> {
    let book = fs::read_dir("docs").unwrap().map(|it| it.unwrap().path());
    let book = book.filter(|it| it.extension().is_some_and(|it| it == "md"));
    let mut pages: Vec<_> = book.chain([PathBuf::from("README.md")]).collect();
    pages.push("CONTRIBUTING.md".into());
    pages.sort();
    pages
}

/// Yields the info string and the text of every fenced block.
fn code_blocks(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split("\n```").skip(1).step_by(2).filter_map(|it| it.split_once('\n'))
}

fn links(text: &str) -> impl Iterator<Item = &str> {
    let outside_code = text.split("\n```").step_by(2);
    let links = outside_code.flat_map(|it| it.split("](").skip(1));
    links.filter_map(|it| it.split_once(')')).map(|(link, _)| link).filter(|it| !it.contains("://"))
}

/// Yields the anchors of the headings, as `GitHub` and `mdBook` make them.
fn headings(text: &str) -> impl Iterator<Item = String> {
    let outside_code = text.split("\n```").step_by(2);
    let lines = outside_code.flat_map(str::lines).filter(|it| it.starts_with('#'));
    lines.map(|it| {
        let kept = it.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        kept.chars().filter(|it| it.is_alphanumeric() || "-_".contains(*it)).collect()
    })
}

/// Runs the commands of a page in a fresh home directory, with the program on `PATH`.
fn run_script(page: &Path, script: &str) {
    let folder = tempfile::tempdir().unwrap();
    let config = "[user]\nname = Ada\nemail = ada@example.org\n[init]\ndefaultBranch = main\n\
                  [maintenance]\nauto = false\n";
    fs::write(folder.path().join(".gitconfig"), config).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_palazzo")).parent().unwrap();
    let paths = std::env::var("PATH").unwrap();
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c", script])
        .current_dir(folder.path())
        .env_clear()
        .env("HOME", folder.path())
        .env("USER", "ada")
        .env("PALAZZO_NOW", MARCH_1)
        .env("PATH", format!("{}:{paths}", program.display()))
        .output()
        .unwrap();
    let page = page.display();
    assert!(output.status.success(), "{page}: {output:?}\n{script}");
}

/// Lists the names below `Commands:` in a help page.
fn subcommands(help: &str) -> Vec<String> {
    let Some((_, commands)) = help.split_once("\nCommands:\n") else { return Vec::new() };
    let lines = commands.lines().take_while(|it| !it.is_empty());
    let names = lines.filter(|it| it.starts_with("  ") && !it.starts_with("   "));
    let names = names.filter_map(|it| it.split_whitespace().next());
    names.filter(|it| *it != "help").map(str::to_owned).collect()
}

fn tool_section(tool: &Value) -> String {
    let text = |key: &str| tool[key].as_str().unwrap_or_default();
    let mut section = format!("\n### {}\n\n{}\n", text("name"), text("description"));
    let effects = [
        ("readOnlyHint", "reads only"),
        ("destructiveHint", "may remove or overwrite"),
        ("idempotentHint", "a second call changes nothing more"),
    ];
    let effects = effects.iter().filter(|(key, _)| tool["annotations"][*key] == true);
    let effects: Vec<_> = effects.map(|(_, effect)| *effect).collect();
    if !effects.is_empty() {
        section += &format!("\nEffect: {}.\n", effects.join("; "));
    }
    let schema = &tool["inputSchema"];
    let Some(properties) = schema["properties"].as_object().filter(|it| !it.is_empty()) else {
        return section + "\nNo parameters.\n";
    };
    section += "\n| parameter | type | required | description |\n| --- | --- | --- | --- |\n";
    section + &parameter_rows(schema, schema, properties, "")
}

/// Returns a row for each property, and below it one for each field of the objects it contains.
fn parameter_rows(
    root: &Value,
    schema: &Value,
    properties: &serde_json::Map<String, Value>,
    prefix: &str,
) -> String {
    let mut rows = String::new();
    for (name, property) in properties {
        let is_required =
            schema["required"].as_array().is_some_and(|it| it.contains(&name[..].into()));
        let required = if is_required { "yes" } else { "" };
        let description = property["description"].as_str().unwrap_or_default().replace('\n', " ");
        let description = description.replace('|', "\\|");
        let kind = type_name(root, property).replace('|', "\\|");
        rows += &format!("| `{prefix}{name}` | {kind} | {required} | {description} |\n");
        let inner = definition(root, property);
        let (inner, mark) = match inner["items"].is_object() {
            true => (definition(root, &inner["items"]), "[]"),
            false => (inner, ""),
        };
        if let Some(fields) = inner["properties"].as_object() {
            rows += &parameter_rows(root, inner, fields, &format!("{prefix}{name}{mark}."));
        }
    }
    rows
}

/// Follows a reference to a definition, alone or beside `null`.
fn definition<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    if let Some(path) = schema["$ref"].as_str() {
        return root.pointer(path.trim_start_matches('#')).unwrap_or(schema);
    }
    let alternatives = schema["anyOf"].as_array().or(schema["oneOf"].as_array());
    let mut others = alternatives.into_iter().flatten().filter(|it| it["type"] != "null");
    match (others.next(), others.next()) {
        (Some(only), None) => definition(root, only),
        _ => schema,
    }
}

fn type_name(root: &Value, property: &Value) -> String {
    let property = definition(root, property);
    if let Some(values) = property["enum"].as_array() {
        let values = values.iter().filter_map(Value::as_str).map(|it| format!("`{it}`"));
        return values.collect::<Vec<_>>().join(" or ");
    }
    let alternatives = property["anyOf"].as_array().or(property["oneOf"].as_array());
    match (&property["type"], alternatives) {
        (Value::String(name), _) if name == "array" => {
            format!("array of {}", type_name(root, &property["items"]))
        }
        (Value::String(name), _) => name.clone(),
        (Value::Array(names), _) => {
            let names: Vec<_> = names.iter().filter_map(Value::as_str).collect();
            names.into_iter().filter(|it| *it != "null").collect::<Vec<_>>().join(" or ")
        }
        (_, Some(alternatives)) => {
            let names = alternatives.iter().map(|it| type_name(root, it)).filter(|it| it != "null");
            names.collect::<Vec<_>>().join(" or ")
        }
        _ => "any".to_owned(),
    }
}

fn without_trailing_blanks(text: &str) -> String {
    text.trim_end().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn assert_page_is_current(place: &str, page: &str) {
    if std::env::var_os(WRITE).is_some() {
        fs::write(place, page).unwrap();
    }
    let kept = fs::read_to_string(place).unwrap_or_default().replace("\r\n", "\n");
    assert!(
        kept == page,
        "{place} is out of date: {WRITE}=1 cargo test --test stories reference_is"
    );
}
