//! Splits conversations into exchanges, one text each: the user's messages and all answers
//! until the user's next message. The parts of messages that are left out are counted, so that none
//! disappears silently.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::exchange::{ExtractedText, OlderText};

/// The separator between the title of a document or a conversation and that of a part.
pub(super) const TITLE_SEPARATOR: &str = " › ";

/// Limit for the characters of the first words in a title.
const MAX_TITLE_WORDS: usize = 60;

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    /// A person.
    User,
    /// A language model.
    Assistant,
}

/// One message of a conversation.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) speaker: Speaker,
    /// The text of the person or the model; empty if a program wrote the message.
    pub(super) text: String,
    /// The text that older versions of this program filed for the message.
    pub(super) older_text: String,
    pub(super) at: Option<DateTime<Utc>>,
}

/// A place of a message in a conversation, its author and one of its texts.
type Said<'a> = (usize, Speaker, &'a str);

/// The kinds of parts that programs and models write for each other. They are no conversation.
const MACHINE_KINDS: &[&str] =
    &["thinking", "redacted_thinking", "thoughts", "reasoning_recap", "token_budget", "flag"];

/// The ends of the names of parts that are pictures, sound or files.
const MEDIA_KINDS: &[&str] =
    &["image", "image_url", "audio", "video", "document", "file", "asset_pointer"];

/// The text of a message that is only a picture, sound or a file.
const MEDIA_MARK: &str = "[picture or file]";

/// The parts of messages that were left out, by kind.
#[derive(Debug, Default)]
pub(super) struct LeftOutParts {
    /// Pictures, sound and files.
    pub(super) media: BTreeMap<String, usize>,
    unknown: BTreeMap<String, usize>,
    /// How many messages by persons or models are without text.
    empty_messages: usize,
}

/// The text of a message's part, or what it is instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    /// Something that was said.
    Text(&'a str),
    /// A thought, or the call or result of a tool.
    Machine,
    /// Something without text; its kind.
    Other(&'a str),
}

impl<'a> Part<'a> {
    /// Parses a part: a text, or an object with its kind under `kind_key`.
    pub(super) fn parse(part: &'a Value, kind_key: &str) -> Self {
        if part.is_string() || part.is_null() {
            return Self::Text(part.as_str().unwrap_or_default());
        }
        let kind = part.get(kind_key).and_then(Value::as_str).unwrap_or("no kind");
        let is_of_tool =
            ["tool_use", "tool_result", "tool_reference"].iter().any(|it| kind.ends_with(it));
        if is_of_tool || MACHINE_KINDS.contains(&kind) {
            return Self::Machine;
        }
        part.get("text").and_then(Value::as_str).map_or(Self::Other(kind), Self::Text)
    }
}

impl LeftOutParts {
    /// Counts a part of a kind.
    pub(super) fn count(&mut self, kind: &str) {
        let counts = if is_media(kind) { &mut self.media } else { &mut self.unknown };
        *counts.entry(kind.to_owned()).or_default() += 1;
    }

    /// Returns the texts among the parts of a message, and counts the others. A message that is only
    /// a picture or a file has a mark as text: the answer to it is no answer to the message before.
    /// Counts the message if it has no text, but for parts of machines.
    pub(super) fn texts<'a>(&mut self, parts: impl IntoIterator<Item = Part<'a>>) -> Vec<&'a str> {
        let (mut texts, mut is_machine, mut has_media) = (Vec::new(), false, false);
        for part in parts {
            match part {
                Part::Text(text) => texts.push(text),
                Part::Machine => is_machine = true,
                Part::Other(kind) => {
                    has_media |= is_media(kind);
                    self.count(kind);
                }
            }
        }
        let is_empty = texts.iter().all(|it| it.trim().is_empty());
        self.empty_messages += usize::from(is_empty && !is_machine);
        if is_empty && has_media { vec![MEDIA_MARK] } else { texts }
    }

    /// Returns a message for each unknown kind of parts.
    pub(super) fn faults(&self) -> impl Iterator<Item = String> {
        let fault = |(kind, count): (&String, &usize)| {
            format!("parts of the unknown kind `{kind}` are left out: {count}")
        };
        self.unknown.iter().map(fault)
    }

    /// Returns a message for a conversation that gave no text although it has messages.
    pub(super) fn no_text_fault(&self) -> Option<String> {
        let count = self.empty_messages;
        (count > 0).then(|| format!("none of its messages has a text: {count}"))
    }

    /// Adds the counts of another conversation.
    pub(super) fn add(&mut self, other: Self) {
        for (sums, counts) in [(&mut self.media, other.media), (&mut self.unknown, other.unknown)] {
            for (kind, count) in counts {
                *sums.entry(kind).or_default() += count;
            }
        }
    }
}

