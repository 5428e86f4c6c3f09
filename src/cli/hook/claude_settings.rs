//! The hooks of Palazzo in the settings of Claude Code: which are ours, and how they are added and
//! removed.

use serde_json::{Value, json};

use crate::cli::hook::start_command::{START_COMMAND_MARKER, StartCommand};
use crate::config_edit::{ConfigError, ConfigFormat, insert_list_item, remove_list_items};
use palazzo_core::model::unquote_for_shell;

/// The hook event at the start of a conversation, and the matcher for the starts with an
/// empty context.
pub(in crate::cli) const START_EVENT: (&str, &str) = ("SessionStart", "startup|clear|compact");

/// The hook events after which the text of a conversation may be lost.
pub(super) const END_EVENTS: [(&str, &str); 2] = [("PreCompact", ""), ("SessionEnd", "")];

/// The part by which the command at the end is recognised as ours, whatever the path of the program.
pub(super) const END_COMMAND_MARKER: &str = " hook session-end --home ";

/// The seconds after which Claude Code continues without the hook's answer.
const HOOK_TIMEOUT_SECS: u64 = 10;

/// Returns the item of the list `hooks.SessionStart` that runs a command.
pub(in crate::cli) fn start_hook_item(command: &StartCommand) -> Value {
    hook_matcher(START_EVENT.1, &command.to_string())
}

/// Returns the events after which a hook of Palazzo may run.
pub(super) fn events() -> impl Iterator<Item = &'static str> {
    std::iter::once(START_EVENT).chain(END_EVENTS).map(|(event, _)| event)
}

/// Returns the commands of the hooks of Palazzo in settings, each with its event.
pub(in crate::cli) fn palazzo_hooks(settings: &Value) -> Vec<(&'static str, &str)> {
    let commands = events().flat_map(|event| {
        let matchers = settings.get("hooks").and_then(|it| it.get(event)?.as_array());
        let hooks = matchers.into_iter().flatten().filter_map(|it| it.get("hooks")?.as_array());
        let ours = hooks.flatten().filter(|it| is_palazzo_hook(it));
        ours.filter_map(move |it| Some((event, it.get("command")?.as_str()?)))
    });
    commands.collect()
}

/// Returns the commands of the hooks of Palazzo at the start of a conversation.
pub(in crate::cli) fn start_commands(settings: &Value) -> Vec<&str> {
    let hooks = palazzo_hooks(settings).into_iter().filter(|(event, _)| *event == START_EVENT.0);
    hooks.map(|(_, command)| command).collect()
}

/// Returns the home in the command of a hook; `None` if only a shell can tell it.
pub(in crate::cli) fn home_of_hook(command: &str) -> Option<String> {
    let rest =
        [START_COMMAND_MARKER, END_COMMAND_MARKER].iter().find_map(|it| command.split_once(it))?.1;
    let ends = rest.match_indices(' ').map(|(at, _)| at).chain([rest.len()]);
    ends.into_iter().find_map(|end| unquote_word(&rest[..end]))
}

/// Returns a word without the quotes of a shell, also if a person has written them.
fn unquote_word(word: &str) -> Option<String> {
    let in_quotes = |quote: char| {
        let inner = word.strip_prefix(quote)?.strip_suffix(quote)?;
        (!inner.contains(['"', '\'', '$', '\\', '`'])).then(|| inner.to_owned())
    };
    unquote_for_shell(word).or_else(|| in_quotes('"')).or_else(|| in_quotes('\''))
}

/// Returns whether an item of the list of an event runs hooks of Palazzo and no others.
pub(in crate::cli) fn runs_only_palazzo_hooks(matcher: &Value) -> bool {
    let hooks = matcher.get("hooks").and_then(Value::as_array);
    hooks.is_some_and(|it| !it.is_empty() && it.iter().all(is_palazzo_hook))
}

fn hook_matcher(matcher: &str, command: &str) -> Value {
    let hook = json!({ "type": "command", "command": command, "timeout": HOOK_TIMEOUT_SECS });
    json!({ "matcher": matcher, "hooks": [hook] })
}

/// Adds hooks to the text of settings; the error names the part that has the wrong type.
pub(super) fn with_hooks(
    mut text: String,
    hooks: &[((&str, &str), String)],
) -> Result<String, String> {
    let settings = ConfigFormat::Json.parse(&text).map_err(|it| it.to_string())?;
    let present = settings.get("hooks");
    if present.is_some_and(|it| !it.is_object()) {
        return Err("`hooks` is not an object".to_owned());
    }
    for ((event, matcher), command) in hooks {
        if present.and_then(|it| it.get(event)).is_some_and(|it| !it.is_array()) {
            return Err(format!("`hooks.{event}` is not a list"));
        }
        let item = hook_matcher(matcher, command);
        text = insert_list_item(&text, &["hooks", event], &item).map_err(|it| it.to_string())?;
    }
    Ok(text)
}

/// Removes every hook of ours from the text of settings, and the lists and objects that become
/// empty. All else stays as it is written.
pub(super) fn without_hooks(text: &str) -> Result<String, ConfigError> {
    let mut text = text.to_owned();
    for event in events() {
        let list = ["hooks", event];
        text = remove_list_items(&text, &list, runs_only_palazzo_hooks, list.len())?;
        let settings = ConfigFormat::Json.parse(&text)?;
        let matchers = settings["hooks"][event].as_array().map_or(0, Vec::len);
        for index in (0..matchers).map(|it| it.to_string()) {
            let list = ["hooks", event, &index, "hooks"];
            text = remove_list_items(&text, &list, is_palazzo_hook, 0)?;
        }
    }
    Ok(text)
}

