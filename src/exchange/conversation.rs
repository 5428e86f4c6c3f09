//! Splits conversations into exchanges, one text each: the user's messages and all answers
//! until the user's next message.

use chrono::{DateTime, Utc};

use crate::exchange::ExtractedText;

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
    pub(super) text: String,
    pub(super) at: Option<DateTime<Utc>>,
}

/// Returns the exchanges of a conversation, with the `wing` and `room` to file them in.
/// Answers before the user's first message are an exchange of their own.
pub(super) fn split_into_exchanges(
    wing: Option<&str>,
    room: &str,
    turns: &[Message],
) -> Vec<ExtractedText> {
    let messages: Vec<_> = turns.iter().filter(|it| !it.text.trim().is_empty()).collect();
    let same_exchange = |before: &&Message, it: &&Message| {
        (before.speaker, it.speaker) != (Speaker::Assistant, Speaker::User)
    };
    let exchanges = messages.chunk_by(same_exchange).map(|turns| ExtractedText {
        wing: wing.map(str::to_owned),
        room: room.to_owned(),
        text: exchange_text(turns),
        at: turns.iter().find_map(|it| it.at),
        first_line: None,
    });
    exchanges.collect()
}

fn exchange_text(turns: &[&Message]) -> String {
    let mut text = String::new();
    for messages in turns.chunk_by(|a, b| a.speaker == b.speaker) {
        let name = match messages[0].speaker {
            Speaker::User => "User",
            Speaker::Assistant => "Assistant",
        };
        let texts: Vec<_> = messages.iter().map(|it| it.text.trim()).collect();
        text.push_str(&format!("{name}:\n{}\n\n", texts.join("\n\n")));
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

/// Parses a time in RFC 3339.
pub(crate) fn parse_timestamp(text: &str) -> Option<DateTime<Utc>> {
    DateTime::parse_from_rfc3339(text).ok().map(|it| it.to_utc())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    #[test]
    fn an_exchange_ends_at_the_next_user_message() {
        let turn = |speaker, text: &str| Message { speaker, text: text.to_owned(), at: None };
        let turns = [
            turn(Speaker::Assistant, "Hello."),
            turn(Speaker::User, "Why Clerk?"),
            turn(Speaker::User, "And since when?\n"),
            turn(Speaker::Assistant, "  "),
            turn(Speaker::Assistant, "I look it up."),
            turn(Speaker::Assistant, "Since March."),
            turn(Speaker::User, "Thanks."),
        ];
        let texts = split_into_exchanges(None, "r", &turns).into_iter().map(|it| it.text);
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
}
