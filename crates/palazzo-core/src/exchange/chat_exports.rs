//! Parses the data exports of Claude.ai and ChatGPT: all conversations of a user in one
//! JSON file.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use crate::exchange::conversation::{LeftOutParts, Part, parse_timestamp};
use crate::exchange::conversation::{Message, Speaker, split_into_exchanges};
use crate::exchange::{ExtractedText, ExtractionResult};

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
        let no_text_fault = it.left_out.no_text_fault().filter(|_| exchanges.is_empty());
        extracted
            .faults
            .extend(no_text_fault.map(|why| format!("[{index}] \"{}\": {why}", it.title)));
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

/// Limit for the characters of a title that gets a date.
const MAX_TITLE_CHARS: usize = 55;

/// Gives each of several conversations of one wing and title a room of its own: the oldest keeps its
/// title, and the others have their day as well, so that a later export gives the same names.
fn separate_same_titles(conversations: &mut [Vec<ExtractedText>]) {
    let start = |it: &[ExtractedText]| it.iter().filter_map(|it| it.at).min();
    let mut order: Vec<usize> =
        (0..conversations.len()).filter(|it| !conversations[*it].is_empty()).collect();
    // Those without a date are last.
    order.sort_by_key(|it| start(&conversations[*it]).map_or((true, None), |at| (false, Some(at))));
    let mut taken = BTreeSet::new();
    for index in order {
        let conversation = &mut conversations[index];
        let (wing, title) = (conversation[0].wing.clone(), conversation[0].room.clone());
        let names = room_names(&title, start(conversation));
        let is_free = |it: &String| taken.insert((wing.clone(), fold_title(it)));
        let Some(room) = names.into_iter().chain(numbered(&title)).find(is_free) else { continue };
        for it in conversation.iter_mut() {
            it.room.clone_from(&room);
        }
    }
}

/// Returns the names for a conversation that began at `start`, the best first.
fn room_names(title: &str, start: Option<DateTime<Utc>>) -> Vec<String> {
    let formats = ["%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S"].into_iter();
    let dated = formats.filter_map(|format| Some(start?.format(format).to_string()));
    let dated = dated.map(|it| format!("{} ({it})", short_title(title)));
    std::iter::once(title.to_owned()).chain(dated).collect()
}

fn numbered(title: &str) -> impl Iterator<Item = String> {
    (2..).map(move |it: usize| format!("{} ({it})", short_title(title)))
}

fn short_title(title: &str) -> String {
    let short: String = title.chars().take(MAX_TITLE_CHARS).collect();
    short.trim_end().to_owned()
}

/// Returns a title as the name of a room may become it: with other slashes and blanks, and cut.
fn fold_title(title: &str) -> String {
    let words = title.replace(['/', '\\'], "-");
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().take(80).collect::<String>().to_lowercase()
}

/// The private characters in which ChatGPT writes elements: the first one opens an element, the next
/// one closes it, and the third one separates its fields.
const OPEN: char = '\u{e200}';
const CLOSE: char = '\u{e201}';
const SEPARATOR: char = '\u{e202}';

/// All of these characters.
const MARKS: std::ops::RangeInclusive<char> = '\u{e200}'..='\u{e2ff}';

/// The characters before which no blank stays when a mark between them is removed.
const CLOSING: &[char] = &['.', ',', ';', ':', '!', '?', ')', ' ', '\n'];