fn is_palazzo_hook(hook: &Value) -> bool {
    let command = hook.get("command").and_then(Value::as_str).unwrap_or_default();
    command.contains(START_COMMAND_MARKER) || command.contains(END_COMMAND_MARKER)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &str = "/bin/palazzo hook session-start --home /a --budget 300";

    fn hook(command: &str) -> Value {
        json!({ "type": "command", "command": command })
    }

    fn with_start_hook(text: &str) -> Result<String, String> {
        with_hooks(text.to_owned(), &[(START_EVENT, OURS.to_owned())])
    }

    #[test]
    fn a_hook_is_added_after_those_of_the_user() {
        let settings = json!({ "hooks": { "SessionStart": [{ "hooks": [hook("make")] }] } });
        let text = with_start_hook(&settings.to_string()).unwrap();
        let settings = ConfigFormat::Json.parse(&text).unwrap();
        let starts = settings["hooks"]["SessionStart"].as_array().unwrap();
        assert_eq!(starts[0]["hooks"][0], hook("make"));
        assert_eq!(starts[1]["matcher"], "startup|clear|compact");
        let ours = json!({ "type": "command", "command": OURS, "timeout": 10 });
        assert_eq!(starts[1]["hooks"], json!([ours]));
    }

    #[test]
    fn removing_the_hooks_restores_the_settings_of_the_user() {
        let end = format!("palazzo{END_COMMAND_MARKER}/a");
        let hooks = [START_EVENT, END_EVENTS[0], END_EVENTS[1]].map(|it| (it, end.clone()));
        for user in [
            "{\"model\":\"opus\"}",
            "{ \"model\": \"opus\" } // end",
            "{\n  // mine\n}\n",
            "\u{feff}{\r\n\t\"hooks\": {\r\n\t\t// none\r\n\t},\r\n}\r\n",
            "{\"z\": 1.50, \"hooks\": {\"Stop\": [], \"SessionEnd\": [{\"hooks\": []}]},\n\n \"a\": 1}",
            "{\n  \"hooks\": {\n    \"SessionStart\": [\n      /* old */ { \"hooks\": [] }, // why\n    ],\n  },\n}\n",
        ] {
            let changed = with_hooks(user.to_owned(), &hooks).unwrap();
            let settings = ConfigFormat::Json.parse(&changed).unwrap();
            assert_eq!(palazzo_hooks(&settings).len(), 3, "{changed}");
            assert_eq!(without_hooks(&changed).as_deref(), Ok(user));
            assert_eq!(without_hooks(user).as_deref(), Ok(user));
        }
    }

    #[test]
    fn a_hook_beside_ours_in_one_matcher_is_kept() {
        let other = "{ \"command\": \"make\" } /* x */";
        let settings = |hooks: &str| {
            format!(
                "{{\"hooks\": {{\"SessionStart\": [{{\"matcher\": \"clear\",\n \"hooks\": [{hooks}]}}]}}}}"
            )
        };
        let ours = hook(OURS);
        for both in [format!("{other}, {ours}, {ours}"), format!("{ours},{other}")] {
            assert_eq!(without_hooks(&settings(&both)), Ok(settings(other)));
        }
    }

    #[test]
    fn a_hook_is_ours_whatever_the_path_of_the_program() {
        assert!(is_palazzo_hook(&hook("'/a b/pal' hook session-end --home ~")));
        for other in [hook("palazzo wake-up"), hook("make hook session-start"), json!({}), json!(1)]
        {
            assert!(!is_palazzo_hook(&other), "{other}");
        }
    }

    #[test]
    fn the_home_of_a_hook_is_read_also_when_somebody_has_changed_it() {
        for (command, home) in [
            (OURS, Some("/a")),
            ("A=1 pal hook session-start --home '/a b' | head", Some("/a b")),
            ("pal hook session-end --home '/it'\\''s c'", Some("/it's c")),
            ("pal hook session-start --home \"/a b\"", Some("/a b")),
            ("pal hook session-start --home '/a' -x", Some("/a")),
            ("pal hook session-end --home $HOME/a", None),
            ("pal hook session-end --home \"$HOME/a\"", None),
            ("palazzo wake-up", None),
        ] {
            assert_eq!(home_of_hook(command).as_deref(), home, "{command}");
        }
    }

    #[test]
    fn settings_of_a_wrong_type_are_refused_and_named() {
        let refused = |text| with_start_hook(text).unwrap_err();
        assert_eq!(refused("{\"hooks\": []}"), "`hooks` is not an object");
        let wrong = "{\"hooks\": {\"SessionStart\": {}}}";
        assert_eq!(refused(wrong), "`hooks.SessionStart` is not a list");
        assert_eq!(without_hooks(wrong).as_deref(), Ok(wrong));
    }

    #[test]
    fn blank_settings_are_empty_and_broken_ones_are_refused() {
        for blank in ["", " \n"] {
            let added = with_start_hook(blank).unwrap();
            assert_eq!(without_hooks(&added), Ok(format!("{blank}{{\n}}\n")));
        }
        for broken in ["[]", "{ \"model\": "] {
            assert!(with_start_hook(broken).is_err(), "{broken}");
        }
    }
}
