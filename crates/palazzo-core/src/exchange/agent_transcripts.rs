//! Parses the transcripts of Claude Code and Codex: one JSON object per line.

use std::collections::HashSet;

use crate::exchange::conversation::{LeftOutParts, Part, parse_timestamp};
use serde_json::Value;

use crate::exchange::ExtractionResult;
use crate::exchange::conversation::{Message, Speaker, exchange_title, split_into_exchanges};

/// The room for conversations without a title.
const DEFAULT_ROOM: &str = "conversations";

/// The beginnings of texts that older versions of this program left out.
const OLDER_MACHINE_PREFIXES: &[&str] = &[
    "<command-",
    "<local-command-",
    "<system-reminder>",
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
];

/// The marks of lines that Claude Code does not show as said by anybody, or that are to or from a
/// subagent.
const HIDDEN_MARKS: &[&str] = &["isMeta", "isSidechain", "isCompactSummary"];

/// The marks of lines that Claude Code wrote itself.
const MACHINE_MARKS: &[&str] = &["isApiErrorMessage", "isVisibleInTranscriptOnly", "isSynthetic"];

/// The model that Claude Code names in answers which it wrote itself.
const NO_MODEL: &str = "<synthetic>";

/// The types of lines without a message, by which transcripts of Claude Code are recognised if they
/// have a session.
const CLAUDE_CODE_TYPES: &[&str] = &[
    "agent-name",
    "ai-title",
    "attachment",
    "custom-title",
    "file-history-snapshot",
    "last-prompt",
    "mode",
    "permission-mode",
    "progress",
    "queue-operation",
    "system",
];

/// The types of lines with a title of the conversation, and its key; the best first.
const TITLE_TYPES: &[(&str, &str)] =
    &[("custom-title", "customTitle"), ("ai-title", "aiTitle"), ("summary", "summary")];

/// Parses a transcript of Claude Code or Codex; `None` if it is neither. Lines that are not
/// JSON objects are reported by number.
pub(crate) fn parse_transcript(text: &str) -> Option<ExtractionResult> {
    let (lines, mut faults) = parse_json_lines(text);
    let mut left_out = LeftOutParts::default();
    let parse = |it| {
        let message = parse_claude_code_line(it, &mut left_out);
        let message = message.or_else(|| parse_codex_line(it, &mut left_out));
        message.or_else(|| parse_queued_message(it, &lines, &mut left_out))
    };
    let mut turns: Vec<_> = lines.iter().filter_map(parse).collect();
    if turns.is_empty() && !lines.iter().any(is_transcript_line) {
        return None;
    }
    if lines.iter().any(|it| it.pointer("/payload/source/subagent").is_some()) {
        for it in &mut turns {
            it.text.clear();
        }
    }
    let folder = lines.iter().find_map(|it| {
        let folder = it.get("cwd").or_else(|| it.pointer("/payload/cwd"))?.as_str()?;
        folder.rsplit(['/', '\\']).find(|it| !it.is_empty())
    });
    let mut texts = split_into_exchanges(folder, DEFAULT_ROOM, &turns);
    if let Some(title) = conversation_title(&lines) {
        for it in &mut texts {
            it.title = Some(exchange_title(title, &it.text));
        }
    }
    faults.extend(left_out.faults());
    faults.extend(left_out.no_text_fault().filter(|_| texts.is_empty()));
    Some(ExtractionResult { texts, faults, left_out: left_out.media, ..Default::default() })
}

/// Returns the title of a conversation in Claude Code: the last one that the person gave, else that of
/// the program, else its last summary.
fn conversation_title(lines: &[Value]) -> Option<&str> {
    let ids: HashSet<_> = lines.iter().filter_map(|it| it.get("uuid")?.as_str()).collect();
    // A summary of another conversation names a message of that one.
    let is_here = |it: &&Value| {
        it.get("leafUuid").and_then(Value::as_str).is_none_or(|leaf| ids.contains(leaf))
    };
    let title = |kind: &str, key: &str| {
        let last = lines.iter().rev().filter(|it| it["type"] == kind).find(is_here);
        last?.get(key)?.as_str().map(str::trim).filter(|it| !it.is_empty())
    };
    TITLE_TYPES.iter().find_map(|(kind, key)| title(kind, key))
}