/// Returns a text without the marks of sources that ChatGPT puts into its answers: they name nothing
/// outside of its own conversation. What an element shows to the reader, like a name, stays.
pub fn without_citations(text: &str) -> Cow<'_, str> {
    let is_mark = |it: char| it == '【' || MARKS.contains(&it);
    if !text.contains(is_mark) {
        return Cow::Borrowed(text);
    }
    let (mut rest, mut kept) = (text, String::with_capacity(text.len()));
    while let Some(at) = rest.find(is_mark) {
        kept.push_str(&rest[..at]);
        let (shown, length) = parse_mark(&rest[at..]);
        rest = &rest[at + length..];
        kept.push_str(&shown);
        let is_closed = rest.is_empty() || rest.starts_with(CLOSING);
        if shown.is_empty() && is_closed && kept.ends_with(' ') {
            kept.pop();
        }
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

/// Returns what is shown of the mark at the beginning of a text, and its length in bytes.
fn parse_mark(text: &str) -> (String, usize) {
    let line = text.lines().next().unwrap_or_default();
    let mark = text.chars().next().unwrap_or_default();
    let inside =
        |end: char| line.find(end).map(|it| (&line[mark.len_utf8()..it], it + end.len_utf8()));
    match mark {
        OPEN => match inside(CLOSE) {
            Some((element, length)) => (shown_text(element), length),
            None => (String::new(), mark.len_utf8()),
        },
        '【' => match inside('】').filter(|(it, _)| is_reference(it)) {
            Some((_, length)) => (String::new(), length),
            None => (mark.to_string(), mark.len_utf8()),
        },
        _ => (String::new(), mark.len_utf8()),
    }
}

/// Returns what the reader sees of an element, `kind`, and its fields: the name of an entity, or texts
/// that are neither references nor JSON.
fn shown_text(element: &str) -> String {
    let mut fields = element.split(SEPARATOR);
    let kind = fields.next().unwrap_or_default();
    if kind.ends_with("cite") {
        return String::new();
    }
    if kind == "entity" {
        let names = fields.next().and_then(|it| serde_json::from_str::<Vec<String>>(it).ok());
        return names.and_then(|it| it.into_iter().nth(1)).unwrap_or_default();
    }
    let texts = fields.filter(|it| !it.starts_with(['{', '[']) && !is_turn_reference(it));
    texts.collect::<Vec<_>>().join(" ")
}

/// Returns true for what is between `【` and `】` of a citation: `12†source`, `4:0†a.pdf`,
/// `turn0search1`.
fn is_reference(text: &str) -> bool {
    let is_number = |it: &str| {
        it.starts_with(|it: char| it.is_ascii_digit())
            && it.chars().all(|it| it.is_ascii_digit() || it == ':')
    };
    text.split_once('†').is_some_and(|(number, _)| is_number(number)) || is_turn_reference(text)
}

/// Returns true for references like `turn0search1`.
fn is_turn_reference(text: &str) -> bool {
    let is_digit = |it: char| it.is_ascii_digit();
    text.strip_prefix("turn").is_some_and(|it| {
        it.starts_with(is_digit)
            && it.ends_with(is_digit)
            && it.chars().all(|it| it.is_ascii_alphanumeric())
    })
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

    fn rooms(conversations: &[(&str, &str, Option<&str>)]) -> Vec<String> {
        let text = |(wing, title, at): &(&str, &str, Option<&str>)| {
            let at = at.map(|it| it.parse().unwrap());
            let (wing, room) = (Some((*wing).to_owned()), (*title).to_owned());
            vec![ExtractedText { wing, room, at, ..ExtractedText::default() }]
        };
        let mut all: Vec<_> = conversations.iter().map(text).collect();
        separate_same_titles(&mut all);
        all.into_iter().map(|it| it[0].room.clone()).collect()
    }

    #[test]
    fn the_oldest_conversation_keeps_its_title_and_the_others_get_their_day() {
        let newest_first = [
            ("chatgpt", "New chat", Some("2026-03-02T12:00:00Z")),
            ("chatgpt", "New chat", Some("2026-03-02T09:00:00Z")),
            ("chatgpt", "New chat", Some("2026-03-01T10:00:00Z")),
            ("chatgpt", "Other", None),
            ("claude.ai", "New chat", Some("2026-03-03T10:00:00Z")),
        ];
        assert_eq!(
            rooms(&newest_first),
            [
                "New chat (2026-03-02 12:00)",
                "New chat (2026-03-02)",
                "New chat",
                "Other",
                "New chat"
            ]
        );
    }

    #[test]
    fn conversations_without_a_date_are_numbered() {
        let all = [("chatgpt", "A/b", None), ("chatgpt", "a-b", None), ("chatgpt", "A/b", None)];
        assert_eq!(rooms(&all), ["A/b", "a-b (2)", "A/b (3)"]);
        let long = "x".repeat(100);
        let named =
            rooms(&[("chatgpt", &long, None), ("chatgpt", &long, Some("2026-03-01T10:00:00Z"))]);
        assert_eq!(named[0], format!("{} (2)", "x".repeat(55)));
    }

    #[test]
    fn citations_are_removed_and_what_they_show_stays() {
        for (text, expected) in [
            (
                "Coal is old. \u{e200}cite\u{e202}turn0search1\u{e202}turn0search3\u{e201}\nSo.",
                "Coal is old.\nSo.",
            ),
            ("Coal\u{e200}filecite\u{e202}turn0file1\u{e201} is old.", "Coal is old."),
            ("Coal \u{e200}cite\u{e202}turn0search1\u{e201}, and iron.", "Coal, and iron."),
            ("\u{e203}Coal\u{e204} is old.\u{e206}", "Coal is old."),
            ("Ask \u{e200}entity\u{e202}[\"person\",\"Ada\",\"surveyor\"]\u{e201}.", "Ask Ada."),
            ("See \u{e200}url\u{e202}the map\u{e202}turn0search1\u{e201}.", "See the map."),
            ("Here:\n\u{e200}image_group\u{e202}{\"query\":[\"coal\"]}\u{e201}\n", "Here:\n\n"),
            ("Coal is old 【12†source】.", "Coal is old."),
            ("Coal【4:0†beds.pdf】【turn0search1】 is old.", "Coal is old."),
            ("【注意】 Coal 【1】 is † old.", "【注意】 Coal 【1】 is † old."),
            ("Never closed \u{e200}cite", "Never closed cite"),
        ] {
            assert_eq!(without_citations(text), expected);
        }
        assert!(matches!(without_citations("Coal."), Cow::Borrowed(_)));
    }
}
