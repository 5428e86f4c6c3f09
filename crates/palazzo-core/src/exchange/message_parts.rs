//! Counts the parts of messages that are left out, so that none disappears silently.

use std::collections::BTreeMap;

use serde_json::Value;

/// The kinds of parts that programs and models write for each other. They are no conversation.
const MACHINE_KINDS: &[&str] =
    &["thinking", "redacted_thinking", "thoughts", "reasoning_recap", "token_budget", "flag"];

/// The ends of the names of parts that are pictures, sound or files.
const MEDIA_KINDS: &[&str] =
    &["image", "image_url", "audio", "video", "document", "file", "asset_pointer"];

/// The text of a message that is only a picture, sound or a file.
pub(super) const MEDIA_MARK: &str = "[picture or file]";

/// The parts of messages that were left out, by kind.
#[derive(Debug, Default)]
pub(super) struct LeftOutParts {
    /// Pictures, sound and files.
    pub(super) media: BTreeMap<String, usize>,
    unknown: BTreeMap<String, usize>,
    /// How many messages by persons or models are without text.
    pub(super) empty_messages: usize,
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
    pub(super) fn silence(&self) -> Option<String> {
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

/// Returns whether parts of a kind are pictures, sound or files.
fn is_media(kind: &str) -> bool {
    MEDIA_KINDS.iter().any(|it| kind.ends_with(it))
}