fn parse_json_lines(text: &str) -> (Vec<Value>, Vec<String>) {
    let (mut objects, mut faults) = (Vec::new(), Vec::new());
    for (line, number) in text.split_inclusive('\n').zip(1..) {
        match serde_json::from_str::<Value>(line.trim_end()) {
            Ok(it) if it.is_object() => objects.push(it),
            Ok(_) => faults.push(format!("line {number}: this is not a JSON object")),
            // In a running conversation, the last line may be incomplete.
            Err(_) if line.trim().is_empty() || !line.ends_with('\n') => {}
            Err(err) => {
                faults.push(format!("line {number}: this is not JSON (column {})", err.column()));
            }
        }
    }
    (objects, faults)
}

/// Returns true if one of the two programs writes such a line. Many programs write a `sessionId`.
fn is_transcript_line(line: &Value) -> bool {
    let Some(kind) = line.get("type").and_then(Value::as_str) else { return false };
    match kind {
        "user" | "assistant" => line.pointer("/message/content").is_some(),
        "summary" => line.get("summary").is_some_and(Value::is_string),
        "session_meta" | "response_item" | "event_msg" | "turn_context" => {
            line.get("payload").is_some_and(Value::is_object)
        }
        _ => {
            let is_known = CLAUDE_CODE_TYPES.contains(&kind) || line.get("parentUuid").is_some();
            is_known && line.get("sessionId").is_some()
        }
    }
}

/// Parses the message in a line of Claude Code, without thinking, tool calls, tool results,
/// and messages to or from subagents.
fn parse_claude_code_line(line: &Value, left_out: &mut LeftOutParts) -> Option<Message> {
    let is_set = |key: &&str| line.get(*key) == Some(&Value::Bool(true));
    if HIDDEN_MARKS.iter().any(is_set) {
        return None;
    }
    let text_at = |path: &str| line.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let is_by_machine = MACHINE_MARKS.iter().any(is_set)
        || text_at("/message/model") == NO_MODEL
        || text_at("/origin/kind").ends_with("notification");
    let role = line.get("type")?.as_str()?;
    let content = line.pointer("/message/content")?;
    if !matches!(role, "user" | "assistant") {
        left_out.count(role);
    }
    parse_message(role, content, line, (!is_by_machine).then_some(left_out))
}

/// Parses what a person wrote to Claude Code while it was working, unless another of the `lines`
/// repeats it. Older versions of this program left it out.
fn parse_queued_message(
    line: &Value,
    lines: &[Value],
    left_out: &mut LeftOutParts,
) -> Option<Message> {
    let attached = line.get("attachment").filter(|it| it["type"] == "queued_command")?;
    let mode = attached.get("commandMode").and_then(Value::as_str).unwrap_or("prompt");
    let is_sidechain = line.get("isSidechain") == Some(&Value::Bool(true));
    let prompt = attached.get("prompt").filter(|_| mode == "prompt" && !is_sidechain)?;
    let repeats = |it: &Value| it["type"] == "user" && it["message"]["content"] == *prompt;
    if lines.iter().any(repeats) {
        return None;
    }
    let message = parse_message("user", prompt, line, Some(left_out))?;
    Some(Message { older_text: String::new(), ..message })
}

/// Parses the message in a line of Codex, of any version.
fn parse_codex_line(line: &Value, left_out: &mut LeftOutParts) -> Option<Message> {
    let item = if line.get("type")? == "response_item" { line.get("payload")? } else { line };
    if item.get("type")? != "message" {
        return None;
    }
    parse_message(item.get("role")?.as_str()?, item.get("content")?, line, Some(left_out))
}

