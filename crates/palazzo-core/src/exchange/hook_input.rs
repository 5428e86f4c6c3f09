//! Parses the input of a hook that a host runs after a tool: Claude Code, and Codex, which has the same form.
//!
//! The input is read leniently: a part of a wrong type is as good as missing.

use serde_json::{Map, Value};

/// The tools that run a command.
const COMMAND_TOOLS: [&str; 8] = [
    "bash",
    "exec_command",
    "local_shell",
    "powershell",
    "shell",
    "shell_command",
    "terminal",
    "unified_exec",
];
/// The tools that change the file that they name.
const EDIT_TOOLS: [&str; 4] = ["Edit", "MultiEdit", "NotebookEdit", "Write"];
/// The tool of Codex that changes the files in a patch.
const PATCH_TOOL: &str = "apply_patch";
/// The beginnings of the lines of a patch that name a file.
const PATCH_FILES: [&str; 4] =
    ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "];
/// How many bytes of an error are compared.
const MAX_ERROR_BYTES: usize = 4096;
/// How many bytes of a command are compared.
const MAX_COMMAND_BYTES: usize = 16 * 1024;
/// How many files of a patch are compared.
const MAX_FILES: usize = 100;

/// The input of a hook that a host runs after a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct HookInput {
    /// The id that the host gives the conversation.
    pub session: String,
    /// The working directory of the conversation.
    pub folder: Option<String>,
    /// The name of the event: `PostToolUse` or `PostToolUseFailure`.
    pub event: &'static str,
    tool: String,
    input: Map<String, Value>,
    response: Value,
    failure: Option<String>,
}

/// A write of a tool to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileWrite {
    /// The whole file.
    Content(String),
    /// Parts of it.
    Edits {
        /// The content before, if the host gives it.
        before: Option<String>,
        /// The parts, in order.
        edits: Vec<TextEdit>,
    },
}

/// The replacement of one part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    old: String,
    new: String,
    everywhere: bool,
}

impl HookInput {
    /// Parses the input of a hook; `None` if it is not valid, or no event after a tool.
    pub fn parse(text: &str) -> Option<Self> {
        let Value::Object(mut fields) = serde_json::from_str(text).ok()? else { return None };
        let event = match fields.get("hook_event_name")?.as_str()? {
            "PostToolUse" => "PostToolUse",
            "PostToolUseFailure" => "PostToolUseFailure",
            _ => return None,
        };
        let mut take_text = |key: &str| match fields.remove(key) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        };
        let session = take_text("session_id").filter(|it| !it.is_empty())?;
        let (folder, tool) = (take_text("cwd"), take_text("tool_name")?);
        let failure = take_text("error").filter(|_| event == "PostToolUseFailure");
        let input = match fields.remove("tool_input") {
            Some(Value::Object(input)) => input,
            // Codex may give a patch alone.
            Some(Value::String(text)) => Map::from_iter([("input".to_owned(), text.into())]),
            _ => Map::new(),
        };
        let response = fields.remove("tool_response").unwrap_or_default();
        Some(Self { session, folder, event, tool, input, response, failure })
    }

    /// Returns the command that was run.
    pub fn command(&self) -> Option<String> {
        if !COMMAND_TOOLS.contains(&self.tool.to_ascii_lowercase().as_str()) {
            return None;
        }
        let command = match self.input.get("command").or_else(|| self.input.get("cmd"))? {
            Value::String(command) => command.clone(),
            Value::Array(words) => join_command(words)?,
            _ => return None,
        };
        Some(first_bytes(&command, MAX_COMMAND_BYTES).to_owned())
    }

    /// Returns the paths of the files that were changed, as the host gives them.
    pub fn changed_files(&self) -> Vec<&str> {
        if EDIT_TOOLS.contains(&self.tool.as_str()) {
            let path = |key: &str| self.input.get(key).and_then(Value::as_str);
            return path("file_path").or_else(|| path("notebook_path")).into_iter().collect();
        }
        let texts = ["input", "patch", "command"].iter().filter_map(|key| self.input.get(*key));
        let patch = texts.flat_map(|it| match it {
            Value::Array(words) => words.iter().filter_map(Value::as_str).collect(),
            it => Vec::from_iter(it.as_str()),
        });
        let lines = patch.filter(|_| self.tool == PATCH_TOOL).flat_map(str::lines);
        let path = |line| PATCH_FILES.iter().find_map(|it| str::strip_prefix(line, it));
        lines.filter_map(path).map(str::trim).take(MAX_FILES).collect()
    }

    /// Returns the beginning of the error of the tool; `None` if it has not failed.
    pub fn error(&self) -> Option<String> {
        let error = match self.event {
            "PostToolUseFailure" => self.failure.clone(),
            _ => failed_response(&self.response),
        };
        error.map(|it| first_bytes(&it, MAX_ERROR_BYTES).to_owned())
    }

    /// Returns the path of the one file that a tool has written, and what it has written.
    pub fn written_file(&self) -> Option<(&str, FileWrite)> {
        let text = |key: &str| Some(self.input.get(key)?.as_str()?.to_owned());
        let path = self.input.get("file_path")?.as_str().filter(|_| self.event == "PostToolUse")?;
        let of_response = |key: &str| Some(self.response.get(key)?.as_str()?.to_owned());
        let write = match self.tool.as_str() {
            // The person may have changed what the agent wanted to write.
            "Write" => FileWrite::Content(of_response("content").or_else(|| text("content"))?),
            "Edit" => self.file_edits(vec![TextEdit::parse(&self.input)?]),
            "MultiEdit" => {
                let edits = self.input.get("edits")?.as_array()?.iter();
                self.file_edits(
                    edits.map(|it| TextEdit::parse(it.as_object()?)).collect::<Option<_>>()?,
                )
            }
            _ => return None,
        };
        Some((path, write))
    }

    /// Returns the write of edits. One that replaces nothing has created the file.
    fn file_edits(&self, edits: Vec<TextEdit>) -> FileWrite {
        match edits.as_slice() {
            [TextEdit { old, new, .. }] if old.is_empty() => FileWrite::Content(new.clone()),
            _ => {
                let before = self.response.get("originalFile").and_then(Value::as_str);
                FileWrite::Edits { before: before.map(str::to_owned), edits }
            }
        }
    }
}