/// Returns the exchanges of a conversation, with the `wing` and `room` to file them in.
/// Answers before the user's first message are an exchange of their own.
pub(super) fn split_into_exchanges(
    wing: Option<&str>,
    room: &str,
    turns: &[Message],
) -> Vec<ExtractedText> {
    let older = exchanges_of(turns, |it| &it.older_text);
    let conversation_at = turns.iter().filter(|it| !it.text.trim().is_empty()).find_map(|it| it.at);
    let extract = |said: Vec<Said<'_>>| {
        let text = exchange_text(&said);
        let is_older_incomplete = said.iter().any(|it| turns[it.0].older_text.trim().is_empty());
        let older = older_texts(turns, &said, &older, is_older_incomplete);
        let is_same = older.len() == 1 && older[0].text == text;
        ExtractedText {
            wing: wing.map(str::to_owned),
            room: room.to_owned(),
            at: exchange_time(turns, &said),
            conversation_at,
            older: if is_same { Vec::new() } else { older },
            is_older_incomplete,
            text,
            ..ExtractedText::default()
        }
    };
    let exchanges = exchanges_of(turns, |it| &it.text).into_iter();
    let says_something = |it: &Vec<Said<'_>>| it.iter().any(|(.., text)| *text != MEDIA_MARK);
    exchanges.filter(says_something).map(extract).collect()
}

/// Returns the exchanges in one of the texts of each message, without blank ones.
fn exchanges_of(turns: &[Message], text: fn(&Message) -> &String) -> Vec<Vec<Said<'_>>> {
    let said = turns.iter().enumerate().map(|(place, it)| (place, it.speaker, text(it).trim()));
    let said: Vec<Said<'_>> = said.filter(|(_, _, text)| !text.is_empty()).collect();
    let same_exchange =
        |before: &Said<'_>, it: &Said<'_>| (before.1, it.1) != (Speaker::Assistant, Speaker::User);
    said.chunk_by(same_exchange).map(<[_]>::to_vec).collect()
}

