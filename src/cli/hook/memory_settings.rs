//! The memory of Claude Code in the settings of a project: where it is, and the hooks that commit it.

use serde_json::{Value, json};

use crate::config_edit::{
    ConfigError, ConfigFormat, insert_json_value, insert_list_item, remove_json_value,
    remove_list_items,
};
use palazzo_core::model::quote_for_shell;

/// The key of the folder of the memory.
pub(in crate::cli) const MEMORY_KEY: &str = "autoMemoryDirectory";

/// The parts by which the commands are recognised as ours, whatever the path of the program.
const MEMORY_COMMAND_MARKER: &str = " hook memory --home ";
const ACT_COMMAND_MARKER: &str = " hook act --home ";

/// A hook: its event, the tools at which it runs, its command, and the seconds after which Claude
/// Code continues without it.
type MemoryHook = (&'static str, &'static str, &'static str, u64);

/// The tools that write the memory, and those at which a memory may have something to say.
const WRITING_TOOLS: &str = "Write|Edit|MultiEdit";
const ACTING_TOOLS: &str = "Bash|Edit|MultiEdit|Write|NotebookEdit";

/// The hooks. The end of a conversation has 1.5 seconds unless the hook asks for more.
const HOOKS: [MemoryHook; 6] = [
    ("SessionStart", "startup", MEMORY_COMMAND_MARKER, 10),
    ("PostToolUse", WRITING_TOOLS, MEMORY_COMMAND_MARKER, 10),
    ("PostToolUse", ACTING_TOOLS, ACT_COMMAND_MARKER, 2),
    ("PostToolUseFailure", ACTING_TOOLS, ACT_COMMAND_MARKER, 2),
    ("Stop", "", MEMORY_COMMAND_MARKER, 10),
    ("SessionEnd", "", MEMORY_COMMAND_MARKER, 10),
];

/// Adds the folder of the memory, and the hooks for the palace at `palace`. Fails if the settings
/// have another folder.
pub(in crate::cli) fn insert_memory(
    text: &str,
    folder: &str,
    (program, palace): (&str, &str),
) -> Result<String, String> {
    let settings = ConfigFormat::Json.parse(text).map_err(|it| it.to_string())?;
    reject_wrong_types(&settings)?;
    let mut text = match settings.get(MEMORY_KEY) {
        None => insert_json_value(text, MEMORY_KEY, &folder.into()),
        Some(it) if it == folder => Ok(text.to_owned()),
        Some(other) => return Err(other_folder(other)),
    }
    .map_err(|it| it.to_string())?;
    let [program, palace] = [program, palace].map(quote_for_shell);
    for (event, matcher, marker, timeout) in HOOKS {
        let command = format!("{program}{marker}{palace}");
        let hook = json!({ "type": "command", "command": command, "timeout": timeout });
        let item = json!({ "matcher": matcher, "hooks": [hook] });
        text = insert_list_item(&text, &["hooks", event], &item).map_err(|it| it.to_string())?;
    }
    Ok(text)
}

/// Says what to do about settings that have another folder.
pub(in crate::cli) fn other_folder(other: &Value) -> String {
    format!(
        "it sets `{MEMORY_KEY}` to {other} already; a project has one memory: copy its files into the \
         palace and remove that line, or leave it there"
    )
}

fn reject_wrong_types(settings: &Value) -> Result<(), String> {
    let Some(hooks) = settings.get("hooks") else { return Ok(()) };
    if !hooks.is_object() {
        return Err("`hooks` is not an object".to_owned());
    }
    let is_wrong = |event: &&str| hooks.get(event).is_some_and(|it| !it.is_array());
    match HOOKS.map(|it| it.0).iter().copied().find(is_wrong) {
        Some(event) => Err(format!("`hooks.{event}` is not a list")),
        None => Ok(()),
    }
}

/// Removes the hooks, and the folder of the memory if it is `folder`. All else stays as it is written.
pub(in crate::cli) fn remove_memory(text: &str, folder: &str) -> Result<String, ConfigError> {
    let mut text = text.to_owned();
    for (event, ..) in HOOKS {
        let list = ["hooks", event];
        text = remove_list_items(&text, &list, runs_only_memory_hooks, list.len())?;
        let settings = ConfigFormat::Json.parse(&text)?;
        let matchers = settings["hooks"][event].as_array().map_or(0, Vec::len);
        for index in (0..matchers).map(|it| it.to_string()) {
            let list = ["hooks", event, &index, "hooks"];
            text = remove_list_items(&text, &list, is_memory_hook, 0)?;
        }
    }
    let settings = ConfigFormat::Json.parse(&text)?;
    match settings.get(MEMORY_KEY).is_some_and(|it| it == folder) {
        true => remove_json_value(&text, MEMORY_KEY),
        false => Ok(text),
    }
}

/// Returns the folder of the memory, if the settings have a hook of Palazzo for it.
pub(in crate::cli) fn find_memory_folder(settings: &Value) -> Option<&str> {
    let items =
        HOOKS.iter().filter_map(|(event, ..)| settings.get("hooks")?.get(event)?.as_array());
    let hooks = items.flatten().filter_map(|it| it.get("hooks")?.as_array()).flatten();
    let has_hook = hooks.into_iter().any(is_memory_hook);
    settings.get(MEMORY_KEY).and_then(Value::as_str).filter(|_| has_hook)
}

fn runs_only_memory_hooks(item: &Value) -> bool {
    let hooks = item.get("hooks").and_then(Value::as_array);
    hooks.is_some_and(|it| !it.is_empty() && it.iter().all(is_memory_hook))
}

fn is_memory_hook(hook: &Value) -> bool {
    let command = hook.get("command").and_then(Value::as_str).unwrap_or_default();
    command.contains(MEMORY_COMMAND_MARKER) || command.contains(ACT_COMMAND_MARKER)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOLDER: &str = "/p a/keep/drawers/claude/memory";

    fn insert(text: &str) -> Result<String, String> {
        insert_memory(text, FOLDER, ("/bin/palazzo", "/p a/keep"))
    }

    #[test]
    fn the_folder_and_the_hooks_are_added_and_removed_again() {
        for user in [
            "{\"model\":\"opus\"}",
            "{ \"model\": \"opus\" } // end",
            "{\n  // mine\n}\n",
            "\u{feff}{\r\n\t\"hooks\": {\r\n\t\t// none\r\n\t},\r\n}\r\n",
            "{\"z\": 1.50, \"hooks\": {\"Setup\": [], \"SessionEnd\": [{\"hooks\": []}]},\n\n \"a\": 1}",
        ] {
            let added = insert(user).unwrap();
            let settings = ConfigFormat::Json.parse(&added).unwrap();
            assert_eq!(settings[MEMORY_KEY], FOLDER);
            assert_eq!(find_memory_folder(&settings), Some(FOLDER));
            let after = settings["hooks"]["PostToolUse"].as_array().unwrap();
            assert_eq!(after[0]["matcher"], WRITING_TOOLS);
            let command = "/bin/palazzo hook act --home '/p a/keep'";
            assert_eq!(after[1]["hooks"][0]["command"], command);
            assert_eq!(after[1]["hooks"][0]["timeout"], 2);
            assert_eq!(remove_memory(&added, FOLDER).as_deref(), Ok(user), "{added}");
            assert_eq!(remove_memory(user, FOLDER).as_deref(), Ok(user));
        }
    }

    #[test]
    fn another_folder_and_wrong_types_are_refused() {
        let refused = |text| insert(text).unwrap_err();
        let other = refused("{\"autoMemoryDirectory\": \"~/notes\"}");
        assert!(
            other.starts_with("it sets `autoMemoryDirectory` to \"~/notes\" already"),
            "{other}"
        );
        assert_eq!(refused("{\"hooks\": []}"), "`hooks` is not an object");
        assert_eq!(refused("{\"hooks\": {\"Stop\": 1}}"), "`hooks.Stop` is not a list");
        let mine = "{\"autoMemoryDirectory\": \"~/notes\"}";
        assert_eq!(remove_memory(mine, FOLDER).as_deref(), Ok(mine));
        assert_eq!(find_memory_folder(&ConfigFormat::Json.parse(mine).unwrap()), None);
    }
}