/// Parses a message. One without `left_out` is by a machine, and its text is only what older versions
/// filed.
fn parse_message(
    role: &str,
    content: &Value,
    line: &Value,
    left_out: Option<&mut LeftOutParts>,
) -> Option<Message> {
    let speaker = match role {
        "user" => Speaker::User,
        "assistant" => Speaker::Assistant,
        _ => return None,
    };
    let parts: Vec<_> = match content {
        Value::String(text) => vec![Part::Text(text)],
        Value::Array(blocks) => blocks.iter().map(|it| Part::parse(it, "type")).collect(),
        _ => return None,
    };
    let parts = parts.into_iter().map(|it| match it {
        Part::Text(text) if is_machine_text(text) => {
            command_arguments(text).map_or(Part::Machine, Part::Text)
        }
        Part::Text(text) => Part::Text(without_editor_context(text)),
        other => other,
    });
    let texts = left_out.map(|it| it.texts(parts)).unwrap_or_default();
    let text = texts.join("\n\n");
    let older_text = older_text(content);
    if text.trim().is_empty() && older_text.is_empty() {
        return None;
    }
    let at = line.get("timestamp").and_then(Value::as_str);
    Some(Message { speaker, text, older_text, at: at.and_then(parse_timestamp) })
}

/// Returns the text that older versions of this program filed of a message.
fn older_text(content: &Value) -> String {
    let texts = match content {
        Value::String(text) => vec![text.as_str()],
        Value::Array(blocks) => blocks.iter().filter_map(older_block_text).collect(),
        _ => Vec::new(),
    };
    let is_message = |it: &&str| {
        let start = it.trim_start();
        !start.is_empty() && !OLDER_MACHINE_PREFIXES.iter().any(|prefix| start.starts_with(prefix))
    };
    texts.into_iter().filter(is_message).collect::<Vec<_>>().join("\n\n")
}

fn older_block_text(block: &Value) -> Option<&str> {
    let is_text = matches!(block.get("type")?.as_str()?, "text" | "input_text" | "output_text");
    block.get("text").and_then(Value::as_str).filter(|_| is_text)
}

/// The beginnings of the names of tags that programs put around such texts.
const TAG_FAMILIES: &[&str] = &["command-", "local-command-", "bash-", "ide_"];

/// The names of other such tags.
const TAGS: &[&str] = &[
    "INSTRUCTIONS",
    "agent-notification",
    "environment_context",
    "environment_details",
    "new-diagnostics",
    "persisted-output",
    "post-tool-use-hook",
    "session-start-hook",
    "skill",
    "subagent_notification",
    "system-reminder",
    "task-notification",
    "teammate-message",
    "tool_use_error",
    "turn_aborted",
    "user-memory-input",
    "user-prompt-submit-hook",
    "user_action",
    "user_instructions",
    "user_shell_command",
];

/// The beginnings of notices without a tag, which are the whole text.
const NOTICES: &[&str] = &[
    "Caveat: The messages below were generated by the user while running local commands.",
    "This session is being continued from a previous conversation that ran out of context.",
];

/// The lines that may follow a notification.
const AFTER_NOTIFICATION: &[&str] =
    &["Full transcript available at: ", "Read the output file to retrieve the result: "];

/// The start of the context that the Codex extension of an editor puts before a request, and the
/// heading of the request.
const EDITOR_CONTEXT: (&str, &str) =
    ("# Context from my IDE setup:", "\n## My request for Codex:\n");

/// Returns true if nothing in a text is by a person: it is one element with a known tag, or several.
/// A sentence about such a tag is by a person.
fn is_machine_text(text: &str) -> bool {
    let text = text.trim();
    let is_interruption = text.starts_with("[Request interrupted by user")
        && text.find(']') == text.len().checked_sub(1);
    let is_project_file =
        text.starts_with("# AGENTS.md instructions") && text.ends_with("</INSTRUCTIONS>");
    let mut rest = text;
    while let Some((name, after)) = split_known_element(rest) {
        rest = after.trim_start();
        let is_line = |it: &&&str| rest.starts_with(**it) && !rest.contains('\n');
        if name.ends_with("notification") && AFTER_NOTIFICATION.iter().any(|it| is_line(&it)) {
            return true;
        }
    }
    rest.is_empty()
        || is_interruption
        || is_project_file
        || NOTICES.iter().any(|it| text.starts_with(it))
}