/// Returns the texts in which older versions filed the messages of an exchange. If they left one of
/// the messages out, returns only texts without messages of other exchanges.
fn older_texts(
    turns: &[Message],
    exchange: &[Said<'_>],
    older: &[Vec<Said<'_>>],
    is_older_incomplete: bool,
) -> Vec<OlderText> {
    let place = |it: Option<&Said<'_>>| it.map(|(place, ..)| *place);
    let (first, last) = (place(exchange.first()), place(exchange.last()));
    let start = older.partition_point(|it| place(it.last()) < first);
    let shared = older[start..].iter().take_while(|it| place(it.first()) <= last);
    let shared: Vec<_> = shared.collect();
    let is_within = |it: &&Vec<Said<'_>>| place(it.first()) >= first && place(it.last()) <= last;
    if is_older_incomplete && !shared.iter().all(is_within) {
        return Vec::new();
    }
    let text =
        |it: Vec<Said<'_>>| OlderText { text: exchange_text(&it), at: exchange_time(turns, &it) };
    shared.into_iter().cloned().map(text).collect()
}

fn exchange_time(turns: &[Message], exchange: &[Said<'_>]) -> Option<DateTime<Utc>> {
    exchange.iter().find_map(|(place, ..)| turns[*place].at)
}

fn exchange_text(exchange: &[Said<'_>]) -> String {
    let mut text = String::new();
    for messages in exchange.chunk_by(|a, b| a.1 == b.1) {
        let name = match messages[0].1 {
            Speaker::User => "User",
            Speaker::Assistant => "Assistant",
        };
        let texts: Vec<_> = messages.iter().map(|it| it.2).collect();
        text.push_str(&format!("{name}:\n{}\n\n", texts.join("\n\n")));
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

/// Returns the title of an exchange in a conversation with a title: `conversation › first words`.
pub(super) fn exchange_title(conversation: &str, exchange: &str) -> String {
    let mut lines = exchange.lines().skip(1).map(str::trim);
    let line = lines.find(|it| it.contains(char::is_alphanumeric)).unwrap_or_default();
    let words: String = line.trim_start_matches(['#', ' ']).chars().take(MAX_TITLE_WORDS).collect();
    let words = words.trim_end();
    match words.is_empty() || words == conversation {
        true => conversation.to_owned(),
        false => format!("{conversation}{TITLE_SEPARATOR}{words}"),
    }
}

/// Parses a time in RFC 3339.
pub(crate) fn parse_timestamp(text: &str) -> Option<DateTime<Utc>> {
    DateTime::parse_from_rfc3339(text).ok().map(|it| it.to_utc())
}

/// Returns whether parts of a kind are pictures, sound or files.
fn is_media(kind: &str) -> bool {
    MEDIA_KINDS.iter().any(|it| kind.ends_with(it))
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn turn(speaker: Speaker, text: &str, older_text: &str) -> Message {
        let [text, older_text] = [text, older_text].map(str::to_owned);
        Message { speaker, text, older_text, at: None }
    }

    #[test]
    fn an_exchange_ends_at_the_next_user_message() {
        let turn = |speaker, text: &str| turn(speaker, text, text);
        let turns = [
            turn(Speaker::Assistant, "Hello."),
            turn(Speaker::User, "Why Clerk?"),
            turn(Speaker::User, "And since when?\n"),
            turn(Speaker::Assistant, "  "),
            turn(Speaker::Assistant, "I look it up."),
            turn(Speaker::Assistant, "Since March."),
            turn(Speaker::User, "Thanks."),
        ];
        let texts = split_into_exchanges(None, "r", &turns);
        assert!(texts.iter().all(|it| it.older.is_empty()));
        let texts = texts.into_iter().map(|it| it.text);
        assert_snapshot!(texts.collect::<Vec<_>>().join("~~~\n"), @"
        Assistant:
        Hello.
        ~~~
        User:
        Why Clerk?

        And since when?

        Assistant:
        I look it up.

        Since March.
        ~~~
        User:
        Thanks.
        ");
    }

    #[test]
    fn the_answer_to_a_picture_is_no_answer_to_the_question_before() {
        let turns = [
            turn(Speaker::User, "The capital of Peru?", "The capital of Peru?"),
            turn(Speaker::Assistant, "Lima.", "Lima."),
            turn(Speaker::User, MEDIA_MARK, ""),
            turn(Speaker::Assistant, "A deadly webcap.", "A deadly webcap."),
            turn(Speaker::User, MEDIA_MARK, ""),
        ];
        let texts = split_into_exchanges(None, "r", &turns).into_iter().map(|it| it.text);
        let texts: Vec<_> = texts.map(|it| it.replace('\n', " ")).collect();
        assert_eq!(
            texts,
            [
                "User: The capital of Peru?  Assistant: Lima. ",
                "User: [picture or file]  Assistant: A deadly webcap. ",
            ]
        );
    }

    #[test]
    fn an_exchange_names_the_texts_of_older_versions() {
        let (user, assistant) = (Speaker::User, Speaker::Assistant);
        let turns = [
            turn(user, "Dig.", "<ide>a</ide>\n\nDig."),
            turn(assistant, "I dig.", "I dig."),
            turn(user, "", "<notification>"),
            turn(assistant, "Done.", "Done."),
            turn(user, "Thanks.", "Thanks."),
            turn(user, "Spoken.", ""),
            turn(assistant, "", "API error"),
            turn(user, "Why?", "Why?"),
            turn(assistant, "Spoken.", ""),
            turn(assistant, "So.", "So."),
        ];
        let shown = split_into_exchanges(None, "r", &turns).into_iter().map(|it| {
            let older = it.older.iter().map(|it| it.text.replace('\n', " "));
            let older = older.collect::<Vec<_>>();
            format!("{}: {older:?} {}", it.text.replace('\n', " "), it.is_older_incomplete)
        });
        assert_snapshot!(shown.collect::<Vec<_>>().join("\n"), @r#"
        User: Dig.  Assistant: I dig.  Done. : ["User: <ide>a</ide>  Dig.  Assistant: I dig. ", "User: <notification>  Assistant: Done. "] false
        User: Thanks.  Spoken.  Why?  Assistant: Spoken.  So. : ["User: Thanks.  Assistant: API error ", "User: Why?  Assistant: So. "] true
        "#);
    }
}
