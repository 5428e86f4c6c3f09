//! Splits conversations into exchanges, one text each: the user's messages and all answers
//! until the user's next message.

use chrono::{DateTime, Utc};

use crate::exchange::message_parts::MEDIA_MARK;
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
        let is_older_part = said.iter().any(|it| turns[it.0].older_text.trim().is_empty());
        let older = older_texts(turns, &said, &older, is_older_part);
        let is_same = older.len() == 1 && older[0].text == text;
        ExtractedText {
            wing: wing.map(str::to_owned),
            room: room.to_owned(),
            at: exchange_time(turns, &said),
            conversation_at,
            older: if is_same { Vec::new() } else { older },
            is_older_part,
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
    is_older_part: bool,
) -> Vec<OlderText> {
    let place = |it: Option<&Said<'_>>| it.map(|(place, ..)| *place);
    let (first, last) = (place(exchange.first()), place(exchange.last()));
    let start = older.partition_point(|it| place(it.last()) < first);
    let shared = older[start..].iter().take_while(|it| place(it.first()) <= last);
    let shared: Vec<_> = shared.collect();
    let is_within = |it: &&Vec<Said<'_>>| place(it.first()) >= first && place(it.last()) <= last;
    if is_older_part && !shared.iter().all(is_within) {
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
            format!("{}: {older:?} {}", it.text.replace('\n', " "), it.is_older_part)
        });
        assert_snapshot!(shown.collect::<Vec<_>>().join("\n"), @r#"
        User: Dig.  Assistant: I dig.  Done. : ["User: <ide>a</ide>  Dig.  Assistant: I dig. ", "User: <notification>  Assistant: Done. "] false
        User: Thanks.  Spoken.  Why?  Assistant: Spoken.  So. : ["User: Thanks.  Assistant: API error ", "User: Why?  Assistant: So. "] true
        "#);
    }
}
