//! Parses the data exports of Claude.ai and ChatGPT: all conversations of a user in one
//! JSON file.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use crate::exchange::ExtractionResult;
use crate::exchange::citations::without_citations;
use crate::exchange::conversation::parse_timestamp;
use crate::exchange::conversation::{Message, Speaker, split_into_exchanges};
use crate::exchange::message_parts::{LeftOutParts, Part};
use crate::exchange::same_titles::separate_same_titles;

/// The title of a conversation without one.
const UNTITLED: &str = "untitled";

/// The maximum number of conversations that a note names.
const MAX_NAMED_CONVERSATIONS: usize = 10;

/// The notice that Claude.ai puts into the text of a message in place of tools.
const UNSUPPORTED_BLOCK: &str = "This block is not supported on your current device yet.";

/// The kinds of contents in which ChatGPT stores what it tells the model of a person.
const CONTEXT_KINDS: &[&str] = &["user_editable_context", "model_editable_context"];

/// A conversation of an export before it is split.
struct Conversation<'a> {
    service: &'static str,
    title: &'a str,
    turns: Vec<Message>,
    left_out: LeftOutParts,
    /// How many messages are on branches that are not shown.
    hidden: usize,
}

/// Parses an export of either service; `None` if it is neither. A conversation in an
/// unknown format, and one whose messages have no text, are reported by index in the list.
pub(crate) fn parse_export(text: &str) -> Option<ExtractionResult> {
    let all: Value = serde_json::from_str(text).ok()?;
    let conversations = all.as_array()?;
    let (mut extracted, mut left_out) = (ExtractionResult::default(), LeftOutParts::default());
    let (mut unknown, mut found, mut hidden) = (0, Vec::new(), Vec::new());
    for (index, it) in conversations.iter().enumerate() {
        let conversation =
            parse_claude_ai_conversation(it).or_else(|| parse_chatgpt_conversation(it));
        let Some(it) = conversation else {
            unknown += 1;
            let why = "it is not a conversation in a known format";
            extracted.faults.push(format!("[{index}]: {why}"));
            continue;
        };
        let exchanges = split_into_exchanges(Some(it.service), it.title, &it.turns);
        let silence = it.left_out.silence().filter(|_| exchanges.is_empty());
        extracted.faults.extend(silence.map(|why| format!("[{index}] \"{}\": {why}", it.title)));
        found.push(exchanges);
        hidden.extend((it.hidden > 0).then_some((it.title, it.hidden)));
        left_out.add(it.left_out);
    }
    separate_same_titles(&mut found);
    extracted.texts = found.concat();
    extracted.faults.extend(left_out.faults());
    extracted.left_out = left_out.media;
    extracted.notes.extend(hidden_branches_note(&hidden));
    let is_export = conversations.is_empty() || unknown < conversations.len();
    is_export.then_some(extracted)
}

/// Returns a note of the messages that are on branches which are not shown; `None` without any.
fn hidden_branches_note(conversations: &[(&str, usize)]) -> Option<String> {
    let count: usize = conversations.iter().map(|it| it.1).sum();
    let named = conversations.iter().take(MAX_NAMED_CONVERSATIONS);
    let named: Vec<_> = named.map(|(title, count)| format!("\"{title}\" {count}")).collect();
    let more = conversations.len() - named.len();
    let more = if more > 0 { format!(" and {more} other conversations") } else { String::new() };
    let named = named.join(", ");
    let what = "messages of branches that are not shown are left out";
    (count > 0).then(|| format!("{what}: {count}, in {named}{more}"))
}

fn parse_claude_ai_conversation(conversation: &Value) -> Option<Conversation<'_>> {
    let messages = conversation.get("chat_messages")?.as_array()?.iter();
    let mut left_out = LeftOutParts::default();
    let turns = messages.filter_map(|it| parse_claude_ai_message(it, &mut left_out)).collect();
    let title = conversation_title(conversation, "name");
    Some(Conversation { service: "claude.ai", title, turns, left_out, hidden: 0 })
}