impl TextEdit {
    fn parse(fields: &Map<String, Value>) -> Option<Self> {
        let text = |key: &str| Some(fields.get(key)?.as_str()?.to_owned());
        let everywhere = fields.get("replace_all").and_then(Value::as_bool).unwrap_or_default();
        Some(Self { old: text("old_string")?, new: text("new_string")?, everywhere })
    }

    /// Makes the replacement; `None` if the part is not there, or not clear.
    fn apply(&self, text: &str) -> Option<String> {
        replace(text, (&self.old, &self.new), self.everywhere)
    }

    /// Takes the replacement back; `None` as for [`TextEdit::apply`].
    fn undo(&self, text: &str) -> Option<String> {
        replace(text, (&self.new, &self.old), self.everywhere)
    }

    /// Makes several replacements in order.
    pub fn apply_all(edits: &[Self], text: &str) -> Option<String> {
        edits.iter().try_fold(text.to_owned(), |text, edit| edit.apply(&text))
    }

    /// Takes several replacements back: returns a text that they make `text` of.
    pub fn undo_all(edits: &[Self], text: &str) -> Option<String> {
        let before = edits.iter().rev().try_fold(text.to_owned(), |text, edit| edit.undo(&text))?;
        Self::apply_all(edits, &before).filter(|it| it == text).map(|_| before)
    }
}

fn replace(text: &str, (from, to): (&str, &str), everywhere: bool) -> Option<String> {
    let count = if from.is_empty() { 0 } else { text.matches(from).count() };
    let is_clear = if everywhere { count > 0 } else { count == 1 };
    is_clear.then(|| text.replace(from, to))
}

/// Joins the words of a command; of `bash -lc SCRIPT`, returns the script.
fn join_command(words: &[Value]) -> Option<String> {
    let words: Vec<_> = words.iter().map(Value::as_str).collect::<Option<_>>()?;
    match words.as_slice() {
        [_, option, script] if option.starts_with('-') && option.ends_with('c') => {
            Some((*script).to_owned())
        }
        words => Some(words.join(" ")),
    }
}

