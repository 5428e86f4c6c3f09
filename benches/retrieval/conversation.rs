//! Conversations, and the notes that they are filed as.

use chrono::{DateTime, Utc};

use crate::corpus::{Corpus, Note};

/// A conversation in a room.
pub(crate) struct Conversation {
    pub(crate) wing: String,
    pub(crate) room: String,
    pub(crate) title: String,
    pub(crate) written: Option<DateTime<Utc>>,
    pub(crate) messages: Vec<Message>,
}

/// A message of the user or of the assistant.
pub(crate) struct Message {
    pub(crate) is_from_user: bool,
    pub(crate) text: String,
}

/// The unit in which a conversation is filed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Filing {
    /// A message of the user and the replies to it are one note.
    Exchanges,
    /// Every message is a note.
    Messages,
}

impl Filing {
    pub(crate) const ALL: [Self; 2] = [Self::Exchanges, Self::Messages];

    /// Returns the name of the unit, in the plural.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Exchanges => "exchanges",
            Self::Messages => "messages",
        }
    }
}

impl Conversation {
    /// Adds the conversation to the notes of `corpus`. Returns the number of the note that
    /// contains each message.
    pub(crate) fn add_notes(&self, corpus: &mut Corpus, filing: Filing) -> Vec<usize> {
        let (mut numbers, mut is_after_reply) = (Vec::new(), true);
        for message in &self.messages {
            let starts_note =
                filing == Filing::Messages || (message.is_from_user && is_after_reply);
            is_after_reply = !message.is_from_user;
            match corpus.notes.last_mut() {
                Some(note) if !starts_note && !numbers.is_empty() => {
                    note.text.push_str("\n\n");
                    note.text.push_str(&message.text);
                }
                _ => corpus.notes.push(Note {
                    wing: self.wing.clone(),
                    room: self.room.clone(),
                    title: self.title.clone(),
                    written: self.written,
                    text: message.text.clone(),
                }),
            }
            numbers.push(corpus.notes.len() - 1);
        }
        numbers
    }
}