fn parse_claude_ai_message(message: &Value, left_out: &mut LeftOutParts) -> Option<Message> {
    let speaker = match message.get("sender")?.as_str()? {
        "human" => Speaker::User,
        "assistant" => Speaker::Assistant,
        other => {
            left_out.count(&format!("message by {other}"));
            return None;
        }
    };
    let list = |key: &str| message.get(key).and_then(Value::as_array).into_iter().flatten();
    let attached: Vec<_> = list("attachments").filter_map(attachment_text).collect();
    // Long pasted texts are attachments; of a file, the export has only the name.
    let unread = list("attachments").count() - attached.len() + list("files").count();
    let whole = message.get("text").and_then(Value::as_str).unwrap_or_default();
    let mut parts: Vec<_> = list("content").map(|it| Part::parse(it, "type")).collect();
    if parts.is_empty() {
        parts.push(Part::Text(whole));
    }
    // The older text of a block without a text of its own may stand in that of the message.
    let is_notice =
        |it: &str| it.replace(UNSUPPORTED_BLOCK, "").trim_matches(['`', '\n', ' ']).is_empty();
    if !parts.iter().any(|it| matches!(it, Part::Text(_))) && !is_notice(whole) {
        parts.push(Part::Text(whole));
    }
    parts.extend(attached.iter().map(|it| Part::Text(it)));
    parts.extend((0..unread).map(|_| Part::Other("file")));
    let text = left_out.texts(parts).join("\n\n");
    let at = message.get("created_at").and_then(Value::as_str).and_then(parse_timestamp);
    Some(Message { speaker, text, older_text: older_claude_ai_text(message, &attached), at })
}

/// Returns the text that older versions of this program filed of a message of Claude.ai.
fn older_claude_ai_text(message: &Value, attached: &[String]) -> String {
    let blocks = message.get("content").and_then(Value::as_array).into_iter().flatten();
    let texts: Vec<_> = blocks.filter_map(|it| it.get("text")?.as_str()).collect();
    let whole = message.get("text").and_then(Value::as_str).unwrap_or_default();
    let body = if texts.is_empty() { whole.to_owned() } else { texts.join("\n\n") };
    let parts: Vec<_> = std::iter::once(body).chain(attached.iter().cloned()).collect();
    parts.join("\n\n")
}

/// Returns the text of an attachment; Claude.ai stores long pasted texts as attachments.
fn attachment_text(it: &Value) -> Option<String> {
    let text = it.get("extracted_content")?.as_str().filter(|it| !it.trim().is_empty())?;
    let name = it.get("file_name").and_then(Value::as_str).filter(|it| !it.is_empty());
    Some(format!("Attachment {}:\n{text}", name.unwrap_or(UNTITLED)))
}

/// Parses the branch of a conversation that was shown last; edited and repeated questions
/// on other branches are left out and counted.
fn parse_chatgpt_conversation(conversation: &Value) -> Option<Conversation<'_>> {
    let mapping = conversation.get("mapping")?.as_object()?;
    let mut at =
        conversation.get("current_node").and_then(Value::as_str).or_else(|| last_leaf(mapping));
    let (mut turns, mut left_out) = (Vec::new(), LeftOutParts::default());
    let mut shown = HashSet::new();
    while let Some((name, node)) = at.and_then(|it| mapping.get_key_value(it)) {
        // An invalid file may contain a cycle.
        if !shown.insert(name) {
            break;
        }
        let message = node.get("message");
        turns.extend(message.and_then(|it| parse_chatgpt_message(it, &mut left_out)));
        at = node.get("parent").and_then(Value::as_str);
    }
    turns.reverse();
    let others = mapping.iter().filter(|(name, _)| !shown.contains(name));
    let others = others.filter_map(|(_, node)| {
        parse_chatgpt_message(node.get("message")?, &mut LeftOutParts::default())
    });
    let hidden = others.filter(|it| !it.text.trim().is_empty()).count();
    let title = conversation_title(conversation, "title");
    Some(Conversation { service: "chatgpt", title, turns, left_out, hidden })
}

fn last_leaf(mapping: &Map<String, Value>) -> Option<&str> {
    let has_children =
        |it: &Value| it.get("children").and_then(Value::as_array).is_some_and(|it| !it.is_empty());
    mapping.iter().rev().find(|(_, it)| !has_children(it)).map(|(name, _)| name.as_str())
}

fn parse_chatgpt_message(message: &Value, left_out: &mut LeftOutParts) -> Option<Message> {
    let speaker = match message.pointer("/author/role")?.as_str()? {
        "user" => Speaker::User,
        "assistant" => Speaker::Assistant,
        // What tools and the service say is no conversation.
        "system" | "tool" | "developer" => return None,
        other => {
            left_out.count(&format!("message by {other}"));
            return None;
        }
    };
    let content = message.get("content")?;
    let parts = content.get("parts").and_then(Value::as_array);
    let older_texts: Vec<_> = parts.into_iter().flatten().filter_map(Value::as_str).collect();
    let texts = match is_chatgpt_machine_message(message, content) {
        true => Vec::new(),
        false => left_out.texts(chatgpt_parts(content)),
    };
    let at = message.get("create_time").and_then(Value::as_f64).and_then(from_unix_seconds);
    let [mut text, older_text] = [texts, older_texts].map(|it| it.join("\n\n"));
    if speaker == Speaker::Assistant {
        text = without_citations(&text).into_owned();
    }
    Some(Message { speaker, text, older_text, at })
}