/// Returns what a person wrote behind a command: `the page` of `/review the page`.
fn command_arguments(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("<command-args>")?;
    let (arguments, _) = rest.split_once("</command-args>")?;
    Some(arguments.trim()).filter(|it| !it.is_empty())
}

/// Returns the request in a text that begins with the context of an editor; other texts unchanged.
fn without_editor_context(text: &str) -> &str {
    let (start, heading) = EDITOR_CONTEXT;
    let request = text.split_once(heading).filter(|_| text.trim_start().starts_with(start));
    request.map_or(text, |(_, request)| request)
}

/// Splits a text after the element that it begins with, if its tag is known; returns the name of the
/// tag and the rest.
fn split_known_element(text: &str) -> Option<(&str, &str)> {
    let tag = text.strip_prefix('<')?;
    let name = &tag[..tag.find(|it: char| it == '>' || it.is_whitespace())?];
    let is_known = TAGS.contains(&name) || TAG_FAMILIES.iter().any(|it| name.starts_with(it));
    if !is_known {
        return None;
    }
    let (open, close) = (format!("<{name}"), format!("</{name}>"));
    let (mut at, mut depth) = (open.len(), 1_usize);
    while depth > 0 {
        let end = at + text[at..].find(&close)?;
        depth += text[at..end].matches(&open).count();
        depth -= 1;
        at = end + close.len();
    }
    Some((name, &text[at..]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Parses lines; returns the texts with the messages about what was left out.
    fn shown(lines: &[Value]) -> Option<String> {
        let lines = lines.iter().map(|it| format!("{it}\n"));
        let ExtractionResult { texts, faults, left_out, .. } =
            parse_transcript(&lines.collect::<String>())?;
        let left_out = left_out.iter().map(|(kind, count)| format!("left out: {kind} {count}"));
        let texts = texts.into_iter().map(|it| it.text.trim_end().replace('\n', " | "));
        Some(texts.chain(faults).chain(left_out).collect::<Vec<_>>().join("\n"))
    }

    fn claude(kind: &str, content: impl Into<Value>) -> Value {
        let content = content.into();
        json!({ "type": kind, "sessionId": "s", "message": { "role": kind, "content": content } })
    }

    fn with(mut line: Value, key: &str, value: Value) -> Value {
        line[key] = value;
        line
    }

    #[test]
    fn what_claude_code_inserts_is_left_out_of_an_exchange() {
        let text = |it: &str| json!({ "type": "text", "text": it });
        let opened = "<ide_opened_file>The user opened a.rs.</ide_opened_file>";
        let quote = "Why does <system-reminder>x</system-reminder> appear?";
        let error =
            with(claude("assistant", json!("API Error: 500")), "isApiErrorMessage", json!(true));
        let meta = with(claude("user", json!("Caveat")), "isMeta", json!(true));
        let summary = with(claude("user", json!("We dug.")), "isCompactSummary", json!(true));
        let lines = [
            json!({ "type": "summary", "summary": "On seams", "leafUuid": "1" }),
            meta,
            claude("user", json!("<command-name>/clear</command-name>")),
            claude("user", json!("<bash-input>ls</bash-input>")),
            claude("user", json!([text(opened), text("Dig here."), { "type": "image" }])),
            claude("assistant", json!([{ "type": "thinking", "thinking": "Hm." }, text("I dig.")])),
            claude("user", json!([{ "type": "tool_result", "content": "coal" }])),
            claude("user", json!("<task-notification>done</task-notification>")),
            claude("assistant", json!([text("Coal."), { "type": "tool_use", "name": "Bash" }])),
            error,
            summary,
            claude("user", json!([text("[Request interrupted by user]")])),
            claude("user", json!(quote)),
            claude("assistant", json!([{ "type": "hologram", "shape": "cube" }])),
        ];
        insta::assert_snapshot!(shown(&lines).unwrap(), @"
        User: | Dig here. |  | Assistant: | I dig. |  | Coal.
        User: | Why does <system-reminder>x</system-reminder> appear?
        parts of the unknown kind `hologram` are left out: 1
        left out: image 1
        ");
    }

    #[test]
    fn what_a_person_wrote_while_claude_code_worked_is_filed() {
        let queued = |prompt: &str, mode: &str| {
            json!({ "type": "attachment", "sessionId": "s",
                "attachment": { "type": "queued_command", "prompt": prompt, "commandMode": mode } })
        };
        let lines = [
            claude("user", json!("Dig.")),
            claude("assistant", json!("I dig.")),
            queued("Deeper.", "prompt"),
            queued("Repeated.", "prompt"),
            queued("A process has ended.", "task-notification"),
            claude("assistant", json!("Coal.")),
            claude("user", json!("Repeated.")),
        ];
        insta::assert_snapshot!(shown(&lines).unwrap(), @"
        User: | Dig. |  | Assistant: | I dig.
        User: | Deeper. |  | Assistant: | Coal.
        User: | Repeated.
        ");
    }

    #[test]
    fn a_conversation_has_the_best_of_its_titles() {
        let title = |kind: &str, key: &str, title: &str| json!({ "type": kind, key: title });
        let [custom, ai, summary] = [
            title("custom-title", "customTitle", "Seams of March"),
            title("ai-title", "aiTitle", "Digging deeper"),
            title("summary", "summary", "On seams"),
        ];
        let asked = with(claude("user", "Dig here.\nNow."), "uuid", json!("1"));
        let titles = |lines: &[&Value]| {
            let lines = lines.iter().copied().chain([&asked]).map(|it| format!("{it}\n"));
            let texts = parse_transcript(&lines.collect::<String>()).unwrap().texts;
            texts.into_iter().map(|it| it.title).collect::<Vec<_>>()
        };
        let some = |it: &str| [Some(format!("{it} › Dig here."))];
        assert_eq!(titles(&[&custom, &ai, &summary]), some("Seams of March"));
        assert_eq!(titles(&[&summary, &ai]), some("Digging deeper"));
        assert_eq!(titles(&[&summary]), some("On seams"));
        assert_eq!(titles(&[&with(summary.clone(), "leafUuid", json!("1"))]), some("On seams"));
        assert_eq!(titles(&[&with(summary, "leafUuid", json!("2"))]), [None], "another's");
        assert_eq!(
            titles(&[&title("summary", "summary", "Dig here.")]),
            [Some("Dig here.".to_owned())]
        );
        assert_eq!(titles(&[]), [None]);
    }

    #[test]
    fn what_codex_inserts_is_left_out_of_an_exchange() {
        let item = |role: &str, text: &str| {
            json!({ "type": "response_item", "payload":
                { "type": "message", "role": role, "content": [{ "type": "input_text", "text": text }] } })
        };
        let meta = json!({ "type": "session_meta", "payload": { "cwd": "/a" } });
        let asked = "# Context from my IDE setup:\n\n## Active file: a.rs\n\n## My request for Codex:\nDig.";
        let lines = [
            meta,
            item("developer", "<permissions instructions>All.</permissions instructions>"),
            item(
                "user",
                "# AGENTS.md instructions for /a\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>",
            ),
            item("user", "<environment_context>linux</environment_context>"),
            item("user", asked),
            item("assistant", "I dig."),
            item("user", "<turn_aborted>The user interrupted.</turn_aborted>"),
            item("user", "# AGENTS.md instructions are too long."),
            json!({ "type": "event_msg", "payload": { "type": "user_message", "message": "Dig." } }),
        ];
        insta::assert_snapshot!(shown(&lines).unwrap(), @"
        User: | Dig. |  | Assistant: | I dig.
        User: | # AGENTS.md instructions are too long.
        ");
        let source = json!({ "subagent": "review" });
        let agent = json!({ "type": "session_meta", "payload": { "source": source } });
        assert_eq!(shown(&[agent, item("user", "Review it.")]).unwrap(), "");
    }

    #[test]
    fn a_file_that_only_looks_like_a_transcript_is_none() {
        for line in [
            json!({ "sessionId": "s", "event": "click" }),
            json!({ "type": "user", "sessionId": "s", "name": "Ada" }),
            json!({ "type": "message", "sessionId": "s", "text": "started" }),
            json!({ "type": "summary", "count": 3 }),
        ] {
            assert_eq!(shown(&[line]), None);
        }
        let line = json!({ "type": "file-history-snapshot", "sessionId": "s" });
        assert_eq!(shown(&[line]).as_deref(), Some(""));
    }

    #[test]
    fn a_transcript_whose_messages_have_no_text_is_a_fault() {
        let image = json!([{ "type": "image" }]);
        insta::assert_snapshot!(shown(&[claude("user", image)]).unwrap(), @"
        none of its messages has a text: 1
        left out: image 1
        ");
        let notice = claude("user", json!("<bash-input>ls</bash-input>"));
        assert_eq!(shown(&[notice]).unwrap(), "");
    }

    #[test]
    fn a_text_within_known_tags_is_by_a_machine() {
        for it in [
            "<command-name>/clear</command-name>\n  <command-args></command-args>",
            "<local-command-stdout>1\n2</local-command-stdout>\n",
            "<ide_opened_file>The user opened a.rs.</ide_opened_file>",
            "<ide_selection>The user selected lines 1 to 3.</ide_selection>",
            "<bash-input>ls</bash-input>",
            "<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>",
            "<system-reminder>of <system-reminder>one</system-reminder></system-reminder>",
            "<teammate-message from=\"eve\">Done.</teammate-message>",
            "<task-notification>\n<status>completed</status>\n</task-notification>\nFull transcript \
             available at: /tmp/a.output",
            "[Request interrupted by user]",
            "[Request interrupted by user for tool use]",
            "# AGENTS.md instructions for /a\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>",
            "<environment_context>linux</environment_context>",
            " ",
        ] {
            assert!(is_machine_text(it), "{it}");
        }
    }

    #[test]
    fn a_sentence_about_a_tag_is_by_a_person() {
        for it in [
            "<system-reminder> appears in my log.",
            "<system-reminder>x</system-reminder> appears in my log.",
            "Why does <bash-input>ls</bash-input> print nothing?",
            "<bash-input>ls</bash-input> prints nothing, but <bash-input>pwd</bash-input>",
            "`<command-name>/clear</command-name>`",
            "<kbd>Enter</kbd>",
            "[Request interrupted by user] is what I see [sic]",
            "[Request interrupted by user] is what I see",
            "# AGENTS.md instructions are too long.",
            "<command-",
        ] {
            assert!(!is_machine_text(it), "{it}");
        }
    }

    #[test]
    fn a_person_wrote_the_arguments_of_a_command() {
        let command = |it: &str| {
            format!("<command-name>/review</command-name>\n<command-args>{it}</command-args>")
        };
        assert_eq!(command_arguments(&command(" the page ")), Some("the page"));
        assert_eq!(command_arguments(&command("")), None);
    }

    #[test]
    fn a_request_is_cut_from_the_context_of_an_editor() {
        let text = "# Context from my IDE setup:\n\n## Open tabs:\n- a.rs\n\n\
            ## My request for Codex:\nSort the beds.\n";
        assert_eq!(without_editor_context(text), "Sort the beds.\n");
        let said = "What is\n## My request for Codex:\nfor?";
        assert_eq!(without_editor_context(said), said);
    }
}
