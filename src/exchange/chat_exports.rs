//! Parses the data exports of Claude.ai and ChatGPT: all conversations of a user in one
//! JSON file.

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use crate::exchange::conversation::parse_timestamp;
use crate::exchange::conversation::{Message, Speaker, split_into_exchanges};
use crate::exchange::{ExtractedText, ExtractionResult};

/// The title of a conversation without one.
const UNTITLED: &str = "untitled";

/// Parses an export of either service; `None` if it is neither. A conversation in an
/// unknown format is reported by its index in the list.
pub(crate) fn parse_export(text: &str) -> Option<ExtractionResult> {
    let all: Value = serde_json::from_str(text).ok()?;
    let conversations = all.as_array()?;
    let mut extracted = ExtractionResult::default();
    for (index, it) in conversations.iter().enumerate() {
        match parse_claude_ai_conversation(it).or_else(|| parse_chatgpt_conversation(it)) {
            Some(exchanges) => extracted.texts.extend(exchanges),
            None => extracted
                .faults
                .push(format!("[{index}]: it is not a conversation in a known format")),
        }
    }
    let is_export = conversations.is_empty() || extracted.faults.len() < conversations.len();
    is_export.then_some(extracted)
}

fn parse_claude_ai_conversation(conversation: &Value) -> Option<Vec<ExtractedText>> {
    let messages = conversation.get("chat_messages")?.as_array()?.iter();
    let turns: Vec<_> = messages.filter_map(parse_claude_ai_message).collect();
    Some(split_into_exchanges(Some("claude.ai"), conversation_title(conversation, "name"), &turns))
}

fn parse_claude_ai_message(message: &Value) -> Option<Message> {
    let speaker = match message.get("sender")?.as_str()? {
        "human" => Speaker::User,
        "assistant" => Speaker::Assistant,
        _ => return None,
    };
    let blocks = message.get("content").and_then(Value::as_array).into_iter().flatten();
    let texts: Vec<_> = blocks.filter_map(|it| it.get("text")?.as_str()).collect();
    let whole = message.get("text").and_then(Value::as_str).unwrap_or_default();
    let body = if texts.is_empty() { whole.to_owned() } else { texts.join("\n\n") };
    let attached = message.get("attachments").and_then(Value::as_array).into_iter().flatten();
    let parts: Vec<_> = std::iter::once(body).chain(attached.filter_map(attachment_text)).collect();
    let text = parts.join("\n\n");
    let at = message.get("created_at").and_then(Value::as_str).and_then(parse_timestamp);
    Some(Message { speaker, text, at })
}

/// Returns the text of an attachment; Claude.ai stores long pasted texts as attachments.
fn attachment_text(it: &Value) -> Option<String> {
    let text = it.get("extracted_content")?.as_str().filter(|it| !it.trim().is_empty())?;
    let name = it.get("file_name").and_then(Value::as_str).filter(|it| !it.is_empty());
    Some(format!("Attachment {}:\n{text}", name.unwrap_or(UNTITLED)))
}

/// Parses the branch of a conversation that was shown last; edited and repeated questions
/// on other branches are left out.
fn parse_chatgpt_conversation(conversation: &Value) -> Option<Vec<ExtractedText>> {
    let mapping = conversation.get("mapping")?.as_object()?;
    let mut at =
        conversation.get("current_node").and_then(Value::as_str).or_else(|| last_leaf(mapping));
    let mut turns = Vec::new();
    // Bounded by the number of messages, because an invalid file may contain a cycle.
    for _ in 0..mapping.len() {
        let Some(node) = at.and_then(|it| mapping.get(it)) else { break };
        turns.extend(node.get("message").and_then(parse_chatgpt_message));
        at = node.get("parent").and_then(Value::as_str);
    }
    turns.reverse();
    Some(split_into_exchanges(Some("chatgpt"), conversation_title(conversation, "title"), &turns))
}

fn last_leaf(mapping: &Map<String, Value>) -> Option<&str> {
    let has_children =
        |it: &Value| it.get("children").and_then(Value::as_array).is_some_and(|it| !it.is_empty());
    mapping.iter().rev().find(|(_, it)| !has_children(it)).map(|(name, _)| name.as_str())
}

fn parse_chatgpt_message(message: &Value) -> Option<Message> {
    let speaker = match message.pointer("/author/role")?.as_str()? {
        "user" => Speaker::User,
        "assistant" => Speaker::Assistant,
        _ => return None,
    };
    let parts = message.pointer("/content/parts")?.as_array()?.iter();
    let texts: Vec<_> = parts.filter_map(Value::as_str).collect();
    let at = message.get("create_time").and_then(Value::as_f64).and_then(from_unix_seconds);
    Some(Message { speaker, text: texts.join("\n\n"), at })
}

fn from_unix_seconds(seconds: f64) -> Option<DateTime<Utc>> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the cast saturates, and a saturated value is not a valid date"
    )]
    DateTime::from_timestamp(seconds as i64, 0)
}

fn conversation_title<'a>(conversation: &'a Value, key: &str) -> &'a str {
    let title = conversation.get(key).and_then(Value::as_str).map(str::trim);
    title.filter(|it| !it.is_empty()).unwrap_or(UNTITLED)
}