/// Returns true if ChatGPT does not show a message: it is hidden, or for a tool.
fn is_chatgpt_machine_message(message: &Value, content: &Value) -> bool {
    let is_set = |key: &str| message.pointer(key) == Some(&Value::Bool(true));
    let recipient = message.get("recipient").and_then(Value::as_str);
    let kind = content.get("content_type").and_then(Value::as_str).unwrap_or_default();
    is_set("/metadata/is_visually_hidden_from_conversation")
        || is_set("/metadata/is_user_system_message")
        || recipient.is_some_and(|it| it != "all")
        || CONTEXT_KINDS.contains(&kind)
}

/// Returns the parts of a content: texts, transcripts of what was spoken, and others; or the content
/// itself, if it has none.
fn chatgpt_parts(content: &Value) -> Vec<Part<'_>> {
    match content.get("parts").and_then(Value::as_array) {
        Some(parts) => parts.iter().map(|it| Part::parse(it, "content_type")).collect(),
        None => vec![Part::parse(content, "content_type")],
    }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Parses conversations; returns the texts with the messages about what was left out.
    fn shown(conversations: &[Value]) -> String {
        let ExtractionResult { texts, faults, left_out, notes } =
            parse_export(&json!(conversations).to_string()).unwrap();
        let left_out = left_out.iter().map(|(kind, count)| format!("left out: {kind} {count}"));
        let texts = texts.into_iter().map(|it| it.text.trim_end().replace('\n', " | "));
        texts.chain(faults).chain(left_out).chain(notes).collect::<Vec<_>>().join("\n")
    }

    /// A conversation of ChatGPT with messages in their order.
    fn chatgpt(messages: &[Value]) -> Value {
        let node = |(at, message): (usize, &Value)| {
            let parent = at.checked_sub(1).map(|it| it.to_string());
            (at.to_string(), json!({ "message": message, "parent": parent }))
        };
        let mapping: Map<_, _> = messages.iter().enumerate().map(node).collect();
        json!({ "title": "Beds", "mapping": mapping, "current_node": (messages.len() - 1).to_string() })
    }

    fn message(role: &str, content: impl Into<Value>) -> Value {
        let content = content.into();
        json!({ "author": { "role": role }, "content": content })
    }

    fn text(role: &str, text: &str) -> Value {
        message(role, json!({ "content_type": "text", "parts": [text] }))
    }

    #[test]
    fn spoken_messages_of_chatgpt_are_texts() {
        let spoken = |role: &str, text: &str, direction: &str| {
            let transcript = json!({ "content_type": "audio_transcription", "text": text, "direction": direction });
            let sound = json!({ "content_type": "audio_asset_pointer", "asset_pointer": "a" });
            message(
                role,
                json!({ "content_type": "multimodal_text", "parts": [transcript, sound] }),
            )
        };
        let all = [
            spoken("user", "Why is it black?", "in"),
            spoken("assistant", "It is coal.", "out"),
            text("user", "And the grey?"),
            spoken("assistant", "Greywacke.", "out"),
        ];
        insta::assert_snapshot!(shown(&[chatgpt(&all)]), @"
        User: | Why is it black? |  | Assistant: | It is coal.
        User: | And the grey? |  | Assistant: | Greywacke.
        left out: audio_asset_pointer 3
        ");
    }

    #[test]
    fn other_parts_of_chatgpt_are_read_or_counted() {
        let image = json!({ "content_type": "image_asset_pointer", "asset_pointer": "a" });
        let all = [
            message(
                "user",
                json!({ "content_type": "multimodal_text", "parts": [image, "What is this?"] }),
            ),
            message("assistant", json!({ "content_type": "thoughts", "thoughts": [] })),
            message(
                "assistant",
                json!({ "content_type": "code", "language": "rust", "text": "fn dig() {}" }),
            ),
            message(
                "assistant",
                json!({ "content_type": "tether_quote", "title": "Beds", "text": "Coal is old." }),
            ),
            message("assistant", json!({ "content_type": "hologram", "shape": "cube" })),
            message(
                "user",
                json!({ "content_type": "text", "parts": [{ "content_type": "scent" }, "Thanks."] }),
            ),
        ];
        insta::assert_snapshot!(shown(&[chatgpt(&all)]), @"
        User: | What is this? |  | Assistant: | fn dig() {} |  | Coal is old.
        User: | Thanks.
        parts of the unknown kind `hologram` are left out: 1
        parts of the unknown kind `scent` are left out: 1
        left out: image_asset_pointer 1
        ");
    }

    #[test]
    fn hidden_messages_and_those_to_tools_are_no_conversation() {
        let with = |mut message: Value, key: &str, value: Value| {
            message[key] = value;
            message
        };
        let hidden = json!({ "is_visually_hidden_from_conversation": true });
        let context = json!({ "content_type": "user_editable_context", "user_profile": "Ada", "parts": ["Ada"] });
        let all = [
            text("system", "Be brief."),
            message("user", context),
            with(text("user", "Original custom instructions"), "metadata", hidden),
            with(text("user", "Sort the beds."), "recipient", json!("all")),
            with(text("assistant", "search(\"beds\")"), "recipient", json!("browser")),
            with(
                message("assistant", json!({ "content_type": "code", "text": "sort()" })),
                "recipient",
                json!("python"),
            ),
            message("tool", json!({ "content_type": "execution_output", "text": "sorted" })),
            text("assistant", "Sorted."),
        ];
        insta::assert_snapshot!(shown(&[chatgpt(&all)]), @"User: | Sort the beds. |  | Assistant: | Sorted.");
    }

    #[test]
    fn messages_of_other_branches_are_counted_and_citations_removed() {
        let cited = "It is coal \u{e200}cite\u{e202}turn0search1\u{e201}.";
        let asked = "What is 【12†source】?";
        let mut all = chatgpt(&[text("user", asked), text("assistant", cited)]);
        for (name, it) in [("x", text("user", "And?")), ("y", text("tool", "sorted"))] {
            all["mapping"][name] = json!({ "message": it, "parent": "0" });
        }
        let cycle = json!({ "title": "Coal", "current_node": "a", "mapping": {
            "a": { "message": text("user", "Why?"), "parent": "a" },
            "b": { "message": text("user", "How?"), "parent": "a" },
            "c": { "message": text("assistant", "So."), "parent": "b" } } });
        insta::assert_snapshot!(shown(&[all, cycle]), @r#"
        User: | What is 【12†source】? |  | Assistant: | It is coal.
        User: | Why?
        messages of branches that are not shown are left out: 3, in "Beds" 1, "Coal" 2
        "#);
    }

    #[test]
    fn a_conversation_whose_messages_have_no_text_is_a_fault() {
        let image = json!({ "content_type": "image_asset_pointer" });
        let silent = chatgpt(&[message(
            "user",
            json!({ "content_type": "multimodal_text", "parts": [image] }),
        )]);
        let empty = json!({ "name": "Coal", "chat_messages": [
            { "sender": "human", "text": "", "content": [], "files": [{ "file_name": "a.png" }] } ] });
        let never_begun = json!({ "name": "", "chat_messages": [] });
        let hidden = chatgpt(&[text("system", "")]);
        insta::assert_snapshot!(shown(&[silent, empty, never_begun, hidden]), @r#"
        [0] "Beds": none of its messages has a text: 1
        [1] "Coal": none of its messages has a text: 1
        left out: file 1
        left out: image_asset_pointer 1
        "#);
    }

    #[test]
    fn blocks_of_tools_in_claude_ai_are_no_conversation() {
        let notice = "```\nThis block is not supported on your current device yet.\n```";
        let tool = json!({ "type": "tool_use", "name": "search" });
        let result = json!({ "type": "tool_result", "content": [], "text": "sorted" });
        let all = json!({ "name": "Beds", "chat_messages": [
            { "sender": "human", "text": "Sort.", "content": [{ "type": "text", "text": "Sort." }] },
            { "sender": "assistant", "text": notice, "content": [tool, result] },
            { "sender": "assistant", "text": "", "content": [
                { "type": "voice_note", "title": "Note", "text": "Sorted." }, { "type": "hologram" }] },
            { "sender": "narrator", "text": "They sort." },
            { "sender": "human", "text": "Thanks.", "content": [] },
        ] });
        insta::assert_snapshot!(shown(&[all]), @"
        User: | Sort. |  | Assistant: | Sorted.
        User: | Thanks.
        parts of the unknown kind `hologram` are left out: 1
        parts of the unknown kind `message by narrator` are left out: 1
        ");
    }
}
