//! Parses the transcripts of Claude Code and Codex: one JSON object per line.

use crate::exchange::conversation::parse_timestamp;
use serde_json::Value;

use crate::exchange::ExtractionResult;
use crate::exchange::conversation::{Message, Speaker, split_into_exchanges};

/// The room for conversations without a title.
const DEFAULT_ROOM: &str = "conversations";

/// The beginnings of texts that a program inserts in the user's name.
const MACHINE_PREFIXES: &[&str] = &[
    "<command-",
    "<local-command-",
    "<system-reminder>",
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
];

/// Parses a transcript of Claude Code or Codex; `None` if it is neither. Lines that are not
/// JSON objects are reported by number.
pub(crate) fn parse_transcript(text: &str) -> Option<ExtractionResult> {
    let (lines, faults) = parse_json_lines(text);
    let turns: Vec<_> = lines
        .iter()
        .filter_map(|it| parse_claude_code_line(it).or_else(|| parse_codex_line(it)))
        .collect();
    if turns.is_empty() && !lines.iter().any(is_transcript_line) {
        return None;
    }
    let folder = lines.iter().find_map(|it| {
        let folder = it.get("cwd").or_else(|| it.pointer("/payload/cwd"))?.as_str()?;
        folder.rsplit(['/', '\\']).find(|it| !it.is_empty())
    });
    Some(ExtractionResult { texts: split_into_exchanges(folder, DEFAULT_ROOM, &turns), faults })
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

/// Returns true if one of the two programs writes such a line.
fn is_transcript_line(line: &Value) -> bool {
    let kind = line.get("type").and_then(Value::as_str);
    line.get("sessionId").is_some() || kind == Some("session_meta") || kind == Some("summary")
}

/// Parses the message in a line of Claude Code, without thinking, tool calls, tool results,
/// and messages to or from subagents.
fn parse_claude_code_line(line: &Value) -> Option<Message> {
    let is_set = |key: &str| line.get(key) == Some(&Value::Bool(true));
    if ["isMeta", "isSidechain", "isCompactSummary"].into_iter().any(is_set) {
        return None;
    }
    parse_message(line.get("type")?.as_str()?, line.pointer("/message/content")?, line)
}

/// Parses the message in a line of Codex, of any version.
fn parse_codex_line(line: &Value) -> Option<Message> {
    let item = if line.get("type")? == "response_item" { line.get("payload")? } else { line };
    if item.get("type")? != "message" {
        return None;
    }
    parse_message(item.get("role")?.as_str()?, item.get("content")?, line)
}

fn parse_message(role: &str, content: &Value, line: &Value) -> Option<Message> {
    let speaker = match role {
        "user" => Speaker::User,
        "assistant" => Speaker::Assistant,
        _ => return None,
    };
    let texts = match content {
        Value::String(text) => vec![text.as_str()],
        Value::Array(blocks) => blocks.iter().filter_map(block_text).collect(),
        _ => return None,
    };
    let is_message = |it: &&str| {
        let start = it.trim_start();
        !start.is_empty() && !MACHINE_PREFIXES.iter().any(|prefix| start.starts_with(prefix))
    };
    let texts: Vec<_> = texts.into_iter().filter(is_message).collect();
    if texts.is_empty() {
        return None;
    }
    let at = line.get("timestamp").and_then(Value::as_str);
    Some(Message { speaker, text: texts.join("\n\n"), at: at.and_then(parse_timestamp) })
}

fn block_text(block: &Value) -> Option<&str> {
    let is_text = matches!(block.get("type")?.as_str()?, "text" | "input_text" | "output_text");
    block.get("text").and_then(Value::as_str).filter(|_| is_text)
}