/// Returns what a tool answered if its answer says that it failed. Words in the output of a tool that has
/// succeeded are no error.
fn failed_response(response: &Value) -> Option<String> {
    match response {
        // Codex may give the answer as JSON in a text, or below a heading of its own.
        Value::String(text) => match serde_json::from_str(text) {
            Ok(fields @ Value::Object(_)) => failed_response(&fields),
            _ => text_has_failure_heading(text).then(|| text.clone()),
        },
        Value::Object(fields) => has_failed(fields).then(|| {
            let keys = ["error", "stderr", "output", "stdout", "content"];
            let texts = keys.iter().filter_map(|key| fields.get(*key)?.as_str());
            texts.collect::<Vec<_>>().join("\n")
        }),
        _ => None,
    }
}

/// Returns whether the fields of an answer say that the tool failed.
fn has_failed(fields: &Map<String, Value>) -> bool {
    let inside = fields.get("metadata").and_then(Value::as_object);
    [Some(fields), inside].into_iter().flatten().any(|fields| {
        let is = |key: &str, value: bool| fields.get(key).and_then(Value::as_bool) == Some(value);
        let codes = ["exit_code", "exitCode", "returncode"];
        let mut codes = codes.iter().filter_map(|key| fields.get(*key)?.as_i64());
        codes.any(|it| it != 0)
            || is("success", false)
            || is("is_error", true)
            || is("isError", true)
    })
}

/// Returns whether the heading of Codex above an output has an exit code other than 0.
fn text_has_failure_heading(text: &str) -> bool {
    const MAX_LINES: usize = 8;
    const LABELS: [&str; 2] = ["Exit code: ", "Process exited with code "];
    let heading = text.lines().take(MAX_LINES).take_while(|it| *it != "Output:");
    let heading: Vec<_> = heading.collect();
    // Without the end of a heading, it is all output.
    let has_end = text.lines().nth(heading.len()) == Some("Output:");
    let mut codes = heading.iter().filter_map(|line| {
        let code = LABELS.iter().find_map(|it| line.strip_prefix(it))?;
        code.trim().parse::<i64>().ok()
    });
    has_end && codes.any(|it| it != 0)
}

/// Returns the beginning of a text, at most so many bytes of whole characters.
fn first_bytes(text: &str, limit: usize) -> &str {
    let end = (0..=limit.min(text.len())).rev().find(|it| text.is_char_boundary(*it));
    &text[..end.unwrap_or_default()]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(tool: &str, input: &Value, response: &Value) -> HookInput {
        let told = json!({
            "session_id": "s", "hook_event_name": "PostToolUse", "cwd": "/p",
            "tool_name": tool, "tool_input": input, "tool_response": response,
        });
        HookInput::parse(&told.to_string()).unwrap()
    }

    #[test]
    fn a_command_is_a_text_or_a_list_of_words() {
        let command = |input: Value| parse("Bash", &input, &Value::Null).command();
        assert_eq!(command(json!({ "command": "cargo build" })).as_deref(), Some("cargo build"));
        let words = json!({ "command": ["bash", "-lc", "cargo build"] });
        assert_eq!(command(words).as_deref(), Some("cargo build"));
        let words = json!({ "command": ["cargo", "build"] });
        assert_eq!(command(words).as_deref(), Some("cargo build"));
        assert_eq!(command(json!({ "command": 1 })), None);
        assert_eq!(command(json!({ "command": ["cargo", 1] })), None);
        assert_eq!(parse("Read", &json!({ "command": "x" }), &Value::Null).command(), None);
    }

    #[test]
    fn changed_files_are_named_by_the_tool_or_its_patch() {
        let files = |tool, input: Value| {
            let input = parse(tool, &input, &Value::Null);
            input.changed_files().join(" ")
        };
        assert_eq!(files("Write", json!({ "file_path": "/p/a" })), "/p/a");
        assert_eq!(files("NotebookEdit", json!({ "notebook_path": "/p/a" })), "/p/a");
        assert_eq!(files("Read", json!({ "file_path": "/p/a" })), "");
        let patch = "*** Begin Patch\n*** Update File: a/b.rs\n@@\n-x\n+*** Add File: no\n\
                     *** Add File: c d\n*** Delete File: e\n*** End Patch\n";
        let expected = "a/b.rs c d e";
        assert_eq!(files("apply_patch", json!(patch)), expected);
        assert_eq!(files("apply_patch", json!({ "input": patch })), expected);
        assert_eq!(files("apply_patch", json!({ "command": ["apply_patch", patch] })), expected);
        assert_eq!(files("Bash", json!({ "command": patch })), "");
    }

    #[test]
    fn an_error_is_that_of_a_failure_or_of_a_response_that_says_so() {
        let error = |response: Value| parse("Bash", &json!({}), &response).error();
        let failed = [
            json!({ "exit_code": 101, "output": "error: x" }),
            json!({ "metadata": { "exit_code": 1 }, "output": "error: x" }),
            json!({ "is_error": true, "content": "error: x" }),
            json!("{\"output\":\"error: x\",\"metadata\":{\"exit_code\":2}}"),
        ];
        for response in failed {
            assert_eq!(error(response.clone()).as_deref(), Some("error: x"), "{response}");
        }
        let heading = |code| json!(format!("Exit code: {code}\nWall time: 1 s\nOutput:\nerror: x"));
        assert!(error(heading(1)).unwrap().contains("error: x"));
        let fine = [
            heading(0),
            json!("Exit code: 1\nerror: x"),
            json!({ "exit_code": 0, "output": "error: x" }),
            json!({ "stdout": "error: x", "stderr": "error", "interrupted": false }),
            json!("error: exit code 1"),
            json!([{ "type": "text", "text": "error" }]),
        ];
        for response in fine {
            assert_eq!(error(response.clone()), None, "{response}");
        }
    }

    #[test]
    fn only_the_beginning_of_an_error_is_compared() {
        let told = json!({
            "session_id": "s", "hook_event_name": "PostToolUseFailure", "tool_name": "Bash",
            "error": "ä".repeat(5_000),
        });
        let error = HookInput::parse(&told.to_string()).unwrap().error().unwrap();
        assert_eq!(error.len(), 4096);
    }

    #[test]
    fn a_written_file_has_its_content_or_its_edits() {
        let written = |tool, input: Value, response: Value| {
            parse(tool, &input, &response).written_file().map(|(path, it)| (path.to_owned(), it))
        };
        let whole = json!({ "file_path": "/a.md", "content": "x" });
        let content = |text: &str| Some(("/a.md".to_owned(), FileWrite::Content(text.to_owned())));
        assert_eq!(written("Write", whole.clone(), Value::Null), content("x"));
        assert_eq!(written("Write", whole.clone(), json!({ "content": "y" })), content("y"));
        assert_eq!(written("Read", whole, Value::Null), None);
        let edit = json!({ "file_path": "/a.md", "old_string": "", "new_string": "x" });
        assert_eq!(written("Edit", edit, Value::Null), content("x"));
        let edit = json!({ "file_path": "/a.md", "old_string": "b", "new_string": "c" });
        let Some((_, FileWrite::Edits { before, edits })) =
            written("Edit", edit, json!({ "originalFile": "abc" }))
        else {
            panic!("no edits");
        };
        assert_eq!(before.as_deref(), Some("abc"));
        assert_eq!(TextEdit::apply_all(&edits, "ab").as_deref(), Some("ac"));
        assert_eq!(TextEdit::undo_all(&edits, "ac").as_deref(), Some("ab"));
        assert_eq!(TextEdit::undo_all(&edits, "ccc"), None, "it is not clear which");
        assert_eq!(TextEdit::undo_all(&edits, "bc"), None, "the edit would not be clear");
    }

    #[test]
    fn an_input_that_is_not_valid_is_none() {
        for told in [
            "",
            "{",
            "[]",
            "null",
            r#"{"hook_event_name":"PostToolUse","tool_name":"Bash"}"#,
            r#"{"session_id":"","hook_event_name":"PostToolUse","tool_name":"Bash"}"#,
            r#"{"session_id":"s","hook_event_name":1,"tool_name":"Bash"}"#,
            r#"{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash"}"#,
            r#"{"session_id":"s","hook_event_name":"PostToolUse","tool_name":[]}"#,
        ] {
            assert_eq!(HookInput::parse(told), None, "{told}");
        }
    }
}
